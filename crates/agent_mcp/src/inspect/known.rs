//! The whole tree as the last look found it, and what changed since each look before.

use std::collections::{HashMap, HashSet, VecDeque};

use agent_inspect::Look;
use agent_wire::{
    RequestId,
    inspector::{Node, Tree, TreeChanges},
    result_line,
};

use super::to_wire;

/// How many nodes that are gone are remembered; who asks for more is told the whole.
const MAX_GONE: usize = 100_000;

/// What is known.
#[derive(Default)]
pub(crate) struct Known {
    revision: u64,
    complete: bool,
    nodes: Vec<Node>,
    /// The revision in which each node, by its place in the list, last changed.
    changed: Vec<u64>,
    /// What is gone, and since when.
    gone: VecDeque<(u64, u64)>,
    /// What went before this revision is forgotten.
    forgotten: u64,
    visible: HashSet<u64>,
}

impl Known {
    /// Takes in what a look found; the revision moves if that is not what the last one found.
    pub(super) fn take(&mut self, look: Look) {
        self.see(&look);
        let next = self.revision + 1;
        let mut before: HashMap<u64, (Node, u64)> = std::mem::take(&mut self.nodes)
            .into_iter()
            .zip(std::mem::take(&mut self.changed))
            .map(|(node, changed)| (node.node, (node, changed)))
            .collect();
        let mut moved = self.complete != look.complete;
        for node in look.nodes {
            let node = to_wire::node(node);
            let changed = match before.remove(&node.node) {
                Some((old, changed)) if old == node => changed,
                _ => {
                    moved = true;
                    next
                }
            };
            self.nodes.push(node);
            self.changed.push(changed);
        }
        for handle in before.into_keys() {
            moved = true;
            self.gone.push_back((next, handle));
        }
        while self.gone.len() > MAX_GONE {
            self.forgotten = self.gone.pop_front().map_or(next, |(since, _)| since);
        }
        self.complete = look.complete;
        if moved || self.revision == 0 {
            self.revision = next;
        }
    }

    /// Notes what is visible.
    pub(super) fn see(&mut self, look: &Look) {
        let there: HashSet<u64> = look.nodes.iter().map(|node| node.handle).collect();
        // Handles are never given again: what is gone need not be remembered.
        self.visible.retain(|handle| there.contains(handle));
        self.visible.extend(look.visible());
    }

    /// What was visible in any look so far.
    pub(super) fn visible(&self) -> &HashSet<u64> {
        &self.visible
    }

    /// The reply: what changed since a revision, or the whole where that is not known.
    pub(super) fn line(&self, id: &RequestId, since: Option<u64>) -> Vec<u8> {
        match since {
            Some(since) if (self.forgotten..=self.revision).contains(&since) && since > 0 => {
                result_line(id, &self.changes(since))
            }
            _ => result_line(
                id,
                &Tree {
                    revision: self.revision,
                    complete: self.complete,
                    nodes: self.nodes.clone(),
                },
            ),
        }
    }

    fn changes(&self, since: u64) -> TreeChanges {
        let nodes = self.nodes.iter().zip(&self.changed);
        let there: HashSet<u64> = match self.gone.is_empty() {
            true => HashSet::new(),
            false => self.nodes.iter().map(|node| node.node).collect(),
        };
        TreeChanges {
            revision: self.revision,
            complete: self.complete,
            since,
            changed: nodes
                .filter(|(_, changed)| **changed > since)
                .map(|(node, _)| node.clone())
                .collect(),
            removed: self
                .gone
                .iter()
                .filter(|(gone, handle)| *gone > since && !there.contains(handle))
                .map(|(_, handle)| *handle)
                .collect(),
        }
    }
}
