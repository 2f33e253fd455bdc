//! The questions to the user: one is open, the others wait in order.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use agent_core::{Action, Question, Scope};

use crate::{
    agents::Key,
    evidence::Agent,
    prompt::{Choice, Kind, QuestionId},
    shown::Text,
};

/// Questions that wait; who comes later is told to come back.
const MAX_WAITING: usize = 32;

/// One question, open or waiting.
pub(crate) struct Pending {
    pub(crate) id: QuestionId,
    /// Who asks, by this connection first.
    pub(crate) key: Key,
    pub(crate) connection: u64,
    pub(crate) about: About,
    /// What is shown; handed over when it is opened.
    pub(crate) words: Option<Words>,
}

/// What it asks.
pub(crate) enum About {
    Consent {
        scope: Scope,
        agent: Arc<Agent>,
        /// The connections that have asked while it was there: a yes for now is for these.
        askers: HashSet<u64>,
    },
    Confirm(Act),
}

/// One action on one node, as a yes is bound to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Act {
    pub(crate) node: String,
    pub(crate) window: String,
    pub(crate) action: Action,
    pub(crate) seen: u64,
}

/// A question in words.
pub(crate) struct Words {
    pub(crate) kind: Kind,
    pub(crate) heading: Text,
    pub(crate) details: Vec<Text>,
    pub(crate) choices: Vec<Choice>,
}

impl Act {
    pub(crate) fn of(question: &Question) -> Self {
        Self {
            node: question.node.clone(),
            window: question.window.clone(),
            action: question.action.clone(),
            seen: question.seen,
        }
    }

    /// Whether it is the same, whatever was to be seen.
    pub(crate) fn is_again(&self, other: &Self) -> bool {
        let Self {
            node,
            window,
            action,
            ..
        } = other;
        (&self.node, &self.window, &self.action) == (node, window, action)
    }
}

impl Pending {
    pub(crate) fn scope(&self) -> Option<Scope> {
        match &self.about {
            About::Consent { scope, .. } => Some(*scope),
            About::Confirm(_) => None,
        }
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Questions {
    open: Option<Pending>,
    waiting: VecDeque<Pending>,
    last: u64,
}

impl Questions {
    /// The one of this agent: it has one at most.
    pub(crate) fn of(&mut self, key: &Key) -> Option<&mut Pending> {
        self.open
            .iter_mut()
            .chain(&mut self.waiting)
            .find(|question| question.key == *key)
    }

    /// A connection has gone: the questions that nobody asks any more. The others are from now on
    /// asked by another that did.
    pub(crate) fn left(&mut self, connection: u64) -> Vec<QuestionId> {
        let mut moot = Vec::new();
        for question in self.open.iter_mut().chain(&mut self.waiting) {
            let About::Consent { askers, .. } = &mut question.about else {
                continue;
            };
            if !askers.remove(&connection) {
                continue;
            }
            match askers.iter().min() {
                Some(other) if question.connection == connection => question.connection = *other,
                Some(_) => {}
                None => moot.push(question.id),
            }
        }
        moot
    }

    pub(crate) fn is_open(&self, id: QuestionId) -> bool {
        self.open.as_ref().is_some_and(|open| open.id == id)
    }

    /// Adds one at the end. `None`: too many wait already.
    pub(crate) fn add(
        &mut self,
        key: Key,
        connection: u64,
        about: About,
        words: Words,
    ) -> Option<QuestionId> {
        if self.waiting.len() >= MAX_WAITING {
            return None;
        }
        self.last += 1;
        let id = QuestionId(self.last);
        self.waiting.push_back(Pending {
            id,
            key,
            connection,
            about,
            words: Some(words),
        });
        Some(id)
    }

    /// Takes the open one, if it is this.
    pub(crate) fn take(&mut self, id: QuestionId) -> Option<Pending> {
        self.open.take_if(|open| open.id == id)
    }

    /// Takes all that are meant, and says of each whether it was open.
    pub(crate) fn take_all(&mut self, meant: impl Fn(&Pending) -> bool) -> Vec<(Pending, bool)> {
        let mut taken: Vec<_> = self
            .open
            .take_if(|open| meant(open))
            .map(|open| (open, true))
            .into_iter()
            .collect();
        for question in std::mem::take(&mut self.waiting) {
            if meant(&question) {
                taken.push((question, false));
            } else {
                self.waiting.push_back(question);
            }
        }
        taken
    }

    /// Where none is open, the first that waits and is still a question is opened. Others before
    /// it are given to `moot`.
    pub(crate) fn advance(
        &mut self,
        is_question: impl Fn(&Pending) -> bool,
        mut moot: impl FnMut(Pending),
    ) -> Option<(QuestionId, Words)> {
        while self.open.is_none() {
            let mut next = self.waiting.pop_front()?;
            if !is_question(&next) {
                moot(next);
                continue;
            }
            let words = next.words.take()?;
            let id = next.id;
            self.open = Some(next);
            return Some((id, words));
        }
        None
    }
}
