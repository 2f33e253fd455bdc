//! The headless app, driven as a server drives it, and beside a walk of its whole tree.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of a test fails the test"
)]

mod agent;
mod cost;
mod kinds;
mod oracle;
mod person;
mod rules;
mod since;
