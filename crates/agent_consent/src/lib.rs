#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod audit;
mod clock;
mod decide;
mod evidence;
mod notice;
mod prompt;
mod rule;
mod shown;
mod store;
mod texts;

pub use clock::{Clock, SystemClock, TestClock};
pub use decide::{Mode, decide};
pub use evidence::{Agent, Fingerprints, Link, Proof, Script};
pub use notice::{Notice, Who};
pub use prompt::{Answer, Asked, Choice, Kind, Prompt, QuestionId};
pub use rule::{Rule, RuleId};
pub use shown::{Piece, Text, Theirs};
pub use store::{Loaded, Problem, Store};
pub use texts::Texts;
