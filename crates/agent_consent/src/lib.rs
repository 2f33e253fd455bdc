#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod prompt;
mod shown;

pub use prompt::{Answer, Asked, Choice, Kind, Prompt, QuestionId};
pub use shown::{Piece, Text, Theirs};
