//! Asking the user of an AppKit app.

use agent_appkit::{MainThreadMarker, Panels, Question};
use agent_consent::{Asked, Prompt, QuestionId};

/// Asks in a panel beside the app's window, which agents can't see or reach. The app goes on
/// meanwhile.
pub struct AppKitPrompt(Panels);

impl AppKitPrompt {
    /// For an app whose main thread this is.
    pub fn new(main_thread: MainThreadMarker) -> Self {
        Self(Panels::new(main_thread))
    }
}

impl Prompt for AppKitPrompt {
    fn show(&self, asked: Asked) {
        let question = Question {
            heading: asked.heading().plain().to_string(),
            details: asked
                .details()
                .iter()
                .map(|text| text.plain().to_string())
                .collect(),
            choices: asked
                .choices()
                .iter()
                .map(|choice| choice.label.clone())
                .collect(),
        };
        self.0.show(asked.id().0, question, move |chosen| {
            let choice = chosen.and_then(|n| asked.choices().get(n));
            // Neither counts if the question is over by now.
            let _counted = match choice {
                Some(choice) => asked.answer(choice.answer),
                None => asked.dismiss(),
            };
        });
    }

    fn withdraw(&self, question: QuestionId) {
        self.0.withdraw(question.0);
    }
}
