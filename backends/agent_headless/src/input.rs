//! What widgets do when somebody uses them. A person's steps, an agent's actions and the app's
//! own settings come together here, so that all of them take the same road (rule 14).

use agent_core::EventVerb;

use crate::{
    kind::Kind,
    tree::Tree,
    widget::{Node, On},
};

/// How many edits a field can undo.
const MAX_UNDO: usize = 100;

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A person, by mouse and keyboard.
    User,
    /// An agent, whose leave to do it was checked before.
    Agent,
    /// The app, to its own widgets: no handler runs, and nothing is told but what comparing
    /// tells.
    App,
}

/// A text with a range of it, in characters, replaced. Of what is put in, as much is taken as
/// there is room for, as GTK's `Entry` does; what was there already is not cut.
pub(crate) fn splice(
    text: &str,
    range: Option<(usize, usize)>,
    value: &str,
    max_length: Option<usize>,
) -> String {
    let (from, to) = range.unwrap_or((0, usize::MAX));
    let mut spliced: String = text.chars().take(from).collect();
    let after: String = text.chars().skip(to).collect();
    match max_length {
        None => spliced.push_str(value),
        Some(max) => {
            let kept = spliced.chars().count() + after.chars().count();
            spliced.extend(value.chars().take(max.saturating_sub(kept)));
        }
    }
    spliced + &after
}

impl Tree {
    /// Runs a handler, unless it is running already. It is called without being borrowed from
    /// the tree, so it may change anything there.
    fn run(&mut self, node: Node, on: On) {
        let handler = self
            .get(node)
            .and_then(|data| data.handlers.get(on))
            .cloned();
        if let Some(handler) = handler
            && let Ok(mut handler) = handler.try_borrow_mut()
        {
            handler(self, node);
        }
    }

    pub(crate) fn press(&mut self, node: Node, by: By) {
        let Some(props) = self.props(node) else {
            return;
        };
        let (kind, to) = (props.kind, !props.checked);
        let switched = props.checkable;
        if kind == Kind::MenuItem {
            let menus: Vec<Node> = self
                .path(node)
                .skip(1)
                .filter(|around| self.kind(*around) == Some(Kind::Menu))
                .collect();
            for menu in menus {
                self.open(menu, false, by);
            }
        }
        if kind.is_pressed() {
            self.tell(node, EventVerb::Clicked);
        }
        if switched {
            self.set_on(node, to, by);
            self.run(node, On::Change);
        }
        self.run(node, On::Click);
    }

    /// Puts it on or off; `false` if it is already.
    fn set_on(&mut self, node: Node, to: bool, by: By) -> bool {
        let changed = self.set(node, |props| {
            let changes = props.checked != to || props.mixed;
            props.checked = to;
            props.mixed = false;
            changes.then_some(())
        });
        if changed && by != By::App {
            self.tell(node, EventVerb::Toggled);
        }
        changed
    }

    /// Switches it on or off, as a press would if it is not yet so.
    pub(crate) fn switch(&mut self, node: Node, to: bool, by: By) {
        if self.kind(node) == Some(Kind::Radio) {
            if to {
                self.light(node, by);
            }
        } else if self.set_on(node, to, by) && by != By::App {
            self.run(node, On::Change);
            // A menu item's press is more than a switch; setting it is none.
            if self.kind(node).is_some_and(Kind::is_switch) {
                self.run(node, On::Click);
            }
        }
    }

    /// Puts a radio button on.
    fn light(&mut self, node: Node, by: By) {
        if self.props(node).is_none_or(|props| props.checked) {
            return;
        }
        self.take_light(node);
        if by != By::App {
            self.tell(node, EventVerb::Toggled);
            self.run(node, On::Change);
            self.run(node, On::Click);
        }
    }

    /// Selects one of a choice, or puts a radio button on.
    pub(crate) fn choose(&mut self, node: Node, by: By) {
        let Some(props) = self.props(node) else {
            return;
        };
        let kind = props.kind;
        if kind == Kind::Radio {
            return self.light(node, by);
        }
        if !kind.is_choice() || props.selected {
            return;
        }
        self.take_choice(node);
        let list = self.list_of(node);
        if by != By::App {
            self.tell(node, EventVerb::Selected);
        }
        if let Some(combo) = list.filter(|list| self.kind(*list) == Some(Kind::Combo)) {
            self.text_changed(combo, by);
            if by != By::App {
                self.open(combo, false, by);
            }
        }
        if by != By::App {
            self.run(node, On::Change);
            // These are chosen by pressing them; a row's press is another thing.
            if matches!(kind, Kind::Option | Kind::Tab) {
                self.run(node, On::Click);
            }
            if let Some(list) = list {
                self.run(list, On::Change);
            }
        }
    }

    /// Opens or closes it.
    pub(crate) fn open(&mut self, node: Node, to: bool, by: By) {
        if !self.opens(node) || self.props(node).is_none_or(|props| props.expanded == to) {
            return;
        }
        self.set(node, |props| {
            props.expanded = to;
            Some(())
        });
        if self.kind(node) == Some(Kind::TreeItem) {
            // What is inside is shown or hidden by it.
            self.touch_all();
            self.let_go_of_focus();
        }
        if by != By::App {
            self.tell(
                node,
                if to {
                    EventVerb::Opened
                } else {
                    EventVerb::Closed
                },
            );
        }
    }

    pub(crate) fn set_focus(&mut self, node: Option<Node>) {
        let before = std::mem::replace(&mut self.focus, node);
        if before == node {
            return;
        }
        if let Some(data) = before.and_then(|before| self.get_mut(before)) {
            data.told = false;
        }
        for node in [before, node].into_iter().flatten() {
            self.touch(node);
        }
    }

    /// Presses Enter in a field.
    pub(crate) fn submit(&mut self, field: Node) {
        if let Some(data) = self.get_mut(field) {
            data.told = false;
        }
        self.tell(field, EventVerb::Submitted);
        match self.pressed_by_enter(field) {
            // To a person a default button that can't be pressed is silent; an agent has been
            // refused before.
            Some(button) if self.is_reachable(button) => self.press(button, By::User),
            Some(_) => {}
            None => self.run(field, On::Submit),
        }
    }

    /// The default button that Enter in a field presses, if the app doesn't listen to Enter
    /// there.
    pub(crate) fn pressed_by_enter(&self, field: Node) -> Option<Node> {
        let data = self.get(field)?;
        if data.handlers.submit.is_some() {
            return None;
        }
        self.top(self.window_of(field)?)?.default
    }

    /// Replaces a field's text.
    pub(crate) fn edit(&mut self, field: Node, text: String, by: By) {
        let secret = self.is_secret(field);
        let Some(data) = self.get_mut(field) else {
            return;
        };
        // Writing what is there already is a change of a secret: anything else would tell that
        // the guess was right (rule 8).
        let guess = secret && by == By::Agent;
        if data.props.text == text && !guess {
            return;
        }
        let before = std::mem::replace(&mut data.props.text, text);
        if by != By::App && !secret {
            if data.undo.len() == MAX_UNDO {
                data.undo.pop_front();
            }
            data.undo.push_back(before);
        }
        self.text_changed(field, by);
        if by != By::App {
            self.run(field, On::Change);
        }
    }

    /// Takes back the last edit by a person or an agent.
    fn undo(&mut self, field: Node) -> bool {
        let before = self.get_mut(field).and_then(|data| {
            let before = data.undo.pop_back()?;
            data.props.text = before;
            Some(())
        });
        if before.is_some() {
            self.text_changed(field, By::User);
            self.run(field, On::Change);
        }
        before.is_some()
    }

    /// Notes a change of a text or value. Of a secret it is noted once, so that neither its
    /// length nor its rhythm shows, and again after it lost the focus, was submitted, or was
    /// written by an agent.
    fn text_changed(&mut self, node: Node, by: By) {
        if self.is_secret(node) {
            let Some(data) = self.get_mut(node) else {
                return;
            };
            let told = std::mem::replace(&mut data.told, by != By::Agent);
            if told && by != By::Agent {
                return;
            }
        }
        self.touch_text(node);
        if by != By::App {
            self.tell(node, EventVerb::Changed);
        }
    }

    /// Sets a number: the step nearest to it that it can be set to.
    pub(crate) fn dial(&mut self, node: Node, to: f64, by: By) {
        let Some(props) = self.props(node) else {
            return;
        };
        if !props.kind.is_number() || !to.is_finite() {
            return;
        }
        let (min, max, step) = (props.min, props.max, props.step);
        let base = if min.is_finite() { min } else { 0.0 };
        let stepped = if step > 0.0 {
            base + ((to - base) / step).round() * step
        } else {
            to
        };
        // `clamp` would panic on bounds that cross.
        let to = stepped.min(max).max(min);
        if props.number == to {
            return;
        }
        if let Some(data) = self.get_mut(node) {
            data.props.number = to;
        }
        self.text_changed(node, by);
        if by != By::App {
            self.run(node, On::Change);
        }
    }

    /// What a press of the mouse does.
    pub(crate) fn click(&mut self, node: Node, by: By) {
        let Some(props) = self.props(node) else {
            return;
        };
        match props.kind {
            Kind::Toggle | Kind::Checkbox | Kind::Switch => {
                let to = !props.checked || props.mixed;
                self.switch(node, to, by);
            }
            Kind::Radio | Kind::Option | Kind::Tab => self.choose(node, by),
            _ => self.press(node, by),
        }
    }
}

/// What an app sets.
impl Tree {
    /// Sets a caption, title or text; of a combo box, the option of that text; of a slider and
    /// the like, the number that it spells.
    pub fn set_text(&mut self, node: Node, text: impl Into<String>) {
        let text = text.into();
        match self.kind(node) {
            Some(Kind::Combo) => self.show_choice(node, text),
            Some(kind) if kind.is_number() => {
                if let Ok(number) = text.trim().parse() {
                    self.dial(node, number, By::App);
                }
            }
            _ => self.edit(node, text, By::App),
        }
    }

    fn show_choice(&mut self, combo: Node, text: String) {
        let option = self.subtree(combo).into_iter().skip(1).find(|node| {
            self.props(*node)
                .is_some_and(|props| props.kind == Kind::Option && props.text == text)
        });
        if let Some(option) = option {
            return self.choose(option, By::App);
        }
        if let Some(chosen) = self.get(combo).and_then(|data| data.chosen) {
            self.set_selected(chosen, false);
        }
        self.edit(combo, text, By::App);
    }

    /// Sets the number of a slider and the like, within its bounds.
    pub fn set_number(&mut self, node: Node, number: f64) {
        self.dial(node, number, By::App);
    }

    /// Sets whether it is on.
    pub fn set_checked(&mut self, node: Node, checked: bool) {
        match self.props(node) {
            Some(props) if props.kind == Kind::Radio && !checked => {
                let parent = self.get(node).and_then(|data| data.parent);
                if let Some(data) = parent.and_then(|parent| self.get_mut(parent))
                    && data.lit == Some(node)
                {
                    data.lit = None;
                }
                self.set(node, |props| {
                    std::mem::replace(&mut props.checked, false).then_some(())
                });
            }
            Some(props) if props.is_switch() || props.kind == Kind::Radio => {
                self.switch(node, checked, By::App);
            }
            _ => {}
        }
    }

    /// Sets a checkbox to neither on nor off, or back.
    pub fn set_mixed(&mut self, node: Node, mixed: bool) {
        if self.props(node).is_some_and(super::Props::is_switch) {
            self.set(node, |props| {
                (std::mem::replace(&mut props.mixed, mixed) != mixed).then_some(())
            });
        }
    }

    /// Sets whether it is the chosen one.
    pub fn set_selected(&mut self, node: Node, selected: bool) {
        if selected {
            if self.kind(node).is_some_and(Kind::is_choice) {
                self.choose(node, By::App);
            }
            return;
        }
        if self.props(node).is_none_or(|props| !props.selected) {
            return;
        }
        let list = self.list_of(node);
        self.set(node, |props| {
            props.selected = false;
            Some(())
        });
        if let Some(list) = list
            && let Some(data) = self.get_mut(list)
        {
            data.chosen = None;
            if let Some(lazy) = &mut data.lazy {
                lazy.selected = None;
            }
            if data.props.kind == Kind::Combo {
                self.text_changed(list, By::App);
            }
        }
    }

    /// Sets whether it is open.
    pub fn set_expanded(&mut self, node: Node, expanded: bool) {
        self.open(node, expanded, By::App);
    }

    /// Gives it the keyboard focus, or takes it from everything.
    pub fn focus(&mut self, node: Option<Node>) {
        let takes = |node: &Node| self.kind(*node).is_some_and(Kind::takes_focus);
        let node = node.filter(|node| takes(node) && self.is_usable(*node));
        self.set_focus(node);
    }
}

/// What a person does. Each answers whether it could be done: a person can't use what is hidden,
/// disabled, or under something modal. A widget that is out of sight is scrolled to first.
impl Tree {
    /// Whether a person can get at it.
    pub(crate) fn is_reachable(&self, node: Node) -> bool {
        use agent_core::LiveTree;
        self.is_usable(node) && self.blocked_by(node).is_none()
    }

    /// Presses it. A field takes the focus; a list item is selected too.
    pub fn user_click(&mut self, node: Node) -> bool {
        if !self.is_reachable(node) {
            return false;
        }
        match self.kind(node) {
            Some(kind) if kind.is_field() || kind == Kind::Spin => self.set_focus(Some(node)),
            Some(Kind::Combo | Kind::Menu) => {
                let to = self.props(node).is_some_and(|props| !props.expanded);
                self.open(node, to, By::User);
            }
            Some(Kind::Row | Kind::ListItem | Kind::TreeItem) => {
                self.choose(node, By::User);
                self.click(node, By::User);
            }
            _ => self.click(node, By::User),
        }
        true
    }

    /// Whether a person can edit it, who puts the focus there to do so.
    fn begin_edit(&mut self, field: Node) -> bool {
        let editable = self
            .props(field)
            .is_some_and(|props| props.kind.is_field() && !props.read_only);
        if !editable || !self.is_reachable(field) {
            return false;
        }
        self.set_focus(Some(field));
        true
    }

    /// Types a text at the end of what is in a field.
    pub fn user_type(&mut self, field: Node, text: &str) -> bool {
        if !self.begin_edit(field) {
            return false;
        }
        if let Some(props) = self.props(field) {
            let end = props.text.chars().count();
            let text = splice(&props.text, Some((end, end)), text, props.max_length);
            self.edit(field, text, By::User);
        }
        true
    }

    /// Deletes what is in a field.
    pub fn user_clear(&mut self, field: Node) -> bool {
        if !self.begin_edit(field) {
            return false;
        }
        self.edit(field, String::new(), By::User);
        true
    }

    /// Presses Enter in a field.
    pub fn user_submit(&mut self, field: Node) -> bool {
        let is_field = self.kind(field).is_some_and(Kind::is_field);
        if !is_field || !self.is_reachable(field) {
            return false;
        }
        self.set_focus(Some(field));
        let (_, listens) = self.listens(field);
        if self.kind(field) == Some(Kind::TextArea) && !listens {
            return self.user_type(field, "\n");
        }
        self.submit(field);
        true
    }

    /// Presses the undo key in a field. `false` also if there was nothing to undo.
    pub fn user_undo(&mut self, field: Node) -> bool {
        self.begin_edit(field) && self.undo(field)
    }

    /// Switches it on or off, by pressing it until it is so.
    pub fn user_check(&mut self, node: Node, checked: bool) -> bool {
        let Some(props) = self.props(node) else {
            return false;
        };
        let can = props.is_switch() || (props.kind == Kind::Radio && checked);
        if !can || !self.is_reachable(node) {
            return false;
        }
        // One that is neither is on after the first press.
        for _ in 0..2 {
            let there = |props: &crate::Props| props.checked == checked && !props.mixed;
            if !self.props(node).is_some_and(there) {
                self.user_click(node);
            }
        }
        true
    }

    /// Selects it.
    pub fn user_select(&mut self, node: Node) -> bool {
        let can = self
            .kind(node)
            .is_some_and(|kind| kind.is_choice() || kind == Kind::Radio);
        if !can || !self.is_reachable(node) {
            return false;
        }
        self.choose(node, By::User);
        true
    }

    /// Drags a slider, or types a number.
    pub fn user_set_number(&mut self, node: Node, number: f64) -> bool {
        let editable = self.props(node).is_some_and(|props| {
            matches!(props.kind, Kind::Slider | Kind::Spin) && !props.read_only
        });
        if !editable || !self.is_reachable(node) {
            return false;
        }
        self.dial(node, number, By::User);
        true
    }

    /// Opens or closes it.
    pub fn user_expand(&mut self, node: Node, expanded: bool) -> bool {
        if !self.opens(node) || !self.is_reachable(node) {
            return false;
        }
        self.open(node, expanded, By::User);
        true
    }

    /// Scrolls what is inside it to a part of the whole way, from 0 to 1.
    pub fn user_scroll(&mut self, node: Node, to: f64) -> bool {
        let scrolls = self.kind(node).is_some_and(Kind::scrolls);
        if !scrolls || !self.is_reachable(node) {
            return false;
        }
        self.scroll_part(node, to);
        true
    }

    /// Closes a window by its frame.
    pub fn user_close_window(&mut self, window: Node) -> bool {
        let can = self.top(window).is_some() && self.is_reachable(window);
        if can {
            self.close(window);
        }
        can
    }

    /// Drags a window to another size, in points.
    pub fn user_resize(&mut self, window: Node, width: f64, height: f64) -> bool {
        if !self.is_reachable(window) {
            return false;
        }
        match self.top_mut(window) {
            Some(top) => {
                top.width = width.max(1.0);
                top.height = height.max(1.0);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::splice;

    #[test]
    fn a_range_is_counted_in_characters_and_only_what_is_new_is_cut() {
        for (text, range, value, max, expected) in [
            ("héllo wörld", Some((6, 11)), "Erde", None, "héllo Erde"),
            ("", None, "abcdefgh", Some(5), "abcde"),
            ("abcde", Some((1, 1)), "XYZ", Some(6), "aXbcde"),
            ("abcdefgh", Some((0, 1)), "XYZ", Some(5), "bcdefgh"),
            ("abc", None, "", Some(0), ""),
            ("é", Some((1, 1)), "👨\u{200d}👩", Some(2), "é👨"),
        ] {
            assert_eq!(splice(text, range, value, max), expected, "{text} {value}");
        }
    }
}
