//! A user whose answers are written down, and what a prompt has to do: show a question, answer
//! through it, take it away. A real one keeps the question and returns at once; see `Terminal`.

use std::sync::{Mutex, PoisonError};

use agent_surface::consent::{Answer, Asked, Prompt, QuestionId};

pub(crate) struct User {
    answers: Mutex<Vec<Answer>>,
}

impl User {
    pub(crate) fn answering<const N: usize>(answers: [Answer; N]) -> Self {
        let answers = Mutex::new(answers.into_iter().rev().collect());
        Self { answers }
    }
}

impl Prompt for User {
    fn show(&self, question: Asked) {
        println!("   the user is asked: {}", question.heading().plain());
        for detail in question.details() {
            println!("     {}", detail.plain());
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        // Without an answer the question is dropped, which waves it away.
        let Some(answer) = answers.pop() else { return };
        let choice = question.choices().iter().find(|it| it.answer == answer);
        println!("     -> {}", choice.map_or("?", |choice| &choice.label));
        question.answer(answer);
    }

    fn withdraw(&self, _question: QuestionId) {}
}
