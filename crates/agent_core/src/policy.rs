//! What an app's policy may do besides saying yes or no: see who comes, put questions to the
//! user, hear what was done, and take a leave back from those who have it.

use std::{any::Any, sync::Weak, time::Duration};

use crate::{
    authorise::Action,
    gate::{Decision, Request},
};

/// A policy behind the gate. Only [`check`](Self::check) has to be there: that alone is a
/// predicate, and [`AuthGate::serve`](crate::AuthGate::serve) makes one of a closure.
pub trait Policy: Any + Send + Sync {
    /// What becomes of a request. Any thread, the UI thread among them, and several at once:
    /// no I/O, no prompt, no waiting.
    fn check(&self, request: &Request) -> Decision;

    /// The first request of a connection is about to be judged: the moment to find out who it
    /// is. On the thread of that connection, which holds nobody else up: it may read files. (A
    /// session of the app's own has no thread of its own, nor anything to find out: for
    /// [`Channel::InApp`](crate::Channel::InApp) it must not wait.)
    fn met(&self, request: &Request) {
        let _ = request;
    }

    /// The gate said [`Decision::Ask`]: put the question, if it isn't open already. On a thread
    /// of that connection; never waits for the answer. Called again for a request that was held
    /// back, if after [`Connections::answered`] the gate still says so. `None`: there is nobody
    /// to ask.
    fn ask(&self, request: &Request) -> Option<Pending> {
        let _ = request;
        None
    }

    /// An action that everything else allows, on a node whose mark says that the user confirms
    /// it each time. A yes is used up by this. On the UI thread, in the turn of the action;
    /// never waits.
    fn confirm(&self, question: &Question) -> Confirmed {
        let _ = question;
        Confirmed::No
    }

    /// An action is about to be performed. On the UI thread; never waits.
    fn acting(&self, request: &Request) {
        let _ = request;
    }

    /// What came of a request that [`check`](Self::check) was asked about, once: the wire's word
    /// for the outcome (`allowed`, for whatever got its result) or for the reason of the error,
    /// or `cancelled` where its client took it back or went before it began. Of an action that
    /// was performed on the UI thread, of others on any; never waits. May come after
    /// [`gone`](Self::gone), for what had begun by then.
    fn done(&self, request: &Request, outcome: &'static str) {
        let _ = (request, outcome);
    }

    /// A connection has ended that [`met`](Self::met) has seen. Any thread; never waits.
    fn gone(&self, connection: u64) {
        let _ = connection;
    }

    /// Who serves connections that this policy judges, before the first of them: once by each
    /// that does, be it a server or the app's own sessions. Any number: keep them all.
    fn attach(&self, server: Weak<dyn Connections>) {
        let _ = server;
    }
}

/// What a policy can do to the connections that it has judged.
pub trait Connections: Send + Sync {
    /// Takes the leave back from these, to which the gate says no by now: when this returns,
    /// nothing of theirs that had not begun on the UI thread will begin, their subscriptions
    /// have ended, and nothing more is pushed to them. Any thread; never waits.
    fn revoke(&self, which: &dyn Fn(u64) -> bool, until: RevokedUntil);

    /// The answer to a question has come: what is held back for it is judged again. Any thread;
    /// never waits.
    fn answered(&self, which: &dyn Fn(u64) -> bool);
}

/// How long a revocation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RevokedUntil {
    /// As long as they stay connected, whatever the gate would say later.
    #[default]
    Gone,
    /// Until the gate lets them in again.
    Admitted,
}

/// The user is being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// When it makes sense to come back.
    pub retry_after: Duration,
    /// How long the request may be held back for the answer, instead of sending its client away
    /// at once. Zero: not at all. Clients give up at some time: through the MCP bridge five
    /// seconds after the request's own `timeout_ms`.
    pub hold: Duration,
}

/// A question about one action on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Who asks.
    pub request: Request,
    /// The window it is in, by the name that is shown: empty where it has none.
    pub window: String,
    /// Which node, by its id.
    pub node: String,
    /// Its name.
    pub name: String,
    /// What would be done, with its parameters.
    pub action: Action,
    /// Stands for what the user sees there: the node's name and state, and every exposed text of
    /// its window. A yes is for what was seen when the question was put.
    pub seen: u64,
}

/// What the user says to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// Do it, this once.
    Yes,
    /// No; or not answered yet.
    No,
}
