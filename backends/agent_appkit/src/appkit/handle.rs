//! The way onto the main thread for a server.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_core::{Backend, Emitted, EventSink, EventVerb, Inbox, Job};
use objc2::MainThreadMarker;

use super::{door, hooks, turn};

#[derive(Default)]
pub(crate) struct State {
    pub(crate) inbox: Inbox,
    pub(crate) emitted: Emitted,
    pub(crate) clients: usize,
    pub(crate) listeners: usize,
    pub(crate) sink: Option<EventSink>,
    pub(crate) stopped: bool,
    #[cfg(feature = "inspector")]
    pub(crate) inspections: Vec<agent_inspect::Job>,
    #[cfg(feature = "inspector")]
    pub(crate) inspectors: usize,
}

/// What all threads share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) state: Mutex<State>,
    /// The ids of the exposed windows, as of the last look.
    pub(crate) windows: Mutex<HashSet<String>>,
    /// Whether the main thread was asked to come, and hasn't yet.
    woken: AtomicBool,
}

/// Nothing panics while it holds one of our locks; a poisoned one is as good as any.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Asks the main thread to come, be it idle, in a modal session or following the mouse.
    pub(crate) fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            door::wake();
        }
    }

    /// The same, if any request waits.
    pub(crate) fn wake_for_more(&self) {
        let waits = !lock(&self.state).inbox.is_empty();
        if waits {
            self.wake();
        }
    }

    /// The main thread has come: it may be asked again.
    pub(crate) fn came(&self) {
        self.woken.store(false, Ordering::Release);
    }

    /// Leaves a job for the main thread. One that comes after the end is answered by being
    /// dropped, which must not happen under the lock.
    pub(crate) fn leave<J>(&self, job: J, put: impl FnOnce(&mut State, J)) {
        let mut state = lock(&self.state);
        if state.stopped {
            drop(state);
            drop(job);
            return;
        }
        put(&mut state, job);
        drop(state);
        self.wake();
    }

    /// The app is going: whoever waits is told so, by what they asked being dropped.
    pub(crate) fn stop(&self) {
        let mut state = lock(&self.state);
        state.stopped = true;
        let left = (
            std::mem::take(&mut state.inbox),
            #[cfg(feature = "inspector")]
            std::mem::take(&mut state.inspections),
        );
        drop(state);
        drop(left);
    }
}

/// Lets agents at the windows of this app that have tagged views, those that open later too. On
/// the main thread, by its marker; its run loop serves them. No agent is let in before a server
/// is given the handle.
pub fn open(main_thread: MainThreadMarker) -> Arc<dyn Backend> {
    Arc::new(AppKitHandle(serve(main_thread)))
}

pub(crate) fn serve(main_thread: MainThreadMarker) -> Arc<Shared> {
    hooks::install(main_thread);
    let shared = Arc::new(Shared::default());
    door::open(main_thread);
    turn::begin(shared.clone());
    shared
}

/// A way onto the main thread of an app. Any thread; cheap to clone. Once the app terminates,
/// jobs are answered [`Fault::Closed`](agent_core::Fault::Closed).
#[derive(Clone)]
pub struct AppKitHandle(pub(crate) Arc<Shared>);

impl Backend for AppKitHandle {
    fn submit(&self, job: Job) {
        self.0.leave(job, |state, job| state.inbox.push(job));
    }

    fn purge(&self) {
        lock(&self.0.state).inbox.purge();
    }

    fn has_window(&self, id: &str) -> bool {
        lock(&self.0.windows).contains(id)
    }

    fn emit(&self, id: &str, verb: EventVerb) {
        let mut state = lock(&self.0.state);
        if state.clients > 0 {
            state.emitted.push(id, verb);
        }
        // Without anybody who listens it is told when somebody looks next.
        let told = state.listeners > 0;
        drop(state);
        if told {
            self.0.wake();
        }
    }

    fn listen(&self, sink: EventSink) {
        lock(&self.0.state).sink = Some(sink);
    }

    fn set_listeners(&self, listeners: usize) {
        let before = std::mem::replace(&mut lock(&self.0.state).listeners, listeners);
        if (before == 0) != (listeners == 0) {
            self.0.wake();
        }
    }

    fn set_clients(&self, clients: usize) {
        let before = std::mem::replace(&mut lock(&self.0.state).clients, clients);
        if (before == 0) != (clients == 0) {
            self.0.wake();
        }
    }
}
