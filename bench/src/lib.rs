//! What an agent surface costs: the user interfaces that are measured, and how.
//!
//! | module | what |
//! |---|---|
//! | [`headless_app`], `egui_app`, [`appkit_app`] | the same window in three toolkits: 20 buttons and 10 fields that agents see, among `n` |
//! | [`pingpong`] | the least that a request can cost, to be put beside it |
//! | [`served`] | an app, or the ping-pong, with one client connected |
//! | [`thread_clock`] | how long one thread has run |
//! | [`blocks`] | several things timed in turns, so that a noisy machine is noisy to all of them |
//! | [`consent`] | until an agent is cut off whose rule another program has removed |
//! | [`events`] | events through many subscriptions, and a bare bounded channel |
//! | `instructions` | what an egui frame costs, counted by callgrind |
//! | `inspector` | the developer's window on an app of many nodes |
//! | [`toolkit`] | what is measured of each toolkit |
//! | `measure` | all that is measured without a display |
//! | [`table`] | the table that it is shown in, with what is required |
//!
//! `cargo bench -p agent_bench` times single operations, `cargo xtask bench` makes the table.
//! AppKit's app is not in this crate: see `gnustep/bench`, which builds it without the feature `egui`.

#![forbid(unsafe_code)]

pub mod appkit_app;
pub mod blocks;
pub mod consent;
#[cfg(feature = "egui")]
pub mod egui_app;
pub mod events;
pub mod headless_app;
#[cfg(feature = "egui")]
pub mod inspector;
#[cfg(feature = "egui")]
pub mod instructions;
#[cfg(feature = "egui")]
pub mod measure;
#[path = "../pingpong.rs"]
pub mod pingpong;
pub mod served;
pub mod table;
pub mod thread_clock;
pub mod toolkit;

/// The ids of the buttons that agents see.
pub const BUTTONS: [&str; 20] = [
    "button-0",
    "button-1",
    "button-2",
    "button-3",
    "button-4",
    "button-5",
    "button-6",
    "button-7",
    "button-8",
    "button-9",
    "button-10",
    "button-11",
    "button-12",
    "button-13",
    "button-14",
    "button-15",
    "button-16",
    "button-17",
    "button-18",
    "button-19",
];

/// The ids of the text fields that agents see.
pub const FIELDS: [&str; 10] = [
    "field-0", "field-1", "field-2", "field-3", "field-4", "field-5", "field-6", "field-7",
    "field-8", "field-9",
];

/// How many widgets agents see, whatever else is in the window.
pub const EXPOSED: usize = BUTTONS.len() + FIELDS.len();
