//! Cases: conversations with an app, written down as data, and run on every backend.
//!
//! A case describes a user interface and a conversation with it; `docs/cases.md` says how one
//! is written. A backend joins by a [`Fixture`](fixture::Fixture), which builds that interface
//! with its toolkit's own widgets; `docs/backends.md` says how.
//!
//! | module | holds |
//! |---|---|
//! | [`case`] | what a case file says, read and checked |
//! | [`matching`] | expectations against what came |
//! | [`fixture`] | what a backend implements to take part |
//! | [`control`] | how the conversation reaches the UI thread |
//! | [`door`] | the gate that a case opens and shuts, and the user behind it |
//! | [`model`] | a user interface as plain data, for toolkits that draw one anew in each frame |
//! | [`fixtures`] | the fixtures of the backends that are there |
//! | [`script`] | plays the steps of a case over the real socket |
//! | [`one`] | one case in this process |
//! | [`command`] | `agent_cases run`: all cases, each in a process of its own |

// One fixture calls a foreign API.
#![deny(unsafe_code)]

pub mod case;
pub mod command;
pub mod control;
pub mod door;
pub mod fixture;
pub mod fixtures;
pub mod json;
pub mod matching;
pub mod model;
pub mod one;
pub mod script;
