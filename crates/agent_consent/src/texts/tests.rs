//! What the user reads: word for word, and all of it from the table.

use std::{
    collections::BTreeSet,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use agent_core::{AuthGate, Channel, Peer, Request, Verb};
use agent_test_support::eventually;

use super::*;
use crate::{Asked, Builder, Consent, Fingerprints, Prompt, QuestionId};

/// A program that its user can't write to.
fn of_the_system(path: &str) -> Link {
    Link {
        proof: Some(Proof::Path),
        ..Link::pretend(path, "")
    }
}

/// A program that its user can write to.
fn of_the_user(path: &str) -> Link {
    Link::pretend(path, "5eed")
}

/// One above who asks, where nobody looks at files.
fn above(path: &str) -> Link {
    Link {
        proof: None,
        ..Link::pretend(path, "")
    }
}

fn unreadable() -> Link {
    Link {
        executable: None,
        ..above("")
    }
}

fn running(interpreter: Link, script: &str) -> Link {
    let path = script.into();
    let content = Some("5eed".to_owned());
    Link {
        script: Some(Script { path, content }),
        ..interpreter
    }
}

fn bridge() -> Link {
    of_the_user("/home/ada/.cargo/bin/agent-surface")
}

fn by_the_system() -> Agent {
    Agent::pretend_behind(vec![
        bridge(),
        of_the_system("/usr/bin/claude"),
        above("/usr/bin/bash"),
        above("/usr/bin/bash"),
        above("/usr/libexec/gnome-terminal-server"),
        unreadable(),
    ])
}

fn by_a_script() -> Agent {
    Agent::pretend_behind(vec![
        bridge(),
        of_the_system("/usr/bin/dash"),
        running(of_the_system("/usr/bin/node"), "/home/ada/agent.js"),
        above("/usr/bin/zsh"),
    ])
}

fn by_nobody() -> Agent {
    Agent::pretend_behind(vec![
        bridge(),
        of_the_system("/usr/bin/bash"),
        of_the_system("/usr/sbin/sshd"),
    ])
}

fn by_the_app() -> Agent {
    let peer = Peer {
        uid: Some(rustix::process::geteuid().as_raw()),
        named: Some("Helper".to_owned()),
        ..Peer::default()
    };
    Agent::behind(Some(&Arc::new(peer)), &Fingerprints::default())
}

#[test]
fn a_question_names_who_asks_and_all_who_started_what_connected() {
    let check = |agent: Agent, claim, changed, expected: &str| {
        let texts = Texts::default();
        let mut said = vec![texts.ask(Scope::Surface, &agent).plain()];
        let lines = texts.evidence(&agent, claim, changed);
        said.extend(lines.iter().map(Text::plain_full));
        assert_eq!(said.join("\n"), expected);
    };
    check(
        by_the_system(),
        Some("Claude”, the app"),
        false,
        "May “claude” see and use this app?\n\
         It calls itself “Claude\\u{201d}, the app”, which anybody can.\n\
         Program: “/usr/bin/claude”. It connected through \
         “/home/ada/.cargo/bin/agent-surface”, started by “/usr/bin/claude”, started by \
         “/usr/bin/bash”, started by “/usr/libexec/gnome-terminal-server”, started by a program \
         that can't be looked at\n\
         It is part of the system, and known by its path.",
    );
    check(
        Agent::pretend_behind(vec![
            bridge(),
            of_the_user("/home/ada/bin/claude"),
            above("/usr/bin/kitty"),
        ]),
        None,
        false,
        "May “claude” see and use this app?\n\
         Program: “/home/ada/bin/claude”. It connected through \
         “/home/ada/.cargo/bin/agent-surface”, started by “/home/ada/bin/claude”, started by \
         “/usr/bin/kitty”\n\
         It is known by its content: should it change, you are asked again.",
    );
    check(
        Agent::pretend_behind(vec![
            of_the_user("/home/ada/bin/claude"),
            above("/usr/bin/kitty"),
        ]),
        None,
        true,
        "May “claude” see and use this app?\n\
         It has changed since you allowed it.\n\
         Program: “/home/ada/bin/claude”, started by “/usr/bin/kitty”\n\
         It is known by its content: should it change, you are asked again.",
    );
    check(
        by_a_script(),
        None,
        false,
        "May “agent.js” see and use this app?\n\
         Program: “/usr/bin/node”. It connected through “/home/ada/.cargo/bin/agent-surface”, \
         started by “/usr/bin/dash”, started by “/usr/bin/node”, started by “/usr/bin/zsh”\n\
         It is the script “/home/ada/agent.js”, run by “/usr/bin/node”. That can't be proven, so \
         a yes ends when this app quits.\n\
         What is in it now has the hash “5eed”.",
    );
    check(
        by_nobody(),
        Some("claude"),
        false,
        "May a program that can't be identified see and use this app?\n\
         It calls itself “claude”, which anybody can.\n\
         Program: “/home/ada/.cargo/bin/agent-surface”, started by “/usr/bin/bash”, started by \
         “/usr/sbin/sshd”\n\
         Who it is can't be told, so a yes ends with this connection.",
    );
    check(
        Agent::pretend_behind(vec![unreadable(), above("/usr/bin/claude")]),
        None,
        false,
        "May a program that can't be identified see and use this app?\n\
         Program: a program that can't be looked at, started by “/usr/bin/claude”\n\
         Who it is can't be told, so a yes ends with this connection.",
    );
    check(
        by_the_app(),
        Some("Claude"),
        false,
        "May “Helper” see and use this app?\n\
         The app itself made this connection, and calls it so.",
    );
}

/// Each text replaced by its name and what is filled in, between brackets.
fn marked() -> Texts {
    let mut texts = Texts::default();
    for (name, text) in texts.each() {
        let filled: Vec<&str> = text
            .split('{')
            .skip(1)
            .filter_map(|it| Some(it.split_once('}')?.0))
            .collect();
        let filled: String = filled.iter().map(|it| format!(" {{{it}}}")).collect();
        *text = format!("⟦{name}:{filled}⟧");
    }
    texts
}

/// A screen, and what was on it so far, foreign words left out.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Shown>>);

#[derive(Default)]
struct Shown {
    all: Vec<String>,
    open: Option<Asked>,
}

impl Screen {
    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap()
    }

    /// The question, once it is there: whoever tells something at that moment shows it too.
    fn open(&self) -> Asked {
        eventually("the question is shown", || self.lock().open.is_some());
        self.lock().open.take().unwrap()
    }

    fn answer(&self, answer: Answer) {
        let asked = self.open();
        assert!(asked.answer(answer), "{answer:?} to {asked:?}");
    }

    fn dismiss(&self) {
        assert!(self.open().dismiss());
    }

    fn was_told(&self, name: &str) {
        let text = format!("⟦{name}:");
        eventually(name, || {
            let shown = self.lock();
            shown.all.iter().any(|it| it.contains(&text))
        });
    }
}

fn ours(text: &Text) -> String {
    let ours = text.pieces.iter().map(|piece| match piece {
        Piece::Ours(words) => words.as_str(),
        Piece::Theirs(_) => "",
    });
    ours.collect()
}

impl Prompt for Screen {
    fn show(&self, asked: Asked) {
        let mut shown = self.lock();
        shown.all.push(ours(asked.heading()));
        shown.all.extend(asked.details().iter().map(ours));
        let labels = asked.choices().iter().map(|choice| choice.label.clone());
        shown.all.extend(labels);
        assert!(shown.open.replace(asked).is_none());
    }

    fn withdraw(&self, _question: QuestionId) {}

    fn tell(&self, what: &Text) {
        self.lock().all.push(ours(what));
    }
}

/// An app whose words are all marks.
struct App {
    screen: Screen,
    consent: Consent,
    gate: AuthGate,
    connections: u64,
}

impl App {
    fn new(screen: &Screen, folder: &Path, set: impl FnOnce(Builder) -> Builder) -> Self {
        let builder = Consent::builder("org.example.orders")
            .prompt(screen.clone())
            .texts(marked())
            .rules_dir(folder.join("rules"));
        let consent = set(builder).build();
        Self {
            screen: screen.clone(),
            gate: consent.gate(),
            consent,
            connections: 0,
        }
    }

    fn connect(&mut self, agent: Agent) -> Request {
        self.connections += 1;
        let request = Request {
            number: 1,
            channel: Channel::External,
            connection: self.connections,
            claimed_name: Some("Claude".into()),
            peer: None,
            verb: Verb::Click,
            scope: Scope::Surface,
            target: None,
        };
        self.consent.pretend(&request, agent);
        request
    }

    fn asks(&mut self, scope: Scope, agent: Agent) -> Request {
        let request = Request {
            number: 1,
            scope,
            ..self.connect(agent)
        };
        self.gate.ask(&request).unwrap();
        request
    }

    /// Asks about an action of the app's own assistant.
    fn confirms(&mut self, action: Action) {
        self.connections += 1;
        let request = Request {
            number: 1,
            channel: Channel::InApp,
            connection: self.connections,
            claimed_name: None,
            peer: None,
            verb: action.verb(),
            scope: Scope::Surface,
            target: None,
        };
        let question = Question {
            request,
            window: "Account".into(),
            node: "amount".into(),
            name: "Amount".into(),
            action,
            seen: 1,
        };
        self.gate.confirm(&question);
        self.screen.answer(Answer::Once);
    }
}

/// Every action that can be asked about.
fn actions() -> Vec<Action> {
    let write = |value: &str, range| Action::SetText {
        value: value.into(),
        base_version: 1,
        range,
    };
    vec![
        Action::Click,
        write("x", None),
        write("x", Some((0, 1))),
        write("", None),
        Action::ScrollTo { key: None },
        Action::Focus,
        Action::Submit,
        Action::Select,
        Action::SetChecked(true),
        Action::SetChecked(false),
        Action::SetValue(1.0),
        Action::Expand,
        Action::Collapse,
    ]
}

#[test]
fn all_that_is_shown_is_from_the_table_and_all_of_the_table_is_shown() {
    let screen = Screen::default();

    let folder = agent_test_support::folder();
    let rules = folder.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(rules.join("spoilt.json"), "{").unwrap();
    let mut app = App::new(&screen, folder.path(), Builder::no_log);
    screen.was_told("bad_rule");
    for scope in [Scope::Surface, Scope::Full, Scope::Inspector] {
        app.asks(scope, by_the_system());
        screen.dismiss();
    }
    for agent in [by_a_script(), by_nobody(), by_the_app()] {
        app.asks(Scope::Surface, agent);
        screen.dismiss();
    }
    for action in actions() {
        app.confirms(action);
    }
    let allowed = app.asks(Scope::Surface, Agent::pretend("/opt/agent", "1"));
    screen.answer(Answer::Always);
    let stored = || app.consent.rules().first().is_some_and(|it| it.stored);
    eventually("the rule is saved", stored);
    app.gate.gone(allowed.connection);
    let other = app.asks(Scope::Surface, Agent::pretend("/opt/agent", "2"));
    screen.dismiss();
    // Without an agent nobody watches the folder, which can't be used from here on.
    for connection in 1..=other.connection {
        app.gate.gone(connection);
    }
    std::fs::set_permissions(&rules, PermissionsExt::from_mode(0o777)).unwrap();
    assert!(app.consent.revoke(&app.consent.rules()[0].id));
    screen.was_told("not_revoked");

    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let log = file.join("log.jsonl");
    let mut app = App::new(&screen, &file, |builder| builder.log(log));
    screen.was_told("bad_folder");
    app.asks(Scope::Surface, Agent::pretend("/opt/agent", "1"));
    screen.answer(Answer::Always);
    screen.was_told("not_saved");
    screen.was_told("not_logged");
    let inner = app.consent.inner();
    inner.change(|state| state.log_hangs(true));
    screen.was_told("disk_hangs");

    let shown = screen.lock();
    let mut seen = BTreeSet::new();
    for text in &shown.all {
        let mut depth = 0;
        for c in text.chars() {
            depth += i32::from(c == '⟦');
            assert!(depth > 0, "{c:?} is not from the table: {text}");
            depth -= i32::from(c == '⟧');
        }
        let names = text.split('⟦').skip(1);
        seen.extend(names.filter_map(|it| it.split_once(':')).map(|it| it.0));
    }
    let mut texts = Texts::default();
    let unseen: Vec<&str> = texts.each().into_iter().map(|(name, _)| name).collect();
    let unseen: Vec<&&str> = unseen
        .iter()
        .filter(|name| !seen.contains(**name))
        .collect();
    assert!(unseen.is_empty(), "never shown: {unseen:?}");
}
