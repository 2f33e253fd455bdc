//! What an agent is shown: the exposed projection, and, where armed, the whole tree.

use std::{
    collections::{BTreeMap, HashMap},
    rc::Rc,
    sync::Arc,
};

use crate::{
    authorise::{No, Refusal, Target, View, Why, find, find_window},
    id::{ROOT_ID, automatic_id},
    keys::{KeyMap, KeySet},
    node::{Frame, LiveTree, States},
    role::Role,
    standing::{Standing, Standings, name, role},
    surface::{Exposed, Surface, allowed_now, own_text, project, states},
    tag::Tag,
    turn::{Answer, Call},
    verb::VerbSet,
};

/// The most nodes in one reply.
pub const MAX_NODES: usize = 500;
/// About the most bytes in one reply.
pub const MAX_BYTES: usize = 256 << 10;
/// The most of a name that is shown, in graphemes.
pub const MAX_NAME: usize = 200;
/// The most of a value that is shown, in graphemes.
pub const MAX_VALUE: usize = 2_000;

/// Which parts of a node are asked for, beyond the five that always come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Include {
    /// Its value, and its version where it is text.
    pub value: bool,
    /// Its states that are not the default.
    pub state: bool,
    /// The verbs that a call would be allowed now.
    pub actions: bool,
    /// Its frame.
    pub frame: bool,
}

/// What is to be described.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Describe {
    /// The whole tree instead of the exposed nodes. Whether the app armed that, the server has
    /// asked before.
    pub full: bool,
    /// One window only, by its id.
    pub window: Option<String>,
    /// One node and what is below it, by its id.
    pub root: Option<String>,
    /// How many levels below the root; all, if `None`.
    pub depth: Option<usize>,
    /// How many nodes; [`MAX_NODES`], if `None`.
    pub limit: Option<usize>,
    /// Which parts.
    pub include: Include,
    /// Only what changed since this revision, if that is still known.
    pub since: Option<u64>,
}

/// One node as it is described. Texts are whole; whoever writes them to a reply cuts them.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its id.
    pub id: Arc<str>,
    /// Its role.
    pub role: Role,
    /// Its accessible name.
    pub name: String,
    /// Whether an acting verb other than `scroll_to` and `focus` would be allowed now.
    pub actionable: bool,
    /// The index of its parent in the list.
    pub parent: Option<usize>,
    /// The id of its parent, in a description of changes.
    pub parent_id: Option<Arc<str>>,
    /// Where it lies among its neighbours, in a description of changes: if it is new there or
    /// was moved.
    pub place: Option<Place>,
    /// How many direct exposed children were left out.
    pub omitted: u64,
    /// Its value, if asked for.
    pub value: Option<String>,
    /// Its text's version, if asked for.
    pub version: Option<u64>,
    /// Its states, if asked for.
    pub states: States,
    /// What a call would be allowed now, if asked for.
    pub actions: VerbSet,
    /// Where it is, if asked for.
    pub frame: Option<Frame>,
    /// For a lazy list, how many rows it stands for.
    pub size: Option<u64>,
    /// In a full description only.
    pub full: Option<Full>,
}

/// A node's place among those with the same parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before all others.
    First,
    /// Next after the one of this id.
    After(Arc<str>),
}

/// What a full description adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Full {
    /// The toolkit's name for its class.
    pub class: String,
    /// Whether it is exposed.
    pub exposed: bool,
    /// Its own text, unless secret.
    pub text: Option<String>,
}

/// A description.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The revision it is of.
    pub revision: u64,
    /// `false` when a limit cut it.
    pub complete: bool,
    /// The nodes, in pre-order.
    pub nodes: Vec<Described>,
    /// If this is only what changed since a revision: since which, and what is gone.
    pub since: Option<Since>,
}

/// What makes a description one of changes: its nodes are those that changed.
///
/// The description of that earlier revision becomes that of this one: take out what was removed
/// and what has a [place](Described::place), put the nodes in instead of those of their ids, and
/// those with a place, in their order, next after whatever their place names.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    /// The revision that was asked for.
    pub revision: u64,
    /// The ids that are no longer shown.
    pub removed: Vec<Arc<str>>,
}

impl<K: Copy + Eq + std::hash::Hash + Ord + std::fmt::Debug> Surface<K> {
    /// Describes what is there now. [`settle`](Surface::settle) first, so that the revision is
    /// that of what is shown. The exposed projection costs the exposed nodes and their depth, a
    /// full description the whole tree.
    ///
    /// # Errors
    /// If `root` or `window` name nothing that can be described.
    pub fn describe<L: LiveTree<Key = K>>(
        &mut self,
        live: &L,
        describe: &Describe,
        view: View,
    ) -> Result<Description, No> {
        let mut standings = Standings::new(live);
        let window = match &describe.window {
            None => None,
            Some(window) => Some(find_window(&mut standings, window, view)?),
        };
        let root = match &describe.root {
            None => None,
            Some(root) => {
                let target = Target {
                    id: root.clone(),
                    window: describe.window.clone(),
                };
                let (node, standing) = find(&mut standings, &target, view)?;
                if standing.inherited.contains(States::HIDDEN) {
                    return Err(Refusal::why(Why::Hidden).into());
                }
                Some(node)
            }
        };
        let root_id = root.and_then(|root| standings.of(root)?.id.clone());
        if let Some(since) = describe.since
            && !describe.full
            && root.is_some() == root_id.is_some()
        {
            let scope = Scope {
                window,
                root: root_id,
                depth: describe.depth.unwrap_or(usize::MAX),
            };
            if let Some(changes) = self.changes(&mut standings, describe, since, &scope) {
                return Ok(changes);
            }
        }
        let all = if describe.full {
            whole(&mut standings, window, root)
        } else {
            exposed(&mut standings, window, root)
        };
        let chosen = choose(&all, describe, |item| {
            name(&mut standings, item.node, &item.standing)
        });
        let mut complete = true;
        // From an index in all nodes to one in the reply.
        let mut index = KeyMap::default();
        let mut nodes: Vec<Described> = Vec::new();
        for (at, (item, choice)) in all.iter().zip(chosen).enumerate() {
            match choice {
                Choice::In(name) => {
                    index.insert(at, nodes.len());
                    let parent = item.parent.and_then(|parent| index.get(&parent).copied());
                    let mut node = self.node(&mut standings, item, name, describe);
                    node.parent = parent;
                    nodes.push(node);
                }
                out => {
                    complete &= matches!(out, Choice::TooDeep);
                    if let Some(parent) = item.parent.and_then(|parent| index.get(&parent))
                        && let Some(parent) = nodes.get_mut(*parent)
                    {
                        parent.omitted += 1;
                    }
                }
            }
        }
        Ok(Description {
            revision: self.revision(),
            complete,
            nodes,
            since: None,
        })
    }

    /// Of what is shown, what something happened to since a revision, and what is not shown any
    /// more; `None` if that is not known so far back. Costs what happened; where something got
    /// another place, also the exposed nodes, among which that place is looked for.
    fn changes<L: LiveTree<Key = K>>(
        &mut self,
        standings: &mut Standings<'_, L>,
        describe: &Describe,
        since: u64,
        scope: &Scope<K>,
    ) -> Option<Description> {
        // Of each id, whether it got another place. Sorted, so that what is removed is.
        let mut ids: BTreeMap<Arc<str>, bool> = BTreeMap::new();
        for past in self.happened_since(since)? {
            if scope.holds(past.window, &past.id, &past.around) {
                *ids.entry(past.id.clone()).or_default() |= past.placed;
            }
        }
        let mut changed: Vec<(Arc<[usize]>, bool, Item<K>)> = Vec::new();
        let mut removed = Vec::new();
        for (id, placed) in ids {
            let before = changed.len();
            for (node, shown) in self.shown_as(&id) {
                if scope.holds(shown.window, &shown.id, &shown.around)
                    && let Some(standing) = standings.of(node)
                {
                    let item = Item {
                        node,
                        id: shown.id.clone(),
                        standing,
                        duplicate: shown.states.contains(States::DUPLICATE),
                        parent: None,
                        level: 0,
                    };
                    changed.push((shown.path.clone(), placed, item));
                }
            }
            if changed.len() == before {
                removed.push(id);
            }
        }
        changed.sort_by(|(a, _, x), (b, _, y)| (a, x.node).cmp(&(b, y.node)));
        let most = describe.limit.unwrap_or(MAX_NODES).min(MAX_NODES);
        let complete = changed.len() <= most;
        changed.truncate(most);
        let placed = changed.iter().filter(|(_, placed, _)| *placed);
        let mut places = self.places(placed.map(|(.., item)| item.node).collect(), scope);
        let mut nodes = Vec::with_capacity(changed.len());
        for (.., item) in changed {
            let name = name(standings, item.node, &item.standing);
            let mut described = self.node(standings, &item, name, describe);
            described.parent_id = item.standing.within.as_ref().map(|(_, id)| id.clone());
            described.place = places.remove(&item.node);
            nodes.push(described);
        }
        Some(Description {
            revision: self.revision(),
            complete,
            nodes,
            since: Some(Since {
                revision: since,
                removed,
            }),
        })
    }

    /// Where these nodes lie, each among those of the scope that have the same parent.
    fn places(&self, mut wanted: KeySet<K>, scope: &Scope<K>) -> KeyMap<K, Place> {
        let mut places = KeyMap::default();
        if wanted.is_empty() {
            return places;
        }
        // The last one met so far below each parent; of those without one, of all windows.
        let mut last: HashMap<Option<(K, Arc<str>)>, Arc<str>> = HashMap::new();
        for (node, shown) in self.in_order() {
            if !scope.holds(shown.window, &shown.id, &shown.around) {
                continue;
            }
            let parent = shown.parent.as_ref().map(|id| (shown.window, id.clone()));
            let before = last.insert(parent, shown.id.clone());
            if wanted.remove(&node) {
                places.insert(node, before.map_or(Place::First, Place::After));
                if wanted.is_empty() {
                    break;
                }
            }
        }
        places
    }

    /// Answers a call that only looks. `None` if it acts: that is for the backend, which
    /// [authorises](Surface::authorise) and performs it.
    pub fn read<L: LiveTree<Key = K>>(
        &mut self,
        live: &L,
        call: &Call,
        view: View,
    ) -> Option<Answer> {
        let answer = match call {
            Call::Describe(describe) => self.describe(live, describe, view).map(Answer::Described),
            Call::GetText {
                target,
                from,
                limit,
            } => self
                .read_text(live, target, *from, *limit, view)
                .map(Answer::Text),
            Call::Subscribe { node } => {
                let mut standings = Standings::new(live);
                let node = node.as_ref().map(|node| find(&mut standings, node, view));
                node.transpose().map(|_| Answer::Heard {
                    revision: self.revision(),
                })
            }
            Call::Act { .. } | Call::Wait(_) => return None,
        };
        Some(answer.unwrap_or_else(Answer::from))
    }

    fn node<L: LiveTree<Key = K>>(
        &mut self,
        standings: &mut Standings<'_, L>,
        item: &Item<K>,
        name: String,
        describe: &Describe,
    ) -> Described {
        let live = standings.live();
        let (node, standing) = (item.node, &item.standing);
        let include = describe.include;
        let facts = live.facts(node);
        let role = role(live, node);
        let mut states = states(live, node, standing);
        let mut actions = allowed_now(facts.offers, standing.ceiling, states);
        if item.duplicate {
            states |= States::DUPLICATE;
            actions = VerbSet::empty();
        }
        let exposed = standing.id.is_some();
        if !exposed {
            actions = VerbSet::empty();
        }
        let text = ((include.value && role.has_value()) || describe.full)
            .then(|| own_text(live, node, standing))
            .flatten();
        let version = (include.value && role.is_text_field() && exposed).then(|| {
            self.versions
                .look(node, live.text_stamp(node), text.as_deref())
        });
        Described {
            id: item.id.clone(),
            role,
            name,
            actionable: actions.intersects(VerbSet::CONSEQUENTIAL),
            parent: None,
            parent_id: None,
            place: None,
            omitted: 0,
            value: text.clone().filter(|_| include.value && role.has_value()),
            version,
            states: if include.state {
                states
            } else {
                States::empty()
            },
            actions: if include.actions {
                actions
            } else {
                VerbSet::empty()
            },
            frame: if include.frame || describe.full {
                live.frame(node)
            } else {
                None
            },
            size: facts.size,
            full: describe.full.then(|| Full {
                class: live.class(node),
                exposed,
                text,
            }),
        }
    }
}

/// What a description is asked of.
struct Scope<K> {
    window: Option<K>,
    /// A node's id, and how many levels below it.
    root: Option<Arc<str>>,
    depth: usize,
}

impl<K: PartialEq> Scope<K> {
    /// Whether a node of this id, in this window and with these around it, outermost first, is
    /// in it.
    fn holds(&self, window: K, id: &Arc<str>, around: &[Arc<str>]) -> bool {
        let level = match &self.root {
            None => Some(around.len()),
            Some(root) if root == id => Some(0),
            Some(root) => around
                .iter()
                .rev()
                .position(|it| it == root)
                .map(|below| below + 1),
        };
        self.window.as_ref().is_none_or(|only| *only == window)
            && level.is_some_and(|level| level <= self.depth)
    }
}

/// One candidate for a description.
struct Item<K> {
    node: K,
    id: Arc<str>,
    standing: Rc<Standing<K>>,
    duplicate: bool,
    /// The index of its parent among the candidates.
    parent: Option<usize>,
    /// How many levels below the root.
    level: usize,
}

/// The exposed nodes that are shown, each under its nearest exposed ancestor.
fn exposed<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    window: Option<L::Key>,
    root: Option<L::Key>,
) -> Vec<Item<L::Key>> {
    let mut items: Vec<Item<L::Key>> = Vec::new();
    let mut index: KeyMap<L::Key, usize> = KeyMap::default();
    for Exposed {
        node,
        standing,
        duplicate,
    } in project(standings, |_| ())
    {
        let Some(id) = standing.id.clone() else {
            continue;
        };
        if standing.inherited.contains(States::HIDDEN)
            || window.is_some_and(|window| window != standing.window)
        {
            continue;
        }
        let within = standing.within.as_ref().map(|(within, _)| *within);
        let parent = within.and_then(|within| index.get(&within).copied());
        if root.is_some_and(|root| root != node) && parent.is_none() {
            continue;
        }
        let is_root = root == Some(node);
        let parent = if is_root { None } else { parent };
        let level = parent
            .and_then(|parent| items.get(parent))
            .map_or(0, |parent| parent.level + 1);
        index.insert(node, items.len());
        items.push(Item {
            node,
            id,
            standing,
            duplicate,
            parent,
            level,
        });
    }
    items
}

/// The whole tree but for what is excluded, with automatic ids where the developer gave none.
fn whole<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    window: Option<L::Key>,
    root: Option<L::Key>,
) -> Vec<Item<L::Key>> {
    let live = standings.live();
    let mut claims: HashMap<(L::Key, Arc<str>), u32> = HashMap::new();
    let mut items: Vec<Item<L::Key>> = Vec::new();
    let tops = match (root, window) {
        (Some(root), _) => vec![root],
        (None, Some(window)) => vec![window],
        (None, None) => live.windows(),
    };
    // Depth first, with a stack of our own: (node, parent's index, automatic id).
    let mut open = places(standings, ROOT_ID, tops, None);
    open.reverse();
    while let Some((node, automatic, parent)) = open.pop() {
        let Some(standing) = standings.of(node) else {
            continue;
        };
        let own = live.tag(node).filter(|tag| tag.fault().is_none());
        let id: Arc<str> = match (&standing.id, own.and_then(Tag::get_id)) {
            (Some(id), _) => id.clone(),
            (None, Some(id)) => id.into(),
            (None, None) => automatic.into(),
        };
        if standing.id.is_some() {
            *claims.entry((standing.window, id.clone())).or_default() += 1;
        }
        let level = parent
            .and_then(|parent: usize| items.get(parent))
            .map_or(0, |parent| parent.level + 1);
        let at = items.len();
        let mut inside = places(standings, &id, live.children(node), Some(at));
        inside.reverse();
        open.extend(inside);
        items.push(Item {
            node,
            id,
            standing,
            duplicate: false,
            parent,
            level,
        });
    }
    for item in &mut items {
        item.duplicate = claims
            .get(&(item.standing.window, item.id.clone()))
            .is_some_and(|n| *n > 1);
    }
    items
}

/// The automatic ids of some siblings: their role and how many of that role come before. What
/// is excluded is left out, and not counted either (rule 11).
fn places<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    parent: &str,
    siblings: Vec<L::Key>,
    index: Option<usize>,
) -> Vec<(L::Key, String, Option<usize>)> {
    let mut counts: HashMap<Role, usize> = HashMap::new();
    let live = standings.live();
    siblings
        .into_iter()
        .filter(|node| {
            let standing = standings.of(*node);
            standing.is_some_and(|standing| !standing.is_excluded())
        })
        .map(|node| {
            let role = role(live, node);
            let count = counts.entry(role).or_default();
            let id = automatic_id(parent, role, *count);
            *count += 1;
            (node, id, index)
        })
        .collect()
}

/// Whether an automatic id names a place in the tree now. Costs the tree: it is asked only
/// where the app armed the whole of it.
pub(crate) fn has_place<L: LiveTree>(live: &L, id: &str) -> bool {
    let mut standings = Standings::new(live);
    whole(&mut standings, None, None)
        .iter()
        .any(|item| &*item.id == id)
}

#[derive(Debug)]
enum Choice {
    /// Goes in, under this name.
    In(String),
    /// Below the depth that was asked for: what was asked for is complete without it.
    TooDeep,
    /// Cut by a limit.
    Cut,
}

/// Which candidates go into the reply: level by level, until a limit is hit (rule 10).
fn choose<K>(
    all: &[Item<K>],
    describe: &Describe,
    mut name: impl FnMut(&Item<K>) -> String,
) -> Vec<Choice> {
    let limit = describe.limit.unwrap_or(MAX_NODES).min(MAX_NODES);
    let depth = describe.depth.unwrap_or(usize::MAX);
    let mut choices: Vec<Choice> = all.iter().map(|_| Choice::Cut).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| all.get(*at).map_or(0, |item| item.level));
    let (mut nodes, mut bytes, mut full) = (0, 0, false);
    for at in order {
        let (Some(item), Some(choice)) = (all.get(at), choices.get_mut(at)) else {
            continue;
        };
        if item.level > depth {
            *choice = Choice::TooDeep;
            continue;
        }
        if full || nodes == limit {
            full = true;
            continue;
        }
        let name = name(item);
        // About how many bytes it takes in a reply.
        let weight = 120 + item.id.len() + name.len().min(MAX_NAME * 32);
        if nodes > 0 && bytes + weight > MAX_BYTES {
            full = true;
            continue;
        }
        nodes += 1;
        bytes += weight;
        *choice = Choice::In(name);
    }
    choices
}
