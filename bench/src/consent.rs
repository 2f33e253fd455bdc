//! Consent: how long it takes until an agent is cut off whose rule another program has removed.

use std::{
    io,
    sync::{
        Arc, Mutex, Weak,
        mpsc::{Sender, channel},
    },
    time::{Duration, Instant},
};

use agent_core::{
    AuthGate, Channel, Connections, Decision, Peer, Request, RevokedUntil, Scope, Verb,
    connection_number, request_number,
};
use agent_surface::consent::{Answer, Consent, Scripted, Store};

use crate::served::Folder;

/// What is promised of it.
pub const WITHIN: Duration = Duration::from_secs(1);

/// Rather an error than a benchmark that hangs.
const LONG: Duration = Duration::from_secs(60);

/// Notes when it is told to cut somebody off.
struct Server(Mutex<Sender<Instant>>);

impl Connections for Server {
    fn revoke(&self, _: &dyn Fn(u64) -> bool, _: RevokedUntil) {
        if let Ok(cut) = self.0.lock() {
            // Nobody waits for one that comes by itself.
            let _ = cut.send(Instant::now());
        }
    }

    fn answered(&self, _: &dyn Fn(u64) -> bool) {}
}

/// So many times: an agent that the user has let in for good is connected, another program removes
/// the file of its rule, and it is cut off.
///
/// # Errors
/// If it was not let in, or not cut off.
pub fn revoked_from_outside(times: usize) -> io::Result<Vec<Duration>> {
    let folder = Folder::new()?;
    let user = Scripted::new();
    let consent = Consent::builder("org.example.bench")
        .prompt(user.clone())
        // The agent is a name that the app vouches for: nothing is proven of it.
        .remember_unproven()
        .rules_dir(folder.beside("rules"))
        .no_log()
        .build();
    let gate = consent.gate();
    let (cut, cuts) = channel();
    let server: Arc<dyn Connections> = Arc::new(Server(Mutex::new(cut)));
    gate.attach(Arc::downgrade(&server) as Weak<dyn Connections>);
    let outside = Store::at(folder.beside("rules"));
    let once = |turn: usize| {
        let request = request();
        let_in(&gate, &user, &request)?;
        let rule = saved(&outside)?;
        // At any moment between two looks at the folder.
        std::thread::sleep(Duration::from_millis(turn as u64 * 37 % 300));
        let removed = Instant::now();
        outside.remove(&rule)?;
        let cut = cuts.recv_timeout(LONG).map_err(io::Error::other)?;
        gate.gone(request.connection);
        Ok(cut.duration_since(removed))
    };
    (0..times).map(once).collect()
}

fn request() -> Request {
    Request {
        number: request_number(),
        channel: Channel::External,
        connection: connection_number(),
        claimed_name: None,
        peer: Some(Arc::new(Peer {
            uid: Some(rustix::process::geteuid().as_raw()),
            named: Some("bench".into()),
            ..Peer::default()
        })),
        verb: Verb::DescribeUi,
        scope: Scope::Surface,
        target: None,
    }
}

fn let_in(gate: &AuthGate, user: &Scripted, request: &Request) -> io::Result<()> {
    gate.met(request);
    if gate.check(request) == Decision::Ask {
        gate.ask(request);
        user.answer(Answer::Always);
    }
    match gate.check(request) {
        Decision::Allow => Ok(()),
        other => Err(io::Error::other(format!("it was not let in: {other:?}"))),
    }
}

/// The rule, when it is on the disk.
fn saved(store: &Store) -> io::Result<agent_surface::consent::RuleId> {
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        if let Some(rule) = store.load().rules.first() {
            return Ok(rule.id());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(io::Error::other("the rule was not saved"))
}
