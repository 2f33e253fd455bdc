//! Which nodes an id may mean: kept up to date at every change, so that asking costs nothing.

use std::sync::Arc;

use agent_core::{Marks, Tag, exposed_id, keyed_id};

use crate::{tree::Tree, widget::Node};

/// What one tag claims below the id of what is exposed around it: the id that it is exposed
/// under (exclusion apart), and the one to be found by. They differ where the developer keeps it
/// unexposed: an app that armed the full description tells such an id from none.
fn claims(tag: &Tag, within: Option<&str>) -> (Option<Arc<str>>, Option<Arc<str>>) {
    let claimed = exposed_id(tag, within).ok().flatten();
    if claimed.is_some() || tag.fault().is_some() {
        return (claimed.clone(), claimed);
    }
    let listed = match (tag.get_id(), tag.get_key(), within) {
        (Some(id), _, _) => Some(id.into()),
        (None, Some(key), Some(within)) => keyed_id(within, key).ok().map(Arc::from),
        _ => None,
    };
    (None, listed)
}

impl Tree {
    /// Works out anew what a node claims, and, where that changes what is exposed around them,
    /// what the nodes inside it do. `moved`: there may be other things around it than before.
    pub(crate) fn claim_below(&mut self, node: Node, mut moved: bool) {
        let around = self
            .path(node)
            .skip(1)
            .find_map(|around| self.get(around)?.claimed.clone());
        let mut open = vec![(node, around)];
        while let Some((node, around)) = open.pop() {
            let Some(data) = self.get(node) else {
                continue;
            };
            let (claimed, listed) = match &data.props.tag {
                Some(tag) => claims(tag, around.as_deref()),
                None => (None, None),
            };
            let stays = claimed == data.claimed && (claimed.is_some() || !moved);
            moved = true;
            if listed != data.listed {
                self.unlist(node);
                if let Some(id) = &listed {
                    self.index.entry(id.clone()).or_default().push(node);
                }
            }
            let Some(data) = self.get_mut(node) else {
                continue;
            };
            data.listed = listed;
            data.claimed = claimed.clone();
            if !stays {
                let within = claimed.or(around);
                open.extend(data.children.iter().map(|child| (*child, within.clone())));
            }
        }
    }

    /// Whether agents are shown it, hidden or not.
    pub(crate) fn is_exposed(&self, node: Node) -> bool {
        let excluded = |node: Node| {
            let tag = self.props(node).and_then(|props| props.tag.as_ref());
            tag.is_some_and(|tag| tag.get_marks().contains(Marks::EXCLUDED))
        };
        self.get(node).is_some_and(|data| data.claimed.is_some()) && !self.path(node).any(excluded)
    }

    pub(crate) fn unclaim(&mut self, node: Node) {
        self.unlist(node);
        if let Some(data) = self.get_mut(node) {
            data.claimed = None;
            data.listed = None;
        }
    }

    fn unlist(&mut self, node: Node) {
        let listed = self.get(node).and_then(|data| data.listed.clone());
        if let Some(id) = listed
            && let Some(nodes) = self.index.get_mut(&id)
        {
            nodes.retain(|other| *other != node);
            if nodes.is_empty() {
                self.index.remove(&id);
            }
        }
    }

    pub(crate) fn list_tagged(&mut self, node: Node) {
        let slot = self.tagged.len();
        if let Some(data) = self.get_mut(node)
            && data.tag_slot.is_none()
        {
            data.tag_slot = Some(slot);
            self.tagged.push(node);
        }
    }

    pub(crate) fn unlist_tagged(&mut self, node: Node) {
        let Some(slot) = self.get_mut(node).and_then(|data| data.tag_slot.take()) else {
            return;
        };
        self.tagged.swap_remove(slot);
        let moved = self.tagged.get(slot).copied();
        if let Some(data) = moved.and_then(|moved| self.get_mut(moved)) {
            data.tag_slot = Some(slot);
        }
    }
}
