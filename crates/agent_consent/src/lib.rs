#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod agents;
mod audit;
mod clock;
mod consent;
mod decide;
mod evidence;
#[cfg(test)]
mod flow;
mod inner;
mod keeper;
mod notice;
mod place;
mod prompt;
mod questions;
mod rule;
mod scripted;
mod shown;
mod state;
mod store;
mod terminal;
mod texts;
mod traffic;

pub use clock::{Clock, SystemClock, TestClock, utc};
pub use consent::{Builder, Consent};
pub use decide::{Mode, decide};
pub use evidence::{Agent, Fingerprints, Link, Proof, Script};
pub use inner::Act;
pub use notice::{Notice, Who};
pub use prompt::{Answer, Asked, Choice, Kind, Prompt, QuestionId};
pub use rule::{Rule, RuleId};
pub use scripted::Scripted;
pub use shown::{Piece, Text, Theirs};
pub use state::{Connected, Remembered};
pub use store::{Loaded, Problem, Store};
pub use terminal::{Terminal, TerminalTexts};
pub use texts::Texts;
