#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod index;
mod input;
#[cfg(feature = "inspector")]
mod inspect;
mod kind;
mod layout;
mod live;
mod perform;
mod thread;
mod tree;
mod widget;

pub use kind::Kind;
pub use layout::{INDENT, ROW, VIEW_ROWS};
pub use thread::{Headless, HeadlessHandle};
pub use tree::Tree;
pub use widget::{Node, Props, Rows, Value, Widget};
