//! What one connection owes its client: the requests in flight, each with its deadline, those
//! that are held back for the user's answer among them, and the replies that are ready. The
//! reader and the UI thread put things in, the writer takes them out and keeps the time.
//!
//! Its lock is held for a few steps at a time, never across a wait, a write or a conversion, so
//! that the UI thread can take it.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use agent_core::{Answer, RevokedUntil, Scope, Subscribed, Ticket, Verb};
use agent_wire::{
    Failure, Outcome, Reason, Request, RequestId, error_line,
    limits::{REQUESTS_IN_FLIGHT_BEFORE_GATE, UI_DEADLINE},
};

#[cfg(feature = "inspector")]
use crate::inspect::{Stopped, Waiting};
use crate::{
    budget::Charge,
    sync::{lock, wait},
    tell::{CANCELLED, Tell},
    to_wire::{self, milliseconds},
};

/// How long a writer that has just had something to do stays ready to wake by itself. A request
/// whose deadline lies after that needs no wake-up to set the clock; an idle connection makes
/// one wake-up, and then none.
const LINGER: Duration = Duration::from_secs(1);

/// For ever: what is held back behind another is judged again when that one leaves.
const BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    writer: Condvar,
    reader: Condvar,
    unread_bytes: usize,
}

#[derive(Debug)]
struct State {
    ready: Vec<Ready>,
    /// About how many bytes `ready` will be.
    ready_bytes: usize,
    /// How many bytes the writer has in hand.
    writing: usize,
    in_flight: Vec<Asked>,
    /// The one that was held back and is judged again at this moment.
    resuming: Option<Resuming>,
    /// What is held back is to be judged again.
    look_again: bool,
    /// Requests that are over and that the policy is to be told of, outside the lock.
    over: Vec<(Tell, &'static str)>,
    /// Requests that something else than the UI thread has yet to answer.
    elsewhere: usize,
    /// Those of them that an inspector asked.
    #[cfg(feature = "inspector")]
    inspected: Vec<(RequestId, Waiting)>,
    /// Subscriptions that are pushed, and have something new.
    news: Vec<u64>,
    serial: u64,
    ending: Ending,
    /// Whether the writer sleeps, and until when.
    writer_sleeps: Option<Option<Instant>>,
    reader_waits: bool,
    access: Access,
    /// How often the leave was taken back.
    cuts: u64,
    /// When the last line came in.
    heard: Instant,
}

/// Whether the gate has let anything of this connection in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Not yet.
    None,
    /// Yes.
    Admitted,
    /// The user took it back, for this connection for good.
    Revoked,
}

impl Access {
    /// How many requests of it may be in flight, of the `max` that the server bears.
    pub(crate) fn most_in_flight(self, max: usize) -> usize {
        match self {
            Self::None => max.min(REQUESTS_IN_FLIGHT_BEFORE_GATE),
            Self::Admitted | Self::Revoked => max,
        }
    }
}

/// How far a connection has ended; it only goes on from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// Not at all.
    Open,
    /// The client asks nothing more, and still hears what it asked for.
    Drain,
    /// What is ready is written, and no more.
    Flush,
    /// Nothing is written.
    Abort,
}

/// A request that the UI thread has been asked for, or will be.
#[derive(Debug)]
struct Asked {
    serial: u64,
    id: RequestId,
    verb: Verb,
    tell: Tell,
    asked: Instant,
    deadline: Instant,
    ticket: Arc<Ticket>,
    /// It had entered when it was cancelled: it completes, and is not answered.
    cancelled: bool,
    /// It waits for a subscription's first event, and fetches at most so many.
    poll: Option<(u64, usize)>,
    /// The UI thread has not been asked for it yet.
    held: Option<Box<Held>>,
}

/// A request that is held back: the user is being asked, or is asked about one before it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) request: Request,
    /// The number that the policy knows it by.
    pub(crate) number: u64,
    pub(crate) bytes: usize,
    /// How long it may be held back for a question of its own; `None`: it has none.
    pub(crate) until: Option<Instant>,
    /// When its client is to come back, if it is held back no longer.
    pub(crate) retry_after: Duration,
    /// The memory that it takes, given back with this.
    pub(crate) _charge: Charge,
}

#[derive(Debug)]
struct Resuming {
    serial: u64,
    id: RequestId,
    scope: Scope,
    cancelled: bool,
    held_again: bool,
}

#[derive(Debug)]
enum Ready {
    Line(Vec<u8>),
    /// The reply to a request that the UI thread did not answer.
    Failed(RequestId, Vec<u8>),
    Answer(u64, Answer),
    Subscribed(u64, Subscribed, u64),
    Poll(u64),
}

impl Ready {
    /// The request that it answers.
    fn serial(&self) -> Option<u64> {
        match self {
            Self::Line(_) | Self::Failed(..) => None,
            Self::Answer(serial, _) | Self::Subscribed(serial, ..) | Self::Poll(serial) => {
                Some(*serial)
            }
        }
    }
}

/// Something for the writer to write.
#[derive(Debug)]
pub(crate) enum Reply {
    /// As it is.
    Line(Vec<u8>),
    /// To this request.
    Failed(RequestId, Vec<u8>),
    /// To be converted.
    Answer(RequestId, Verb, Answer),
    /// A subscription was made, at this revision.
    Subscribed(RequestId, Subscribed, u64),
    /// A subscription was made, and nobody will ever know its name: it is to be ended.
    Unheard(Subscribed),
    /// What a subscription has heard is to be fetched, so many events at most.
    Poll(RequestId, u64, usize),
    /// Nobody waits for it any more. Only handed out so that it is dropped outside the lock.
    Late(#[allow(dead_code, reason = "held to be dropped")] Answer),
}

/// What the writer is to do now.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) replies: Vec<Reply>,
    /// Subscriptions whose events are to be pushed.
    pub(crate) news: Vec<u64>,
    /// Some jobs were withdrawn: the backend can drop them.
    pub(crate) withdrawn: bool,
    /// Requests that the policy is to be told of, and what came of them.
    pub(crate) over: Vec<(Tell, &'static str)>,
    /// What is held back is to be judged again.
    pub(crate) look_again: bool,
}

/// A request that was taken on.
#[derive(Debug)]
pub(crate) struct Taken {
    /// To answer it by.
    pub(crate) serial: u64,
    pub(crate) ticket: Arc<Ticket>,
    /// The writer sleeps past its deadline, and is to be [told](Outbox::tell_writer), once the
    /// job is on its way.
    pub(crate) tell_writer: bool,
}

/// Why a request was not taken on.
#[derive(Debug, PartialEq)]
pub(crate) enum NotTaken {
    Revoked,
    TooMany,
    /// Its client took it back while it was judged again, or is gone: it is not answered.
    Cancelled,
}

/// The client left too much unread: the connection is to be closed.
#[derive(Debug, PartialEq)]
#[must_use]
pub(crate) struct Overflow(pub(crate) bool);

impl Outbox {
    pub(crate) fn new(unread_bytes: usize, now: Instant) -> Self {
        Self {
            state: Mutex::new(State {
                ready: Vec::new(),
                ready_bytes: 0,
                writing: 0,
                in_flight: Vec::new(),
                resuming: None,
                look_again: false,
                over: Vec::new(),
                elsewhere: 0,
                #[cfg(feature = "inspector")]
                inspected: Vec::new(),
                news: Vec::new(),
                serial: 0,
                ending: Ending::Open,
                writer_sleeps: None,
                reader_waits: false,
                access: Access::None,
                cuts: 0,
                heard: now,
            }),
            writer: Condvar::new(),
            reader: Condvar::new(),
            unread_bytes,
        }
    }

    // For the reader.

    /// A line came in, a request if it has an id. Answers whether a request of this id is in
    /// flight already.
    pub(crate) fn hear(&self, id: Option<&RequestId>, now: Instant) -> bool {
        let mut state = lock(&self.state);
        state.heard = now;
        id.is_some_and(|id| {
            let again = state.resuming.iter().map(|it| &it.id);
            let ids = state.in_flight.iter().map(|it| &it.id).chain(again);
            #[cfg(feature = "inspector")]
            let ids = ids.chain(state.inspected.iter().map(|(id, _)| id));
            let mut ids = ids;
            ids.any(|it| it == id)
        })
    }

    pub(crate) fn access(&self) -> Access {
        lock(&self.state).access
    }

    /// How often the leave was taken back.
    pub(crate) fn cuts(&self) -> u64 {
        lock(&self.state).cuts
    }

    /// The gate let something in, asked when the leave had been taken back so often. Answers how it
    /// stood before; `None`: it was taken back meanwhile, and the gate has to be asked again.
    pub(crate) fn admit(&self, cuts: u64) -> Option<Access> {
        let mut state = lock(&self.state);
        let before = state.access;
        if before == Access::None {
            if state.cuts != cuts {
                return None;
            }
            state.access = Access::Admitted;
        }
        Some(before)
    }

    /// Takes a request on, so that it is answered: by the UI thread, or at its deadline.
    pub(crate) fn ask(
        &self,
        id: RequestId,
        tell: &Tell,
        asked: Instant,
        deadline: Instant,
        poll: Option<(u64, usize)>,
        max: usize,
    ) -> Result<Taken, NotTaken> {
        let mut state = lock(&self.state);
        // Under the lock that a revocation takes: either it finds the request, or the request
        // finds here that it has been.
        state.takes(&id)?;
        if state.access != Access::Admitted {
            return Err(NotTaken::Revoked);
        }
        if state.in_flight.len() >= max {
            return Err(NotTaken::TooMany);
        }
        state.serial += 1;
        let serial = state.serial;
        let ticket = Arc::new(Ticket::default());
        let verb = tell.request.verb;
        state.in_flight.push(Asked {
            serial,
            id,
            verb,
            tell: tell.clone(),
            asked,
            deadline,
            ticket: ticket.clone(),
            cancelled: false,
            poll,
            held: None,
        });
        Ok(Taken {
            serial,
            ticket,
            tell_writer: state.writer_oversleeps(deadline),
        })
    }

    /// Whether a request of this scope is held back: what comes after it keeps its place.
    pub(crate) fn is_holding(&self, scope: Scope) -> bool {
        lock(&self.state).is_holding(scope)
    }

    /// Holds a request back, to be judged again: one that was held back before keeps its place.
    pub(crate) fn hold(&self, tell: &Tell, held: Held, max: usize) -> Result<(), NotTaken> {
        let mut state = lock(&self.state);
        let id = held.request.id.clone();
        state.takes(&id)?;
        let now = Instant::now();
        let again = state.resuming.as_mut().filter(|it| it.id == id);
        let serial = match again {
            Some(again) => {
                again.held_again = true;
                again.serial
            }
            None => {
                if state.in_flight.len() >= state.access.most_in_flight(max) {
                    return Err(NotTaken::TooMany);
                }
                state.serial += 1;
                state.serial
            }
        };
        let deadline = match held.until {
            Some(until) => until,
            None => {
                // Those before it may have left a moment ago.
                state.look_again |= !state.is_holding(tell.request.scope);
                now + BEHIND
            }
        };
        state.in_flight.push(Asked {
            serial,
            id,
            verb: tell.request.verb,
            tell: tell.clone(),
            asked: now,
            deadline,
            ticket: Arc::default(),
            cancelled: false,
            poll: None,
            held: Some(Box::new(held)),
        });
        if state.look_again || state.writer_oversleeps(deadline) {
            self.wake_writer(state);
        }
        Ok(())
    }

    /// Has the writer look at its clock again.
    pub(crate) fn tell_writer(&self) {
        self.writer.notify_one();
    }

    /// A reply that needs no conversion.
    pub(crate) fn reply(&self, line: Vec<u8>) -> Overflow {
        self.put(line.len(), Ready::Line(line))
    }

    /// A request is answered elsewhere than on the UI thread; until then a client that has
    /// stopped sending is still listened for.
    #[cfg(any(feature = "mcp", feature = "inspector"))]
    pub(crate) fn wait_elsewhere(&self) {
        lock(&self.state).elsewhere += 1;
    }

    /// Such a request has been answered, or needs no answer any more.
    #[cfg(any(feature = "mcp", feature = "inspector"))]
    pub(crate) fn answered_elsewhere(&self) {
        let mut state = lock(&self.state);
        state.elsewhere = state.elsewhere.saturating_sub(1);
        if state.elsewhere == 0 && state.ending == Ending::Drain {
            self.wake_writer(state);
        }
    }

    /// Takes an inspector's request on, so that it is known by its id until it is
    /// [over](Self::inspected).
    #[cfg(feature = "inspector")]
    pub(crate) fn inspect(&self, id: &RequestId, waiting: &Waiting) -> Result<(), NotTaken> {
        let mut state = lock(&self.state);
        // Under the lock that a revocation takes, as in `ask`.
        state.takes(id)?;
        state.inspected.push((id.clone(), waiting.clone()));
        Ok(())
    }

    /// It is over: nobody stops it any more.
    #[cfg(feature = "inspector")]
    pub(crate) fn inspected(&self, id: &RequestId) {
        let mut state = lock(&self.state);
        state.inspected.retain(|(it, _)| it != id);
    }

    /// Withdraws a request, if it hasn't entered the UI thread; it is not answered in either
    /// case. Answers whether the backend can drop it.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let mut state = lock(&self.state);
        if let Some(again) = state.resuming.as_mut().filter(|it| it.id == *id) {
            again.cancelled = true;
        }
        #[cfg(feature = "inspector")]
        if let Some((_, waiting)) = state.inspected.iter().find(|(it, _)| it == id) {
            waiting.stop(Stopped::Cancelled);
            return false;
        }
        let Some(at) = state.in_flight.iter().position(|asked| asked.id == *id) else {
            return false;
        };
        let Some(asked) = state.in_flight.get_mut(at) else {
            return false;
        };
        let withdrawn = asked.ticket.withdraw();
        asked.cancelled = true;
        if withdrawn {
            let asked = state.in_flight.swap_remove(at);
            state.leave(asked, CANCELLED);
            self.wake_writer(state);
        }
        withdrawn
    }

    /// Waits until the client has read enough that it makes sense to do more for it.
    pub(crate) fn wait_until_read(&self) {
        let mut state = lock(&self.state);
        while state.unread() > self.unread_bytes / 2 && state.ending == Ending::Open {
            state.reader_waits = true;
            state = wait(&self.reader, state, None);
        }
        state.reader_waits = false;
    }

    // For the UI thread.

    /// The answer to the request of this serial number. Never waits.
    pub(crate) fn answer(&self, serial: u64, answer: Answer) -> Overflow {
        self.put(to_wire::weight(&answer), Ready::Answer(serial, answer))
    }

    /// The request of this serial number has become a subscription, at this revision. Never
    /// waits.
    pub(crate) fn subscribed(&self, serial: u64, made: Subscribed, revision: u64) -> Overflow {
        self.put(128, Ready::Subscribed(serial, made, revision))
    }

    /// A subscription has something new: whoever waits for it is answered, and it is pushed if
    /// it is to be. Never waits.
    pub(crate) fn news(&self, subscription: u64, push: bool) {
        let mut state = lock(&self.state);
        if state.ending >= Ending::Flush || state.access != Access::Admitted {
            return;
        }
        let mut new = push && !state.news.contains(&subscription);
        if new {
            state.news.push(subscription);
        }
        let of_it = |asked: &&Asked| asked.poll.is_some_and(|(id, _)| id == subscription);
        let waiting: Vec<u64> = state
            .in_flight
            .iter()
            .filter(of_it)
            .map(|it| it.serial)
            .collect();
        for serial in waiting {
            if !state
                .ready
                .iter()
                .any(|ready| ready.serial() == Some(serial))
            {
                state.ready.push(Ready::Poll(serial));
                new = true;
            }
        }
        if new {
            self.wake_writer(state);
        }
    }

    // For the writer.

    /// Waits for something to write; `None`: the connection has ended. `idle` is how long a
    /// client that was never let in may be silent.
    pub(crate) fn next(&self, idle: Duration) -> Option<Batch> {
        let mut state = lock(&self.state);
        state.writing = 0;
        self.wake_reader(&mut state);
        let mut linger = true;
        loop {
            let now = Instant::now();
            let mut batch = Batch {
                withdrawn: state.expire(now),
                ..Batch::default()
            };
            if state.ending == Ending::Abort {
                return None;
            }
            batch.look_again = std::mem::take(&mut state.look_again);
            let replies = !state.ready.is_empty() || !state.news.is_empty();
            if replies || batch.look_again || !state.over.is_empty() {
                state.take(&mut batch);
                return Some(batch);
            }
            // Not while it waits for an answer.
            let silent = state.access != Access::Admitted && state.in_flight.is_empty();
            let idle_at = silent.then(|| state.heard + idle);
            let over = match state.ending {
                Ending::Open => idle_at.is_some_and(|at| at <= now),
                Ending::Drain => state.in_flight.is_empty() && state.elsewhere == 0,
                Ending::Flush | Ending::Abort => true,
            };
            if over {
                return None;
            }
            let linger_until = linger.then_some(now + LINGER);
            linger = false;
            let until = [state.next_deadline(), idle_at, linger_until]
                .into_iter()
                .flatten()
                .min();
            state.writer_sleeps = Some(until);
            let timeout = until.map(|until| until.saturating_duration_since(now));
            state = wait(&self.writer, state, timeout);
            state.writer_sleeps = None;
        }
    }

    /// Takes the first request that is held back out, to be judged again; `but` for what is of
    /// these scopes. Its place is kept until it is [resumed](Self::resumed).
    pub(crate) fn resume(&self, but: &[Scope]) -> Option<Held> {
        let mut state = lock(&self.state);
        let held = state
            .held()
            .filter(|it| !but.contains(&it.tell.request.scope));
        let serial = held.map(|it| it.serial).min()?;
        let at = state.in_flight.iter().position(|it| it.serial == serial)?;
        let asked = state.in_flight.swap_remove(at);
        state.heard = Instant::now();
        state.resuming = Some(Resuming {
            serial,
            id: asked.id,
            scope: asked.tell.request.scope,
            cancelled: false,
            held_again: false,
        });
        asked.held.map(|held| *held)
    }

    /// The request that was taken out has been judged. Answers its scope, if it is held back
    /// again.
    pub(crate) fn resumed(&self) -> Option<Scope> {
        let again = lock(&self.state).resuming.take()?;
        again.held_again.then_some(again.scope)
    }

    /// The writer has so many bytes in hand, until it asks for the [next](Self::next).
    pub(crate) fn writing(&self, bytes: usize) {
        lock(&self.state).writing = bytes;
    }

    /// What has to be done at this moment while the client doesn't read. Answers when to look
    /// again, and whether the backend can drop jobs; `None`: the connection has ended.
    pub(crate) fn tick(&self, now: Instant) -> Option<(Option<Instant>, bool)> {
        let mut state = lock(&self.state);
        let withdrawn = state.expire(now);
        // What is due and still here is ready, and waits for a client that reads.
        let deadlines = state.in_flight.iter().map(|asked| asked.deadline);
        let next = deadlines.filter(|deadline| *deadline > now).min();
        (state.ending != Ending::Abort).then_some((next, withdrawn))
    }

    // For anyone.

    /// Has what is held back judged again. Never waits.
    pub(crate) fn look_again(&self) {
        let mut state = lock(&self.state);
        if state.held().next().is_some() {
            state.look_again = true;
            self.wake_writer(state);
        }
    }

    /// The requests that the policy has yet to be told of, when the writer is gone.
    pub(crate) fn take_over(&self) -> Vec<(Tell, &'static str)> {
        std::mem::take(&mut lock(&self.state).over)
    }

    /// Ends the connection so far. What it waits for is withdrawn, but for draining. Answers
    /// whether the backend can drop jobs.
    pub(crate) fn end(&self, how: Ending) -> bool {
        let mut state = lock(&self.state);
        state.ending = state.ending.max(how);
        let mut withdrawn = false;
        if state.ending >= Ending::Flush {
            #[cfg(feature = "inspector")]
            for (_, waiting) in &state.inspected {
                waiting.stop(Stopped::Cancelled);
            }
            for asked in std::mem::take(&mut state.in_flight) {
                if asked.ticket.withdraw() {
                    withdrawn = true;
                    state.leave(asked, CANCELLED);
                }
            }
        }
        self.wake_reader(&mut state);
        self.wake_writer(state);
        withdrawn
    }

    pub(crate) fn is_open(&self) -> bool {
        lock(&self.state).ending == Ending::Open
    }

    /// Lets nothing of this connection in any more, or not until it is admitted again. What had
    /// not entered the UI thread is withdrawn and answered. Answers how it stood before, and
    /// whether the backend can drop jobs.
    pub(crate) fn revoke(&self, until: RevokedUntil) -> (Access, bool) {
        let mut state = lock(&self.state);
        let before = state.access;
        state.cuts += 1;
        state.access = match (before, until) {
            (Access::Revoked, _) | (_, RevokedUntil::Gone) => Access::Revoked,
            (Access::None | Access::Admitted, RevokedUntil::Admitted) => Access::None,
        };
        let mut withdrawn = false;
        state.news.clear();
        #[cfg(feature = "inspector")]
        for (_, waiting) in &state.inspected {
            waiting.stop(Stopped::Revoked);
        }
        // Who waits for events, and is to be answered, is refused as well.
        state.ready.retain(|it| !matches!(it, Ready::Poll(_)));
        let in_flight = std::mem::take(&mut state.in_flight);
        for asked in in_flight {
            if asked.ticket.withdraw() {
                withdrawn = true;
                state.push_failure(&asked.id, &Failure::consent_denied());
                state.leave(asked, Reason::ConsentDenied.as_str());
            } else {
                state.in_flight.push(asked);
            }
        }
        self.wake_writer(state);
        (before, withdrawn)
    }

    fn put(&self, bytes: usize, ready: Ready) -> Overflow {
        let mut state = lock(&self.state);
        if state.ending >= Ending::Flush {
            return Overflow(false);
        }
        // Judged by what was there before: one reply of any size can be had.
        if state.unread() >= self.unread_bytes {
            return Overflow(true);
        }
        state.ready_bytes += bytes;
        state.ready.push(ready);
        self.wake_writer(state);
        Overflow(false)
    }

    /// Wakes the writer if it sleeps, after the lock is free, so that it doesn't wake only to
    /// wait for that.
    fn wake_writer(&self, mut state: std::sync::MutexGuard<'_, State>) {
        let sleeps = state.writer_sleeps.take().is_some();
        drop(state);
        if sleeps {
            self.writer.notify_one();
        }
    }

    fn wake_reader(&self, state: &mut State) {
        if std::mem::take(&mut state.reader_waits) {
            self.reader.notify_one();
        }
    }
}

impl State {
    fn unread(&self) -> usize {
        self.ready_bytes + self.writing
    }

    /// Whether a request of this id may still be taken on.
    fn takes(&self, id: &RequestId) -> Result<(), NotTaken> {
        let cancelled = |it: &Resuming| it.cancelled && it.id == *id;
        if self.access == Access::Revoked {
            return Err(NotTaken::Revoked);
        }
        if self.ending >= Ending::Flush || self.resuming.as_ref().is_some_and(cancelled) {
            return Err(NotTaken::Cancelled);
        }
        Ok(())
    }

    fn held(&self) -> impl Iterator<Item = &Asked> {
        self.in_flight.iter().filter(|asked| asked.held.is_some())
    }

    fn is_holding(&self, scope: Scope) -> bool {
        let again = self.resuming.iter().map(|it| it.scope);
        let mut scopes = self.held().map(|it| it.tell.request.scope).chain(again);
        scopes.any(|it| it == scope)
    }

    /// A request is over before it entered the UI thread: the policy is told, and what was held
    /// back behind it moves up.
    fn leave(&mut self, asked: Asked, outcome: &'static str) {
        if asked.held.is_some() {
            self.look_again = true;
            // A client that waited was not silent.
            self.heard = Instant::now();
        }
        self.over.push((asked.tell, outcome));
    }

    /// Whether the writer sleeps past this moment.
    fn writer_oversleeps(&self, deadline: Instant) -> bool {
        self.writer_sleeps
            .is_some_and(|until| until.is_none_or(|until| until > deadline))
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.in_flight.iter().map(|asked| asked.deadline).min()
    }

    /// Answers the requests that the UI thread has not answered in time. Answers itself whether
    /// any was withdrawn.
    fn expire(&mut self, now: Instant) -> bool {
        if self.in_flight.iter().all(|asked| asked.deadline > now) {
            return false;
        }
        let mut withdrawn = false;
        let in_flight = std::mem::take(&mut self.in_flight);
        for asked in in_flight {
            // An answer that is ready was in time, though the writer is late.
            let answered = |ready: &Ready| ready.serial() == Some(asked.serial);
            if asked.deadline > now || self.ready.iter().any(answered) {
                self.in_flight.push(asked);
                continue;
            }
            if let Some(held) = &asked.held {
                let failure = to_wire::pending(held.retry_after);
                self.push_failure(&asked.id, &failure);
                self.leave(asked, failure.reason.as_str());
                continue;
            }
            if asked.poll.is_some() {
                // Nothing was heard in time: it is answered with that.
                self.ready.push(Ready::Poll(asked.serial));
                self.in_flight.push(asked);
                continue;
            }
            if asked.verb == Verb::WaitFor {
                let patience = asked.asked + UI_DEADLINE;
                match asked.ticket.last_look() {
                    // The UI thread has looked, and it was not so. It is busy if it has not.
                    Some(revision) if asked.ticket.withdraw() => {
                        withdrawn = true;
                        let outcome = Outcome::Allowed.as_str();
                        self.over.push((asked.tell, outcome));
                        if !asked.cancelled {
                            let line = to_wire::line(
                                &asked.id,
                                asked.verb,
                                Answer::Waited {
                                    met: false,
                                    revision,
                                },
                            );
                            self.ready_bytes += line.len();
                            self.ready.push(Ready::Failed(asked.id, line));
                        }
                        continue;
                    }
                    None if now < patience => {
                        let deadline = patience;
                        self.in_flight.push(Asked { deadline, ..asked });
                        continue;
                    }
                    _ => {}
                }
            }
            asked.ticket.withdraw();
            // Not what `withdraw` says: the UI thread may have withdrawn it for being late.
            let entered = !asked.ticket.is_withdrawn();
            withdrawn |= !entered;
            if !asked.cancelled {
                let waited = milliseconds(now.saturating_duration_since(asked.asked));
                self.push_failure(&asked.id, &Failure::app_busy(waited, entered));
            }
            // What has entered the UI thread tells of itself.
            if !entered {
                self.leave(asked, Reason::AppBusy.as_str());
            }
        }
        withdrawn
    }

    fn push_failure(&mut self, id: &RequestId, failure: &Failure) {
        let line = error_line(Some(id), failure);
        self.ready_bytes += line.len();
        self.ready.push(Ready::Failed(id.clone(), line));
    }

    /// Hands out what is ready, each answer with the request that it is to.
    fn take(&mut self, batch: &mut Batch) {
        self.writing = std::mem::take(&mut self.ready_bytes);
        batch.news = std::mem::take(&mut self.news);
        batch.over = std::mem::take(&mut self.over);
        batch.replies.reserve(self.ready.len());
        for ready in self.ready.drain(..) {
            let asked = ready.serial().and_then(|serial| {
                let at = self.in_flight.iter().position(|it| it.serial == serial)?;
                Some(self.in_flight.swap_remove(at))
            });
            let asked = asked.filter(|it| !it.cancelled);
            batch.replies.push(match (ready, asked) {
                (Ready::Line(line), _) => Reply::Line(line),
                (Ready::Failed(id, line), _) => Reply::Failed(id, line),
                (Ready::Answer(_, answer), Some(it)) => Reply::Answer(it.id, it.verb, answer),
                (Ready::Answer(_, answer), None) => Reply::Late(answer),
                (Ready::Subscribed(_, made, revision), Some(it)) => {
                    Reply::Subscribed(it.id, made, revision)
                }
                (Ready::Subscribed(_, made, _), None) => Reply::Unheard(made),
                (
                    Ready::Poll(_),
                    Some(Asked {
                        id,
                        tell,
                        poll: Some((of, most)),
                        ..
                    }),
                ) => {
                    batch.over.push((tell, Outcome::Allowed.as_str()));
                    Reply::Poll(id, of, most)
                }
                (Ready::Poll(_), _) => continue,
            });
        }
    }
}
