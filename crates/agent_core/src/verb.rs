//! The operations an agent can ask for, and sets of them.

use bitflags::bitflags;

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $bit:literal;)*) => {
        /// One operation of the API. The words are those of the wire's verb table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Verb { $($(#[$doc])* $name,)* }

        bitflags! {
            /// A set of verbs: a ceiling, what a widget offers, what a call would be allowed now.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
            pub struct VerbSet: u32 { $(
                #[doc = concat!("The verb `", $word, "`.")]
                const $name = 1 << $bit;
            )* }
        }

        impl Verb {
            /// Every verb, in the order of the wire's table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The set that holds this verb alone.
            pub const fn set(self) -> VerbSet {
                match self { $(Self::$name => VerbSet::$name,)* }
            }
        }
    };
}

// The variants of the set carry the enum's names, so that one list makes both.
#[allow(
    non_upper_case_globals,
    reason = "the constants of the set are named like the verbs they stand for"
)]
mod table {
    use super::bitflags;
    verbs! {
        /// Lists the exposed nodes (or, where armed, the whole tree).
        DescribeUi = "describe_ui", 0;
        /// Reads a node's text and its version.
        GetText = "get_text", 1;
        /// Presses a button, link, menu item.
        Click = "click", 2;
        /// Replaces a text, or a range of it.
        SetText = "set_text", 3;
        /// Brings a node into view.
        ScrollTo = "scroll_to", 4;
        /// Gives a node the keyboard focus.
        Focus = "focus", 5;
        /// Presses Enter in a field.
        Submit = "submit", 6;
        /// Selects an option, row or tab.
        Select = "select", 7;
        /// Sets a checkbox, switch or toggle button.
        SetChecked = "set_checked", 8;
        /// Sets a number.
        SetValue = "set_value", 9;
        /// Opens an expander, tree item, combo box.
        Expand = "expand", 10;
        /// Closes one.
        Collapse = "collapse", 11;
        /// Listens to events.
        Subscribe = "subscribe", 12;
        /// Fetches queued events.
        PollEvents = "poll_events", 13;
        /// Stops listening.
        Unsubscribe = "unsubscribe", 14;
        /// Waits for a condition.
        WaitFor = "wait_for", 15;
        /// Says who asks and who answers.
        Hello = "hello", 16;
    }
}
pub use table::{Verb, VerbSet};

impl Verb {
    /// The verb that the wire calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|verb| verb.word() == word)
    }

    /// Whether performing it can change the app: a ceiling is a set of these.
    pub const fn acts(self) -> bool {
        VerbSet::ACTING.contains(self.set())
    }
}

impl VerbSet {
    /// The verbs that act on a node. A ceiling without any of them is `observe`.
    pub const ACTING: Self = Self::Click
        .union(Self::SetText)
        .union(Self::ScrollTo)
        .union(Self::Focus)
        .union(Self::Submit)
        .union(Self::Select)
        .union(Self::SetChecked)
        .union(Self::SetValue)
        .union(Self::Expand)
        .union(Self::Collapse);

    /// The acting verbs that do more than move the view or the focus: a node to which one of
    /// these would be allowed now is called actionable.
    pub const CONSEQUENTIAL: Self = Self::ACTING
        .difference(Self::ScrollTo)
        .difference(Self::Focus);

    /// The verbs of this set, in the table's order.
    pub fn verbs(self) -> impl Iterator<Item = Verb> {
        Verb::ALL
            .iter()
            .copied()
            .filter(move |verb| self.contains(verb.set()))
    }
}

impl FromIterator<Verb> for VerbSet {
    fn from_iter<I: IntoIterator<Item = Verb>>(verbs: I) -> Self {
        verbs
            .into_iter()
            .fold(Self::empty(), |set, verb| set | verb.set())
    }
}

impl<const N: usize> From<[Verb; N]> for VerbSet {
    fn from(verbs: [Verb; N]) -> Self {
        verbs.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bits_are_one_to_one() {
        for (index, verb) in Verb::ALL.iter().enumerate() {
            assert_eq!(Verb::from_word(verb.word()), Some(*verb));
            for other in &Verb::ALL[index + 1..] {
                assert_ne!(verb.word(), other.word());
                assert!(!verb.set().intersects(other.set()));
            }
        }
        assert_eq!(Verb::from_word("juggle"), None);
    }

    #[test]
    fn the_empty_ceiling_acts_on_nothing() {
        assert!(
            Verb::ALL
                .iter()
                .all(|verb| !VerbSet::from([]).contains(verb.set()))
        );
        assert!(!Verb::DescribeUi.acts() && !Verb::GetText.acts() && Verb::Click.acts());
    }
}
