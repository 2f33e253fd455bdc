//! Who is connected, and what each has leave to do.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use agent_core::{Channel, Request, Scope};

use crate::{evidence::Agent, notice::Who, rule::RuleId};

/// Which agent: what makes two connections one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// It was identified.
    Program(Arc<str>),
    /// It was not: it is this connection, and no other.
    Connection(u64),
    /// A part of the app.
    InApp,
}

/// A connection.
pub(crate) struct Known {
    pub(crate) key: Key,
    pub(crate) agent: Arc<Agent>,
    pub(crate) channel: Channel,
    pub(crate) claimed: Option<String>,
    /// The rules that it would have, a scope each.
    rules: HashMap<Scope, RuleId>,
    /// What the user let it in to, for as long as it is connected.
    pub(crate) once: HashSet<Scope>,
    /// What it was let in to, by whatever: should that end, it is cut off.
    pub(crate) admitted: HashSet<Scope>,
    /// It is refused from here on.
    pub(crate) revoked: bool,
    /// That it was turned away was told.
    pub(crate) turned_away: bool,
    /// What was refused, whatever it was.
    pub(crate) refusals: Logged,
    /// What was read, by its node.
    pub(crate) reads: Logged,
}

/// How often it is logged that what an agent asks for is refused, and that it reads a node.
const LOG_REFUSED: Duration = Duration::from_secs(1);
const LOG_READ: Duration = Duration::from_secs(60);

/// Words of which it is kept when they were last logged.
const MAX_LOGGED: usize = 64;

/// What of a connection is in the log, so that it isn't there again for a while.
pub(crate) struct Logged {
    every: Duration,
    at: HashMap<String, Duration>,
    skipped: u64,
}

impl Logged {
    fn every(every: Duration) -> Self {
        Self {
            every,
            at: HashMap::new(),
            skipped: 0,
        }
    }

    /// `None`: this one is not to be logged. Else how many were not since the last that was.
    pub(crate) fn skipped_before(&mut self, word: &str, now: Duration) -> Option<u64> {
        let is_fresh = |at: Duration| now.saturating_sub(at) < self.every;
        let known = self.at.get(word).copied();
        if known.is_none() && self.at.len() >= MAX_LOGGED {
            self.at.retain(|_, at| is_fresh(*at));
        }
        let full = known.is_none() && self.at.len() >= MAX_LOGGED;
        if full || known.is_some_and(is_fresh) {
            self.skipped += 1;
            return None;
        }
        self.at.insert(word.to_owned(), now);
        Some(std::mem::take(&mut self.skipped))
    }
}

/// All that there are.
pub(crate) const SCOPES: [Scope; 3] = [Scope::Surface, Scope::Full, Scope::Inspector];

impl Known {
    pub(crate) fn new(app: &str, request: &Request, agent: Agent) -> Self {
        let key = match (request.channel, agent.id()) {
            (Channel::InApp, _) => Key::InApp,
            (Channel::External, Some(id)) => Key::Program(id.into()),
            (Channel::External, None) => Key::Connection(request.connection),
        };
        let rules = match &key {
            Key::Program(id) => SCOPES
                .into_iter()
                .map(|scope| (scope, RuleId::of(app, scope, id)))
                .collect(),
            Key::Connection(_) | Key::InApp => HashMap::new(),
        };
        Self {
            key,
            agent: Arc::new(agent),
            channel: request.channel,
            claimed: request.claimed_name.clone(),
            rules,
            once: HashSet::new(),
            admitted: HashSet::new(),
            revoked: false,
            turned_away: false,
            refusals: Logged::every(LOG_REFUSED),
            reads: Logged::every(LOG_READ),
        }
    }

    /// Its rule for a scope, if it can have one.
    pub(crate) fn rule(&self, scope: Scope) -> Option<&RuleId> {
        self.rules.get(&scope)
    }

    pub(crate) fn has_rule(&self, id: &RuleId) -> bool {
        self.rules.values().any(|rule| rule == id)
    }

    pub(crate) fn who(&self, connection: u64) -> Who {
        Who {
            connection,
            channel: self.channel,
            name: self.agent.name(),
            claimed: self.claimed.clone(),
            agent: self.agent.id().map(str::to_owned),
        }
    }
}
