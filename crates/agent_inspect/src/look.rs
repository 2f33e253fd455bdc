//! The whole tree as one look found it, for a developer: everything but what is excluded.

use std::{collections::HashMap, sync::Arc};

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
pub const MAX_NODES: usize = 100_000;

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
            Some(standing) if standing.is_excluded() => {
                // A window that is excluded is in no picture of another.
                if let Some(parent) = parent {
                    hide(live, node, parent, look);
                }
            }
            Some(_) => {
                open.push((node, parent, index));
                index += 1;
            }
            None => {}
        }
    }
    open[from..].reverse();
}

/// Notes where an excluded part is: whatever is in it may stick out.
fn hide<L: Inspect>(live: &L, node: L::Key, parent: u64, look: &mut Look) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        look.excluded
            .extend(live.frame(node).map(|frame| (parent, frame)));
        if look.excluded.len() < MAX_NODES {
            open.extend(live.children(node));
        }
    }
}

/// What an agent of another process is told.
pub(crate) const AGENT: View = View {
    names_unexposed: false,
    window_was_there: false,
};
