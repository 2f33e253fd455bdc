//! The bounds of a session: those of a connection, where it has the same.

use std::time::Duration;

/// How long a request waits for the UI thread, unless the session says otherwise.
pub const UI_DEADLINE: Duration = Duration::from_secs(2);

/// How long to wait for a condition, for who has no better idea.
pub const CONDITION_WAIT: Duration = Duration::from_secs(5);

/// The longest wait for anything: a longer one is cut to it.
pub const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Requests of one session that have no answer yet.
pub const REQUESTS_IN_FLIGHT: usize = 32;

/// Subscriptions of one session.
pub const SUBSCRIPTIONS: usize = 32;

/// Events that one subscription holds; a full queue drops the oldest.
pub const SUBSCRIPTION_QUEUE: usize = 256;

/// Events that are kept for replay.
pub const EVENT_LOG: usize = 4_096;

/// Bytes of a text that is written.
pub const TEXT_BYTES_IN: usize = 4 * 1024 * 1024;
