//! One request, judged in the order of the wire before anything looks at the UI: by the reader as
//! it comes in, and again by the writer if it was held back while the user was asked.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use agent_core::{Answer, Channel, Decision, Job, Pending, ReplyTo, Scope, Verb, request_number};
use agent_wire::{
    Args, Failure, Outcome, Reason, Request, RequestId, Unsubscribed, error_line, limits::names,
    result_line,
};

use crate::{
    connection::Connection,
    from_wire,
    outbox::{Access, Held, NotTaken},
    server::{Listens, Shared, no_subscription},
    sync::lock,
    tell::{CANCELLED, Tell},
    to_wire,
};

/// Judges the requests of one connection.
pub(crate) struct Judge<'a> {
    pub(crate) connection: &'a Arc<Connection>,
    pub(crate) shared: &'a Arc<Shared>,
}

/// What is known of a request that was held back.
#[derive(Clone, Copy)]
struct Again {
    /// The number that the policy knows it by.
    number: u64,
    /// Until when it may be held back for a question of its own.
    until: Option<Instant>,
}

impl Again {
    fn of(held: &Held) -> Self {
        Self {
            number: held.number,
            until: held.until,
        }
    }
}

/// What the gate came to.
enum Passed {
    /// Go on.
    On,
    /// The user is being asked.
    Asked(Pending),
}

impl Judge<'_> {
    /// Sees to a request as it comes in, on the reader's thread (or on MCP's, where that asks in
    /// its client's name).
    pub(crate) fn request(&self, request: Request, bytes: usize, now: Instant) {
        let id = request.id.clone();
        let judged = match self.connection.outbox.hear(Some(&id), now) {
            true => Err(in_flight_already()),
            false => self.judge(request, bytes, None),
        };
        self.refuse(&id, judged);
    }

    fn refuse(&self, id: &RequestId, judged: Result<(), Failure>) {
        if let Err(failure) = judged {
            self.connection.reply_to(id, error_line(Some(id), &failure));
        }
    }

    /// Judges again what is held back, on the writer's thread: in the order in which it came, up
    /// to what the user still has to answer.
    pub(crate) fn held_back(&self) {
        let outbox = &self.connection.outbox;
        let mut waiting: Vec<Scope> = Vec::new();
        while let Some(held) = outbox.resume(&waiting) {
            let id = held.request.id.clone();
            let again = Again::of(&held);
            self.refuse(&id, self.judge(held.request, held.bytes, Some(again)));
            waiting.extend(outbox.resumed());
        }
    }

    /// In the wire's order: id, method, the form of the parameters, gate, armed; what they name
    /// and the UI are for the turn of the UI thread that it gets. `again`: if it was
    /// held back before.
    fn judge(&self, request: Request, bytes: usize, again: Option<Again>) -> Result<(), Failure> {
        #[cfg(feature = "inspector")]
        if let Some(desk) = &self.shared.desk
            && let Some(row) = agent_wire::inspector::method(&request.method)
        {
            return self.inspect(desk, row, request, bytes, again);
        }
        let found = agent_wire::Verb::named(&request.method)
            .and_then(|row| Some((row, Verb::from_word(row.name)?)));
        let Some((row, verb)) = found else {
            return Err(Failure::unknown_method(&request.method));
        };
        let args = row.check(request.params.as_ref())?;
        from_wire::misfit(verb, &args)?;
        if verb == Verb::Hello
            && let Some(name) = args.text("name")
        {
            self.connection.claim(name);
        }
        let full = from_wire::is_full(&args);
        let scope = if full { Scope::Full } else { Scope::Surface };
        let number = again.map_or_else(request_number, |again| again.number);
        let facts = self.facts(number, verb, scope, from_wire::names(&args));
        let tell = self.not_revoked(facts, again.is_some())?;
        let judged = match self.pass_gate(&tell.request) {
            Ok(Passed::Asked(pending)) => self.hold(request, bytes, &tell, pending, again),
            // Its turn is after those of its scope that wait for their answer.
            Ok(Passed::On)
                if again.is_none()
                    && of_the_ui(verb)
                    && self.connection.outbox.is_holding(scope) =>
            {
                self.hold_behind(request, bytes, &tell)
            }
            Ok(Passed::On) => self.admitted(request.id, bytes, row, &args, &tell),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &judged {
            tell.done(failure.reason.as_str());
        }
        judged
    }

    /// The same for a developer's inspector, in a scope of its own: to the policy each of its
    /// requests is a description.
    #[cfg(feature = "inspector")]
    fn inspect(
        &self,
        desk: &Arc<crate::inspect::Desk>,
        row: &'static agent_wire::Verb,
        request: Request,
        bytes: usize,
        again: Option<Again>,
    ) -> Result<(), Failure> {
        let args = row.check(request.params.as_ref())?;
        let number = again.map_or_else(request_number, |again| again.number);
        let facts = self.facts(number, Verb::DescribeUi, Scope::Inspector, None);
        let tell = self.not_revoked(facts, again.is_some())?;
        let judged = match self.pass_gate(&tell.request) {
            Ok(Passed::Asked(pending)) => self.hold(request, bytes, &tell, pending, again),
            Ok(Passed::On) => {
                desk.serve(self.shared, self.connection, request.id, row, &args, &tell)
            }
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &judged {
            tell.done(failure.reason.as_str());
        }
        judged
    }

    /// Nobody asks the gate for a connection whose leave was taken back. The policy knows of a
    /// request that was judged before, and hears of its end.
    fn not_revoked(&self, facts: agent_core::Request, again: bool) -> Result<Tell, Failure> {
        let tell = Tell::new(&self.shared.gate, facts);
        if self.connection.outbox.access() != Access::Revoked {
            return Ok(tell);
        }
        let failure = Failure::consent_denied();
        if again {
            tell.done(failure.reason.as_str());
        }
        Err(failure)
    }

    fn facts(
        &self,
        number: u64,
        verb: Verb,
        scope: Scope,
        target: Option<&str>,
    ) -> agent_core::Request {
        agent_core::Request {
            number,
            channel: Channel::External,
            connection: self.connection.id,
            claimed_name: self.connection.name(),
            peer: self.connection.peer.clone(),
            verb,
            scope,
            target: target.map(str::to_owned),
        }
    }

    /// The client asks to listen by a message of MCP's: the request that this comes to is judged
    /// on a thread that serves all of them, and the policy may take its time to meet somebody.
    #[cfg(feature = "mcp")]
    pub(crate) fn meet_listener(&self) {
        if self.connection.outbox.access() == Access::None {
            self.meet(&self.facts(request_number(), Verb::Subscribe, Scope::Surface, None));
        }
    }

    fn meet(&self, request: &agent_core::Request) {
        if !self.connection.met.swap(true, Ordering::AcqRel) {
            self.shared.gate.met(request);
            // That may have taken long: nothing begins for a client that went meanwhile.
            if self.connection.has_hung_up() {
                self.connection.close();
            }
        }
    }

    /// Asks the gate, and has the question put if nobody has decided yet.
    fn pass_gate(&self, request: &agent_core::Request) -> Result<Passed, Failure> {
        let (connection, shared) = (self.connection, self.shared);
        // Nothing static comes here: a client that only connected is nobody to meet.
        self.meet(request);
        loop {
            let cuts = connection.outbox.cuts();
            match shared.gate.check(request) {
                Decision::Allow => {}
                Decision::Deny(_) => return Err(Failure::consent_denied()),
                Decision::Ask => {
                    return match shared.gate.ask(request) {
                        Some(pending) => Ok(Passed::Asked(pending)),
                        // Nobody is there to ask the user: without an answer it is a no.
                        None => Err(Failure::consent_denied()),
                    };
                }
            }
            match connection.outbox.admit(cuts) {
                Some(Access::None | Access::Admitted) => {
                    shared.count(connection, request.scope);
                    return Ok(Passed::On);
                }
                Some(Access::Revoked) => return Err(Failure::consent_denied()),
                None => {}
            }
        }
    }

    /// Holds a request back for the user's answer, as long as the policy bears it; or sends its
    /// client away for now.
    fn hold(
        &self,
        request: Request,
        bytes: usize,
        tell: &Tell,
        pending: Pending,
        again: Option<Again>,
    ) -> Result<(), Failure> {
        let now = Instant::now();
        let over = now.checked_add(pending.hold).unwrap_or(now);
        // A question that is put again doesn't begin anew.
        let until = again
            .and_then(|again| again.until)
            .map_or(over, |until| until.min(over));
        let later = || to_wire::pending(pending.retry_after);
        if until <= now {
            return Err(later());
        }
        let held = self.held(request, bytes, tell, Some(until), pending.retry_after);
        match self.put_by(held, tell) {
            Err(NotTaken::TooMany) => Err(later()),
            Err(why) => not_taken(why, tell),
            Ok(()) => {
                // The answer may have come before it was held.
                if self.shared.gate.check(&tell.request) != Decision::Ask {
                    self.connection.outbox.look_again();
                }
                Ok(())
            }
        }
    }

    fn hold_behind(&self, request: Request, bytes: usize, tell: &Tell) -> Result<(), Failure> {
        let retry_after = agent_wire::limits::UI_DEADLINE;
        let held = self.held(request, bytes, tell, None, retry_after);
        self.put_by(held, tell).or_else(|why| not_taken(why, tell))
    }

    fn held(
        &self,
        request: Request,
        bytes: usize,
        tell: &Tell,
        until: Option<Instant>,
        retry_after: Duration,
    ) -> Held {
        Held {
            request,
            number: tell.request.number,
            bytes,
            until,
            retry_after,
            _charge: self.shared.budget.charge(bytes),
        }
    }

    fn put_by(&self, held: Held, tell: &Tell) -> Result<(), NotTaken> {
        let max = self.shared.limits.requests_in_flight;
        self.connection.outbox.hold(tell, held, max)
    }

    /// What the gate has let in.
    fn admitted(
        &self,
        id: RequestId,
        bytes: usize,
        row: &'static agent_wire::Verb,
        args: &Args<'_>,
        tell: &Tell,
    ) -> Result<(), Failure> {
        let (connection, shared) = (self.connection, self.shared);
        // Not when it came: to meet somebody may have taken a while.
        let now = Instant::now();
        let verb = tell.request.verb;
        if tell.request.scope == Scope::Full && !shared.app.armed_full {
            return Err(Failure::not_armed());
        }
        if verb == Verb::Hello {
            connection.reply_to(&id, result_line(&id, &shared.hello()));
            tell.done(Outcome::Allowed.as_str());
            return Ok(());
        }
        if !of_the_ui(verb) {
            return self.of_subscription(id, args, tell, now);
        }
        if verb == Verb::Subscribe
            && lock(&shared.hub).count(connection.id) >= agent_wire::limits::SUBSCRIPTIONS
        {
            return Err(Failure::limit(names::SUBSCRIPTIONS, None));
        }
        if shared.backend.unsupported().contains(verb.set()) {
            return Err(Failure::unsupported(row.name));
        }
        let Some(call) = from_wire::call(verb, args) else {
            return Err(Failure::unknown_method(row.name));
        };
        let permit = match &connection.bucket {
            Some(bucket) if verb.acts() => Some(bucket.take(now).map_err(too_fast)?),
            _ => None,
        };
        let window_was_there = call
            .window()
            .is_some_and(|window| shared.backend.has_window(window));
        let deadline = now + Duration::from_millis(args.timeout_ms());
        let name = verb.acts().then(|| to_wire::request_name(&id)).flatten();
        let max = shared.limits.requests_in_flight;
        let taken = match connection.outbox.ask(id, tell, now, deadline, None, max) {
            Ok(taken) => taken,
            Err(why) => return not_taken(why, tell),
        };
        // Who waits for a condition is answered when that time is over, by the writer; a busy
        // UI thread has the usual time to look.
        let deadline = match verb {
            Verb::WaitFor => deadline + agent_wire::limits::UI_DEADLINE,
            _ => deadline,
        };
        let listens = (verb == Verb::Subscribe).then(|| {
            let most = args.integer("queue").map_or(usize::MAX, |most| {
                usize::try_from(most).unwrap_or(usize::MAX)
            });
            Listens {
                filter: from_wire::filter(args),
                most: most.min(agent_wire::limits::SUBSCRIPTION_QUEUE),
                push: args.boolean("push") == Some(true),
                from: args.integer("from"),
            }
        });
        let charge = shared.budget.charge(bytes);
        let (to, told, tells) = (connection.clone(), shared.clone(), tell.clone());
        shared.backend.submit(Job {
            call,
            name,
            request: tell.request.as_ref().clone(),
            gate: shared.gate.clone(),
            view: agent_core::View {
                names_unexposed: shared.app.armed_full,
                window_was_there,
            },
            deadline,
            ticket: taken.ticket,
            reply: ReplyTo::new(move |answer| {
                if let Some(permit) = permit
                    && to_wire::performed(&answer)
                {
                    permit.spend();
                }
                tells.done(answer.word());
                match (answer, listens) {
                    (Answer::Heard { revision }, Some(listens)) => {
                        told.subscribe(&to, listens, taken.serial, revision);
                    }
                    (answer, _) => to.answer(taken.serial, answer),
                }
                drop(charge);
            }),
        });
        // Only now, so that the UI thread is woken first.
        if taken.tell_writer {
            connection.outbox.tell_writer();
        }
        Ok(())
    }

    /// Fetches from a subscription of this connection, or ends it: that needs no UI.
    fn of_subscription(
        &self,
        id: RequestId,
        args: &Args<'_>,
        tell: &Tell,
        now: Instant,
    ) -> Result<(), Failure> {
        let (connection, shared) = (self.connection, self.shared);
        let subscription = from_wire::subscription(args).ok_or_else(no_subscription)?;
        if tell.request.verb == Verb::Unsubscribe {
            if !shared.unsubscribe(connection.id, Some(subscription)) {
                return Err(no_subscription());
            }
            // Who waits for its next event hears that there will be none.
            connection.outbox.news(subscription, false);
            connection.reply_to(&id, result_line(&id, &Unsubscribed {}));
            tell.done(Outcome::Allowed.as_str());
            return Ok(());
        }
        let has_news = || lock(&shared.hub).has_news(connection.id, subscription);
        // A replay can be longer than a queue, and than a reply should be.
        let most = args
            .integer("max")
            .and_then(|most| usize::try_from(most).ok())
            .unwrap_or(agent_wire::limits::SUBSCRIPTION_QUEUE);
        let wait = Duration::from_millis(args.integer("wait_ms").unwrap_or(0));
        if has_news().ok_or_else(no_subscription)? || wait.is_zero() {
            connection.reply_to(&id, shared.poll(connection, &id, subscription, most));
            tell.done(Outcome::Allowed.as_str());
            return Ok(());
        }
        let poll = Some((subscription, most));
        let max = shared.limits.requests_in_flight;
        let outbox = &connection.outbox;
        let taken = match outbox.ask(id, tell, now, now + wait, poll, max) {
            Ok(taken) => taken,
            Err(why) => return not_taken(why, tell),
        };
        // What came between the look and the waiting is there now.
        if has_news() != Some(false) {
            outbox.news(subscription, false);
        } else if taken.tell_writer {
            outbox.tell_writer();
        }
        Ok(())
    }
}

/// Whether it takes its turn on the UI thread.
fn of_the_ui(verb: Verb) -> bool {
    !matches!(verb, Verb::Hello | Verb::PollEvents | Verb::Unsubscribe)
}

pub(crate) fn in_flight_already() -> Failure {
    Failure::new(
        Reason::InvalidRequest,
        "a request with this `id` is in flight already; give each its own",
    )
}

fn not_taken(why: NotTaken, tell: &Tell) -> Result<(), Failure> {
    match why {
        NotTaken::Revoked => Err(Failure::consent_denied()),
        NotTaken::TooMany => Err(Failure::limit(names::REQUESTS, None)),
        NotTaken::Cancelled => {
            tell.done(CANCELLED);
            Ok(())
        }
    }
}

fn too_fast(wait: Duration) -> Failure {
    let wait = u64::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
    Failure::limit(names::ACTIONS, Some(wait.max(1)))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixStream, sync::Mutex};

    use agent_core::{AuthGate, Policy, RevokedUntil};

    use super::*;
    use crate::{connection::Identity, inspector::Inspector, limits::Limits, server::Config};

    /// Nobody has decided; and all that it is told of requests that are over.
    #[derive(Default)]
    struct Undecided(Mutex<Vec<&'static str>>);

    impl Policy for Undecided {
        fn check(&self, _: &agent_core::Request) -> Decision {
            Decision::Ask
        }

        fn ask(&self, _: &agent_core::Request) -> Option<Pending> {
            Some(Pending {
                retry_after: Duration::from_secs(1),
                hold: Duration::from_secs(600),
            })
        }

        fn done(&self, _: &agent_core::Request, outcome: &'static str) {
            lock(&self.0).push(outcome);
        }
    }

    #[test]
    fn what_is_revoked_between_two_judgements_is_told_of() {
        let policy = Arc::<Undecided>::default();
        let app = agent_headless::Headless::start("judge", |_| {});
        let shared = Shared::new(Config {
            app: "demo".into(),
            name: "Demo".into(),
            gate: AuthGate::of(policy.clone()),
            backend: Arc::new(app.handle()),
            armed_full: false,
            inspector: Inspector::default(),
            limits: Limits::default(),
        })
        .unwrap();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let connection = Connection::new(ours, Identity::default(), 1024, |_| None);
        let connection = Arc::new(connection);
        let judge = Judge {
            connection: &connection,
            shared: &shared,
        };
        let request = Request {
            id: RequestId::Int(1),
            method: "describe_ui".into(),
            params: None,
        };
        judge.request(request, 0, Instant::now());
        let held = connection.outbox.resume(&[]).unwrap();
        connection.outbox.revoke(RevokedUntil::Gone);
        let again = Again::of(&held);
        let judged = judge.judge(held.request, held.bytes, Some(again));
        assert_eq!(judged, Err(Failure::consent_denied()));
        assert_eq!(*lock(&policy.0), ["consent_denied"]);
    }
}
