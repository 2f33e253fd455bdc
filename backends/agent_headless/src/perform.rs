//! An agent's actions, once the rules have allowed them.

use agent_core::{Action, Authorised, keyed_id};

use crate::{
    input::{By, splice},
    tree::Tree,
    widget::Node,
};

/// A text that was written, as it would stand if the field had taken all of it.
pub(crate) struct Edit {
    pub(crate) node: Node,
    pub(crate) wanted: String,
}

impl Tree {
    /// Does it, now, through the functions that a person's steps go through.
    pub(crate) fn perform(&mut self, authorised: Authorised<Node>) -> Option<Edit> {
        let (node, action) = authorised.perform();
        match action {
            Action::Click => self.click(node, By::Agent),
            Action::SetText { value, range, .. } => return self.write(node, &value, range),
            Action::ScrollTo { key } => self.scroll_to_key(node, key.as_deref()),
            Action::Focus => self.set_focus(Some(node)),
            Action::Submit => self.submit(node),
            Action::Select => self.choose(node, By::Agent),
            Action::SetChecked(to) => self.switch(node, to, By::Agent),
            Action::SetValue(to) => self.dial(node, to, By::Agent),
            Action::Expand => self.open(node, true, By::Agent),
            Action::Collapse => self.open(node, false, By::Agent),
        }
        None
    }

    fn write(&mut self, node: Node, value: &str, range: Option<(u64, u64)>) -> Option<Edit> {
        let range = range.map(|(from, to)| (from as usize, to as usize));
        let props = self.props(node)?;
        let wanted = splice(&props.text, range, value, None);
        let text = splice(&props.text, range, value, props.max_length);
        self.edit(node, text, By::Agent);
        Some(Edit { node, wanted })
    }

    fn scroll_to_key(&mut self, node: Node, key: Option<&str>) {
        let Some(key) = key else {
            return self.scroll_to(node);
        };
        if let Some(row) = self.row_of_key(node, key) {
            self.scroll_to_row(node, row);
            return;
        }
        let id = self
            .get(node)
            .and_then(|data| keyed_id(data.claimed.as_deref()?, key).ok());
        // Several windows may hold a list of this id: the row is one inside this list.
        let row = id
            .and_then(|id| self.index.get(id.as_str()))
            .and_then(|rows| {
                let inside = |row: &&Node| self.path(**row).any(|around| around == node);
                rows.iter().find(inside).copied()
            });
        if let Some(row) = row {
            self.scroll_to(row);
        }
    }
}
