//! One request of an inspector while its answer is awaited: it ends by that, by its time, or by
//! being stopped.

use std::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use agent_inspect::{No, Told};

use crate::sync::{lock, wait};

/// Why nobody waits for the answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The client took the request back, or went.
    Cancelled,
    /// The user took the client's leave away.
    Revoked,
}

/// What the UI thread says, and whoever stops it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether what has not begun is not to begin.
    over: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    told: Option<Result<Told, No>>,
    stopped: Option<Stopped>,
}

impl Waiting {
    /// The answer is here, on the UI thread.
    pub(super) fn tell(&self, told: Result<Told, No>) {
        lock(&self.0.state).told.get_or_insert(told);
        self.0.changed.notify_one();
    }

    /// Nobody waits any more. Never waits itself.
    pub(crate) fn stop(&self, why: Stopped) {
        self.0.over.store(true, Ordering::Release);
        lock(&self.0.state).stopped.get_or_insert(why);
        self.0.changed.notify_one();
    }

    /// Whether it was stopped, and why.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        lock(&self.0.state).stopped
    }

    /// For the job: whether it is to be dropped.
    pub(super) fn over(&self) -> Arc<AtomicBool> {
        self.0.over.clone()
    }

    /// Waits for the answer. `None`: there was none in time, or it was stopped.
    pub(super) fn answer(&self, until: Instant) -> Option<Result<Told, No>> {
        let mut state = lock(&self.0.state);
        loop {
            if state.stopped.is_some() {
                return None;
            }
            if let Some(told) = state.told.take() {
                return Some(told);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = wait(&self.0.changed, state, Some(left));
        }
    }
}
