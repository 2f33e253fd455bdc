//! The developer's inspector: its methods and results, apart from the verbs. No agent is told of
//! them: they are no tools, and are answered only where the app armed the inspector.

mod results;
mod table;

#[cfg(test)]
mod tests;

pub use results::{
    AgentView, Consent, ConsentRule, DecidedBy, Exposed, Exposure, Finding, Heard, Highlighted,
    IdSource, Lints, Log, LogEntry, Marked, Narrowed, Node, NodeProperties, Picked, Property,
    Screenshot, Tree, TreeChanges, Verdict,
};
pub use table::METHODS;

use crate::verbs::Verb;

/// What all of its methods begin with.
pub const NAMESPACE: &str = "inspector.";

/// The method of this name.
pub fn method(name: &str) -> Option<&'static Verb> {
    METHODS.iter().find(|method| method.name == name)
}
