//! What the app's user has decided about agents, for a developer to read. Nothing here decides, or
//! takes anything back: that is done where the user does it.

use agent_core::Scope;

/// What stands, in an app that leaves it to rules which can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// What becomes of agents about whom nothing is remembered, in a word.
    pub mode: &'static str,
    /// What is remembered, by name.
    pub rules: Vec<ConsentRule>,
}

/// What was decided about one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentRule {
    /// Which rule: unique in its app.
    pub rule: String,
    /// What the program is called.
    pub name: String,
    /// What tells this agent from others.
    pub agent: String,
    /// The file of the program, if that is known.
    pub program: Option<String>,
    /// On what evidence it was taken for who it is, a line each.
    pub evidence: Vec<String>,
    /// To what.
    pub scope: Scope,
    /// Whether it was a yes.
    pub allow: bool,
    /// Whether it is on the disk; else it ends when the app quits.
    pub stored: bool,
    /// Since when, in seconds since 1970.
    pub since: u64,
    /// Until when it holds, in the same. `None`: until it is taken back.
    pub until: Option<u64>,
    /// When it was last made use of, in the same.
    pub last_used: Option<u64>,
    /// How many requests it has let in.
    pub uses: u64,
}

/// Reads it. Any thread; must not wait.
pub type ReadConsent = dyn Fn() -> Consent + Send + Sync;
