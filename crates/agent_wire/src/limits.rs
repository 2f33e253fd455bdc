//! Every bound of the wire, with its unit. Where an app may set one, this is the default.

use std::time::Duration;

/// Bytes of one incoming line, without its newline, once the gate has admitted something
/// of the connection.
pub const LINE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of one incoming line before the gate has admitted anything of the connection.
pub const LINE_BYTES_BEFORE_GATE: usize = 64 * 1024;

/// How deep the objects and arrays of one line may be nested, the line's own object
/// counted. No verb needs more than 3, a message of MCP not many more.
pub const NESTING: usize = 64;

/// Connections at a time, all peers together.
pub const CONNECTIONS: usize = 64;

/// Connections at a time from one process.
pub const CONNECTIONS_PER_PEER: usize = 16;

/// Requests in flight on one connection.
pub const REQUESTS_IN_FLIGHT: usize = 32;

/// Requests in flight on one connection before the gate has admitted anything of it.
pub const REQUESTS_IN_FLIGHT_BEFORE_GATE: usize = 4;

/// How long a connection of which nothing was admitted may be idle; then it is closed.
pub const IDLE_BEFORE_GATE: Duration = Duration::from_secs(60);

/// Bytes of all lines and queued requests together; above it, reading stops.
pub const QUEUED_BYTES: usize = 64 * 1024 * 1024;

/// Nodes in one reply of `describe_ui`. Also the most that its `limit` may ask for.
pub const NODES: usize = 500;

/// Bytes of one reply of `describe_ui`.
pub const DESCRIBE_BYTES: usize = 256 * 1024;

/// Bytes of text in one reply of `get_text`.
pub const TEXT_BYTES: usize = 1024 * 1024;

/// Graphemes of a name that `describe_ui` shows.
pub const NAME_GRAPHEMES: usize = 200;

/// Graphemes of a value that `describe_ui` shows.
pub const VALUE_GRAPHEMES: usize = 2_000;

/// Bytes of a node, window or subscription id, which has at least one.
pub const ID_BYTES: usize = 200;

/// Bytes of a row's key or a client's name. A longer key could not stand in an id.
pub const SHORT_TEXT_BYTES: usize = 200;

/// Events in the reply to an action; `more` says that there were others.
pub const EVENTS_IN_REPLY: usize = 16;

/// Subscriptions of one connection.
pub const SUBSCRIPTIONS: usize = 32;

/// Events that one subscription holds; a full queue drops the oldest.
pub const SUBSCRIPTION_QUEUE: usize = 256;

/// Events that a surface keeps for replay.
pub const EVENT_LOG: usize = 4_096;

/// Nodes in a reply to the inspector: a page of the tree.
pub const INSPECTOR_NODES: usize = 20_000;

/// Entries of the inspector's log that are kept.
pub const INSPECTOR_LOG: usize = 1_000;

/// Findings in a reply to the inspector's lint.
pub const INSPECTOR_FINDINGS: usize = 1_000;

/// Rules about agents in a reply to the inspector.
pub const INSPECTOR_RULES: usize = 1_000;

/// Requests of inspectors that are answered at a time, all connections together.
pub const INSPECTOR_REQUESTS: usize = 8;

/// How long a request waits for the UI thread if it doesn't say.
pub const UI_DEADLINE: Duration = Duration::from_secs(2);

/// How long `wait_for` waits for its condition if it doesn't say.
pub const CONDITION_WAIT: Duration = Duration::from_secs(5);

/// The longest wait that a request may ask for, whatever it waits for.
pub const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Lines in a row that are not JSON; then the connection is closed.
pub const PARSE_ERRORS_IN_A_ROW: usize = 16;

/// Bytes of replies and events that a client may leave unread; then it is closed.
pub const UNREAD_BYTES: usize = 4 * 1024 * 1024;

/// How long replies and events may stay unread; then the connection is closed.
pub const UNREAD_FOR: Duration = Duration::from_secs(30);

/// UI time for all agents in one turn; one request is always served.
pub const UI_TIME_PER_TURN: Duration = Duration::from_millis(4);

/// Actions performed for one agent in a second, in the long run. Refusals don't count.
pub const ACTIONS_PER_SECOND: u32 = 50;

/// Actions that one agent may perform at once after a pause.
pub const ACTIONS_BURST: u32 = 100;

/// What `data.limit` calls the bound that was hit, where hitting it is an error.
pub mod names {
    /// [`LINE_BYTES`](super::LINE_BYTES) or its smaller form before the gate.
    pub const LINE: &str = "line";
    /// [`CONNECTIONS`](super::CONNECTIONS) or [`CONNECTIONS_PER_PEER`](super::CONNECTIONS_PER_PEER).
    pub const CONNECTIONS: &str = "connections";
    /// [`REQUESTS_IN_FLIGHT`](super::REQUESTS_IN_FLIGHT) or its smaller form before the gate.
    pub const REQUESTS: &str = "requests";
    /// [`SUBSCRIPTIONS`](super::SUBSCRIPTIONS).
    pub const SUBSCRIPTIONS: &str = "subscriptions";
    /// [`ACTIONS_PER_SECOND`](super::ACTIONS_PER_SECOND); comes with `retry_after_ms`.
    pub const ACTIONS: &str = "actions";
    /// [`PARSE_ERRORS_IN_A_ROW`](super::PARSE_ERRORS_IN_A_ROW).
    pub const PARSE_ERRORS: &str = "parse_errors";
}
