//! What the sessions of an app and its server share: one backend, which counts nobody twice and
//! forgets nobody, and the events that it tells of.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, Weak},
    time::SystemTime,
};

use agent_core::{
    AuthGate, Backend, Cause, Connections, Event, EventSink, EventVerb, Filter, Hub, Job,
    RevokedUntil, Subscribed, VerbSet,
};

use crate::{
    error::Error,
    in_flight::{InFlight, Wake},
    limits::EVENT_LOG,
    session::{Inner, Session},
    subscription::Subscription,
    sync::lock,
};

/// Where the sessions of one surface come from. The surface keeps it; the app asks the surface.
///
/// It is a backend too, for a server beside the sessions: that one's numbers of clients and
/// listeners are added to theirs, and both hear every event under the same number.
pub struct Host {
    pub(crate) app: String,
    pub(crate) name: String,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) gate: AuthGate,
    pub(crate) in_flight: Arc<InFlight>,
    /// Its numbers are those of the server's own: the two hear the same events from the first on.
    hub: Mutex<Hub>,
    /// The server's.
    sink: OnceLock<EventSink>,
    /// Held while the backend hears of a change, so that it hears of them in order.
    counts: Mutex<Counts>,
    sessions: Mutex<Sessions>,
    me: Weak<Self>,
}

#[derive(Default)]
struct Counts {
    clients_outside: usize,
    clients_inside: usize,
    listeners_outside: usize,
    listeners_inside: usize,
}

#[derive(Default)]
struct Sessions {
    by_connection: HashMap<u64, (Weak<Inner>, Arc<Wake>)>,
    stopped: bool,
}

/// A session that there is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number, as in the gate's [`Request`](agent_core::Request).
    pub connection: u64,
    /// What the app called it.
    pub name: String,
    /// When it was made.
    pub since: SystemTime,
    /// Whether the gate has let anything of it in, and nobody has revoked that.
    pub admitted: bool,
}

impl Host {
    /// Of the app of this id and name. Nothing costs anything until a session asks something.
    /// Once for a backend, before anything is asked of that.
    pub fn new(app: String, name: String, backend: Arc<dyn Backend>, gate: AuthGate) -> Arc<Self> {
        let host = Arc::new_cyclic(|me: &Weak<Self>| Self {
            app,
            name,
            in_flight: InFlight::new(backend.clone()),
            backend,
            gate,
            hub: Mutex::new(Hub::new(EVENT_LOG)),
            sink: OnceLock::new(),
            counts: Mutex::default(),
            sessions: Mutex::default(),
            me: me.clone(),
        });
        let hears = host.me.clone();
        host.backend.listen(Arc::new(move |events| {
            if let Some(host) = hears.upgrade() {
                host.tell(events);
            }
        }));
        let connections: Weak<dyn Connections> = host.me.clone();
        host.gate.attach(connections);
        host
    }

    /// A session under this name, which the user is shown. Any thread.
    pub fn session(&self, name: impl Into<String>) -> Session {
        let session = Session::new(self.me.clone(), name.into());
        let mut sessions = lock(&self.sessions);
        if sessions.stopped {
            drop(sessions);
            session.0.end(Error::Closed);
            return session;
        }
        let known = (Arc::downgrade(&session.0), session.0.wake.clone());
        sessions.by_connection.insert(session.0.connection, known);
        drop(sessions);
        session
    }

    /// The sessions that there are. Any thread.
    pub fn members(&self) -> Vec<Member> {
        let mut members: Vec<Member> = self.all().iter().map(|session| session.member()).collect();
        members.sort_by_key(|member| member.connection);
        members
    }

    /// Refuses every session that there is, from here on: see [`Connections::revoke`].
    pub fn revoke_all(&self) {
        self.revoke(&|_| true, RevokedUntil::Gone);
    }

    /// Ends every session: what waits is answered [`Error::Closed`], as is what comes later.
    pub fn stop(&self) {
        lock(&self.sessions).stopped = true;
        for session in self.all() {
            session.end(Error::Closed);
        }
        self.in_flight.stop();
    }

    fn all(&self) -> Vec<Arc<Inner>> {
        let sessions = lock(&self.sessions);
        let all = sessions.by_connection.values();
        all.filter_map(|(session, _)| session.upgrade()).collect()
    }

    /// A session is no more.
    pub(crate) fn forget(&self, connection: u64) {
        lock(&self.sessions).by_connection.remove(&connection);
        self.unsubscribe(connection, None);
    }

    /// So many more sessions are admitted.
    pub(crate) fn count_admitted(&self, more: bool) {
        let mut counts = lock(&self.counts);
        counts.clients_inside = match more {
            true => counts.clients_inside + 1,
            false => counts.clients_inside.saturating_sub(1),
        };
        let clients = counts.clients_outside + counts.clients_inside;
        self.backend.set_clients(clients);
    }

    /// Tells everybody who listens, on the UI thread; waits for nobody.
    fn tell(&self, events: &mut [Event]) {
        let touched = lock(&self.hub).emit(events);
        if let Some(server) = self.sink.get() {
            server(events);
        }
        for it in touched {
            self.in_flight.news(it.connection, it.id);
            let sessions = lock(&self.sessions);
            let session = sessions.by_connection.get(&it.connection);
            let wake = session.map(|(_, wake)| wake.clone());
            drop(sessions);
            if let Some(wake) = wake {
                wake.call();
            }
        }
    }

    pub(crate) fn count_subscriptions(&self, connection: u64) -> usize {
        lock(&self.hub).count(connection)
    }

    /// Begins to listen, on the UI thread: it hears all that happens from here on.
    pub(crate) fn subscribe(
        &self,
        connection: u64,
        filter: Filter,
        most: usize,
        from: Option<u64>,
        revision: u64,
    ) -> Subscription {
        let mut hub = lock(&self.hub);
        let Subscribed { id, gap } = hub.subscribe(connection, filter, most, true, from);
        self.count_listeners(hub.len());
        Subscription {
            id,
            connection,
            host: self.me.clone(),
            revision,
            gap,
        }
    }

    /// Ends one subscription of a session, or all.
    pub(crate) fn unsubscribe(&self, connection: u64, id: Option<u64>) {
        let mut hub = lock(&self.hub);
        match id {
            Some(id) => {
                hub.unsubscribe(connection, id);
            }
            None => hub.end(connection),
        }
        self.count_listeners(hub.len());
    }

    /// Whether there is something to fetch; `None`: the session has no such subscription.
    pub(crate) fn has_news(&self, connection: u64, id: u64) -> Option<bool> {
        lock(&self.hub).has_news(connection, id)
    }

    pub(crate) fn poll(
        &self,
        connection: u64,
        id: u64,
        most: usize,
    ) -> Result<agent_core::Polled, Error> {
        let polled = lock(&self.hub).poll(connection, id, most);
        let mut polled = polled.ok_or(Error::NoSubscription)?;
        for event in &mut polled.events {
            // What somebody else calls his requests is nobody's business.
            let foreign = |cause: &Cause| cause.connection != connection;
            if event.cause.as_ref().is_some_and(foreign) {
                Arc::make_mut(event).cause = None;
            }
        }
        Ok(polled)
    }

    fn count_listeners(&self, listeners: usize) {
        let mut counts = lock(&self.counts);
        if counts.listeners_inside != listeners {
            counts.listeners_inside = listeners;
            self.backend
                .set_listeners(counts.listeners_outside + listeners);
        }
    }
}

impl Connections for Host {
    fn revoke(&self, which: &dyn Fn(u64) -> bool, until: RevokedUntil) {
        for session in self.all() {
            if which(session.connection) {
                match until {
                    RevokedUntil::Gone => session.end(Error::Denied),
                    RevokedUntil::Admitted => session.cut(&Error::Denied),
                }
            }
        }
    }

    /// Nothing of a session is ever held back: nobody is asked about it.
    fn answered(&self, _: &dyn Fn(u64) -> bool) {}
}

/// For the server.
impl Backend for Host {
    fn submit(&self, job: Job) {
        self.backend.submit(job);
    }

    fn purge(&self) {
        self.backend.purge();
    }

    fn has_window(&self, id: &str) -> bool {
        self.backend.has_window(id)
    }

    fn unsupported(&self) -> VerbSet {
        self.backend.unsupported()
    }

    fn is_ui_thread(&self) -> bool {
        self.backend.is_ui_thread()
    }

    fn emit(&self, id: &str, verb: EventVerb) {
        self.backend.emit(id, verb);
    }

    fn listen(&self, sink: EventSink) {
        // One server, which says so once.
        let _ = self.sink.set(sink);
    }

    fn set_listeners(&self, listeners: usize) {
        let mut counts = lock(&self.counts);
        counts.listeners_outside = listeners;
        self.backend
            .set_listeners(listeners + counts.listeners_inside);
    }

    fn set_clients(&self, clients: usize) {
        let mut counts = lock(&self.counts);
        counts.clients_outside = clients;
        self.backend.set_clients(clients + counts.clients_inside);
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("app", &self.app)
            .finish_non_exhaustive()
    }
}
