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

mod alone;
mod apart;
mod client;
mod folder;
mod job;
mod random;
mod user;

use std::time::{Duration, Instant};

pub use self::{
    alone::in_its_own_process,
    apart::{Apart, pass_on},
    client::{Client, limit, reason},
    folder::{TempDir, folder},
    job::{allow, job},
    random::Random,
    user::User,
};

/// Longer than anything here takes on the slowest machine, and than any request may wait.
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

/// That this takes less than so long in one of a few tries: what waits for it always takes
/// longer, and what doesn't does only where the machine is slow.
#[track_caller]
pub fn takes_less_than(limit: Duration, what: &str, mut once: impl FnMut() -> Duration) {
    let took: Vec<Duration> = (0..10)
        .map(|_| once())
        .take_while(|it| *it >= limit)
        .collect();
    assert!(took.len() < 10, "{what} took {took:?}");
}
