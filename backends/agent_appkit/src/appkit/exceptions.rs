//! Objective-C exceptions become errors.

use std::panic::AssertUnwindSafe;

use agent_core::Fault;
use objc2::rc::autoreleasepool;

/// Runs code that calls the app's own, or an AppKit that may lack a method.
///
/// # Errors
/// If it threw. What an exception says may hold anything that the app knew, a secret too, so it
/// is not told; the app's own log has it where the app reports it.
pub(crate) fn catch<R>(what: &str, f: impl FnOnce() -> R) -> Result<R, Fault> {
    // The pool is outside: GCC's runtime keeps nothing that is thrown alive.
    autoreleasepool(|_| {
        objc2::exception::catch(AssertUnwindSafe(f))
            .map_err(|_| Fault::Internal(format!("{what} threw an Objective-C exception")))
    })
}
