//! All cases on all backends.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_test_support::Random;

use crate::{
    case::{Case, Fault, SUFFIX},
    json, one,
};

use super::{known::Known, options::RunOptions, process, root, table};

/// The file that is no case.
const KNOWN: &str = "known-failures.json";

/// What became of a case on a backend, all rounds together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
    /// It failed as it is known to, for this reason.
    Known(String),
}

impl Verdict {
    fn of(outcomes: &[one::Outcome], known: Option<&str>) -> Self {
        let failure = outcomes.iter().find_map(|outcome| match outcome {
            one::Outcome::Failed { report, .. } => Some(report),
            _ => None,
        });
        let skip = outcomes.iter().find_map(|outcome| match outcome {
            one::Outcome::Skipped { reason } => Some(reason),
            _ => None,
        });
        match (failure, skip, known) {
            (Some(_), _, Some(reason)) => Self::Known(reason.to_owned()),
            (Some(report), _, None) => Self::Failed(report.clone()),
            (None, Some(reason), None) => Self::Skipped(reason.clone()),
            (None, Some(_), Some(_)) => Self::Failed(
                "it is listed as a known failure, and is skipped: take it off the list\n".into(),
            ),
            (None, None, Some(_)) => Self::Failed(
                "it is listed as a known failure, and passes: take it off the list\n".into(),
            ),
            (None, None, None) => Self::Passed,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed(_) => "FAIL",
            Self::Skipped(_) => "skip",
            Self::Known(_) => "known",
        }
    }

    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Skipped(reason) | Self::Known(reason) => reason,
            Self::Passed | Self::Failed(_) => "",
        }
    }
}

/// One run that is to be made: a case, by its place in the list, on a backend.
struct Task<'a> {
    case: &'a Case,
    backend: &'a str,
    seed: Option<u64>,
}

/// `false`: something failed.
pub(super) fn run(options: &RunOptions) -> Result<bool, String> {
    let root = root();
    let folders = folders(options, root.as_deref())?;
    let known = options
        .known
        .clone()
        .or_else(|| root.as_ref().map(|root| root.join("cases").join(KNOWN)))
        .map_or_else(|| Ok(Known::default()), |file| Known::load(&file))?;
    let (all, faults) = load(&folders)?;
    println!("{} cases, {}", all.len(), places(&folders, root.as_deref()));
    let filtered = |case: &&Case| {
        let filter = options.filter.as_deref().unwrap_or_default();
        case.id.contains(filter)
    };
    let cases: Vec<&Case> = all.iter().filter(filtered).collect();
    if cases.is_empty() && faults.is_empty() {
        return Err("there are no such cases".into());
    }
    for fault in &faults {
        println!("FAIL   {fault}");
    }
    let mut tasks = Vec::new();
    let (times, seed) = match options.shake {
        Some((times, seed)) => {
            println!("shaken {times} times; --seed {seed} repeats it");
            (times, Some(seed))
        }
        None => (1, None),
    };
    let mut random = seed.map(Random);
    for _ in 0..times {
        let mut round: Vec<Task<'_>> = Vec::new();
        for case in &cases {
            for backend in &options.backends {
                round.push(Task {
                    case,
                    backend,
                    seed: random.as_mut().map(Random::next),
                });
            }
        }
        if let Some(random) = &mut random {
            random.shuffle(&mut round);
        }
        tasks.extend(round);
    }
    let verdicts = verdicts(options, &tasks, &known, times);
    println!("\n{}", table::plain(&cases, &options.backends, &verdicts));
    let ids: Vec<&str> = all.iter().map(|case| case.id.as_str()).collect();
    for unheard_of in known.unheard_of(&options.backends, &ids) {
        println!(
            "note: the list of known failures has {unheard_of}, which is in none of the folders"
        );
    }
    let count = |word: &str| verdicts.values().filter(|it| it.word() == word).count();
    let failed = count("FAIL") + faults.len();
    let skipped = count("skip") + count("known");
    let closing = format!(
        "{} passed, {failed} failed, {skipped} skipped",
        count("pass")
    );
    if let Some(file) = &options.report {
        let mut report = table::markdown(&cases, &options.backends, &verdicts);
        for fault in &faults {
            report += &format!("- {fault}\n");
        }
        report += &format!("\n{closing}\n");
        std::fs::write(file, report)
            .map_err(|error| format!("{} can't be written: {error}", file.display()))?;
    }
    println!("{closing}");
    Ok(failed == 0)
}

pub(super) type Verdicts = BTreeMap<(String, String), Verdict>;

/// Runs them, several at a time, and prints a line for each.
fn verdicts(options: &RunOptions, tasks: &[Task<'_>], known: &Known, times: u64) -> Verdicts {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<HashMap<(&str, &str), Vec<one::Outcome>>> = Mutex::default();
    let verdicts = Mutex::new(Verdicts::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.min(tasks.len()) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (id, backend) = (task.case.id.as_str(), task.backend);
                    let result = process::run(options, backend, &task.case.file, task.seed);
                    let reason = known.reason(backend, id);
                    let took = result.took.as_millis();
                    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    let of_pair = outcomes.entry((id, backend)).or_default();
                    of_pair.push(result.outcome.clone());
                    let last = of_pair.len() as u64 == times;
                    // With the last round it shows whether a known failure was one.
                    let verdict = if last {
                        Verdict::of(of_pair, reason)
                    } else {
                        match Verdict::of(&[result.outcome], reason) {
                            Verdict::Failed(_) if reason.is_some() => continue,
                            verdict => verdict,
                        }
                    };
                    say(task.case, backend, &verdict, took);
                    if last {
                        let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
                        verdicts.insert((id.to_owned(), backend.to_owned()), verdict);
                    }
                }
            });
        }
    });
    verdicts
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
}

fn say(case: &Case, backend: &str, verdict: &Verdict, took: u128) {
    let word = verdict.word();
    let reason = verdict.reason();
    let dash = if reason.is_empty() { "" } else { " - " };
    let mut line = format!(
        "{word:<5}  {backend:<8}  {} ({took} ms){dash}{reason}\n",
        case.id
    );
    if let Verdict::Failed(report) = verdict {
        line += &format!("       {}\n", case.name);
        for each in report.lines() {
            line += &format!("       {each}\n");
        }
    }
    print!("{line}");
}

/// Where the cases are, for a reader to see what was left out.
fn places(folders: &[PathBuf], root: Option<&Path>) -> String {
    let above = root.and_then(Path::parent);
    let short = |folder: &PathBuf| {
        let inside = above.and_then(|above| folder.strip_prefix(above).ok());
        inside.unwrap_or(folder).display().to_string()
    };
    let named: Vec<String> = folders.iter().map(short).collect();
    format!("those of {}", named.join(" and "))
}

fn folders(options: &RunOptions, root: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    if !options.folders.is_empty() {
        return Ok(options.folders.clone());
    }
    let root = root.ok_or("there is no folder `cases` above: name one")?;
    let mut folders = vec![root.join("cases")];
    match std::env::var_os("AGENT_CASES") {
        Some(more) => {
            let more = std::env::split_paths(&more);
            folders.extend(more.filter(|folder| !folder.as_os_str().is_empty()));
        }
        None => folders.extend(
            root.parent()
                .map(|above| above.join("shared").join("cases"))
                .filter(|folder| folder.is_dir()),
        ),
    }
    Ok(folders)
}

/// Every case below the folders, and what is wrong with those that can't be read.
fn load(folders: &[PathBuf]) -> Result<(Vec<Case>, Vec<Fault>), String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut faults = Vec::new();
    for folder in folders {
        let mut files = Vec::new();
        find(folder, &mut files)
            .map_err(|error| format!("{} can't be read: {error}", folder.display()))?;
        files.sort();
        for file in files {
            match Case::load(&file) {
                Ok(case) => match cases.iter().find(|known| known.id == case.id) {
                    Some(twin) => faults.push(Fault {
                        what: format!("{} is called so too", twin.file.display()),
                        at: String::new(),
                        file,
                    }),
                    None => cases.push(case),
                },
                Err(fault) => faults.push(fault),
            }
        }
    }
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    Ok((cases, faults))
}

/// The case files at a path, or below it. Any other JSON there is taken for a misnamed one.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_json = name.ends_with(".json") && name != KNOWN;
        if path.is_dir() || name.ends_with(SUFFIX) || is_json {
            find(&path, files)?;
        }
    }
    Ok(())
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(report) => {
                let line = report.lines().next().unwrap_or_default();
                write!(f, "FAIL: {}", json::cut(line, 100))
            }
            Self::Passed => f.write_str("pass"),
            Self::Skipped(reason) | Self::Known(reason) => {
                write!(f, "{}: {reason}", self.word())
            }
        }
    }
}
