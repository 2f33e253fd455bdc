//! The backend on a bare `egui::Context`: no window, the real plugin, the app's real passes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod acting;
mod confirming;
mod describing;
mod driver;
mod kittest;
mod oracle;
mod person;
mod reader;
mod rows;
mod unexposed;
mod verbs;
mod viewports;
