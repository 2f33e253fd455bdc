//! The thread that reads and writes the rules, and notices when others have written them. It
//! sleeps while nobody is connected and nothing is to be written.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    inner::Inner,
    rule::Rule,
    state::Job,
    store::{PATIENCE, Store},
};

/// How often the folder is looked at while an agent is connected.
const LOOK: Duration = Duration::from_millis(300);

/// How long uses are gathered before they are noted.
const GATHER: Duration = Duration::from_secs(60);

/// How long the end of the app waits for what is still to be written.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// Starts the thread, which reads the rules first of all. Without it rules hold for the run, and
/// that is told.
pub(crate) fn begin(inner: &Arc<Inner>, store: Option<Store>) {
    let no_folder = || Err(io::Error::other("the user has no folder for it"));
    let started = store.map_or_else(no_folder, |store| start(inner, store));
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

/// Reads the rules, if they are others than before.
fn look(inner: &Arc<Inner>, store: &Store) {
    inner.at_rules(|seen| {
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
    });
}

fn start(inner: &Arc<Inner>, store: Store) -> io::Result<()> {
    let inner = inner.clone();
    std::thread::Builder::new()
        .name("agent-rules".into())
        .spawn(move || {
            look(&inner, &store);
            Keeper {
                store,
                saves: VecDeque::new(),
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
    /// What is to be saved, and since when: while another program writes it waits, and the folder
    /// is looked at all the same.
    saves: VecDeque<(Instant, Rule)>,
    looked: Instant,
    noted: Instant,
}

impl Keeper {
    fn run(&mut self, inner: &Arc<Inner>) {
        loop {
            let (jobs, stopping, watched) = wait(inner, self.looked + LOOK, !self.saves.is_empty());
            for job in jobs {
                match job {
                    Job::Save(rule) => self.saves.push_back((Instant::now(), rule)),
                    Job::RemoveAll => self.remove_all(inner),
                    Job::Remove(id, name) => {
                        // What is taken back needs no saving.
                        self.saves.retain(|(_, rule)| rule.id() != id);
                        inner.at_rules(|seen| {
                            *seen = None;
                            let result = self.store.remove(&id).map_err(|why| why.to_string());
                            inner.change(|state| state.was_removed(&id, &name, result));
                        });
                    }
                }
            }
            self.save(inner, stopping);
            if watched && !stopping && self.looked.elapsed() >= LOOK {
                self.look(inner);
            }
            if stopping || !watched || self.noted.elapsed() >= GATHER {
                self.note_uses(inner, watched && !stopping);
            }
            if stopping {
                return;
            }
        }
    }

    /// What nobody here has seen yet, too.
    fn remove_all(&mut self, inner: &Arc<Inner>) {
        self.saves.clear();
        inner.at_rules(|seen| {
            *seen = None;
            let app = inner.lock().settings.app.clone();
            let loaded = self.store.load();
            let rules = loaded.rules.into_iter().filter(|rule| rule.app == app);
            let left = rules.filter_map(|rule| {
                let why = self.store.remove(&rule.id()).err()?.to_string();
                Some((rule.id(), rule.name, why))
            });
            let left = left.collect();
            inner.change(|state| state.all_removed(left, loaded.problems));
        });
    }

    /// Saves what there is to save, in order, until another program is in the way. `last`: there
    /// is no later.
    fn save(&mut self, inner: &Arc<Inner>, last: bool) {
        while let Some((since, rule)) = self.saves.front() {
            let patient = !last && since.elapsed() < PATIENCE;
            let is_over = inner.at_rules(|seen| {
                *seen = None;
                let result = match last {
                    true => self.store.save(rule),
                    false => self.store.save_soon(rule),
                };
                match result {
                    Err(why) if patient && why.kind() == io::ErrorKind::WouldBlock => false,
                    result => {
                        let result = result.map_err(|why| why.to_string());
                        inner.change(|state| state.saved(rule, result));
                        true
                    }
                }
            });
            if !is_over {
                return;
            }
            self.saves.pop_front();
        }
    }

    /// Takes over what others have changed, and what time has ended.
    fn look(&mut self, inner: &Arc<Inner>) {
        // First, so that whose day is over is not taken for one whose rule was removed.
        inner.cut(|state| state.sweep(agent_core::RevokedUntil::Admitted));
        look(inner, &self.store);
        self.looked = Instant::now();
    }

    /// `again`: what another program is in the way of now is noted the next time.
    fn note_uses(&mut self, inner: &Arc<Inner>, again: bool) {
        self.noted = Instant::now();
        for (id, uses, last) in inner.change(|state| state.take_uses()) {
            let noted = inner.at_rules(|_| self.store.note_use(&id, uses, last));
            // It is for people to read: that it is missing changes nothing.
            if again && noted.is_err_and(|why| why.kind() == io::ErrorKind::WouldBlock) {
                inner.lock().used_before(id, uses, last);
            }
        }
    }
}

/// Until there is something to do, or until `look` while somebody is connected or something
/// `waits`, however often others come and go meanwhile. What there is to do, whether it is the
/// last, whether somebody is connected.
fn wait(inner: &Inner, look: Instant, waits: bool) -> (Vec<Job>, bool, bool) {
    let mut state = inner.lock();
    loop {
        let watched = state.is_watched();
        let left = look.saturating_duration_since(Instant::now());
        let busy = !state.jobs.is_empty() || state.stopping;
        let timed = watched || waits;
        if busy || (timed && left.is_zero()) || (!watched && state.has_uses()) {
            return (state.jobs.drain(..).collect(), state.stopping, watched);
        }
        state = if timed {
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
