//! The bounds of one server, and the rate at which an agent may act.

use std::time::Duration;

use agent_wire::limits as wire;

/// What a server will bear, with the wire's table as the default. Bounds of what a reply holds
/// are not among them: those are the wire's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a line in.
    pub line_bytes: usize,
    /// The same, before the gate has admitted anything of the connection.
    pub line_bytes_before_gate: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Connections at a time from one process.
    pub connections_per_peer: usize,
    /// Requests in flight on one connection.
    pub requests_in_flight: usize,
    /// Lines in a row that are not JSON; then the connection is closed.
    pub parse_errors_in_a_row: usize,
    /// How long a connection that was never admitted may send nothing; then it is closed.
    pub idle_before_gate: Duration,
    /// Bytes of all half-read lines and queued requests together; then reading stops.
    pub queued_bytes: usize,
    /// How long a half-read line may hold its memory while others wait for room; then its
    /// connection is closed.
    pub half_line_for: Duration,
    /// Bytes of replies that a client may leave unread; then it is closed.
    pub unread_bytes: usize,
    /// How long a reply may stay unread; then the client is closed.
    pub unread_for: Duration,
    /// How fast one agent may act; `None` lifts it.
    pub actions: Option<ActionRate>,
}

/// How fast one agent may act on the app. What was refused doesn't count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionRate {
    /// Actions in a second, in the long run.
    pub per_second: u32,
    /// Actions at once, after a pause.
    pub burst: u32,
}

/// The bounds of replies are the core's to keep and the wire's to promise.
const _: () = {
    assert!(agent_core::MAX_NODES == wire::NODES);
    assert!(agent_core::MAX_BYTES == wire::DESCRIBE_BYTES);
    assert!(agent_core::MAX_NAME == wire::NAME_GRAPHEMES);
    assert!(agent_core::MAX_VALUE == wire::VALUE_GRAPHEMES);
    assert!(agent_core::MAX_TEXT_BYTES == wire::TEXT_BYTES);
    assert!(agent_core::MAX_ID_BYTES == wire::ID_BYTES);
    assert!(agent_core::TURN_BUDGET.as_millis() == wire::UI_TIME_PER_TURN.as_millis());
};

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: wire::LINE_BYTES,
            line_bytes_before_gate: wire::LINE_BYTES_BEFORE_GATE,
            connections: wire::CONNECTIONS,
            connections_per_peer: wire::CONNECTIONS_PER_PEER,
            requests_in_flight: wire::REQUESTS_IN_FLIGHT,
            parse_errors_in_a_row: wire::PARSE_ERRORS_IN_A_ROW,
            idle_before_gate: wire::IDLE_BEFORE_GATE,
            queued_bytes: wire::QUEUED_BYTES,
            half_line_for: Duration::from_secs(30),
            unread_bytes: wire::UNREAD_BYTES,
            unread_for: wire::UNREAD_FOR,
            actions: Some(ActionRate::default()),
        }
    }
}

impl Default for ActionRate {
    fn default() -> Self {
        Self {
            per_second: wire::ACTIONS_PER_SECOND,
            burst: wire::ACTIONS_BURST,
        }
    }
}
