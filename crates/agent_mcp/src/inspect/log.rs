//! What happened in the app and what agents asked, for a developer to follow: kept in memory,
//! bounded, and never a text of the app's or a parameter of an agent's.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, Weak},
    time::SystemTime,
};

use agent_core::{
    AuthGate, Confirmed, Connections, Decision, Event, Pending, Policy, Question, Request, Scope,
};
use agent_wire::{
    inspector::{Heard, LogEntry},
    limits::INSPECTOR_LOG,
};

use crate::{sync::lock, to_wire::milliseconds};

/// The log.
#[derive(Default)]
pub(crate) struct Log(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    kept: VecDeque<LogEntry>,
    last: u64,
}

impl Log {
    pub(super) fn heard(&self, events: &[Event]) {
        for event in events {
            self.note(Heard::Event {
                verb: event.verb.word().into(),
                source: event.source.as_ref().to_owned(),
                role: event.role.word().into(),
            });
        }
    }

    /// The same gate, which notes what was asked and answered.
    pub(crate) fn listening(self: Arc<Self>, gate: AuthGate) -> AuthGate {
        AuthGate::of(Arc::new(Overheard { gate, log: self }))
    }

    fn note(&self, what: Heard) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let at_ms = now.map_or(0, milliseconds);
        let mut entries = lock(&self.0);
        entries.last += 1;
        let entry = entries.last;
        if entries.kept.len() == INSPECTOR_LOG {
            entries.kept.pop_front();
        }
        entries.kept.push_back(LogEntry { entry, at_ms, what });
    }

    /// What came after an entry, the number of the last there is, and how many are not kept.
    pub(super) fn after(&self, after: u64, limit: usize) -> (Vec<LogEntry>, u64, u64) {
        let entries = lock(&self.0);
        let first = entries.kept.front().map_or(entries.last + 1, |it| it.entry);
        let dropped = first.saturating_sub(after.saturating_add(1));
        let newer = entries.kept.iter().filter(|it| it.entry > after);
        (newer.take(limit).cloned().collect(), entries.last, dropped)
    }
}

/// Decides nothing: what the app's own policy says is what is done.
struct Overheard {
    gate: AuthGate,
    log: Arc<Log>,
}

impl Policy for Overheard {
    fn check(&self, request: &Request) -> Decision {
        self.gate.check(request)
    }

    fn met(&self, request: &Request) {
        self.gate.met(request);
    }

    fn ask(&self, request: &Request) -> Option<Pending> {
        self.gate.ask(request)
    }

    fn confirm(&self, question: &Question) -> Confirmed {
        self.gate.confirm(question)
    }

    fn acting(&self, request: &Request) {
        self.gate.acting(request);
    }

    fn done(&self, request: &Request, outcome: &'static str) {
        if request.scope != Scope::Inspector {
            self.log.note(Heard::Call {
                connection: request.connection,
                client: request.claimed_name.clone(),
                verb: request.verb.word().into(),
                target: request.target.clone(),
                outcome: outcome.into(),
            });
        }
        self.gate.done(request, outcome);
    }

    fn gone(&self, connection: u64) {
        self.gate.gone(connection);
    }

    fn attach(&self, server: Weak<dyn Connections>) {
        self.gate.attach(server);
    }
}

#[cfg(test)]
mod tests {
    use agent_core::{Channel, Reason, Verb};

    use super::*;

    fn request(scope: Scope) -> Request {
        Request {
            number: 1,
            channel: Channel::External,
            connection: 7,
            claimed_name: Some("a".into()),
            peer: None,
            verb: Verb::Click,
            scope,
            target: Some("save".into()),
        }
    }

    #[test]
    fn what_agents_asked_is_noted_and_the_gate_decides_as_before() {
        let log: Arc<Log> = Arc::default();
        let gate = log.clone().listening(AuthGate::deny_all());
        assert_eq!(
            gate.check(&request(Scope::Surface)),
            Decision::Deny(Reason::NoPolicy)
        );
        gate.done(&request(Scope::Surface), "consent_denied");
        gate.done(&request(Scope::Inspector), "allowed");
        let (entries, last, dropped) = log.after(0, 10);
        assert_eq!((entries.len(), last, dropped), (1, 1, 0));
        assert_eq!(
            entries[0].what,
            Heard::Call {
                connection: 7,
                client: Some("a".into()),
                verb: "click".into(),
                target: Some("save".into()),
                outcome: "consent_denied".into(),
            }
        );
    }

    #[test]
    fn rule_10_the_log_keeps_so_many_and_says_what_is_gone() {
        let log = Log::default();
        for _ in 0..INSPECTOR_LOG + 5 {
            log.note(Heard::Event {
                verb: "clicked".into(),
                source: "save".into(),
                role: "button".into(),
            });
        }
        let (entries, last, dropped) = log.after(2, usize::MAX);
        assert_eq!(entries.len(), INSPECTOR_LOG);
        assert_eq!((last, dropped), (INSPECTOR_LOG as u64 + 5, 3));
        assert_eq!(log.after(last, 10).0, Vec::new());
    }
}
