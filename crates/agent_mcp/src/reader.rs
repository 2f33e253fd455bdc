//! The thread that reads from one client: bytes into lines, lines into requests, each judged as
//! it comes in.

use std::{
    io::{ErrorKind, Read as _},
    os::fd::AsFd as _,
    sync::Arc,
    time::Instant,
};

#[cfg(feature = "mcp")]
use agent_wire::Request;
use agent_wire::{
    Failure, Line, LineSplitter, Piece, Reason, RequestId, error_line, limits::names, parse_line,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

#[cfg(feature = "mcp")]
use crate::judge;
use crate::{connection::Connection, judge::Judge, outbox::Ending, server::Shared, sync::lock};

/// How much is read at once.
const CHUNK: usize = 32 * 1024;

/// Lines longer than this are judged one at a time in the whole server: as JSON they can take
/// twenty times their length in memory.
const LARGE: usize = 64 * 1024;

/// Reads until the connection ends, and then puts everything away that it had.
pub(crate) fn run(connection: &Arc<Connection>, shared: &Arc<Shared>) {
    let _forget = ForgetOnDrop(connection, shared);
    Reader::new(connection, shared).read();
    // The writer ends the connection when it has written what there is; the client can do so
    // at any time.
    wait_for_hang_up(connection);
}

/// However the reader ends, the connection is over and nothing of it stays.
struct ForgetOnDrop<'a>(&'a Connection, &'a Shared);

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.1.forget(self.0);
    }
}

struct Reader<'a> {
    connection: &'a Arc<Connection>,
    shared: &'a Arc<Shared>,
    judge: Judge<'a>,
    /// In a row.
    parse_errors: usize,
    /// The rest of what came in is not looked at.
    over: bool,
}

impl<'a> Reader<'a> {
    fn new(connection: &'a Arc<Connection>, shared: &'a Arc<Shared>) -> Self {
        Self {
            connection,
            shared,
            judge: Judge { connection, shared },
            parse_errors: 0,
            over: false,
        }
    }

    fn read(&mut self) {
        let (connection, shared) = (self.connection, self.shared);
        let mut chunk = vec![0; CHUNK];
        let mut splitter = LineSplitter::new(shared.limits.line_bytes_before_gate);
        let mut held = shared.budget.charge(0);
        while !self.over && connection.outbox.is_open() {
            let read = match (&connection.stream).read(&mut chunk) {
                Ok(0) => {
                    // It has said all that it had to say, and may still listen. If it is gone,
                    // that is seen next.
                    connection.outbox.end(Ending::Drain);
                    return;
                }
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => {
                    connection.close();
                    return;
                }
            };
            splitter.push(chunk.get(..read).unwrap_or_default(), &mut |piece| {
                self.piece(piece);
            });
            let half = splitter.buffered();
            held.resize(half);
            connection.holds(half);
            splitter.set_max(if connection.is_admitted() {
                shared.limits.line_bytes
            } else {
                shared.limits.line_bytes_before_gate
            });
            // What there is no room for is not read.
            shared.budget.wait_for_room(|| {
                shared.make_room();
                connection.outbox.is_open()
            });
        }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        if self.over {
            return;
        }
        match piece {
            Piece::TooLong => {
                self.connection.outbox.hear(None, Instant::now());
                self.refuse(None, &Failure::limit(names::LINE, None));
            }
            Piece::Line(line) => {
                let _one_at_a_time = (line.len() > LARGE).then(|| lock(&self.shared.large));
                self.line(line);
            }
        }
        // Nothing more is done for a client that hears nothing of it.
        self.connection.outbox.wait_until_read();
    }

    fn line(&mut self, line: &[u8]) {
        let parsed = parse_line(line);
        if parsed == Line::Blank {
            return;
        }
        let now = Instant::now();
        let is_json =
            !matches!(&parsed, Line::Bad { failure, .. } if failure.reason == Reason::ParseError);
        if is_json {
            self.parse_errors = 0;
        }
        match parsed {
            Line::Blank => {}
            Line::Bad { id, failure } => {
                self.connection.outbox.hear(None, now);
                self.refuse(id.as_ref(), &failure);
                if !is_json {
                    self.count_parse_error();
                }
            }
            Line::Notification { method, params } => {
                self.connection.outbox.hear(None, now);
                // Any other is ignored; a verb sent so is not performed.
                if method == "notifications/cancelled"
                    && let Some(id) = params.as_ref().and_then(|it| it.get("requestId"))
                    && let Some(id) = RequestId::from_value(id)
                {
                    #[cfg(feature = "mcp")]
                    self.cancel_mcp(&id);
                    if self.connection.outbox.cancel(&id) {
                        self.shared.backend.purge();
                    }
                }
                #[cfg(feature = "mcp")]
                if let Some(mcp) = self.connection.mcp.get() {
                    mcp.session.notify(&method, params.as_ref());
                }
            }
            #[cfg(feature = "mcp")]
            Line::Request(request) if self.is_mcp(&request) => {
                if let Err(failure) = self.mcp(&request, line.len(), now) {
                    let line = error_line(Some(&request.id), &failure);
                    self.connection.reply(line);
                }
            }
            Line::Request(request) => {
                self.judge.request(request, line.len(), now);
            }
        }
    }

    fn count_parse_error(&mut self) {
        self.parse_errors += 1;
        if self.parse_errors >= self.shared.limits.parse_errors_in_a_row {
            self.refuse(None, &Failure::limit(names::PARSE_ERRORS, None));
            if self.connection.outbox.end(Ending::Flush) {
                self.shared.backend.purge();
            }
            self.over = true;
        }
    }

    fn refuse(&self, id: Option<&RequestId>, failure: &Failure) {
        let line = error_line(id, failure);
        match id {
            Some(id) => self.connection.reply_to(id, line),
            None => self.connection.reply(line),
        }
    }
}

/// What MCP asks of the connection. A tool call takes the same way as the bare verbs, from here
/// on; the SDK waits for its reply and puts it into words.
#[cfg(feature = "mcp")]
impl Reader<'_> {
    /// Whether the SDK answers it; or nobody does, because the SDK has one of this id already.
    fn is_mcp(&self, request: &Request) -> bool {
        let mcp = self.connection.mcp.get();
        crate::mcp::is_method(&request.method)
            || mcp.is_some_and(|mcp| mcp.session.holds(&request.id))
    }

    /// An error is for the client itself; what a model should read is told by the tool call.
    fn mcp(&mut self, request: &Request, bytes: usize, now: Instant) -> Result<(), Failure> {
        let connection = self.connection;
        let in_flight = connection.outbox.hear(Some(&request.id), now);
        let mcp = self.link()?;
        if in_flight || mcp.session.holds(&request.id) {
            return Err(judge::in_flight_already());
        }
        let max = self.shared.limits.requests_in_flight;
        if mcp.session.in_flight() >= connection.outbox.access().most_in_flight(max) {
            return Err(Failure::limit(names::REQUESTS, None));
        }
        let message = mcp.session.take(request)?;
        if let Some(name) = mcp.session.client() {
            connection.claim(&name);
        }
        connection.outbox.wait_elsewhere();
        let asked = (request.method == crate::mcp::CALL && message.fits)
            .then(|| mcp.expect(message.serial, &request.id, request.params.as_ref()))
            .flatten();
        if crate::mcp::listens(&request.method) {
            self.judge.meet_listener();
        }
        mcp.session.send(message);
        if let Some(asked) = asked {
            self.judge.request(asked, bytes, now);
        }
        Ok(())
    }

    fn cancel_mcp(&self, id: &RequestId) {
        let mcp = self.connection.mcp.get();
        if mcp.is_some_and(|mcp| mcp.cancel(id)) {
            self.connection.outbox.answered_elsewhere();
        }
    }

    /// The connection's way to the SDK, made if this is its first message.
    fn link(&self) -> Result<&crate::mcp::Link, Failure> {
        if let Some(mcp) = self.connection.mcp.get() {
            return Ok(mcp);
        }
        let shared = self.shared;
        let app = &shared.app.id;
        let runtime = shared
            .mcp
            .handle(&shared.threads)
            .map_err(|_| Failure::new(Reason::Internal, "MCP could not be started in this app"))?;
        // Not the connection itself: it owns this.
        let to = Arc::downgrade(self.connection);
        let out = {
            let to = to.clone();
            move |line, answers| {
                if let Some(to) = to.upgrade() {
                    to.reply(line);
                    if answers {
                        to.outbox.answered_elsewhere();
                    }
                }
            }
        };
        let shared = Arc::downgrade(shared);
        let ask = move |request: Request| {
            if let (Some(connection), Some(shared)) = (to.upgrade(), shared.upgrade()) {
                let judge = Judge {
                    connection: &connection,
                    shared: &shared,
                };
                judge.request(request, 0, Instant::now());
            }
        };
        let link = crate::mcp::Link::start(&runtime, app, out, ask);
        Ok(self.connection.mcp.get_or_init(|| link))
    }
}

/// Waits until the client is gone, or this side has ended the connection.
fn wait_for_hang_up(connection: &Connection) {
    let hung_up = || {
        let mut fds = [PollFd::from_borrowed_fd(
            connection.stream.as_fd(),
            PollFlags::empty(),
        )];
        poll(&mut fds, None)
    };
    while hung_up() == Err(Errno::INTR) {}
}
