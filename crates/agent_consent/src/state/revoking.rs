//! Taking back. Each call answers from which connections, and until when.

use std::collections::{HashMap, HashSet};

use agent_core::{Channel, RevokedUntil};
use serde_json::json;

use super::{Calm, Job, State};
use crate::{
    agents::{Known, SCOPES},
    audit::word,
    decide::{Mode, Standing},
    notice::Notice,
    rule::{Rule, RuleId, word as scope_word},
};

/// From whom the leave is taken.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    pub(crate) these: HashSet<u64>,
    pub(crate) until: RevokedUntil,
}

impl State {
    /// `None`: there is no such rule.
    pub(crate) fn revoke(&mut self, id: &RuleId) -> Option<Cut> {
        if !self.forget(id) {
            return None;
        }
        self.tell(Notice::RulesChanged);
        Some(self.cut(|known| known.has_rule(id), RevokedUntil::Gone))
    }

    pub(crate) fn revoke_all(&mut self) -> Cut {
        // Those too that don't hold just now: clocks are set.
        let all = [&self.run, &self.unsaved, &self.stored];
        let all: Vec<RuleId> = all.into_iter().flat_map(HashMap::keys).cloned().collect();
        for id in all {
            self.forget(&id);
        }
        if self.no_disk.is_none() {
            // And those that are on the disk, and that nobody here has seen yet.
            self.removing_all = true;
            self.jobs.push_back(Job::RemoveAll);
        }
        self.tell(Notice::RulesChanged);
        self.cut(|_| true, RevokedUntil::Gone)
    }

    /// Takes everything back from the agent of this connection, and does not ask about it again
    /// for a while. `None`: there is no such connection.
    pub(crate) fn stop(&mut self, connection: u64) -> Option<Cut> {
        let known = self.connections.get(&connection)?;
        let (key, looks) = (known.key.clone(), known.agent.looks().clone());
        let channel = known.channel;
        let rules: Vec<RuleId> = SCOPES
            .iter()
            .filter_map(|scope| known.rule(*scope).cloned())
            .collect();
        for id in rules {
            let allows =
                |rules: &HashMap<RuleId, Rule>| rules.get(&id).is_some_and(|rule| rule.allow);
            if allows(&self.run) || allows(&self.unsaved) || allows(&self.stored) {
                self.forget(&id);
            }
        }
        // The app's own assistant is not asked about, and looks like others that nobody knows.
        if channel == Channel::External {
            for scope in SCOPES {
                self.calm_down(looks.clone(), scope, Calm::No);
            }
        }
        self.tell(Notice::RulesChanged);
        // Also one that is a part of the app, if that is the one that the user means.
        Some(self.cut_all(|known| known.key == key, RevokedUntil::Gone))
    }

    pub(crate) fn lock_down(&mut self, on: bool) -> Cut {
        if self.locked_down == on {
            return Cut::default();
        }
        self.locked_down = on;
        self.log_own("lockdown", [("on", json!(on))]);
        self.tell(Notice::Lockdown { on });
        if !on {
            return Cut::default();
        }
        self.yeses.clear();
        self.withdraw(|_| true);
        // The app's own assistant too: what it waits for ends.
        self.cut_all(|_| true, RevokedUntil::Admitted)
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) -> Cut {
        let mut these = self.lock_down(mode == Mode::Lockdown).these;
        self.mode = mode;
        let until = RevokedUntil::Admitted;
        these.extend(self.sweep(until).these);
        self.withdraw_moot();
        self.advance();
        Cut { these, until }
    }

    /// Lets agents in again, if anything but the mode itself keeps them out.
    pub(crate) fn resume(&mut self) -> Cut {
        match self.can_resume() {
            true => self.lock_down(false),
            false => Cut::default(),
        }
    }

    pub(crate) fn can_resume(&self) -> bool {
        self.locked_down && self.mode != Mode::Lockdown
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.locked_down {
            true => Mode::Lockdown,
            false => self.mode,
        }
    }

    /// Ends what nothing allows any more: a day is over, a rule was removed from outside.
    pub(crate) fn sweep(&mut self, until: RevokedUntil) -> Cut {
        let over: HashSet<u64> = self
            .connections
            .iter()
            .filter(|(_, known)| {
                let mut admitted = known.admitted.iter();
                known.channel == Channel::External
                    && admitted.any(|scope| self.standing(known, *scope) != Standing::Allow)
            })
            .map(|(connection, _)| *connection)
            .collect();
        self.cut_these(over, until)
    }

    pub(super) fn cut(&mut self, meant: impl Fn(&Known) -> bool, until: RevokedUntil) -> Cut {
        self.cut_all(
            |known| known.channel == Channel::External && meant(known),
            until,
        )
    }

    fn cut_all(&mut self, meant: impl Fn(&Known) -> bool, until: RevokedUntil) -> Cut {
        let these: HashSet<u64> = self
            .connections
            .iter()
            .filter(|(_, known)| meant(known))
            .map(|(connection, _)| *connection)
            .collect();
        self.cut_these(these, until)
    }

    pub(super) fn cut_these(&mut self, these: HashSet<u64>, until: RevokedUntil) -> Cut {
        let mut cut = Vec::new();
        let mut keys = HashSet::new();
        for (connection, known) in &mut self.connections {
            if these.contains(connection) && !known.revoked {
                known.revoked = until == RevokedUntil::Gone;
                known.admitted.clear();
                known.once.clear();
                keys.insert(known.key.clone());
                cut.push(known.who(*connection));
            }
        }
        self.yeses.retain(|yes| !keys.contains(&yes.key));
        self.withdraw(|question| {
            these.contains(&question.connection) || keys.contains(&question.key)
        });
        for who in cut {
            self.log("revoked", &who, []);
            self.tell(Notice::Revoked { who });
        }
        self.advance();
        Cut { these, until }
    }

    /// Whether there was such a rule.
    pub(super) fn forget(&mut self, id: &RuleId) -> bool {
        let run = self.run.remove(id);
        let unsaved = self.unsaved.remove(id);
        let stored = self.stored.remove(id);
        self.used.remove(id);
        let on_disk = unsaved.or(stored);
        let Some(rule) = run.as_ref().or(on_disk.as_ref()) else {
            return false;
        };
        self.log_revoked(rule, false);
        let name = rule.name.clone();
        if on_disk.is_some() && self.no_disk.is_none() {
            self.removed.insert(id.clone(), name.clone());
            self.jobs.push_back(Job::Remove(id.clone(), name));
            if self.rules_hang {
                self.not_removed(id, self.settings.texts.disk_hangs.clone());
            }
        }
        true
    }

    /// That a rule is taken back: by the user of this app, or, `outside`, by whoever removed its
    /// file.
    pub(super) fn log_revoked(&self, rule: &Rule, outside: bool) {
        let mut fields = vec![
            ("name", json!(word(&rule.name))),
            ("agent", json!(rule.agent)),
            ("scope", json!(scope_word(rule.scope))),
            ("allow", json!(rule.allow)),
        ];
        if outside {
            fields.push(("outside", json!(true)));
        }
        self.line("rule_revoked", fields);
    }
}
