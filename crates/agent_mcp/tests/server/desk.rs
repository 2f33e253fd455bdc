//! A policy by hand: a user who takes their time, and all that the policy was told.

use std::{
    sync::{Arc, Mutex, MutexGuard, Weak},
    time::Duration,
};

use agent_core::{AuthGate, Connections, Decision, Pending, Policy, Request, Scope, Verb};

/// What is said of which requests.
type Says = Box<dyn Fn(&Request) -> Decision + Send>;

pub(crate) struct Desk {
    says: Mutex<Says>,
    pending: Option<Pending>,
    told: Mutex<Told>,
    servers: Mutex<Vec<Weak<dyn Connections>>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) met: Vec<u64>,
    pub(crate) asked: Vec<Verb>,
    pub(crate) done: Vec<(Verb, &'static str)>,
    pub(crate) gone: Vec<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Desk {
    /// Nobody has decided anything; who asks waits for so long at most.
    pub(crate) fn holding(hold: Duration) -> Arc<Self> {
        Self::new(Some(Pending {
            retry_after: Duration::from_millis(700),
            hold,
        }))
    }

    /// Nobody has decided anything, and questions lead to this.
    pub(crate) fn new(pending: Option<Pending>) -> Arc<Self> {
        Arc::new(Self {
            says: Mutex::new(Box::new(|_| Decision::Ask)),
            pending,
            told: Mutex::default(),
            servers: Mutex::default(),
        })
    }

    pub(crate) fn gate(self: &Arc<Self>) -> AuthGate {
        AuthGate::of(self.clone())
    }

    /// From now on this is said, and whoever waits hears of it.
    pub(crate) fn decide(&self, says: impl Fn(&Request) -> Decision + Send + 'static) {
        *lock(&self.says) = Box::new(says);
        self.server().answered(&|_| true);
    }

    pub(crate) fn server(&self) -> Arc<dyn Connections> {
        let servers = lock(&self.servers);
        assert_eq!(servers.len(), 1, "attached once");
        servers[0].upgrade().unwrap()
    }

    pub(crate) fn told(&self) -> Told {
        lock(&self.told).clone()
    }
}

/// Whether it is one of the developer's view of the whole tree.
pub(crate) fn is_full(request: &Request) -> bool {
    request.scope == Scope::Full
}

impl Policy for Desk {
    fn check(&self, request: &Request) -> Decision {
        (lock(&self.says))(request)
    }

    fn met(&self, request: &Request) {
        lock(&self.told).met.push(request.connection);
    }

    fn ask(&self, request: &Request) -> Option<Pending> {
        lock(&self.told).asked.push(request.verb);
        self.pending
    }

    fn done(&self, request: &Request, outcome: &'static str) {
        lock(&self.told).done.push((request.verb, outcome));
    }

    fn gone(&self, connection: u64) {
        lock(&self.told).gone.push(connection);
    }

    fn attach(&self, server: Weak<dyn Connections>) {
        lock(&self.servers).push(server);
    }
}
