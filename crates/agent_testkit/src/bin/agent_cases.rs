//! `agent_cases`: runs cases. `agent_cases help` says how.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_testkit::command::main(std::env::args().skip(1).collect())
}
