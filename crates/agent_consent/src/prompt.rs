//! How a question reaches the user: what a toolkit implements, and what it is handed.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use agent_core::Scope;

use crate::shown::Text;

/// Shows questions to the user: a panel in the app, a terminal, a script in a test.
///
/// One question is open at a time; the next is shown when it is over. The calls come in order,
/// one after the other, from any thread, the UI thread among them: they must return at once.
pub trait Prompt: Send + Sync + 'static {
    /// A question to show. It is answered through what is handed over here, from any thread, at
    /// any time, also from within this call. Dropping it waves the question away.
    fn show(&self, question: Asked);

    /// The question is over without an answer, as who asked is gone or what was asked about
    /// has changed: take it off the screen. An answer that comes all the same counts for nothing.
    fn withdraw(&self, question: QuestionId);

    /// Something that the user should know and need not answer, such as that an answer could
    /// not be saved.
    fn tell(&self, what: &Text) {
        let _ = what;
    }
}

/// Which question; unique for the run of the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(pub u64);

/// What the user can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Yes: to an agent for as long as this connection lasts, to an action this one time.
    Once,
    /// Yes, until the app quits.
    UntilQuit,
    /// Yes, for a day from now.
    Day,
    /// Yes, from now on.
    Always,
    /// No, for now.
    No,
    /// No, and don't ask again.
    Never,
}

impl Answer {
    /// Whether it is a yes of any kind.
    pub const fn is_yes(self) -> bool {
        matches!(
            self,
            Self::Once | Self::UntilQuit | Self::Day | Self::Always
        )
    }

    /// Its name in the log.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::UntilQuit => "until_quit",
            Self::Day => "day",
            Self::Always => "always",
            Self::No => "no",
            Self::Never => "never",
        }
    }
}

/// An answer that is offered, as the words on its button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What choosing it means.
    pub answer: Answer,
    /// What the button says: the app's own words.
    pub label: String,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Whether an agent may come in.
    Consent {
        /// To what.
        scope: Scope,
    },
    /// Whether one action may be done, on a node whose mark says that the user confirms it each
    /// time. The prompt must not cover it.
    Confirm {
        /// The id of the node that it is about.
        node: String,
    },
}

/// A question that is open, in words that are ready to be shown. Whoever shows it keeps it, and
/// answers through it; dropped without an answer, it counts as waved away.
///
/// Any thread.
pub struct Asked {
    pub(crate) id: QuestionId,
    pub(crate) kind: Kind,
    pub(crate) heading: Text,
    pub(crate) details: Vec<Text>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) done: AtomicBool,
    pub(crate) reply: Box<dyn Replies>,
}

/// Where an answer goes.
pub(crate) trait Replies: Send + Sync {
    /// `None`: waved away. Whether the question was still open.
    fn reply(&self, question: QuestionId, answer: Option<Answer>) -> bool;

    fn is_open(&self, question: QuestionId) -> bool;
}

impl Asked {
    /// Which one it is.
    pub fn id(&self) -> QuestionId {
        self.id
    }

    /// What it is about, for a toolkit that shows the kinds in different ways.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The question itself, in one sentence: also the name of the dialog.
    pub fn heading(&self) -> &Text {
        &self.heading
    }

    /// What the user should know to answer it, a paragraph each: also the dialog's description.
    pub fn details(&self) -> &[Text] {
        &self.details
    }

    /// What may be answered, in the order in which to show it: noes first, no default.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Whether an answer still counts: it was not answered, waved away or withdrawn.
    pub fn is_open(&self) -> bool {
        !self.done.load(Ordering::Acquire) && self.reply.is_open(self.id)
    }

    /// Answers it. Never waits. The next question may be shown from within this call, so hold no
    /// lock that [`Prompt::show`] takes; the same goes for [`dismiss`](Self::dismiss) and for
    /// dropping a question that is open. False, and nothing changes: it was not open any more, or this is
    /// none of its choices.
    pub fn answer(&self, answer: Answer) -> bool {
        let offered = self.choices.iter().any(|choice| choice.answer == answer);
        offered
            && !self.done.swap(true, Ordering::AcqRel)
            && self.reply.reply(self.id, Some(answer))
    }

    /// Waves it away: neither a yes nor a no, and nothing is remembered. Never waits. False: it
    /// was not open any more.
    pub fn dismiss(&self) -> bool {
        !self.done.swap(true, Ordering::AcqRel) && self.reply.reply(self.id, None)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("heading", &self.heading.plain())
            .finish_non_exhaustive()
    }
}
