#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod agents;
mod flash;
mod indicator;
mod keys;
mod liveness;
mod panel;
mod place;
mod rules;
mod texts;
mod ui;

pub use liveness::DEAD_FOR;
pub use texts::Texts;
pub use ui::{ConsentUi, open};
