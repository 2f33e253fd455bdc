//! What the gate knows: a snapshot in memory, and how it changes. Nothing in here waits, reads a
//! file or calls into the app; what is to be done outside comes out as [`Effect`]s and [`Job`]s.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use agent_core::{Channel, Confirmed, Decision, Question, Request, Scope};
use serde_json::{Map, Value, json};

use crate::{
    agents::{Key, Known, SCOPES},
    audit::{Audit, word},
    clock::{Clock, utc},
    decide::{Mode, Standing, kept, standing},
    evidence::Agent,
    notice::{Listeners, Notice, Who},
    prompt::{Answer, Kind, QuestionId},
    questions::{About, Act, Pending, Questions, Words},
    rule::{Rule, RuleId, word as scope_word},
    shown::{Piece, Text},
    store::{Loaded, Problem},
    texts::Texts,
};

/// How long a yes to an action is good.
const YES_HOLDS: Duration = Duration::from_secs(60);

/// Noes in a row, within the time of a cool-down, after which the user is asked about nobody for as
/// long: programs without end could take their turns.
const ENOUGH: usize = 8;

/// How often it is logged that an agent was turned away, and that its actions are refused.
const LOG_TURNED_AWAY: Duration = Duration::from_secs(60);
const LOG_REFUSED: Duration = Duration::from_secs(1);

/// Refusals of the last minutes that are kept; beyond this, those that are over are forgotten.
const MAX_CALM: usize = 1_024;

/// What the app has chosen.
pub(crate) struct Settings {
    pub(crate) app: String,
    pub(crate) texts: Texts,
    pub(crate) has_prompt: bool,
    pub(crate) remembers_unproven: bool,
    pub(crate) hold: Duration,
    pub(crate) retry_after: Duration,
    /// After a no.
    pub(crate) cool_down: Duration,
    /// After a question was waved away, and after a no to an action.
    pub(crate) rest: Duration,
}

/// To be done outside the lock, in order.
pub(crate) enum Effect {
    Show(QuestionId, Words),
    Withdraw(QuestionId),
    Tell(Text),
    /// What is held back of these is to be judged again.
    Answered(HashSet<u64>),
    /// Something was told.
    Wake,
}

/// To be done on the disk.
#[derive(Debug, PartialEq)]
pub(crate) enum Job {
    Save(Rule),
    Remove(RuleId, String),
}

/// A rule, and how long it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// To revoke it by.
    pub id: RuleId,
    /// What was decided, about whom.
    pub rule: Rule,
    /// Whether it is on the disk, or ends when the app quits.
    pub stored: bool,
}

/// A connection, as the app can show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// Who.
    pub who: Who,
    /// What it has been let in to.
    pub admitted: Vec<Scope>,
    /// Whether an action of it is being performed.
    pub acting: bool,
}

/// A yes to one action, not used up yet.
struct Yes {
    key: Key,
    act: Act,
    given: Duration,
}

/// Why an agent is not asked about just now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calm {
    /// The user said no.
    No,
    /// The user waved the question away.
    Rest,
}

#[derive(Default)]
struct Use {
    count: u64,
    last: u64,
}

pub(crate) struct State {
    pub(crate) settings: Settings,
    clock: Arc<dyn Clock>,
    mode: Mode,
    locked_down: bool,
    connections: HashMap<u64, Known>,
    /// As they are on the disk.
    stored: HashMap<RuleId, Rule>,
    /// On their way to the disk, or refused by it.
    unsaved: HashMap<RuleId, Rule>,
    /// Until the app quits.
    run: HashMap<RuleId, Rule>,
    /// Revoked, and maybe still on the disk.
    removed: HashSet<RuleId>,
    used: HashMap<RuleId, Use>,
    /// By looks and scope: why, and until when.
    calm: HashMap<(String, Scope), (Calm, Duration)>,
    /// When the user said no to an agent, since the last yes.
    noes: Vec<Duration>,
    /// Until when the user is asked about nobody.
    enough: Duration,
    /// Until when agents whose action was refused are not asked about another.
    refused: HashMap<Key, Duration>,
    /// By looks: when it was last logged that one was turned away.
    turned_away: HashMap<String, Duration>,
    questions: Questions,
    yeses: Vec<Yes>,
    listeners: Listeners,
    problems: Vec<Problem>,
    pub(crate) audit: Option<Audit>,
    pub(crate) effects: VecDeque<Effect>,
    pub(crate) dispatching: bool,
    pub(crate) jobs: VecDeque<Job>,
    pub(crate) stopping: bool,
    pub(crate) stopped: bool,
    /// Why nothing can be saved, where that is so.
    no_disk: Option<String>,
}

impl State {
    pub(crate) fn new(settings: Settings, mode: Mode, clock: Arc<dyn Clock>) -> Self {
        Self {
            settings,
            clock,
            locked_down: mode == Mode::Lockdown,
            mode,
            connections: HashMap::new(),
            stored: HashMap::new(),
            unsaved: HashMap::new(),
            run: HashMap::new(),
            removed: HashSet::new(),
            used: HashMap::new(),
            calm: HashMap::new(),
            noes: Vec::new(),
            enough: Duration::ZERO,
            refused: HashMap::new(),
            turned_away: HashMap::new(),
            questions: Questions::default(),
            yeses: Vec::new(),
            listeners: Listeners::default(),
            problems: Vec::new(),
            audit: None,
            effects: VecDeque::new(),
            dispatching: false,
            jobs: VecDeque::new(),
            stopping: false,
            stopped: false,
            no_disk: None,
        }
    }

    // Who comes and goes.

    pub(crate) fn knows(&self, connection: u64) -> bool {
        self.connections.contains_key(&connection)
    }

    pub(crate) fn meet(&mut self, request: &Request, agent: Agent) {
        let known = Known::new(&self.settings.app, request, agent);
        let who = known.who(request.connection);
        self.connections.insert(request.connection, known);
        self.tell(Notice::Connected { who });
    }

    pub(crate) fn go(&mut self, connection: u64) {
        let Some(gone) = self.connections.remove(&connection) else {
            return;
        };
        let who = gone.who(connection);
        if !gone.admitted.is_empty() {
            self.log("gone", &who, []);
        }
        self.tell(Notice::Gone { who });
        if self.connections.values().any(|other| other.key == gone.key) {
            return;
        }
        self.yeses.retain(|yes| yes.key != gone.key);
        self.withdraw(|question| question.key == gone.key);
        self.advance();
    }

    /// Whether there is anybody from whom a revocation would take something.
    pub(crate) fn is_watched(&self) -> bool {
        self.connections
            .values()
            .any(|known| known.channel == Channel::External)
    }

    // What becomes of a request.

    pub(crate) fn check(&mut self, request: &Request) -> Decision {
        let standing = self.judge(request);
        if standing == Standing::Allow
            && let Some(known) = self.connections.get_mut(&request.connection)
            && known.admitted.insert(request.scope)
        {
            let who = known.who(request.connection);
            let scope = json!(scope_word(request.scope));
            self.log("admitted", &who, [("scope", scope)]);
        }
        standing.into()
    }

    fn judge(&self, request: &Request) -> Standing {
        match (self.connections.get(&request.connection), request.channel) {
            _ if self.locked_down => standing(Mode::Lockdown, None),
            (_, Channel::InApp) => Standing::Allow,
            // Nobody has looked who it is: it is nobody.
            (None, Channel::External) => standing(self.mode, None),
            (Some(known), Channel::External) => self.standing(known, request.scope),
        }
    }

    fn standing(&self, known: &Known, scope: Scope) -> Standing {
        if self.locked_down {
            return standing(Mode::Lockdown, None);
        }
        if known.channel == Channel::InApp {
            return Standing::Allow;
        }
        if known.revoked {
            return Standing::Deny("its leave was taken back");
        }
        let remembered = self.remembered(known, scope);
        let standing = standing(self.mode, remembered);
        match standing {
            Standing::Ask | Standing::Allow
                if remembered.is_none() && self.calm(known, scope) == Some(Calm::No) =>
            {
                Standing::Deny("the user said no just now")
            }
            standing => standing,
        }
    }

    /// A no wins over a yes.
    fn remembered(&self, known: &Known, scope: Scope) -> Option<bool> {
        let now = self.clock.unix();
        let rules = known.rule(scope).map(|id| {
            [&self.run, &self.unsaved, &self.stored]
                .into_iter()
                .filter_map(|rules| rules.get(id))
                .filter(|rule| rule.holds(now))
                .map(|rule| rule.allow)
                .collect::<Vec<_>>()
        });
        let once = known.once.contains(&scope).then_some(true);
        rules.unwrap_or_default().into_iter().chain(once).min()
    }

    fn calm(&self, known: &Known, scope: Scope) -> Option<Calm> {
        let (calm, until) = self.calm.get(&(known.agent.looks().to_owned(), scope))?;
        (self.clock.elapsed() < *until).then_some(*calm)
    }

    fn calm_down(&mut self, looks: &str, scope: Scope, calm: Calm) {
        let now = self.clock.elapsed();
        if self.calm.len() >= MAX_CALM {
            self.calm.retain(|_, (_, until)| now < *until);
        }
        let length = match calm {
            Calm::No => self.settings.cool_down,
            Calm::Rest => self.settings.rest,
        };
        self.calm.insert(
            (looks.to_owned(), scope),
            (calm, now.saturating_add(length)),
        );
    }

    // Asking about an agent.

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
        let looks = (agent.looks().to_owned(), request.scope);
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
    fn answers(&self, agent: &Agent, scope: Scope) -> Vec<Answer> {
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
    fn has_changed(&self, agent: &Agent, scope: Scope) -> bool {
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

    fn told_answer(&mut self, question: &Pending, answer: Option<Answer>) {
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
    fn count(&mut self, answer: Option<Answer>) {
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
    fn settle(
        &mut self,
        key: &Key,
        scope: Scope,
        agent: &Agent,
        askers: &HashSet<u64>,
        answer: Option<Answer>,
    ) {
        match answer {
            None => self.calm_down(agent.looks(), scope, Calm::Rest),
            Some(Answer::No) => self.calm_down(agent.looks(), scope, Calm::No),
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

    fn remember(&mut self, scope: Scope, agent: &Agent, answer: Answer) {
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
                None => self.jobs.push_back(Job::Save(rule)),
            }
        } else {
            self.run.insert(id, rule);
        }
        self.tell(Notice::RulesChanged);
    }

    fn forget_earlier(&mut self, rule: &Rule) {
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

    // Asking about one action.

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

    fn refuse(&mut self, key: Key) {
        let now = self.clock.elapsed();
        if self.refused.len() >= MAX_CALM {
            self.refused.retain(|_, until| now < *until);
        }
        self.refused
            .insert(key, now.saturating_add(self.settings.rest));
    }

    // What is done.

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
        let who = known.who(request.connection);
        match outcome {
            "consent_denied" => {
                if !std::mem::replace(&mut known.turned_away, true) {
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
    fn log_turned_away(&mut self, request: &Request, who: &Who) {
        let Some(known) = self.connections.get(&request.connection) else {
            return;
        };
        let now = self.clock.elapsed();
        let looks = known.agent.looks().to_owned();
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
    fn log_act(&mut self, request: &Request, who: &Who, outcome: &'static str) {
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

    // Taking back. Each answers the connections that are refused from here on.

    /// `None`: there is no such rule.
    pub(crate) fn revoke(&mut self, id: &RuleId) -> Option<HashSet<u64>> {
        if !self.forget(id) {
            return None;
        }
        self.tell(Notice::RulesChanged);
        Some(self.cut(|known| known.has_rule(id)))
    }

    pub(crate) fn revoke_all(&mut self) -> HashSet<u64> {
        for Remembered { id, .. } in self.rules() {
            self.forget(&id);
        }
        self.tell(Notice::RulesChanged);
        self.cut(|_| true)
    }

    /// Takes everything back from the agent of this connection, and does not ask about it again
    /// for a while. `None`: there is no such connection.
    pub(crate) fn stop(&mut self, connection: u64) -> Option<HashSet<u64>> {
        let known = self.connections.get(&connection)?;
        let (key, looks) = (known.key.clone(), known.agent.looks().to_owned());
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
        for scope in SCOPES {
            self.calm_down(&looks, scope, Calm::No);
        }
        self.tell(Notice::RulesChanged);
        Some(self.cut(|known| known.key == key))
    }

    pub(crate) fn lock_down(&mut self, on: bool) -> HashSet<u64> {
        if self.locked_down == on {
            return HashSet::new();
        }
        self.locked_down = on;
        self.log_own("lockdown", [("on", json!(on))]);
        self.tell(Notice::Lockdown { on });
        if !on {
            return HashSet::new();
        }
        self.yeses.clear();
        self.withdraw(|_| true);
        self.cut(|_| true)
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) -> HashSet<u64> {
        let mut cut = self.lock_down(mode == Mode::Lockdown);
        self.mode = mode;
        cut.extend(self.sweep());
        self.advance();
        cut
    }

    pub(crate) fn is_locked_by_mode(&self) -> bool {
        self.mode == Mode::Lockdown
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.locked_down {
            true => Mode::Lockdown,
            false => self.mode,
        }
    }

    /// Ends what nothing allows any more: a day is over, a rule was removed from outside.
    pub(crate) fn sweep(&mut self) -> HashSet<u64> {
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
        self.cut_these(&over);
        over
    }

    fn cut(&mut self, meant: impl Fn(&Known) -> bool) -> HashSet<u64> {
        let these: HashSet<u64> = self
            .connections
            .iter()
            .filter(|(_, known)| known.channel == Channel::External && meant(known))
            .map(|(connection, _)| *connection)
            .collect();
        self.cut_these(&these);
        these
    }

    fn cut_these(&mut self, these: &HashSet<u64>) {
        let mut cut = Vec::new();
        let mut keys = HashSet::new();
        for (connection, known) in &mut self.connections {
            if these.contains(connection) && !std::mem::replace(&mut known.revoked, true) {
                known.once.clear();
                keys.insert(known.key.clone());
                cut.push(known.who(*connection));
            }
        }
        self.yeses.retain(|yes| !keys.contains(&yes.key));
        self.withdraw(|question| these.contains(&question.connection));
        for who in cut {
            self.log("revoked", &who, []);
            self.tell(Notice::Revoked { who });
        }
        self.advance();
    }

    /// Whether there was such a rule.
    fn forget(&mut self, id: &RuleId) -> bool {
        let run = self.run.remove(id);
        let unsaved = self.unsaved.remove(id);
        let stored = self.stored.remove(id);
        self.used.remove(id);
        let on_disk = unsaved.or(stored);
        let name = run
            .as_ref()
            .or(on_disk.as_ref())
            .map(|rule| rule.name.clone());
        if on_disk.is_some() && self.no_disk.is_none() {
            self.removed.insert(id.clone());
            self.jobs
                .push_back(Job::Remove(id.clone(), name.clone().unwrap_or_default()));
        }
        name.is_some()
    }

    // What the disk says.

    /// Nobody will do the jobs.
    pub(crate) fn has_no_disk(&mut self, why: String) {
        self.stopped = true;
        self.no_disk = Some(why);
    }

    /// Takes over what was found on the disk. Whoever is refused from here on.
    pub(crate) fn loaded(&mut self, loaded: Loaded) -> HashSet<u64> {
        let removed = &self.removed;
        let stored: HashMap<RuleId, Rule> = loaded
            .rules
            .into_iter()
            .filter(|rule| rule.app == self.settings.app)
            .map(|rule| (rule.id(), rule))
            .filter(|(id, _)| !removed.contains(id))
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
        self.stored = stored;
        // What is not noted there yet.
        for (id, used) in &self.used {
            if let Some(rule) = self.stored.get_mut(id) {
                rule.uses = rule.uses.saturating_add(used.count);
                rule.last_used = rule.last_used.max(Some(used.last));
            }
        }
        for problem in loaded.problems {
            if self.problems.contains(&problem) {
                continue;
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
        if !changed {
            return HashSet::new();
        }
        self.tell(Notice::RulesChanged);
        let theirs = self.connections.keys().copied().collect();
        self.effects.push_back(Effect::Answered(theirs));
        let cut = self.sweep();
        // A question that a rule has answered meanwhile needs no answer.
        let connections = &self.connections;
        let moot: HashSet<Key> = connections
            .values()
            .filter(|known| self.standing(known, Scope::Surface) != Standing::Ask)
            .map(|known| known.key.clone())
            .collect();
        self.withdraw(|question| {
            question.scope() == Some(Scope::Surface) && moot.contains(&question.key)
        });
        self.advance();
        cut
    }

    pub(crate) fn saved(&mut self, rule: &Rule, result: Result<(), String>) {
        let id = rule.id();
        match result {
            Ok(()) => {
                // Revoked meanwhile, it is not brought back; changed meanwhile, that is on its way.
                if self
                    .unsaved
                    .get(&id)
                    .is_some_and(|now| now.since == rule.since && now.allow == rule.allow)
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
            Err(why) => {
                let named = [
                    ("agent", Piece::theirs(&rule.name)),
                    ("why", Piece::Ours(why.clone())),
                ];
                let text = Text::fill(&self.settings.texts.not_saved, &named);
                self.effects.push_back(Effect::Tell(text));
                self.tell(Notice::NotSaved { rule: id, why });
            }
        }
    }

    pub(crate) fn was_removed(&mut self, id: &RuleId, name: &str, result: Result<(), String>) {
        match result {
            Ok(()) => drop(self.removed.remove(id)),
            // For this run it stays revoked.
            Err(why) => {
                let named = [
                    ("agent", Piece::theirs(name)),
                    ("why", Piece::Ours(why.clone())),
                ];
                let text = Text::fill(&self.settings.texts.not_revoked, &named);
                self.effects.push_back(Effect::Tell(text));
                self.tell(Notice::NotRemoved {
                    rule: id.clone(),
                    why,
                });
            }
        }
    }

    /// How often rules were used since this was last asked, to be noted in their files.
    pub(crate) fn take_uses(&mut self) -> Vec<(RuleId, u64, u64)> {
        let used = std::mem::take(&mut self.used);
        used.into_iter()
            .map(|(id, used)| (id, used.count, used.last))
            .collect()
    }

    pub(crate) fn has_uses(&self) -> bool {
        !self.used.is_empty()
    }

    pub(crate) fn not_logged(&mut self, why: String) {
        let named = [("why", Piece::Ours(why.clone()))];
        let text = Text::fill(&self.settings.texts.not_logged, &named);
        self.effects.push_back(Effect::Tell(text));
        self.tell(Notice::NotLogged { why });
    }

    // What the app can show.

    pub(crate) fn rules(&self) -> Vec<Remembered> {
        let now = self.clock.unix();
        let all = [
            (&self.run, false),
            (&self.unsaved, false),
            (&self.stored, true),
        ];
        let mut rules: Vec<Remembered> = all
            .into_iter()
            .flat_map(|(rules, stored)| rules.iter().map(move |rule| (rule, stored)))
            .filter(|((_, rule), _)| rule.holds(now))
            .map(|((id, rule), stored)| Remembered {
                id: id.clone(),
                rule: rule.clone(),
                stored,
            })
            .collect();
        rules.sort_by(|a, b| {
            (&a.rule.name, a.rule.since, &a.id).cmp(&(&b.rule.name, b.rule.since, &b.id))
        });
        rules
    }

    pub(crate) fn connected(&self) -> Vec<Connected> {
        let mut all: Vec<Connected> = self
            .connections
            .iter()
            .filter(|(_, known)| !known.revoked)
            .map(|(connection, known)| Connected {
                who: known.who(*connection),
                admitted: SCOPES
                    .into_iter()
                    .filter(|scope| known.admitted.contains(scope))
                    .collect(),
                acting: known.acting > 0,
            })
            .collect();
        all.sort_by_key(|connected| connected.who.connection);
        all
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.problems.clone()
    }

    pub(crate) fn listen(&mut self) -> std::sync::mpsc::Receiver<Notice> {
        self.listeners.listen()
    }

    pub(crate) fn is_open(&self, id: QuestionId) -> bool {
        self.questions.is_open(id)
    }

    // Within.

    fn of(&self, key: &Key) -> HashSet<u64> {
        let all = self.connections.iter();
        all.filter(|(_, known)| known.key == *key)
            .map(|(connection, _)| *connection)
            .collect()
    }

    fn withdraw(&mut self, meant: impl Fn(&Pending) -> bool) {
        for (question, was_open) in self.questions.take_all(meant) {
            if was_open {
                self.effects.push_back(Effect::Withdraw(question.id));
            }
            self.tell(Notice::Withdrawn {
                question: question.id,
            });
            let theirs = self.of(&question.key);
            self.effects.push_back(Effect::Answered(theirs));
        }
    }

    /// Opens the next question, if none is open.
    fn advance(&mut self) {
        let mut questions = std::mem::take(&mut self.questions);
        let mut moot = Vec::new();
        let still = |question: &Pending| match question.scope() {
            None => true,
            Some(scope) => self
                .connections
                .values()
                .filter(|known| known.key == question.key)
                .any(|known| self.standing(known, scope) == Standing::Ask),
        };
        let next = questions.advance(still, |question| moot.push(question));
        self.questions = questions;
        for question in moot {
            self.tell(Notice::Withdrawn {
                question: question.id,
            });
            let theirs = self.of(&question.key);
            self.effects.push_back(Effect::Answered(theirs));
        }
        if let Some((id, words)) = next {
            self.effects.push_back(Effect::Show(id, words));
        }
    }

    fn tell(&mut self, notice: Notice) {
        self.listeners.tell(&notice);
        if !matches!(self.effects.back(), Some(Effect::Wake)) {
            self.effects.push_back(Effect::Wake);
        }
    }

    fn log<'a>(&self, event: &str, who: &Who, rest: impl IntoIterator<Item = (&'a str, Value)>) {
        let mut fields = vec![("connection", json!(who.connection))];
        if who.channel == Channel::InApp {
            fields.push(("in_app", json!(true)));
        }
        let named = [
            ("name", &who.name),
            ("claimed", &who.claimed),
            ("agent", &who.agent),
        ];
        for (field, value) in named {
            if let Some(value) = value {
                fields.push((field, json!(word(value))));
            }
        }
        fields.extend(rest);
        self.line(event, fields);
    }

    fn log_own<const N: usize>(&self, event: &str, rest: [(&str, Value); N]) {
        self.line(event, rest);
    }

    fn line<'a>(&self, event: &str, fields: impl IntoIterator<Item = (&'a str, Value)>) {
        if let Some(audit) = &self.audit {
            let fields = fields.into_iter();
            let rest: Map<String, Value> = fields
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            audit.line(utc(self.clock.unix()), event, rest);
        }
    }
}
