//! What an app and its clients meet, each over the real socket: serving, stopping, being
//! killed, texts of any kind, and that nothing unexposed can be told from any reply.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod app;
mod consent;
mod hostile_inspector;
mod in_app;
mod in_flight;
mod inspector;
mod killed;
mod listening;
mod rule_1;
mod strange;
mod windowless;
