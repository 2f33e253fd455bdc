//! The thread that reads from one client: bytes into lines, lines into jobs, each judged in the
//! order of the wire before anything looks at the UI.

use std::{
    io::{ErrorKind, Read as _},
    os::fd::AsFd as _,
    sync::Arc,
    time::{Duration, Instant},
};

use agent_core::{Answer, Channel, Decision, Filter, Job, ReplyTo, Scope, Verb};
use agent_wire::{
    Args, Failure, Line, LineSplitter, Piece, Reason, Request, RequestId, Unsubscribed, error_line,
    limits::names, parse_line, result_line,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

use crate::{
    connection::Connection,
    from_wire,
    outbox::{Access, Ending, NotTaken},
    server::{Shared, no_subscription},
    sync::lock,
    to_wire,
};

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
                let id = request.id.clone();
                if let Err(failure) = self.request(request, line.len(), now) {
                    self.refuse(Some(&id), &failure);
                }
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

    /// Judges a request, in the wire's order: id, method, the form of the parameters, gate,
    /// armed; what they name and the UI are for the turn of the UI thread that it gets.
    fn request(&self, request: Request, bytes: usize, now: Instant) -> Result<(), Failure> {
        let (connection, shared) = (self.connection, self.shared);
        if connection.outbox.hear(Some(&request.id), now) {
            return Err(in_flight_already());
        }
        let found = agent_wire::Verb::named(&request.method)
            .and_then(|row| Some((row, Verb::from_word(row.name)?)));
        let Some((row, verb)) = found else {
            return Err(Failure::unknown_method(&request.method));
        };
        let args = row.check(request.params.as_ref())?;
        from_wire::misfit(verb, &args)?;
        if verb == Verb::Hello
            && let Some(name) = args.text("name")
        {
            connection.claim(name);
        }
        let full = from_wire::is_full(&args);
        let asked = agent_core::Request {
            channel: Channel::External,
            connection: connection.id,
            claimed_name: connection.name(),
            peer: connection.peer.clone(),
            verb,
            scope: if full { Scope::Full } else { Scope::Surface },
            target: from_wire::names(&args).map(str::to_owned),
        };
        self.pass_gate(&asked)?;
        if full && !shared.app.armed_full {
            return Err(Failure::not_armed());
        }
        if verb == Verb::Hello {
            connection.reply_to(&request.id, result_line(&request.id, &shared.hello()));
            return Ok(());
        }
        if let Verb::PollEvents | Verb::Unsubscribe = verb {
            return self.of_subscription(request.id, verb, &args, now);
        }
        if verb == Verb::Subscribe
            && lock(&shared.hub).count(connection.id) >= agent_wire::limits::SUBSCRIPTIONS
        {
            return Err(Failure::limit(names::SUBSCRIPTIONS, None));
        }
        if shared.backend.unsupported().contains(verb.set()) {
            return Err(Failure::unsupported(row.name));
        }
        let Some(call) = from_wire::call(verb, &args) else {
            return Err(Failure::unknown_method(&request.method));
        };
        let permit = match &connection.bucket {
            Some(bucket) if verb.acts() => Some(bucket.take(now).map_err(too_fast)?),
            _ => None,
        };
        let window_was_there = call
            .window()
            .is_some_and(|window| shared.backend.has_window(window));
        let deadline = now + Duration::from_millis(args.timeout_ms());
        let name = verb
            .acts()
            .then(|| to_wire::request_name(&request.id))
            .flatten();
        let max = shared.limits.requests_in_flight;
        let taken = connection
            .outbox
            .ask(request.id, verb, now, deadline, None, max)
            .map_err(not_taken)?;
        // Who waits for a condition is answered when that time is over, by the writer; a busy
        // UI thread has the usual time to look.
        let deadline = match verb {
            Verb::WaitFor => deadline + agent_wire::limits::UI_DEADLINE,
            _ => deadline,
        };
        let listens = (verb == Verb::Subscribe).then(|| {
            let most = args.integer("queue").map_or(usize::MAX, |most| {
                usize::try_from(most).unwrap_or(usize::MAX)
            });
            Listens {
                filter: from_wire::filter(&args),
                most: most.min(agent_wire::limits::SUBSCRIPTION_QUEUE),
                push: args.boolean("push") == Some(true),
                from: args.integer("from"),
                shared: shared.clone(),
            }
        });
        let charge = shared.budget.charge(bytes);
        let to = connection.clone();
        shared.backend.submit(Job {
            call,
            name,
            request: asked,
            gate: shared.gate.clone(),
            view: agent_core::View {
                names_unexposed: shared.app.armed_full,
                window_was_there,
            },
            deadline,
            ticket: taken.ticket,
            reply: ReplyTo::new(move |answer| {
                if let Some(permit) = permit
                    && to_wire::performed(&answer)
                {
                    permit.spend();
                }
                match (answer, listens) {
                    (Answer::Heard { revision }, Some(it)) => {
                        let made = it
                            .shared
                            .subscribe(&to, it.filter, it.most, it.push, it.from);
                        to.subscribed(taken.serial, made, revision);
                    }
                    (answer, _) => to.answer(taken.serial, answer),
                }
                drop(charge);
            }),
        });
        // Only now, so that the UI thread is woken first.
        if taken.tell_writer {
            connection.outbox.tell_writer();
        }
        Ok(())
    }

    /// Fetches from a subscription of this connection, or ends it: that needs no UI.
    fn of_subscription(
        &self,
        id: RequestId,
        verb: Verb,
        args: &Args<'_>,
        now: Instant,
    ) -> Result<(), Failure> {
        let (connection, shared) = (self.connection, self.shared);
        let subscription = from_wire::subscription(args).ok_or_else(no_subscription)?;
        if verb == Verb::Unsubscribe {
            if !shared.unsubscribe(connection.id, Some(subscription)) {
                return Err(no_subscription());
            }
            // Who waits for its next event hears that there will be none.
            connection.outbox.news(subscription, false);
            connection.reply_to(&id, result_line(&id, &Unsubscribed {}));
            return Ok(());
        }
        let has_news = || lock(&shared.hub).has_news(connection.id, subscription);
        let most = args.integer("max").map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        let wait = Duration::from_millis(args.integer("wait_ms").unwrap_or(0));
        if has_news().ok_or_else(no_subscription)? || wait.is_zero() {
            connection.reply_to(&id, shared.poll(connection, &id, subscription, most));
            return Ok(());
        }
        let poll = Some((subscription, most));
        let max = shared.limits.requests_in_flight;
        let outbox = &connection.outbox;
        let taken = outbox
            .ask(id, verb, now, now + wait, poll, max)
            .map_err(not_taken)?;
        // What came between the look and the waiting is there now.
        if has_news() == Some(true) {
            outbox.news(subscription, false);
        } else if taken.tell_writer {
            outbox.tell_writer();
        }
        Ok(())
    }

    /// Asks the gate, unless the user has taken this connection's leave away.
    fn pass_gate(&self, request: &agent_core::Request) -> Result<(), Failure> {
        let (connection, shared) = (self.connection, self.shared);
        if connection.outbox.access() == Access::Revoked {
            return Err(Failure::consent_denied());
        }
        match shared.gate.check(request) {
            Decision::Allow => {}
            // Nobody is there to ask the user: without an answer it is a no.
            Decision::Deny(_) | Decision::Ask => return Err(Failure::consent_denied()),
        }
        match connection.outbox.admit() {
            Access::None => shared.count_admitted(1),
            Access::Admitted => {}
            Access::Revoked => return Err(Failure::consent_denied()),
        }
        Ok(())
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
            return Err(in_flight_already());
        }
        let limits = &self.shared.limits;
        let max = match connection.outbox.access() {
            Access::None => agent_wire::limits::REQUESTS_IN_FLIGHT_BEFORE_GATE,
            Access::Admitted | Access::Revoked => limits.requests_in_flight,
        };
        if mcp.session.in_flight() >= max.min(limits.requests_in_flight) {
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
        mcp.session.send(message);
        if let Some(asked) = asked {
            let id = asked.id.clone();
            if let Err(failure) = self.request(asked, bytes, now) {
                self.refuse(Some(&id), &failure);
            }
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
                let reader = Reader::new(&connection, &shared);
                let id = request.id.clone();
                if let Err(failure) = reader.request(request, 0, Instant::now()) {
                    reader.refuse(Some(&id), &failure);
                }
            }
        };
        let link = crate::mcp::Link::start(&runtime, app, out, ask);
        Ok(self.connection.mcp.get_or_init(|| link))
    }
}

fn in_flight_already() -> Failure {
    Failure::new(
        Reason::InvalidRequest,
        "a request with this `id` is in flight already; give each its own",
    )
}

/// What a subscription will be made of, when its turn comes.
struct Listens {
    filter: Filter,
    most: usize,
    push: bool,
    from: Option<u64>,
    shared: Arc<Shared>,
}

fn not_taken((_, why): (RequestId, NotTaken)) -> Failure {
    match why {
        NotTaken::Revoked => Failure::consent_denied(),
        NotTaken::TooMany => Failure::limit(names::REQUESTS, None),
    }
}

fn too_fast(wait: Duration) -> Failure {
    let wait = u64::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
    Failure::limit(names::ACTIONS, Some(wait.max(1)))
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
