//! What agents do: told, counted and logged.

use agent_core::{Request, Verb};
use serde_json::json;

use super::{LOG_TURNED_AWAY, MAX_CALM, State};
use crate::{
    audit::word,
    notice::{Notice, Who},
    questions::About,
};

impl State {
    pub(crate) fn acting(&mut self, request: &Request) {
        // What anybody was asked about may look different now.
        self.yeses.clear();
        self.withdraw(|question| matches!(question.about, About::Confirm(_)));
        if let Some(known) = self.connections.get(&request.connection) {
            let who = known.who(request.connection);
            self.acting.insert(request.number, who.clone());
            self.tell(Notice::Acting {
                who,
                request: request.number,
                verb: request.verb,
                node: request.target.clone(),
            });
        }
        self.advance();
    }

    /// Whether an action has begun that this is the end of.
    pub(crate) fn done(&mut self, request: &Request, outcome: &'static str) -> bool {
        let begun = self.acting.remove(&request.number);
        let has_begun = begun.is_some();
        let known = self.connections.get_mut(&request.connection);
        let who = begun.or_else(|| Some(known.as_ref()?.who(request.connection)));
        // Of who is gone, what had begun is told of all the same: it was done.
        let Some(who) = who else { return false };
        if !has_begun && outcome == "consent_denied" {
            if known.is_some_and(|known| !std::mem::replace(&mut known.turned_away, true)) {
                self.log_turned_away(request, &who);
                self.tell(Notice::TurnedAway { who });
            }
            return false;
        }
        if !has_begun && outcome == "consent_pending" {
            return false;
        }
        self.count_use(request);
        if request.verb.acts() || request.verb == Verb::GetText {
            self.log_done(request, &who, outcome);
        }
        if request.verb.acts() {
            self.tell(Notice::Acted {
                who,
                request: request.number,
                verb: request.verb,
                node: request.target.clone(),
                outcome,
            });
        }
        has_begun
    }

    /// That the rule which let it in was made use of.
    fn count_use(&mut self, request: &Request) {
        let known = self.connections.get(&request.connection);
        let Some(id) = known.and_then(|known| known.rule(request.scope)) else {
            return;
        };
        let now = self.clock.unix();
        let rules = [&mut self.run, &mut self.unsaved, &mut self.stored];
        for rule in rules.into_iter().filter_map(|rules| rules.get_mut(id)) {
            rule.uses += 1;
            rule.last_used = Some(now);
        }
        if self.stored.contains_key(id) {
            let used = self.used.entry(id.clone()).or_default();
            used.count += 1;
            used.last = now;
        }
    }

    /// Each kind of agent once a minute: by coming again and again it must not fill the log.
    pub(super) fn log_turned_away(&mut self, request: &Request, who: &Who) {
        let Some(known) = self.connections.get(&request.connection) else {
            return;
        };
        let now = self.clock.elapsed();
        let looks = known.agent.looks().clone();
        if self.turned_away.len() >= MAX_CALM {
            self.turned_away.clear();
        }
        let before = self.turned_away.get(&looks);
        if before.is_none_or(|before| now.saturating_sub(*before) >= LOG_TURNED_AWAY) {
            self.turned_away.insert(looks, now);
            let what = [("verb", json!(request.verb.word()))];
            self.log("turned_away", who, what);
        }
    }

    /// What was done, always. What was read, each node once a minute, and what was refused, once a
    /// second, with how many there were in between: that costs an agent little, and must not fill
    /// the log either.
    pub(super) fn log_done(&mut self, request: &Request, who: &Who, outcome: &'static str) {
        let now = self.clock.elapsed();
        let known = self.connections.get_mut(&request.connection);
        let skipped = match (known, outcome) {
            (Some(known), "allowed") if !request.verb.acts() => {
                let node = request.target.as_deref().unwrap_or_default();
                known.reads.skipped_before(node, now)
            }
            (Some(known), refused) if refused != "allowed" => {
                known.refusals.skipped_before("", now)
            }
            _ => Some(0),
        };
        let Some(skipped) = skipped else { return };
        let mut what = vec![
            ("verb", json!(request.verb.word())),
            ("node", json!(request.target.as_deref().map(word))),
            ("outcome", json!(outcome)),
        ];
        if skipped > 0 {
            what.push(("not_logged_before", json!(skipped)));
        }
        let event = if request.verb.acts() { "acted" } else { "read" };
        self.log(event, who, what);
    }
}
