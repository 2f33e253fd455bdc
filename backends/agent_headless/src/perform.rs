//! An agent's actions, once the rules have allowed them.

use agent_core::{
    Action, Authorised, Fault, LiveTree, Marks, No, Refusal, Standings, States, VerbSet, Why,
    keyed_id,
};

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
    ///
    /// # Errors
    /// If the live widget judges otherwise than the rules could: a number out of its bounds, a
    /// default button that may not be pressed.
    pub(crate) fn perform(&mut self, authorised: Authorised<Node>) -> Result<Option<Edit>, No> {
        let (node, action) = authorised.perform();
        match action {
            Action::Click => self.click(node, By::Agent),
            Action::SetText { value, range, .. } => return Ok(self.write(node, &value, range)),
            Action::ScrollTo { key } => self.scroll_to_key(node, key.as_deref()),
            Action::Focus => self.set_focus(Some(node)),
            Action::Submit => {
                self.judge_enter(node)?;
                self.submit(node);
            }
            Action::Select => self.choose(node, By::Agent),
            Action::SetChecked(to) => self.switch(node, to, By::Agent),
            Action::SetValue(to) => {
                self.judge_number(node, to)?;
                self.dial(node, to, By::Agent);
            }
            Action::Expand => self.open(node, true, By::Agent),
            Action::Collapse => self.open(node, false, By::Agent),
        }
        Ok(None)
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

    /// Judges the default button that Enter would press as an action on that button (rule 3): it
    /// need not be exposed, but its ceiling, its state and its marks hold.
    fn judge_enter(&self, field: Node) -> Result<(), No> {
        let Some(button) = self.pressed_by_enter(field) else {
            return Ok(());
        };
        let mut standings = Standings::new(self);
        let no = |why| No::from(Refusal::NotActionable { why, by: None });
        let Some(standing) = standings.of(button) else {
            return Ok(());
        };
        // What is excluded does not exist for agents, so nothing they do may press it.
        if standing.is_excluded() || !standing.ceiling.contains(VerbSet::Click) {
            return Err(no(Why::Ceiling));
        }
        if standing.inherited.contains(States::HIDDEN) {
            return Err(no(Why::Hidden));
        }
        if let Some(modal) = self.blocked_by(button) {
            let standing = standings.of(modal);
            return Err(No::from(Refusal::NotActionable {
                why: Why::BlockedByModal,
                by: standing.and_then(|modal| modal.id.as_deref().map(str::to_owned)),
            }));
        }
        if standing.inherited.contains(States::DISABLED) {
            return Err(no(Why::Disabled));
        }
        if standing.marks.contains(Marks::CONFIRM) {
            return Err(Refusal::NeedsConfirmation.into());
        }
        Ok(())
    }

    fn judge_number(&self, node: Node, to: f64) -> Result<(), No> {
        let Some(props) = self.props(node) else {
            return Ok(());
        };
        if to.is_finite() && (props.min..=props.max).contains(&to) {
            return Ok(());
        }
        Err(No::from(Fault::InvalidParams {
            name: "value",
            why: format!("it goes from {} to {}", props.min, props.max),
        }))
    }
}
