#![doc = include_str!("../README.md")]
//!
//! # Contents
//!
//! | to | use |
//! |---|---|
//! | cut bytes into lines | [`LineSplitter`], [`Piece`] |
//! | judge a line | [`parse_line`], [`Line`], [`Request`], [`RequestId`] |
//! | judge its parameters | [`VERBS`], [`Verb::named`], [`Verb::check`], [`Args`], [`ParamError`] |
//! | tell others what there is | [`Verb::json_schema`], [`verbs_markdown`] |
//! | refuse | [`Reason`], [`Failure`] |
//! | answer | [`result_line`], [`error_line`], [`notification_line`] and the result structs |
//! | speak with a developer's inspector | [`inspector`] |
//! | stay bounded | [`limits`] |
//!
//! Everything here may be used from any thread and never blocks. Nothing here asks for
//! consent: the gate comes between [`Verb::check`] and the work.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod inspector;
pub mod limits;
pub mod words;

mod docs;
mod error;
mod framing;
mod message;
mod quote;
mod reply;
mod results;
mod verbs;

pub use docs::{inspector_markdown, verbs_markdown};
pub use error::{ErrorData, Failure, Reason};
pub use framing::{LineSplitter, Piece};
pub use message::{Line, Request, RequestId, parse_line};
pub use reply::{error_line, notification_line, result_line};
pub use results::{
    Acted, Changed, Described, Event, Hello, Node, NodeValue, Parent, Polled, Pushed, Subscribed,
    Text, Unsubscribed, Waited, Word,
};
pub use verbs::{Args, Param, ParamError, ParamKind, Timeout, VERBS, Verb};
pub use words::{Outcome, Why};

/// The version of the protocol that this crate speaks, as [`Hello`] tells it.
pub const PROTOCOL: u32 = 1;
