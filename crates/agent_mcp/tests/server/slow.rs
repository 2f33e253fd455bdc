//! A policy that takes its time.

use std::sync::{
    Condvar, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use agent_core::{Decision, Policy, Request};
use agent_test_support::eventually;

/// A policy that lets everybody in, but takes its time to find out who somebody is who calls
/// itself large: until it may go on.
#[derive(Default)]
pub(crate) struct Slow {
    may_go_on: Mutex<bool>,
    wake: Condvar,
    meeting: AtomicUsize,
    gone: AtomicUsize,
}

impl Slow {
    pub(crate) fn go_on(&self) {
        *self.may_go_on.lock().unwrap() = true;
        self.wake.notify_all();
    }

    /// Waits until it is at it.
    pub(crate) fn is_meeting(&self) {
        eventually("it is being met", || {
            self.meeting.load(Ordering::SeqCst) == 1
        });
    }

    /// Waits until so many are gone that it has met.
    pub(crate) fn is_gone(&self, many: usize) {
        eventually("it is gone", || self.gone.load(Ordering::SeqCst) == many);
    }
}

impl Policy for Slow {
    fn check(&self, _: &Request) -> Decision {
        Decision::Allow
    }

    fn met(&self, request: &Request) {
        if request.claimed_name.as_deref() == Some("large") {
            self.meeting.fetch_add(1, Ordering::SeqCst);
            let may_go_on = self.may_go_on.lock().unwrap();
            drop(self.wake.wait_while(may_go_on, |it| !*it).unwrap());
        }
    }

    fn gone(&self, _: u64) {
        self.gone.fetch_add(1, Ordering::SeqCst);
    }
}
