//! One case in a process of its own, so that one that hangs or crashes stops nobody else.

use std::{
    fs::File,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::one::{Outcome, Result};

use super::options::RunOptions;

/// How often it is looked whether the process is over.
const LOOK: Duration = Duration::from_millis(5);

/// Runs it, and says what became of it, whatever that is.
pub(super) fn run(options: &RunOptions, backend: &str, file: &Path, seed: Option<u64>) -> Result {
    let begun = Instant::now();
    let outcome = spawn(options, backend, file, seed, begun).unwrap_or_else(|why| failed("", why));
    Result {
        outcome,
        took: begun.elapsed(),
    }
}

fn failed(step: &str, report: String) -> Outcome {
    Outcome::Failed {
        step: step.to_owned(),
        report,
    }
}

fn spawn(
    options: &RunOptions,
    backend: &str,
    file: &Path,
    seed: Option<u64>,
    begun: Instant,
) -> std::result::Result<Outcome, String> {
    let wrong = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| format!("{what}: {error}")
    };
    // Sockets and all that it leaves behind go with this folder.
    let place = tempfile::Builder::new()
        .prefix("agent-cases-")
        .tempdir()
        .map_err(wrong("no folder for a run"))?;
    let at = |name: &str| place.path().join(name);
    let create = |name: &str| File::create(at(name)).map_err(wrong("no file for a run"));
    let program = std::env::current_exe().map_err(wrong("this program can't be found"))?;
    let mut command = Command::new(program);
    command
        .args(["--backend", backend])
        .arg(file)
        .arg("--status")
        .arg(at("status"))
        .args(["--step-ms", &options.step.as_millis().to_string()])
        .env("TMPDIR", place.path())
        .stdin(Stdio::null())
        .stdout(create("stdout")?)
        .stderr(create("stderr")?);
    if let Some(seed) = seed {
        command.args(["--seed", &seed.to_string()]);
    }
    let mut child = command.spawn().map_err(wrong("it can't be started"))?;
    let ended = loop {
        match child.try_wait().map_err(wrong("it can't be waited for"))? {
            Some(status) => break Some(status),
            None if begun.elapsed() >= options.case => break None,
            None => std::thread::sleep(LOOK),
        }
    };
    if ended.is_none() {
        // Both fail only if it has ended by itself by now.
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = |name: &str| {
        let bytes = std::fs::read(at(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let said = text("stdout").lines().last().and_then(Result::from_line);
    Ok(match (ended, said) {
        (Some(_), Some(result)) => result.outcome,
        (Some(status), None) => {
            let step = step_in(&text("status"));
            let report = format!("{}\n{}", ended_by(status), excerpt(&text("stderr")));
            failed(&step, in_step(&step, report))
        }
        (None, _) => {
            let step = step_in(&text("status"));
            let report = format!(
                "it was not over after {:?}, and was ended\n{}",
                options.case,
                excerpt(&text("stderr"))
            );
            failed(&step, in_step(&step, report))
        }
    })
}

fn step_in(status: &str) -> String {
    if status.is_empty() {
        "before the first step".to_owned()
    } else {
        status.to_owned()
    }
}

fn in_step(step: &str, report: String) -> String {
    format!("in {step}\n  {report}")
}

fn ended_by(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the app crashed: signal {signal}"),
        (None, Some(code)) => format!("the app crashed: exit code {code}"),
        (None, None) => format!("the app crashed: {status}"),
    }
}

/// The first and the last lines of what it said: a panic begins with what went wrong.
fn excerpt(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(10).max(10);
    let shown = |n: usize| !(10..last).contains(&n);
    let mut excerpt = String::new();
    for (n, line) in lines.iter().enumerate().filter(|(n, _)| shown(*n)) {
        if n == last && last > 10 {
            excerpt += "  …\n";
        }
        excerpt += &format!("  {line}\n");
    }
    excerpt
}
