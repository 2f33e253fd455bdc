//! Everything that touches AppKit.

mod asking;
mod class;
mod door;
mod editing;
mod exceptions;
mod finding;
mod handle;
mod hooks;
#[cfg(feature = "inspector")]
mod inspect;
mod live;
mod menus;
mod perform;
mod rows;
mod table;
mod tagging;
mod turn;
mod widget;

pub use asking::{Panels, Question, Words};
pub use handle::{AppKitHandle, open};
#[cfg(feature = "inspector")]
pub use inspect::inspectable;
#[doc(hidden)]
pub use table::known_objects;
pub use tagging::{AgentRows, AgentTagged, use_accessibility_identifiers};
