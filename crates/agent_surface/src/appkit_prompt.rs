//! Asking the user of an AppKit app.

use std::sync::atomic::{AtomicU64, Ordering};

use agent_appkit::{MainThreadMarker, Panels, Question, Words};
use agent_consent::{Asked, Prompt, QuestionId, Text};

/// Asks in a panel beside the app's window, which agents can't see or reach, and tells the user
/// there what is to be known. The app goes on meanwhile.
pub struct AppKitPrompt {
    panels: Panels,
    texts: AppKitTexts,
}

/// The words of these panels that a question doesn't bring along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppKitTexts {
    /// What the panels are called.
    pub title: String,
    /// The button under something that the user should know.
    pub understood: String,
}

impl Default for AppKitTexts {
    /// English.
    fn default() -> Self {
        Self {
            title: "Agents".to_owned(),
            understood: "Understood".to_owned(),
        }
    }
}

impl AppKitPrompt {
    /// For an app whose main thread this is.
    pub fn new(main_thread: MainThreadMarker) -> Self {
        Self {
            panels: Panels::new(main_thread),
            texts: AppKitTexts::default(),
        }
    }

    /// Other words, or another language.
    #[must_use]
    pub fn with_texts(mut self, texts: AppKitTexts) -> Self {
        self.texts = texts;
        self
    }
}

impl Prompt for AppKitPrompt {
    fn show(&self, asked: Asked) {
        let question = Question {
            title: self.texts.title.clone(),
            heading: words(asked.heading()),
            details: asked.details().iter().map(words).collect(),
            choices: asked
                .choices()
                .iter()
                .map(|choice| choice.label.clone())
                .collect(),
        };
        self.panels.show(asked.id().0, question, move |chosen| {
            let choice = chosen.and_then(|n| asked.choices().get(n));
            // Neither counts if the question is over by now.
            let _counted = match choice {
                Some(choice) => asked.answer(choice.answer),
                None => asked.dismiss(),
            };
        });
    }

    fn withdraw(&self, question: QuestionId) {
        self.panels.withdraw(question.0);
    }

    fn tell(&self, what: &Text) {
        /// Questions are numbered from below.
        static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);
        let note = Question {
            title: self.texts.title.clone(),
            heading: words(what),
            details: Vec::new(),
            choices: vec![self.texts.understood.clone()],
        };
        let number = NEXT.fetch_sub(1, Ordering::Relaxed);
        self.panels.show(number, note, |_| ());
    }
}

fn words(text: &Text) -> Words {
    let (shown, full) = (text.plain(), text.plain_full());
    Words {
        full: (full != shown).then_some(full),
        shown,
    }
}
