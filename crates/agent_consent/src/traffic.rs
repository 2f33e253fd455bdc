//! What is on its way to a disk, and the thread that tells of a disk that hangs: itself it touches
//! none, and sleeps while nothing is on its way and nobody is connected.

use std::{
    io,
    path::Path,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{inner::Inner, state::State, store::Store};

/// A disk that has not answered for so long hangs.
const HANGS: Duration = Duration::from_secs(5);

/// How often it is looked at while there may be something on its way.
const TICK: Duration = Duration::from_secs(1);

/// What was sent to a disk, and what of it has arrived or was refused.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    sent: AtomicU64,
    arrived: AtomicU64,
}

impl Traffic {
    /// What it is of may arrive before this is called: it is idle when both are the same.
    pub(crate) fn send(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::Relaxed);
    }

    /// Does this on the disk.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.send();
        let done = work();
        self.arrive();
        done
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.arrived() == self.sent.load(Ordering::Relaxed)
    }

    fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }
}

/// Starts the thread. Without it a disk that hangs is told of by nobody.
pub(crate) fn watch(inner: &Arc<Inner>) -> io::Result<()> {
    let inner = inner.clone();
    std::thread::Builder::new()
        .name("agent-hangs".into())
        .spawn(move || run(&inner))
        .map(drop)
}

fn run(inner: &Arc<Inner>) {
    let mut rules = Seen::default();
    let mut log = Seen::default();
    while let Some(now) = wait(inner, [&mut rules, &mut log]) {
        if let Some(hangs) = rules.look(&inner.rules, now) {
            let folder = inner
                .store
                .as_ref()
                .map(Store::folder)
                .unwrap_or(Path::new(""));
            inner.change(|state| state.rules_hang(hangs, folder));
        }
        if let Some(hangs) = log.look(&inner.log, now) {
            inner.change(|state| state.log_hangs(hangs));
        }
    }
}

/// Until it is time to look again, and what time it is then. `None`: the app goes.
fn wait(inner: &Inner, seen: [&mut Seen; 2]) -> Option<Duration> {
    let mut state = inner.lock();
    let on_its_way =
        |state: &State| state.is_watched() || !inner.rules.is_idle() || !inner.log.is_idle();
    if !state.stopping && on_its_way(&state) {
        let waited = inner.work.wait_timeout(state, TICK);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    } else {
        while !state.stopping && !on_its_way(&state) {
            state = inner
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        // What it is waited for has been sent only now.
        let now = state.now();
        for seen in seen {
            seen.since = now;
        }
    }
    (!state.stopping).then(|| state.now())
}

/// How far a disk had come when it was last looked at.
#[derive(Default)]
struct Seen {
    arrived: u64,
    since: Duration,
    hangs: bool,
}

impl Seen {
    /// Whether it has begun to hang (`true`) or to answer again (`false`).
    fn look(&mut self, traffic: &Traffic, now: Duration) -> Option<bool> {
        let arrived = traffic.arrived();
        if arrived != self.arrived || traffic.is_idle() {
            (self.arrived, self.since) = (arrived, now);
        }
        let hangs = now.saturating_sub(self.since) >= HANGS;
        (std::mem::replace(&mut self.hangs, hangs) != hangs).then_some(hangs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_arrive_for_a_while_hangs() {
        let traffic = Traffic::default();
        let mut seen = Seen::default();
        let mut look = |seconds| seen.look(&traffic, Duration::from_secs(seconds));
        assert_eq!(look(100), None, "nothing was sent");
        traffic.send();
        traffic.send();
        assert_eq!(look(104), None);
        assert_eq!(look(105), Some(true));
        assert_eq!(look(200), None, "it is told once");
        traffic.arrive();
        assert_eq!(look(201), Some(false));
        assert_eq!(look(206), Some(true), "the other one");
        traffic.arrive();
        assert_eq!(look(207), Some(false));
        assert_eq!(look(300), None);
    }
}
