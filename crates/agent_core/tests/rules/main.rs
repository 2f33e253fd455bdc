//! The rules over plain data: each test names the one that it holds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod authorising;
mod confirming;
mod describing;
mod hearing;
mod must_not_compile;
mod settling;
mod tree;
mod turns;
