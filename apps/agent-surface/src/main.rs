//! `agent-surface`: see which apps let agents in and whom, and connect any MCP client to them.

#![forbid(unsafe_code)]

mod apps;
mod consent;
mod describe;
mod inspect;
mod mcp;
mod once;
mod options;

use std::process::ExitCode;

use options::{Command, USAGE};

fn main() -> ExitCode {
    let command = match options::read() {
        Ok(command) => command,
        Err(why) => {
            eprintln!("agent-surface: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Help => {
            apps::say(&format!("{USAGE}\n"));
            Ok(())
        }
        Command::Version => {
            apps::say(concat!("agent-surface ", env!("CARGO_PKG_VERSION"), "\n"));
            Ok(())
        }
        Command::Apps => apps::list(),
        Command::Consent { app, revoke } => consent::run(app.as_deref(), revoke.as_ref()),
        Command::Describe { app } => describe::run(app.as_deref()),
        Command::Inspect { app, open } => inspect::run(app.as_deref(), open),
        Command::Mcp { app, read_only } => mcp::run(app, read_only),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("agent-surface: {why}");
            ExitCode::FAILURE
        }
    }
}
