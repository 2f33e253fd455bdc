//! Rules while programs are killed and where there is no room.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use agent_consent::{Answer, Consent, Rule, Scripted, Store};
use agent_core::{Channel, Decision, Peer, Request, Scope, Verb};
use agent_test_support::{Random, eventually};

use crate::children::{start, started};

const FOLDER: &str = "AGENT_CONSENT_FOLDER";
const WRITER: &str = "AGENT_CONSENT_WRITER";
const COUNT: &str = "AGENT_CONSENT_COUNT";

fn rule(agent: &str) -> Rule {
    Rule {
        app: "org.example.orders".into(),
        scope: Scope::Surface,
        agent: agent.into(),
        name: agent.into(),
        program: None,
        content: None,
        evidence: vec!["x".repeat(500)],
        allow: true,
        since: 1_800_000_000,
        until: None,
        last_used: None,
        uses: 0,
    }
}

/// Writes rules, and says of each when it is saved; goes on where the one before was killed.
#[test]
fn a_child_writes_rules() {
    let (Some(folder), Ok(writer), Ok(count)) = (
        std::env::var_os(FOLDER),
        std::env::var(WRITER),
        std::env::var(COUNT),
    ) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let store = Store::at(folder.join("rules"));
    let said = folder.join(&writer);
    let done = whole_lines(&said);
    let mut says = File::options()
        .create(true)
        .append(true)
        .open(&said)
        .unwrap();
    // Ends a line that the one before was killed in.
    says.write_all(b"\n").unwrap();
    for n in done.len()..count.parse().unwrap() {
        let agent = format!("{writer}-{n}");
        store.save(&rule(&agent)).unwrap();
        says.write_all(format!("{agent} saved\n").as_bytes())
            .unwrap();
        // However fast the disk is, there is time to be killed in.
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn whole_lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| Some(line.strip_suffix(" saved")?.to_owned()))
        .collect()
}

#[test]
fn what_was_saved_is_there_and_whole_though_writers_are_killed() {
    let count = 1_000;
    let folder = agent_test_support::folder();
    let writers: Vec<String> = (0..8).map(|n| format!("writer{n}")).collect();
    let run = |writer: &String| -> Child {
        start(
            Command::new(std::env::current_exe().unwrap())
                .args(["disk::a_child_writes_rules", "--exact"])
                .env(FOLDER, folder.path())
                .env(WRITER, writer)
                .env(COUNT, count.to_string())
                .stdout(Stdio::null()),
        )
    };
    let mut dice = Random(7);
    let mut running: Vec<(usize, Child)> = writers
        .iter()
        .enumerate()
        .map(|(n, it)| (n, run(it)))
        .collect();
    let mut killed = 0;
    while !running.is_empty() {
        std::thread::sleep(Duration::from_millis(2 + dice.below(8) as u64));
        let which = dice.below(running.len());
        let (n, child) = &mut running[which];
        match child.try_wait().unwrap() {
            Some(ended) => {
                assert!(ended.success());
                running.swap_remove(which);
            }
            // So that they come to an end, they are killed less and less, and at last not at all.
            None if killed < count / 2 || killed < 4 * count && dice.once_in(20) => {
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
                *child = run(&writers[*n]);
            }
            None => {}
        }
    }
    assert!(killed > 5, "{killed}");
    let loaded = Store::at(folder.path().join("rules")).load();
    assert_eq!(loaded.problems, []);
    let mut agents: Vec<&str> = loaded
        .rules
        .iter()
        .map(|rule| rule.agent.as_str())
        .collect();
    agents.sort_unstable();
    for writer in &writers {
        let said = whole_lines(&folder.path().join(writer));
        assert!(said.len() >= count, "{writer}: {}", said.len());
        for agent in said {
            assert!(
                agents.binary_search(&agent.as_str()).is_ok(),
                "{agent} was saved and is not there"
            );
        }
    }
    for found in &loaded.rules {
        assert_eq!(*found, rule(&found.agent));
    }
    assert_eq!(loaded.rules.len(), 8 * count);
}

/// Where no file can grow: it was started so.
#[test]
fn a_child_on_a_full_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let store = Store::at(Path::new(&folder).join("rules"));
    store.save(&rule("new")).unwrap_err();
    // The one before is there still.
    let mut changed = rule("old");
    changed.allow = false;
    store.save(&changed).unwrap_err();
    assert_eq!(store.load().rules, [rule("old")]);

    let user = Scripted::answering([Some(Answer::Always)]);
    let consent = Consent::builder("org.example.orders")
        .prompt(user.clone())
        .rules_dir(store.folder())
        .log(Path::new(&folder).join("log.jsonl"))
        .build();
    let gate = consent.gate();
    let parent = std::os::unix::process::parent_id();
    let request = Request {
        number: 1,
        channel: Channel::External,
        connection: 1,
        claimed_name: None,
        peer: Some(std::sync::Arc::new(Peer {
            uid: Some(rustix::process::geteuid().as_raw()),
            pid: Some(parent),
            started: Some(started(parent)),
            executable: fs::read_link(format!("/proc/{parent}/exe")).ok(),
            named: None,
        })),
        verb: Verb::Click,
        scope: Scope::Surface,
        target: None,
    };
    gate.met(&request);
    assert_eq!(gate.check(&request), Decision::Ask);
    gate.ask(&request);
    assert_eq!(gate.check(&request), Decision::Allow);
    gate.acting(&request);
    gate.done(&request, "allowed");
    let told = |what: &str| user.told().iter().any(|it| it.contains(what));
    eventually("told that it isn't saved", || {
        told("could not be saved and holds until")
    });
    eventually("told that nothing is logged", || {
        told("is not being logged")
    });
    assert_eq!(gate.check(&request), Decision::Allow);
    assert_eq!(store.load().rules, [rule("old")]);
    assert_eq!(store.load().problems, []);
}

#[test]
fn a_full_disk_loses_no_rule_and_blocks_nothing() {
    let folder = agent_test_support::folder();
    Store::at(folder.path().join("rules"))
        .save(&rule("old"))
        .unwrap();
    let program = std::env::current_exe().unwrap();
    let line = format!(
        "trap '' XFSZ; ulimit -f 0; exec '{}' disk::a_child_on_a_full_disk --exact",
        program.display()
    );
    let ended = Command::new("sh")
        .args(["-c", &line])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
