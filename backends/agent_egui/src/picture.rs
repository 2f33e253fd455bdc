//! From a pass's AccessKit update to the nodes that the rules look at.

use agent_core::{Marks, States};
use egui::accesskit as ak;

use crate::{
    ids::{IdMap, IdSet},
    looked::{Looked, text},
    pass::Pass,
    scene::{Key, SceneNode},
    state::{UiState, Viewport},
};

type Nodes<'a> = IdMap<ak::NodeId, &'a ak::Node>;

/// What a pass drew, as AccessKit describes it: the tagged nodes, or the whole, where the pass
/// noted what lies in which tag. Costs a look at each node of the update, and more only for
/// those that are wanted.
pub(crate) fn picture(
    state: &mut UiState,
    viewport: &Viewport,
    pass: &Pass,
    update: &ak::TreeUpdate,
    whole: bool,
) -> Vec<SceneNode> {
    let tagged: IdMap<ak::NodeId, usize> = pass
        .records
        .iter()
        .enumerate()
        .filter_map(|(at, record)| Some((record.widget?.accesskit_id(), at)))
        .collect();
    let mut nodes: Nodes<'_> = IdMap::default();
    let mut labels: Vec<ak::NodeId> = Vec::new();
    for (id, node) in &update.nodes {
        if whole || tagged.contains_key(id) {
            labels.extend(node.labelled_by());
            nodes.insert(*id, node);
        }
    }
    if !whole && !labels.is_empty() {
        let wanted: IdSet<ak::NodeId> = labels.into_iter().collect();
        let more = update.nodes.iter().filter(|(id, _)| wanted.contains(id));
        nodes.extend(more.map(|(id, node)| (*id, node)));
    }
    // No widget inside what is kept back names anything outside.
    let kept_back: IdMap<ak::NodeId, Marks> = pass
        .kept_back
        .iter()
        .map(|(id, marks)| (id.accesskit_id(), *marks))
        .collect();
    let modal = state.modal(viewport, &pass.records);
    let mut picture = Vec::with_capacity(pass.records.len());
    for record in &pass.records {
        let mut scene_node = state.bare(viewport, record, &pass.records);
        if let Some(id) = record.widget.map(|id| id.accesskit_id())
            && let Some(node) = nodes.get(&id)
        {
            let looked = Looked::at(node);
            if let Some(track) = state.tracks.get_mut(&(viewport.id, record.spot))
                && track.key == record.key
            {
                track.looked = Some(looked);
            }
            scene_node = record.node(
                scene_node.parent.unwrap_or(viewport.root_key),
                looked,
                viewport,
            );
            fill(&mut scene_node, node, &nodes, &kept_back, record.marks);
            #[cfg(feature = "inspector")]
            tell_all(state, &mut scene_node, node, record.marks);
            if update.focus == id && viewport.focused {
                scene_node.looked.states |= States::FOCUSED;
            }
        }
        if !record.reachable {
            scene_node.blocked_by = modal.filter(|modal| *modal != record.key);
        }
        picture.push(scene_node);
    }
    if let Some(inner) = pass.inner.as_ref().filter(|_| whole) {
        everything(
            state,
            viewport,
            pass,
            update,
            inner,
            &tagged,
            &nodes,
            &kept_back,
            &mut picture,
        );
    }
    picture
}

/// Texts, unless they are secret: then they are not even copied (rule 8).
fn fill(
    scene_node: &mut SceneNode,
    node: &ak::Node,
    nodes: &Nodes<'_>,
    kept_back: &IdMap<ak::NodeId, Marks>,
    marks: Marks,
) {
    let secret = marks.contains(Marks::SECRET) || scene_node.looked.states.contains(States::SECRET);
    let named = || {
        node.label().map(str::to_owned).or_else(|| {
            let words: Vec<String> = node
                .labelled_by()
                .iter()
                .filter(|id| !kept_back.contains_key(id))
                .filter_map(|id| nodes.get(id).and_then(|label| text(label)))
                .collect();
            (!words.is_empty()).then(|| words.join(" "))
        })
    };
    // A field's label is about it; a button's is its text.
    if !secret || scene_node.looked.role.has_value() {
        scene_node.label = named();
    }
    if !secret {
        scene_node.text = text(node);
    }
}

/// Every property, if an inspector asks for that.
#[cfg(feature = "inspector")]
fn tell_all(state: &UiState, scene_node: &mut SceneNode, node: &ak::Node, marks: Marks) {
    if state.inspection.asks_for(scene_node.key) {
        let secret =
            marks.contains(Marks::SECRET) || scene_node.looked.states.contains(States::SECRET);
        scene_node.properties = crate::properties::read(node, secret);
    }
}

/// Everything that is not tagged, for a full description: each widget in the innermost tag
/// that it was drawn in, and below its AccessKit parent as far as that lies in the same tag.
#[expect(
    clippy::too_many_arguments,
    reason = "one step of `picture`, split off to be read"
)]
fn everything(
    state: &mut UiState,
    viewport: &Viewport,
    pass: &Pass,
    update: &ak::TreeUpdate,
    inner: &IdMap<egui::Id, usize>,
    tagged: &IdMap<ak::NodeId, usize>,
    nodes: &Nodes<'_>,
    kept_back: &IdMap<ak::NodeId, Marks>,
    picture: &mut Vec<SceneNode>,
) {
    let inner: IdMap<ak::NodeId, usize> = inner
        .iter()
        .map(|(id, at)| (id.accesskit_id(), *at))
        .collect();
    let mut parents: IdMap<ak::NodeId, ak::NodeId> = IdMap::default();
    let mut order = Vec::new();
    let root = update.tree.as_ref().map(|tree| tree.root);
    let mut open: Vec<ak::NodeId> = root.into_iter().collect();
    let mut met = IdSet::default();
    while let Some(id) = open.pop() {
        if !met.insert(id) {
            continue;
        }
        let Some(node) = nodes.get(&id) else { continue };
        order.push(id);
        for child in node.children().iter().rev() {
            parents.insert(*child, id);
            open.push(*child);
        }
    }
    let record_key = |at: usize| pass.records.get(at).map(|record| record.key);
    let mut keys: IdMap<ak::NodeId, Key> = IdMap::default();
    for (id, at) in tagged {
        keys.extend(record_key(*at).map(|key| (*id, key)));
    }
    let drawn = order.clone();
    let mut untagged = Vec::new();
    for id in order {
        let Some(node) = nodes.get(&id) else { continue };
        // Structure without a word to it, and the pieces of a text that is there as a whole.
        let silent = matches!(node.role(), ak::Role::GenericContainer | ak::Role::TextRun);
        if Some(id) == root || tagged.contains_key(&id) || silent {
            continue;
        }
        let within = inner.get(&id).copied();
        // The nearest ancestor that is told of, as far as it lies in the same tag.
        let mut above = parents.get(&id).copied();
        let parent = loop {
            match above {
                Some(up) if inner.get(&up).copied() == within && keys.contains_key(&up) => {
                    break keys.get(&up).copied();
                }
                Some(up) if tagged.get(&up).copied() == within && within.is_some() => {
                    break keys.get(&up).copied();
                }
                Some(up) => above = parents.get(&up).copied(),
                None => break within.and_then(record_key),
            }
        };
        #[cfg(feature = "inspector")]
        let key = match pass.inspects {
            true => state.key_of(viewport.id, id),
            false => state.fresh_key(),
        };
        #[cfg(not(feature = "inspector"))]
        let key = state.fresh_key();
        keys.insert(id, key);
        let looked = Looked::at(node);
        let marks = kept_back.get(&id).copied().unwrap_or(Marks::empty());
        let mut scene_node = SceneNode {
            key,
            parent: Some(parent.unwrap_or(viewport.root_key)),
            tag: None,
            looked,
            label: None,
            text: None,
            stamp: 0,
            frame: node.bounds().map(|bounds| agent_core::Frame {
                x: bounds.x0,
                y: bounds.y0,
                width: bounds.x1 - bounds.x0,
                height: bounds.y1 - bounds.y0,
            }),
            blocked_by: None,
            size: None,
            #[cfg(feature = "inspector")]
            widget: Some(id),
            #[cfg(feature = "inspector")]
            properties: Vec::new(),
        };
        fill(&mut scene_node, node, nodes, kept_back, marks);
        #[cfg(feature = "inspector")]
        tell_all(state, &mut scene_node, node, marks);
        untagged.push(scene_node);
    }
    // Where each first shows: a group is where the first widget in it is.
    let mut first: IdMap<Key, usize> = IdMap::default();
    for (at, id) in drawn.iter().enumerate() {
        first.extend(keys.get(id).map(|key| (*key, at)));
        let mut around = inner.get(id).copied();
        while let Some(record) = around.and_then(|at| pass.records.get(at)) {
            first.entry(record.key).or_insert(at);
            around = record.parent;
        }
    }
    *picture = in_order(viewport.root_key, picture.drain(..).chain(untagged), &first);
}

/// Nodes in the order in which they are drawn, each after its parent; what has no parent among
/// them is left out.
fn in_order(
    root: Key,
    nodes: impl Iterator<Item = SceneNode>,
    first: &IdMap<Key, usize>,
) -> Vec<SceneNode> {
    let mut inside: IdMap<Key, Vec<SceneNode>> = IdMap::default();
    for node in nodes {
        inside
            .entry(node.parent.unwrap_or(root))
            .or_default()
            .push(node);
    }
    for siblings in inside.values_mut() {
        // A group with no widget in it has nothing to be placed by, and comes last.
        siblings.sort_by_key(|node| first.get(&node.key).copied().unwrap_or(usize::MAX));
        siblings.reverse();
    }
    let mut ordered = Vec::new();
    let mut open = inside.remove(&root).unwrap_or_default();
    while let Some(node) = open.pop() {
        open.extend(inside.remove(&node.key).unwrap_or_default());
        ordered.push(node);
    }
    ordered
}
