//! Requests that have no answer yet, and the thread that keeps their time: nobody waits without a
//! deadline, though nobody asks.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::Instant,
};

use agent_core::{Answer, Backend, Ticket};

use crate::{error::Error, limits::UI_DEADLINE, subscription::Subscription, sync::lock};

/// What a request came to, as it is kept until somebody takes it.
#[derive(Debug)]
pub(crate) enum Reply {
    Answer(Answer),
    Subscribed(Subscription),
    /// A subscription has something to fetch, or the time to wait for it is over. It is fetched
    /// when this is taken: what is dropped before has lost nothing.
    News,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The UI thread.
    Ui,
    /// A condition, which the UI thread looks at.
    Condition,
    /// The first event of this subscription.
    Events(u64),
}

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) connection: u64,
    /// What events call it, if it brings any about.
    pub(crate) name: Arc<str>,
    pub(crate) kind: Kind,
    pub(crate) ticket: Arc<Ticket>,
    asked: Instant,
    wake: Arc<Wake>,
    /// Tells the policy what came of it, once.
    done: Mutex<Option<Done>>,
    state: Mutex<State>,
    answered: Condvar,
}

/// Takes the wire's word for what a request came to.
pub(crate) struct Done(pub(crate) Box<dyn FnOnce(&'static str) + Send>);

impl std::fmt::Debug for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Done")
    }
}

#[derive(Debug, Default)]
struct State {
    reply: Option<Result<Reply, Error>>,
    over: bool,
    waker: Option<Waker>,
}

/// Who is told that a session has something new, be it an answer or an event.
#[derive(Default)]
pub(crate) struct Wake(Mutex<Option<Arc<dyn Fn() + Send + Sync>>>);

impl Wake {
    pub(crate) fn set(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        *lock(&self.0) = Some(wake);
    }

    pub(crate) fn call(&self) {
        let wake = lock(&self.0).clone();
        if let Some(wake) = wake {
            wake();
        }
    }
}

impl std::fmt::Debug for Wake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wake")
    }
}

/// A name for a request, never given out again during the run.
fn name() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed).to_string().into()
}

impl Request {
    pub(crate) fn new(
        connection: u64,
        kind: Kind,
        wake: Arc<Wake>,
        done: Option<Done>,
    ) -> Arc<Self> {
        Arc::new(Self {
            connection,
            name: name(),
            kind,
            ticket: Arc::default(),
            asked: Instant::now(),
            wake,
            done: Mutex::new(done),
            state: Mutex::default(),
            answered: Condvar::new(),
        })
    }

    /// Tells the policy, unless that was told.
    pub(crate) fn tell(&self, outcome: &'static str) {
        let done = lock(&self.done).take();
        if let Some(Done(done)) = done {
            done(outcome);
        }
    }

    /// Ends it, unless it has ended.
    fn end(&self, reply: Result<Reply, Error>) {
        let mut state = lock(&self.state);
        if state.over {
            return;
        }
        state.over = true;
        state.reply = Some(reply);
        let waker = state.waker.take();
        drop(state);
        self.answered.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
        self.wake.call();
    }

    /// What it came to, once; else `waker` is woken when it is there.
    pub(crate) fn take(&self, waker: Option<&Waker>) -> Option<Result<Reply, Error>> {
        let mut state = lock(&self.state);
        let reply = state.reply.take();
        if reply.is_none() {
            state.waker = waker.cloned();
        }
        reply
    }

    /// What it came to, as soon as that is there: the clock sees to it that this ends.
    pub(crate) fn wait(&self) -> Result<Reply, Error> {
        let mut state = lock(&self.state);
        loop {
            if let Some(reply) = state.reply.take() {
                return reply;
            }
            if state.over {
                // Taken before.
                return Err(Error::Closed);
            }
            state = self
                .answered
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Until when it has time nevertheless: a UI thread that is to look at a condition has as
    /// long to begin as for anything else.
    fn patience(&self, now: Instant) -> Option<Instant> {
        let until = self.asked + UI_DEADLINE;
        let unseen = self.kind == Kind::Condition && self.ticket.last_look().is_none();
        (unseen && now < until).then_some(until)
    }

    /// Its time is over.
    fn expire(&self, now: Instant) {
        let reply = match (self.kind, self.ticket.last_look()) {
            (Kind::Events(_), _) => Ok(Reply::News),
            // The UI thread has looked, and it was not so. It is busy if it has not.
            (Kind::Condition, Some(revision)) if self.ticket.withdraw() => {
                let met = false;
                self.tell("allowed");
                Ok(Reply::Answer(Answer::Waited { met, revision }))
            }
            _ => self.late(now),
        };
        self.end(reply);
    }

    fn late(&self, now: Instant) -> Result<Reply, Error> {
        self.ticket.withdraw();
        let busy = Error::Busy {
            waited: now.saturating_duration_since(self.asked),
            // Not what `withdraw` says: the UI thread may have withdrawn it for being late.
            entered: !self.ticket.is_withdrawn(),
        };
        // What has begun is told of when it is over.
        if self.ticket.is_withdrawn() {
            self.tell(busy.word());
        }
        Err(busy)
    }
}

/// All requests in flight of a surface's sessions.
pub(crate) struct InFlight {
    backend: Arc<dyn Backend>,
    state: Mutex<Clock>,
    changed: Condvar,
}

#[derive(Default)]
struct Clock {
    requests: Vec<(Instant, Arc<Request>)>,
    runs: bool,
    /// Whether it sleeps, and until when.
    sleeps: Option<Option<Instant>>,
    stopped: bool,
}

impl InFlight {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Arc<Self> {
        Arc::new(Self {
            backend,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn count(&self, connection: u64) -> usize {
        let state = lock(&self.state);
        let all = state.requests.iter();
        all.filter(|(_, it)| it.connection == connection).count()
    }

    /// Keeps a request's time from here on.
    ///
    /// # Errors
    /// If there is no thread to keep it.
    pub(crate) fn add(
        self: &Arc<Self>,
        request: &Arc<Request>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let mut state = lock(&self.state);
        if state.stopped {
            return Err(Error::Closed);
        }
        if !state.runs {
            let clock = self.clone();
            std::thread::Builder::new()
                .name("agent:in-app-clock".to_owned())
                .spawn(move || clock.run())
                .map_err(|why| Error::Internal(format!("no thread for the time: {why}")))?;
            state.runs = true;
        }
        state.requests.push((deadline, request.clone()));
        let late = |until: Option<Instant>| until.is_none_or(|until| until > deadline);
        if state.sleeps.is_some_and(late) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Ends one, with what it came to.
    pub(crate) fn end(&self, request: &Arc<Request>, reply: Result<Reply, Error>) {
        self.forget(request);
        request.end(reply);
    }

    /// Withdraws one: nobody wants to know what it comes to.
    pub(crate) fn withdraw(&self, request: &Arc<Request>) {
        self.end(request, Err(Error::Closed));
        if request.ticket.withdraw() {
            request.tell("cancelled");
            self.backend.purge();
        }
    }

    /// Ends those of a connection that have not begun; what has begun completes, and is answered.
    pub(crate) fn refuse(&self, connection: u64, why: &Error) {
        let of_it = |request: &Arc<Request>| request.connection == connection;
        let mut withdrawn = false;
        for request in self.all(of_it) {
            if request.ticket.withdraw() {
                withdrawn = true;
                request.tell(why.word());
                self.end(&request, Err(why.clone()));
            }
        }
        if withdrawn {
            self.backend.purge();
        }
    }

    /// A subscription has something: who waits for it is told.
    pub(crate) fn news(&self, connection: u64, subscription: u64) {
        let waits = |request: &Arc<Request>| {
            request.connection == connection && request.kind == Kind::Events(subscription)
        };
        for request in self.all(waits) {
            self.end(&request, Ok(Reply::News));
        }
    }

    /// Ends the clock.
    pub(crate) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_one();
    }

    fn all(&self, which: impl Fn(&Arc<Request>) -> bool) -> Vec<Arc<Request>> {
        let state = lock(&self.state);
        let all = state.requests.iter().map(|(_, request)| request);
        all.filter(|request| which(request)).cloned().collect()
    }

    fn forget(&self, request: &Arc<Request>) {
        let mut state = lock(&self.state);
        state.requests.retain(|(_, it)| !Arc::ptr_eq(it, request));
    }

    /// The clock's own thread.
    fn run(&self) {
        let mut state = lock(&self.state);
        while !state.stopped {
            let now = Instant::now();
            let mut due = Vec::new();
            state.requests.retain_mut(|(deadline, request)| {
                if *deadline > now {
                    return true;
                }
                if let Some(until) = request.patience(now) {
                    *deadline = until;
                    return true;
                }
                due.push(request.clone());
                false
            });
            if due.is_empty() {
                let until = state.requests.iter().map(|(deadline, _)| *deadline).min();
                state.sleeps = Some(until);
                state = match until {
                    None => self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner),
                    Some(until) => {
                        let longest = until.saturating_duration_since(now);
                        let waited = self.changed.wait_timeout(state, longest);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                };
                state.sleeps = None;
                continue;
            }
            // Not under the lock: it wakes who waits.
            drop(state);
            for request in due {
                request.expire(now);
            }
            self.backend.purge();
            state = lock(&self.state);
        }
    }
}
