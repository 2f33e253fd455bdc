//! The whole tree as the last look found it, and what changed since each look before.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use agent_inspect::Look;
use agent_wire::inspector::Node;

use super::to_wire;

/// How many nodes that are gone are remembered; who asks for more is told the whole.
const MAX_GONE: usize = 100_000;

/// What is known.
#[derive(Default)]
pub(crate) struct Known {
    revision: u64,
    complete: bool,
    nodes: Vec<Arc<Node>>,
    /// The revision in which each node, by its place in the list, last changed.
    changed: Vec<u64>,
    /// What is gone, and since when.
    gone: VecDeque<(u64, u64)>,
    /// What went before this revision is forgotten.
    forgotten: u64,
    visible: HashSet<u64>,
}

/// What a look found, in the words of the wire.
pub(super) struct Found {
    complete: bool,
    nodes: Vec<Arc<Node>>,
    visible: Vec<u64>,
}

impl Found {
    pub(super) fn by(look: Look) -> Self {
        Self {
            complete: look.complete,
            visible: look.visible().collect(),
            nodes: look
                .nodes
                .into_iter()
                .map(|node| Arc::new(to_wire::node(node)))
                .collect(),
        }
    }
}

/// Which part of the tree is asked for.
pub(super) struct Wanted {
    /// Only what changed since this revision.
    pub(super) since: Option<u64>,
    /// Only handles from this one on.
    pub(super) from: Option<u64>,
    /// So many nodes at most.
    pub(super) limit: usize,
}

/// A part of the tree.
pub(super) struct Page {
    pub(super) revision: u64,
    pub(super) complete: bool,
    /// `None`: it is of the whole, not of what changed.
    pub(super) since: Option<u64>,
    pub(super) nodes: Vec<Arc<Node>>,
    pub(super) removed: Vec<u64>,
    pub(super) next: Option<u64>,
}

impl Known {
    /// Takes in what a look found; the revision moves if that is not what the last one found.
    pub(super) fn take(&mut self, found: Found) {
        let there = found.nodes.iter().map(|node| node.node).collect();
        self.see(&there, found.visible);
        let next = self.revision + 1;
        let mut before: HashMap<u64, (Arc<Node>, u64)> = std::mem::take(&mut self.nodes)
            .into_iter()
            .zip(std::mem::take(&mut self.changed))
            .map(|(node, changed)| (node.node, (node, changed)))
            .collect();
        let mut moved = self.complete != found.complete;
        for node in found.nodes {
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
        self.complete = found.complete;
        if moved || self.revision == 0 {
            self.revision = next;
        }
    }

    /// Notes what is visible.
    pub(super) fn see(&mut self, there: &HashSet<u64>, visible: impl IntoIterator<Item = u64>) {
        // Handles are never given again: what is gone need not be remembered.
        self.visible.retain(|handle| there.contains(handle));
        self.visible.extend(visible);
    }

    /// What was visible in any look so far.
    pub(super) fn visible(&self) -> &HashSet<u64> {
        &self.visible
    }

    /// Whether a page can be had without another look.
    pub(super) fn can_go_on(&self, wanted: &Wanted) -> bool {
        wanted.from.is_some() && self.revision > 0
    }

    /// What is asked for: what changed since a revision, or the whole where that is not known.
    ///
    /// A page is a range of handles, so that the next one goes on where it ended whatever has
    /// moved meanwhile: what changed on an earlier page has a later revision than that had.
    pub(super) fn page(&self, wanted: &Wanted) -> Page {
        let is_known = |since: &u64| *since > 0 && (self.forgotten..=self.revision).contains(since);
        let since = wanted.since.filter(is_known);
        let from = wanted.from.unwrap_or(0);
        let nodes = || {
            let all = self.nodes.iter().zip(&self.changed);
            all.filter(|(node, changed)| node.node >= from && **changed > since.unwrap_or(0))
                .map(|(node, _)| node)
        };
        let mut handles: Vec<u64> = nodes().map(|node| node.node).collect();
        let next =
            (handles.len() > wanted.limit).then(|| *handles.select_nth_unstable(wanted.limit).1);
        Page {
            revision: self.revision,
            complete: self.complete && next.is_none(),
            since,
            nodes: nodes()
                .filter(|node| next.is_none_or(|next| node.node < next))
                .cloned()
                .collect(),
            removed: match (since, from) {
                (Some(since), 0) => self.gone_since(since),
                _ => Vec::new(),
            },
            next,
        }
    }

    fn gone_since(&self, since: u64) -> Vec<u64> {
        let later = self.gone.iter().filter(|(gone, _)| *gone > since);
        let mut gone: HashSet<u64> = later.map(|(_, handle)| *handle).collect();
        if !gone.is_empty() {
            // Some may have come back.
            for node in &self.nodes {
                gone.remove(&node.node);
            }
        }
        gone.into_iter().collect()
    }
}
