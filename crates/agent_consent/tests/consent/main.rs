//! What only real processes can show: who asks, and what becomes of rules when programs are
//! killed and disks are full. The programs are copies of this one: see `children`.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod children;
mod disk;
mod programs;
mod terminal;
