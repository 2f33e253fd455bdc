//! The memory that all clients together may fill: half-read lines and queued requests.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use crate::sync::{lock, wait};

/// How often a reader that waits for room looks at what else could make some.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is held of the common memory. It may pass the bound by what the readers have in hand
/// at that moment (a few KiB each), and then reading stops.
#[derive(Debug)]
pub(crate) struct Budget {
    max: usize,
    used: Mutex<Used>,
    room: Condvar,
}

#[derive(Debug, Default)]
struct Used {
    bytes: usize,
    waiting: usize,
}

/// Bytes held; given back when dropped, on whatever thread that is.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            used: Mutex::default(),
            room: Condvar::new(),
        }
    }

    /// Holds this many bytes more. Never waits.
    pub(crate) fn charge(self: &Arc<Self>, bytes: usize) -> Charge {
        let mut charge = Charge {
            budget: self.clone(),
            bytes: 0,
        };
        charge.resize(bytes);
        charge
    }

    /// Waits, on a reader's thread, until there is room. `meanwhile` is asked again and again,
    /// and ends the waiting by answering `false`.
    pub(crate) fn wait_for_room(&self, meanwhile: impl Fn() -> bool) {
        let mut used = lock(&self.used);
        while used.bytes > self.max {
            used.waiting += 1;
            used = wait(&self.room, used, Some(LOOK_EVERY));
            used.waiting -= 1;
            drop(used);
            if !meanwhile() {
                return;
            }
            used = lock(&self.used);
        }
    }
}

impl Charge {
    /// Holds so many bytes instead. Never waits.
    pub(crate) fn resize(&mut self, bytes: usize) {
        if bytes == self.bytes {
            return;
        }
        let mut used = lock(&self.budget.used);
        used.bytes = used.bytes.saturating_sub(self.bytes).saturating_add(bytes);
        let wake = used.waiting > 0 && used.bytes <= self.budget.max;
        drop(used);
        self.bytes = bytes;
        if wake {
            self.budget.room.notify_all();
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn rule_10_reading_waits_for_room_and_goes_on() {
        let budget = Arc::new(Budget::new(100));
        let held = budget.charge(100);
        budget.wait_for_room(|| unreachable!("there is room"));
        let mut more = budget.charge(1);
        let asked = AtomicUsize::new(0);
        budget.wait_for_room(|| asked.fetch_add(1, Ordering::Relaxed) < 1);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.wait_for_room(|| true));
            more.resize(0);
            waiting.join().unwrap();
        });
        drop(held);
        assert_eq!(lock(&budget.used).bytes, 0);
    }
}
