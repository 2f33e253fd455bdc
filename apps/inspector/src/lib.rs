#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod link;
mod picture;
mod tree;
mod watch;
mod window;

pub use link::{Link, No, Which};
pub use picture::Picture;
pub use tree::{Filter, Page, Place, Row, Told, Tree};
pub use watch::{Seen, Watch};
pub use window::{Inspector, serve};
