//! What the tests and benchmarks of several crates share, and no app links: a connection as a
//! script would make it, a job as a server would make it, a user who is asked, dice that a seed
//! repeats.
//!
//! Each part panics where a test should fail.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod client;
mod folder;
mod job;
mod random;
mod user;

use std::time::{Duration, Instant};

pub use self::{
    client::{Client, limit, reason},
    folder::{TempDir, folder},
    job::{allow, job},
    random::Random,
    user::User,
};

/// Longer than anything here takes on the slowest machine.
pub const LONG: Duration = Duration::from_secs(60);

/// Waits until it is so.
#[track_caller]
pub fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    eventually_within(LONG, what, is_so);
}

/// The same for what takes longer than [`LONG`].
#[track_caller]
pub fn eventually_within(longest: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < longest, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
