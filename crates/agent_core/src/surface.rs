//! What agents can see of an app, as it was last looked at: revisions, versions, and what
//! changed between two looks.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    rc::Rc,
    sync::Arc,
};

use crate::{
    event::{Event, EventVerb},
    keys::{KeyMap, KeySet},
    node::{LiveTree, States},
    role::Role,
    standing::{Standing, Standings, name, role},
    tag::{Marks, TagFault},
    verb::VerbSet,
    versions::Versions,
};

/// What a backend has heard of since it last said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes<K> {
    /// Nothing.
    None,
    /// These nodes' own text, value, label or state (other than hidden and disabled) changed;
    /// nothing was added, removed, moved, tagged, shown, hidden, enabled or disabled.
    Nodes(Vec<K>),
    /// Anything may have.
    Everything,
}

/// One exposed node as an agent can see it, frame and `offscreen` apart.
#[derive(Clone, Debug, PartialEq)]
struct Shown<K> {
    window: K,
    id: Arc<str>,
    parent: Option<Arc<str>>,
    around: Arc<[Arc<str>]>,
    role: Role,
    name: String,
    value: Option<String>,
    version: Option<u64>,
    states: States,
    actions: VerbSet,
    size: Option<u64>,
    is_window: bool,
    path: Arc<[usize]>,
}

impl<K: PartialEq> Shown<K> {
    fn differs(&self, other: &Self) -> bool {
        // The path orders nodes; a neighbour that is not exposed moves it, and nobody sees that.
        self.parent != other.parent
            || self.role != other.role
            || self.name != other.name
            || self.value != other.value
            || self.version != other.version
            || self.states != other.states
            || self.actions != other.actions
            || self.size != other.size
    }
}

/// A tag that does not do what its developer meant, to be told once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Warning {
    /// The node stays unexposed.
    Tag {
        /// The id or key as it was given.
        given: String,
        /// What is wrong.
        fault: TagFault,
    },
    /// Two nodes of a window claim this id: neither is addressable by it.
    Duplicate {
        /// The id.
        id: String,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tag { given, fault } => {
                write!(f, "the agent tag {given:?} exposes nothing: {fault}")
            }
            Self::Duplicate { id } => write!(
                f,
                "two widgets of a window have the agent id {id:?}: agents can reach neither. Give each its own id; give rows a key"
            ),
        }
    }
}

/// What agents can see, as of the last look, and the counters that tell them of changes. A
/// backend keeps one, on the UI thread or behind its lock.
pub struct Surface<K> {
    revision: u64,
    pub(crate) versions: Versions<K>,
    shown: KeyMap<K, Shown<K>>,
    /// The exposed nodes that are shown, in the order of the last look.
    order: Vec<K>,
    /// Which ids each revision was about, for what changed since: as many as are kept.
    history: VecDeque<(u64, Arc<str>)>,
    /// What happened up to this revision is not kept.
    forgotten: u64,
    warned: HashSet<Warning>,
    warnings: Vec<Warning>,
    looked: bool,
    /// Of what a user sees, for a yes to be bound to.
    pub(crate) hashes: std::hash::RandomState,
}

impl<K> Default for Surface<K> {
    fn default() -> Self {
        Self {
            revision: 0,
            versions: Versions::default(),
            shown: KeyMap::default(),
            order: Vec::new(),
            history: VecDeque::new(),
            forgotten: 0,
            warned: HashSet::new(),
            warnings: Vec::new(),
            looked: false,
            hashes: std::hash::RandomState::new(),
        }
    }
}

/// How many changes are kept to be told by revision.
const MAX_HISTORY: usize = 4_096;

/// Warnings are kept for the developer up to this many; an app that makes ids from data could
/// make endless ones.
const MAX_WARNINGS: usize = 256;

impl<K: Copy + Eq + std::hash::Hash + Ord + std::fmt::Debug> Surface<K> {
    /// The revision as of the last look.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The ids that something happened to after a revision; `None` if that is not kept, or was
    /// never given out.
    pub(crate) fn changed_since(&self, since: u64) -> Option<HashSet<Arc<str>>> {
        if since > self.revision || since < self.forgotten || since == 0 {
            return None;
        }
        let after = self
            .history
            .iter()
            .rev()
            .take_while(|(revision, _)| *revision > since);
        Some(after.map(|(_, id)| id.clone()).collect())
    }

    /// Whether anybody has looked yet: before that there is nothing to compare with.
    pub fn has_looked(&self) -> bool {
        self.looked
    }

    /// What the developer should be told, each once.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Looks at what changed, moves the revision if an agent can see any of it, and says what
    /// happened, in the order of the tree. `acted` is what widgets told of by themselves (a
    /// button was clicked): a change that is told there is not told twice.
    ///
    /// Costs as much as was changed; for [`Changes::Everything`], the exposed nodes and their
    /// depth.
    pub fn settle<L: LiveTree<Key = K>>(
        &mut self,
        live: &L,
        changes: Changes<K>,
        acted: &[(K, EventVerb)],
    ) -> Vec<Event> {
        let mut standings = Standings::new(live);
        let first = !std::mem::replace(&mut self.looked, true);
        let changes = if first { Changes::Everything } else { changes };
        let before = self.revision;
        let mut events = Vec::new();
        match changes {
            Changes::None => {}
            Changes::Nodes(nodes) => {
                for node in named_by(live, nodes) {
                    let Some(old) = self.shown.get(&node) else {
                        continue;
                    };
                    let duplicate = old.states & States::DUPLICATE;
                    if let Some(standing) = standings.of(node)
                        && let Some(mut new) = self.look(&mut standings, node, &standing)
                    {
                        new.states |= duplicate;
                        new.actions = if duplicate.is_empty() {
                            new.actions
                        } else {
                            VerbSet::empty()
                        };
                        self.replace(node, new, &mut events);
                    }
                }
            }
            Changes::Everything => self.settle_everything(&mut standings, &mut events),
        }
        if !events.is_empty() {
            self.revision = before + 1;
            for (_, shown, _) in &events {
                self.history.push_back((self.revision, shown.id.clone()));
            }
            while self.history.len() > MAX_HISTORY {
                let oldest = self.history.pop_front();
                self.forgotten = oldest.map_or(self.forgotten, |(revision, _)| revision);
            }
        }
        if first {
            // What was there already is no news.
            events.clear();
        }
        self.tell(live, events, acted)
    }

    fn settle_everything<L: LiveTree<Key = K>>(
        &mut self,
        standings: &mut Standings<'_, L>,
        events: &mut Vec<(K, Shown<K>, Vec<EventVerb>)>,
    ) {
        let projection = project(standings, |warning| {
            if self.warned.len() < MAX_WARNINGS && self.warned.insert(warning.clone()) {
                self.warnings.push(warning);
            }
        });
        let mut now = HashSet::with_capacity(projection.len());
        let mut fresh = Vec::new();
        for exposed in &projection {
            if let Some(mut shown) = self.look(standings, exposed.node, &exposed.standing) {
                if exposed.duplicate {
                    shown.states |= States::DUPLICATE;
                    shown.actions = VerbSet::empty();
                }
                now.insert(exposed.node);
                if self.shown.contains_key(&exposed.node) {
                    self.replace(exposed.node, shown, events);
                } else {
                    fresh.push((exposed.node, shown));
                }
            }
        }
        // What is gone, but for a widget that was built again under its id.
        let mut gone: HashMap<(K, Arc<str>), (K, Shown<K>)> = self
            .shown
            .extract_if(|node, _| !now.contains(node))
            .map(|(node, old)| ((old.window, old.id.clone()), (node, old)))
            .collect();
        for (node, new) in fresh {
            match gone.remove(&(new.window, new.id.clone())) {
                Some((_, old)) => {
                    self.shown.insert(node, old);
                    self.replace(node, new, events);
                }
                None => {
                    let verbs = match (new.states.contains(States::HIDDEN), new.is_window) {
                        (true, _) => vec![],
                        (false, true) => vec![EventVerb::WindowOpened],
                        (false, false) => vec![EventVerb::Added],
                    };
                    if !new.states.contains(States::HIDDEN) {
                        events.push((node, new.clone(), verbs));
                    }
                    self.shown.insert(node, new);
                }
            }
        }
        for (node, old) in gone.into_values() {
            if !old.states.contains(States::HIDDEN) {
                let verb = if old.is_window {
                    EventVerb::WindowClosed
                } else {
                    EventVerb::Removed
                };
                events.push((node, old, vec![verb]));
            }
        }
        let shown = &self.shown;
        self.versions.retain(|node| shown.contains_key(&node));
        // What is hidden has no place that anybody is shown.
        let visible = projection
            .iter()
            .filter(|exposed| !exposed.standing.inherited.contains(States::HIDDEN));
        let order: Vec<K> = visible.map(|exposed| exposed.node).collect();
        for node in moved(&self.order, &order) {
            if !events.iter().any(|(told, ..)| *told == node)
                && let Some(shown) = self.shown.get(&node)
            {
                events.push((node, shown.clone(), Vec::new()));
            }
        }
        self.order = order;
    }

    /// Takes in how a node looks now; notes what happened to it if an agent can see that.
    fn replace(&mut self, node: K, new: Shown<K>, events: &mut Vec<(K, Shown<K>, Vec<EventVerb>)>) {
        let Some(old) = self.shown.get(&node) else {
            return;
        };
        if !old.differs(&new) && old.id == new.id {
            self.shown.insert(node, new);
            return;
        }
        let verbs = happened(old, &new);
        let unseen = old.states.contains(States::HIDDEN) && new.states.contains(States::HIDDEN);
        if !unseen {
            events.push((node, new.clone(), verbs));
        }
        self.shown.insert(node, new);
    }

    fn look<L: LiveTree<Key = K>>(
        &mut self,
        standings: &mut Standings<'_, L>,
        node: K,
        standing: &Standing<K>,
    ) -> Option<Shown<K>> {
        let live = standings.live();
        let id = standing.id.clone()?;
        let facts = live.facts(node);
        let role = role(live, node);
        let states = states(live, node, standing);
        let text = own_text(live, node, standing);
        let version = role.is_text_field().then(|| {
            self.versions
                .look(node, live.text_stamp(node), text.as_deref())
        });
        let value = (role.has_value() && version.is_none())
            .then_some(text)
            .flatten();
        Some(Shown {
            window: standing.window,
            id,
            parent: standing.within.as_ref().map(|(_, id)| id.clone()),
            around: standing.around.clone(),
            role,
            name: name(standings, node, standing),
            value,
            version,
            actions: allowed_now(facts.offers, standing.ceiling, states),
            states: states - States::SILENT,
            size: facts.size,
            is_window: standing.window == node || matches!(role, Role::Dialog | Role::AlertDialog),
            path: standing.path.clone(),
        })
    }

    fn tell<L: LiveTree<Key = K>>(
        &self,
        live: &L,
        mut changed: Vec<(K, Shown<K>, Vec<EventVerb>)>,
        acted: &[(K, EventVerb)],
    ) -> Vec<Event> {
        let event = |shown: &Shown<K>, verb| Event {
            seq: 0,
            source: shown.id.clone(),
            around: shown.around.clone(),
            verb,
            role: shown.role,
            revision: self.revision,
            cause: None,
        };
        let mut events = Vec::new();
        let mut told: HashSet<(K, EventVerb)> = HashSet::new();
        for (node, verb) in acted {
            // Its own handler may have removed it: then it is among what changed.
            let gone = changed.iter().find(|(gone, ..)| gone == node);
            if let Some(shown) = self.shown.get(node).or(gone.map(|(_, shown, _)| shown))
                && !shown.states.intersects(States::HIDDEN | States::DUPLICATE)
                && told.insert((*node, *verb))
            {
                events.push(event(shown, *verb));
            }
        }
        let mut windows = Vec::new();
        // What is gone comes first: its old place among what is there now would depend on
        // neighbours that nobody is shown.
        changed.sort_by(|(a, x, _), (b, y, _)| {
            let gone = |node| !self.shown.contains_key(node);
            (!gone(a), &x.path).cmp(&(!gone(b), &y.path))
        });
        for (node, shown, verbs) in &changed {
            for verb in verbs {
                if told.insert((*node, *verb)) {
                    events.push(event(shown, *verb));
                }
            }
            if !windows.contains(&shown.window) {
                windows.push(shown.window);
            }
        }
        for window in windows {
            if live.is_window(window)
                && let Some(shown) = self.shown.get(&window)
            {
                events.push(event(shown, EventVerb::UiChanged));
            }
        }
        events
    }
}

/// The nodes that are no longer in the order that they were in among those that stayed: all
/// between the first and the last that differ.
fn moved<K: Copy + Eq + std::hash::Hash>(old: &[K], new: &[K]) -> Vec<K> {
    let (were, are): (KeySet<K>, KeySet<K>) =
        (old.iter().copied().collect(), new.iter().copied().collect());
    let old: Vec<K> = old
        .iter()
        .copied()
        .filter(|node| are.contains(node))
        .collect();
    let new: Vec<K> = new
        .iter()
        .copied()
        .filter(|node| were.contains(node))
        .collect();
    let same = |(a, b): (&K, &K)| a == b;
    let Some(first) = old.iter().zip(&new).position(|pair| !same(pair)) else {
        return Vec::new();
    };
    let after = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|pair| same(*pair))
        .count();
    new.get(first..new.len().saturating_sub(after))
        .unwrap_or_default()
        .to_vec()
}

/// What happened to a node between two looks.
fn happened<K: PartialEq>(old: &Shown<K>, new: &Shown<K>) -> Vec<EventVerb> {
    let was = |state| old.states.contains(state);
    let is = |state| new.states.contains(state);
    let turned = |state| was(state) != is(state);
    if turned(States::HIDDEN) {
        return match (is(States::HIDDEN), new.is_window) {
            (true, true) => vec![EventVerb::WindowClosed],
            (true, false) => vec![EventVerb::Disappeared],
            (false, true) => vec![EventVerb::WindowOpened],
            (false, false) => vec![EventVerb::Appeared],
        };
    }
    let mut verbs = Vec::new();
    if old.name != new.name || old.value != new.value || old.version != new.version {
        verbs.push(EventVerb::Changed);
    }
    if turned(States::CHECKED) || turned(States::MIXED) || turned(States::PRESSED) {
        verbs.push(EventVerb::Toggled);
    }
    if !was(States::SELECTED) && is(States::SELECTED) {
        verbs.push(EventVerb::Selected);
    }
    if was(States::COLLAPSED) && is(States::EXPANDED) {
        verbs.push(EventVerb::Opened);
    }
    if was(States::EXPANDED) && is(States::COLLAPSED) {
        verbs.push(EventVerb::Closed);
    }
    if turned(States::DISABLED) {
        verbs.push(if is(States::DISABLED) {
            EventVerb::Disabled
        } else {
            EventVerb::Enabled
        });
    }
    verbs
}

/// The changed nodes, and what is named by its contents around each.
fn named_by<L: LiveTree>(live: &L, nodes: Vec<L::Key>) -> Vec<L::Key> {
    let mut all = Vec::with_capacity(nodes.len());
    let mut met = KeySet::default();
    for node in nodes {
        let mut at = Some(node);
        // A name from content reaches through whatever lies between; what is around a node that
        // was met has been met too.
        while let Some(node) = at
            && met.insert(node)
        {
            all.push(node);
            at = live.parent(node);
        }
    }
    all
}

/// One exposed node of a projection.
pub(crate) struct Exposed<K> {
    pub(crate) node: K,
    pub(crate) standing: Rc<Standing<K>>,
    pub(crate) duplicate: bool,
}

/// Every exposed node, in pre-order, hidden ones included.
pub(crate) fn project<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    mut warn: impl FnMut(Warning),
) -> Vec<Exposed<L::Key>> {
    let live = standings.live();
    let mut exposed = Vec::new();
    let mut claims: HashMap<(L::Key, Arc<str>), u32> = HashMap::new();
    for node in live.tagged() {
        let Some(standing) = standings.of(node) else {
            continue;
        };
        if let Some(fault) = standing.fault {
            let tag = live.tag(node);
            let given = tag.and_then(|tag| tag.get_id().or(tag.get_key()));
            warn(Warning::Tag {
                given: given.unwrap_or_default().to_owned(),
                fault,
            });
        }
        if let Some(id) = &standing.id {
            *claims.entry((standing.window, id.clone())).or_default() += 1;
            exposed.push(Exposed {
                node,
                standing,
                duplicate: false,
            });
        }
    }
    exposed.sort_by(|a, b| a.standing.path.cmp(&b.standing.path));
    for node in &mut exposed {
        if let Some(id) = &node.standing.id
            && claims
                .get(&(node.standing.window, id.clone()))
                .is_some_and(|n| *n > 1)
        {
            node.duplicate = true;
            warn(Warning::Duplicate { id: id.to_string() });
        }
    }
    exposed
}

/// A node's states, with what is inherited and what follows from its tags.
pub(crate) fn states<L: LiveTree>(live: &L, node: L::Key, standing: &Standing<L::Key>) -> States {
    let mut states = live.facts(node).states | standing.inherited;
    if standing.marks.contains(Marks::SECRET) {
        states |= States::SECRET;
    }
    if standing.marks.contains(Marks::RELAYED) {
        states |= States::RELAYED;
    }
    if live.blocked_by(node).is_some() {
        states |= States::BLOCKED;
    }
    states
}

/// A node's own text, unless it is secret: then it is not read (rule 8).
pub(crate) fn own_text<L: LiveTree>(
    live: &L,
    node: L::Key,
    standing: &Standing<L::Key>,
) -> Option<String> {
    let secret =
        standing.marks.contains(Marks::SECRET) || live.facts(node).states.contains(States::SECRET);
    if secret { None } else { live.text(node) }
}

/// The acting verbs that a call would be allowed now (rule 3): what the widget offers, and what
/// its ceiling allows, and what its state permits.
pub(crate) fn allowed_now(offers: VerbSet, ceiling: VerbSet, states: States) -> VerbSet {
    let mut allowed = offers & ceiling;
    if states.intersects(States::DISABLED | States::BLOCKED | States::HIDDEN) {
        allowed = VerbSet::empty();
    }
    if states.contains(States::READ_ONLY) {
        allowed -= VerbSet::SetText | VerbSet::SetValue;
    }
    // Looking needs exposure only.
    if !states.intersects(States::HIDDEN) {
        allowed |= VerbSet::ScrollTo;
    }
    allowed
}
