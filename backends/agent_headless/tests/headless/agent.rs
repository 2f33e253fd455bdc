//! An agent, by hand: jobs as a server makes them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Instant,
};

use agent_core::{
    Acted, Action, Answer, AuthGate, Backend, Call, Describe, Described, Fault, Include, Refusal,
    Target, TextRead, Ticket, Why,
};
use agent_headless::{Headless, HeadlessHandle, Tree};
use agent_test_support::{LONG, allow, job};

pub(crate) const ALL: Include = Include {
    value: true,
    state: true,
    actions: true,
    frame: false,
};

/// An app with an agent connected to it.
pub(crate) fn app(build: impl FnOnce(&mut Tree) + Send + 'static) -> (Headless, Agent) {
    let app = Headless::start("ui", build);
    app.handle().set_clients(1);
    let agent = Agent::new(&app);
    (app, agent)
}

/// Keeps the UI thread busy until something is sent.
pub(crate) fn block(app: &Headless) -> Sender<()> {
    let (go_on, blocked) = channel();
    app.post(move |_| {
        let _ = blocked.recv_timeout(LONG);
    });
    go_on
}

pub(crate) struct Agent {
    pub(crate) handle: HeadlessHandle,
    pub(crate) connection: u64,
    pub(crate) gate: AuthGate,
}

pub(crate) struct Pending {
    pub(crate) ticket: Arc<Ticket>,
    pub(crate) answer: Receiver<Answer>,
}

impl Pending {
    pub(crate) fn wait(self) -> Answer {
        self.answer.recv_timeout(LONG).expect("an answer")
    }
}

impl Agent {
    pub(crate) fn new(app: &Headless) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(1);
        Self {
            handle: app.handle(),
            connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
            gate: allow(),
        }
    }

    pub(crate) fn later_by(&self, call: Call, deadline: Instant) -> Pending {
        let (mut job, answer) = job(call);
        job.request.connection = self.connection;
        job.gate = self.gate.clone();
        job.view.window_was_there = job
            .call
            .window()
            .is_some_and(|id| self.handle.has_window(id));
        job.deadline = deadline;
        let ticket = job.ticket.clone();
        self.handle.submit(job);
        Pending { ticket, answer }
    }

    pub(crate) fn later(&self, call: Call) -> Pending {
        self.later_by(call, Instant::now() + LONG)
    }

    pub(crate) fn call(&self, call: Call) -> Answer {
        self.later(call).wait()
    }

    pub(crate) fn act(&self, id: &str, action: Action) -> Answer {
        self.call(act(id, action))
    }

    pub(crate) fn click(&self, id: &str) -> Answer {
        self.act(id, Action::Click)
    }

    pub(crate) fn write(&self, id: &str, value: &str, base_version: u64) -> Answer {
        self.act(id, write(value, base_version))
    }

    /// Writes whatever the version is.
    pub(crate) fn put(&self, id: &str, value: &str) -> Answer {
        self.write(id, value, self.text(id).version)
    }

    pub(crate) fn text(&self, id: &str) -> TextRead {
        match self.call(read(id)) {
            Answer::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn describe(&self) -> (u64, Vec<Described>) {
        let describe = Describe {
            include: ALL,
            ..Describe::default()
        };
        match self.call(Call::Describe(describe)) {
            Answer::Described(description) => (description.revision, description.nodes),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        let (_, nodes) = self.describe();
        nodes.iter().map(|node| node.id.to_string()).collect()
    }

    pub(crate) fn node(&self, id: &str) -> Described {
        let (_, nodes) = self.describe();
        nodes
            .into_iter()
            .find(|node| &*node.id == id)
            .unwrap_or_else(|| panic!("no {id}"))
    }

    pub(crate) fn states(&self, id: &str) -> Vec<&'static str> {
        self.node(id).states.words().collect()
    }
}

pub(crate) fn target(id: &str) -> Target {
    Target {
        id: id.to_owned(),
        window: None,
    }
}

pub(crate) fn act(id: &str, action: Action) -> Call {
    Call::Act {
        target: target(id),
        action,
    }
}

pub(crate) fn read(id: &str) -> Call {
    Call::GetText {
        target: target(id),
        from: None,
        limit: None,
    }
}

pub(crate) fn write(value: &str, base_version: u64) -> Action {
    Action::SetText {
        value: value.to_owned(),
        base_version,
        range: None,
    }
}

/// The reply to an action that was performed.
#[track_caller]
pub(crate) fn acted(answer: Answer) -> Acted {
    match answer {
        Answer::Acted(acted) => acted,
        other => panic!("{other:?}"),
    }
}

/// What it brought about, as `source verb`.
#[track_caller]
pub(crate) fn events(answer: Answer) -> Vec<String> {
    let acted = acted(answer);
    let event = |event: &agent_core::Event| format!("{} {}", event.source, event.verb.word());
    acted.events.iter().map(event).collect()
}

#[track_caller]
pub(crate) fn refused(answer: Answer) -> Refusal {
    match answer {
        Answer::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn why(answer: Answer) -> Why {
    match refused(answer) {
        Refusal::NotActionable { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn fault(answer: Answer) -> Fault {
    match answer {
        Answer::Fault(fault) => fault,
        other => panic!("{other:?}"),
    }
}

/// Counts how often handlers ran.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

impl Counter {
    pub(crate) fn count(&self) -> impl FnMut(&mut Tree, agent_headless::Node) + 'static {
        let counter = self.0.clone();
        move |_, _| {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Finds a node that a test knows to be there.
pub(crate) fn find(tree: &Tree, name: &str) -> agent_headless::Node {
    tree.find(name).unwrap_or_else(|| panic!("no {name}"))
}
