//! What a client can wait for.

use crate::{
    authorise::{No, Refusal, Target, View, Why, find},
    node::{LiveTree, States},
    standing::Standings,
    surface::{Surface, allowed_now, own_text, states},
    verb::VerbSet,
};

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Of which node; only [`Until::RevisionAfter`] needs none.
    pub target: Option<Target>,
    /// What is to be so.
    pub until: Until,
    /// Look once, and don't wait.
    pub once: bool,
}

/// What is to be so of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// It is there, and shown.
    Exists,
    /// It is not there, or not shown. An unknown id is gone.
    Gone,
    /// An acting verb other than `scroll_to` and `focus` would be allowed.
    Actionable,
    /// Its text is this.
    TextIs(String),
    /// Its text has this in it.
    TextContains(String),
    /// It has this state.
    State(States),
    /// The surface's revision is a later one.
    RevisionAfter(u64),
}

impl<K: Copy + Eq + std::hash::Hash + Ord + std::fmt::Debug> Surface<K> {
    /// Whether it is so now. [`settle`](Surface::settle) first. Costs the node's depth.
    ///
    /// # Errors
    /// If it can never be told: the text of a secret.
    pub fn holds<L: LiveTree<Key = K>>(
        &self,
        live: &L,
        condition: &Condition,
        view: View,
    ) -> Result<bool, No> {
        let target = match (&condition.until, &condition.target) {
            (Until::RevisionAfter(revision), _) => return Ok(self.revision() > *revision),
            (_, Some(target)) => target,
            (_, None) => return Ok(false),
        };
        let mut standings = Standings::new(live);
        let found = match find(&mut standings, target, view) {
            Ok(found) => Some(found),
            Err(No::Refused(Refusal::NotFound | Refusal::NotExposed)) => None,
            Err(no) => return Err(no),
        };
        let shown = found.filter(|(_, standing)| !standing.inherited.contains(States::HIDDEN));
        let Some((node, standing)) = shown else {
            return Ok(condition.until == Until::Gone);
        };
        let states = states(live, node, &standing);
        let text = || {
            if states.contains(States::SECRET) {
                return Err(No::from(Refusal::why(Why::Secret)));
            }
            Ok(own_text(live, node, &standing).unwrap_or_default())
        };
        Ok(match &condition.until {
            Until::Exists => true,
            Until::Gone => false,
            Until::Actionable => allowed_now(live.facts(node).offers, standing.ceiling, states)
                .intersects(VerbSet::CONSEQUENTIAL),
            Until::TextIs(wanted) => text()? == *wanted,
            Until::TextContains(part) => text()?.contains(part.as_str()),
            Until::State(state) => states.contains(*state),
            Until::RevisionAfter(_) => false,
        })
    }
}
