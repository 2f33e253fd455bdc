//! The retained tree: where widgets are kept, what is inside what, which windows there are, and
//! what has changed since somebody last looked.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use agent_core::{Changes, EventVerb, Label, Tag, VerbSet};

use crate::{
    kind::Kind,
    widget::{Handlers, Node, Props, Rows, Widget},
};

/// How many acts of widgets are remembered until somebody looks.
const MAX_ACTED: usize = 256;

/// A node of no tree: what adding to a parent that is gone gives.
pub(crate) const NOWHERE: Node = Node(0);

/// One widget in its place.
pub(crate) struct Data {
    pub(crate) props: Props,
    pub(crate) handlers: Handlers,
    pub(crate) parent: Option<Node>,
    /// Its place among its siblings, kept so that nobody has to count.
    pub(crate) position: usize,
    pub(crate) children: Vec<Node>,
    /// How many of the children are tree items: whether it opens.
    pub(crate) tree_items: usize,
    /// Moves when its text changes.
    pub(crate) stamp: u64,
    /// Of a secret: its change has been shown, and is not shown again for now.
    pub(crate) told: bool,
    pub(crate) undo: VecDeque<String>,
    /// The selected one of what is to choose from inside it.
    pub(crate) chosen: Option<Node>,
    /// The radio button that is on, of those directly inside it.
    pub(crate) lit: Option<Node>,
    pub(crate) labelled_by: Vec<Node>,
    /// What this one's text names.
    pub(crate) labels: Vec<Node>,
    /// How far its contents are scrolled, in points.
    pub(crate) scroll: f64,
    pub(crate) lazy: Option<Lazy>,
    /// Of a row of a lazy list: its number.
    pub(crate) row: Option<u64>,
    pub(crate) top: Option<Top>,
    pub(crate) name: Option<String>,
    /// The id that its tag exposes it under, but for exclusion.
    pub(crate) claimed: Option<Arc<str>>,
    /// The id that the index has it under.
    pub(crate) listed: Option<Arc<str>>,
    /// Its place among the tagged nodes.
    pub(crate) tag_slot: Option<usize>,
    /// The look before which it was last noted as changed.
    noted: u64,
}

pub(crate) struct Lazy {
    pub(crate) rows: Rows,
    pub(crate) selected: Option<u64>,
}

/// What only windows have.
pub(crate) struct Top {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) modal: bool,
    /// The window that this modal was opened over.
    blocks: Option<Node>,
    /// The modal that was opened over this one.
    blocked: Option<Node>,
    pub(crate) default: Option<Node>,
}

#[derive(Default)]
struct Slot {
    /// Moves with each widget that the slot is given to.
    generation: u32,
    data: Option<Box<Data>>,
}

enum Dirt {
    Nothing,
    Nodes(Vec<Node>),
    Everything,
}

/// Windows and the widgets in them. Belongs to the UI thread: handlers and
/// [`Headless::run`](crate::Headless::run) are given it there. Setters are what an app does to
/// its own widgets: they run no handler. What a person does is [`user_click`](Self::user_click)
/// and the like. A node that is gone is left alone by all of them.
pub struct Tree {
    slots: Vec<Slot>,
    free: Vec<u32>,
    pub(crate) windows: Vec<Node>,
    pub(crate) focus: Option<Node>,
    pub(crate) index: HashMap<Arc<str>, Vec<Node>>,
    pub(crate) tagged: Vec<Node>,
    names: HashMap<String, Vec<Node>>,
    unsupported: VerbSet,
    /// Whether anybody will look. While not, nothing is remembered.
    listening: bool,
    dirt: Dirt,
    looks: u64,
    acted: Vec<(Node, EventVerb)>,
    /// The same for a developer's inspector, while there is one.
    #[cfg(feature = "inspector")]
    overheard: Option<Vec<(Node, EventVerb)>>,
    /// Something that other threads may ask about without waiting has changed.
    pub(crate) windows_changed: bool,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

/// Storage.
impl Tree {
    /// No windows yet.
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            windows: Vec::new(),
            focus: None,
            index: HashMap::new(),
            tagged: Vec::new(),
            names: HashMap::new(),
            unsupported: VerbSet::empty(),
            listening: true,
            dirt: Dirt::Everything,
            looks: 1,
            acted: Vec::new(),
            #[cfg(feature = "inspector")]
            overheard: None,
            windows_changed: true,
        }
    }

    pub(crate) fn get(&self, node: Node) -> Option<&Data> {
        let slot = self.slots.get((node.0 & u64::from(u32::MAX)) as usize)?;
        (u64::from(slot.generation) == node.0 >> 32)
            .then_some(slot.data.as_deref())
            .flatten()
    }

    pub(crate) fn get_mut(&mut self, node: Node) -> Option<&mut Data> {
        let slot = self
            .slots
            .get_mut((node.0 & u64::from(u32::MAX)) as usize)?;
        if u64::from(slot.generation) != node.0 >> 32 {
            return None;
        }
        slot.data.as_deref_mut()
    }

    fn store(&mut self, data: Data) -> Node {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        match self.slots.get_mut(index as usize) {
            Some(slot) => {
                slot.generation += 1;
                slot.data = Some(Box::new(data));
                Node(u64::from(slot.generation) << 32 | u64::from(index))
            }
            None => NOWHERE,
        }
    }

    fn discard(&mut self, node: Node) {
        let index = node.0 as u32;
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.data = None;
            // A slot that has been through all generations is left empty: a node is never
            // given to another widget.
            if slot.generation < u32::MAX {
                self.free.push(index);
            }
        }
    }

    /// Whether it is still there.
    pub fn contains(&self, node: Node) -> bool {
        self.get(node).is_some()
    }

    /// What it is and holds.
    pub fn props(&self, node: Node) -> Option<&Props> {
        self.get(node).map(|data| &data.props)
    }

    pub(crate) fn kind(&self, node: Node) -> Option<Kind> {
        self.get(node).map(|data| data.props.kind)
    }

    /// A widget by the name it was given for scripts, else by its agent id: as its developer
    /// gave it, or `list/key`; exposed or not. One of them, if there are several.
    pub fn find(&self, name: &str) -> Option<Node> {
        let named = self.names.get(name).and_then(|nodes| nodes.first());
        named
            .or_else(|| self.index.get(name).and_then(|nodes| nodes.first()))
            .copied()
    }

    /// The widget that has the keyboard focus.
    pub fn focused(&self) -> Option<Node> {
        self.focus
    }

    /// How far what is inside is scrolled, in points.
    pub fn scrolled(&self, node: Node) -> f64 {
        self.get(node).map_or(0.0, |data| data.scroll)
    }

    /// The number of a lazy list's selected row, which may not be in view.
    pub fn selected_row(&self, list: Node) -> Option<u64> {
        self.get(list)?.lazy.as_ref()?.selected
    }

    /// Of a row of a lazy list, its number.
    pub fn row_number(&self, row: Node) -> Option<u64> {
        self.get(row)?.row
    }

    /// How many rows a lazy list stands for, and whether they have keys.
    pub fn rows(&self, list: Node) -> Option<(u64, bool)> {
        let rows = &self.get(list)?.lazy.as_ref()?.rows;
        Some((rows.count, rows.keyed))
    }

    /// Whether the app listens to clicks on it, and to Enter in it.
    pub fn listens(&self, node: Node) -> (bool, bool) {
        self.get(node).map_or((false, false), |data| {
            (
                data.handlers.click.is_some(),
                data.handlers.submit.is_some(),
            )
        })
    }

    /// What names it, of other widgets.
    pub fn labelled_by(&self, node: Node) -> &[Node] {
        self.get(node).map_or(&[], |data| &data.labelled_by)
    }

    /// The verbs that this toolkit shall lack: they are offered by no widget.
    pub fn unsupported(&self) -> VerbSet {
        self.unsupported
    }

    /// Takes verbs away from this toolkit.
    pub fn set_unsupported(&mut self, verbs: impl Into<VerbSet>) {
        self.unsupported = verbs.into();
        self.windows_changed = true;
        self.touch_all();
    }
}

/// What is inside what.
impl Tree {
    /// Adds a widget after what is inside `parent` already. Where the parent is gone nothing is
    /// added, and the node that is given back is of no widget.
    pub fn add(&mut self, parent: Node, widget: Widget) -> Node {
        self.insert(parent, usize::MAX, widget)
    }

    /// Adds a widget at a place among those inside `parent`, or after them.
    pub fn insert(&mut self, parent: Node, at: usize, widget: Widget) -> Node {
        if !self.contains(parent) {
            return NOWHERE;
        }
        self.plant(Some((parent, at)), widget)
    }

    /// Opens a window.
    pub fn open_window(&mut self, widget: Widget) -> Node {
        self.plant(None, widget)
    }

    /// Opens a dialog that blocks the window of `opener`, and any modal that is open over it,
    /// until it closes.
    pub fn open_modal(&mut self, opener: Node, widget: Widget) -> Node {
        let under = self.window_of(opener).map(|window| {
            let mut under = window;
            while let Some(over) = self.top(under).and_then(|top| top.blocked) {
                under = over;
            }
            under
        });
        let modal = self.plant(None, widget);
        if let Some(top) = self.top_mut(modal) {
            top.modal = true;
            top.blocks = under;
        }
        if let Some(top) = under.and_then(|under| self.top_mut(under)) {
            top.blocked = Some(modal);
        }
        modal
    }

    /// Closes a window or dialog. Windows that were opened from it stay.
    pub fn close(&mut self, window: Node) {
        self.remove(window);
    }

    /// Removes a widget and everything inside it; a window is closed.
    pub fn remove(&mut self, node: Node) {
        let inside = self.subtree(node);
        for gone in &inside {
            self.leave(*gone);
        }
        let Some(data) = self.get(node) else {
            return;
        };
        match (data.parent, &data.top) {
            (Some(_), _) => self.unlink(node),
            (None, Some(top)) => {
                let (blocks, blocked) = (top.blocks, top.blocked);
                if let Some(under) = blocks.and_then(|under| self.top_mut(under)) {
                    under.blocked = blocked;
                }
                if let Some(over) = blocked.and_then(|over| self.top_mut(over)) {
                    over.blocks = blocks;
                }
                self.windows.retain(|window| *window != node);
                self.number_windows();
            }
            (None, None) => {}
        }
        for gone in inside {
            self.forget(gone);
        }
        self.touch_all();
    }

    /// Moves a widget to a place inside another. `false`: it can't be, because it is a window, a
    /// row of a lazy list, or around the place where it is to go.
    pub fn move_to(&mut self, node: Node, parent: Node, at: usize) -> bool {
        let movable = self
            .get(node)
            .is_some_and(|data| data.top.is_none() && data.row.is_none());
        let below_itself = self.path(parent).any(|around| around == node);
        if !movable || !self.contains(parent) || below_itself {
            return false;
        }
        let inside = self.subtree(node);
        for moved in &inside {
            self.leave(*moved);
        }
        self.unlink(node);
        self.link(node, parent, at);
        self.claim_below(node, true);
        for moved in inside {
            self.settle_in(moved);
        }
        self.let_go_of_focus();
        self.touch_all();
        true
    }

    fn plant(&mut self, place: Option<(Node, usize)>, widget: Widget) -> Node {
        // First, since the texts of a lazy list's rows are the app's to make, and it may panic.
        self.touch_all();
        let mut planted = NOWHERE;
        let mut queue = VecDeque::from([(place, widget)]);
        // Breadth first: what is around a widget has its id before the widget asks for it.
        while let Some((place, widget)) = queue.pop_front() {
            let Widget {
                props,
                handlers,
                rows,
                name,
                children,
                row,
            } = widget;
            let tagged = props.tag.is_some();
            let node = self.store(Data {
                props,
                handlers,
                parent: None,
                position: 0,
                children: Vec::new(),
                tree_items: 0,
                stamp: 0,
                told: false,
                undo: VecDeque::new(),
                chosen: None,
                lit: None,
                labelled_by: Vec::new(),
                labels: Vec::new(),
                scroll: 0.0,
                lazy: None,
                row,
                top: place.is_none().then_some(Top {
                    width: 640.0,
                    height: 480.0,
                    modal: false,
                    blocks: None,
                    blocked: None,
                    default: None,
                }),
                name: name.clone(),
                claimed: None,
                listed: None,
                tag_slot: None,
                noted: 0,
            });
            if planted == NOWHERE {
                planted = node;
            }
            if let Some(name) = name {
                self.names.entry(name).or_default().push(node);
            }
            match place {
                Some((parent, at)) => self.link(node, parent, at),
                None => {
                    self.windows.push(node);
                    self.number_windows();
                }
            }
            if tagged {
                self.list_tagged(node);
                self.claim_below(node, false);
            }
            self.settle_in(node);
            queue.extend(
                children
                    .into_iter()
                    .map(|child| (Some((node, usize::MAX)), child)),
            );
            if let Some(rows) = rows {
                self.set_rows(node, Some(rows));
            }
        }
        planted
    }

    fn link(&mut self, node: Node, parent: Node, at: usize) {
        let is_item = self.kind(node) == Some(Kind::TreeItem);
        let Some(around) = self.get_mut(parent) else {
            return;
        };
        let at = at.min(around.children.len());
        around.children.insert(at, node);
        around.tree_items += usize::from(is_item);
        if let Some(data) = self.get_mut(node) {
            data.parent = Some(parent);
        }
        self.number_children(parent, at);
    }

    fn unlink(&mut self, node: Node) {
        let is_item = self.kind(node) == Some(Kind::TreeItem);
        let Some(data) = self.get_mut(node) else {
            return;
        };
        let (Some(parent), at) = (data.parent.take(), data.position) else {
            return;
        };
        if let Some(around) = self.get_mut(parent) {
            around.children.remove(at);
            around.tree_items -= usize::from(is_item);
        }
        self.number_children(parent, at);
    }

    /// Numbers the children anew from a place on: appending numbers one.
    fn number_children(&mut self, parent: Node, from: usize) {
        let Some(data) = self.get(parent) else {
            return;
        };
        for at in from..data.children.len() {
            let child = self
                .get(parent)
                .and_then(|data| data.children.get(at).copied());
            if let Some(child) = child.and_then(|child| self.get_mut(child)) {
                child.position = at;
            }
        }
    }

    fn number_windows(&mut self) {
        for at in 0..self.windows.len() {
            let window = self.windows.get(at).copied();
            if let Some(data) = window.and_then(|window| self.get_mut(window)) {
                data.position = at;
            }
        }
        self.windows_changed = true;
    }

    /// A node and everything inside it, each after what it is in.
    pub(crate) fn subtree(&self, node: Node) -> Vec<Node> {
        let mut all = vec![node];
        let mut at = 0;
        while let Some(node) = all.get(at).copied() {
            if let Some(data) = self.get(node) {
                all.extend_from_slice(&data.children);
            }
            at += 1;
        }
        all
    }

    /// A node and everything around it, outwards.
    pub(crate) fn path(&self, node: Node) -> impl Iterator<Item = Node> {
        std::iter::successors(Some(node), |node| self.get(*node)?.parent)
    }

    pub(crate) fn window_of(&self, node: Node) -> Option<Node> {
        self.path(node)
            .last()
            .filter(|top| self.get(*top).is_some_and(|data| data.top.is_some()))
    }

    pub(crate) fn top(&self, window: Node) -> Option<&Top> {
        self.get(window)?.top.as_ref()
    }

    pub(crate) fn top_mut(&mut self, window: Node) -> Option<&mut Top> {
        self.get_mut(window)?.top.as_mut()
    }

    /// The topmost modal that is open over a window and shown.
    pub(crate) fn modal_over(&self, window: Node) -> Option<Node> {
        let over = |window: &Node| self.top(*window)?.blocked;
        std::iter::successors(over(&window), over)
            .filter(|modal| self.get(*modal).is_some_and(|data| data.props.visible))
            .last()
    }

    /// Takes up the places that a widget has by where it is: the chosen one of its list, the
    /// button that is on, the default button.
    fn settle_in(&mut self, node: Node) {
        let Some(props) = self.props(node) else {
            return;
        };
        let (selected, lit) = (
            props.selected && props.kind.is_choice(),
            props.checked && props.kind == Kind::Radio,
        );
        if selected {
            self.take_choice(node);
        }
        if lit {
            self.take_light(node);
        }
        if self.props(node).is_some_and(|props| props.is_default)
            && let Some(window) = self.window_of(node)
            && let Some(top) = self.top_mut(window)
        {
            top.default = Some(node);
        }
    }

    /// Gives up those places.
    fn leave(&mut self, node: Node) {
        if let Some(list) = self.list_of(node)
            && let Some(data) = self.get_mut(list)
            && data.chosen == Some(node)
        {
            data.chosen = None;
            data.stamp += 1;
        }
        if let Some(parent) = self.get(node).and_then(|data| data.parent)
            && let Some(data) = self.get_mut(parent)
            && data.lit == Some(node)
        {
            data.lit = None;
        }
        if self.props(node).is_some_and(|props| props.is_default)
            && let Some(window) = self.window_of(node)
            && let Some(top) = self.top_mut(window)
            && top.default == Some(node)
        {
            top.default = None;
        }
    }

    /// Lets a node go for good.
    fn forget(&mut self, node: Node) {
        self.unclaim(node);
        self.unlist_tagged(node);
        if self.focus == Some(node) {
            self.focus = None;
        }
        let Some(data) = self.get_mut(node) else {
            return;
        };
        let name = data.name.take();
        let names = std::mem::take(&mut data.labels);
        let named_by = std::mem::take(&mut data.labelled_by);
        if let Some(name) = name
            && let Some(nodes) = self.names.get_mut(&name)
        {
            nodes.retain(|other| *other != node);
            if nodes.is_empty() {
                self.names.remove(&name);
            }
        }
        for named in names {
            if let Some(data) = self.get_mut(named) {
                data.labelled_by.retain(|by| *by != node);
            }
        }
        for by in named_by {
            if let Some(data) = self.get_mut(by) {
                data.labels.retain(|named| *named != node);
            }
        }
        self.discard(node);
    }

    /// What `node` is chosen from: the list, tabs, combo, tree or table around it, else what it
    /// is in.
    pub(crate) fn list_of(&self, node: Node) -> Option<Node> {
        let lists: &[Kind] = match self.kind(node)? {
            Kind::Option => &[Kind::Combo, Kind::List],
            Kind::Tab => &[Kind::Tabs],
            Kind::Row | Kind::ListItem => &[Kind::List, Kind::Table],
            Kind::TreeItem => &[Kind::Tree],
            _ => return None,
        };
        self.path(node)
            .skip(1)
            .find(|around| self.kind(*around).is_some_and(|kind| lists.contains(&kind)))
            .or_else(|| self.get(node)?.parent)
    }

    /// Makes a node the chosen one of its list. The one that was is so no longer.
    pub(crate) fn take_choice(&mut self, node: Node) {
        let list = self.list_of(node);
        let row = self.get(node).and_then(|data| data.row);
        let before = list
            .and_then(|list| self.get(list))
            .and_then(|data| data.chosen);
        if let Some(before) = before.filter(|before| *before != node)
            && let Some(data) = self.get_mut(before)
        {
            data.props.selected = false;
            self.touch(before);
        }
        if let Some(data) = self.get_mut(node) {
            data.props.selected = true;
        }
        if let Some(list) = list.and_then(|list| self.get_mut(list)) {
            list.chosen = Some(node);
            if let Some(lazy) = &mut list.lazy {
                lazy.selected = row;
            }
        }
        self.touch(node);
    }

    /// Makes a radio button the one of its parent that is on.
    pub(crate) fn take_light(&mut self, node: Node) {
        let parent = self.get(node).and_then(|data| data.parent);
        let before = parent
            .and_then(|parent| self.get(parent))
            .and_then(|data| data.lit);
        if let Some(before) = before.filter(|before| *before != node)
            && let Some(data) = self.get_mut(before)
        {
            data.props.checked = false;
            self.touch(before);
        }
        if let Some(data) = self.get_mut(node) {
            data.props.checked = true;
        }
        if let Some(parent) = parent.and_then(|parent| self.get_mut(parent)) {
            parent.lit = Some(node);
        }
        self.touch(node);
    }
}

/// What is told to whoever looks.
impl Tree {
    /// What changed since this was last asked.
    pub fn take_changes(&mut self) -> Changes<Node> {
        if !self.listening {
            return Changes::Everything;
        }
        self.looks += 1;
        match std::mem::replace(&mut self.dirt, Dirt::Nothing) {
            Dirt::Nothing => Changes::None,
            Dirt::Nodes(nodes) => Changes::Nodes(nodes),
            Dirt::Everything => Changes::Everything,
        }
    }

    /// What widgets told of by themselves since this was last asked: pressed, switched, chosen,
    /// edited, by a person or an agent.
    pub fn take_acted(&mut self) -> Vec<(Node, EventVerb)> {
        std::mem::take(&mut self.acted)
    }

    /// Whether an inspector is told what widgets do, too.
    #[cfg(feature = "inspector")]
    pub(crate) fn overhear(&mut self, overhearing: bool) {
        if overhearing != self.overheard.is_some() {
            self.overheard = overhearing.then(Vec::new);
        }
    }

    /// What widgets told of by themselves since an inspector last asked.
    #[cfg(feature = "inspector")]
    pub(crate) fn take_overheard(&mut self) -> Vec<(Node, EventVerb)> {
        self.overheard
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Whether anybody looks. Whoever begins to looks at everything first.
    pub(crate) fn listen(&mut self, listening: bool) {
        if listening != self.listening {
            self.listening = listening;
            self.dirt = Dirt::Everything;
            self.acted.clear();
        }
    }

    /// Its own text, value, label or state changed.
    pub(crate) fn touch(&mut self, node: Node) {
        if !self.listening {
            return;
        }
        let look = self.looks;
        let Some(data) = self.get_mut(node) else {
            return;
        };
        if std::mem::replace(&mut data.noted, look) == look {
            return;
        }
        // Looking at everything costs what is tagged.
        let enough = self.tagged.len().max(64);
        match &mut self.dirt {
            Dirt::Everything => {}
            Dirt::Nothing => self.dirt = Dirt::Nodes(vec![node]),
            Dirt::Nodes(nodes) if nodes.len() < enough => nodes.push(node),
            Dirt::Nodes(_) => self.dirt = Dirt::Everything,
        }
    }

    /// Something changed that others inherit, or are ordered or found by.
    pub(crate) fn touch_all(&mut self) {
        self.dirt = Dirt::Everything;
    }

    /// A widget did something that it tells of.
    pub(crate) fn tell(&mut self, node: Node, verb: EventVerb) {
        // Only of what agents are shown: the rest must not even use up the room.
        let remember = self.listening
            && self.is_exposed(node)
            && self.acted.len() < MAX_ACTED
            && !self.acted.contains(&(node, verb));
        if remember {
            self.acted.push((node, verb));
        }
        #[cfg(feature = "inspector")]
        if let Some(mut overheard) = self.overheard.take() {
            let told = overheard.contains(&(node, verb));
            if !told && overheard.len() < MAX_ACTED && self.is_exposed(node) {
                overheard.push((node, verb));
            }
            self.overheard = Some(overheard);
        }
    }

    /// Its text changed: so did the name of what it names, and what a combo box shows.
    pub(crate) fn touch_text(&mut self, node: Node) {
        let Some(data) = self.get_mut(node) else {
            return;
        };
        data.stamp += 1;
        let named = data.labels.clone();
        let selected = data.props.selected;
        self.touch(node);
        for named in named {
            self.touch(named);
        }
        if selected
            && let Some(combo) = self.list_of(node)
            && let Some(data) = self.get_mut(combo)
            && data.props.kind == Kind::Combo
        {
            data.stamp += 1;
            self.touch(combo);
        }
    }

    pub(crate) fn label_of(&self, node: Node) -> Label<Node> {
        match self.get(node) {
            Some(data) if !data.props.label.is_empty() => Label::Text(data.props.label.clone()),
            Some(data) if !data.labelled_by.is_empty() => Label::By(data.labelled_by.clone()),
            _ => Label::None,
        }
    }
}

/// What an app sets.
impl Tree {
    /// Sets what it says to agents.
    pub fn set_tag(&mut self, node: Node, tag: Option<Tag>) {
        let Some(data) = self.get_mut(node) else {
            return;
        };
        if data.props.tag == tag {
            return;
        }
        let tagged = tag.is_some();
        data.props.tag = tag;
        if tagged {
            self.list_tagged(node);
        } else {
            self.unlist_tagged(node);
        }
        self.claim_below(node, false);
        self.windows_changed |= self.top(node).is_some();
        self.touch_all();
    }

    /// Sets its accessible name.
    pub fn set_label(&mut self, node: Node, label: impl Into<String>) {
        let label = label.into();
        self.set(node, |props| {
            (props.label != label).then(|| props.label = label)
        });
    }

    /// Names it by the texts of other widgets, as GTK's `labelled-by` does.
    pub fn set_labelled_by(&mut self, node: Node, by: &[Node]) {
        let by: Vec<Node> = by.iter().copied().filter(|by| self.contains(*by)).collect();
        let Some(data) = self.get_mut(node) else {
            return;
        };
        for before in std::mem::replace(&mut data.labelled_by, by.clone()) {
            if let Some(data) = self.get_mut(before) {
                data.labels.retain(|named| *named != node);
            }
        }
        for by in by {
            if let Some(data) = self.get_mut(by) {
                data.labels.push(node);
            }
        }
        self.touch(node);
    }

    /// Sets what it shows while it is empty, which agents are not told.
    pub fn set_hint(&mut self, node: Node, hint: impl Into<String>) {
        if let Some(data) = self.get_mut(node) {
            data.props.hint = hint.into();
        }
    }

    /// Sets whether it takes input. What is inside takes none either.
    pub fn set_enabled(&mut self, node: Node, enabled: bool) {
        self.set_inherited(node, |props| &mut props.enabled, enabled);
    }

    /// Sets whether it is shown. What is inside is not shown either.
    pub fn set_visible(&mut self, node: Node, visible: bool) {
        self.set_inherited(node, |props| &mut props.visible, visible);
    }

    /// Sets whether its text or number can be edited.
    pub fn set_read_only(&mut self, node: Node, read_only: bool) {
        self.set(node, |props| {
            (props.read_only != read_only).then(|| props.read_only = read_only)
        });
    }

    /// Sets whether it is working.
    pub fn set_busy(&mut self, node: Node, busy: bool) {
        self.set(node, |props| {
            (props.busy != busy).then(|| props.busy = busy)
        });
    }

    /// Sets how many characters it takes. What is in it already stays.
    pub fn set_max_length(&mut self, node: Node, characters: Option<usize>) {
        if let Some(data) = self.get_mut(node) {
            data.props.max_length = characters;
        }
    }

    /// Gives a list other rows.
    pub fn set_rows(&mut self, list: Node, rows: Option<Rows>) {
        let Some(data) = self.get(list) else {
            return;
        };
        let is_row = |row: &Node| self.get(*row).is_some_and(|data| data.row.is_some());
        let old: Vec<Node> = data.children.iter().copied().filter(is_row).collect();
        for row in old {
            self.remove(row);
        }
        if let Some(data) = self.get_mut(list) {
            data.lazy = rows.map(|rows| Lazy {
                rows,
                selected: None,
            });
        }
        self.touch_all();
        self.set_scroll(list, self.scrolled(list));
    }

    /// Changes what only concerns the node itself, if `change` says that it does.
    pub(crate) fn set(
        &mut self,
        node: Node,
        change: impl FnOnce(&mut Props) -> Option<()>,
    ) -> bool {
        let changed = self
            .get_mut(node)
            .is_some_and(|data| change(&mut data.props).is_some());
        if changed {
            self.touch(node);
        }
        changed
    }

    fn set_inherited(&mut self, node: Node, of: impl Fn(&mut Props) -> &mut bool, to: bool) {
        if let Some(data) = self.get_mut(node)
            && std::mem::replace(of(&mut data.props), to) != to
        {
            self.let_go_of_focus();
            self.touch_all();
        }
    }

    /// What can't be used can't keep the focus, as in GTK.
    pub(crate) fn let_go_of_focus(&mut self) {
        if let Some(focus) = self.focus
            && !self.is_usable(focus)
        {
            self.set_focus(None);
        }
    }

    /// Whether it and all around it are shown and enabled.
    pub(crate) fn is_usable(&self, node: Node) -> bool {
        self.contains(node)
            && self.path(node).all(|node| {
                self.get(node)
                    .is_some_and(|data| data.props.enabled && data.props.visible)
                    && !self.is_folded(node)
            })
    }

    /// Whether it is an item of a tree inside one that is closed.
    pub(crate) fn is_folded(&self, node: Node) -> bool {
        let Some(data) = self.get(node) else {
            return false;
        };
        let parent = data.parent.and_then(|parent| self.props(parent));
        data.props.kind == Kind::TreeItem
            && parent.is_some_and(|props| props.kind == Kind::TreeItem && !props.expanded)
    }
}
