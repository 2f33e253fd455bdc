//! What the policy is told of a request when it is over.

use std::sync::Arc;

use agent_core::{AuthGate, Request};

/// A client took its request back, or went: nothing that the wire has a word for.
pub(crate) const CANCELLED: &str = "cancelled";

/// A request that the gate has judged, and who wants to hear what came of it. Each is told of
/// once: by the UI thread if it entered there, else by whoever ended it.
#[derive(Clone, Debug)]
pub(crate) struct Tell {
    gate: AuthGate,
    pub(crate) request: Arc<Request>,
}

impl Tell {
    pub(crate) fn new(gate: &AuthGate, request: Request) -> Self {
        Self {
            gate: gate.clone(),
            request: Arc::new(request),
        }
    }

    /// Tells the policy. Not while a lock is held: it may revoke somebody.
    pub(crate) fn done(&self, outcome: &'static str) {
        self.gate.done(&self.request, outcome);
    }
}
