//! A tree in a vector, as small as can be.

use agent_core::{Facts, Frame, Label, LiveTree, Role, States, Tag, Verb, VerbSet};

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    pub(crate) role: Role,
    pub(crate) tag: Option<Tag>,
    pub(crate) label: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) states: States,
    pub(crate) stamp: u64,
    pub(crate) modal: Option<usize>,
    /// What Enter in it presses.
    pub(crate) enter: Option<usize>,
    pub(crate) gone: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(pub(crate) Vec<Node>);

impl Tree {
    /// A window without a tag.
    pub(crate) fn new() -> Self {
        let mut tree = Self::default();
        tree.push(None, Role::Window, None, None);
        tree
    }

    fn push(
        &mut self,
        parent: Option<usize>,
        role: Role,
        tag: Option<Tag>,
        text: Option<&str>,
    ) -> usize {
        self.0.push(Node {
            parent,
            role,
            tag,
            label: None,
            text: text.map(str::to_owned),
            states: States::empty(),
            stamp: 0,
            modal: None,
            enter: None,
            gone: false,
        });
        self.0.len() - 1
    }

    pub(crate) fn add(&mut self, parent: usize, role: Role, tag: Tag, text: &str) -> usize {
        self.push(Some(parent), role, Some(tag), Some(text))
    }

    pub(crate) fn bare(&mut self, parent: usize, role: Role, text: &str) -> usize {
        self.push(Some(parent), role, None, Some(text))
    }

    pub(crate) fn window(&mut self, tag: Tag) -> usize {
        self.push(None, Role::Window, Some(tag), None)
    }

    fn kept(&self, parent: Option<usize>) -> Vec<usize> {
        let nodes = self.0.iter().enumerate();
        let kept = nodes.filter(|(_, node)| node.parent == parent && !node.gone);
        kept.map(|(at, _)| at).collect()
    }

    fn ids(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(|at| !self.0[*at].gone)
    }
}

impl LiveTree for Tree {
    type Key = usize;

    fn windows(&self) -> Vec<usize> {
        self.kept(None)
    }
    fn is_window(&self, node: usize) -> bool {
        self.0[node].parent.is_none() && !self.0[node].gone
    }
    fn parent(&self, node: usize) -> Option<usize> {
        self.0[node].parent.filter(|_| !self.0[node].gone)
    }
    fn position(&self, node: usize) -> usize {
        self.kept(self.0[node].parent)
            .iter()
            .position(|at| *at == node)
            .unwrap_or_default()
    }
    fn children(&self, node: usize) -> Vec<usize> {
        self.kept(Some(node))
    }
    fn tag(&self, node: usize) -> Option<&Tag> {
        self.0[node].tag.as_ref()
    }
    fn facts(&self, node: usize) -> Facts {
        let node = &self.0[node];
        let offers = match node.role {
            Role::Button => Verb::Click.set() | Verb::Focus.set(),
            Role::Checkbox => Verb::SetChecked.set() | Verb::Click.set(),
            Role::Textbox if node.enter.is_some() => Verb::Submit.set(),
            Role::Textbox => Verb::SetText.set() | Verb::Focus.set(),
            _ => VerbSet::empty(),
        };
        Facts {
            role: node.role,
            states: node.states,
            offers,
            size: None,
        }
    }
    fn class(&self, _: usize) -> String {
        "Node".into()
    }
    fn label(&self, node: usize) -> Label<usize> {
        self.0[node].label.clone().map_or(Label::None, Label::Text)
    }
    fn text(&self, node: usize) -> Option<String> {
        let marked = self.0[node]
            .tag
            .as_ref()
            .is_some_and(|tag| tag.get_marks().contains(agent_core::Marks::SECRET));
        assert!(
            !marked && !self.0[node].states.contains(States::SECRET),
            "rule 8: a secret was read"
        );
        self.0[node].text.clone()
    }
    fn has_text(&self, node: usize) -> bool {
        self.0[node].text.is_some()
    }
    fn activates(&self, node: usize, verb: Verb) -> Option<usize> {
        self.0[node].enter.filter(|_| verb == Verb::Submit)
    }
    fn text_stamp(&self, node: usize) -> u64 {
        self.0[node].stamp
    }
    fn frame(&self, _: usize) -> Option<Frame> {
        Some(Frame::default())
    }
    fn claimants(&self, id: &str) -> Vec<usize> {
        let last = |at: &usize| {
            let tag = self.0[*at].tag.as_ref()?;
            Some(match (tag.get_id(), tag.get_key()) {
                (Some(own), _) => own == id,
                (None, Some(key)) => id
                    .rsplit_once('/')
                    .is_some_and(|(list, _)| agent_core::keyed_id(list, key).as_deref() == Ok(id)),
                (None, None) => false,
            })
        };
        self.ids().filter(|at| last(at) == Some(true)).collect()
    }
    fn tagged(&self) -> Vec<usize> {
        self.ids().filter(|at| self.0[*at].tag.is_some()).collect()
    }
    fn blocked_by(&self, node: usize) -> Option<usize> {
        let mut at = Some(node);
        while let Some(node) = at {
            if let Some(modal) = self.0[node].modal {
                return Some(modal);
            }
            at = self.0[node].parent;
        }
        None
    }
}
