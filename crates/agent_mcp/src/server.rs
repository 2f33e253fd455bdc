//! The server: who may connect, who is connected, and the end of it all.

use std::{
    collections::HashMap,
    io::{ErrorKind, Read as _},
    net::Shutdown,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, Weak, atomic::Ordering},
    time::{Duration, Instant, SystemTime},
};

use agent_core::{
    AuthGate, Backend, Connections, Event, Filter, Hub, Peer, RevokedUntil, Scope, Touched, Verb,
    check_id,
};
use agent_wire::{Failure, Hello, ParamError, RequestId, VERBS, error_line, limits::names};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    address,
    bind::{self, Bound},
    budget::Budget,
    connection::{Agent, Connection, Identity, agent_of},
    descriptor::Descriptor,
    error::ServeError,
    inspector::Inspector,
    limits::Limits,
    outbox::Access,
    peer::{self, FdPeer},
    rate::Bucket,
    reader,
    sync::{lock, wait},
    sys, to_wire, writer,
};

/// How long the end of the threads is waited for. They end at once, but for one that is in a
/// policy or a backend that waits for the very thread that stops the server.
const STOP_WAIT: Duration = Duration::from_secs(1);

/// How long nobody is accepted after the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// What is served, and how.
#[derive(Clone)]
pub struct Config {
    /// The app's id: what a node's id may be made of.
    pub app: String,
    /// The app's name, for people.
    pub name: String,
    /// Who may do what. [`AuthGate::deny_all`] serves nobody.
    pub gate: AuthGate,
    /// The way onto the UI thread.
    pub backend: Arc<dyn Backend>,
    /// Whether agents that the gate lets in may see the whole tree (`mode: "full"`).
    pub armed_full: bool,
    /// Whether a developer's inspector may ask.
    pub inspector: Inspector,
    /// What the server will bear.
    pub limits: Limits,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("app", &self.app)
            .field("name", &self.name)
            .field("gate", &self.gate)
            .field("armed_full", &self.armed_full)
            .field("inspector", &self.inspector)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A client that is connected now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The connection's number, as in the gate's [`Request`](agent_core::Request).
    pub connection: u64,
    /// What it calls itself: a claim, to be shown as one.
    pub claimed_name: Option<String>,
    /// What the kernel says of it. `None`: it can't be identified.
    pub peer: Option<Arc<Peer>>,
    /// When it connected.
    pub since: SystemTime,
    /// Whether the gate has let anything of it in, and nobody has revoked that.
    pub admitted: bool,
}

/// A running server. Dropping it stops it.
///
/// Every method may be called from any thread and waits for no client; consent is never asked
/// for here.
#[must_use = "dropping it stops the server"]
pub struct Server {
    shared: Arc<Shared>,
    address: Option<PathBuf>,
    listening: Mutex<Option<Listening>>,
}

struct Listening {
    bound: Bound,
    /// Dropped to wake the accepting thread.
    _wake: UnixStream,
}

/// Serves this user's agents at the default address, where they look for apps, with a
/// description beside the socket. On the calling thread it binds, which waits a second at most;
/// everything else is done on threads of its own.
///
/// # Errors
/// If there is no safe place to bind. Nothing is left behind then.
pub fn serve(config: Config) -> Result<Server, ServeError> {
    let shared = Shared::new(config)?;
    let folder = address::folder()?;
    let describe = |address: &Path| Descriptor::new(&shared.app, address);
    let (bound, listener) = bind::publish(&folder, describe, &shared.app.id)?;
    listen(shared, bound, listener)
}

/// Serves this user's agents at a path of the caller's choosing, with the same care and without
/// a description. The folder is made if it is missing, and must be closed to others.
///
/// # Errors
/// If it is no safe place to bind, or somebody serves there. Nothing is left behind then.
pub fn serve_uds(config: Config, path: &Path) -> Result<Server, ServeError> {
    let shared = Shared::new(config)?;
    let (bound, listener) = bind::bind(path)?;
    listen(shared, bound, listener)
}

/// Serves one agent over a connected stream socket.
///
/// # Errors
/// If it is no stream socket, or another user is at its other end.
pub fn serve_fd(config: Config, fd: OwnedFd, peer: FdPeer) -> Result<Server, ServeError> {
    let shared = Shared::new(config)?;
    if !bind::is_connected_stream(&fd) {
        return Err(ServeError::NotAStream);
    }
    let credentials =
        peer::credentials(&fd).map_err(ServeError::io("ask who is at the other end"))?;
    if credentials.uid != rustix::process::geteuid().as_raw() {
        return Err(ServeError::ForeignPeer {
            uid: credentials.uid,
        });
    }
    let stream = UnixStream::from(fd);
    stream
        .set_nonblocking(false)
        .map_err(ServeError::io("set the stream up"))?;
    let identity = match peer {
        FdPeer::Unknown => Identity {
            peer: peer::connected(&stream, credentials),
            named: None,
        },
        FdPeer::Pid(pid) => Identity {
            peer: peer::named(pid),
            named: None,
        },
        FdPeer::Named(name) => Identity {
            peer: Some(Arc::new(Peer {
                uid: Some(credentials.uid),
                named: Some(name.clone()),
                ..Peer::default()
            })),
            named: Some(name),
        },
    };
    if !shared.welcome(stream, identity) {
        return Err(ServeError::io("start a thread")(std::io::Error::other(
            "the system has none left",
        )));
    }
    Ok(Server {
        shared,
        address: None,
        listening: Mutex::new(None),
    })
}

fn listen(shared: Arc<Shared>, bound: Bound, listener: OwnedFd) -> Result<Server, ServeError> {
    let address = Some(bound.path.clone());
    let started = UnixStream::pair().and_then(|(wake, woken)| {
        let accepting = shared.clone();
        let listener = UnixListener::from(listener);
        shared
            .threads
            .spawn("agent:accept".into(), move || {
                accept(&accepting, &listener, &woken);
            })
            .map(|()| wake)
    });
    match started {
        Ok(wake) => Ok(Server {
            shared,
            address,
            listening: Mutex::new(Some(Listening { bound, _wake: wake })),
        }),
        Err(error) => {
            bound.remove();
            Err(ServeError::io("start a thread")(error))
        }
    }
}

impl Server {
    /// Where it listens. `None`: it serves a stream that it was given.
    pub fn address(&self) -> Option<&Path> {
        self.address.as_deref()
    }

    /// Who is connected now, oldest first.
    pub fn clients(&self) -> Vec<Client> {
        let mut clients: Vec<Client> = self
            .shared
            .connected()
            .iter()
            .map(|connection| Client {
                connection: connection.id,
                claimed_name: connection.name(),
                peer: connection.peer.clone(),
                since: connection.since,
                admitted: connection.is_admitted(),
            })
            .collect();
        clients.sort_by_key(|client| client.connection);
        clients
    }

    /// Refuses every agent that is connected now, from here on and for as long as it stays
    /// connected. What has not begun on the UI thread when this returns does not begin. Whoever
    /// connects later is for the gate to judge: the app revokes there first what it remembers.
    pub fn revoke(&self) {
        Connections::revoke(self.shared.as_ref(), &|_| true, RevokedUntil::Gone);
    }

    /// Ends every connection and stops listening; the socket and its description are gone when
    /// this returns.
    pub fn stop(&self) {
        let listening = lock(&self.listening).take();
        if let Some(listening) = &listening {
            // While it still listens: who sweeps takes nobody's that does.
            listening.bound.remove();
        }
        let connections = {
            let mut connections = lock(&self.shared.connections);
            connections.stopped = true;
            connections.by_id.values().cloned().collect::<Vec<_>>()
        };
        drop(listening);
        for connection in connections {
            connection.close();
        }
        #[cfg(feature = "mcp")]
        self.shared.mcp.stop();
        self.shared.threads.wait(STOP_WAIT);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The app, as it tells of itself.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) armed_full: bool,
    pub(crate) armed_inspector: bool,
}

impl App {
    /// What it has switched on beyond the default.
    pub(crate) fn armed(&self) -> Vec<&'static str> {
        let full = self.armed_full.then_some(agent_wire::words::MODE_FULL);
        let inspector = self.armed_inspector.then_some("inspector");
        full.into_iter().chain(inspector).collect()
    }
}

/// What all threads of a server share.
pub(crate) struct Shared {
    pub(crate) app: App,
    pub(crate) gate: AuthGate,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) limits: Limits,
    pub(crate) budget: Arc<Budget>,
    /// Who hears which events. Its lock is held for a few steps at a time.
    pub(crate) hub: Mutex<Hub>,
    /// Held while a large line is judged.
    pub(crate) large: Mutex<()>,
    connections: Mutex<Guests>,
    buckets: Mutex<HashMap<Agent, Arc<Bucket>>>,
    admitted: Mutex<isize>,
    pub(crate) threads: Threads,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: crate::mcp::Runtime,
    /// For inspectors, where the app armed them.
    #[cfg(feature = "inspector")]
    pub(crate) desk: Option<Arc<crate::inspect::Desk>>,
}

/// Who is connected.
#[derive(Default)]
struct Guests {
    by_id: HashMap<u64, Arc<Connection>>,
    stopped: bool,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Result<Arc<Self>, ServeError> {
        check_id(&config.app).map_err(ServeError::App)?;
        if !peer::AVAILABLE {
            return Err(ServeError::Platform);
        }
        let gate = config.gate;
        let armed_inspector = config.inspector.is_armed();
        #[cfg(feature = "inspector")]
        let desk = crate::inspect::Desk::new(config.inspector);
        #[cfg(feature = "inspector")]
        let gate = match &desk {
            Some(desk) => desk.listening(gate),
            None => gate,
        };
        let shared = Arc::new(Self {
            app: App {
                id: config.app,
                name: config.name,
                pid: std::process::id(),
                armed_full: config.armed_full,
                armed_inspector,
            },
            #[cfg(feature = "inspector")]
            desk,
            gate,
            backend: config.backend,
            budget: Arc::new(Budget::new(config.limits.queued_bytes)),
            limits: config.limits,
            large: Mutex::default(),
            connections: Mutex::default(),
            buckets: Mutex::default(),
            admitted: Mutex::default(),
            threads: Threads::default(),
            #[cfg(feature = "mcp")]
            mcp: crate::mcp::Runtime::default(),
            hub: Mutex::new(Hub::new(agent_wire::limits::EVENT_LOG)),
        });
        let hears = Arc::downgrade(&shared);
        shared.backend.listen(Arc::new(move |events| {
            if let Some(shared) = hears.upgrade() {
                shared.tell(events);
            }
        }));
        let serves: Weak<Self> = Arc::downgrade(&shared);
        shared.gate.attach(serves);
        Ok(shared)
    }

    /// Tells everybody who listens, on the UI thread; waits for nobody.
    fn tell(&self, events: &mut [Event]) {
        let touched = lock(&self.hub).emit(events);
        for Touched {
            connection,
            id,
            push,
        } in touched
        {
            let connection = lock(&self.connections).by_id.get(&connection).cloned();
            if let Some(connection) = connection {
                connection.outbox.news(id, push);
            }
        }
    }

    /// Begins a subscription, on the UI thread: it hears all that happens from here on. Its reply
    /// is to the request of this serial number, at this revision.
    pub(crate) fn subscribe(
        &self,
        connection: &Connection,
        listens: Listens,
        serial: u64,
        revision: u64,
    ) {
        let Listens {
            filter,
            most,
            push,
            from,
        } = listens;
        let mut hub = lock(&self.hub);
        let made = hub.subscribe(connection.id, filter, most, push, from);
        self.backend.set_listeners(hub.len());
        let replays = push && hub.has_news(connection.id, made.id) == Some(true);
        drop(hub);
        // Whoever revokes or forgets a connection marks it first, and ends its subscriptions then.
        if connection.outbox.access() != Access::Admitted {
            self.unsubscribe(connection.id, None);
        }
        connection.subscribed(serial, made, revision);
        if replays {
            connection.outbox.news(made.id, true);
        }
    }

    /// Ends one subscription of a connection, or all. Answers whether there was any.
    pub(crate) fn unsubscribe(&self, connection: u64, id: Option<u64>) -> bool {
        let mut hub = lock(&self.hub);
        let before = hub.len();
        match id {
            Some(id) => {
                hub.unsubscribe(connection, id);
            }
            None => hub.end(connection),
        }
        let ended = hub.len() < before;
        if ended {
            self.backend.set_listeners(hub.len());
        }
        ended
    }

    /// The reply to a poll.
    pub(crate) fn poll(
        &self,
        connection: &Connection,
        id: &RequestId,
        subscription: u64,
        most: usize,
    ) -> Vec<u8> {
        let polled = lock(&self.hub).poll(connection.id, subscription, most);
        match polled {
            Some(polled) => to_wire::polled(id, connection.id, &polled),
            None => error_line(Some(id), &no_subscription()),
        }
    }

    /// Takes a client in. `false`: it is turned away, and has been told why if there was a
    /// reason of ours.
    fn welcome(self: &Arc<Self>, stream: UnixStream, identity: Identity) -> bool {
        if self.is_full(&identity) {
            turn_away(&stream);
            return false;
        }
        let connection = Arc::new(Connection::new(
            stream,
            identity,
            self.limits.unread_bytes,
            |agent| self.bucket(agent),
        ));
        {
            let mut connections = lock(&self.connections);
            if connections.stopped {
                return false;
            }
            connections.by_id.insert(connection.id, connection.clone());
        }
        let id = connection.id;
        let (shared, to) = (self.clone(), connection.clone());
        let writes = self.threads.spawn(format!("agent:write-{id}"), move || {
            writer::run(&to, &shared);
        });
        let (shared, from) = (self.clone(), connection.clone());
        let reads = writes.and_then(|()| {
            self.threads.spawn(format!("agent:read-{id}"), move || {
                reader::run(&from, &shared);
            })
        });
        if reads.is_err() {
            connection.close();
            self.forget(&connection);
        }
        reads.is_ok()
    }

    fn is_full(&self, identity: &Identity) -> bool {
        let connections = lock(&self.connections);
        let of_peer = || match agent_of(identity) {
            None => 0,
            Some(agent) => connections
                .by_id
                .values()
                .filter(|connection| connection.agent == agent)
                .count(),
        };
        connections.by_id.len() >= self.limits.connections
            || of_peer() >= self.limits.connections_per_peer
    }

    /// The tokens that this agent has left: kept when it disconnects until they are all back,
    /// so that connecting again gives it none.
    fn bucket(&self, agent: &Agent) -> Option<Arc<Bucket>> {
        let rate = self.limits.actions?;
        let now = Instant::now();
        let mut buckets = lock(&self.buckets);
        buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1 || !bucket.is_full(now));
        let bucket = buckets
            .entry(agent.clone())
            .or_insert_with(|| Arc::new(Bucket::new(rate, now)));
        Some(bucket.clone())
    }

    /// A connection is over.
    pub(crate) fn forget(&self, connection: &Connection) {
        lock(&self.connections).by_id.remove(&connection.id);
        // From now on it is not counted, also if a revocation comes at the same time.
        connection.outbox.revoke(RevokedUntil::Gone);
        self.uncount(connection);
        self.unsubscribe(connection.id, None);
        self.backend.purge();
        for (tell, outcome) in connection.outbox.take_over() {
            tell.done(outcome);
        }
        if connection.met.load(Ordering::Acquire) {
            self.gate.gone(connection.id);
        }
    }

    fn connected(&self) -> Vec<Arc<Connection>> {
        lock(&self.connections).by_id.values().cloned().collect()
    }

    /// The gate let something of this connection in: an inspector's requests don't make it an
    /// agent's.
    pub(crate) fn count(&self, connection: &Connection, scope: Scope) {
        match scope {
            Scope::Surface | Scope::Full => {
                if !connection.counted.swap(true, Ordering::AcqRel) {
                    self.count_admitted(1);
                }
            }
            Scope::Inspector =>
            {
                #[cfg(feature = "inspector")]
                if let Some(desk) = &self.desk {
                    desk.admit(connection.id);
                }
            }
        }
        // The leave may have been taken back meanwhile.
        if connection.outbox.access() != Access::Admitted {
            self.uncount(connection);
        }
    }

    fn uncount(&self, connection: &Connection) {
        if connection.counted.swap(false, Ordering::AcqRel) {
            self.count_admitted(-1);
        }
        #[cfg(feature = "inspector")]
        if let Some(desk) = &self.desk {
            desk.forget(connection.id);
        }
    }

    /// So many more connections are admitted; the backend hears of each change in order.
    pub(crate) fn count_admitted(&self, change: isize) {
        let mut admitted = lock(&self.admitted);
        *admitted += change;
        self.backend
            .set_clients(usize::try_from(*admitted).unwrap_or(0));
    }

    /// Somebody waits for room: whoever holds much for long is made to give it back.
    pub(crate) fn make_room(&self) {
        for connection in self.connected() {
            connection.make_room(self.limits.half_line_for);
        }
    }

    pub(crate) fn hello(&self) -> Hello {
        let unsupported = self.backend.unsupported();
        let answers =
            |verb: &str| Verb::from_word(verb).is_some_and(|it| !unsupported.contains(it.set()));
        Hello {
            app: self.app.id.clone(),
            name: self.app.name.clone(),
            pid: self.app.pid,
            protocol: agent_wire::PROTOCOL,
            verbs: VERBS
                .iter()
                .map(|row| row.name)
                .filter(|name| answers(name))
                .map(Into::into)
                .collect(),
            armed: self.app.armed().into_iter().map(Into::into).collect(),
        }
    }
}

impl Connections for Shared {
    fn revoke(&self, which: &dyn Fn(u64) -> bool, until: RevokedUntil) {
        let mut withdrawn = false;
        for connection in self.connected() {
            if !which(connection.id) {
                continue;
            }
            let (_, jobs) = connection.outbox.revoke(until);
            self.unsubscribe(connection.id, None);
            withdrawn |= jobs;
            self.uncount(&connection);
        }
        if withdrawn {
            self.backend.purge();
        }
    }

    fn answered(&self, which: &dyn Fn(u64) -> bool) {
        for connection in self.connected() {
            if which(connection.id) {
                connection.outbox.look_again();
            }
        }
    }
}

/// What a client wants to be told of, and how.
#[derive(Debug)]
pub(crate) struct Listens {
    pub(crate) filter: Filter,
    /// How many events its queue holds.
    pub(crate) most: usize,
    pub(crate) push: bool,
    /// The number of the event to begin with.
    pub(crate) from: Option<u64>,
}

/// A subscription that this connection doesn't have.
pub(crate) fn no_subscription() -> Failure {
    ParamError::new(
        "subscription",
        "be one that subscribe gave on this connection, and that has not ended",
    )
    .into()
}

/// One connection too many: it is told so, as far as its socket takes that at once.
fn turn_away(stream: &UnixStream) {
    let line = error_line(None, &Failure::limit(names::CONNECTIONS, None));
    let _ = sys::send(stream, &line);
    let _ = stream.shutdown(Shutdown::Write);
    // What it has sent already: closing a socket with unread bytes resets the connection, and
    // the client might not read the line.
    if stream.set_nonblocking(true).is_ok() {
        let mut ignored = [0; 4096];
        for _ in 0..16 {
            match (&mut &*stream).read(&mut ignored) {
                Ok(1..) => {}
                _ => break,
            }
        }
    }
}

/// Accepts clients until `woken` is: its other end is dropped then.
fn accept(shared: &Arc<Shared>, listener: &UnixListener, woken: &UnixStream) {
    let pause = Timespec::try_from(PAUSE).ok();
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(woken.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
        ];
        let polled = poll(&mut fds, None);
        if stops(&fds) {
            return;
        }
        let accepted = match polled {
            Ok(_) => listener.accept(),
            Err(error) => Err(error.into()),
        };
        match accepted {
            Ok((stream, _)) => accept_one(shared, stream),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                ) => {}
            // No files or no memory left, as a rule: that passes.
            Err(_) => {
                let mut fds = [PollFd::from_borrowed_fd(woken.as_fd(), PollFlags::IN)];
                let _ = poll(&mut fds, pause.as_ref());
                if stops(&fds) {
                    return;
                }
            }
        }
    }
}

fn stops(fds: &[PollFd<'_>]) -> bool {
    fds.first().is_some_and(|woken| !woken.revents().is_empty())
}

fn accept_one(shared: &Arc<Shared>, stream: UnixStream) {
    let Ok(credentials) = peer::credentials(&stream) else {
        return;
    };
    // Nobody else can open the socket; whoever was handed one that is open is not served.
    if credentials.uid != rustix::process::geteuid().as_raw() {
        return;
    }
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    let identity = Identity {
        peer: peer::connected(&stream, credentials),
        named: None,
    };
    shared.welcome(stream, identity);
}

/// How many threads of a server there are.
#[derive(Clone, Default)]
pub(crate) struct Threads(Arc<(Mutex<usize>, Condvar)>);

impl Threads {
    pub(crate) fn spawn(
        &self,
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        *lock(&self.0.0) += 1;
        let counted = CountedThread(self.clone());
        std::thread::Builder::new()
            .name(name)
            .spawn(move || {
                let _counted = counted;
                run();
            })
            .map(drop)
    }

    /// Waits until there are none, or for so long.
    fn wait(&self, longest: Duration) {
        let until = Instant::now() + longest;
        let mut count = lock(&self.0.0);
        while *count > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            count = wait(&self.0.1, count, Some(left));
        }
    }
}

struct CountedThread(Threads);

impl Drop for CountedThread {
    fn drop(&mut self) {
        *lock(&self.0.0.0) -= 1;
        self.0.0.1.notify_all();
    }
}
