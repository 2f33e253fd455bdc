//! The verb table, and what is made from it: checked parameters and JSON schemas.
//!
//! Adding a verb is adding a row to [`VERBS`].

mod check;
mod schema;
mod table;

#[cfg(test)]
mod tests;

pub use check::{Args, ParamError};
pub use table::VERBS;
pub(crate) use table::{LOOKING, optional, required};

use crate::limits;
use crate::quote::listed;

/// One operation that an agent can ask for: a row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Verb {
    /// The method's name, and the tool's.
    pub name: &'static str,
    /// One or two sentences, for a language model to read.
    pub summary: &'static str,
    /// Its own parameters, required ones first; [`Verb::parameters`] adds the common ones.
    pub params: &'static [Param],
    /// Pairs of integer parameters that are given together or not at all, the first not
    /// above the second.
    pub ranges: &'static [(&'static str, &'static str)],
    /// What `timeout_ms` means for it.
    pub timeout: Timeout,
    /// It takes `window`.
    pub of_window: bool,
    /// It does something to a node: ceiling and state are asked.
    pub acting: bool,
    /// It leaves the app as it is.
    pub read_only: bool,
    /// Sending it twice comes to the same as sending it once.
    pub idempotent: bool,
    /// It may lose something of the user's.
    pub destructive: bool,
    /// The fields of its result, as the docs page writes them.
    pub result: &'static str,
}

impl Verb {
    /// The verb of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        VERBS.iter().find(|verb| verb.name == name)
    }

    /// Every parameter that it takes: its own, then those that all verbs have.
    pub fn parameters(&self) -> impl Iterator<Item = Param> {
        let timeout = Param {
            name: TIMEOUT_MS,
            kind: ParamKind::Integer {
                min: self.timeout.min_ms,
                max: millis(limits::LONGEST_WAIT),
            },
            required: false,
            doc: self.timeout.doc,
        };
        let window = self.of_window.then_some(WINDOW);
        let own = self.params.iter().copied();
        own.chain(window).chain([timeout])
    }
}

const TIMEOUT_MS: &str = "timeout_ms";

const WINDOW: Param = Param {
    name: "window",
    kind: ParamKind::Id,
    required: false,
    doc: "the id of a window, where two windows hold the same id",
};

/// What `timeout_ms` means for a verb. The longest is [`limits::LONGEST_WAIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// The least, in milliseconds.
    pub min_ms: u64,
    /// What holds if none is given, in milliseconds.
    pub default_ms: u64,
    /// Half a sentence for the docs page.
    pub doc: &'static str,
}

impl Timeout {
    /// How long to wait for the UI thread.
    pub const UI_THREAD: Self = Self {
        min_ms: 1,
        default_ms: millis(limits::UI_DEADLINE),
        doc: "how long to wait for the app's UI thread, in milliseconds (2000)",
    };

    /// How long to wait for a condition.
    pub const CONDITION: Self = Self {
        min_ms: 0,
        default_ms: millis(limits::CONDITION_WAIT),
        doc: "how long to wait for the condition, in milliseconds (5000)",
    };
}

/// `Duration::as_millis` for the durations of the limits, all of which fit.
const fn millis(duration: std::time::Duration) -> u64 {
    duration.as_secs() * 1000 + duration.subsec_millis() as u64
}

/// One parameter of a verb.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its key in the request.
    pub name: &'static str,
    /// What it may hold.
    pub kind: ParamKind,
    /// Whether a request without it is refused.
    pub required: bool,
    /// Half a sentence: what it is for.
    pub doc: &'static str,
}

/// What a parameter may hold. `null` is never among it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// The id of a node, a window or a subscription: 1 to [`limits::ID_BYTES`] bytes.
    Id,
    /// Text of any length, the empty one included.
    Text,
    /// Text of at most [`limits::SHORT_TEXT_BYTES`] bytes: a row's key, a client's name.
    ShortText,
    /// `true` or `false`.
    Bool,
    /// An integer from `min` to `max`, written without fraction or exponent.
    Integer {
        /// The least.
        min: u64,
        /// The greatest; `u64::MAX` is no bound.
        max: u64,
    },
    /// Any number.
    Number,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of these words, each at most once; may be empty.
    ListOf(&'static [&'static str]),
    /// What a condition compares with: text, or an integer of at least 0.
    UntilValue,
}

impl ParamKind {
    /// What it takes, as the end of a sentence that begins with "must be".
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Id => format!("a string of 1 to {} bytes", limits::ID_BYTES),
            Self::Text => "a string".into(),
            Self::ShortText => format!("a string of at most {} bytes", limits::SHORT_TEXT_BYTES),
            Self::Bool => "true or false".into(),
            Self::Integer { min, max: u64::MAX } => format!("an integer of at least {min}"),
            Self::Integer { min, max } => format!("an integer from {min} to {max}"),
            Self::Number => "a number".into(),
            Self::OneOf(words) => format!("one of {}", listed(words.iter().copied())),
            Self::ListOf(words) => format!(
                "a list of any of {}, each at most once",
                listed(words.iter().copied())
            ),
            Self::UntilValue => "a string or an integer of at least 0".into(),
        }
    }
}
