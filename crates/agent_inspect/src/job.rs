//! Onto the UI thread and back, apart from the jobs of agents.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use agent_core::{AuthGate, Decision, Request};

use crate::{
    look::Look,
    picture::{Hide, Picture},
    property::Property,
    view::AgentView,
};

/// What an inspector asks of the app. Nodes are named by their handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The whole tree.
    Tree,
    /// Every property of a node.
    Node(u64),
    /// What agents see of a node, and why.
    View(u64),
    /// Draw over this node; over none any more.
    Highlight(Option<u64>),
    /// The node under the pointer.
    Pick,
    /// A picture of a node, or of the first window.
    Screenshot {
        /// Of which node.
        node: Option<u64>,
        /// What is blacked out.
        hide: Hide,
    },
}

/// What an inspector is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The whole tree.
    Tree(Look),
    /// Every property of a node.
    Node(Vec<Property>),
    /// What agents see of a node.
    View(Box<AgentView>),
    /// It is drawn over the window, or no more.
    Highlighted,
    /// The node under the pointer, if it is over one.
    Picked(Option<u64>),
    /// A picture.
    Picture(Picture),
}

/// Why an inspector is told nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum No {
    /// No node has this handle now, or none that an inspector may look at.
    NotFound,
    /// This toolkit, or this way of running it, can't; and why, as the rest of a sentence.
    Unsupported(&'static str),
    /// The gate said no when its turn came.
    Denied,
    /// The app is going away.
    Closed,
}

type Deliver = Box<dyn FnOnce(Result<Told, No>) + Send>;

/// Where the answer goes. Dropped unanswered (the app is going away), it says that.
struct ReplyTo(Option<Deliver>);

impl ReplyTo {
    fn send(mut self, told: Result<Told, No>) {
        if let Some(deliver) = self.0.take() {
            deliver(told);
        }
    }
}

impl Drop for ReplyTo {
    fn drop(&mut self) {
        if let Some(deliver) = self.0.take() {
            deliver(Err(No::Closed));
        }
    }
}

/// One request of an inspector on its way to the UI thread.
pub struct Job {
    /// What is asked.
    pub ask: Ask,
    request: Request,
    gate: AuthGate,
    deadline: Instant,
    /// Set when nobody waits for it any more.
    over: Option<Arc<AtomicBool>>,
    reply: ReplyTo,
}

impl Job {
    /// Of whoever made `request`, for whom `gate` is asked again on entry, to begin before
    /// `deadline`. `deliver` runs on the UI thread, and must not wait.
    pub fn new(
        ask: Ask,
        request: Request,
        gate: AuthGate,
        deadline: Instant,
        deliver: impl FnOnce(Result<Told, No>) + Send + 'static,
    ) -> Self {
        Self {
            ask,
            request,
            gate,
            deadline,
            over: None,
            reply: ReplyTo(Some(Box::new(deliver))),
        }
    }

    /// The same, which doesn't begin any more once `over` is set.
    #[must_use]
    pub fn unless(mut self, over: Arc<AtomicBool>) -> Self {
        self.over = Some(over);
        self
    }

    /// Begins it, on the UI thread: not if it is late (whoever asked has been told by then), and
    /// not if the gate has changed its mind (rule 2).
    pub fn enter(mut self, now: Instant) -> Option<Self> {
        self = self.unless_late(now)?;
        if self.gate.check(&self.request) == Decision::Allow {
            return Some(self);
        }
        self.answer(Err(No::Denied));
        None
    }

    /// Gives it back, unless nobody waits for it any more.
    pub fn unless_late(mut self, now: Instant) -> Option<Self> {
        let over = |over: &Arc<AtomicBool>| over.load(Ordering::Acquire);
        if now < self.deadline && !self.over.as_ref().is_some_and(over) {
            return Some(self);
        }
        self.reply.0 = None;
        None
    }

    /// Answers it.
    pub fn answer(self, told: Result<Told, No>) {
        self.reply.send(told);
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("ask", &self.ask)
            .finish_non_exhaustive()
    }
}

/// An app that can be inspected: what a backend implements beside `agent_core::Backend`, and a
/// server is given only where the app armed it.
pub trait Inspectable: Send + Sync + 'static {
    /// Queues a request and wakes the UI thread. Any thread; never waits for the UI.
    fn submit(&self, job: Job);

    /// How many inspectors there are. With none, nothing is drawn over the windows any more and
    /// nothing is kept for them. Any thread.
    fn set_inspectors(&self, inspectors: usize);
}
