//! A prompt for tests: it answers from a script, or keeps the question until the test answers.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    prompt::{Answer, Asked, Prompt, QuestionId},
    shown::Text,
};

/// A user made of answers. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    answers: VecDeque<Option<Answer>>,
    open: Option<Asked>,
    shown: Vec<String>,
    withdrawn: Vec<QuestionId>,
    told: Vec<String>,
}

impl Scripted {
    /// Answers as it is told to by [`answer`](Self::answer) and [`dismiss`](Self::dismiss).
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the first questions at once with these, `None` waving one away; later ones as
    /// [`new`](Self::new) does.
    pub fn answering(answers: impl IntoIterator<Item = Option<Answer>>) -> Self {
        let script = Self::new();
        script.lock().answers = answers.into_iter().collect();
        script
    }

    /// Answers the question that is open. False: there is none, or it can't be answered so.
    pub fn answer(&self, answer: Answer) -> bool {
        let Some(asked) = self.lock().open.take() else {
            return false;
        };
        let answered = asked.answer(answer);
        if !answered && asked.is_open() {
            self.lock().open = Some(asked);
        }
        answered
    }

    /// Waves away the question that is open. False: there is none.
    pub fn dismiss(&self) -> bool {
        let asked = self.lock().open.take();
        asked.is_some_and(|asked| asked.dismiss())
    }

    /// How many questions are open: one or none.
    pub fn open(&self) -> usize {
        self.see(|asked| asked.is_open()).map_or(0, usize::from)
    }

    /// How many questions were shown so far.
    pub fn shown(&self) -> usize {
        self.lock().shown.len()
    }

    /// The headings of the questions that were shown so far.
    pub fn headings(&self) -> Vec<String> {
        self.lock().shown.clone()
    }

    /// Looks at the question that is on the screen.
    pub fn see<T>(&self, look: impl FnOnce(&Asked) -> T) -> Option<T> {
        let open = self.lock().open.take()?;
        let seen = look(&open);
        let mut script = self.lock();
        // Another can't have been shown meanwhile, unless this one was withdrawn.
        if script.open.is_none() && !script.withdrawn.contains(&open.id()) {
            script.open = Some(open);
        }
        Some(seen)
    }

    /// How many questions were withdrawn so far.
    pub fn withdrawn(&self) -> usize {
        self.lock().withdrawn.len()
    }

    /// What the user was told so far, besides questions.
    pub fn told(&self) -> Vec<String> {
        self.lock().told.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prompt for Scripted {
    fn show(&self, question: Asked) {
        let mut script = self.lock();
        script.shown.push(question.heading().plain());
        match script.answers.pop_front() {
            None => {
                let before = script.open.replace(question);
                drop(script);
                // Dropped outside the lock: that answers it, if it is open.
                drop(before);
            }
            Some(answer) => {
                drop(script);
                match answer {
                    Some(answer) => question.answer(answer),
                    None => question.dismiss(),
                };
            }
        }
    }

    fn withdraw(&self, question: QuestionId) {
        let mut script = self.lock();
        script.withdrawn.push(question);
        let gone = script.open.take_if(|open| open.id() == question);
        drop(script);
        drop(gone);
    }

    fn tell(&self, what: &Text) {
        self.lock().told.push(what.plain());
    }
}
