//! What agents do: told, counted and logged.

use agent_core::Request;
use serde_json::json;

use super::{LOG_REFUSED, LOG_TURNED_AWAY, MAX_CALM, State};
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
        if let Some(known) = self.connections.get_mut(&request.connection) {
            known.acting += 1;
            let who = known.who(request.connection);
            self.tell(Notice::Acting {
                who,
                verb: request.verb,
                node: request.target.clone(),
            });
        }
        self.advance();
    }

    /// Whether an action has begun that this is the end of.
    pub(crate) fn done(&mut self, request: &Request, outcome: &'static str) -> bool {
        let now = self.clock.unix();
        let Some(known) = self.connections.get_mut(&request.connection) else {
            return false;
        };
        match outcome {
            "consent_denied" => {
                if !std::mem::replace(&mut known.turned_away, true) {
                    let who = known.who(request.connection);
                    self.log_turned_away(request, &who);
                    self.tell(Notice::TurnedAway { who });
                }
                return false;
            }
            "consent_pending" => return false,
            _ => {}
        }
        if let Some(id) = known.rule(request.scope) {
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
        let begun = request.verb.acts() && known.acting > 0;
        if request.verb.acts() {
            known.acting = known.acting.saturating_sub(1);
            let who = known.who(request.connection);
            let node = request.target.clone();
            self.log_act(request, &who, outcome);
            self.tell(Notice::Acted {
                who,
                verb: request.verb,
                node,
                outcome,
            });
        }
        begun
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

    /// What was done, always. What was refused, once a second with how many there were: that
    /// costs an agent nothing, and must not fill the log either.
    pub(super) fn log_act(&mut self, request: &Request, who: &Who, outcome: &'static str) {
        let now = self.clock.elapsed();
        let Some(known) = self.connections.get_mut(&request.connection) else {
            return;
        };
        let mut more = 0;
        if outcome != "allowed" {
            match &mut known.refusals {
                Some((logged, skipped)) if now.saturating_sub(*logged) < LOG_REFUSED => {
                    *skipped += 1;
                    return;
                }
                refusals => {
                    more = refusals.map_or(0, |(_, skipped)| skipped);
                    *refusals = Some((now, 0));
                }
            }
        }
        let mut what = vec![
            ("verb", json!(request.verb.word())),
            ("node", json!(request.target.as_deref().map(word))),
            ("outcome", json!(outcome)),
        ];
        if more > 0 {
            what.push(("refused_before", json!(more)));
        }
        self.log("acted", who, what);
    }
}
