//! The words of the command line.

use std::{path::PathBuf, time::Duration};

use crate::{case::SUFFIX, fixture, fixtures};

/// What is asked for.
#[derive(Debug)]
pub(super) enum Given {
    Help,
    Explain(PathBuf),
    One(OneOptions),
    Run(RunOptions),
}

#[derive(Debug)]
pub(super) struct OneOptions {
    pub(super) backend: String,
    pub(super) file: PathBuf,
    pub(super) run: fixture::Options,
}

#[derive(Debug)]
pub(super) struct RunOptions {
    pub(super) backends: Vec<String>,
    pub(super) filter: Option<String>,
    pub(super) jobs: usize,
    /// How often everything is run, and the seed, if it is shaken.
    pub(super) shake: Option<(u64, u64)>,
    pub(super) report: Option<PathBuf>,
    pub(super) known: Option<PathBuf>,
    pub(super) step: Duration,
    pub(super) case: Duration,
    pub(super) folders: Vec<PathBuf>,
}

#[derive(Default)]
struct Words {
    backends: Vec<String>,
    filter: Option<String>,
    jobs: Option<u64>,
    shake: Option<u64>,
    seed: Option<u64>,
    report: Option<PathBuf>,
    known: Option<PathBuf>,
    step: Option<u64>,
    case: Option<u64>,
    explain: Option<PathBuf>,
    status: Option<PathBuf>,
    rest: Vec<PathBuf>,
}

pub(super) fn read(words: &[String]) -> Result<Given, String> {
    let (command, words) = match words.split_first() {
        None => return Ok(Given::Help),
        Some((first, rest)) if ["run", "explain"].contains(&first.as_str()) => {
            (first.as_str(), rest)
        }
        Some(_) => ("", words),
    };
    let mut given = Words::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .cloned()
                .ok_or_else(|| format!("{word} needs a value"))
        };
        match word.as_str() {
            "help" | "--help" | "-h" => return Ok(Given::Help),
            "--backend" => given.backends.push(value()?),
            "--filter" => given.filter = Some(value()?),
            "--report" => given.report = Some(value()?.into()),
            "--known" => given.known = Some(value()?.into()),
            "--explain" => given.explain = Some(value()?.into()),
            "--status" => given.status = Some(value()?.into()),
            "--jobs" => given.jobs = Some(number(word, &value()?)?),
            "--shake" => given.shake = Some(number(word, &value()?)?),
            "--seed" => given.seed = Some(number(word, &value()?)?),
            "--step-ms" => given.step = Some(number(word, &value()?)?),
            "--case-ms" => given.case = Some(number(word, &value()?)?),
            option if option.starts_with('-') => {
                return Err(format!("there is no option {option:?}"));
            }
            other => given.rest.push(other.into()),
        }
    }
    let built: Vec<&str> = fixtures::all().iter().map(|it| it.name()).collect();
    if let Some(unknown) = given
        .backends
        .iter()
        .find(|it| !built.contains(&it.as_str()))
    {
        return Err(format!(
            "no backend {unknown:?} is built here; there is {}",
            built.join(", ")
        ));
    }
    if let Some(file) = given.explain {
        return Ok(Given::Explain(file));
    }
    let ms = |given: Option<u64>, otherwise| Duration::from_millis(given.unwrap_or(otherwise));
    let step = ms(given.step, 30_000);
    match command {
        "explain" => match given.rest.as_slice() {
            [file] => Ok(Given::Explain(file.clone())),
            _ => Err("explain takes one file".into()),
        },
        "run" => Ok(Given::Run(RunOptions {
            backends: if given.backends.is_empty() {
                built.into_iter().map(str::to_owned).collect()
            } else {
                given.backends
            },
            filter: given.filter,
            jobs: given.jobs.map_or_else(
                || std::thread::available_parallelism().map_or(1, |it| it.get()),
                |jobs| jobs.max(1) as usize,
            ),
            shake: given.shake.map(|times| {
                let seed = given.seed.unwrap_or_else(|| {
                    std::time::SystemTime::now()
                        .duration_since(std::time::UNIX_EPOCH)
                        .map_or(0, |time| time.as_secs())
                });
                (times.max(1), seed)
            }),
            report: given.report,
            known: given.known,
            step,
            case: ms(given.case, 120_000),
            folders: given.rest,
        })),
        _ => match (given.backends.as_slice(), given.rest.as_slice()) {
            ([backend], [file]) if file.to_string_lossy().ends_with(SUFFIX) => {
                Ok(Given::One(OneOptions {
                    backend: backend.clone(),
                    file: file.clone(),
                    run: fixture::Options {
                        step,
                        shake: given.seed,
                        status: given.status,
                    },
                }))
            }
            _ => Err("one case takes one --backend and one FILE; for more there is `run`".into()),
        },
    }
}

fn number(option: &str, word: &str) -> Result<u64, String> {
    word.parse()
        .map_err(|_| format!("{option} takes a whole number, not {word:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &str) -> Result<Given, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        read(&words)
    }

    #[test]
    fn words_are_understood_or_refused() {
        assert!(matches!(given(""), Ok(Given::Help)));
        assert!(matches!(given("run --help"), Ok(Given::Help)));
        assert!(matches!(
            given("explain a.case.json"),
            Ok(Given::Explain(_))
        ));
        assert!(matches!(
            given("run --explain a.case.json"),
            Ok(Given::Explain(_))
        ));
        let Ok(Given::Run(run)) = given("run --shake 3 --seed 9 --jobs 0 --filter x cases") else {
            panic!("no run");
        };
        assert_eq!((run.shake, run.jobs), (Some((3, 9)), 1));
        assert_eq!(run.folders, [PathBuf::from("cases")]);
        for (words, why) in [
            ("run --backend tk", "no backend \"tk\""),
            ("run --colour", "no option \"--colour\""),
            ("run --jobs many", "whole number"),
            ("run --jobs", "needs a value"),
            ("explain", "one file"),
            ("a.case.json", "one --backend"),
        ] {
            let error = given(words).unwrap_err();
            assert!(error.contains(why), "{words}: {error}");
        }
    }
}
