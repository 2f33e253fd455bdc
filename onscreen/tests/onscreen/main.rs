//! What shows on a screen alone: the pointer, pixels, and programs that open windows.
//!
//! `cargo xtask test` runs these, on a display of its own: they move the pointer, and take what
//! else there is on the display for theirs. One after the other, as there is one pointer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod app;
mod beside;
mod command;
mod highlight;
mod image;
mod pick;
mod picture;
mod screen;
mod windows;
