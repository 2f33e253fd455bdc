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
pub(crate) struct Shown<K> {
    pub(crate) window: K,
    pub(crate) id: Arc<str>,
    pub(crate) parent: Option<Arc<str>>,
    pub(crate) around: Arc<[Arc<str>]>,
    role: Role,
    name: String,
    value: Option<String>,
    version: Option<u64>,
    pub(crate) states: States,
    actions: VerbSet,
    size: Option<u64>,
    is_window: bool,
    pub(crate) path: Arc<[usize]>,
}

impl<K: PartialEq> Shown<K> {
    /// Whether it is another node to an agent: it knows nodes by id and window alone.
    fn is_another(&self, other: &Self) -> bool {
        self.id != other.id || self.window != other.window
    }

    /// Whether it lies elsewhere than it did. The path orders nodes; a neighbour that is not
    /// exposed moves it, and nobody sees that.
    fn lies_elsewhere(&self, other: &Self) -> bool {
        self.parent != other.parent || self.around != other.around
    }

    fn differs(&self, other: &Self) -> bool {
        self.lies_elsewhere(other)
            || self.role != other.role
            || self.name != other.name
            || self.value != other.value
            || self.version != other.version
            || self.states != other.states
            || self.actions != other.actions
            || self.size != other.size
    }
}

/// What happened to one exposed node between two looks.
struct Change<K> {
    node: K,
    /// As it is now; as it was, if it is gone.
    shown: Shown<K>,
    verbs: Vec<EventVerb>,
    /// No longer shown under this id.
    gone: bool,
    /// It has another place among its neighbours, or is new there.
    placed: bool,
    /// What was around it before, if that is not what is around it now.
    came_from: Option<Arc<[Arc<str>]>>,
}

impl<K> Change<K> {
    /// It has come to be shown.
    fn new(node: K, shown: Shown<K>) -> Self {
        let verb = if shown.is_window {
            EventVerb::WindowOpened
        } else {
            EventVerb::Added
        };
        Self {
            placed: true,
            ..Self::of(node, shown, vec![verb])
        }
    }

    /// It is shown no longer, at least not under this id.
    fn gone(node: K, shown: Shown<K>) -> Self {
        let verb = if shown.is_window {
            EventVerb::WindowClosed
        } else {
            EventVerb::Removed
        };
        Self {
            gone: true,
            ..Self::of(node, shown, vec![verb])
        }
    }

    fn of(node: K, shown: Shown<K>, verbs: Vec<EventVerb>) -> Self {
        Self {
            node,
            shown,
            verbs,
            gone: false,
            placed: false,
            came_from: None,
        }
    }
}

/// That something happened to what was shown under an id, for what changed since a revision.
pub(crate) struct Past<K> {
    revision: u64,
    pub(crate) window: K,
    pub(crate) id: Arc<str>,
    pub(crate) around: Arc<[Arc<str>]>,
    /// It got another place among its neighbours, or is new there.
    pub(crate) placed: bool,
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
    /// Which of those have an id: several, where it is claimed twice.
    by_id: HashMap<Arc<str>, Vec<K>>,
    /// The exposed nodes that are shown, in the order of the last look.
    order: Vec<K>,
    /// What each revision was about, for what changed since: as much as is kept.
    history: VecDeque<Past<K>>,
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
            by_id: HashMap::new(),
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

    /// What happened after a revision; `None` if that is not kept, or was never given out.
    pub(crate) fn happened_since(&self, since: u64) -> Option<impl Iterator<Item = &Past<K>>> {
        if since > self.revision || since < self.forgotten || since == 0 {
            return None;
        }
        let newest_first = self.history.iter().rev();
        Some(newest_first.take_while(move |past| past.revision > since))
    }

    /// What is shown under an id.
    pub(crate) fn shown_as(&self, id: &str) -> impl Iterator<Item = (K, &Shown<K>)> {
        let nodes = self.by_id.get(id).into_iter().flatten();
        nodes
            .filter_map(|node| Some((*node, self.shown.get(node)?)))
            .filter(|(_, shown)| !shown.states.contains(States::HIDDEN))
    }

    /// What is shown, in pre-order.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (K, &Shown<K>)> {
        let known = |node: &K| Some((*node, self.shown.get(node)?));
        self.order.iter().filter_map(known)
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
            for change in &mut events {
                let before = change.came_from.take();
                for around in before.into_iter().chain([change.shown.around.clone()]) {
                    self.history.push_back(Past {
                        revision: self.revision,
                        window: change.shown.window,
                        id: change.shown.id.clone(),
                        around,
                        placed: change.placed,
                    });
                }
            }
            while self.history.len() > MAX_HISTORY {
                let oldest = self.history.pop_front();
                self.forgotten = oldest.map_or(self.forgotten, |past| past.revision);
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
        events: &mut Vec<Change<K>>,
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
        let mut gone: Vec<(K, Shown<K>)> = self
            .shown
            .extract_if(|node, _| !now.contains(node))
            .collect();
        // From the last to the first: of several under one id, the first is taken up first.
        gone.sort_by(|(_, a), (_, b)| b.path.cmp(&a.path));
        let mut free: HashMap<(K, Arc<str>), Vec<_>> = HashMap::new();
        for (node, old) in gone {
            self.forget_id(&old.id, node);
            let under = free.entry((old.window, old.id.clone())).or_default();
            under.push((node, old));
        }
        let mut built_again: KeyMap<K, K> = KeyMap::default();
        for (node, new) in fresh {
            let old = free.get_mut(&(new.window, new.id.clone()));
            match old.and_then(Vec::pop) {
                Some((was, old)) => {
                    built_again.insert(was, node);
                    self.keep(node, old);
                    self.replace(node, new, events);
                }
                None => {
                    if !new.states.contains(States::HIDDEN) {
                        events.push(Change::new(node, new.clone()));
                    }
                    self.keep(node, new);
                }
            }
        }
        for (node, old) in free.into_values().flatten() {
            if !old.states.contains(States::HIDDEN) {
                events.push(Change::gone(node, old));
            }
        }
        let shown = &self.shown;
        self.versions.retain(|node| shown.contains_key(&node));
        for node in &mut self.order {
            *node = built_again.get(node).copied().unwrap_or(*node);
        }
        // What is hidden has no place that anybody is shown.
        let visible = projection
            .iter()
            .filter(|exposed| !exposed.standing.inherited.contains(States::HIDDEN));
        let order: Vec<K> = visible.map(|exposed| exposed.node).collect();
        let moved = moved(&self.order, &order);
        self.order = order;
        if moved.is_empty() {
            return;
        }
        let told: KeyMap<K, usize> = events
            .iter()
            .enumerate()
            .filter(|(_, change)| !change.gone)
            .map(|(at, change)| (change.node, at))
            .collect();
        for node in moved {
            match told.get(&node).and_then(|at| events.get_mut(*at)) {
                Some(change) => change.placed = true,
                None => {
                    if let Some(shown) = self.shown.get(&node) {
                        events.push(Change {
                            placed: true,
                            ..Change::of(node, shown.clone(), Vec::new())
                        });
                    }
                }
            }
        }
    }

    /// Takes in how a node looks now; notes what happened to it if an agent can see that.
    fn replace(&mut self, node: K, new: Shown<K>, events: &mut Vec<Change<K>>) {
        let Some(old) = self.shown.get(&node) else {
            return;
        };
        let was_hidden = old.states.contains(States::HIDDEN);
        let is_hidden = new.states.contains(States::HIDDEN);
        if old.is_another(&new) {
            if !was_hidden {
                events.push(Change::gone(node, old.clone()));
            }
            if !is_hidden {
                events.push(Change::new(node, new.clone()));
            }
        } else if old.differs(&new) && !(was_hidden && is_hidden) {
            let elsewhere = old.lies_elsewhere(&new);
            events.push(Change {
                placed: elsewhere || was_hidden,
                came_from: elsewhere.then(|| old.around.clone()),
                ..Change::of(node, new.clone(), happened(old, &new))
            });
        }
        self.keep(node, new);
    }

    /// Remembers how a node looks.
    fn keep(&mut self, node: K, shown: Shown<K>) {
        let id = shown.id.clone();
        let old = self.shown.insert(node, shown);
        if old.as_ref().is_some_and(|old| old.id == id) {
            return;
        }
        if let Some(old) = old {
            self.forget_id(&old.id, node);
        }
        self.by_id.entry(id).or_default().push(node);
    }

    fn forget_id(&mut self, id: &Arc<str>, node: K) {
        if let Some(nodes) = self.by_id.get_mut(id) {
            nodes.retain(|it| *it != node);
            if nodes.is_empty() {
                self.by_id.remove(id);
            }
        }
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
        mut changed: Vec<Change<K>>,
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
            let gone = changed.iter().find(|change| change.node == *node);
            if let Some(shown) = self.shown.get(node).or(gone.map(|change| &change.shown))
                && !shown.states.intersects(States::HIDDEN | States::DUPLICATE)
                && told.insert((*node, *verb))
            {
                events.push(event(shown, *verb));
            }
        }
        let mut windows = Vec::new();
        // What is gone comes first: its old place among what is there now would depend on
        // neighbours that nobody is shown.
        changed.sort_by(|a, b| (!a.gone, &a.shown.path).cmp(&(!b.gone, &b.shown.path)));
        for change in &changed {
            for verb in &change.verbs {
                if told.insert((change.node, *verb)) {
                    events.push(event(&change.shown, *verb));
                }
            }
            if !windows.contains(&change.shown.window) {
                windows.push(change.shown.window);
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
