//! Rows of tables and outlines: what the developer says of them, and where they are.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use agent_core::Tag;
use objc2::{
    msg_send,
    rc::Retained,
    runtime::{AnyObject, NSObjectProtocol, Sel},
    sel,
};
use objc2_app_kit::{NSCell, NSOutlineView, NSTableColumn, NSTableView, NSTextField, NSView};
use objc2_foundation::{NSInteger, NSString};

use super::table::{self, Node, RowName, Sort};

/// More rows than this are in no view at once.
const MOST: isize = 1_000;

type RowTag = Rc<dyn Fn(isize) -> Option<Tag>>;
type RowOfKey = Rc<dyn Fn(&str) -> Option<isize>>;

#[derive(Clone, Default)]
struct Source {
    tag: Option<RowTag>,
    row_of_key: Option<RowOfKey>,
}

thread_local! {
    static SOURCES: RefCell<HashMap<Node, Source>> = RefCell::default();
}

fn change(table: Node, change: impl FnOnce(&mut Source)) {
    // What is replaced goes outside the borrow: the app's own values are in it.
    let mut source = SOURCES
        .with_borrow(|all| all.get(&table).cloned())
        .unwrap_or_default();
    change(&mut source);
    let before = SOURCES.with_borrow_mut(|all| all.insert(table, source));
    drop(before);
}

pub(crate) fn set_tags(table: Node, tag: impl Fn(isize) -> Option<Tag> + 'static) {
    change(table, |source| source.tag = Some(Rc::new(tag)));
}

pub(crate) fn set_row_of_key(table: Node, row: impl Fn(&str) -> Option<isize> + 'static) {
    change(table, |source| source.row_of_key = Some(Rc::new(row)));
}

/// One row that is in view.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) table: Node,
    pub(crate) number: isize,
    /// Of an outline: the row that it is inside.
    pub(crate) inside: Option<Node>,
    pub(crate) tag: Option<Tag>,
}

/// The rows that are in view.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) of: HashMap<Node, Row>,
    pub(crate) in_order: HashMap<Node, Vec<Node>>,
}

impl Rows {
    /// Those of tables whose developer says something of them. An inspector looks at `all` tables,
    /// and rows that are out of view by now keep their nodes.
    pub(crate) fn look(all: Option<Vec<Node>>) -> Self {
        let mut sources: HashMap<Node, Source> = SOURCES.with_borrow(Clone::clone);
        let keeps = all.is_some();
        for table in all.into_iter().flatten() {
            sources.entry(table).or_default();
        }
        let mut rows = Self::default();
        for (node, source) in sources {
            match view(node) {
                Some(view) if source.tag.is_some() || keeps => {
                    rows.add(node, &view, &source, keeps);
                }
                Some(_) => {}
                None => {
                    let gone = SOURCES.with_borrow_mut(|all| all.remove(&node));
                    drop(gone);
                }
            }
        }
        rows
    }

    fn add(&mut self, node: Node, view: &NSTableView, source: &Source, keeps: bool) {
        let numbers = in_view(view);
        let tag = |row| source.tag.as_ref().and_then(|tag| tag(row));
        let tags: Vec<Option<Tag>> = numbers.clone().map(tag).collect();
        let mut same: HashMap<String, usize> = HashMap::new();
        let names = tags.iter().zip(numbers.clone()).map(|(tag, row)| {
            match tag.as_ref().and_then(table::name) {
                Some(name) => {
                    let before = same.entry(name.clone()).or_default();
                    *before += 1;
                    RowName::Given(name, *before - 1)
                }
                None => RowName::Place(row),
            }
        });
        let nodes = table::rows(node, names.collect(), keeps);
        let by_number: HashMap<isize, Node> = numbers.clone().zip(nodes.iter().copied()).collect();
        for ((row, number), tag) in nodes.iter().zip(numbers).zip(tags) {
            let inside = outline(view)
                .and_then(|outline| inside(outline, number))
                .and_then(|row| by_number.get(&row).copied());
            let is = Row {
                table: node,
                number,
                inside,
                tag,
            };
            self.of.insert(*row, is);
        }
        self.in_order.insert(node, nodes);
    }

    /// Those directly in a table, or in a row of an outline.
    pub(crate) fn inside(&self, table: Node, row: Option<Node>) -> Vec<Node> {
        let all = self
            .in_order
            .get(&table)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let is = |node: &&Node| self.of.get(node).is_some_and(|it| it.inside == row);
        all.iter().filter(is).copied().collect()
    }
}

fn in_view(view: &NSTableView) -> std::ops::Range<isize> {
    let rows = view.rowsInRect(view.visibleRect());
    let (from, length) = (rows.location as isize, rows.length as isize);
    let to = from
        .saturating_add(length.min(MOST))
        .min(view.numberOfRows());
    from..to.max(from)
}

/// The table view of a node.
pub(crate) fn view(node: Node) -> Option<Retained<NSTableView>> {
    // SAFETY: views are put in as views, and this is the main thread: sources are its own.
    let view: Retained<NSView> = unsafe { table::object(node, Sort::View) }?;
    view.downcast().ok()
}

pub(crate) fn outline(view: &NSTableView) -> Option<&NSOutlineView> {
    view.downcast_ref()
}

pub(crate) fn item(outline: &NSOutlineView, row: isize) -> Option<Retained<AnyObject>> {
    // SAFETY: a row's number is all it takes.
    unsafe { msg_send![outline, itemAtRow: row as NSInteger] }
}

fn inside(outline: &NSOutlineView, row: isize) -> Option<isize> {
    let item = item(outline, row)?;
    if !outline.respondsToSelector(sel!(parentForItem:)) {
        return by_level(outline, row);
    }
    // SAFETY: an item of this very outline.
    let parent: Option<Retained<AnyObject>> = unsafe { msg_send![outline, parentForItem: &*item] };
    // SAFETY: the same.
    let row: NSInteger = unsafe { msg_send![outline, rowForItem: &*parent?] };
    (row >= 0).then_some(row)
}

/// The nearest row above that is set in less.
fn by_level(outline: &NSOutlineView, row: isize) -> Option<isize> {
    let level = outline.levelForRow(row);
    (0..row)
        .rev()
        .find(|above| outline.levelForRow(*above) < level)
}

/// The words of a row: those in the column that names it.
pub(crate) fn text(view: &NSTableView, row: isize) -> Option<String> {
    let column = outline(view)
        // SAFETY: asked on the main thread, and kept from here on.
        .and_then(|outline| unsafe { outline.outlineTableColumn() })
        .or_else(|| view.tableColumns().firstObject())?;
    let number = view.columnWithIdentifier(&column.identifier()).max(0);
    if view.respondsToSelector(sel!(viewAtColumn:row:makeIfNecessary:))
        && let Some(cell) = view.viewAtColumn_row_makeIfNecessary(number, row, false)
        && let Some(words) = words_in(&cell)
    {
        return Some(words);
    }
    cell_text(view, &column, number, row)
}

fn words_in(cell: &NSView) -> Option<String> {
    if let Some(field) = cell.downcast_ref::<NSTextField>() {
        return Some(field.stringValue().to_string());
    }
    cell.subviews().iter().find_map(|inside| words_in(&inside))
}

/// What a table whose rows are drawn by cells shows there.
fn cell_text(
    view: &NSTableView,
    column: &NSTableColumn,
    number: isize,
    row: isize,
) -> Option<String> {
    // SAFETY: every table answers for its data source.
    let source: Option<Retained<AnyObject>> = unsafe { msg_send![view, dataSource] };
    let source = source?;
    let answers = |selector: Sel| {
        let class = source.class();
        class.responds_to(selector)
    };
    // SAFETY: as the table itself asks.
    let value: Option<Retained<AnyObject>> = unsafe {
        match outline(view) {
            Some(outline) if answers(sel!(outlineView:objectValueForTableColumn:byItem:)) => {
                let item = item(outline, row);
                msg_send![&source, outlineView: outline, objectValueForTableColumn: column, byItem: item.as_deref()]
            }
            None if answers(sel!(tableView:objectValueForTableColumn:row:)) => {
                msg_send![&source, tableView: view, objectValueForTableColumn: column, row: row as NSInteger]
            }
            _ => None,
        }
    };
    if let Some(words) = value.and_then(|value| value.downcast::<NSString>().ok()) {
        return Some(words.to_string());
    }
    if !view.respondsToSelector(sel!(preparedCellAtColumn:row:)) {
        return None;
    }
    // SAFETY: column and row are there.
    let cell: Option<Retained<NSCell>> = unsafe {
        msg_send![view, preparedCellAtColumn: number as NSInteger, row: row as NSInteger]
    };
    cell.map(|cell| cell.stringValue().to_string())
}

/// The row of a key, in view or not.
pub(crate) fn row_of_key(table: Node, key: &str) -> Option<isize> {
    let source = SOURCES.with_borrow(|all| all.get(&table).cloned())?;
    let view = view(table)?;
    if let Some(find) = &source.row_of_key {
        return find(key).filter(|row| (0..view.numberOfRows()).contains(row));
    }
    let tag = source.tag?;
    (0..view.numberOfRows()).find(|row| tag(*row).is_some_and(|tag| tag.get_key() == Some(key)))
}

/// Whether the rows of a table have keys of their own.
pub(crate) fn has_keys(table: Node) -> bool {
    SOURCES.with_borrow(|all| all.get(&table).is_some_and(|source| source.tag.is_some()))
}
