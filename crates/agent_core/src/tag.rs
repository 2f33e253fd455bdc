//! What a developer puts on a widget.

use std::borrow::Cow;

use bitflags::bitflags;

use crate::{
    id::{BadId, check_id},
    role::Role,
    verb::VerbSet,
};

bitflags! {
    /// What is said of a node and of everything inside it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct Marks: u8 {
        /// Its text is never read (rule 8).
        const SECRET = 1;
        /// It does not exist for agents (rule 11).
        const EXCLUDED = 1 << 1;
        /// Its text comes from outside the app and is data, not the app's word.
        const RELAYED = 1 << 2;
        /// The user is asked before each action on it.
        const CONFIRM = 1 << 3;
    }
}

/// What a developer says of one widget to agents: one type for every toolkit.
///
/// A tag with an id (or, for a row, a key) exposes its widget; a tag without either only passes
/// on what it says to what is inside.
///
/// ```
/// use agent_core::{Tag, Verb};
/// let field = Tag::id("name-field");
/// let row = Tag::key("1007");
/// let danger = Tag::id("danger").ceiling([]); // may be read, never acted on
/// let pay = Tag::id("pay").ceiling([Verb::Click]).confirm();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    id: Option<Cow<'static, str>>,
    key: Option<Cow<'static, str>>,
    label: Option<Cow<'static, str>>,
    role: Option<Role>,
    exposed: Option<bool>,
    ceiling: Option<VerbSet>,
    marks: Marks,
}

impl Tag {
    /// A tag without an id: it exposes nothing by itself, and what is set on it is inherited by
    /// everything inside.
    pub fn new() -> Self {
        Self::default()
    }

    /// Exposes the widget under `id`: 1 to 200 letters, digits, `-`, `_`, `.`, `:`. Any other id
    /// leaves it unexposed, with a warning to the developer.
    pub fn id(id: impl Into<Cow<'static, str>>) -> Self {
        Self {
            id: Some(id.into()),
            ..Self::default()
        }
    }

    /// Exposes a row (or a part of one) under `list/key`, `list` being the id of the nearest
    /// exposed node around it. The key comes from the row's data, not from its place.
    pub fn key(key: impl Into<Cow<'static, str>>) -> Self {
        Self {
            key: Some(key.into()),
            ..Self::default()
        }
    }

    /// Names what has no accessible name of its own, such as a group.
    #[must_use]
    pub fn label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Says what a container is, where the toolkit has no word for it (a scrolled list, say).
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Overrules exposure: `false` keeps a widget that has an id from agents. `true` without an
    /// id or a key exposes nothing, and warns.
    #[must_use]
    pub fn exposed(mut self, exposed: bool) -> Self {
        self.exposed = Some(exposed);
        self
    }

    /// The most that an agent may ever do here and inside: the intersection with the ceilings
    /// around it holds (rule 3). `[]` is *observe*.
    #[must_use]
    pub fn ceiling(mut self, verbs: impl Into<VerbSet>) -> Self {
        let verbs = verbs.into();
        self.ceiling = Some(self.ceiling.map_or(verbs, |already| already & verbs));
        self
    }

    /// Its text, and any text inside it, is never read (rule 8).
    #[must_use]
    pub fn secret(self) -> Self {
        self.mark(Marks::SECRET)
    }

    /// Neither it nor anything inside it exists for agents (rule 11).
    #[must_use]
    pub fn excluded(self) -> Self {
        self.mark(Marks::EXCLUDED)
    }

    /// Its text comes from outside the app (a mail, a web page, a model): agents are told that
    /// it is data.
    #[must_use]
    pub fn relayed(self) -> Self {
        self.mark(Marks::RELAYED)
    }

    /// The user is asked each time before an agent acts here.
    #[must_use]
    pub fn confirm(self) -> Self {
        self.mark(Marks::CONFIRM)
    }

    fn mark(mut self, mark: Marks) -> Self {
        self.marks |= mark;
        self
    }

    /// The developer's id, as it was given.
    pub fn get_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The key of its data, as it was given.
    pub fn get_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The name the developer gave.
    pub fn get_label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The role the developer gave.
    pub fn get_role(&self) -> Option<Role> {
        self.role
    }

    /// What the developer said of exposure.
    pub fn get_exposed(&self) -> Option<bool> {
        self.exposed
    }

    /// This tag's own ceiling: everything, if the developer set none.
    pub fn get_ceiling(&self) -> VerbSet {
        self.ceiling.unwrap_or(VerbSet::all())
    }

    /// This tag's own marks.
    pub fn get_marks(&self) -> Marks {
        self.marks
    }

    /// What is wrong with it, for the developer's log: the node it is on stays unexposed.
    pub fn fault(&self) -> Option<TagFault> {
        if let Some(id) = self.get_id() {
            return check_id(id).err().map(TagFault::Id);
        }
        if self.key.as_deref() == Some("") {
            return Some(TagFault::Key(BadId::Empty));
        }
        (self.exposed == Some(true) && self.key.is_none()).then_some(TagFault::Nameless)
    }
}

impl From<&'static str> for Tag {
    /// A string alone is an id.
    fn from(id: &'static str) -> Self {
        Self::id(id)
    }
}

impl From<String> for Tag {
    /// A string alone is an id.
    fn from(id: String) -> Self {
        Self::id(id)
    }
}

/// Why a tag exposes nothing although its developer meant it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagFault {
    /// The id is not one.
    Id(BadId),
    /// The key is not one.
    Key(BadId),
    /// It is marked exposed, and has neither an id nor a key to be addressed by.
    Nameless,
}

impl std::fmt::Display for TagFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(why) => write!(f, "{why}"),
            Self::Key(why) => write!(f, "in its key: {why}"),
            Self::Nameless => write!(f, "exposed(true) needs an id or a key to be addressed by"),
        }
    }
}

impl std::error::Error for TagFault {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::Verb;

    #[test]
    fn rule_3_a_second_ceiling_on_a_tag_narrows_the_first() {
        let tag = Tag::id("a")
            .ceiling([Verb::Click, Verb::Focus])
            .ceiling([Verb::Click, Verb::SetText]);
        assert_eq!(tag.get_ceiling(), Verb::Click.set());
    }

    #[test]
    fn faults_are_told() {
        assert_eq!(Tag::id("ok").fault(), None);
        assert_eq!(
            Tag::id("not ok").fault(),
            Some(TagFault::Id(BadId::Character(' ')))
        );
        assert_eq!(Tag::key("any text / at all").fault(), None);
        assert_eq!(Tag::new().exposed(true).fault(), Some(TagFault::Nameless));
        assert_eq!(Tag::new().secret().fault(), None);
    }
}
