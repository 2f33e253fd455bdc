//! Whether a developer's inspector is let ask.

#[cfg(feature = "inspector")]
use std::sync::Arc;

/// Whether a developer's inspector is let ask, behind the gate and in its own scope. By default
/// it isn't: then all of its methods are unknown.
#[derive(Clone, Default)]
pub struct Inspector {
    #[cfg(feature = "inspector")]
    pub(crate) app: Option<Arc<dyn agent_inspect::Inspectable>>,
    #[cfg(feature = "inspector")]
    pub(crate) log: Arc<crate::inspect::Log>,
    #[cfg(feature = "inspector")]
    pub(crate) consent: Option<Arc<agent_inspect::ReadConsent>>,
}

#[cfg(feature = "inspector")]
impl Inspector {
    /// It is, of this app.
    pub fn armed(app: Arc<dyn agent_inspect::Inspectable>) -> Self {
        Self {
            app: Some(app),
            consent: None,
            log: Arc::default(),
        }
    }

    /// And may read what the app's user has decided about agents. Without this it is told that
    /// the app decides by itself.
    #[must_use]
    pub fn with_consent(mut self, read: Arc<agent_inspect::ReadConsent>) -> Self {
        self.consent = Some(read);
        self
    }

    /// The same gate, of which the inspector's log tells what was asked and answered: for whoever
    /// asks it beside the server, whose own gate is listened to anyway. Where nothing is armed it
    /// is the gate itself.
    pub fn listening(&self, gate: agent_core::AuthGate) -> agent_core::AuthGate {
        match self.is_armed() {
            true => self.log.clone().listening(gate),
            false => gate,
        }
    }
}

impl Inspector {
    /// Whether it is.
    pub fn is_armed(&self) -> bool {
        #[cfg(feature = "inspector")]
        let armed = self.app.is_some();
        #[cfg(not(feature = "inspector"))]
        let armed = false;
        armed
    }
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_armed() {
            "Inspector::armed(..)"
        } else {
            "Inspector::default()"
        })
    }
}
