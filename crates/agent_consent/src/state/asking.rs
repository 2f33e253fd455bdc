//! Asking about an agent, and what becomes of the answer.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use agent_core::{Request, Scope};
use serde_json::json;

use super::{Calm, ENOUGH, Effect, Job, State, Yes};
use crate::{
    agents::Key,
    audit::word,
    decide::{Standing, kept},
    evidence::Agent,
    notice::Notice,
    prompt::{Answer, Kind, QuestionId},
    questions::{About, Pending, Words},
    rule::{Rule, RuleId, word as scope_word},
};

impl State {
    /// `None`: nobody can be asked. Else when to come back, and how long to hold the request.
    pub(crate) fn ask(&mut self, request: &Request) -> Option<(Duration, Duration)> {
        let come_back = (self.settings.retry_after, Duration::ZERO);
        if !self.settings.has_prompt {
            return None;
        }
        if self.judge(request) != Standing::Ask {
            return Some((Duration::from_millis(1), Duration::ZERO));
        }
        if !self.knows(request.connection) {
            self.meet(request, Agent::unidentified());
        }
        let known = self.connections.get(&request.connection)?;
        let (key, agent) = (known.key.clone(), known.agent.clone());
        let held = (self.settings.retry_after, self.settings.hold);
        match self.questions.of(&key).map(|question| &mut question.about) {
            Some(About::Consent { scope, askers, .. }) if *scope == request.scope => {
                askers.insert(request.connection);
                return Some(held);
            }
            // One question an agent: this one's turn comes after that.
            Some(_) => return Some(come_back),
            None => {}
        }
        let looks = (agent.looks().clone(), request.scope);
        let calm = self.calm.get(&looks).map(|(_, until)| *until);
        let until = calm.unwrap_or_default().max(self.enough);
        let rest = until.saturating_sub(self.clock.elapsed());
        if !rest.is_zero() {
            return Some((rest, Duration::ZERO));
        }
        let claim = request.claimed_name.as_deref();
        let changed = self.has_changed(&agent, request.scope);
        let texts = &self.settings.texts;
        let words = Words {
            kind: Kind::Consent {
                scope: request.scope,
            },
            heading: texts.ask(request.scope, &agent),
            details: texts.evidence(&agent, claim, changed),
            choices: texts.choices(self.answers(&agent, request.scope)),
        };
        let about = About::Consent {
            scope: request.scope,
            agent,
            askers: HashSet::from([request.connection]),
        };
        let Some(question) = self.questions.add(key, request.connection, about, words) else {
            return Some(come_back);
        };
        if let Some(known) = self.connections.get_mut(&request.connection) {
            known.claimed = request.claimed_name.clone();
            let who = known.who(request.connection);
            let scope = Some(request.scope);
            self.log("asked", &who, [("scope", json!(scope_word(request.scope)))]);
            self.tell(Notice::Asked {
                who,
                question,
                scope,
            });
        }
        self.advance();
        Some(held)
    }

    /// What may be answered about an agent: noes first.
    pub(super) fn answers(&self, agent: &Agent, scope: Scope) -> Vec<Answer> {
        let mut answers = vec![Answer::No];
        if agent.id().is_some() {
            answers.push(Answer::Never);
        }
        answers.push(Answer::Once);
        if agent.id().is_some() {
            answers.push(Answer::UntilQuit);
            let proven = agent.is_proven() || self.settings.remembers_unproven;
            if proven && scope == Scope::Surface {
                answers.extend([Answer::Day, Answer::Always]);
            }
        }
        answers
    }

    /// Whether this agent's file was allowed when something else was in it.
    pub(super) fn has_changed(&self, agent: &Agent, scope: Scope) -> bool {
        let Some((path, Some(content))) = agent.file() else {
            return false;
        };
        let path = path.to_string_lossy();
        [&self.run, &self.unsaved, &self.stored]
            .into_iter()
            .flat_map(HashMap::values)
            .any(|rule| {
                rule.allow
                    && rule.scope == scope
                    && rule.app == self.settings.app
                    && rule.program.as_deref() == Some(&path)
                    && rule
                        .content
                        .as_deref()
                        .is_some_and(|before| before != content)
            })
    }

    /// The answer to a question, `None` if it was waved away. False: it is not open.
    pub(crate) fn answer(&mut self, id: QuestionId, answer: Option<Answer>) -> bool {
        let Some(question) = self.questions.take(id) else {
            return false;
        };
        self.told_answer(&question, answer);
        match question.about {
            About::Consent {
                scope,
                agent,
                askers,
            } => {
                self.settle(&question.key, scope, &agent, &askers, answer);
                self.count(answer);
            }
            About::Confirm(act) => match answer {
                Some(answer) if answer.is_yes() => self.yeses.push(Yes {
                    key: question.key,
                    act,
                    given: self.clock.elapsed(),
                }),
                _ => self.refuse(question.key),
            },
        }
        self.advance();
        true
    }

    pub(super) fn told_answer(&mut self, question: &Pending, answer: Option<Answer>) {
        let Some(known) = self.connections.get(&question.connection) else {
            return;
        };
        let who = known.who(question.connection);
        let id = question.id;
        let what = match &question.about {
            About::Consent { scope, .. } => ("scope", json!(scope_word(*scope))),
            About::Confirm(act) => ("node", json!(word(&act.node))),
        };
        let said = answer.map_or("dismissed", Answer::word);
        self.log("answered", &who, [what, ("answer", json!(said))]);
        self.tell(match answer {
            Some(answer) if answer.is_yes() => Notice::Allowed {
                who,
                question: id,
                answer,
            },
            answer => Notice::Refused {
                who,
                question: id,
                answer,
            },
        });
    }

    /// Leaves the user in peace who has said no again and again.
    pub(super) fn count(&mut self, answer: Option<Answer>) {
        if answer.is_some_and(Answer::is_yes) {
            self.noes.clear();
            return;
        }
        let now = self.clock.elapsed();
        let within = self.settings.cool_down;
        self.noes.retain(|no| now.saturating_sub(*no) < within);
        self.noes.push(now);
        if self.noes.len() >= ENOUGH {
            self.noes.clear();
            self.enough = now.saturating_add(within);
            self.withdraw(|question| question.scope().is_some());
        }
    }

    /// Makes an answer about an agent hold.
    pub(super) fn settle(
        &mut self,
        key: &Key,
        scope: Scope,
        agent: &Agent,
        askers: &HashSet<u64>,
        answer: Option<Answer>,
    ) {
        match answer {
            None => self.calm_down(agent.looks().clone(), scope, Calm::Rest),
            Some(Answer::No) => self.calm_down(agent.looks().clone(), scope, Calm::No),
            Some(Answer::Once) => {
                for (connection, known) in &mut self.connections {
                    if known.key == *key && askers.contains(connection) {
                        known.once.insert(scope);
                    }
                }
            }
            Some(answer) => self.remember(scope, agent, answer),
        }
        let theirs = self.of(key);
        self.effects.push_back(Effect::Answered(theirs));
    }

    pub(super) fn remember(&mut self, scope: Scope, agent: &Agent, answer: Answer) {
        let Some(id) = agent.id() else { return };
        let now = self.clock.unix();
        let kept =
            kept(answer, now).filter(|_| agent.is_proven() || self.settings.remembers_unproven);
        let (allow, until) = kept.unwrap_or((answer.is_yes(), None));
        let file = agent.file();
        let rule = Rule {
            app: self.settings.app.clone(),
            scope,
            agent: id.to_owned(),
            name: agent.name().unwrap_or_default(),
            program: file.map(|(path, _)| path.to_string_lossy().into_owned()),
            content: file.and_then(|(_, content)| content).map(str::to_owned),
            evidence: agent.looks().lines().map(word).collect(),
            allow,
            since: now,
            until,
            last_used: None,
            uses: 0,
        };
        let id = rule.id();
        self.run.remove(&id);
        if kept.is_some() {
            // What this program was allowed before it changed is of no use to anybody.
            if allow {
                self.forget_earlier(&rule);
            }
            self.removed.remove(&id);
            self.unsaved.insert(id, rule.clone());
            match self.no_disk.clone() {
                Some(why) => self.saved(&rule, Err(why)),
                None => {
                    self.jobs.push_back(Job::Save(rule.clone()));
                    if self.rules_hang {
                        self.not_saved(&rule, self.settings.texts.disk_hangs.clone());
                    }
                }
            }
        } else {
            self.run.insert(id, rule);
        }
        self.tell(Notice::RulesChanged);
    }

    pub(super) fn forget_earlier(&mut self, rule: &Rule) {
        let earlier = |other: &Rule| {
            other.allow
                && (&other.app, other.scope) == (&rule.app, rule.scope)
                && other.program == rule.program
                && other.content.is_some()
                && rule.content.is_some()
                && other.content != rule.content
        };
        let all = [&self.run, &self.unsaved, &self.stored];
        let ids: Vec<RuleId> = all
            .into_iter()
            .flatten()
            .filter(|(_, other)| earlier(other))
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            self.forget(&id);
        }
    }
}
