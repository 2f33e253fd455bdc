//! A developer's inspector on the app's socket: its own methods, its own scope at the gate, and
//! nothing of it in what agents are told.
//!
//! Each request has a thread of its own while it is answered: there are few of them, what the UI
//! thread answers is large, and neither the reader nor the writer of the connection waits for it.

mod known;
mod log;
mod to_wire;
mod waiting;

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use agent_core::{AuthGate, Channel, Decision, Request, Scope, request_number};
use agent_inspect::{Ask, Hide, Inspectable, Job, ReadConsent, Told};
use agent_wire::{
    Args, Failure, Outcome, RequestId, Verb, error_line, inspector,
    limits::{self, names},
    words,
};

use crate::{
    connection::Connection,
    inspector::Inspector,
    outbox::NotTaken,
    server::Shared,
    sync::lock,
    tell::{CANCELLED, Tell},
    to_wire::milliseconds,
};
use known::{Found, Wanted};

pub(crate) use log::Log;
pub(crate) use waiting::{Stopped, Waiting};

/// What a server has for inspectors, where the app armed them.
pub(crate) struct Desk {
    app: Arc<dyn Inspectable>,
    consent: Option<Arc<ReadConsent>>,
    log: Arc<Log>,
    known: Mutex<known::Known>,
    /// How many requests are being answered.
    busy: AtomicUsize,
    /// The connections that were let in.
    inspectors: Mutex<HashSet<u64>>,
    /// For which of them something is drawn over the app.
    highlighting: Mutex<Option<u64>>,
}

impl Desk {
    /// `None`: they are not armed.
    pub(crate) fn new(inspector: Inspector) -> Option<Arc<Self>> {
        Some(Arc::new(Self {
            app: inspector.app?,
            consent: inspector.consent,
            log: inspector.log,
            known: Mutex::default(),
            busy: AtomicUsize::new(0),
            inspectors: Mutex::default(),
            highlighting: Mutex::default(),
        }))
    }

    /// The same gate, which notes what agents ask and are answered.
    pub(crate) fn listening(&self, gate: AuthGate) -> AuthGate {
        self.log.clone().listening(gate)
    }

    /// The gate has let this connection in as an inspector's.
    pub(crate) fn admit(&self, connection: u64) {
        let mut inspectors = lock(&self.inspectors);
        if inspectors.insert(connection) {
            self.app.set_inspectors(inspectors.len());
        }
    }

    /// It is over, or the user took its leave away.
    pub(crate) fn forget(&self, connection: u64) {
        let mut inspectors = lock(&self.inspectors);
        if inspectors.remove(&connection) {
            self.app.set_inspectors(inspectors.len());
        }
        drop(inspectors);
        self.end_highlight(connection);
    }

    /// Something is drawn over the app for this inspector now, or nothing for anybody.
    fn highlights(&self, connection: u64, node: Option<u64>) {
        *lock(&self.highlighting) = node.map(|_| connection);
        // It may have gone meanwhile.
        let gone = !lock(&self.inspectors).contains(&connection);
        if gone {
            self.end_highlight(connection);
        }
    }

    /// What is drawn for this one goes with it, though others stay.
    fn end_highlight(&self, connection: u64) {
        let mut highlighting = lock(&self.highlighting);
        if *highlighting != Some(connection) {
            return;
        }
        *highlighting = None;
        drop(highlighting);
        let request = Request {
            number: request_number(),
            channel: Channel::External,
            connection,
            claimed_name: None,
            peer: None,
            verb: agent_core::Verb::DescribeUi,
            scope: Scope::Inspector,
            target: None,
        };
        // Nobody asks for it: it is the end of what somebody was let do.
        let gate = AuthGate::serve(|_| Decision::Allow);
        let until = Instant::now() + limits::LONGEST_WAIT;
        self.app
            .submit(Job::new(Ask::Highlight(None), request, gate, until, drop));
    }

    /// Sees to a request that the gate has let in.
    pub(crate) fn serve(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        connection: &Arc<Connection>,
        id: RequestId,
        row: &'static Verb,
        args: &Args<'_>,
        tell: &Tell,
    ) -> Result<(), Failure> {
        let deadline = Duration::from_millis(args.timeout_ms());
        let Some(question) = Question::new(row, args) else {
            return Err(Failure::unknown_method(row.name));
        };
        if self.busy.fetch_add(1, Ordering::AcqRel) >= limits::INSPECTOR_REQUESTS {
            self.busy.fetch_sub(1, Ordering::AcqRel);
            return Err(Failure::limit(names::REQUESTS, None));
        }
        connection.outbox.wait_elsewhere();
        let answering = Answering {
            desk: self.clone(),
            connection: connection.clone(),
            id: id.clone(),
        };
        let waiting = Waiting::default();
        match connection.outbox.inspect(&id, &waiting) {
            Ok(()) => {}
            Err(NotTaken::Cancelled) => {
                tell.done(CANCELLED);
                return Ok(());
            }
            Err(NotTaken::Revoked | NotTaken::TooMany) => return Err(Failure::consent_denied()),
        }
        let (gate, tell) = (shared.gate.clone(), tell.clone());
        let spawned = shared.threads.spawn("agent:inspect".into(), move || {
            let asked = tell.request.as_ref().clone();
            let asks = Asks {
                asked,
                gate,
                patience: deadline,
                waiting,
            };
            let mut answer = answering.desk.answer(&id, question, &asks);
            // From here on neither the client nor the user takes it back.
            answering.connection.outbox.inspected(&id);
            match asks.waiting.stopped() {
                Some(Stopped::Cancelled) => return tell.done(CANCELLED),
                Some(Stopped::Revoked) => answer = Err(Failure::consent_denied()),
                None => {}
            }
            let (line, outcome) = match answer {
                Ok(line) => (line, Outcome::Allowed.as_str()),
                Err(failure) => (error_line(Some(&id), &failure), failure.reason.as_str()),
            };
            tell.done(outcome);
            answering.connection.reply_to(&id, line);
        });
        spawned.map_err(|_| Failure::internal())
    }

    fn answer(&self, id: &RequestId, question: Question, asks: &Asks) -> Result<Vec<u8>, Failure> {
        let ask = match &question {
            Question::Log { after, limit } => {
                return Ok(to_wire::log(id, &self.log, *after, *limit));
            }
            Question::Consent => {
                let read = self.consent.as_ref();
                return Ok(to_wire::consent(id, read.map(|read| read())));
            }
            Question::Tree(wanted) => {
                let known = lock(&self.known);
                if known.can_go_on(wanted) {
                    let page = known.page(wanted);
                    drop(known);
                    return Ok(to_wire::tree(id, page));
                }
                Ask::Tree
            }
            Question::App(ask) => ask.clone(),
            Question::Lint => Ask::Tree,
        };
        let told = self.told(ask.clone(), asks)?;
        if let Ask::Highlight(node) = ask {
            self.highlights(asks.asked.connection, node);
        }
        match (question, told) {
            (Question::Tree(wanted), Told::Tree(look)) => {
                self.log.heard(&look.events);
                let found = Found::by(look);
                let mut known = lock(&self.known);
                known.take(found);
                let page = known.page(&wanted);
                // What is large is written down when others may go on.
                drop(known);
                Ok(to_wire::tree(id, page))
            }
            (Question::Lint, Told::Tree(look)) => {
                self.log.heard(&look.events);
                let there = look.nodes.iter().map(|node| node.handle).collect();
                let mut known = lock(&self.known);
                known.see(&there, look.visible());
                let findings = agent_inspect::lint(&look, known.visible());
                Ok(to_wire::lint(id, findings))
            }
            (_, told) => to_wire::line(id, &ask, told),
        }
    }

    /// Asks the UI thread, and waits for it.
    fn told(&self, ask: Ask, asks: &Asks) -> Result<Told, Failure> {
        let begun = Instant::now();
        let until = begun + asks.patience;
        let (asked, gate) = (asks.asked.clone(), asks.gate.clone());
        let waiting = asks.waiting.clone();
        let deliver = move |told| waiting.tell(told);
        let job = Job::new(ask, asked, gate, until, deliver);
        self.app.submit(job.unless(asks.waiting.over()));
        match asks.waiting.answer(until) {
            Some(told) => told.map_err(to_wire::failure),
            None => Err(Failure::app_busy(milliseconds(begun.elapsed()), false)),
        }
    }
}

/// Who asks, and how long they wait.
struct Asks {
    asked: Request,
    gate: AuthGate,
    patience: Duration,
    waiting: Waiting,
}

/// However answering ends, there is room for the next.
struct Answering {
    desk: Arc<Desk>,
    connection: Arc<Connection>,
    id: RequestId,
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.desk.busy.fetch_sub(1, Ordering::AcqRel);
        self.connection.outbox.inspected(&self.id);
        self.connection.outbox.answered_elsewhere();
    }
}

/// What a method with these parameters asks.
enum Question {
    Tree(Wanted),
    Lint,
    Log { after: u64, limit: usize },
    Consent,
    App(Ask),
}

impl Question {
    fn new(row: &Verb, args: &Args<'_>) -> Option<Self> {
        let node = args.integer("node");
        let name = row.name.strip_prefix(inspector::NAMESPACE)?;
        Some(match name {
            "tree" => Self::Tree(Wanted {
                since: args.integer("since"),
                from: args.integer("from"),
                limit: limit(args, limits::INSPECTOR_NODES),
            }),
            "node" => Self::App(Ask::Node(node?)),
            "highlight" => Self::App(Ask::Highlight(node)),
            "pick" => Self::App(Ask::Pick),
            "screenshot" => Self::App(Ask::Screenshot {
                node,
                hide: match args.text("hide") {
                    Some(words::HIDE_UNEXPOSED) => Hide::Unexposed,
                    _ => Hide::Secrets,
                },
            }),
            "agent_view" => Self::App(Ask::View(node?)),
            "lint" => Self::Lint,
            "consent" => Self::Consent,
            "log" => Self::Log {
                after: args.integer("after").unwrap_or(0),
                limit: limit(args, limits::INSPECTOR_LOG),
            },
            _ => return None,
        })
    }
}

/// How many are asked for; the most there can be, if that is not said.
fn limit(args: &Args<'_>, most: usize) -> usize {
    let limit = args.integer("limit").map(usize::try_from);
    limit.and_then(Result::ok).unwrap_or(most)
}
