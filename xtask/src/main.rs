//! The project's chores: `cargo xtask help`.
//!
//! One module a command; what they share is in `debian`, `program`, `step`, `workspace` and `xvfb`.

#![forbid(unsafe_code)]

mod appkit;
mod bench;
mod cases;
mod clients;
mod debian;
mod deps;
mod docs;
mod nightly;
mod onscreen;
mod picture;
mod program;
mod recipes;
mod rules;
mod step;
mod test;
mod tokens;
mod transcript;
mod workspace;
mod xvfb;

use std::process::ExitCode;

/// What can be asked for. `help` is made from this, so that it cannot leave one out.
struct Command {
    name: &'static str,
    /// The options that it takes, all without a value.
    options: &'static [&'static str],
    summary: &'static str,
    /// Its error is a message for the person at the terminal.
    run: fn(&Options) -> Result<(), String>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        options: &["--no-install"],
        summary: "All tests and recipes; installs what windows need on Debian unless --no-install",
        run: test::run,
    },
    Command {
        name: "recipes",
        options: &[],
        summary: "Runs each recipe without a display and in a window, and compares what it says",
        run: recipes::run,
    },
    Command {
        name: "onscreen",
        options: &[],
        summary: "What shows on a screen alone: pointer, pixels, windows, on a display of its own",
        run: onscreen::run,
    },
    Command {
        name: "appkit",
        options: &["--check-macos", "--no-install", "--picture"],
        summary: "The AppKit backend on GNUstep: builds it, runs its recipe and its cases",
        run: appkit::run,
    },
    Command {
        name: "clients",
        options: &[],
        summary: "Real MCP clients (Python, TypeScript) drive the egui recipe through the bridge",
        run: clients::run,
    },
    Command {
        name: "docs",
        options: &["--check"],
        summary: "Writes the pages that are made from the tables of verbs and methods, or checks that they are current",
        run: docs::run,
    },
    Command {
        name: "deps",
        options: &[],
        summary: "What agent_surface adds to an egui app's dependencies; fails if that is too much",
        run: deps::run,
    },
    Command {
        name: "rules",
        options: &[],
        summary: "Checks that each test that ARCHITECTURE.md names for a rule exists",
        run: rules::run,
    },
    Command {
        name: "picture",
        options: &[],
        summary: "Takes the pictures: what an agent sees of a window, what its user is asked, the inspector",
        run: picture::run,
    },
    Command {
        name: "bench",
        options: &["--write"],
        summary: "What it costs on this machine, as a table; --write puts it into the page",
        run: bench::run,
    },
    Command {
        name: "tokens",
        options: &["--write"],
        summary: "What a model pays, ours beside a peer's; --write puts the table into its page",
        run: tokens::run,
    },
    Command {
        name: "nightly",
        options: &[],
        summary: "The long forms of the tests, which a change need not wait for",
        run: nightly::run,
    },
];

/// The options given, each known to the command.
struct Options(Vec<String>);

impl Options {
    fn has(&self, option: &str) -> bool {
        self.0.iter().any(|given| given == option)
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "help".to_owned());
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        help();
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = words.collect();
    let done = match name.as_str() {
        // It reads its own options, which take values.
        "cases" => cases::run(&words),
        _ => run(&name, words),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str, options: Vec<String>) -> Result<(), String> {
    let command = COMMANDS
        .iter()
        .find(|command| command.name == name)
        .ok_or("there is no such command; `cargo xtask help` lists them")?;
    if let Some(unknown) = options
        .iter()
        .find(|given| !command.options.contains(&given.as_str()))
    {
        return Err(match command.options {
            [] => format!("takes no options, so not `{unknown}`"),
            known => format!(
                "there is no option `{unknown}`; there is {}",
                known.join(", ")
            ),
        });
    }
    (command.run)(&Options(options))
}

fn help() {
    println!("cargo xtask <command>\n");
    for command in COMMANDS {
        let mut usage = command.name.to_owned();
        for option in command.options {
            usage += &format!(" [{option}]");
        }
        println!("  {usage:<22} {}", command.summary);
    }
    println!(
        "  {:<22} Every case on every backend; --help says what it takes",
        "cases ..."
    );
    println!("  {:<22} This list", "help");
}
