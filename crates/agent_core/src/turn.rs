//! Onto the UI thread and back: jobs, their tickets, and the order in which they take turns.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    authorise::{Action, Fault, No, Refusal, Target, TextRead, View},
    describe::{Describe, Description},
    event::{Cause, Event, EventVerb},
    gate::{AuthGate, Decision, Request},
    node::LiveTree,
    surface::Surface,
    verb::{Verb, VerbSet},
    wait::Condition,
};

/// How much of a turn of the UI thread agents may take, unless a single request takes more
/// (rule 9).
pub const TURN_BUDGET: Duration = Duration::from_millis(4);

/// A number for a new connection, never given out again during the run: several servers and the
/// app's own sessions can share a backend and a policy.
pub fn connection_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A number for a new request, never given out again during the run: see [`Request::number`].
pub fn request_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What is to be done on the UI thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Describe the surface.
    Describe(Describe),
    /// Read a text.
    GetText {
        /// Whose.
        target: Target,
        /// From which character on.
        from: Option<u64>,
        /// How many at most.
        limit: Option<u64>,
    },
    /// Begin to listen, to everything or to what happens at and below a node.
    Subscribe {
        /// Which node.
        node: Option<Target>,
    },
    /// Wait until something is so.
    Wait(Condition),
    /// Act on a node.
    Act {
        /// On which.
        target: Target,
        /// How.
        action: Action,
    },
}

impl Call {
    /// Which verb it is.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Describe(_) => Verb::DescribeUi,
            Self::GetText { .. } => Verb::GetText,
            Self::Subscribe { .. } => Verb::Subscribe,
            Self::Wait(_) => Verb::WaitFor,
            Self::Act { action, .. } => action.verb(),
        }
    }

    /// The window that it names.
    pub fn window(&self) -> Option<&str> {
        match self {
            Self::Describe(describe) => describe.window.as_deref(),
            Self::GetText { target, .. } | Self::Act { target, .. } => target.window.as_deref(),
            Self::Subscribe { node } => node.as_ref()?.window.as_deref(),
            Self::Wait(condition) => condition.target.as_ref()?.window.as_deref(),
        }
    }
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Acted {
    /// The revision after the frame that took it.
    pub revision: u64,
    /// What it brought about: the first [`Acted::MOST`] events.
    pub events: Vec<Event>,
    /// Whether there were more.
    pub more: bool,
    /// For an edit: the text's version now.
    pub version: Option<u64>,
    /// For an edit: what the widget holds, if that is not what was written, and not secret.
    pub text: Option<String>,
}

impl Acted {
    /// How many events one reply tells.
    pub const MOST: usize = 16;

    /// Of what a [`settle`](crate::Surface::settle) told. That something changed goes without
    /// saying: `ui_changed` is left out.
    pub fn new(revision: u64, mut events: Vec<Event>) -> Self {
        events.retain(|event| event.verb != EventVerb::UiChanged);
        let more = events.len() > Self::MOST;
        events.truncate(Self::MOST);
        Self {
            revision,
            events,
            more,
            version: None,
            text: None,
        }
    }
}

/// The answer to a call.
#[derive(Debug)]
pub enum Answer {
    /// To a description.
    Described(Description),
    /// To a reading.
    Text(TextRead),
    /// To a subscription: it hears what happens from here on.
    Heard {
        /// The revision that it begins with.
        revision: u64,
    },
    /// To a wait.
    Waited {
        /// Whether it is so.
        met: bool,
        /// At this revision.
        revision: u64,
    },
    /// To an action: performed, and the frame that took it is over.
    Acted(Acted),
    /// It was not done, and this is why.
    Refused(Refusal),
    /// It could not be judged.
    Fault(Fault),
}

impl Answer {
    /// The wire's word for what it came to: an outcome, or the reason of an error.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Described(_)
            | Self::Text(_)
            | Self::Heard { .. }
            | Self::Waited { .. }
            | Self::Acted(_) => "allowed",
            Self::Refused(refusal) => refusal.word(),
            Self::Fault(fault) => fault.word(),
        }
    }
}

impl From<No> for Answer {
    fn from(no: No) -> Self {
        match no {
            No::Refused(refusal) => Self::Refused(refusal),
            No::Fault(fault) => Self::Fault(fault),
        }
    }
}

const QUEUED: u8 = 0;
const ENTERED: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Who has a job: it is either withdrawn before it entered the UI thread, or it has entered and
/// completes. Never both (rule 9).
#[derive(Debug, Default)]
pub struct Ticket(AtomicU8, AtomicU64);

impl Ticket {
    /// Takes the job back. `false`: it has entered, and will complete. Any thread.
    pub fn withdraw(&self) -> bool {
        self.turn(WITHDRAWN)
    }

    /// Whether it was taken back.
    pub fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::Acquire) == WITHDRAWN
    }

    /// The UI thread has looked whether what is waited for is so, at this revision, and it was
    /// not: the job waits on.
    pub fn looked(&self, revision: u64) {
        self.1.store(revision.saturating_add(1), Ordering::Release);
    }

    /// The revision of the last such look, if there was one.
    pub fn last_look(&self) -> Option<u64> {
        self.1.load(Ordering::Acquire).checked_sub(1)
    }

    fn enter(&self) -> bool {
        self.turn(ENTERED)
    }

    fn turn(&self, to: u8) -> bool {
        self.0
            .compare_exchange(QUEUED, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

/// Where an answer goes. If it is dropped unanswered (the app is going away), the asker is told
/// that.
pub struct ReplyTo(Option<Box<dyn FnOnce(Answer) + Send>>);

impl ReplyTo {
    /// Answers are handed to `deliver`, which runs on the UI thread and must not wait.
    pub fn new(deliver: impl FnOnce(Answer) + Send + 'static) -> Self {
        Self(Some(Box::new(deliver)))
    }

    /// Answers.
    pub fn send(mut self, answer: impl Into<Answer>) {
        if let Some(deliver) = self.0.take() {
            deliver(answer.into());
        }
    }
}

impl Drop for ReplyTo {
    fn drop(&mut self) {
        if let Some(deliver) = self.0.take() {
            deliver(Answer::Fault(Fault::Closed));
        }
    }
}

impl std::fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReplyTo")
    }
}

/// One request on its way to the UI thread.
#[derive(Debug)]
pub struct Job {
    /// What is to be done.
    pub call: Call,
    /// Who asks, to be asked of the gate again on entry.
    pub request: Request,
    /// What the request is called on its connection: the events of an action carry it back there.
    pub name: Option<Arc<str>>,
    /// The gate.
    pub gate: AuthGate,
    /// What changes what they are told.
    pub view: View,
    /// When it may no longer begin.
    pub deadline: Instant,
    /// Who has it.
    pub ticket: Arc<Ticket>,
    /// Where the answer goes.
    pub reply: ReplyTo,
}

impl Job {
    /// The job as the cause of what it does.
    pub fn cause(&self) -> Option<Cause> {
        self.name.clone().map(|request| Cause {
            connection: self.request.connection,
            request,
        })
    }

    /// Begins it, on the UI thread: not if it was withdrawn or is late (nothing happens late),
    /// and not if the gate has changed its mind since (rule 2). `None`: it is over.
    pub fn enter(self, now: Instant) -> Option<Self> {
        if now >= self.deadline {
            // Whoever counts the time tells the asker.
            self.ticket.withdraw();
        }
        if !self.ticket.enter() {
            self.reply.forget();
            return None;
        }
        match self.gate.check(&self.request) {
            Decision::Allow => Some(self),
            // Nobody has decided any more: the leave ran out on the way here. The user is asked
            // when it comes again, not now.
            Decision::Deny(_) | Decision::Ask => {
                self.reply.send(Answer::Fault(Fault::Denied));
                None
            }
        }
    }
}

impl ReplyTo {
    fn forget(mut self) {
        self.0 = None;
    }
}

/// The jobs that wait for the UI thread: in order within a connection, connections in rotation,
/// so that a flood slows the flooder (rule 9). Plain data: a backend keeps it behind its lock.
#[derive(Debug, Default)]
pub struct Inbox {
    queues: HashMap<u64, VecDeque<Job>>,
    rotation: VecDeque<u64>,
}

impl Inbox {
    /// Adds a job at the end of its connection's queue.
    pub fn push(&mut self, job: Job) {
        let connection = job.request.connection;
        let queue = self.queues.entry(connection).or_default();
        if queue.is_empty() {
            self.rotation.push_back(connection);
        }
        queue.push_back(job);
    }

    /// The next job that was not withdrawn, if it is one that `takes` agrees to; its connection
    /// goes to the end of the rotation.
    pub fn pop_if(&mut self, takes: impl Fn(&Job) -> bool) -> Option<Job> {
        loop {
            let connection = *self.rotation.front()?;
            let Some(queue) = self.queues.get_mut(&connection) else {
                self.rotation.pop_front();
                continue;
            };
            while queue.front().is_some_and(|job| job.ticket.is_withdrawn()) {
                if let Some(job) = queue.pop_front() {
                    job.reply.forget();
                }
            }
            let job = match queue.front() {
                Some(job) if !takes(job) => return None,
                _ => queue.pop_front(),
            };
            self.rotation.pop_front();
            if queue.is_empty() {
                self.queues.remove(&connection);
            } else {
                self.rotation.push_back(connection);
            }
            // `None`: everything in that queue had been withdrawn.
            if job.is_some() {
                return job;
            }
        }
    }

    /// The next job that `takes` agrees to, and that no other of its connection is before. One that
    /// it doesn't agree to keeps its place, and holds up its own connection alone.
    pub fn pop_ready(&mut self, takes: impl Fn(&Job) -> bool) -> Option<Job> {
        let Some(at) = self.ready(&takes) else {
            // All that is left waits, or was withdrawn.
            self.purge();
            return None;
        };
        // Its turn is now, and the others keep their order.
        let connection = self.rotation.remove(at)?;
        self.rotation.push_front(connection);
        self.pop_if(takes)
    }

    /// Whether there is such a job.
    pub fn has_ready(&self, takes: impl Fn(&Job) -> bool) -> bool {
        self.ready(&takes).is_some()
    }

    /// Where in the rotation it is.
    fn ready(&self, takes: &impl Fn(&Job) -> bool) -> Option<usize> {
        self.rotation.iter().position(|connection| {
            let queue = self.queues.get(connection).into_iter().flatten();
            let mut waiting = queue.filter(|job| !job.ticket.is_withdrawn());
            waiting.next().is_some_and(takes)
        })
    }

    /// The next job.
    pub fn pop(&mut self) -> Option<Job> {
        self.pop_if(|_| true)
    }

    /// Gives back jobs that were taken and not begun, each to the head of its connection's queue.
    pub fn put_back(&mut self, jobs: Vec<Job>) {
        for job in jobs.into_iter().rev() {
            let connection = job.request.connection;
            let queue = self.queues.entry(connection).or_default();
            if queue.is_empty() {
                self.rotation.push_front(connection);
            }
            queue.push_front(job);
        }
    }

    /// Drops what was withdrawn, so that a blocked UI thread piles nothing up. Any thread may
    /// have withdrawn it.
    pub fn purge(&mut self) {
        self.queues.retain(|_, queue| {
            let (kept, withdrawn): (VecDeque<_>, VecDeque<_>) = std::mem::take(queue)
                .into_iter()
                .partition(|job| !job.ticket.is_withdrawn());
            for job in withdrawn {
                job.reply.forget();
            }
            *queue = kept;
            !queue.is_empty()
        });
        self.rotation
            .retain(|connection| self.queues.contains_key(connection));
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.queues.values().map(VecDeque::len).sum()
    }
}

/// Takes the events of one turn of the UI thread, and numbers them.
pub type EventSink = Arc<dyn Fn(&mut [Event]) + Send + Sync>;

/// Jobs that wait until something is so, looked at again whenever an agent can see a change:
/// while nothing changes they cost nothing. A backend keeps one beside its [`Surface`].
#[derive(Debug, Default)]
pub struct Waiting {
    jobs: Vec<Job>,
    looked_at: u64,
}

impl Waiting {
    /// Looks whether it is so already, and keeps the job if not.
    pub fn add<L: LiveTree>(&mut self, job: Job, surface: &Surface<L::Key>, live: &L) {
        if let Some(job) = look(job, surface, live) {
            self.jobs.push(job);
        }
    }

    /// Looks again, if the revision has moved since.
    pub fn look<L: LiveTree>(&mut self, surface: &Surface<L::Key>, live: &L) {
        if self.jobs.is_empty() || self.looked_at == surface.revision() {
            return;
        }
        self.looked_at = surface.revision();
        let jobs = std::mem::take(&mut self.jobs);
        self.jobs = jobs
            .into_iter()
            .filter_map(|job| look(job, surface, live))
            .collect();
    }

    /// Drops what was withdrawn.
    pub fn purge(&mut self) {
        let jobs = std::mem::take(&mut self.jobs);
        for job in jobs {
            if job.ticket.is_withdrawn() {
                job.reply.forget();
            } else {
                self.jobs.push(job);
            }
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }
}

/// Answers the job if what it waits for is so, or can never be; else gives it back.
fn look<L: LiveTree>(job: Job, surface: &Surface<L::Key>, live: &L) -> Option<Job> {
    let Call::Wait(condition) = &job.call else {
        return None;
    };
    let revision = surface.revision();
    let answer = match surface.holds(live, condition, job.view) {
        Ok(met) if met || condition.once => Answer::Waited { met, revision },
        Ok(_) => {
            job.ticket.looked(revision);
            return Some(job);
        }
        Err(no) => no.into(),
    };
    if let Some(job) = job.enter(Instant::now()) {
        job.reply.send(answer);
    }
    None
}

/// What the server asks of a backend: a way onto the UI thread.
pub trait Backend: Send + Sync + 'static {
    /// Queues a job and wakes the UI thread, be its windows idle, hidden or minimised. Any
    /// thread; never waits for the UI.
    fn submit(&self, job: Job);

    /// Some jobs were withdrawn: they can be dropped. Any thread.
    fn purge(&self);

    /// Whether an exposed window of this id was there as of the last turn. Any thread.
    fn has_window(&self, id: &str) -> bool;

    /// The verbs that this toolkit has no way to perform.
    fn unsupported(&self) -> VerbSet {
        VerbSet::empty()
    }

    /// Whether the calling thread is the one that serves jobs, as of the last turn: whoever
    /// waited there for an answer would wait for himself. A backend that can't tell says no,
    /// and such a wait lasts until its deadline.
    fn is_ui_thread(&self) -> bool {
        false
    }

    /// Raises an event of the app's own on an exposed node; on any other it does nothing. Any
    /// thread.
    fn emit(&self, id: &str, verb: EventVerb);

    /// Where events go, from the UI thread, after each look; it never waits. Set once, before
    /// anything else is asked.
    fn listen(&self, sink: EventSink);

    /// How many listen. With none, nothing is looked at but what is asked for. Any thread.
    fn set_listeners(&self, listeners: usize);

    /// How many clients are admitted. With none, the backend does no work at all. Any thread.
    fn set_clients(&self, clients: usize);
}
