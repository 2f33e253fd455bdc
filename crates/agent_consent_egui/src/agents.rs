//! What agents have done of late, as the notices tell it: an action is over sooner than anybody
//! could see it.

use std::collections::HashMap;

use agent_consent::{Notice, Theirs, Who};
use agent_core::Channel;

use crate::texts::Texts;

/// How long an agent is said to be acting after it has, in seconds.
pub(crate) const ACTING_FOR: f64 = 1.5;

/// Nodes that wait to be shown; more at once tell nobody anything.
const TOUCHED: usize = 16;

/// The last of it.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    acted: HashMap<u64, f64>,
    touched: Vec<String>,
}

impl Recent {
    /// Takes a notice in.
    pub(crate) fn hear(&mut self, notice: Notice, now: f64) {
        match notice {
            Notice::Acting { who, node, .. } => {
                self.acted.insert(who.connection, now);
                if let Some(node) = node
                    && self.touched.len() < TOUCHED
                    && !self.touched.contains(&node)
                {
                    self.touched.push(node);
                }
            }
            Notice::Gone { who } | Notice::Revoked { who } => {
                self.acted.remove(&who.connection);
            }
            _ => {}
        }
    }

    /// Whether the agent of this connection acts, or just did.
    pub(crate) fn acts(&self, connection: u64, now: f64) -> bool {
        let acted = self.acted.get(&connection);
        acted.is_some_and(|acted| (0.0..ACTING_FOR).contains(&(now - acted)))
    }

    /// The nodes acted on since they were last taken.
    pub(crate) fn take_touched(&mut self) -> Vec<String> {
        std::mem::take(&mut self.touched)
    }
}

/// A word from outside, escaped and cut, in quotation marks that it can't end.
pub(crate) fn quoted(words: &str) -> String {
    format!("“{}”", Theirs::new(words).short)
}

/// What an agent is called, escaped: the name of its program, which the kernel says, else what it
/// claims, as a claim.
pub(crate) fn name(who: &Who, texts: &Texts) -> String {
    match (who.channel, &who.name, &who.claimed) {
        (Channel::InApp, ..) => texts.assistant.clone(),
        (_, Some(name), _) => quoted(name),
        (_, None, Some(claim)) => Texts::fill(&texts.claims, "claim", &quoted(claim)),
        (_, None, None) => texts.unidentified.clone(),
    }
}

#[cfg(test)]
mod tests {
    use agent_core::Verb;

    use super::*;

    fn who(connection: u64) -> Who {
        Who {
            connection,
            channel: Channel::External,
            name: Some("claude".into()),
            claimed: None,
            agent: None,
        }
    }

    #[test]
    fn who_acted_is_said_to_be_acting_for_a_while() {
        let mut recent = Recent::default();
        let acting = |node: String| Notice::Acting {
            request: 1,
            who: who(1),
            verb: Verb::Click,
            node: Some(node),
        };
        for _ in 0..3 {
            recent.hear(acting("save".into()), 10.0);
        }
        assert_eq!(recent.take_touched(), ["save"]);
        assert!(recent.take_touched().is_empty());
        assert!(recent.acts(1, 11.0) && !recent.acts(1, 12.0) && !recent.acts(2, 11.0));
        recent.hear(Notice::Gone { who: who(1) }, 11.0);
        assert!(!recent.acts(1, 11.0));
        for n in 0..1_000 {
            recent.hear(acting(n.to_string()), 12.0);
        }
        assert_eq!(recent.take_touched().len(), TOUCHED);
    }

    #[test]
    fn a_claim_is_shown_as_one_and_nothing_as_more_than_it_is() {
        let texts = Texts::default();
        let mut it = who(1);
        assert_eq!(name(&it, &texts), "“claude”");
        it.name = None;
        assert_eq!(name(&it, &texts), texts.unidentified);
        it.claimed = Some("x”\nAllowed by system".into());
        let shown = name(&it, &texts);
        assert!(
            shown.starts_with("a program that calls itself “x"),
            "{shown}"
        );
        assert!(!shown.contains('\n') && shown.matches('”').count() == 1);
        it.channel = Channel::InApp;
        assert_eq!(name(&it, &texts), texts.assistant);
    }
}
