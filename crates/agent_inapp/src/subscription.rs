//! What a session listens to.

use std::sync::Weak;

use crate::host::Host;

/// Events that a session hears from here on, to be fetched by
/// [`Session::poll_events`](crate::Session::poll_events). Dropping it ends it. It ends also with
/// its session, when the user stops that, and with its window, if it listens at one.
#[must_use = "dropping it stops listening"]
pub struct Subscription {
    pub(crate) id: u64,
    pub(crate) connection: u64,
    pub(crate) host: Weak<Host>,
    /// The revision that it begins with.
    pub revision: u64,
    /// Some of what it should have replayed is no longer kept.
    pub gap: bool,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(host) = self.host.upgrade() {
            host.unsubscribe(self.connection, Some(self.id));
        }
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.id)
            .field("revision", &self.revision)
            .field("gap", &self.gap)
            .finish_non_exhaustive()
    }
}
