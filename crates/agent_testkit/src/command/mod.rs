//! `agent_cases`: the command line of the case runner.

mod explain;
mod known;
mod options;
mod process;
mod run;
mod table;

use std::{path::Path, process::ExitCode};

use crate::{case::Case, fixtures, one};

use options::{Given, OneOptions, RunOptions};

const HELP: &str = "\
agent_cases run [OPTION]... [FOLDER]...
  Runs every case of the folders on every backend, each in a process of its own.
  Folders: cases/ of the project, and those that AGENT_CASES lists (separated by `:`), or
  ../shared/cases where that exists.

  --backend NAME   only this backend; may be given several times
  --filter TEXT    only cases with this in their path
  --jobs N         so many at a time; one for each processor if not given
  --shake N        everything N times, in random order, with random delays on the UI thread
  --seed N         repeats a shaken run
  --report FILE    writes the table as Markdown too
  --known FILE     the list of known failures: cases/known-failures.json if not given
  --step-ms N      how long a step may take: 30000
  --case-ms N      how long a case may take: 120000
  --explain FILE   prints a case as a conversation, and runs nothing

agent_cases --backend NAME FILE
  Runs one case in this process, and prints its result as a line of JSON.

agent_cases explain FILE
";

/// Runs the command, on the main thread, with what follows the program's name.
pub fn main(words: Vec<String>) -> ExitCode {
    match options::read(&words) {
        Ok(Given::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Given::Explain(file)) => match Case::load(&file) {
            Ok(case) => {
                print!("{}", explain::explain(&case));
                ExitCode::SUCCESS
            }
            Err(fault) => told(&fault.to_string()),
        },
        Ok(Given::One(options)) => one(options),
        Ok(Given::Run(options)) => run(&options),
        Err(why) => told(&format!("{why}; `agent_cases help` says what there is")),
    }
}

fn told(why: &str) -> ExitCode {
    eprintln!("agent_cases: {why}");
    ExitCode::FAILURE
}

fn run(options: &RunOptions) -> ExitCode {
    match run::run(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => told(&why),
    }
}

/// One case in this process. The process ends when the conversation is over, whatever the app
/// may still be hanging in.
fn one(options: OneOptions) -> ExitCode {
    let all = fixtures::all();
    let Some(fixture) = all.iter().find(|it| it.name() == options.backend) else {
        return told(&format!("no backend {:?} is built here", options.backend));
    };
    let case = match Case::load(&options.file) {
        Ok(case) => case,
        Err(fault) => return told(&fault.to_string()),
    };
    let (id, name) = (case.id.clone(), case.name.clone());
    let backend = options.backend.clone();
    one::run(fixture.as_ref(), case, options.run, move |result| {
        if let one::Outcome::Failed { report, .. } = &result.outcome {
            eprintln!("{id} on {backend}: {name}\n{report}");
        }
        println!("{}", result.line());
        let failed = matches!(result.outcome, one::Outcome::Failed { .. });
        std::process::exit(i32::from(failed));
    });
    // `finish` has ended the process, but for a case that was over before it began.
    ExitCode::FAILURE
}

/// Where the project is: where cargo says, else the nearest folder above that has cases in it.
fn root() -> Option<std::path::PathBuf> {
    let of_cargo = std::env::var_os("CARGO_MANIFEST_DIR");
    let here = of_cargo.map_or_else(std::env::current_dir, |dir| Ok(dir.into()));
    let here = here.ok()?;
    let has_cases =
        |folder: &&Path| folder.join("cases").is_dir() && folder.join("Cargo.toml").is_file();
    here.ancestors().find(has_cases).map(Path::to_owned)
}
