//! What the disk says, and what it refuses.

use std::{collections::HashMap, path::Path};

use agent_core::{RevokedUntil, Scope};
use serde_json::json;

use super::{Cut, Effect, MAX_CALM, State};
use crate::{
    notice::Notice,
    rule::{Rule, RuleId},
    shown::{Piece, Text},
    store::{Loaded, Problem},
};

impl State {
    /// Nobody will do the jobs.
    pub(crate) fn has_no_disk(&mut self, why: String) {
        self.stopped = true;
        self.no_disk = Some(why);
    }

    /// Takes over what was found on the disk. From whom that takes the leave.
    pub(crate) fn loaded(&mut self, loaded: Loaded) -> Cut {
        let removed = &self.removed;
        let stored: HashMap<RuleId, Rule> = loaded
            .rules
            .into_iter()
            .filter(|rule| rule.app == self.settings.app)
            // To more than the surface nobody is let in beyond the run, whatever a file says.
            .filter(|rule| !rule.allow || rule.scope == Scope::Surface)
            .map(|rule| (rule.id(), rule))
            .filter(|(id, _)| !removed.contains_key(id) && !self.removing_all)
            .collect();
        let answers = |rules: &HashMap<RuleId, Rule>| {
            let mut all: Vec<_> = rules
                .iter()
                .map(|(id, rule)| (id.clone(), rule.allow, rule.until))
                .collect();
            all.sort();
            all
        };
        let changed = answers(&stored) != answers(&self.stored);
        for (id, rule) in &self.stored {
            if !stored.contains_key(id) && !self.removed.contains_key(id) {
                self.log_revoked(rule, true);
            }
        }
        self.stored = stored;
        // What is not noted there yet.
        for (id, used) in &self.used {
            if let Some(rule) = self.stored.get_mut(id) {
                rule.uses = rule.uses.saturating_add(used.count);
                rule.last_used = rule.last_used.max(Some(used.last));
            }
        }
        for problem in loaded.problems {
            self.report(problem);
        }
        if !changed {
            return Cut::default();
        }
        self.tell(Notice::RulesChanged);
        let theirs = self.connections.keys().copied().collect();
        self.effects.push_back(Effect::Answered(theirs));
        let cut = self.sweep(RevokedUntil::Gone);
        // A question that a rule has answered meanwhile needs no answer.
        self.withdraw_moot();
        self.advance();
        cut
    }

    /// Tells once of what is found in place of rules.
    fn report(&mut self, problem: Problem) {
        if self.problems.contains(&problem) {
            return;
        }
        let named = [
            ("path", Piece::theirs(&problem.path.to_string_lossy())),
            ("why", Piece::Ours(problem.why.clone())),
        ];
        let texts = &self.settings.texts;
        let text = match problem.is_folder {
            true => Text::fill(&texts.bad_folder, &named),
            false => Text::fill(&texts.bad_rule, &named),
        };
        self.effects.push_back(Effect::Tell(text));
        self.log_own("bad_rule", [("why", json!(problem.why))]);
        self.tell(Notice::BadRule {
            path: problem.path.clone(),
            why: problem.why.clone(),
        });
        if self.problems.len() < MAX_CALM {
            self.problems.push(problem);
        }
    }

    pub(crate) fn saved(&mut self, rule: &Rule, result: Result<(), String>) {
        let id = rule.id();
        match result {
            Ok(()) => {
                // Revoked meanwhile, it is not brought back; changed meanwhile, that is on its way.
                if self
                    .unsaved
                    .get(&id)
                    .is_some_and(|now| now.is_as_answered(rule))
                    && let Some(saved) = self.unsaved.remove(&id)
                {
                    if let Some(last) = saved.last_used {
                        let used = self.used.entry(id.clone()).or_default();
                        used.count = used.count.saturating_add(saved.uses);
                        used.last = last;
                    }
                    self.stored.insert(id, saved);
                }
            }
            Err(why) => self.not_saved(rule, why),
        }
    }

    /// For this run it holds.
    pub(super) fn not_saved(&mut self, rule: &Rule, why: String) {
        let named = [
            ("agent", Piece::theirs(&rule.name)),
            ("why", Piece::Ours(why.clone())),
        ];
        let text = Text::fill(&self.settings.texts.not_saved, &named);
        self.effects.push_back(Effect::Tell(text));
        let rule = rule.id();
        self.tell(Notice::NotSaved { rule, why });
    }

    pub(crate) fn was_removed(&mut self, id: &RuleId, name: &str, result: Result<(), String>) {
        match result {
            Ok(()) => drop(self.removed.remove(id)),
            Err(why) => {
                self.removed.insert(id.clone(), name.to_owned());
                self.not_removed(id, why);
            }
        }
    }

    /// All that was there when it was to be removed is gone, but for these: which, of whom, why.
    pub(crate) fn all_removed(
        &mut self,
        left: Vec<(RuleId, String, String)>,
        problems: Vec<Problem>,
    ) {
        self.removing_all = false;
        for problem in problems {
            self.report(problem);
        }
        for (id, name, why) in left {
            self.was_removed(&id, &name, Err(why));
        }
    }

    /// For this run it stays revoked.
    pub(super) fn not_removed(&mut self, id: &RuleId, why: String) {
        let name = self.removed.get(id).map_or("", String::as_str);
        let named = [
            ("agent", Piece::theirs(name)),
            ("why", Piece::Ours(why.clone())),
        ];
        let text = Text::fill(&self.settings.texts.not_revoked, &named);
        self.effects.push_back(Effect::Tell(text));
        let rule = id.clone();
        self.tell(Notice::NotRemoved { rule, why });
    }

    /// The disk that the rules are on has begun to hang, or answers again: what was to be saved
    /// or removed until now, and from now on, is told not to be.
    pub(crate) fn rules_hang(&mut self, hang: bool, folder: &Path) {
        self.rules_hang = hang;
        let why = self.settings.texts.disk_hangs.clone();
        if !hang {
            self.problems.retain(|problem| problem.why != why);
            return;
        }
        let unsaved: Vec<Rule> = self.unsaved.values().cloned().collect();
        for rule in &unsaved {
            self.not_saved(rule, why.clone());
        }
        let removed: Vec<RuleId> = self.removed.keys().cloned().collect();
        for id in &removed {
            self.not_removed(id, why.clone());
        }
        self.report(Problem {
            path: folder.to_owned(),
            why,
            is_folder: true,
            set_aside: None,
        });
    }

    /// How often rules were used since this was last asked, to be noted in their files.
    pub(crate) fn take_uses(&mut self) -> Vec<(RuleId, u64, u64)> {
        let used = std::mem::take(&mut self.used);
        used.into_iter()
            .map(|(id, used)| (id, used.count, used.last))
            .collect()
    }

    /// These could not be noted yet.
    pub(crate) fn used_before(&mut self, id: RuleId, count: u64, last: u64) {
        let used = self.used.entry(id).or_default();
        used.count = used.count.saturating_add(count);
        used.last = used.last.max(last);
    }

    pub(crate) fn has_uses(&self) -> bool {
        !self.used.is_empty()
    }

    /// The disk that the log is on has begun to hang, or answers again.
    pub(crate) fn log_hangs(&mut self, hangs: bool) {
        if hangs {
            self.not_logged(self.settings.texts.disk_hangs.clone());
        }
    }

    pub(crate) fn not_logged(&mut self, why: String) {
        let named = [("why", Piece::Ours(why.clone()))];
        let text = Text::fill(&self.settings.texts.not_logged, &named);
        self.effects.push_back(Effect::Tell(text));
        self.tell(Notice::NotLogged { why });
    }
}
