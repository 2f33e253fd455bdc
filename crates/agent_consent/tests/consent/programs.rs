//! A rule is for one program, started in one way.

use std::{
    fs,
    io::Write as _,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use agent_consent::{Agent, Answer, Consent, Fingerprints, Proof, Scripted};
use agent_core::{AuthGate, Channel, Decision, Peer, Request, Scope, Verb};
use agent_test_support::TempDir;

use crate::children::{Running, WAITS, copy};

/// An app whose user says *always* once.
struct App {
    user: Scripted,
    gate: AuthGate,
    connections: u64,
    _consent: Consent,
    folder: TempDir,
}

impl App {
    fn new() -> Self {
        let folder = agent_test_support::folder();
        let user = Scripted::new();
        let consent = Consent::builder("org.example.orders")
            .prompt(user.clone())
            .rules_dir(folder.path().join("rules"))
            .no_log()
            .build();
        Self {
            user,
            gate: consent.gate(),
            connections: 0,
            _consent: consent,
            folder,
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What becomes of a first request of this program's.
    fn request(&mut self, program: &Running) -> Decision {
        self.connections += 1;
        let request = Request {
            number: self.connections,
            channel: Channel::External,
            connection: self.connections,
            claimed_name: None,
            peer: Some(Arc::new(program.peer())),
            verb: Verb::DescribeUi,
            scope: Scope::Surface,
            target: None,
        };
        self.gate.met(&request);
        let decision = self.gate.check(&request);
        if decision == Decision::Ask {
            self.gate.ask(&request);
        }
        decision
    }

    fn assert_asked(&mut self, what: &str, program: &Running) {
        assert_eq!(self.request(program), Decision::Ask, "{what}");
        self.user.dismiss();
    }

    fn start(&self, program: &Path) -> Running {
        Running::new(self.folder.path(), Command::new(program).arg(WAITS))
    }
}

#[test]
fn a_copy_a_change_another_parent_a_session_a_shell_are_asked_about_again() {
    let mut app = App::new();
    let agent = copy(&app.place("bin/agent"));
    let first = app.start(&agent);
    assert_eq!(app.request(&first), Decision::Ask);
    assert!(app.user.answer(Answer::Always));
    assert_eq!(app.request(&first), Decision::Allow);
    drop(first);
    let again = app.start(&agent);
    assert_eq!(
        app.request(&again),
        Decision::Allow,
        "the same, started again"
    );
    drop(again);

    let elsewhere = copy(&app.place("elsewhere/agent"));
    let copied = app.start(&elsewhere);
    app.assert_asked("a copy", &copied);
    drop(copied);

    let parent = copy(&app.place("bin/parent"));
    let other = Running::by(app.folder.path(), &parent, &agent);
    app.assert_asked("another parent", &other);
    drop(other);

    let shell = format!("{} {WAITS}; true", agent.display());
    let by_shell = Running::new(app.folder.path(), Command::new("sh").args(["-c", &shell]));
    app.assert_asked("by a shell", &by_shell);
    drop(by_shell);

    let mut by_setsid = Command::new("setsid");
    by_setsid.arg(&agent).arg(WAITS);
    let by_setsid = Running::new(app.folder.path(), &mut by_setsid);
    app.assert_asked("by setsid", &by_setsid);
    drop(by_setsid);

    let mut orphan = Command::new("setsid");
    orphan.arg("--fork").arg(&agent).arg(WAITS);
    let orphan = Running::new(app.folder.path(), &mut orphan);
    app.assert_asked("its parent is gone", &orphan);
    drop(orphan);

    // A byte behind what the loader reads: it runs as before.
    let mut file = fs::File::options().append(true).open(&agent).unwrap();
    file.write_all(b"x").unwrap();
    drop(file);
    let changed = app.start(&agent);
    assert_eq!(app.request(&changed), Decision::Ask, "changed in place");
    let said = app.user.see(|asked| asked.details()[0].plain());
    assert_eq!(
        said.as_deref(),
        Some("It has changed since you allowed it.")
    );
}

#[test]
fn who_asks_is_who_started_the_bridge() {
    let folder = agent_test_support::folder();
    let bridge = copy(&folder.path().join("agent-surface"));
    let agent = copy(&folder.path().join("agent"));
    let running = Running::by(folder.path(), &agent, &bridge);
    let found = running.agent();
    assert_eq!(found.name().as_deref(), Some("agent"));
    assert!(found.is_proven());
    let chain: Vec<_> = found
        .chain()
        .iter()
        .filter_map(|link| link.executable.clone())
        .collect();
    assert_eq!(chain[..2], [bridge, agent]);
    assert_eq!(chain[2], std::env::current_exe().unwrap());
    assert!(matches!(found.chain()[1].proof, Some(Proof::Content(_))));
    // Nobody reads the files of those above.
    let above = &found.chain()[2..];
    assert!(
        above
            .iter()
            .all(|link| link.proof.is_none() && link.script.is_none())
    );
    drop(running);

    // A shell in between makes no other of it, though it is another way to come.
    let shell = copy(&folder.path().join("bash"));
    let direct = Running::new(folder.path(), Command::new(&shell).arg(WAITS));
    let own = std::env::current_exe().unwrap();
    let name = own
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    assert_eq!(direct.agent().name(), name);
}

#[test]
fn a_script_is_told_from_another_and_never_remembered() {
    let mut app = App::new();
    let python = copy(&app.place("python3"));
    let script = |name: &str, text: &str| {
        let folder = app.folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(WAITS), text).unwrap();
        folder
    };
    let (one, two) = (script("one", "agent()"), script("two", "agent()"));
    let run = |folder: &Path| {
        let mut command = Command::new(&python);
        Running::new(app.folder.path(), command.arg(WAITS).current_dir(folder))
    };
    let first = run(&one);
    let second = run(&two);
    let id = |program: &Running| program.agent().id().map(str::to_owned);
    assert_eq!(first.agent().name().as_deref(), Some(WAITS));
    assert!(!first.agent().is_proven());
    assert_ne!(id(&first), id(&second));
    assert_eq!(id(&first), id(&run(&one)));
    let before = id(&first);
    fs::write(one.join(WAITS), "agent(evil)").unwrap();
    assert_ne!(before, id(&run(&one)));
    fs::write(one.join(WAITS), "agent()").unwrap();

    assert_eq!(app.request(&first), Decision::Ask);
    let (offered, said) = app
        .user
        .see(|asked| {
            let offered: Vec<Answer> = asked.choices().iter().map(|choice| choice.answer).collect();
            let said: Vec<String> = asked
                .details()
                .iter()
                .map(|line| line.plain_full())
                .collect();
            (offered, said.join("\n"))
        })
        .unwrap();
    assert_eq!(
        offered,
        [Answer::No, Answer::Never, Answer::Once, Answer::UntilQuit]
    );
    assert!(said.contains("one/a_child_waits”, run by"), "{said}");
    assert!(!app.user.answer(Answer::Always));
    assert!(app.user.answer(Answer::UntilQuit));
    assert_eq!(app.request(&first), Decision::Allow);
    app.assert_asked("another script of the same interpreter", &second);
    assert!(!app.place("rules").exists(), "nothing is on the disk");
}

#[test]
fn whose_program_is_gone_or_in_memory_only_cannot_be_identified() {
    let folder = agent_test_support::folder();
    let program = copy(&folder.path().join("agent"));
    let running = Running::new(folder.path(), Command::new(&program).arg(WAITS));
    assert!(running.agent().id().is_some());
    fs::remove_file(&program).unwrap();
    assert_eq!(running.agent().id(), None);
    drop(running);

    let memory = rustix::fs::memfd_create("agent", rustix::fs::MemfdFlags::empty()).unwrap();
    let mut memory = fs::File::from(memory);
    memory
        .write_all(&fs::read(std::env::current_exe().unwrap()).unwrap())
        .unwrap();
    let place = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    let readable = fs::File::open(&place).unwrap();
    drop(memory);
    let place = format!("/proc/{}/fd/{}", std::process::id(), readable.as_raw_fd());
    let running = Running::new(folder.path(), Command::new(place).arg(WAITS));
    assert_eq!(running.agent().id(), None);
    assert!(!running.agent().is_proven());
}

#[test]
fn what_does_not_fit_together_identifies_nobody() {
    let folder = agent_test_support::folder();
    let program = copy(&folder.path().join("agent"));
    let running = Running::new(folder.path(), Command::new(&program).arg(WAITS));
    let id = |change: &dyn Fn(&mut Peer)| {
        let mut peer = running.peer();
        change(&mut peer);
        let agent = Agent::behind(Some(&Arc::new(peer)), &Fingerprints::default());
        agent.id().map(str::to_owned)
    };
    assert!(id(&|_| {}).is_some());
    // The number is another's by now; it became another program; it is another user's.
    assert_eq!(
        id(&|peer| peer.started = peer.started.map(|ticks| ticks - 1)),
        None
    );
    assert_eq!(
        id(&|peer| peer.executable = Some("/usr/bin/claude".into())),
        None
    );
    assert_eq!(id(&|peer| peer.uid = Some(4711)), None);
    assert_eq!(id(&|peer| peer.uid = None), None);
    assert_eq!(id(&|peer| peer.pid = None), None);
    assert_eq!(id(&|peer| peer.pid = Some(u32::MAX)), None);
    assert_eq!(Agent::behind(None, &Fingerprints::default()).id(), None);
}
