//! Locks that a panic elsewhere doesn't take away.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. Every lock of this crate is held for a few steps that can't leave its data half
/// changed, and never while code of the app's runs.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
