//! The whole tree as one look found it, for a developer: everything but what is excluded.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use agent_core::{
    Changes, Event, EventVerb, Frame, LiveTree, Marks, Role, Standings, States, Surface, Tag,
    TagFault, VerbSet, View,
};

use crate::{
    job::{Ask, No, Told},
    property::Property,
    view::view,
};

/// The most nodes of one look; what is over is left out, and the look says so.
pub const MAX_NODES: usize = 500_000;

/// A live tree that can be inspected: what a backend implements beside [`LiveTree`]. On the UI
/// thread.
pub trait Inspect: LiveTree {
    /// The number that names a node for the whole run. It is never given to another.
    fn handle(&self, node: Self::Key) -> u64;
    /// The node of this handle, if it is there now.
    fn node(&self, handle: u64) -> Option<Self::Key>;
    /// Every property that the toolkit can tell, under its own names. `secret`: the node's text
    /// is not to be read; whatever could hold it is [withheld](crate::Value::Withheld).
    fn properties(&self, node: Self::Key, secret: bool) -> Vec<Property>;
    /// What is drawn over the rest of its window, from the lowest to the uppermost; none, in a
    /// toolkit whose tree is drawn in its own order.
    fn layers(&self) -> Vec<Layer> {
        Vec::new()
    }
    /// Which of these a node is in; `None`: it is in none, and lies below all of them.
    fn layer(&self, _node: Self::Key) -> Option<usize> {
        None
    }
}

/// A part of a window that is drawn over what is not in it: a popup, a floating window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The handle of the window.
    pub window: u64,
    /// Where it is.
    pub frame: Frame,
}

/// One node as a developer sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Names it for the run.
    pub handle: u64,
    /// The handle of what it is in; `None` for a window.
    pub parent: Option<u64>,
    /// Its place among its siblings, what is excluded not counted.
    pub index: usize,
    /// The toolkit's name for its class.
    pub class: String,
    /// Its role.
    pub role: Role,
    /// Its accessible name.
    pub name: String,
    /// Its own text, unless secret.
    pub text: Option<String>,
    /// The id that agents know it by, if it is exposed.
    pub id: Option<Arc<str>>,
    /// What its developer said of it, if anything.
    pub tag: Option<Tag>,
    /// Why it is not exposed although its developer meant it to be.
    pub fault: Option<TagFault>,
    /// Another node of its window claims the same id.
    pub duplicate: bool,
    /// Its states, inherited ones included.
    pub states: States,
    /// What it offers by itself.
    pub offers: VerbSet,
    /// What agents may ever do to it.
    pub ceiling: VerbSet,
    /// Its own marks and those around it.
    pub marks: Marks,
    /// Where it is.
    pub frame: Option<Frame>,
    /// Which of the look's layers it is in; `None`: it lies below all of them.
    pub layer: Option<usize>,
}

impl Node {
    /// Whether it is secret, by a mark or by its kind.
    pub fn is_secret(&self) -> bool {
        self.states.contains(States::SECRET)
    }

    /// Whether an agent that describes the app now is shown it.
    pub fn is_shown(&self) -> bool {
        self.id.is_some() && !self.states.contains(States::HIDDEN)
    }
}

/// What one look found.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Look {
    /// The nodes, each after what it is in.
    pub nodes: Vec<Node>,
    /// Whether these are all.
    pub complete: bool,
    /// What happened since the look before, as an agent that listens would hear it.
    pub events: Vec<Event>,
    /// Where the excluded parts are, and what is in them, each with the handle of what they are
    /// in: nothing else of them is told, and no picture shows them.
    pub excluded: Vec<(u64, Frame)>,
    /// What is drawn over the rest of its window, from the lowest to the uppermost.
    pub layers: Vec<Layer>,
    /// Which of these have something excluded in them.
    pub excluded_layers: BTreeSet<usize>,
}

impl Look {
    /// The layers of a window in which nothing is but what is excluded, their edges and grounds
    /// included.
    pub(crate) fn wholly_excluded(&self, window: u64) -> impl Iterator<Item = Frame> {
        let others: BTreeSet<usize> = self.nodes.iter().filter_map(|node| node.layer).collect();
        let layers = self.excluded_layers.difference(&others).copied();
        let frames: Vec<Frame> = layers
            .filter_map(|layer| self.layers.get(layer))
            .filter(|layer| layer.window == window)
            .map(|layer| layer.frame)
            .collect();
        frames.into_iter()
    }
}

/// Looks again and again, and tells what happened between. It has a [`Surface`] of its own, so
/// that nothing it does moves a revision, draws a version or makes an event of an agent's.
pub struct Looker<K> {
    surface: Surface<K>,
    acted: Vec<(K, EventVerb)>,
}

impl<K> Default for Looker<K> {
    fn default() -> Self {
        Self {
            surface: Surface::default(),
            acted: Vec::new(),
        }
    }
}

/// How many events wait for the next look.
const MAX_ACTED: usize = 256;

impl<K: Copy + Eq + std::hash::Hash + Ord + std::fmt::Debug> Looker<K> {
    /// A widget told of this by itself (it was clicked), since the last look.
    pub fn happened(&mut self, node: K, verb: EventVerb) {
        if self.surface.has_looked() && self.acted.len() < MAX_ACTED {
            self.acted.push((node, verb));
        }
    }

    /// Looks at everything.
    pub fn look<L: Inspect<Key = K>>(&mut self, live: &L) -> Look {
        let acted = std::mem::take(&mut self.acted);
        let events = self.surface.settle(live, Changes::Everything, &acted);
        // For the developer's log they are told by the agents' own look.
        drop(self.surface.take_warnings());
        Look {
            events,
            ..everything(live)
        }
    }
}

/// Answers what only looks: the tree, a node, an agent's view of it. `None`: the backend does it.
pub fn answer<L: Inspect>(
    live: &L,
    looker: &mut Looker<L::Key>,
    ask: &Ask,
) -> Option<Result<Told, No>> {
    match ask {
        Ask::Tree => Some(Ok(Told::Tree(looker.look(live)))),
        Ask::Node(handle) => Some(find(live, *handle).map(|node| {
            let secret = Standings::new(live).states(node).contains(States::SECRET);
            Told::Node(live.properties(node, secret))
        })),
        Ask::View(handle) => Some(
            find(live, *handle)
                .and_then(|node| view(live, node).ok_or(No::NotFound))
                .map(|view| Told::View(Box::new(view))),
        ),
        Ask::Highlight(_) | Ask::Pick | Ask::Screenshot { .. } => None,
    }
}

/// The node of this handle.
///
/// # Errors
/// If it is not there, or excluded: then it exists for inspectors no more than for agents.
pub fn find<L: Inspect>(live: &L, handle: u64) -> Result<L::Key, No> {
    let node = live.node(handle).ok_or(No::NotFound)?;
    let standing = Standings::new(live).of(node).ok_or(No::NotFound)?;
    if standing.is_excluded() {
        return Err(No::NotFound);
    }
    Ok(node)
}

fn everything<L: Inspect>(live: &L) -> Look {
    let mut standings = Standings::new(live);
    let mut look = Look {
        complete: true,
        layers: live.layers(),
        ..Look::default()
    };
    let mut claims: HashMap<(L::Key, Arc<str>), usize> = HashMap::new();
    let mut claimed = Vec::new();
    // Depth first, with a stack of our own: a tree may be deeper than the stack is.
    let mut open: Vec<(L::Key, Option<u64>, usize)> = Vec::new();
    push(
        live,
        &mut standings,
        live.windows(),
        None,
        &mut open,
        &mut look,
    );
    while let Some((node, parent, index)) = open.pop() {
        if look.nodes.len() == MAX_NODES {
            look.complete = false;
            break;
        }
        let Some(standing) = standings.of(node) else {
            continue;
        };
        let handle = live.handle(node);
        if let Some(id) = &standing.id {
            let claim = (standing.window, id.clone());
            *claims.entry(claim.clone()).or_default() += 1;
            claimed.push((look.nodes.len(), claim));
        }
        look.nodes.push(Node {
            handle,
            parent,
            index,
            class: live.class(node),
            role: standings.role(node),
            name: standings.name(node),
            text: standings.text(node),
            id: standing.id.clone(),
            tag: live.tag(node).cloned(),
            fault: standing.fault,
            duplicate: false,
            states: standings.states(node),
            offers: live.facts(node).offers,
            ceiling: standing.ceiling,
            marks: standing.marks,
            frame: live.frame(node),
            layer: live.layer(node),
        });
        push(
            live,
            &mut standings,
            live.children(node),
            Some(handle),
            &mut open,
            &mut look,
        );
    }
    for (at, claim) in claimed {
        if claims.get(&claim).is_some_and(|claims| *claims > 1)
            && let Some(node) = look.nodes.get_mut(at)
        {
            node.duplicate = true;
            node.states |= States::DUPLICATE;
        }
    }
    look
}

/// Puts siblings on the stack, the first on top, and leaves out what is excluded.
fn push<L: Inspect>(
    live: &L,
    standings: &mut Standings<'_, L>,
    siblings: Vec<L::Key>,
    parent: Option<u64>,
    open: &mut Vec<(L::Key, Option<u64>, usize)>,
    look: &mut Look,
) {
    let from = open.len();
    let mut index = 0;
    for node in siblings {
        match standings.of(node) {
            // A window that is excluded is in no picture of another, but for what was opened
            // inside it.
            Some(standing) if standing.is_excluded() => exclude(live, node, parent, look),
            Some(_) => {
                open.push((node, parent, index));
                index += 1;
            }
            None => {}
        }
    }
    open[from..].reverse();
}

/// Where something excluded is, and all that is in it: that may stick out, or lie elsewhere, as a
/// popup does.
fn exclude<L: Inspect>(live: &L, node: L::Key, parent: Option<u64>, look: &mut Look) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if let Some(parent) = parent {
            let frame = live.frame(node).map(|frame| (parent, frame));
            look.excluded.extend(frame);
        }
        look.excluded_layers.extend(live.layer(node));
        if look.excluded.len() >= MAX_NODES {
            look.complete = false;
            return;
        }
        open.extend(live.children(node));
    }
}

/// What an agent of another process is told.
pub(crate) const AGENT: View = View {
    names_unexposed: false,
    window_was_there: false,
};
