//! Locks that a panic elsewhere doesn't take away.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Locks. Every lock of this crate is held for a few steps that can't leave its data half
/// changed, so a panic while one was held (in a policy, say) is no reason to stop serving.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits; for ever, if `timeout` is `None`.
pub(crate) fn wait<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: Option<Duration>,
) -> MutexGuard<'a, T> {
    match timeout {
        None => condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
        Some(timeout) => {
            let waited = condvar.wait_timeout(guard, timeout);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
