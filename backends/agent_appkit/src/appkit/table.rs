//! Which object is which node, and what its developer says of it.
//!
//! The table keeps no object alive. It hears of each one's end from `dealloc` (see `hooks`),
//! before its memory is given back, and from then on the node is nobody's: so an address is
//! followed only while what was put in is still there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::{Tag, keyed_id};
use objc2::{Message, rc::Retained, runtime::AnyObject};

/// A handle for one thing that is described. Never given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(u64);

impl Node {
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    pub(crate) fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// What kind of object a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    View,
    Window,
    Menu,
    MenuItem,
    TabItem,
}

/// How a row is told from the others of its table: rows are no objects that last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RowName {
    /// By what the developer calls it; and how many of that name come before it, who should have
    /// names of their own.
    Given(String, usize),
    /// By its place, where nothing is said of it. It can't be addressed.
    Place(isize),
}

/// What developers say of objects, and where to look for what an agent names. A look holds on to
/// the one that it began with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    pub(crate) of: HashMap<Node, Tag>,
    /// By the last part of the id that each may be exposed under.
    by_name: HashMap<String, Vec<Node>>,
}

impl Tags {
    /// Those that may have this id.
    pub(crate) fn named(&self, id: &str) -> Vec<Node> {
        let name = id.rsplit('/').next().unwrap_or(id);
        self.by_name.get(name).cloned().unwrap_or_default()
    }

    fn set(&mut self, node: Node, tag: Option<Tag>) {
        if let Some(name) = self.of.remove(&node).as_ref().and_then(name)
            && let Some(nodes) = self.by_name.get_mut(&name)
        {
            nodes.retain(|other| *other != node);
            if nodes.is_empty() {
                self.by_name.remove(&name);
            }
        }
        if let Some(tag) = tag {
            if let Some(name) = name(&tag) {
                self.by_name.entry(name).or_default().push(node);
            }
            self.of.insert(node, tag);
        }
    }
}

/// The last part of the id that a tag asks for: an id as it is, a key as it stands in an id.
pub(crate) fn name(tag: &Tag) -> Option<String> {
    match (tag.get_id(), tag.get_key()) {
        (Some(id), _) => Some(id.to_owned()),
        (None, Some(key)) => {
            let id = keyed_id("x", key).ok()?;
            Some(id.trim_start_matches("x/").to_owned())
        }
        (None, None) => None,
    }
}

#[derive(Default)]
pub(crate) struct Table {
    last: u64,
    nodes: HashMap<usize, Node>,
    objects: HashMap<Node, (usize, Sort)>,
    rows: HashMap<Node, HashMap<RowName, Node>>,
    tables: HashMap<Node, Node>,
    tags: Arc<Tags>,
    stamps: HashMap<Node, u64>,
}

/// An object may be let go on any thread, so the table is for all of them; everything else that
/// is done with it is done on the main thread. Never held while an object is sent a message
/// other than `retain`.
static TABLE: Mutex<Option<Table>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Table>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<R>(f: impl FnOnce(&mut Table) -> R) -> R {
    f(lock().get_or_insert_default())
}

fn address(object: &AnyObject) -> usize {
    std::ptr::from_ref(object) as usize
}

impl Table {
    fn next(&mut self) -> Node {
        self.last += 1;
        Node(self.last)
    }

    fn forget(&mut self, node: Node) {
        self.objects.remove(&node);
        self.stamps.remove(&node);
        if self.tags.of.contains_key(&node) {
            Arc::make_mut(&mut self.tags).set(node, None);
        }
        if let Some(rows) = self.rows.remove(&node) {
            for row in rows.into_values() {
                self.tables.remove(&row);
                self.stamps.remove(&row);
            }
        }
    }
}

/// The node of an object, from now on if it had none. `dealloc` of its class must be heard.
pub(crate) fn node_of(object: &AnyObject, sort: Sort) -> Node {
    with(|table| {
        let address = address(object);
        if let Some(node) = table.nodes.get(&address) {
            return *node;
        }
        let node = table.next();
        table.nodes.insert(address, node);
        table.objects.insert(node, (address, sort));
        node
    })
}

/// The node of an object, if it has one.
pub(crate) fn known(object: &AnyObject) -> Option<Node> {
    let address = address(object);
    lock().as_ref()?.nodes.get(&address).copied()
}

/// What kind of object it is; `None` for a row, and for what is gone.
pub(crate) fn sort(node: Node) -> Option<Sort> {
    let table = lock();
    table.as_ref()?.objects.get(&node).map(|(_, sort)| *sort)
}

/// The object, if it is there and of this sort.
///
/// # Safety
/// `T` is the class that objects of this sort were put in as. Main thread.
pub(crate) unsafe fn object<T: Message>(node: Node, sort: Sort) -> Option<Retained<T>> {
    let table = lock();
    let (address, is) = *table.as_ref()?.objects.get(&node)?;
    if is != sort {
        return None;
    }
    // SAFETY: `dealloc` takes it out of the table before the memory is given back, and needs the
    // lock for that.
    unsafe { Retained::retain(address as *mut T) }
}

/// An object is about to go. Any thread.
pub(crate) fn gone(object: *const AnyObject) {
    let mut table = lock();
    let Some(table) = table.as_mut() else { return };
    if let Some(node) = table.nodes.remove(&(object as usize)) {
        table.forget(node);
    }
}

/// Sets what a developer says of it.
pub(crate) fn set_tag(node: Node, tag: Option<Tag>) {
    with(|table| Arc::make_mut(&mut table.tags).set(node, tag));
}

/// What developers say now.
pub(crate) fn tags() -> Arc<Tags> {
    with(|table| table.tags.clone())
}

/// Notes that its text was changed by somebody. What is in no table yet is nobody's business.
pub(crate) fn text_changed(node: Node) {
    with(|table| *table.stamps.entry(node).or_default() += 1);
}

pub(crate) fn stamp(node: Node) -> u64 {
    with(|table| table.stamps.get(&node).copied().unwrap_or_default())
}

/// How many rows that are out of view are kept of a table, at most.
const MOST_KEPT: usize = 10_000;

/// The nodes of the rows of a table that are in view; those of the others are let go, unless
/// the look is one that `keeps` them. No name stands twice.
pub(crate) fn rows(of: Node, names: Vec<RowName>, keeps: bool) -> Vec<Node> {
    with(|table| {
        let mut before = table.rows.remove(&of).unwrap_or_default();
        let mut now = HashMap::with_capacity(names.len());
        let mut nodes = Vec::with_capacity(names.len());
        for name in names {
            let node = before.remove(&name).unwrap_or_else(|| table.next());
            table.tables.insert(node, of);
            now.insert(name, node);
            nodes.push(node);
        }
        if keeps && before.len() < MOST_KEPT {
            now.extend(before);
        } else {
            for row in before.into_values() {
                table.tables.remove(&row);
                table.stamps.remove(&row);
            }
        }
        table.rows.insert(of, now);
        nodes
    })
}

/// The table that a row is of.
pub(crate) fn table_of(row: Node) -> Option<Node> {
    lock().as_ref()?.tables.get(&row).copied()
}

/// How many objects and rows are known: for tests that nothing is kept.
pub fn known_objects() -> usize {
    with(|table| table.objects.len() + table.tables.len())
}
