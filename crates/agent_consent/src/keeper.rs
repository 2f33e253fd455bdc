//! The thread that reads and writes the rules, and notices when others have written them. It
//! sleeps while nobody is connected and nothing is to be written.

use std::{
    io,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use crate::{inner::Inner, state::Job, store::Store};

/// How often the folder is looked at while an agent is connected.
const LOOK: Duration = Duration::from_millis(300);

/// How long uses are gathered before they are noted.
const GATHER: Duration = Duration::from_secs(60);

/// How long the end of the app waits for what is still to be written.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// Reads the rules, and starts the thread. Without it rules hold for the run, and that is told.
pub(crate) fn begin(inner: &Arc<Inner>, store: Option<Store>) {
    let started = match store {
        None => Err(io::Error::other("the user has no folder for it")),
        Some(store) => {
            look(inner, &store);
            start(inner, store)
        }
    };
    if let Err(error) = started {
        inner.change(|state| state.has_no_disk(error.to_string()));
    }
}

/// Before the first who comes is judged: while nobody was there nobody has looked. Reads files, on
/// the thread of that connection.
pub(crate) fn catch_up(inner: &Arc<Inner>) {
    if let Some(store) = &inner.store
        && !inner.lock().is_watched()
    {
        look(inner, store);
    }
}

/// Reads the rules, if they are others than before. One thread at a time, so that what was read
/// later is what counts.
fn look(inner: &Arc<Inner>, store: &Store) {
    let mut seen = inner.seen.lock().unwrap_or_else(PoisonError::into_inner);
    let state = store.state();
    if *seen == Some(state) {
        return;
    }
    let loaded = store.load();
    // What was set aside by that is a change of our own.
    *seen = match loaded.problems.is_empty() {
        true => Some(state),
        false => Some(store.state()),
    };
    inner.cut(|state| state.loaded(loaded));
}

fn start(inner: &Arc<Inner>, store: Store) -> io::Result<()> {
    let inner = inner.clone();
    std::thread::Builder::new()
        .name("agent-rules".into())
        .spawn(move || {
            Keeper {
                store,
                looked: Instant::now(),
                noted: Instant::now(),
            }
            .run(&inner);
            inner.lock().stopped = true;
            inner.work.notify_all();
        })
        .map(drop)
}

/// Ends it when what is to be written is written, and waits for that, but not for long.
pub(crate) fn stop(inner: &Inner) {
    let mut state = inner.lock();
    state.stopping = true;
    inner.work.notify_all();
    let begun = Instant::now();
    while !state.stopped {
        let Some(left) = LAST_WRITES.checked_sub(begun.elapsed()) else {
            return;
        };
        let waited = inner.work.wait_timeout(state, left);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
}

struct Keeper {
    store: Store,
    looked: Instant,
    noted: Instant,
}

impl Keeper {
    fn run(&mut self, inner: &Arc<Inner>) {
        loop {
            let (jobs, stopping, watched) = wait(inner, self.looked + LOOK);
            for job in jobs {
                self.perform(inner, job);
            }
            if watched && !stopping && self.looked.elapsed() >= LOOK {
                self.look(inner);
            }
            if stopping || !watched || self.noted.elapsed() >= GATHER {
                self.note_uses(inner);
            }
            if stopping {
                return;
            }
        }
    }

    fn perform(&self, inner: &Arc<Inner>, job: Job) {
        match job {
            Job::Save(rule) => {
                let result = self.store.save(&rule).map_err(|error| error.to_string());
                inner.change(|state| state.saved(&rule, result));
            }
            Job::Remove(id, name) => {
                let result = self.store.remove(&id).map_err(|error| error.to_string());
                inner.change(|state| state.was_removed(&id, &name, result));
            }
        }
    }

    /// Takes over what others have changed, and what time has ended.
    fn look(&mut self, inner: &Arc<Inner>) {
        // First, so that whose day is over is not taken for one whose rule was removed.
        inner.cut(|state| state.sweep(agent_core::RevokedUntil::Admitted));
        look(inner, &self.store);
        self.looked = Instant::now();
    }

    fn note_uses(&mut self, inner: &Arc<Inner>) {
        self.noted = Instant::now();
        for (id, uses, last) in inner.change(|state| state.take_uses()) {
            // It is for people to read; that it is missing changes nothing.
            let _ = self.store.note_use(&id, uses, last);
        }
    }
}

/// Until there is something to do, or until `look` while somebody is connected, however often
/// others come and go meanwhile. What there is to do, whether it is the last, whether somebody is
/// connected.
fn wait(inner: &Inner, look: Instant) -> (Vec<Job>, bool, bool) {
    let mut state = inner.lock();
    loop {
        let watched = state.is_watched();
        let left = look.saturating_duration_since(Instant::now());
        let busy = !state.jobs.is_empty() || state.stopping;
        if busy || (watched && left.is_zero()) || (!watched && state.has_uses()) {
            return (state.jobs.drain(..).collect(), state.stopping, watched);
        }
        state = if watched {
            let waited = inner.work.wait_timeout(state, left);
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            inner
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner)
        };
    }
}
