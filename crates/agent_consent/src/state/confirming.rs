//! Asking about one action, and what a yes to it is good for.

use agent_core::{Channel, Confirmed, Question};
use serde_json::json;

use super::{MAX_CALM, State, YES_HOLDS};
use crate::{
    agents::Key,
    audit::word,
    notice::Notice,
    prompt::Kind,
    questions::{About, Act, Words},
};

impl State {
    pub(crate) fn confirm(&mut self, question: &Question) -> Confirmed {
        let now = self.clock.elapsed();
        let connection = question.request.connection;
        let act = Act::of(question);
        let (key, agent) = match self.connections.get(&connection) {
            Some(known) => (known.key.clone(), Some(known.agent.clone())),
            None if question.request.channel == Channel::InApp => (Key::InApp, None),
            None => return Confirmed::No,
        };
        self.yeses
            .retain(|yes| now.saturating_sub(yes.given) <= YES_HOLDS);
        // Whatever comes of it, a yes to this is used up by it.
        let mut given = false;
        self.yeses.retain(|yes| {
            let meant = yes.key == key && yes.act.is_again(&act);
            given |= meant && yes.act.seen == act.seen;
            !meant
        });
        if given {
            return Confirmed::Yes;
        }
        if !self.settings.has_prompt {
            return Confirmed::No;
        }
        if self.refused.get(&key).is_some_and(|until| now < *until) {
            return Confirmed::No;
        }
        match self.questions.of(&key).map(|asked| &asked.about) {
            // What the user would say is about something else by now.
            Some(About::Confirm(asked)) if asked.is_again(&act) && asked.seen != act.seen => {
                self.withdraw(|question| question.key == key);
            }
            Some(_) => return Confirmed::No,
            None => {}
        }
        let texts = &self.settings.texts;
        let agent = agent.filter(|_| key != Key::InApp);
        let words = Words {
            kind: Kind::Confirm {
                node: question.node.clone(),
            },
            heading: texts.confirm(question, agent.as_deref()),
            details: texts.about(question),
            choices: texts.yes_or_no(),
        };
        let asked = self
            .questions
            .add(key, connection, About::Confirm(act), words);
        if let (Some(asked), Some(known)) = (asked, self.connections.get(&connection)) {
            let who = known.who(connection);
            self.log("asked", &who, [("node", json!(word(&question.node)))]);
            self.tell(Notice::Asked {
                who,
                question: asked,
                scope: None,
            });
        }
        self.advance();
        Confirmed::No
    }

    pub(super) fn refuse(&mut self, key: Key) {
        let now = self.clock.elapsed();
        if self.refused.len() >= MAX_CALM {
            self.refused.retain(|_, until| now < *until);
        }
        self.refused
            .insert(key, now.saturating_add(self.settings.rest));
    }
}
