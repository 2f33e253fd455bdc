//! Where widgets are. There is nothing to see, so the layout is the simplest one in which a
//! widget's place follows from its position alone: everything inside a container stands below
//! its caption, one row each. Asking for one widget's place looks at what is around it only.

use agent_core::Frame;

use crate::{
    tree::Tree,
    widget::{Node, Rows, Widget},
};

/// The height of a row, in points.
pub const ROW: f64 = 24.0;
/// How far what is inside a container is set in on each side, in points.
pub const INDENT: f64 = 8.0;
/// How many rows a list, tree, table or scrolled view shows at once.
pub const VIEW_ROWS: f64 = 10.0;

impl Tree {
    /// How high a widget is.
    fn height(&self, node: Node) -> f64 {
        let Some(data) = self.get(node) else {
            return 0.0;
        };
        match &data.top {
            Some(top) => top.height,
            None if data.props.kind.scrolls() => VIEW_ROWS * ROW,
            None => ROW * (data.children.len() + 1) as f64,
        }
    }

    /// How far a widget's top is below that of what it is in, as that is scrolled now.
    fn offset(&self, node: Node) -> f64 {
        let Some(data) = self.get(node) else {
            return 0.0;
        };
        let place = data
            .row
            .map_or(data.position as f64, |row| (row - 1) as f64);
        let scroll = data.parent.map_or(0.0, |parent| self.scrolled(parent));
        (place + 1.0) * ROW - scroll
    }

    /// How far a widget's contents can be scrolled.
    fn max_scroll(&self, node: Node) -> f64 {
        let Some(data) = self.get(node) else {
            return 0.0;
        };
        let rows = match &data.lazy {
            Some(lazy) => lazy.rows.count as f64,
            None => data.children.len() as f64,
        };
        ((rows + 1.0) * ROW - self.height(node)).max(0.0)
    }

    pub(crate) fn frame_of(&self, node: Node) -> Option<Frame> {
        self.get(node)?;
        let (mut x, mut y) = (0.0, 0.0);
        let mut at = node;
        while let Some(parent) = self.get(at)?.parent {
            x += INDENT;
            y += self.offset(at);
            at = parent;
        }
        let width = self.top(at)?.width;
        Some(Frame {
            x,
            y,
            width: (width - 2.0 * x).max(0.0),
            height: self.height(node),
        })
    }

    /// Whether something around it is scrolled so that nothing of it is in sight.
    pub(crate) fn is_offscreen(&self, node: Node) -> bool {
        let height = self.height(node);
        let mut y = 0.0;
        let mut at = node;
        while let Some(data) = self.get(at)
            && let Some(parent) = data.parent
        {
            y += self.offset(at);
            let scrolls = self.kind(parent).is_some_and(|kind| kind.scrolls());
            if scrolls && (y + height <= 0.0 || y >= self.height(parent)) {
                return true;
            }
            at = parent;
        }
        false
    }

    /// Scrolls everything around a widget until it is in sight.
    pub fn scroll_to(&mut self, node: Node) {
        let mut scrolled = Vec::new();
        let mut y = 0.0;
        let mut at = node;
        while let Some(parent) = self.get(at).and_then(|data| data.parent) {
            y += self.offset(at);
            if self.kind(parent).is_some_and(|kind| kind.scrolls()) {
                let last = (self.height(parent) - ROW).max(0.0);
                if !(0.0..=last).contains(&y) {
                    let by = y - last / 2.0;
                    let to = (self.scrolled(parent) + by).max(0.0);
                    y -= to - self.scrolled(parent);
                    scrolled.push((parent, to));
                }
            }
            at = parent;
        }
        for (around, to) in scrolled {
            self.set_scroll(around, to);
        }
    }

    /// Scrolls a lazy list to its row of this number, which gets a widget. `None`: there is no
    /// such row.
    pub fn scroll_to_row(&mut self, list: Node, number: u64) -> Option<Node> {
        let count = self.get(list)?.lazy.as_ref()?.rows.count;
        if !(1..=count).contains(&number) {
            return None;
        }
        let y = number as f64 * ROW - self.scrolled(list);
        let last = (VIEW_ROWS - 1.0) * ROW;
        if !(0.0..=last).contains(&y) {
            let to = (number as f64 * ROW - last / 2.0).max(0.0);
            self.set_scroll(list, to);
        }
        let row = self.row(list, number)?;
        self.scroll_to(row);
        Some(row)
    }

    /// The widget of a lazy list's row, if there is one.
    pub fn row(&self, list: Node, number: u64) -> Option<Node> {
        let children = &self.get(list)?.children;
        children
            .iter()
            .copied()
            .find(|row| self.row_number(*row) == Some(number))
    }

    /// Scrolls what is inside to a part of the whole way, from 0 to 1.
    pub(crate) fn scroll_part(&mut self, node: Node, part: f64) {
        self.set_scroll(node, part.clamp(0.0, 1.0) * self.max_scroll(node));
    }

    pub(crate) fn set_scroll(&mut self, node: Node, to: f64) {
        let lazy = self.get(node).is_some_and(|data| data.lazy.is_some());
        let to = if lazy {
            to.min(self.max_scroll(node))
        } else {
            to
        };
        if lazy {
            self.realise(node, to);
        }
        if let Some(data) = self.get_mut(node) {
            data.scroll = to;
        }
    }

    /// Gives the rows in view their widgets, and takes those of the others away.
    fn realise(&mut self, list: Node, scroll: f64) {
        let Some(data) = self.get(list) else {
            return;
        };
        let Some(lazy) = &data.lazy else {
            return;
        };
        let Rows { count, text, keyed } = lazy.rows.clone();
        let selected = lazy.selected;
        let first = ((scroll / ROW).floor() as u64).max(1);
        let last = (((scroll / ROW + VIEW_ROWS).ceil() as u64) - 1).min(count);
        let mut there = Vec::new();
        let mut out = Vec::new();
        for child in &data.children {
            match self.row_number(*child) {
                Some(number) if (first..=last).contains(&number) => there.push(number),
                Some(_) => out.push(*child),
                None => {}
            }
        }
        // The app makes the texts: before anything is changed, in case it panics.
        let fresh: Vec<(u64, String)> = (first..=last)
            .filter(|number| !there.contains(number))
            .map(|number| (number, text(number)))
            .collect();
        let kind = match data.props.kind {
            crate::Kind::Table => crate::Kind::Row,
            _ => crate::Kind::ListItem,
        };
        for row in out {
            self.remove(row);
        }
        for (number, text) in fresh {
            let mut row = Widget::new(kind)
                .text(text)
                .selected(selected == Some(number));
            if keyed {
                row = row.tag(agent_core::Tag::key(number.to_string()));
            }
            row.row = Some(number);
            let later = |child: &Node| self.row_number(*child).is_some_and(|row| row > number);
            let at = self
                .get(list)
                .and_then(|data| data.children.iter().position(later));
            self.insert(list, at.unwrap_or(usize::MAX), row);
        }
    }
}
