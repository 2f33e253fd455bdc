//! The tree as the rules look at it. Each answer costs what is around the node, never what the
//! window holds.

use agent_core::{Facts, Frame, Label, LiveTree, Marks, Role, States, Tag, Verb, VerbSet};

use crate::{
    kind::Kind,
    tree::{Data, Tree},
    widget::Node,
};

impl LiveTree for Tree {
    type Key = Node;

    fn windows(&self) -> Vec<Node> {
        self.windows.clone()
    }

    fn is_window(&self, node: Node) -> bool {
        self.top(node).is_some()
    }

    fn parent(&self, node: Node) -> Option<Node> {
        self.get(node)?.parent
    }

    fn position(&self, node: Node) -> usize {
        self.get(node).map_or(0, |data| data.position)
    }

    fn children(&self, node: Node) -> Vec<Node> {
        self.get(node)
            .map_or_else(Vec::new, |data| data.children.clone())
    }

    fn tag(&self, node: Node) -> Option<&Tag> {
        self.get(node)?.props.tag.as_ref()
    }

    fn facts(&self, node: Node) -> Facts {
        match self.get(node) {
            Some(data) => Facts {
                role: match data.props.kind {
                    Kind::MenuItem if data.props.checkable => Role::MenuItemCheckbox,
                    kind => kind.role(),
                },
                states: self.states_of(node, data),
                offers: offers(data) - self.unsupported(),
                size: data
                    .lazy
                    .as_ref()
                    .filter(|lazy| lazy.rows.keyed)
                    .map(|lazy| lazy.rows.count),
            },
            None => Facts {
                role: Role::Unknown,
                states: States::HIDDEN,
                offers: VerbSet::empty(),
                size: None,
            },
        }
    }

    fn class(&self, node: Node) -> String {
        let data = self.get(node);
        data.map_or(String::new(), |data| data.props.kind.word().to_owned())
    }

    fn label(&self, node: Node) -> Label<Node> {
        self.label_of(node)
    }

    fn text(&self, node: Node) -> Option<String> {
        let data = self.get(node)?;
        let kind = data.props.kind;
        match kind {
            // Not asked for; not told if it were.
            Kind::PasswordField => None,
            Kind::Combo => Some(self.shown_choice(node, data)),
            _ if kind.is_number() => Some(data.props.number.to_string()),
            _ if self.has_text(node) => Some(data.props.text.clone()),
            _ => None,
        }
    }

    fn has_text(&self, node: Node) -> bool {
        self.get(node)
            .is_some_and(|data| data.props.kind.has_words() || !data.props.text.is_empty())
    }

    fn text_stamp(&self, node: Node) -> u64 {
        self.get(node).map_or(0, |data| data.stamp)
    }

    fn frame(&self, node: Node) -> Option<Frame> {
        self.frame_of(node)
    }

    fn claimants(&self, id: &str) -> Vec<Node> {
        self.index.get(id).cloned().unwrap_or_default()
    }

    fn tagged(&self) -> Vec<Node> {
        self.tagged.clone()
    }

    fn blocked_by(&self, node: Node) -> Option<Node> {
        self.modal_over(self.window_of(node)?)
    }

    fn activates(&self, node: Node, verb: Verb) -> Option<Node> {
        (verb == Verb::Submit)
            .then(|| self.pressed_by_enter(node))
            .flatten()
    }

    fn bounds(&self, node: Node) -> Option<(f64, f64)> {
        self.props(node).map(|props| (props.min, props.max))
    }

    fn has_row(&self, list: Node, key: &str) -> bool {
        self.row_of_key(list, key).is_some()
    }
}

/// The acting verbs that a widget has a way to perform.
fn offers(data: &Data) -> VerbSet {
    let kind = data.props.kind;
    let mut offers = kind.offers();
    if data.props.checkable {
        offers |= VerbSet::SetChecked;
    }
    if kind == Kind::TreeItem && data.tree_items > 0 {
        offers |= VerbSet::Expand | VerbSet::Collapse;
    }
    if kind == Kind::TextArea && data.handlers.submit.is_some() {
        offers |= VerbSet::Submit;
    }
    if kind.may_listen_to_clicks() && data.handlers.click.is_some() {
        offers |= VerbSet::Click;
    }
    offers
}

impl Tree {
    /// Whether it opens and closes.
    pub(crate) fn opens(&self, node: Node) -> bool {
        self.get(node).is_some_and(|data| match data.props.kind {
            Kind::Combo | Kind::Menu => true,
            Kind::TreeItem => data.tree_items > 0,
            _ => false,
        })
    }

    fn states_of(&self, node: Node, data: &Data) -> States {
        let props = &data.props;
        let kind = props.kind;
        let mut states = States::empty();
        let mut mark = |state, holds| {
            if holds {
                states |= state;
            }
        };
        mark(States::DISABLED, !props.enabled);
        mark(States::HIDDEN, !props.visible || self.is_folded(node));
        let is_on = props.is_switch() || kind == Kind::Radio;
        if is_on && props.mixed {
            mark(States::MIXED, true);
        } else if kind == Kind::Toggle {
            mark(States::PRESSED, props.checked);
        } else {
            mark(States::CHECKED, is_on && props.checked);
        }
        mark(States::SELECTED, kind.is_choice() && props.selected);
        if self.opens(node) {
            mark(States::EXPANDED, props.expanded);
            mark(States::COLLAPSED, !props.expanded);
        }
        mark(States::FOCUSED, self.focus == Some(node));
        mark(States::OFFSCREEN, self.is_offscreen(node));
        let is_edited = kind.is_field() || matches!(kind, Kind::Slider | Kind::Spin);
        mark(States::READ_ONLY, is_edited && props.read_only);
        mark(States::SECRET, kind == Kind::PasswordField);
        mark(States::BUSY, props.busy);
        mark(
            States::MODAL,
            data.top.as_ref().is_some_and(|top| top.modal),
        );
        states
    }

    /// What a combo box shows: the selected option's text, but not if that is kept from agents,
    /// who would read it here.
    fn shown_choice(&self, combo: Node, data: &Data) -> String {
        let Some(option) = data.chosen else {
            return data.props.text.clone();
        };
        let kept_back = self
            .path(option)
            .take_while(|node| *node != combo)
            .filter_map(|node| self.tag(node))
            .any(|tag| {
                tag.get_exposed() == Some(false)
                    || tag.get_marks().intersects(Marks::SECRET | Marks::EXCLUDED)
            });
        match self.props(option) {
            Some(option) if !kept_back => option.text.clone(),
            _ => String::new(),
        }
    }

    /// Whether its text is secret: it is a password field, or in something tagged so.
    pub(crate) fn is_secret(&self, node: Node) -> bool {
        self.kind(node) == Some(Kind::PasswordField)
            || self.path(node).any(|node| {
                self.tag(node)
                    .is_some_and(|tag| tag.get_marks().contains(Marks::SECRET))
            })
    }

    /// The number of a lazy list's row of this key: written as a number is, and in no other way.
    pub(crate) fn row_of_key(&self, list: Node, key: &str) -> Option<u64> {
        let rows = &self.get(list)?.lazy.as_ref()?.rows;
        let number: u64 = key.parse().ok()?;
        (rows.keyed && (1..=rows.count).contains(&number) && number.to_string() == key)
            .then_some(number)
    }
}
