//! One client: its socket, who it is, and its two threads' common state.

use std::{
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use agent_core::{Answer, Peer, Subscribed, connection_number};
use agent_wire::{Failure, RequestId, error_line, limits::names};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    outbox::{Access, Ending, Outbox, Overflow},
    rate::Bucket,
    sync::lock,
    to_wire::milliseconds,
};

/// Half-read lines up to this size are borne with.
const SMALL: usize = 64 * 1024;

/// Whose actions count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Agent {
    /// A process, by its number and start.
    Process(u32, Option<u64>),
    /// Whoever is behind this connection.
    Connection(u64),
}

/// Who is at the other end, as far as anybody knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    pub(crate) peer: Option<Arc<Peer>>,
    /// A name that the app vouches for.
    pub(crate) named: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: u64,
    pub(crate) stream: UnixStream,
    pub(crate) peer: Option<Arc<Peer>>,
    pub(crate) agent: Agent,
    pub(crate) since: SystemTime,
    pub(crate) outbox: Outbox,
    /// Whether the policy has met it.
    pub(crate) met: AtomicBool,
    /// `None`: the app lifted the bound.
    pub(crate) bucket: Option<Arc<Bucket>>,
    name: Mutex<Option<String>>,
    /// The app vouches for the name: what the client says of it doesn't count.
    name_is_fixed: bool,
    /// Since when a large half-read line is held, in milliseconds after `begun`; 0: none is.
    half_since: AtomicU64,
    begun: Instant,
    /// Whether it is counted among the agents that are let in.
    pub(crate) counted: AtomicBool,
    /// Since its first message of MCP.
    #[cfg(feature = "mcp")]
    pub(crate) mcp: std::sync::OnceLock<crate::mcp::Link>,
}

impl Connection {
    pub(crate) fn new(
        stream: UnixStream,
        identity: Identity,
        unread_bytes: usize,
        bucket: impl FnOnce(&Agent) -> Option<Arc<Bucket>>,
    ) -> Self {
        let id = connection_number();
        let agent = agent_of(&identity).unwrap_or(Agent::Connection(id));
        let now = Instant::now();
        Self {
            id,
            stream,
            bucket: bucket(&agent),
            agent,
            peer: identity.peer,
            since: SystemTime::now(),
            outbox: Outbox::new(unread_bytes, now),
            met: AtomicBool::new(false),
            name_is_fixed: identity.named.is_some(),
            name: Mutex::new(identity.named),
            half_since: AtomicU64::new(0),
            begun: now,
            counted: AtomicBool::new(false),
            #[cfg(feature = "mcp")]
            mcp: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> Option<String> {
        lock(&self.name).clone()
    }

    /// The client says what it is called.
    pub(crate) fn claim(&self, name: &str) {
        if !self.name_is_fixed && !name.is_empty() {
            *lock(&self.name) = Some(name.to_owned());
        }
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.outbox.access() == Access::Admitted
    }

    /// Sends a line that is ready.
    pub(crate) fn reply(&self, line: Vec<u8>) {
        let overflow = self.outbox.reply(line);
        self.close_on(overflow);
    }

    /// Sends the reply to this request, which is ready: to the client, or to the tool call of
    /// MCP that waits for it.
    pub(crate) fn reply_to(&self, id: &RequestId, line: Vec<u8>) {
        if let Some(line) = self.divert(id, line) {
            self.reply(line);
        }
    }

    /// Answers the line back, unless a tool call of MCP waited for it.
    pub(crate) fn divert(&self, id: &RequestId, line: Vec<u8>) -> Option<Vec<u8>> {
        #[cfg(feature = "mcp")]
        if let Some(mcp) = self.mcp.get() {
            return mcp.divert(id, line);
        }
        let _ = id;
        Some(line)
    }

    /// Sends the answer of the UI thread, on that thread.
    pub(crate) fn answer(&self, serial: u64, answer: Answer) {
        let overflow = self.outbox.answer(serial, answer);
        self.close_on(overflow);
    }

    /// Sends what became of a request to listen, on the UI thread.
    pub(crate) fn subscribed(&self, serial: u64, made: Subscribed, revision: u64) {
        let overflow = self.outbox.subscribed(serial, made, revision);
        self.close_on(overflow);
    }

    fn close_on(&self, overflow: Overflow) {
        if overflow == Overflow(true) {
            // The reader purges what this withdraws, when it sees the end.
            self.close();
        }
    }

    /// Ends it at once. Both threads see it, whatever they wait for. Answers whether the
    /// backend can drop jobs. Never waits.
    pub(crate) fn close(&self) -> bool {
        let withdrawn = self.outbox.end(Ending::Abort);
        let _ = self.stream.shutdown(Shutdown::Both);
        withdrawn
    }

    /// Whether the client is gone; one that has only said all it had to say is not. Never waits.
    pub(crate) fn has_hung_up(&self) -> bool {
        let at_once = Timespec::default();
        let mut fds = [PollFd::new(&self.stream, PollFlags::empty())];
        matches!(poll(&mut fds, Some(&at_once)), Ok(1..))
    }

    /// The reader holds so much of a line whose end hasn't come.
    pub(crate) fn holds(&self, bytes: usize) {
        if bytes <= SMALL {
            self.half_since.store(0, Ordering::Relaxed);
        } else if self.half_since.load(Ordering::Relaxed) == 0 {
            self.half_since.store(self.clock(), Ordering::Relaxed);
        }
    }

    /// Others wait for room: a line that has been held for `longest` is given up, and its client
    /// with it.
    pub(crate) fn make_room(&self, longest: Duration) {
        let since = self.half_since.load(Ordering::Relaxed);
        let held = Duration::from_millis(self.clock().saturating_sub(since));
        if since == 0 || held < longest {
            return;
        }
        let _ = self
            .half_since
            .compare_exchange(since, 0, Ordering::Relaxed, Ordering::Relaxed);
        self.reply(error_line(None, &Failure::limit(names::LINE, None)));
        self.outbox.end(Ending::Flush);
        // The reader sees the end of the stream.
        let _ = self.stream.shutdown(Shutdown::Read);
    }

    /// Never 0.
    fn clock(&self) -> u64 {
        milliseconds(self.begun.elapsed()).saturating_add(1)
    }
}

/// The process that an identity names.
pub(crate) fn agent_of(identity: &Identity) -> Option<Agent> {
    let peer = identity.peer.as_ref()?;
    Some(Agent::Process(peer.pid?, peer.started))
}
