//! What the gate knows: a snapshot in memory, and how it changes. Nothing in here waits, reads a
//! file or calls into the app; what is to be done outside comes out as [`Effect`]s and [`Job`]s.

mod acting;
mod asking;
mod confirming;
mod disk;
mod revoking;

pub(crate) use revoking::Cut;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use agent_core::{Channel, Decision, Request, Scope};
use serde_json::{Map, Value, json};

use crate::{
    agents::{Key, Known, SCOPES},
    audit::{Audit, word},
    clock::{Clock, utc},
    decide::{Mode, Standing, standing},
    evidence::Agent,
    notice::{Listeners, Notice, Who},
    prompt::QuestionId,
    questions::{Act, Pending, Questions, Words},
    rule::{Rule, RuleId, word as scope_word},
    shown::Text,
    store::Problem,
    texts::Texts,
};

/// How long a yes to an action is good.
const YES_HOLDS: Duration = Duration::from_secs(60);

/// Noes in a row, within the time of a cool-down, after which the user is asked about nobody for as
/// long: programs without end could take their turns.
const ENOUGH: usize = 8;

/// How often it is logged that an agent was turned away.
const LOG_TURNED_AWAY: Duration = Duration::from_secs(60);

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
    /// All of this app's that are there.
    RemoveAll,
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
    /// Actions that have begun and are not over, by their request's number: whose.
    acting: HashMap<u64, Who>,
    /// As they are on the disk.
    stored: HashMap<RuleId, Rule>,
    /// On their way to the disk, or refused by it.
    unsaved: HashMap<RuleId, Rule>,
    /// Until the app quits.
    run: HashMap<RuleId, Rule>,
    /// Revoked, and maybe still on the disk: by the names of whom they were about.
    removed: HashMap<RuleId, String>,
    /// All that is on the disk was revoked, and maybe is still there.
    removing_all: bool,
    /// What is to be saved or removed may never be.
    rules_hang: bool,
    used: HashMap<RuleId, Use>,
    /// By looks and scope: why, and until when.
    calm: HashMap<(Arc<str>, Scope), (Calm, Duration)>,
    /// When the user said no to an agent, since the last yes.
    noes: Vec<Duration>,
    /// Until when the user is asked about nobody.
    enough: Duration,
    /// Until when agents whose action was refused are not asked about another.
    refused: HashMap<Key, Duration>,
    /// By looks: when it was last logged that one was turned away.
    turned_away: HashMap<Arc<str>, Duration>,
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
            acting: HashMap::new(),
            stored: HashMap::new(),
            unsaved: HashMap::new(),
            run: HashMap::new(),
            removed: HashMap::new(),
            removing_all: false,
            rules_hang: false,
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
        // A question goes with the last connection that asked; until then it is one of theirs.
        let moot: HashSet<QuestionId> = self.questions.left(connection).into_iter().collect();
        self.withdraw(|question| moot.contains(&question.id));
        if !self.connections.values().any(|other| other.key == gone.key) {
            self.yeses.retain(|yes| yes.key != gone.key);
            self.withdraw(|question| question.key == gone.key);
        }
        self.advance();
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.elapsed()
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
        // A file may be of a time when the app remembered what can't be proven, too.
        let counts = known.agent.is_proven() || self.settings.remembers_unproven;
        let theirs = |rules: &HashMap<RuleId, Rule>| {
            let rule = rules.get(known.rule(scope)?)?;
            rule.holds(now).then_some(rule.allow)
        };
        let kept = [&self.unsaved, &self.stored].into_iter().filter_map(theirs);
        let kept = kept.filter(|allow| counts || !allow);
        let answers = theirs(&self.run).into_iter().chain(kept);
        let once = known.once.contains(&scope).then_some(true);
        answers.chain(once).min()
    }

    fn calm(&self, known: &Known, scope: Scope) -> Option<Calm> {
        let (calm, until) = self.calm.get(&(known.agent.looks().clone(), scope))?;
        (self.clock.elapsed() < *until).then_some(*calm)
    }

    fn calm_down(&mut self, looks: Arc<str>, scope: Scope, calm: Calm) {
        let now = self.clock.elapsed();
        if self.calm.len() >= MAX_CALM {
            self.calm.retain(|_, (_, until)| now < *until);
        }
        let length = match calm {
            Calm::No => self.settings.cool_down,
            Calm::Rest => self.settings.rest,
        };
        self.calm
            .insert((looks, scope), (calm, now.saturating_add(length)));
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
                acting: self
                    .acting
                    .values()
                    .any(|who| who.connection == *connection),
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

    /// Takes back the questions to which a rule or the mode is the answer by now.
    pub(crate) fn withdraw_moot(&mut self) {
        let moot: HashSet<(Key, Scope)> = self
            .connections
            .values()
            .flat_map(|known| SCOPES.map(|scope| (known, scope)))
            .filter(|(known, scope)| self.standing(known, *scope) != Standing::Ask)
            .map(|(known, scope)| (known.key.clone(), scope))
            .collect();
        self.withdraw(|question| {
            let scope = question.scope();
            scope.is_some_and(|scope| moot.contains(&(question.key.clone(), scope)))
        });
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
