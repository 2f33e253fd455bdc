//! What stands around the snapshot: the lock, and what is called outside it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicBool},
};

use agent_core::{Connections, Request};

use crate::{
    evidence::Fingerprints,
    prompt::{Answer, Asked, Prompt, QuestionId, Replies},
    state::{Cut, Effect, State},
    store::Store,
    traffic::Traffic,
};

/// Told of each action, on the UI thread.
pub(crate) type OnAct = Box<dyn Fn(&Act<'_>) + Send + Sync>;

/// An action of an agent's, before and after: see [`Builder::on_act`](crate::Builder::on_act).
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// It is about to be performed.
    Before(&'a Request),
    /// It is over, and this came of it.
    After(&'a Request, &'static str),
}

pub(crate) struct Inner {
    state: Mutex<State>,
    /// There is something to do on the disk, or for who waits for that to be done.
    pub(crate) work: Condvar,
    pub(crate) store: Option<Store>,
    /// The state of the folder when it was last read; `None`: what the snapshot has is not what
    /// was read. See [`at_rules`](Self::at_rules).
    seen: Mutex<Option<u64>>,
    /// To the rules.
    pub(crate) rules: Traffic,
    /// To the log.
    pub(crate) log: Arc<Traffic>,
    pub(crate) prints: Fingerprints,
    pub(crate) prompt: Option<Arc<dyn Prompt>>,
    pub(crate) wake: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) on_act: Option<OnAct>,
    servers: Mutex<Vec<Weak<dyn Connections>>>,
}

impl Inner {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            store: None,
            seen: Mutex::new(None),
            rules: Traffic::default(),
            log: Arc::default(),
            prints: Fingerprints::default(),
            prompt: None,
            wake: None,
            on_act: None,
            servers: Mutex::default(),
        }
    }

    /// Held for a moment only: nothing that is done with it waits or calls out.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the snapshot, then does what comes of it outside the lock: work for the disk is
    /// handed over, and the app is called, before this returns or on a thread that is at it now.
    pub(crate) fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        if !state.jobs.is_empty() {
            self.work.notify_all();
        }
        drop(state);
        self.dispatch();
        result
    }

    /// The same, and the leave is taken back from the connections that it answers: when this
    /// returns nothing of theirs will begin.
    pub(crate) fn cut(self: &Arc<Self>, change: impl FnOnce(&mut State) -> Cut) {
        let mut state = self.lock();
        let Cut { these, until } = change(&mut state);
        self.work.notify_all();
        drop(state);
        if !these.is_empty() {
            for server in self.servers() {
                server.revoke(&|connection| these.contains(&connection), until);
            }
        }
        self.dispatch();
    }

    /// Reads or writes rules, and takes over what came of it. One thread at a time, never the UI
    /// thread: what was read before another has written must not be taken over after that.
    pub(crate) fn at_rules<T>(&self, work: impl FnOnce(&mut Option<u64>) -> T) -> T {
        self.rules.during(|| {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut seen)
        })
    }

    /// As if the disk that the rules are on hung, until this is dropped; while an agent is
    /// connected, so that somebody looks there.
    #[cfg(test)]
    pub(crate) fn hang(&self) -> MutexGuard<'_, Option<u64>> {
        let hangs = self.seen.lock().unwrap();
        agent_test_support::eventually("somebody looks", || !self.rules.is_idle());
        hangs
    }

    pub(crate) fn attach(&self, server: Weak<dyn Connections>) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|server| server.strong_count() > 0);
        servers.push(server);
    }

    fn servers(&self) -> Vec<Arc<dyn Connections>> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.iter().filter_map(Weak::upgrade).collect()
    }

    /// Does what is to be done, in order. One thread at a time: another's is done by that one.
    fn dispatch(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.dispatching {
            return;
        }
        state.dispatching = true;
        while let Some(effect) = state.effects.pop_front() {
            drop(state);
            // A prompt that panics has waved the question away.
            let _ = catch_unwind(AssertUnwindSafe(|| self.perform(effect)));
            state = self.lock();
        }
        state.dispatching = false;
    }

    fn perform(self: &Arc<Self>, effect: Effect) {
        match effect {
            Effect::Show(id, words) => {
                let asked = Asked {
                    id,
                    kind: words.kind,
                    heading: words.heading,
                    details: words.details,
                    choices: words.choices,
                    done: AtomicBool::new(false),
                    reply: Box::new(Reply(Arc::downgrade(self))),
                };
                if let Some(prompt) = &self.prompt {
                    prompt.show(asked);
                }
            }
            Effect::Withdraw(id) => {
                if let Some(prompt) = &self.prompt {
                    prompt.withdraw(id);
                }
            }
            Effect::Tell(text) => {
                if let Some(prompt) = &self.prompt {
                    prompt.tell(&text);
                }
            }
            Effect::Answered(these) => {
                for server in self.servers() {
                    server.answered(&|connection| these.contains(&connection));
                }
            }
            Effect::Wake => {
                if let Some(wake) = &self.wake {
                    wake();
                }
            }
        }
    }
}

/// A question outlives neither the app's consent nor keeps it alive.
struct Reply(Weak<Inner>);

impl Replies for Reply {
    fn reply(&self, question: QuestionId, answer: Option<Answer>) -> bool {
        let inner = self.0.upgrade();
        inner.is_some_and(|inner| inner.change(|state| state.answer(question, answer)))
    }

    fn is_open(&self, question: QuestionId) -> bool {
        let inner = self.0.upgrade();
        inner.is_some_and(|inner| inner.lock().is_open(question))
    }
}
