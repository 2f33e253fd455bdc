//! The MCP dialect, by the official SDK: on the app's own socket, and for a bridge.
//!
//! | to | use |
//! |---|---|
//! | offer the verbs as tools | [`tools`], [`tool`], [`INSTRUCTIONS`] |
//! | put a reply into words for a model | [`Asked`], [`Reply`], [`Said`] |
//! | serve one client | [`Session`] over a [`Door`] |
//!
//! The SDK sees whole, well-formed MCP messages only, through a stream in memory, one a
//! connection. Lines are read and judged by this crate's own framing, and everything in the
//! wire's error table is answered by it.
//!
//! Events are tools like the other verbs, and resources that a client follows by
//! `subscriptions/listen` or, before revision 2026-07-28, `resources/subscribe`.

mod events;
mod handler;
mod inapp;
mod outline;
mod runtime;
mod say;
mod session;
mod tools;

pub use handler::{About, Ask, Door, Named, Replied, ToolCall};
pub use outline::{Shown, clean, outline, quote};
pub use say::{Asked, Reply, Said, read_reply};
pub use session::{Cancelled, Message, Session};
pub use tools::{INSTRUCTIONS, STRUCTURED, tool, tools};

pub(crate) use inapp::Link;
pub(crate) use runtime::Runtime;

/// The requests that MCP makes of us; any other method is the bare dialect's, or nobody's.
const METHODS: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    LISTEN,
];

/// The request that stays open while its client listens.
const LISTEN: &str = "subscriptions/listen";

/// Whether a request of this method is MCP's.
pub fn is_method(method: &str) -> bool {
    METHODS.contains(&method)
}

/// Whether a request of this method comes to one of a verb, by which the SDK listens.
pub(crate) fn listens(method: &str) -> bool {
    [LISTEN, "resources/subscribe"].contains(&method)
}

/// The request that asks a verb of the app.
pub const CALL: &str = "tools/call";
