//! The live tree that the rules look at: the tags of a pass, and what AccessKit says of each.

use std::{collections::HashMap, sync::Arc};

use agent_core::{Facts, Frame, Label, LiveTree, Tag, exposed_id};

use crate::looked::Looked;

/// A node's handle: a number given to a tag when it is first drawn, and never to another.
pub(crate) type Key = u64;

/// One node of a scene.
#[derive(Clone, Debug)]
pub(crate) struct SceneNode {
    pub(crate) key: Key,
    pub(crate) parent: Option<Key>,
    pub(crate) tag: Option<Tag>,
    pub(crate) looked: Looked,
    pub(crate) label: Option<String>,
    /// Its text, unless it is secret: then it was not even copied.
    pub(crate) text: Option<String>,
    pub(crate) stamp: u64,
    pub(crate) frame: Option<Frame>,
    pub(crate) blocked_by: Option<Key>,
    /// How many rows a list stands for of which only some are drawn.
    pub(crate) size: Option<u64>,
    /// Its widget.
    #[cfg(feature = "inspector")]
    pub(crate) widget: Option<egui::accesskit::NodeId>,
    /// What AccessKit says of it, where an inspector asks for every property.
    #[cfg(feature = "inspector")]
    pub(crate) properties: Vec<agent_inspect::Property>,
}

/// Some windows and what is in them: after a pass everything that is tagged (or, for a full
/// description, everything), and beside a widget that is about to act, the way to it.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    nodes: Vec<SceneNode>,
    at: HashMap<Key, usize>,
    windows: Vec<Key>,
    children: HashMap<Key, Vec<Key>>,
    positions: HashMap<Key, usize>,
    ids: HashMap<Arc<str>, Vec<Key>>,
    /// A list, and the key of a row that it has though it isn't drawn.
    row: Option<(Key, String)>,
    /// What is drawn over the rest, and which of these a node is in.
    #[cfg(feature = "inspector")]
    layers: Vec<agent_inspect::Layer>,
    #[cfg(feature = "inspector")]
    layer_of: HashMap<Key, usize>,
}

impl Scene {
    /// Of nodes in pre-order, each after its parent. A node without a parent is a window.
    pub(crate) fn new(nodes: Vec<SceneNode>) -> Self {
        let mut scene = Self::default();
        // The id of the innermost exposed node around each.
        let mut within: HashMap<Key, Option<Arc<str>>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            let siblings = match node.parent {
                Some(parent) => scene.children.entry(parent).or_default(),
                None => &mut scene.windows,
            };
            scene.positions.insert(node.key, siblings.len());
            siblings.push(node.key);
            scene.at.insert(node.key, at);
            let around = node
                .parent
                .and_then(|parent| within.get(&parent).cloned())
                .flatten();
            let own = node
                .tag
                .as_ref()
                .and_then(|tag| exposed_id(tag, around.as_deref()).ok().flatten());
            if let Some(id) = &own {
                scene.ids.entry(id.clone()).or_default().push(node.key);
            } else if let Some(id) = node.tag.as_ref().and_then(Tag::get_id) {
                // Not exposed, and still told apart from none where the whole tree is armed.
                scene.ids.entry(id.into()).or_default().push(node.key);
            }
            within.insert(node.key, own.or(around));
        }
        scene.nodes = nodes;
        scene
    }

    /// Counts a claimant of `id` that can't be pointed at: the first one is listed twice.
    pub(crate) fn second_claimant(&mut self, id: &str) {
        if let Some(claimants) = self.ids.get_mut(id)
            && let [only] = claimants[..]
        {
            claimants.push(only);
        }
    }

    /// Says of a list that it has a row of this key.
    pub(crate) fn know_row(&mut self, list: Key, key: &str) {
        self.row = Some((list, key.to_owned()));
    }

    /// The same, of which it is known what lies over what.
    #[cfg(feature = "inspector")]
    pub(crate) fn with_layers(
        self,
        layers: Vec<agent_inspect::Layer>,
        layer_of: HashMap<Key, usize>,
    ) -> Self {
        Self {
            layers,
            layer_of,
            ..self
        }
    }

    #[cfg(feature = "inspector")]
    pub(crate) fn layers(&self) -> &[agent_inspect::Layer] {
        &self.layers
    }

    #[cfg(feature = "inspector")]
    pub(crate) fn layer_of(&self, node: Key) -> Option<usize> {
        self.layer_of.get(&node).copied()
    }

    /// Every node.
    #[cfg(feature = "inspector")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &SceneNode> {
        self.nodes.iter()
    }

    pub(crate) fn get(&self, key: Key) -> Option<&SceneNode> {
        self.nodes.get(*self.at.get(&key)?)
    }
}

impl LiveTree for Scene {
    type Key = Key;

    fn windows(&self) -> Vec<Key> {
        self.windows.clone()
    }

    fn is_window(&self, node: Key) -> bool {
        self.get(node).is_some_and(|node| node.parent.is_none())
    }

    fn parent(&self, node: Key) -> Option<Key> {
        self.get(node)?.parent
    }

    fn position(&self, node: Key) -> usize {
        self.positions.get(&node).copied().unwrap_or_default()
    }

    fn children(&self, node: Key) -> Vec<Key> {
        self.children.get(&node).cloned().unwrap_or_default()
    }

    fn tag(&self, node: Key) -> Option<&Tag> {
        self.get(node)?.tag.as_ref()
    }

    fn facts(&self, node: Key) -> Facts {
        match self.get(node) {
            Some(node) => Facts {
                size: node.size,
                ..node.looked.facts()
            },
            None => Looked::unknown(agent_core::Role::Unknown).facts(),
        }
    }

    fn class(&self, node: Key) -> String {
        match self.get(node) {
            Some(node) if node.parent.is_none() => "Viewport".to_owned(),
            Some(node) => format!("{:?}", node.looked.class),
            None => String::new(),
        }
    }

    fn label(&self, node: Key) -> Label<Key> {
        match self.get(node).and_then(|node| node.label.clone()) {
            Some(label) => Label::Text(label),
            None => Label::None,
        }
    }

    fn text(&self, node: Key) -> Option<String> {
        self.get(node)?.text.clone()
    }

    fn has_text(&self, node: Key) -> bool {
        self.get(node).is_some_and(|node| node.looked.has_text)
    }

    fn text_stamp(&self, node: Key) -> u64 {
        self.get(node).map_or(0, |node| node.stamp)
    }

    fn frame(&self, node: Key) -> Option<Frame> {
        self.get(node)?.frame
    }

    fn claimants(&self, id: &str) -> Vec<Key> {
        self.ids.get(id).cloned().unwrap_or_default()
    }

    fn tagged(&self) -> Vec<Key> {
        let tagged = self.nodes.iter().filter(|node| node.tag.is_some());
        tagged.map(|node| node.key).collect()
    }

    fn bounds(&self, node: Key) -> Option<(f64, f64)> {
        self.get(node)?.looked.bounds
    }

    fn has_row(&self, list: Key, key: &str) -> bool {
        let row = self.row.as_ref();
        row.is_some_and(|(of, known)| *of == list && known == key)
    }

    fn blocked_by(&self, node: Key) -> Option<Key> {
        self.get(node)?.blocked_by
    }
}
