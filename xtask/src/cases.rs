//! `cases`: every case on every backend; `cargo xtask cases --help` says what it takes.

use crate::workspace;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let root = workspace::root()?;
    let status = workspace::cargo(&root)
        .args(["run", "--quiet", "--locked", "-p", "agent_testkit"])
        .args(["--bin", "agent_cases", "--", "run"])
        .args(words)
        .status()
        .map_err(|error| format!("cargo can't be started: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err("some cases failed; each says why above".to_owned())
    }
}
