#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod evidence;
mod prompt;
mod shown;

pub use evidence::{Agent, Fingerprints, Link, Proof, Script};
pub use prompt::{Answer, Asked, Choice, Kind, Prompt, QuestionId};
pub use shown::{Piece, Text, Theirs};
