//! The gate that a case opens and shuts, and the user behind it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agent_core::{Action, AuthGate, Confirmed, Decision, Pending, Policy, Question, Request};

use crate::case::{Answer, Consent};

/// The gate of a case, and the user who is asked when it says so. Any thread.
#[derive(Clone, Debug)]
pub struct Door(Arc<User>);

#[derive(Debug)]
struct User(Mutex<State>);

#[derive(Debug)]
struct State {
    consent: Consent,
    /// What was said of everybody, once asked.
    said: Option<Answer>,
    open: VecDeque<Open>,
    shown: u64,
    yes: Vec<Confirm>,
}

#[derive(Clone, Debug, PartialEq)]
enum Open {
    Consent,
    Confirm(Confirm),
}

/// What a yes is for.
#[derive(Clone, Debug, PartialEq)]
struct Confirm {
    node: String,
    action: Action,
    seen: u64,
}

impl State {
    fn put(&mut self, question: Open) {
        if !self.open.contains(&question) {
            self.open.push_back(question);
            self.shown += 1;
        }
    }
}

impl User {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Door {
    /// As it stands at the start.
    pub fn new(consent: Consent) -> Self {
        Self(Arc::new(User(Mutex::new(State {
            consent,
            said: None,
            open: VecDeque::new(),
            shown: 0,
            yes: Vec::new(),
        }))))
    }

    /// From now on it says this.
    pub fn set(&self, consent: Consent) {
        self.0.lock().consent = consent;
    }

    /// The gate that it is.
    pub fn gate(&self) -> AuthGate {
        AuthGate::of(self.0.clone())
    }

    /// Answers the oldest question that is open.
    ///
    /// # Errors
    /// If none is.
    pub fn answer(&self, answer: Answer) -> Result<(), String> {
        let mut state = self.0.lock();
        match state.open.pop_front().ok_or("no question is open")? {
            Open::Consent => state.said = Some(answer),
            Open::Confirm(question) if answer == Answer::Allow => state.yes.push(question),
            Open::Confirm(_) => {}
        }
        Ok(())
    }

    /// How many questions are open, and how many were asked since the start.
    pub fn prompts(&self) -> (u64, u64) {
        let state = self.0.lock();
        (
            u64::try_from(state.open.len()).unwrap_or(u64::MAX),
            state.shown,
        )
    }
}

impl Policy for User {
    fn check(&self, _: &Request) -> Decision {
        let state = self.lock();
        match (state.consent, state.said) {
            (Consent::Allow, _) | (Consent::Ask, Some(Answer::Allow)) => Decision::Allow,
            (Consent::Ask, None | Some(Answer::Dismiss)) => Decision::Ask,
            _ => Decision::deny("the case says so"),
        }
    }

    fn ask(&self, _: &Request) -> Option<Pending> {
        let mut state = self.lock();
        if state.said.is_none() {
            state.put(Open::Consent);
        }
        Some(Pending {
            retry_after: Duration::from_secs(1),
            hold: Duration::ZERO,
        })
    }

    fn confirm(&self, question: &Question) -> Confirmed {
        let mut state = self.lock();
        let question = Confirm {
            node: question.node.clone(),
            action: question.action.clone(),
            seen: question.seen,
        };
        match state.yes.iter().position(|yes| *yes == question) {
            Some(at) => {
                state.yes.swap_remove(at);
                Confirmed::Yes
            }
            None => {
                state.put(Open::Confirm(question));
                Confirmed::No
            }
        }
    }

    fn acting(&self, _: &Request) {
        self.lock().yes.clear();
    }
}
