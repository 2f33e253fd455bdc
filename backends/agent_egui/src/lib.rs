#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod asking;
mod backend;
mod ids;
#[cfg(feature = "inspector")]
mod inspect;
#[cfg(feature = "inspector")]
mod layers;
mod looked;
mod pass;
mod person;
mod picture;
mod plugin;
#[cfg(feature = "inspector")]
mod properties;
mod scene;
#[cfg(feature = "inspector")]
mod screenshot;
mod state;
mod tagging;
mod windowless;

pub use agent_core::{Role, Tag, Verb};
pub use asking::drawn_at;
pub use backend::open;
pub use egui::Context;
#[cfg(feature = "inspector")]
pub use inspect::inspectable;
pub use tagging::{AgentResponse, AgentUi, AgentWidget, Rows, Tagged};
pub use windowless::run_windowless;
