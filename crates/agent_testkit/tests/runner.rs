//! The runner itself: what must fail does, and says what the reader needs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]
#![cfg(all(feature = "headless", feature = "egui"))]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A folder of cases of a test's own.
struct Cases {
    place: tempfile::TempDir,
}

struct Ran {
    passed: bool,
    said: String,
}

const UI: &str = r#""ui":{"windows":[{"id":"main","title":"Main","children":[
    {"kind":"button","id":"ok","text":"Ok","on_click":[{"count":"pressed"}]},
    {"kind":"button","id":"break","text":"Break","on_click":[{"panic":"as it should"}]},
    {"kind":"text_field","id":"note","label":"Note","value":"marigold"}]}]}"#;

const CLICK: &str =
    r#"{"send":{"method":"click","params":{"id":"ok"}},"expect":{"result":{"outcome":"allowed"}}}"#;

impl Cases {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("act")).unwrap();
        Self { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    /// A case of these steps, with more keys if they are given.
    fn case(&self, name: &str, steps: &str, more: &str) -> &Self {
        let text = format!(r#"{{"name":"{name}","from":"a test",{UI},"steps":[{steps}]{more}}}"#);
        self.write(&format!("act/{name}.case.json"), &text)
    }

    fn run(&self, words: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent_cases"));
        command
            .args(["run", "--known"])
            .arg(self.path("known-failures.json"))
            .args(words)
            .arg(self.place.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        Ran {
            passed: output.status.success(),
            said,
        }
    }
}

impl Ran {
    fn says(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.said.contains(part), "no {part:?} in:\n{}", self.said);
        }
        self
    }

    fn fails(&self, parts: &[&str]) {
        assert!(!self.passed, "{}", self.said);
        self.says(parts);
    }
}

#[test]
fn what_passes_passes_on_both_backends_and_is_counted() {
    let cases = Cases::new();
    cases.case("one", CLICK, "");
    cases.case("two", CLICK, r#","skip":{"egui":"not today"}"#);
    let report = cases.path("report.md");
    let ran = cases.run(&["--report", report.to_str().unwrap()]);
    assert!(ran.passed, "{}", ran.said);
    ran.says(&["skip   egui      act/two", "not today"]);
    assert!(
        ran.said.ends_with("3 passed, 0 failed, 1 skipped\n"),
        "{}",
        ran.said
    );
    let report = fs::read_to_string(report).unwrap();
    assert!(
        report.contains("| act/two | pass | skip: not today |"),
        "{report}"
    );
}

#[test]
fn a_wrong_expectation_is_shown_with_step_place_and_trees() {
    let cases = Cases::new();
    cases.case(
        "wrong",
        r#"{"send":{"method":"describe_ui","params":{}},"expect":{"result":{"nodes":{"$contains":[{"id":"ok"}]},"complete":false}}}"#,
        "",
    );
    for backend in ["headless", "egui"] {
        cases.run(&["--backend", backend]).fails(&[
            "FAIL",
            "in steps[0]: {\"expect\"",
            "at result.complete",
            "expected false",
            "received true",
            "as the agent sees it:",
            "button \"Ok\" [ok]",
            "the whole tree:",
            "0 passed, 1 failed, 0 skipped",
        ]);
    }
}

#[test]
fn a_secret_on_the_wire_fails() {
    let cases = Cases::new();
    cases.case(
        "secret",
        r#"{"send":{"method":"get_text","params":{"id":"note"}},"expect":{"result":{"$any":true}}}"#,
        r#","never_on_the_wire":["marigold"]"#,
    );
    cases
        .run(&["--backend", "headless"])
        .fails(&["\"marigold\" is never to be on the wire", "steps[0]"]);
}

#[test]
fn a_reply_too_few_fails_in_time() {
    let cases = Cases::new();
    // A line without an end is no line yet.
    cases.case(
        "waits",
        r#"{"raw":"x","no_newline":true,"expect":{"id":null}}"#,
        "",
    );
    cases
        .run(&["--backend", "headless", "--step-ms", "300"])
        .fails(&["expected a reply to null", "received nothing within 300ms"]);
}

#[test]
fn a_fault_in_a_file_is_named_with_file_and_place() {
    let cases = Cases::new();
    let send = |params: &str| {
        format!(r#"{{"send":{{"method":"click","params":{params}}},"expect":{{"result":{{}}}}}}"#)
    };
    let rows: Vec<(&str, String, &str, &str)> = vec![
        ("key", CLICK.into(), r#","skp":{}"#, "skp: unknown key \"skp\""),
        ("twin", CLICK.into(), r#","name":"again""#, "\"name\" stands twice in the root"),
        ("step", r#"{"sned":{}}"#.into(), "", "steps[0]: exactly one of"),
        (
            "person",
            r#"{"user":{"press":{"node":"ok"}}}"#.into(),
            "",
            "steps[0].user.press: unknown key",
        ),
        (
            "effect",
            r#"{"app":{"effects":[{"grow":{"node":"ok"}}]}}"#.into(),
            "",
            "steps[0].app.effects[0].grow: unknown key",
        ),
        (
            "node",
            r#"{"user":{"click":{"node":"nobody"}}}"#.into(),
            "",
            "there is no node \"nobody\"",
        ),
        ("id", send(r#"{"id":"nobody"}"#), "", "steps[0].send.params.id: there is no id"),
        ("param", send(r#"{"id":"ok","how":1}"#), "", "click takes no \"how\""),
        ("variable", send(r#"{"id":"$x"}"#), "", "$x has no value yet"),
        (
            "matcher",
            r#"{"send":{"method":"hello"},"expect":{"result":{"$contain":[1]}}}"#.into(),
            "",
            "steps[0].expect.result: one of $contains",
        ),
        (
            "word",
            r#"{"send":{"method":"click","params":{"id":"ok"}},"expect":{"result":{"outcome":"done"}}}"#
                .into(),
            "",
            "\"done\" is none of allowed",
        ),
        (
            "reason",
            r#"{"send":{"method":"hello"},"expect":{"error":{"code":-31001,"data":{"reason":"limit"}}}}"#
                .into(),
            "",
            "the reason of -31001 is \"consent_denied\"",
        ),
        (
            "counter",
            r#"{"app":{"counter":{"presed":1}}}"#.into(),
            "",
            "\"presed\" is counted nowhere",
        ),
        ("awaits", r#"{"await":"x","expect":{}}"#.into(), "", "nothing was sent"),
    ];
    for (name, steps, more, _) in &rows {
        cases.case(name, steps, more);
    }
    cases.case("fine", CLICK, "");
    cases.write("act/misnamed.json", "{}");
    cases.write("act/Upper.case.json", "{}");
    let ran = cases.run(&["--backend", "headless"]);
    for (name, _, _, what) in &rows {
        let file = format!("{name}.case.json");
        let lines = ran.said.lines();
        let line = lines.into_iter().find(|line| line.contains(&file));
        let line = line.unwrap_or_else(|| panic!("{name} is not named in:\n{}", ran.said));
        assert!(line.contains(what), "{line}\nshould say {what}");
    }
    ran.fails(&[
        "misnamed.json",
        "not in kebab-case",
        "1 passed, 16 failed, 0 skipped",
    ]);
}

#[test]
fn a_hang_is_ended_and_its_step_is_named() {
    let cases = Cases::new();
    cases.case(
        "hangs",
        &format!(r#"{CLICK},{{"app":{{"effects":[{{"block_ms":600000}}]}}}}"#),
        "",
    );
    cases.case("goes-on", CLICK, "");
    for backend in ["headless", "egui"] {
        let words = [
            "--backend",
            backend,
            "--case-ms",
            "2500",
            "--step-ms",
            "60000",
        ];
        cases.run(&words).fails(&[
            "was not over after 2.5s, and was ended",
            "in steps[1]: {\"app\"",
            "1 passed, 1 failed, 0 skipped",
        ]);
        let words = ["--backend", backend, "--step-ms", "300"];
        cases
            .run(&words)
            .fails(&["the UI thread has not done it within 300ms", "in steps[1]"]);
    }
}

#[test]
fn a_crash_is_told_and_stops_nobody_else() {
    let cases = Cases::new();
    cases.case("crashes", r#"{"user":{"click":{"node":"break"}}}"#, "");
    cases.case("goes-on", CLICK, "");
    cases.run(&["--backend", "egui"]).fails(&[
        "the app crashed: exit code 101",
        "in steps[0]: {\"user\"",
        "as it should",
        "1 passed, 1 failed, 0 skipped",
    ]);
}

#[test]
fn the_list_of_known_failures_is_strict_both_ways() {
    let cases = Cases::new();
    let wrong = CLICK.replace("allowed", "not_found");
    cases.case("good", CLICK, "");
    cases.case("bad", &wrong, "");
    cases.write(
        "known-failures.json",
        r#"{"headless":{"act/bad":"isn't built"}}"#,
    );
    let ran = cases.run(&["--backend", "headless"]);
    assert!(ran.passed, "{}", ran.said);
    ran.says(&[
        "known  headless  act/bad",
        "isn't built",
        "1 passed, 0 failed, 1 skipped",
    ]);
    // The same on a backend that the list does not have.
    cases
        .run(&["--backend", "egui"])
        .fails(&["1 passed, 1 failed, 0 skipped"]);
    cases.write(
        "known-failures.json",
        r#"{"headless":{"act/bad":"isn't built","act/good":"a slip","act/ugly":"gone"}}"#,
    );
    cases.run(&["--backend", "headless"]).fails(&[
        "act/good",
        "it is listed as a known failure, and passes: take it off the list",
        "note: the list of known failures has act/ugly on headless",
        "0 passed, 1 failed, 1 skipped",
    ]);
    cases.write("known-failures.json", r#"{"headless":{"act/bad":""}}"#);
    cases
        .run(&["--backend", "headless"])
        .fails(&["the reason is missing"]);
}

#[test]
fn a_shaken_run_tells_its_seed() {
    let cases = Cases::new();
    cases.case("good", CLICK, "");
    let ran = cases.run(&["--shake", "3", "--seed", "7"]);
    assert!(ran.passed, "{}", ran.said);
    ran.says(&[
        "shaken 3 times; --seed 7 repeats it",
        "2 passed, 0 failed, 0 skipped",
    ]);
}

#[test]
fn a_case_is_explained() {
    let cases = Cases::new();
    let step = r#"{"user":{"type":{"node":"note","text":"x"}}}"#;
    cases.case("good", &format!("{CLICK},{step}"), "");
    let file = cases.path("act/good.case.json");
    let output = Command::new(env!("CARGO_BIN_EXE_agent_cases"))
        .args(["run", "--explain"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "window [main] \"Main\"",
        "button [ok] \"Ok\"; when pressed: pressed is counted",
        "a -> click {\"id\":\"ok\"}",
        "the user types \"x\" into note",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn the_projects_own_cases_are_well_formed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    for folder in fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            for file in fs::read_dir(folder).unwrap() {
                let file = file.unwrap().path();
                if let Err(fault) = agent_testkit::case::Case::load(&file) {
                    panic!("{fault}");
                }
            }
        }
    }
}
