//! What a backend reads from its toolkit: the live tree, as the rules look at it.

use std::{fmt::Debug, hash::Hash};

use bitflags::bitflags;

use crate::{
    role::Role,
    tag::Tag,
    verb::{Verb, VerbSet},
};

bitflags! {
    /// How a node is, in the words of the wire's `state`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct States: u32 {
        /// It takes no input.
        const DISABLED = 1;
        /// It is on.
        const CHECKED = 1 << 1;
        /// It is neither on nor off.
        const MIXED = 1 << 2;
        /// It is a toggle button that is down.
        const PRESSED = 1 << 3;
        /// It is chosen.
        const SELECTED = 1 << 4;
        /// It is open.
        const EXPANDED = 1 << 5;
        /// It is closed, and could be opened.
        const COLLAPSED = 1 << 6;
        /// It has the keyboard focus.
        const FOCUSED = 1 << 7;
        /// It is scrolled out of sight.
        const OFFSCREEN = 1 << 8;
        /// Its text can be read and not edited.
        const READ_ONLY = 1 << 9;
        /// Its text is not told.
        const SECRET = 1 << 10;
        /// It is working.
        const BUSY = 1 << 11;
        /// It blocks what it lies over.
        const MODAL = 1 << 12;
        /// Something modal lies over it.
        const BLOCKED = 1 << 13;
        /// Two nodes claim its id.
        const DUPLICATE = 1 << 14;
        /// Its text comes from outside the app.
        const RELAYED = 1 << 15;
        /// It is not shown: left out of a description, and refused when acted on.
        const HIDDEN = 1 << 16;
    }
}

impl States {
    /// Where a thing is scrolled belongs to it though others move it: a change of these alone
    /// moves no revision and makes no event.
    pub const SILENT: Self = Self::OFFSCREEN;

    const WORDS: &[(Self, &str)] = &[
        (Self::DISABLED, "disabled"),
        (Self::CHECKED, "checked"),
        (Self::MIXED, "mixed"),
        (Self::PRESSED, "pressed"),
        (Self::SELECTED, "selected"),
        (Self::EXPANDED, "expanded"),
        (Self::COLLAPSED, "collapsed"),
        (Self::FOCUSED, "focused"),
        (Self::OFFSCREEN, "offscreen"),
        (Self::READ_ONLY, "read_only"),
        (Self::SECRET, "secret"),
        (Self::BUSY, "busy"),
        (Self::MODAL, "modal"),
        (Self::BLOCKED, "blocked"),
        (Self::DUPLICATE, "duplicate"),
        (Self::RELAYED, "relayed"),
    ];

    /// The state that the wire calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        let known = Self::WORDS.iter().find(|(_, known)| *known == word);
        known.map(|(state, _)| *state)
    }

    /// The wire's words for what is set, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Self::WORDS
            .iter()
            .filter(move |(state, _)| self.contains(*state))
            .map(|(_, word)| *word)
    }
}

/// A rectangle in window points: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Frame {
    /// From the window's left edge.
    pub x: f64,
    /// From the window's top edge.
    pub y: f64,
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
}

/// What a widget is and offers by itself, without what is inherited and without any text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its role.
    pub role: Role,
    /// Its own states. Those that are inherited (disabled, hidden) or follow from tags (secret,
    /// duplicate, relayed) are added by the rules.
    pub states: States,
    /// The acting verbs that this kind of widget has a way to perform, whatever its state.
    pub offers: VerbSet,
    /// For a lazy list whose rows have keys: how many rows it stands for.
    pub size: Option<u64>,
}

/// Where a node's accessible name comes from, other than its own text.
#[derive(Clone, Debug, PartialEq)]
pub enum Label<K> {
    /// The toolkit has none.
    None,
    /// The toolkit says it outright.
    Text(String),
    /// It is the text of these nodes, joined by spaces. Each is left out if an agent must not
    /// read it.
    By(Vec<K>),
}

/// The live tree of an app, as its backend can look at it now, on the UI thread.
///
/// It is looked at, never kept: every method answers for this moment. What a method costs is
/// what the toolkit takes to look at one widget; none but [`tagged`](Self::tagged) and
/// [`children`](Self::children) may depend on how much the window holds.
pub trait LiveTree {
    /// A backend's handle for one node. It is never given to another node during the run.
    type Key: Copy + Eq + Hash + Ord + Debug;

    /// The windows, in the order in which they are described.
    fn windows(&self) -> Vec<Self::Key>;
    /// Whether it is one of [`windows`](Self::windows) now, without listing them.
    fn is_window(&self, node: Self::Key) -> bool;
    /// What a node is in; `None` for a window, and for a node that is no longer there.
    fn parent(&self, node: Self::Key) -> Option<Self::Key>;
    /// Its place among its siblings (of a window: among the windows), to order nodes by.
    fn position(&self, node: Self::Key) -> usize;
    /// What is directly in it, in order.
    fn children(&self, node: Self::Key) -> Vec<Self::Key>;
    /// Its tag.
    fn tag(&self, node: Self::Key) -> Option<&Tag>;
    /// What it is, how it is, what it offers.
    fn facts(&self, node: Self::Key) -> Facts;
    /// The toolkit's name for its class, for a full description.
    fn class(&self, node: Self::Key) -> String;
    /// Where its name comes from, its own text apart.
    fn label(&self, node: Self::Key) -> Label<Self::Key>;
    /// Its own text: a field's value, a button's caption, a label's words, a slider's number.
    /// Never asked of what is secret.
    fn text(&self, node: Self::Key) -> Option<String>;
    /// Whether it has text at all, without reading it.
    fn has_text(&self, node: Self::Key) -> bool;
    /// A number that moves whenever the backend heard of a change of its text. Of a secret, it
    /// moves once until the field loses the focus, is submitted or is written by an agent.
    fn text_stamp(&self, node: Self::Key) -> u64;
    /// Where it is.
    fn frame(&self, node: Self::Key) -> Option<Frame>;
    /// The nodes that may have this id, from an index: a developer's id, or `list/key`. The
    /// rules check each. A backend that knows of a second claimant which it can't point at
    /// lists the first twice.
    fn claimants(&self, id: &str) -> Vec<Self::Key>;
    /// Every node that has a tag, in any order.
    fn tagged(&self) -> Vec<Self::Key>;
    /// The topmost modal that keeps a person from reaching this node now.
    fn blocked_by(&self, node: Self::Key) -> Option<Self::Key>;
    /// The other node that the toolkit presses in the course of this verb on this one: the
    /// default button, for Enter in a field. It is judged as if it were clicked.
    fn activates(&self, _node: Self::Key, _verb: Verb) -> Option<Self::Key> {
        None
    }
    /// The least and the greatest number that it can be set to, for `set_value`.
    fn bounds(&self, _node: Self::Key) -> Option<(f64, f64)> {
        None
    }
    /// For the row of a lazy list that no widget exists for: whether the list, a tagged node,
    /// has a row of this key, to be realised by `scroll_to`.
    fn has_row(&self, _list: Self::Key, _key: &str) -> bool {
        false
    }
}
