//! What an inspector is told of the rules of `agent_consent`: neither crate knows the other.

use std::sync::Arc;

use agent_consent::{Consent, Mode, Remembered};
use agent_core::AuthGate;
use agent_inspect::ConsentRule;

/// Reads the rules behind a gate. `None`: the app decides by something else.
pub(crate) fn read(gate: &AuthGate) -> Option<Arc<agent_inspect::ReadConsent>> {
    let consent = Consent::behind(gate)?;
    Some(Arc::new(move || agent_inspect::Consent {
        mode: match consent.mode() {
            Mode::Ask => "ask",
            Mode::AllowAll => "allow_all",
            Mode::DenyAll => "deny_all",
            Mode::Lockdown => "lockdown",
        },
        rules: consent.rules().into_iter().map(rule).collect(),
    }))
}

fn rule(remembered: Remembered) -> ConsentRule {
    let Remembered { id, rule, stored } = remembered;
    ConsentRule {
        rule: id.as_str().to_owned(),
        name: rule.name,
        agent: rule.agent,
        program: rule.program,
        evidence: rule.evidence,
        scope: rule.scope,
        allow: rule.allow,
        stored,
        since: rule.since,
        until: rule.until,
        last_used: rule.last_used,
        uses: rule.uses,
    }
}
