//! The tree of the inspected app, as it was last told, and which rows of it are on show.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use agent_wire::inspector::Node;
use serde::Deserialize;
use serde_json::{Value, json};

/// Which nodes are on show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// All of them.
    #[default]
    All,
    /// Those that are exposed, where they stand in the whole.
    Exposed,
    /// What an agent that describes the app is shown: each below the nearest that is shown.
    Agent,
}

/// One row on show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The node's handle.
    pub node: u64,
    /// How far in.
    pub depth: usize,
    /// Whether there is something below it to open or close.
    pub opens: bool,
    /// Whether that is open.
    pub open: bool,
    /// Whether it is itself what is looked for, not only around it.
    pub found: bool,
}

/// A reply to `inspector.tree`, of the whole or of what changed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Page {
    revision: u64,
    complete: bool,
    since: Option<u64>,
    nodes: Vec<Arc<Node>>,
    changed: Vec<Arc<Node>>,
    removed: Vec<u64>,
    next: Option<u64>,
}

/// How much of the tree was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// Nothing yet, or a part: the next page is to be asked for.
    #[default]
    Part,
    /// All of it.
    Whole,
    /// As much as an inspector is ever told: there is more.
    Cut,
}

/// A node, and where it stands.
#[derive(Debug)]
struct Held {
    node: Arc<Node>,
    /// What is searched in, in lower case.
    told: Arc<str>,
    /// Its place in the list of all.
    at: usize,
}

/// What rows are made of: a node in its place.
#[derive(Debug)]
struct Flat {
    node: u64,
    /// Where what it is in stands.
    parent: Option<usize>,
    /// Behind the last of what is in it.
    end: usize,
    exposed: bool,
    shown: bool,
    told: Arc<str>,
}

/// The tree.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: HashMap<u64, Held>,
    /// What is directly in each, in order; windows are in `None`.
    children: HashMap<Option<u64>, Vec<u64>>,
    told: Told,
    /// What is asked for: changes since this revision, and from which handle on.
    since: Option<u64>,
    from: Option<u64>,
    /// The revision of the first page of those that are being read.
    reading: u64,
    /// Moves when anything does: to know when rows are stale.
    changes: u64,
    /// All of them in the order in which they stand, for rows to be made of.
    flat: Vec<Flat>,
    /// Whether the list is not up to date.
    stale: bool,
}

impl Tree {
    /// What to ask `inspector.tree` next.
    pub fn asks(&self) -> Value {
        let mut params = json!({});
        for (name, value) in [("since", self.since), ("from", self.from)] {
            if let Some(value) = value {
                params[name] = value.into();
            }
        }
        params
    }

    /// How much was told.
    pub fn told(&self) -> Told {
        self.told
    }

    /// Whether there is a next page to ask for.
    pub fn goes_on(&self) -> bool {
        self.from.is_some()
    }

    /// Counts what it took in.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of this handle.
    pub fn get(&self, node: u64) -> Option<&Node> {
        self.nodes.get(&node).map(|held| &*held.node)
    }

    /// All nodes, in no order.
    pub fn all(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().map(|held| &*held.node)
    }

    /// The nodes that an agent knows by an id.
    pub fn exposed(&self) -> impl Iterator<Item = &Node> {
        self.all().filter(|node| node.id.is_some())
    }

    /// Takes the reply to what it [asks](Self::asks). Answers whether anything changed by it.
    pub fn take(&mut self, page: Page) -> bool {
        match (page.since, self.since, self.from) {
            // The app has forgotten what it was to go on from.
            (None, Some(_), Some(_)) => {
                self.clear();
                return true;
            }
            (None, _, None) => self.clear(),
            _ => {}
        }
        if self.from.is_none() {
            self.reading = page.revision;
        }
        self.from = page.next;
        let told = match (page.complete, page.next) {
            (true, _) => Told::Whole,
            (false, None) => Told::Cut,
            // Of what changed, the whole was known before.
            (false, Some(_)) if page.since.is_some() => self.told,
            (false, Some(_)) => Told::Part,
        };
        let mut news = std::mem::replace(&mut self.told, told) != told;
        if page.next.is_none() {
            self.since = Some(self.reading);
        }
        // Whether rows come, go or move; else they only say something else.
        let mut moved = false;
        for node in page.removed {
            moved |= self.nodes.remove(&node).is_some();
        }
        for node in page.nodes.into_iter().chain(page.changed) {
            news = true;
            moved |= self.put(node);
        }
        self.stale |= moved;
        // Not at each page: of a large tree there are many, and each time is as long as it is large.
        if self.stale && (page.next.is_none() || self.nodes.len() >= 2 * self.flat.len()) {
            self.index();
        }
        news |= moved;
        self.changes += u64::from(news);
        news
    }

    /// Answers whether it is new, or in another place.
    fn put(&mut self, node: Arc<Node>) -> bool {
        let told: Arc<str> = told(&node).to_lowercase().into();
        let at = match self.nodes.get(&node.node) {
            Some(Held { node: old, at, .. })
                if (old.parent, old.index) == (node.parent, node.index) =>
            {
                Some(*at)
            }
            _ => None,
        };
        let flat = at.and_then(|at| self.flat.get_mut(at));
        let stays = match flat.filter(|flat| flat.node == node.node) {
            Some(flat) => {
                flat.exposed = node.id.is_some();
                flat.shown = node.shown;
                flat.told = told.clone();
                true
            }
            None => false,
        };
        let at = at.unwrap_or(usize::MAX);
        self.nodes.insert(node.node, Held { node, told, at });
        !stays
    }

    /// Forgets all: another run of the app has other handles.
    pub fn clear(&mut self) {
        *self = Self {
            changes: self.changes + 1,
            ..Self::default()
        };
    }

    fn index(&mut self) {
        self.stale = false;
        self.children.clear();
        for (handle, held) in &self.nodes {
            let siblings = self.children.entry(held.node.parent).or_default();
            siblings.push(*handle);
        }
        let nodes = &self.nodes;
        for siblings in self.children.values_mut() {
            siblings.sort_by_key(|node| nodes.get(node).map_or(0, |held| held.node.index));
        }
        self.flatten();
    }

    /// Puts all nodes into one list, each before what is in it. What is in a node that was not
    /// told yet is left out until that is.
    fn flatten(&mut self) {
        self.flat.clear();
        // Depth first, with a stack of our own: a node to enter, or one to leave.
        let mut open: Vec<Result<(u64, Option<usize>), usize>> = Vec::new();
        let enter = |siblings: Option<&Vec<u64>>, parent, open: &mut Vec<_>| {
            let siblings = siblings.into_iter().flatten().rev();
            open.extend(siblings.map(|node| Ok((*node, parent))));
        };
        enter(self.children.get(&None), None, &mut open);
        while let Some(next) = open.pop() {
            let (handle, parent) = match next {
                Ok(entered) => entered,
                Err(left) => {
                    let end = self.flat.len();
                    if let Some(flat) = self.flat.get_mut(left) {
                        flat.end = end;
                    }
                    continue;
                }
            };
            let Some(held) = self.nodes.get_mut(&handle) else {
                continue;
            };
            let at = self.flat.len();
            held.at = at;
            self.flat.push(Flat {
                node: handle,
                parent,
                end: at + 1,
                exposed: held.node.id.is_some(),
                shown: held.node.shown,
                told: held.told.clone(),
            });
            open.push(Err(at));
            enter(self.children.get(&Some(handle)), Some(at), &mut open);
        }
    }

    /// What is directly in a node, in order; of `None`, the windows.
    pub fn children(&self, node: Option<u64>) -> &[u64] {
        self.children.get(&node).map_or(&[], Vec::as_slice)
    }

    /// What a node is in, the nearest first.
    pub fn around(&self, node: u64) -> impl Iterator<Item = &Node> {
        let up = |node: &&Node| node.parent.and_then(|parent| self.get(parent));
        // No longer than there are nodes, whatever the app says.
        std::iter::successors(self.get(node), up)
            .skip(1)
            .take(self.len())
    }

    /// Where a node is, in a way that another run of the app can be asked for: its id, or its
    /// roles and places from there or from the window down.
    pub fn place(&self, node: u64) -> Option<Place> {
        let mut steps = Vec::new();
        let mut at = self.get(node)?;
        let id = loop {
            if let Some(id) = &at.id {
                break Some(id.clone());
            }
            steps.push((at.role.to_string(), at.index));
            match at.parent.and_then(|parent| self.get(parent)) {
                Some(parent) if steps.len() < self.len() => at = parent,
                _ => break None,
            }
        };
        steps.reverse();
        Some(Place { id, steps })
    }

    /// The node that stands there now.
    pub fn find(&self, place: &Place) -> Option<u64> {
        let mut at = match &place.id {
            Some(id) => {
                let mut exposed = self.exposed();
                Some(exposed.find(|node| node.id.as_ref() == Some(id))?.node)
            }
            None => None,
        };
        for (role, index) in &place.steps {
            let mut inside = self.children(at).iter().copied();
            let fits = |node: &u64| {
                let node = self.get(*node);
                node.is_some_and(|node| node.index == *index && node.role == *role)
            };
            at = Some(inside.find(fits)?);
        }
        at
    }

    /// The innermost of the nodes whose frame holds a point of their window.
    pub fn at(&self, window: u64, x: f64, y: f64) -> Option<u64> {
        let holds = |node: &Node| {
            let hidden = node
                .state
                .iter()
                .any(|state| state == "hidden" || state == "offscreen");
            !hidden
                && node.frame.is_some_and(|[left, top, width, height]| {
                    (left..left + width).contains(&x) && (top..top + height).contains(&y)
                })
        };
        let mut found = None;
        let mut open = vec![window];
        while let Some(node) = open.pop() {
            let Some(node) = self.get(node) else { continue };
            let through = node.frame.is_none();
            if holds(node) {
                found = Some(node.node);
            }
            if holds(node) || through {
                // What comes later lies above.
                open.extend(self.children(Some(node.node)).iter().rev());
            }
        }
        found
    }

    /// The rows on show. `closed`: the nodes that are closed; what is searched for is always
    /// open.
    pub fn rows(&self, filter: Filter, search: &str, closed: &HashSet<u64>) -> Vec<Row> {
        let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
        let found = |flat: &Flat| {
            let shown = match filter {
                Filter::All => true,
                Filter::Exposed => flat.exposed,
                Filter::Agent => flat.shown,
            };
            shown && words.iter().all(|word| flat.told.contains(word))
        };
        // What is on show, and what that is in.
        let mut wanted = vec![false; self.flat.len()];
        let mut opens = vec![false; self.flat.len()];
        let hits: Vec<bool> = self.flat.iter().map(found).collect();
        for (at, _) in hits.iter().enumerate().filter(|(_, hit)| **hit) {
            let mut around = Some(at);
            while let Some(at) = around
                && !std::mem::replace(&mut wanted[at], true)
            {
                around = self.flat[at].parent;
                if let Some(parent) = around {
                    opens[parent] = true;
                }
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        // The ends of what has a row and is around.
        let mut around: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(flat) = self.flat.get(at) {
            while around.last().is_some_and(|end| *end <= at) {
                around.pop();
            }
            if !wanted[at] {
                at = flat.end;
                continue;
            }
            // An agent's view goes through what is not shown.
            if filter == Filter::Agent && !flat.shown {
                at += 1;
                continue;
            }
            // What is searched for is always open.
            let open = !words.is_empty() || !closed.contains(&flat.node);
            rows.push(Row {
                node: flat.node,
                depth: around.len(),
                opens: opens[at],
                open,
                found: hits[at],
            });
            around.push(flat.end);
            at = if open { at + 1 } else { flat.end };
        }
        rows
    }
}

/// Where a node is, for another run of its app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    id: Option<String>,
    steps: Vec<(String, usize)>,
}

/// All that is told of a node, each in a line of its own.
fn told(node: &Node) -> String {
    let id = node.id.as_deref().unwrap_or_default();
    let text = node.text.as_deref().unwrap_or_default();
    [&node.name, &*node.role, &node.class, id, text].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(node: u64, parent: u64, index: usize, name: &str, id: Option<&str>) -> Node {
        Node {
            node,
            parent: (parent > 0).then_some(parent),
            index,
            role: "button".into(),
            class: "Button".into(),
            name: name.into(),
            id: id.map(str::to_owned),
            shown: id.is_some(),
            frame: Some([0.0, 10.0 * node as f64, 100.0, 10.0]),
            ..Node::default()
        }
    }

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.take(Page {
            revision: 1,
            complete: true,
            nodes: five(),
            ..Page::default()
        });
        tree
    }

    fn five() -> Vec<Arc<Node>> {
        let nodes = [
            node(1, 0, 0, "Main", Some("main")),
            node(2, 1, 0, "Box", None),
            node(3, 2, 0, "Save", Some("save")),
            node(4, 2, 1, "Cancel", None),
            node(5, 1, 1, "Help", None),
        ];
        nodes.map(Arc::new).into()
    }

    /// What changed since the first revision.
    fn changes(changed: Vec<Node>, removed: Vec<u64>) -> Page {
        Page {
            revision: 2,
            complete: true,
            since: Some(1),
            changed: changed.into_iter().map(Arc::new).collect(),
            removed,
            ..Page::default()
        }
    }

    fn shown(tree: &Tree, filter: Filter, search: &str, closed: &[u64]) -> Vec<(u64, usize)> {
        let closed = closed.iter().copied().collect();
        let rows = tree.rows(filter, search, &closed);
        rows.iter().map(|row| (row.node, row.depth)).collect()
    }

    #[test]
    fn rows_are_filtered_searched_and_closed() {
        let tree = tree();
        let all = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 1)];
        assert_eq!(shown(&tree, Filter::All, "", &[]), all);
        assert_eq!(
            shown(&tree, Filter::All, "", &[2]),
            [(1, 0), (2, 1), (5, 1)]
        );
        assert_eq!(
            shown(&tree, Filter::Exposed, "", &[]),
            [(1, 0), (2, 1), (3, 2)]
        );
        // Below the nearest that an agent is shown.
        assert_eq!(shown(&tree, Filter::Agent, "", &[]), [(1, 0), (3, 1)]);
        assert_eq!(
            shown(&tree, Filter::All, "cancel", &[2]),
            [(1, 0), (2, 1), (4, 2)]
        );
        assert_eq!(
            shown(&tree, Filter::All, "button sav", &[]),
            [(1, 0), (2, 1), (3, 2)]
        );
        assert_eq!(shown(&tree, Filter::Agent, "cancel", &[]), []);
    }

    #[test]
    fn what_changed_is_taken_in() {
        let mut tree = tree();
        let before = tree.changes();
        assert!(!tree.take(changes(vec![], vec![])));
        assert_eq!(tree.changes(), before);
        // A new one comes before, which moves the other.
        let new = node(6, 2, 0, "New", None);
        let moved = node(3, 2, 1, "Save", Some("save"));
        assert!(tree.take(changes(vec![new, moved], vec![4])));
        assert_eq!(tree.children(Some(2)), [6, 3]);
        assert_eq!(tree.asks(), json!({"since": 2}));
        // One that stays where it is and says something else.
        let renamed = node(5, 1, 1, "Assistance", None);
        assert!(tree.take(changes(vec![renamed], vec![])));
        let found = shown(&tree, Filter::All, "assist", &[]);
        assert_eq!(found, [(1, 0), (5, 1)]);
        assert_eq!(shown(&tree, Filter::All, "help", &[]), []);
    }

    #[test]
    fn a_large_tree_comes_page_by_page() {
        let page = |revision, since, nodes: &[usize], next: Option<u64>| {
            let nodes: Vec<_> = nodes.iter().map(|at| five()[*at].clone()).collect();
            let (nodes, changed) = match since {
                None => (nodes, Vec::new()),
                Some(_) => (Vec::new(), nodes),
            };
            Page {
                revision,
                complete: next.is_none(),
                since,
                nodes,
                changed,
                removed: Vec::new(),
                next,
            }
        };
        let mut tree = Tree::default();
        assert_eq!(tree.asks(), json!({}));
        tree.take(page(1, None, &[0, 2], Some(4)));
        assert_eq!((tree.told(), tree.asks()), (Told::Part, json!({"from": 4})));
        // What it is in was not told yet.
        assert_eq!(shown(&tree, Filter::All, "", &[]), [(1, 0)]);
        // The tree has moved on; what changed since the first page is asked for after the last.
        tree.take(page(7, None, &[1, 3, 4], None));
        assert_eq!(
            (tree.told(), tree.asks()),
            (Told::Whole, json!({"since": 1}))
        );
        let all = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 1)];
        assert_eq!(shown(&tree, Filter::All, "", &[]), all);
        // The same with changes: there is no hole meanwhile.
        tree.take(page(8, Some(1), &[0], Some(3)));
        let asked = json!({"since": 1, "from": 3});
        assert_eq!((tree.told(), tree.asks()), (Told::Whole, asked));
        tree.take(page(9, Some(1), &[3], None));
        assert_eq!(tree.asks(), json!({"since": 8}));
        assert_eq!(shown(&tree, Filter::All, "", &[]), all);
        // Forgotten in the middle of it: from the beginning.
        tree.take(page(10, Some(8), &[0], Some(3)));
        tree.take(page(11, None, &[2], None));
        assert_eq!((tree.told(), tree.asks()), (Told::Part, json!({})));
        let cut = Page {
            complete: false,
            ..page(12, None, &[0], None)
        };
        tree.take(cut);
        assert_eq!(tree.told(), Told::Cut);
    }

    #[test]
    fn a_place_is_found_again_in_another_run() {
        let tree = tree();
        let places = [3, 4, 5].map(|node| tree.place(node).unwrap());
        let mut again = Tree::default();
        let shift = |mut node: Node| {
            node.node += 100;
            node.parent = node.parent.map(|parent| parent + 100);
            node
        };
        again.take(Page {
            revision: 9,
            complete: true,
            nodes: tree.all().cloned().map(shift).map(Arc::new).collect(),
            ..Page::default()
        });
        let found = places.map(|place| again.find(&place));
        assert_eq!(found, [Some(103), Some(104), Some(105)]);
    }

    #[test]
    fn the_innermost_is_found_under_a_point() {
        let mut tree = tree();
        let mut window = node(1, 0, 0, "Main", Some("main"));
        window.frame = None;
        let mut around = node(2, 1, 0, "Box", None);
        around.frame = Some([0.0, 0.0, 100.0, 100.0]);
        tree.take(changes(vec![window, around], vec![]));
        assert_eq!(tree.at(1, 5.0, 35.0), Some(3));
        assert_eq!(tree.at(1, 5.0, 75.0), Some(2));
        assert_eq!(tree.at(1, 500.0, 35.0), None);
    }
}
