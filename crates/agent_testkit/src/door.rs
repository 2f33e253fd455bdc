//! The gate that a case opens and shuts, and the user behind it: the real policy, with a prompt
//! that the case answers.

use std::path::Path;

use agent_consent::{Consent as Policy, Mode, Scripted};
use agent_core::AuthGate;

use crate::case::{Answer, Consent};

/// The gate of a case, and the user who is asked when it says so. Any thread; all clones are one.
#[derive(Clone, Debug)]
pub struct Door {
    consent: Policy,
    user: Scripted,
}

fn mode(consent: Consent) -> Mode {
    match consent {
        Consent::Allow => Mode::AllowAll,
        Consent::Deny | Consent::None => Mode::DenyAll,
        Consent::Ask => Mode::Ask,
    }
}

impl Door {
    /// As it stands at the start; what is remembered lies in a folder of the case's own.
    pub fn new(app: &str, rules: &Path, consent: Consent) -> Self {
        let user = Scripted::new();
        let policy = Policy::builder(app)
            .prompt(user.clone())
            .rules_dir(rules)
            .no_log()
            .mode(mode(consent))
            .build();
        Self {
            consent: policy,
            user,
        }
    }

    /// From now on it says this.
    pub fn set(&self, consent: Consent) {
        self.consent.set_mode(mode(consent));
    }

    /// The gate that it is.
    pub fn gate(&self) -> AuthGate {
        self.consent.gate()
    }

    /// Answers the oldest question that is open.
    ///
    /// # Errors
    /// If none is, or that can't be said to it.
    pub fn answer(&self, answer: Answer) -> Result<(), String> {
        let said = match answer {
            Answer::Allow => self.user.answer(agent_consent::Answer::Once),
            Answer::Deny => self.user.answer(agent_consent::Answer::No),
            Answer::Dismiss => self.user.dismiss(),
        };
        match said {
            true => Ok(()),
            false => Err("no question is open that can be answered so".to_owned()),
        }
    }

    /// How many questions are open, and how many were asked since the start.
    pub fn prompts(&self) -> (u64, u64) {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        (count(self.user.open()), count(self.user.shown()))
    }
}
