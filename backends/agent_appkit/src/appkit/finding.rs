//! One look at the app's views: the objects behind nodes, and what is in what.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    rc::Rc,
    sync::Arc,
};

use agent_core::Tag;
use objc2::{
    MainThreadMarker, msg_send,
    rc::Retained,
    runtime::{AnyObject, NSObjectProtocol},
    sel,
};
use objc2_app_kit::{
    NSApplication, NSControl, NSMenu, NSMenuItem, NSOutlineView, NSPopUpButton, NSResponder,
    NSScrollView, NSTabView, NSTabViewItem, NSTableView, NSTextView, NSView, NSWindow,
};
use objc2_foundation::{NSInteger, NSNotFound, NSString};

use super::{
    menus,
    rows::{self, Row, Rows},
    table::{self, Node, Sort, Tags},
    tagging::{HasNode, uses_accessibility_identifiers},
};

/// The object behind a node, kept for as long as it is looked at.
pub(crate) enum Thing {
    Window(Retained<NSWindow>),
    View(Retained<NSView>),
    /// The app's menu bar.
    Menu(Retained<NSMenu>),
    MenuItem(Retained<NSMenuItem>),
    Tab(Retained<NSTabViewItem>),
    /// A row of a table, by its number now.
    Row(Retained<NSTableView>, isize),
    Gone,
}

/// One look, on the main thread. What is asked twice is found once; it doesn't outlive the turn
/// that it was made in.
pub(crate) struct Look {
    pub(crate) mtm: MainThreadMarker,
    pub(crate) tags: Arc<Tags>,
    /// An inspector's: it finds the rows of every table, and must not change what agents find.
    of_inspector: bool,
    windows: OnceCell<Vec<Node>>,
    rows: OnceCell<Rows>,
    by_accessibility: OnceCell<HashMap<Node, Tag>>,
    inside: RefCell<HashMap<Node, Rc<[Node]>>>,
    places: RefCell<HashMap<Node, usize>>,
}

impl Look {
    pub(crate) fn new(mtm: MainThreadMarker) -> Self {
        Self {
            mtm,
            tags: table::tags(),
            of_inspector: false,
            windows: OnceCell::new(),
            rows: OnceCell::new(),
            by_accessibility: OnceCell::new(),
            inside: RefCell::default(),
            places: RefCell::default(),
        }
    }

    /// One that leaves nothing behind that agents could notice.
    #[cfg(feature = "inspector")]
    pub(crate) fn of_an_inspector(mtm: MainThreadMarker) -> Self {
        Self {
            of_inspector: true,
            ..Self::new(mtm)
        }
    }

    pub(crate) fn app(&self) -> Retained<NSApplication> {
        NSApplication::sharedApplication(self.mtm)
    }

    pub(crate) fn rows(&self) -> &Rows {
        self.rows
            .get_or_init(|| Rows::look(self.of_inspector.then(|| self.tables())))
    }

    /// Every table, found by walking all views.
    fn tables(&self) -> Vec<Node> {
        let windows = self.windows().iter().map(|window| self.thing(*window));
        let contents = windows.filter_map(|thing| match thing {
            Thing::Window(window) => window.contentView(),
            _ => None,
        });
        let mut open: Vec<Retained<NSView>> = contents.collect();
        let mut tables = Vec::new();
        while let Some(view) = open.pop() {
            if view.downcast_ref::<NSTableView>().is_some() {
                tables.push(view.agent_node());
            } else {
                open.extend(view.subviews().iter());
            }
        }
        tables
    }

    pub(crate) fn row(&self, node: Node) -> Option<&Row> {
        table::table_of(node)?;
        self.rows().of.get(&node)
    }

    pub(crate) fn thing(&self, node: Node) -> Thing {
        // SAFETY: each sort is put in as this class, and a look is on the main thread.
        let found = unsafe {
            match table::sort(node) {
                Some(Sort::View) => table::object(node, Sort::View).map(Thing::View),
                Some(Sort::Window) => table::object(node, Sort::Window).map(Thing::Window),
                Some(Sort::Menu) => table::object(node, Sort::Menu).map(Thing::Menu),
                Some(Sort::MenuItem) => table::object(node, Sort::MenuItem).map(Thing::MenuItem),
                Some(Sort::TabItem) => table::object(node, Sort::TabItem).map(Thing::Tab),
                None => self
                    .row(node)
                    .and_then(|row| Some(Thing::Row(rows::view(row.table)?, row.number))),
            }
        };
        found.unwrap_or(Thing::Gone)
    }

    pub(crate) fn view(&self, node: Node) -> Option<Retained<NSView>> {
        match self.thing(node) {
            Thing::View(view) => Some(view),
            _ => None,
        }
    }

    /// The windows that are there for a person, minimised ones too, in the order in which they
    /// were made, whoever saw them first; and the menu bar.
    pub(crate) fn windows(&self) -> &[Node] {
        self.windows.get_or_init(|| {
            let mut windows: Vec<_> = self
                .app()
                .windows()
                .iter()
                .filter(|window| self.is_shown(window) && self.is_for_people(window))
                .collect();
            windows.sort_by_key(|window| window.windowNumber());
            let mut windows: Vec<Node> = windows.iter().map(|it| it.agent_node()).collect();
            windows.extend(menus::main_menu(self.mtm).map(|menu| menu.agent_node()));
            let mut places = self.places.borrow_mut();
            places.extend(
                windows
                    .iter()
                    .enumerate()
                    .map(|(place, node)| (*node, place)),
            );
            windows
        })
    }

    pub(crate) fn is_shown(&self, window: &NSWindow) -> bool {
        // A hidden app's windows come back when it does.
        window.isVisible() || window.isMiniaturized() || self.app().isHidden()
    }

    /// Not the windows that menus, tooltips and the like are drawn in.
    fn is_for_people(&self, window: &NSWindow) -> bool {
        let tagged = || table::known(window).is_some_and(|node| self.tags.of.contains_key(&node));
        window.canBecomeKeyWindow() || tagged()
    }

    pub(crate) fn is_top(&self, node: Node) -> bool {
        match self.thing(node) {
            Thing::Window(window) => self.is_shown(&window),
            Thing::Menu(menu) => {
                menus::main_menu(self.mtm).is_some_and(|main| std::ptr::eq(&*main, &*menu))
            }
            _ => false,
        }
    }

    /// The window that a node is drawn in, or that its menu belongs to; `None` for the menu bar.
    pub(crate) fn window_of(&self, node: Node) -> Option<Retained<NSWindow>> {
        match self.thing(node) {
            Thing::Window(window) => Some(window),
            Thing::View(view) => view.window(),
            Thing::Row(table, _) => table.window(),
            Thing::Tab(tab) => tab.tabView(self.mtm)?.window(),
            Thing::MenuItem(item) => match menus::owner(self.mtm, &item)? {
                menus::Owner::PopUp(button) => button.window(),
                menus::Owner::Item(item) => self.window_of(item.agent_node()),
                menus::Owner::Bar(_) => None,
            },
            Thing::Menu(_) | Thing::Gone => None,
        }
    }

    pub(crate) fn parent(&self, node: Node) -> Option<Node> {
        match self.thing(node) {
            Thing::View(view) => self.around(&view),
            Thing::MenuItem(item) => Some(match menus::owner(self.mtm, &item)? {
                menus::Owner::Bar(menu) => menu.agent_node(),
                menus::Owner::Item(item) => item.agent_node(),
                menus::Owner::PopUp(button) => {
                    let view: &NSView = &button;
                    view.agent_node()
                }
            }),
            Thing::Tab(tab) => {
                let tabs = tab.tabView(self.mtm)?;
                let view: &NSView = &tabs;
                Some(view.agent_node())
            }
            Thing::Row(..) => {
                let row = self.row(node)?;
                Some(row.inside.unwrap_or(row.table))
            }
            Thing::Window(_) | Thing::Menu(_) | Thing::Gone => None,
        }
    }

    fn around(&self, view: &NSView) -> Option<Node> {
        let window = || view.window().map(|window| window.agent_node());
        // SAFETY: asked on the main thread, and kept from here on.
        let Some(mut above) = (unsafe { view.superview() }) else {
            return window();
        };
        if let Some(window) = view.window()
            && window
                .contentView()
                .is_some_and(|it| std::ptr::eq(&*it, view))
        {
            return Some(window.agent_node());
        }
        // SAFETY: the same.
        if let Some(over) = unsafe { above.superview() } {
            if above.isKindOfClass(objc2::class!(NSClipView))
                && over.downcast_ref::<NSScrollView>().is_some()
            {
                above = over;
            } else if let Some(row) = self.row_of(view, &above, &over) {
                return Some(row);
            }
        }
        Some(above.agent_node())
    }

    /// A view-based table's cell is in its row; the view between them is nobody's node.
    fn row_of(&self, cell: &NSView, above: &NSView, over: &NSView) -> Option<Node> {
        let table = over.downcast_ref::<NSTableView>()?;
        if !table.respondsToSelector(sel!(rowForView:))
            || above.downcast_ref::<NSControl>().is_some()
        {
            return None;
        }
        // SAFETY: any view may be asked about.
        let number: NSInteger = unsafe { msg_send![table, rowForView: cell] };
        let view: &NSView = table;
        let nodes = self.rows().in_order.get(&view.agent_node())?;
        let is = |node: &&Node| self.row(**node).is_some_and(|row| row.number == number);
        nodes.iter().find(is).copied()
    }

    pub(crate) fn children(&self, node: Node) -> Rc<[Node]> {
        if let Some(known) = self.inside.borrow().get(&node) {
            return known.clone();
        }
        let inside: Rc<[Node]> = self.find_inside(node).into();
        let mut places = self.places.borrow_mut();
        for (place, node) in inside.iter().enumerate() {
            places.insert(*node, place);
        }
        self.inside.borrow_mut().insert(node, inside.clone());
        inside
    }

    /// A node's place among its siblings.
    pub(crate) fn position(&self, node: Node) -> usize {
        if let Some(place) = self.places.borrow().get(&node) {
            return *place;
        }
        let place = match self.view(node).and_then(|view| place_among_views(&view)) {
            Some(place) => Some(place),
            None => {
                match self.parent(node) {
                    Some(parent) => drop(self.children(parent)),
                    None => drop(self.windows()),
                }
                self.places.borrow().get(&node).copied()
            }
        };
        let place = place.unwrap_or(usize::MAX);
        self.places.borrow_mut().insert(node, place);
        place
    }

    fn find_inside(&self, node: Node) -> Vec<Node> {
        match self.thing(node) {
            Thing::Window(window) => window
                .contentView()
                .map(|view| view.agent_node())
                .into_iter()
                .collect(),
            Thing::View(view) => self.inside_view(node, &view),
            Thing::Menu(menu) => menus::nodes(&menu),
            Thing::MenuItem(item) => item
                .submenu()
                .map(|menu| menus::nodes(&menu))
                .unwrap_or_default(),
            Thing::Row(table, number) => {
                let Some(row) = self.row(node) else {
                    return Vec::new();
                };
                let mut inside = self.rows().inside(row.table, Some(node));
                inside.extend(cells(&table, number).iter().map(|cell| cell.agent_node()));
                inside
            }
            Thing::Tab(_) | Thing::Gone => Vec::new(),
        }
    }

    fn inside_view(&self, node: Node, view: &NSView) -> Vec<Node> {
        if let Some(scroll) = view.downcast_ref::<NSScrollView>() {
            return scroll
                .documentView()
                .map(|view| view.agent_node())
                .into_iter()
                .collect();
        }
        if let Some(button) = view.downcast_ref::<NSPopUpButton>() {
            let Some(menu) = button.menu() else {
                return Vec::new();
            };
            // The first item of a pull-down is what stands on the button.
            let skip = usize::from(button.pullsDown());
            return menus::nodes(&menu).into_iter().skip(skip).collect();
        }
        if let Some(tabs) = view.downcast_ref::<NSTabView>() {
            let mut inside: Vec<Node> = tabs
                .tabViewItems()
                .iter()
                .map(|tab| tab.agent_node())
                .collect();
            inside.extend(view.subviews().iter().map(|view| view.agent_node()));
            return inside;
        }
        if view.downcast_ref::<NSTableView>().is_some() {
            return self.rows().inside(node, None);
        }
        // What a control or a text is drawn with is no part of what is described.
        if view.downcast_ref::<NSControl>().is_some() || view.downcast_ref::<NSTextView>().is_some()
        {
            return Vec::new();
        }
        view.subviews()
            .iter()
            .map(|view| view.agent_node())
            .collect()
    }

    pub(crate) fn tag(&self, node: Node) -> Option<&Tag> {
        if let Some(tag) = self.tags.of.get(&node) {
            return Some(tag);
        }
        if let Some(row) = self.row(node) {
            return row.tag.as_ref();
        }
        self.identifiers().get(&node)
    }

    pub(crate) fn tagged(&self) -> Vec<Node> {
        let rows = self.rows().of.iter().filter(|(_, row)| row.tag.is_some());
        let mut tagged: Vec<Node> = self.tags.of.keys().copied().collect();
        tagged.extend(rows.map(|(node, _)| *node));
        tagged.extend(self.identifiers().keys());
        tagged
    }

    pub(crate) fn claimants(&self, id: &str) -> Vec<Node> {
        let mut nodes = self.tags.named(id);
        let name = id.rsplit('/').next().unwrap_or(id);
        let named = |tag: &Tag| table::name(tag).as_deref() == Some(name);
        let rows = self.rows().of.iter();
        nodes.extend(
            rows.filter(|(_, row)| row.tag.as_ref().is_some_and(named))
                .map(|(node, _)| *node),
        );
        nodes.extend(
            self.identifiers()
                .iter()
                .filter(|(_, tag)| named(tag))
                .map(|(node, _)| *node),
        );
        nodes
    }

    /// The views that are tagged by what assistive technology calls them, where the app wants
    /// that.
    fn identifiers(&self) -> &HashMap<Node, Tag> {
        self.by_accessibility.get_or_init(|| {
            let mut tags = HashMap::new();
            if uses_accessibility_identifiers() {
                let mut open: Vec<Node> = self.windows().to_vec();
                while let Some(node) = open.pop() {
                    open.extend(self.children(node).iter());
                    let identifier = match self.thing(node) {
                        Thing::View(view) => identifier(&view),
                        Thing::Window(window) => identifier(&window),
                        _ => None,
                    };
                    if let Some(identifier) = identifier.filter(|it| !it.is_empty())
                        && !self.tags.of.contains_key(&node)
                    {
                        tags.insert(node, Tag::id(identifier));
                    }
                }
            }
            tags
        })
    }
}

/// The place of a view among those beside it, where they are all that is in there: its neighbours
/// are not looked at.
fn place_among_views(view: &NSView) -> Option<usize> {
    // SAFETY: asked on the main thread, and kept from here on.
    let around = unsafe { view.superview() }?;
    let others = around.downcast_ref::<NSTabView>().is_some()
        || around.downcast_ref::<NSTableView>().is_some()
        || around.isKindOfClass(objc2::class!(NSClipView));
    // SAFETY: any object may be looked for.
    let place: usize = unsafe { msg_send![&around.subviews(), indexOfObjectIdenticalTo: view] };
    (!others && place != NSNotFound as usize).then_some(place)
}

/// Whether assistive technology calls it something, where that is an id.
pub(crate) fn has_identifier(node: Node) -> bool {
    // SAFETY: views are put in as views, and this is the main thread.
    let view = || unsafe { table::object::<NSView>(node, Sort::View) };
    uses_accessibility_identifiers()
        && view()
            .and_then(|view| identifier(&view))
            .is_some_and(|identifier| !identifier.is_empty())
}

fn identifier(of: &NSResponder) -> Option<String> {
    if !of.respondsToSelector(sel!(accessibilityIdentifier)) {
        return None;
    }
    // SAFETY: it answers this, with a string or none.
    let told: Option<Retained<NSString>> = unsafe { msg_send![of, accessibilityIdentifier] };
    told.map(|it| it.to_string())
}

/// The views of a row, where the table has views for its rows.
fn cells(table: &NSTableView, row: isize) -> Vec<Retained<NSView>> {
    if !table.respondsToSelector(sel!(viewAtColumn:row:makeIfNecessary:)) {
        return Vec::new();
    }
    (0..table.numberOfColumns())
        .filter_map(|column| table.viewAtColumn_row_makeIfNecessary(column, row, false))
        .collect()
}

/// The outline that a table is, if it is one.
pub(crate) fn outline_item(
    table: &NSTableView,
    row: isize,
) -> Option<(&NSOutlineView, Retained<AnyObject>)> {
    let outline = rows::outline(table)?;
    Some((outline, rows::item(outline, row)?))
}
