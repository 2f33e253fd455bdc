//! What a developer writes: tags on views, windows, menu items and tabs, and on the rows of a
//! table.

use std::cell::Cell;

use agent_core::Tag;
use objc2::{MainThreadMarker, MainThreadOnly};
use objc2_app_kit::{NSMenu, NSMenuItem, NSTabViewItem, NSTableView, NSView, NSWindow};

use super::{
    hooks, rows,
    table::{self, Node, Sort},
};

mod sealed {
    pub trait Sealed {}
}

/// Tags on AppKit's own objects. Main thread, by their type.
///
/// The object is not kept alive, and what is said of it goes with it.
pub trait AgentTagged: sealed::Sealed {
    /// Says what it is to agents: `save.set_agent(Tag::id("save-btn"))`. Replaces what was said
    /// before.
    fn set_agent(&self, tag: impl Into<Tag>);

    /// Exposes it under an id: short for `set_agent(Tag::id(id))`.
    fn set_agent_id(&self, id: impl Into<std::borrow::Cow<'static, str>>) {
        self.set_agent(Tag::id(id));
    }

    /// Takes back what was said of it.
    fn clear_agent(&self);
}

/// Tags on the rows of a table or outline, which are no objects that last.
pub trait AgentRows: sealed::Sealed {
    /// Exposes the rows under `table/key`, by a key that comes from the row's data and not from
    /// its place: `table.set_agent_key(|row| orders[row as usize].number.to_string())`. The
    /// table itself needs a tag too.
    ///
    /// `key` is called on the main thread, for the rows that are in view, whenever agents look.
    fn set_agent_key(&self, key: impl Fn(isize) -> String + 'static)
    where
        Self: Sized,
    {
        self.set_agent_rows(move |row| Some(Tag::key(key(row))));
    }

    /// The same, with all that a tag can say; `None` for a row that agents are not shown.
    fn set_agent_rows(&self, tag: impl Fn(isize) -> Option<Tag> + 'static);

    /// Whether there is a row of a key, and which, for rows that are out of view: what
    /// `scroll_to` by a key needs. Without it, a key is looked for in every row.
    fn set_agent_row_of_key(&self, row: impl Fn(&str) -> Option<isize> + 'static);
}

macro_rules! tagged {
    ($($class:ty as $sort:ident),*) => {$(
        impl sealed::Sealed for $class {}

        impl AgentTagged for $class {
            fn set_agent(&self, tag: impl Into<Tag>) {
                hooks::install(self.mtm());
                table::set_tag(self.agent_node(), Some(tag.into()));
            }

            fn clear_agent(&self) {
                if let Some(node) = table::known(self) {
                    table::set_tag(node, None);
                }
            }
        }

        impl HasNode for $class {
            fn agent_node(&self) -> Node {
                table::node_of(self, Sort::$sort)
            }
        }
    )*};
}

/// What has a node. `dealloc` must be heard already.
pub(crate) trait HasNode {
    fn agent_node(&self) -> Node;
}

tagged!(
    NSView as View,
    NSWindow as Window,
    NSMenu as Menu,
    NSMenuItem as MenuItem
);

impl sealed::Sealed for NSTabViewItem {}

impl AgentTagged for NSTabViewItem {
    fn set_agent(&self, tag: impl Into<Tag>) {
        // A tab is drawn by its tab view, and belongs to the main thread with it.
        if let Some(mtm) = MainThreadMarker::new() {
            hooks::install(mtm);
            table::set_tag(self.agent_node(), Some(tag.into()));
        }
    }

    fn clear_agent(&self) {
        if let Some(node) = table::known(self) {
            table::set_tag(node, None);
        }
    }
}

impl HasNode for NSTabViewItem {
    fn agent_node(&self) -> Node {
        table::node_of(self, Sort::TabItem)
    }
}

impl sealed::Sealed for NSTableView {}

impl AgentRows for NSTableView {
    fn set_agent_rows(&self, tag: impl Fn(isize) -> Option<Tag> + 'static) {
        hooks::install(self.mtm());
        let view: &NSView = self;
        rows::set_tags(view.agent_node(), tag);
    }

    fn set_agent_row_of_key(&self, row: impl Fn(&str) -> Option<isize> + 'static) {
        hooks::install(self.mtm());
        let view: &NSView = self;
        rows::set_row_of_key(view.agent_node(), row);
    }
}

thread_local! {
    static BY_ACCESSIBILITY: Cell<bool> = const { Cell::new(false) };
}

/// From now on a view's `accessibilityIdentifier`, where it has one and no tag, is its agent id.
/// Every look then walks all views of the app's windows, as nothing tells of them.
pub fn use_accessibility_identifiers(_: MainThreadMarker) {
    BY_ACCESSIBILITY.set(true);
}

pub(crate) fn uses_accessibility_identifiers() -> bool {
    BY_ACCESSIBILITY.get()
}
