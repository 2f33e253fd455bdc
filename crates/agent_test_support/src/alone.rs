use std::process::{Command, Stdio};

/// Says to this program that it runs one test alone.
const ALONE: &str = "AGENT_TEST_ALONE";

/// Runs this test in a process in which no other does, so that it can measure the process.
/// `name` is its own, with its module.
#[track_caller]
pub fn in_its_own_process(name: &str, test: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return test();
    }
    let said = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--include-ignored", "--nocapture"])
        .env(ALONE, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let words = [said.stdout, said.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    let ran = said.status.success() && words.contains("1 passed");
    assert!(ran, "{}: {words}", said.status);
}
