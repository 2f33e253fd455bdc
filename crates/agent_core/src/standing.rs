//! Where one node stands: exposed or not, under which id, below which ceiling, in which state.
//! Everything that is inherited is worked out here, and nowhere else.

use std::{rc::Rc, sync::Arc};

use crate::{
    id::keyed_id,
    keys::KeyMap,
    node::{Label, LiveTree, States},
    role::Role,
    surface::{own_text, states},
    tag::{Marks, Tag, TagFault},
    verb::VerbSet,
};

/// What a node has from itself and everything around it.
#[derive(Clone, Debug)]
pub struct Standing<K> {
    /// The window it is in.
    pub window: K,
    /// Its id, if it is exposed.
    pub id: Option<Arc<str>>,
    /// Its nearest exposed ancestor and that one's id.
    pub within: Option<(K, Arc<str>)>,
    /// The ids of all exposed ancestors, outermost first.
    pub around: Arc<[Arc<str>]>,
    /// The intersection of the ceilings on the path to the root.
    pub ceiling: VerbSet,
    /// The union of the marks on that path.
    pub marks: Marks,
    /// `HIDDEN` and `DISABLED`, if it or anything around it is.
    pub inherited: States,
    /// Why it is not exposed although its developer meant it to be.
    pub fault: Option<TagFault>,
    /// The positions from the window down, to order nodes by.
    pub path: Arc<[usize]>,
}

impl<K: Copy> Standing<K> {
    /// The node's own id if it is exposed, else that of the nearest exposed ancestor.
    fn innermost(&self, node: K) -> Option<(K, Arc<str>)> {
        match &self.id {
            Some(id) => Some((node, id.clone())),
            None => self.within.clone(),
        }
    }

    /// Whether it exists for agents at all.
    pub fn is_excluded(&self) -> bool {
        self.marks.contains(Marks::EXCLUDED)
    }
}

/// `None` for a node that is in no window any more.
type Known<K> = Option<Rc<Standing<K>>>;

/// Works out standings, remembering those of the ancestors: one of these serves one look.
pub struct Standings<'a, L: LiveTree> {
    live: &'a L,
    known: KeyMap<L::Key, Known<L::Key>>,
}

impl<'a, L: LiveTree> Standings<'a, L> {
    /// For one look at `live`.
    pub fn new(live: &'a L) -> Self {
        Self {
            live,
            known: KeyMap::default(),
        }
    }

    /// What is looked at.
    pub fn live(&self) -> &'a L {
        self.live
    }

    /// Where `node` stands; `None` if it is in no window any more. Costs its depth.
    pub fn of(&mut self, node: L::Key) -> Option<Rc<Standing<L::Key>>> {
        // Up to the first ancestor that is known, then down again: a tree may be deeper than
        // the stack is.
        let mut unknown = Vec::new();
        let mut at = node;
        let mut above = loop {
            if let Some(known) = self.known.get(&at) {
                break known.clone().map(|standing| (at, standing));
            }
            unknown.push(at);
            match self.live.parent(at) {
                Some(parent) => at = parent,
                None => break None,
            }
        };
        while let Some(node) = unknown.pop() {
            let standing = match &above {
                Some((parent, above)) => Some(Rc::new(self.below(node, *parent, above))),
                None if self.live.is_window(node) => Some(Rc::new(self.window(node))),
                None => None,
            };
            self.known.insert(node, standing.clone());
            above = standing.map(|standing| (node, standing));
        }
        above.map(|(_, standing)| standing)
    }

    /// Its role: the developer's word for it, else the toolkit's.
    pub fn role(&self, node: L::Key) -> Role {
        role(self.live, node)
    }

    /// Its accessible name, as agents are told it if it is exposed; empty if it is in no window.
    pub fn name(&mut self, node: L::Key) -> String {
        match self.of(node) {
            Some(standing) => name(self, node, &standing),
            None => String::new(),
        }
    }

    /// Its states, with what is inherited and what follows from its tags.
    pub fn states(&mut self, node: L::Key) -> States {
        match self.of(node) {
            Some(standing) => states(self.live, node, &standing),
            None => States::HIDDEN,
        }
    }

    /// Its own text, unless it is secret: then it is not read (rule 8).
    pub fn text(&mut self, node: L::Key) -> Option<String> {
        let standing = self.of(node)?;
        own_text(self.live, node, &standing)
    }

    fn window(&self, window: L::Key) -> Standing<L::Key> {
        self.extend(
            window,
            Standing {
                window,
                id: None,
                within: None,
                around: Arc::new([]),
                ceiling: VerbSet::all(),
                marks: Marks::empty(),
                inherited: States::empty(),
                fault: None,
                path: Arc::new([]),
            },
        )
    }

    fn below(&self, node: L::Key, parent: L::Key, above: &Standing<L::Key>) -> Standing<L::Key> {
        self.extend(
            node,
            Standing {
                id: None,
                within: above.innermost(parent),
                around: match &above.id {
                    Some(id) => above.around.iter().cloned().chain([id.clone()]).collect(),
                    None => above.around.clone(),
                },
                fault: None,
                ..above.clone()
            },
        )
    }

    fn extend(&self, node: L::Key, mut standing: Standing<L::Key>) -> Standing<L::Key> {
        standing.inherited |= self.live.facts(node).states & (States::HIDDEN | States::DISABLED);
        standing.path = standing
            .path
            .iter()
            .copied()
            .chain([self.live.position(node)])
            .collect();
        if let Some(tag) = self.live.tag(node) {
            standing.ceiling &= tag.get_ceiling();
            standing.marks |= tag.get_marks();
            if !standing.is_excluded() {
                let within = standing.within.as_ref().map(|(_, id)| id.as_ref());
                match exposed_id(tag, within) {
                    Ok(id) => standing.id = id,
                    Err(fault) => standing.fault = Some(fault),
                }
            }
        }
        standing
    }
}

/// The id that a tag exposes its node under, `within` being the id of what is exposed around it.
///
/// # Errors
/// If the developer meant to expose it and it can't be.
pub fn exposed_id(tag: &Tag, within: Option<&str>) -> Result<Option<Arc<str>>, TagFault> {
    if let Some(fault) = tag.fault() {
        return Err(fault);
    }
    if tag.get_exposed() == Some(false) {
        return Ok(None);
    }
    match (tag.get_id(), tag.get_key(), within) {
        (Some(id), _, _) => Ok(Some(id.into())),
        (None, Some(key), Some(within)) => keyed_id(within, key)
            .map(|id| Some(id.into()))
            .map_err(TagFault::Key),
        // A key with nothing exposed around it addresses nothing.
        _ => Ok(None),
    }
}

/// How much of a name is put together from what is inside a node, in bytes.
const MAX_CONTENT: usize = 4096;

/// The accessible name of an exposed node: its label if not empty, else its own text unless
/// that is a value, else, for the roles that ARIA names so, what is inside it. Nothing comes
/// from a part that an agent must not read.
pub(crate) fn name<L: LiveTree>(
    standings: &mut Standings<'_, L>,
    node: L::Key,
    standing: &Standing<L::Key>,
) -> String {
    let live = standings.live;
    let facts = live.facts(node);
    let role = role(live, node);
    let given = || live.tag(node).and_then(Tag::get_label).unwrap_or_default();
    let secret = standing.marks.contains(Marks::SECRET) || facts.states.contains(States::SECRET);
    if secret && !role.has_value() {
        // A toolkit makes the label of a button or label from its text.
        return given().to_owned();
    }
    let label = match live.label(node) {
        Label::None => String::new(),
        Label::Text(text) => text,
        Label::By(nodes) => {
            let mut label = String::new();
            for by in nodes {
                if let Some(standing) = standings.of(by)
                    && readable(live, by, &standing)
                {
                    append(&mut label, live.text(by));
                }
            }
            label
        }
    };
    if !label.is_empty() {
        return label;
    }
    if !given().is_empty() {
        return given().to_owned();
    }
    if role.has_value() {
        return String::new();
    }
    let text = live.text(node).unwrap_or_default();
    if !text.is_empty() || !role.named_from_content() {
        return text;
    }
    let mut content = String::new();
    let mut open = live.children(node);
    open.reverse();
    while let Some(part) = open.pop() {
        if content.len() > MAX_CONTENT {
            break;
        }
        if let Some(standing) = standings.of(part)
            && readable(live, part, &standing)
        {
            append(&mut content, live.text(part));
            open.extend(live.children(part).into_iter().rev());
        }
    }
    content
}

/// A node's role: the developer's word for it, else the toolkit's.
pub(crate) fn role<L: LiveTree>(live: &L, node: L::Key) -> Role {
    live.tag(node)
        .and_then(Tag::get_role)
        .unwrap_or_else(|| live.facts(node).role)
}

/// Whether a part may name something: not secret, not excluded, not marked unexposed, not
/// hidden, and not a field (whose text is a value, not words about it).
fn readable<L: LiveTree>(live: &L, part: L::Key, standing: &Standing<L::Key>) -> bool {
    let kept_back = live
        .tag(part)
        .is_some_and(|tag| tag.get_exposed() == Some(false));
    !kept_back
        && !standing.marks.intersects(Marks::SECRET | Marks::EXCLUDED)
        && !standing.inherited.contains(States::HIDDEN)
        && !live.facts(part).states.contains(States::SECRET)
        && !role(live, part).has_value()
}

fn append(words: &mut String, more: Option<String>) {
    if let Some(more) = more.filter(|more| !more.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&more);
    }
}
