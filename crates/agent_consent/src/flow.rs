//! The whole of it, asked as the gate is asked: agents come, users answer, rules are kept.

use std::{
    collections::HashSet,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_core::{
    Action, AuthGate, Channel, Confirmed, Connections, Decision, Question, Request, RevokedUntil,
    Scope, Verb,
};
use agent_test_support::TempDir;
use agent_test_support::eventually;

use crate::{
    Agent, Answer, Consent, Mode, Notice, Scripted, Store, TestClock,
    audit::{Audit, Sink},
    consent::Builder,
};

const NOON: u64 = 1_800_000_000;

/// What the server would be told.
#[derive(Default)]
struct Server {
    revoked: Mutex<HashSet<u64>>,
    /// Of these, who stays out as long as connected.
    for_good: Mutex<HashSet<u64>>,
    answered: Mutex<Vec<u64>>,
    connections: Vec<u64>,
}

impl Connections for Server {
    fn revoke(&self, which: &dyn Fn(u64) -> bool, until: RevokedUntil) {
        let these = self.connections.iter().copied().filter(|it| which(*it));
        let these: Vec<u64> = these.collect();
        self.revoked.lock().unwrap().extend(&these);
        if until == RevokedUntil::Gone {
            self.for_good.lock().unwrap().extend(these);
        }
    }

    fn answered(&self, which: &dyn Fn(u64) -> bool) {
        let these = self.connections.iter().copied().filter(|it| which(*it));
        self.answered.lock().unwrap().extend(these);
    }
}

/// An app with a user of answers.
struct App {
    folder: TempDir,
    clock: Arc<TestClock>,
    user: Scripted,
    consent: Consent,
    gate: AuthGate,
    server: Arc<Server>,
}

impl App {
    /// Ends it, and reads its log: the whole text, and its lines.
    fn logged(self) -> (String, Vec<serde_json::Value>) {
        let Self {
            folder,
            consent,
            gate,
            ..
        } = self;
        drop((consent, gate));
        let text = std::fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines = lines.collect();
        (text, lines)
    }

    fn new() -> Self {
        Self::with(|builder| builder)
    }

    fn with(set: impl FnOnce(Builder) -> Builder) -> Self {
        Self::answering([], set)
    }

    fn answering<const N: usize>(
        answers: [Answer; N],
        set: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        Self::again(agent_test_support::folder(), answers, set)
    }

    /// The app is started anew, in the same folder.
    fn again<const N: usize>(
        folder: TempDir,
        answers: [Answer; N],
        set: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let clock = Arc::new(TestClock::at(NOON));
        let user = Scripted::answering(answers.map(Some));
        let builder = Consent::builder("org.example.orders")
            .prompt(user.clone())
            .clock(clock.clone())
            .rules_dir(folder.path().join("rules"))
            .log(folder.path().join("log.jsonl"));
        let consent = set(builder).build();
        let gate = consent.gate();
        let server = Arc::new(Server {
            connections: (0..2_000).collect(),
            ..Server::default()
        });
        let weak: std::sync::Weak<dyn Connections> =
            Arc::downgrade(&(server.clone() as Arc<dyn Connections>));
        gate.attach(weak);
        Self {
            folder,
            clock,
            user,
            consent,
            gate,
            server,
        }
    }

    /// The program of this name connects.
    fn connect(&self, connection: u64, program: &str) -> Request {
        self.connect_as(connection, Agent::pretend(&format!("/opt/{program}"), "1"))
    }

    fn connect_as(&self, connection: u64, agent: Agent) -> Request {
        let request = request(connection);
        self.consent.pretend(&request, agent);
        self.gate.met(&request);
        request
    }

    /// As the server does: a request is judged, and asked about if nobody has decided.
    fn request(&self, request: &Request) -> &'static str {
        let outcome = match self.gate.check(request) {
            Decision::Allow => "allowed",
            Decision::Deny(_) => "consent_denied",
            Decision::Ask => match self.gate.ask(request) {
                Some(pending) => {
                    assert!(!pending.retry_after.is_zero());
                    "consent_pending"
                }
                None => "consent_denied",
            },
        };
        self.gate.done(request, outcome);
        outcome
    }

    fn settled(&self) {
        self.settled_but_for(0);
    }

    /// But for so many that end with the run.
    fn settled_but_for(&self, run: usize) {
        eventually("the rules are saved", || {
            let rules = self.consent.rules();
            let stored = rules.iter().filter(|rule| rule.stored).count();
            rules.len() - stored == run && self.rule_files().len() == stored
        });
    }

    fn rule_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("rules")) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|it| it == "json"))
            .collect()
    }
}

fn request(connection: u64) -> Request {
    Request {
        number: agent_core::request_number(),
        channel: Channel::External,
        connection,
        claimed_name: None,
        peer: None,
        verb: Verb::DescribeUi,
        scope: Scope::Surface,
        target: None,
    }
}

fn full(request: &Request) -> Request {
    Request {
        scope: Scope::Full,
        ..request.clone()
    }
}

fn click(request: &Request) -> Request {
    Request {
        verb: Verb::Click,
        target: Some("save".into()),
        ..request.clone()
    }
}

fn question(request: &Request, node: &str, seen: u64) -> Question {
    Question {
        request: click(request),
        window: "Account".into(),
        node: node.into(),
        name: "Erase everything".into(),
        action: Action::Click,
        seen,
    }
}

#[test]
fn the_first_request_asks_and_the_answer_holds() {
    let check = |answer, now: &str, again: &str, other: &str, next_run: &str| {
        let app = App::new();
        let agent = app.connect(1, "agent");
        assert_eq!(app.user.shown(), 0, "connecting asks nobody");
        assert_eq!(app.request(&agent), "consent_pending");
        assert!(app.user.answer(answer));
        assert_eq!(app.request(&agent), now, "{answer:?}");
        app.gate.gone(1);
        assert_eq!(app.request(&app.connect(2, "agent")), again, "{answer:?}");
        app.user.dismiss();
        assert_eq!(app.request(&app.connect(3, "other")), other, "{answer:?}");
        let App {
            folder,
            consent,
            gate,
            ..
        } = app;
        drop((consent, gate));
        let app = App::again(folder, [], |builder| builder);
        assert_eq!(
            app.request(&app.connect(1, "agent")),
            next_run,
            "{answer:?}"
        );
    };
    let (yes, no, ask) = ("allowed", "consent_denied", "consent_pending");
    check(Answer::Once, yes, ask, ask, ask);
    check(Answer::UntilQuit, yes, yes, ask, ask);
    check(Answer::Day, yes, yes, ask, yes);
    check(Answer::Always, yes, yes, ask, yes);
    check(Answer::No, no, no, ask, ask);
    check(Answer::Never, no, no, ask, no);
}

#[test]
fn a_yes_for_a_day_is_over_after_a_day() {
    let app = App::answering([Answer::Day], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    assert_eq!(app.request(&agent), "allowed");
    app.clock.pass(Duration::from_secs(86_399));
    assert_eq!(app.request(&agent), "allowed");
    app.clock.pass(Duration::from_secs(1));
    assert_ne!(app.request(&agent), "allowed");
    // What it listens to ends as well, though it asks for nothing.
    eventually("the connection is cut", || {
        app.server.revoked.lock().unwrap().contains(&1)
    });
    assert_eq!(app.consent.rules(), []);
}

#[test]
fn a_no_is_left_in_peace_for_a_while() {
    let app = App::answering([Answer::No], |builder| {
        builder.cool_down(Duration::from_secs(60))
    });
    let agent = app.connect(1, "agent");
    assert_eq!(app.request(&agent), "consent_pending");
    for _ in 0..20 {
        assert_eq!(app.request(&agent), "consent_denied");
    }
    // Nor does it help to come again.
    app.gate.gone(1);
    let again = app.connect(2, "agent");
    assert_eq!(app.request(&again), "consent_denied");
    app.clock.pass(Duration::from_secs(61));
    assert_eq!(app.request(&again), "consent_pending");
    assert_eq!(app.user.shown(), 2);
}

#[test]
fn who_cannot_be_identified_gets_no_second_question_by_coming_again() {
    let app = App::answering([Answer::No], |builder| builder);
    for connection in 0..100 {
        let agent = app.connect_as(connection, Agent::unidentified());
        assert_ne!(app.request(&agent), "allowed");
        app.gate.gone(connection);
    }
    assert_eq!(app.user.shown(), 1);
}

#[test]
fn what_is_waved_away_is_neither_yes_nor_no() {
    let app = App::with(|builder| builder.rest(Duration::from_secs(10)));
    let agent = app.connect(1, "agent");
    app.request(&agent);
    assert!(app.user.dismiss());
    // Told to come back, not refused; and the question is not there again at once.
    assert_eq!(app.request(&agent), "consent_pending");
    assert_eq!((app.user.open(), app.user.shown()), (0, 1));
    assert_eq!(app.consent.rules(), []);
    app.clock.pass(Duration::from_secs(10));
    assert_eq!(app.request(&agent), "consent_pending");
    assert_eq!((app.user.open(), app.user.shown()), (1, 2));
}

#[test]
fn rule_10_many_requests_of_many_agents_make_one_question_each_in_order() {
    let app = App::new();
    let agents: Vec<Request> = (0..5)
        .map(|n| app.connect(n, &format!("agent{n}")))
        .collect();
    std::thread::scope(|threads| {
        // The first agent is first; then all at once, from several threads.
        assert_eq!(app.request(&agents[0]), "consent_pending");
        for agent in &agents {
            for _ in 0..10 {
                threads.spawn(|| {
                    for _ in 0..5 {
                        assert_eq!(app.request(agent), "consent_pending");
                    }
                });
            }
        }
    });
    let mut asked = Vec::new();
    for n in 0..5 {
        // Never two at once.
        assert_eq!((app.user.open(), app.user.shown()), (1, n + 1));
        assert!(app.user.answer(Answer::Once));
        asked.push(app.user.headings()[n].clone());
    }
    assert_eq!((app.user.open(), app.user.shown()), (0, 5));
    assert!(asked[0].contains("agent0"), "{asked:?}");
    assert_eq!(asked.iter().collect::<HashSet<_>>().len(), 5);
    for agent in &agents {
        assert_eq!(app.request(agent), "allowed");
    }
}

#[test]
fn the_queue_is_in_the_order_of_asking() {
    let app = App::new();
    let agents: Vec<Request> = (0..5)
        .map(|n| app.connect(n, &format!("agent{n}")))
        .collect();
    for n in [3, 0, 4, 1, 2] {
        app.request(&agents[n]);
        app.request(&agents[3]);
    }
    for _ in 0..5 {
        app.user.answer(Answer::No);
    }
    let order: Vec<usize> = app
        .user
        .headings()
        .iter()
        .map(|heading| {
            (0..5)
                .find(|n| heading.contains(&format!("agent{n}")))
                .unwrap()
        })
        .collect();
    assert_eq!(order, [3, 0, 4, 1, 2]);
}

#[test]
fn rule_10_more_agents_than_can_wait_are_told_to_come_back() {
    let app = App::new();
    for n in 0..100 {
        let agent = app.connect(n, &format!("agent{n}"));
        assert_eq!(app.request(&agent), "consent_pending");
    }
    let mut answered = 0;
    while app.user.answer(Answer::Once) {
        answered += 1;
    }
    assert_eq!(answered, 33);
}

#[test]
fn rule_10_programs_without_end_make_no_questions_without_end() {
    for said in [Some(Answer::No), Some(Answer::Never), None] {
        let app = App::with(|builder| builder.cool_down(Duration::from_secs(60)));
        for n in 0..200 {
            let agent = app.connect(n, &format!("agent{n}"));
            assert_eq!(app.request(&agent), "consent_pending", "{said:?}");
            match said {
                Some(answer) => app.user.answer(answer),
                None => app.user.dismiss(),
            };
        }
        assert_eq!((app.user.open(), app.user.shown()), (0, 8));
        app.clock.pass(Duration::from_secs(60));
        assert_eq!(
            app.request(&app.connect(500, "agent500")),
            "consent_pending"
        );
        assert_eq!(app.user.open(), 1);
    }
}

#[test]
fn a_yes_in_between_shows_that_the_user_cares() {
    let app = App::new();
    for n in 0..50 {
        app.request(&app.connect(n, &format!("agent{n}")));
        let answer = if n % 5 == 0 { Answer::Once } else { Answer::No };
        assert!(app.user.answer(answer), "{n}");
    }
    assert_eq!(app.user.shown(), 50);
}

#[test]
fn a_thousand_that_come_and_go_ask_nothing() {
    let app = App::new();
    for n in 0..1_000 {
        app.connect(n, "agent");
        app.gate.gone(n);
    }
    assert_eq!(app.user.shown(), 0);
    assert_eq!(app.consent.connected(), []);
    assert_eq!(app.request(&app.connect(1_000, "agent")), "consent_pending");
    assert_eq!(app.user.shown(), 1);
}

#[test]
fn a_question_goes_with_the_last_connection_of_who_asked() {
    let app = App::new();
    let (first, second) = (app.connect(1, "agent"), app.connect(2, "agent"));
    let other = app.connect(3, "other");
    app.request(&first);
    app.request(&second);
    app.request(&other);
    app.gate.gone(1);
    assert_eq!((app.user.open(), app.user.withdrawn()), (1, 0));
    app.gate.gone(2);
    // The next agent's question takes its place.
    assert_eq!(
        (app.user.open(), app.user.withdrawn(), app.user.shown()),
        (1, 1, 2)
    );
    assert!(app.user.headings()[1].contains("other"));
    app.gate.gone(3);
    assert_eq!((app.user.open(), app.user.withdrawn()), (0, 2));
}

#[test]
fn a_yes_for_now_is_for_the_connections_that_asked() {
    let app = App::new();
    let [first, second, third] = [1, 2, 3].map(|n| app.connect(n, "agent"));
    app.request(&first);
    app.request(&second);
    app.user.answer(Answer::Once);
    assert_eq!(app.request(&first), "allowed");
    assert_eq!(app.request(&second), "allowed");
    assert_eq!(app.request(&third), "consent_pending");
    assert_eq!(app.user.shown(), 2);
}

#[test]
fn who_waits_is_told_that_the_answer_has_come() {
    let hold = Duration::from_secs(5);
    let app = App::with(|builder| builder.hold(hold));
    let (agent, other) = (app.connect(1, "agent"), app.connect(2, "other"));
    assert_eq!(app.gate.check(&agent), Decision::Ask);
    assert_eq!(app.gate.ask(&agent).unwrap().hold, hold);
    app.request(&other);
    assert_eq!(app.server.answered.lock().unwrap().len(), 0);
    app.user.answer(Answer::Once);
    assert_eq!(*app.server.answered.lock().unwrap(), [1]);
}

#[test]
fn a_yes_to_one_scope_is_none_to_another() {
    let app = App::new();
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.user.answer(Answer::Always);
    assert_eq!(app.request(&agent), "allowed");
    assert_eq!(app.request(&full(&agent)), "consent_pending");
    assert!(app.user.headings()[1].contains("everything"));
    // It lasts at most until the app quits.
    assert!(!app.user.answer(Answer::Always) && !app.user.answer(Answer::Day));
    assert!(app.user.answer(Answer::UntilQuit));
    assert_eq!(app.request(&full(&agent)), "allowed");
    app.settled_but_for(1);
    assert_eq!(app.rule_files().len(), 1);
}

#[test]
fn what_cannot_be_proven_is_not_offered_to_be_remembered() {
    let check = |agent: Agent, unproven: bool, offered: &[Answer]| {
        let app = App::with(|builder| match unproven {
            true => builder.remember_unproven(),
            false => builder,
        });
        let request = app.connect_as(1, agent);
        app.request(&request);
        let choices = app.user.see(|asked| {
            asked
                .choices()
                .iter()
                .map(|choice| choice.answer)
                .collect::<Vec<_>>()
        });
        assert_eq!(choices.as_deref(), Some(offered));
    };
    use Answer::{Always, Day, Never, No, Once, UntilQuit};
    check(
        Agent::pretend("/opt/agent", "1"),
        false,
        &[No, Never, Once, UntilQuit, Day, Always],
    );
    check(
        Agent::pretend("/usr/bin/node", "1"),
        false,
        &[No, Never, Once, UntilQuit],
    );
    check(
        Agent::pretend("/usr/bin/node", "1"),
        true,
        &[No, Never, Once, UntilQuit, Day, Always],
    );
    check(Agent::unidentified(), true, &[No, Once]);
}

#[test]
fn who_cannot_be_identified_shares_nothing() {
    let app = App::answering([Answer::Once], |builder| builder);
    let agent = app.connect_as(1, Agent::unidentified());
    app.request(&agent);
    assert_eq!(app.request(&agent), "allowed");
    let twin = app.connect_as(2, Agent::unidentified());
    assert_eq!(app.request(&twin), "consent_pending");
}

#[test]
fn a_program_that_changed_is_asked_about_again_and_that_is_said() {
    let app = App::answering([Answer::Always], |builder| builder);
    app.request(&app.connect(1, "agent"));
    app.gate.gone(1);
    let changed = app.connect_as(2, Agent::pretend("/opt/agent", "2"));
    assert_eq!(app.request(&changed), "consent_pending");
    let said = app.user.see(|asked| asked.details()[0].plain());
    assert_eq!(
        said.as_deref(),
        Some("It has changed since you allowed it.")
    );
    app.user.answer(Answer::Always);
    // What it was before is allowed no more.
    app.settled();
    assert_eq!(app.consent.rules().len(), 1);
    let before = app.connect(3, "agent");
    assert_eq!(app.request(&before), "consent_pending");
}

#[test]
fn what_a_client_calls_itself_is_shown_as_a_claim_and_fixed_when_it_asks() {
    let app = App::new();
    let named = |name: &str| Request {
        claimed_name: Some(name.into()),
        ..request(1)
    };
    app.connect(1, "agent");
    app.request(&named("System\nAllowed by system"));
    app.request(&named("another"));
    let said = app.user.see(|asked| {
        asked
            .details()
            .iter()
            .map(|line| line.plain())
            .collect::<Vec<_>>()
            .join("\n")
    });
    let said = said.unwrap();
    assert!(
        said.contains("It calls itself “System\\nAllowed by system”, which anybody can."),
        "{said}"
    );
    assert!(said.contains("Program: “/opt/agent”"), "{said}");
}

#[test]
fn the_mode_decides_where_nothing_is_remembered() {
    let check = |mode, expected: &str| {
        let app = App::with(|builder| builder.mode(mode));
        let agent = app.connect(1, "agent");
        assert_eq!(app.request(&agent), expected, "{mode:?}");
        assert_eq!(app.request(&full(&agent)), expected, "{mode:?}");
    };
    check(Mode::Ask, "consent_pending");
    check(Mode::AllowAll, "allowed");
    check(Mode::DenyAll, "consent_denied");
    check(Mode::Lockdown, "consent_denied");
    // Nobody is there to be asked.
    let folder = agent_test_support::folder();
    let consent = Consent::builder("a")
        .rules_dir(folder.path())
        .no_log()
        .build();
    let gate = consent.gate();
    gate.met(&request(1));
    assert_eq!(gate.check(&request(1)), Decision::Ask);
    assert_eq!(gate.ask(&request(1)), None);
}

#[test]
fn stopping_all_stops_everybody_and_nothing_is_forgotten() {
    let app = App::answering([Answer::Always], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    let other = app.connect(2, "other");
    app.request(&other);
    let inapp = Request {
        number: agent_core::request_number(),
        channel: Channel::InApp,
        ..request(3)
    };
    app.gate.met(&inapp);
    assert_eq!(app.request(&inapp), "allowed");
    app.consent.stop_all();
    assert!(app.consent.is_stopped());
    assert_eq!(app.user.open(), 0);
    for request in [&agent, &other, &inapp] {
        assert_eq!(app.request(request), "consent_denied");
    }
    assert_eq!(
        *app.server.revoked.lock().unwrap(),
        HashSet::from([1, 2, 3])
    );
    assert_eq!(app.request(&app.connect(4, "agent")), "consent_denied");
    app.consent.resume();
    assert_eq!(app.request(&inapp), "allowed");
    // The rule is there still, for the connection that was stopped and for the next.
    assert_eq!(app.request(&agent), "allowed");
    assert_eq!(app.request(&app.connect(5, "agent")), "allowed");
}

#[test]
fn a_stricter_mode_holds_for_who_is_in() {
    let app = App::with(|builder| builder.mode(Mode::AllowAll));
    let agent = app.connect(1, "agent");
    assert_eq!(app.request(&agent), "allowed");
    app.consent.set_mode(Mode::DenyAll);
    assert_eq!(app.request(&agent), "consent_denied");
    assert_eq!(*app.server.revoked.lock().unwrap(), HashSet::from([1]));
    assert!(app.server.for_good.lock().unwrap().is_empty());
    app.consent.set_mode(Mode::Lockdown);
    app.consent.resume();
    assert!(app.consent.is_stopped(), "the mode itself says so");
    app.consent.set_mode(Mode::AllowAll);
    assert_eq!(app.request(&agent), "allowed");
    assert_eq!(app.request(&app.connect(2, "agent")), "allowed");
}

#[test]
fn what_is_revoked_is_over_before_revoke_returns() {
    let app = App::answering([Answer::Always, Answer::Always], |builder| builder);
    let [first, second] = [1, 2].map(|n| app.connect(n, "agent"));
    let other = app.connect(3, "other");
    app.request(&first);
    app.request(&other);
    for request in [&first, &second, &other] {
        assert_eq!(app.request(request), "allowed");
    }
    app.settled();
    let rules = app.consent.rules();
    assert_eq!(
        rules
            .iter()
            .map(|rule| rule.rule.name.as_str())
            .collect::<Vec<_>>(),
        ["agent", "other"]
    );
    assert!(app.consent.revoke(&rules[0].id));
    assert!(!app.consent.revoke(&rules[0].id), "it is gone");
    assert_eq!(*app.server.revoked.lock().unwrap(), HashSet::from([1, 2]));
    assert_eq!(app.request(&first), "consent_denied");
    assert_eq!(app.request(&second), "consent_denied");
    assert_eq!(app.request(&other), "allowed");
    eventually("the file is removed", || app.rule_files().len() == 1);
    assert_eq!(app.request(&app.connect(4, "agent")), "consent_pending");
    app.consent.revoke_all();
    assert_eq!(app.request(&other), "consent_denied");
    eventually("all files are removed", || app.rule_files().is_empty());
}

#[test]
fn none_of_a_hundred_requests_in_flight_is_let_in_after_revoke_returns() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    for _ in 0..20 {
        let app = App::answering([Answer::Always], |builder| builder);
        let agent = app.connect(1, "agent");
        app.request(&agent);
        let (revoked, late, tried) = (
            AtomicBool::new(false),
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        );
        std::thread::scope(|threads| {
            for _ in 0..100 {
                threads.spawn(|| {
                    for _ in 0..20 {
                        // As on the UI thread: judged in the turn of the action.
                        let after = revoked.load(Ordering::SeqCst);
                        let allowed = app.gate.check(&agent) == Decision::Allow;
                        late.fetch_add(usize::from(after && allowed), Ordering::SeqCst);
                        tried.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            let rule = app.consent.rules()[0].id.clone();
            assert!(app.consent.revoke(&rule));
            revoked.store(true, Ordering::SeqCst);
        });
        assert_eq!(late.load(Ordering::SeqCst), 0);
        assert_eq!(tried.load(Ordering::SeqCst), 2_000);
    }
}

#[test]
fn everybody_allowed_by_the_mode_can_be_stopped_too() {
    let app = App::with(|builder| builder.mode(Mode::AllowAll));
    let [first, second] = [1, 2].map(|n| app.connect(n, "agent"));
    let other = app.connect(3, "other");
    for request in [&first, &second, &other] {
        assert_eq!(app.request(request), "allowed");
    }
    assert!(app.consent.stop(1));
    assert!(!app.consent.stop(77));
    assert_eq!(app.request(&second), "consent_denied");
    assert_eq!(app.request(&other), "allowed");
    // Nor is it let in by coming again at once.
    assert_eq!(app.request(&app.connect(4, "agent")), "consent_denied");
    app.consent.revoke_all();
    assert_eq!(app.request(&other), "consent_denied");
    assert_eq!(app.consent.connected(), []);
}

#[test]
fn what_is_changed_from_outside_holds_while_an_agent_is_connected() {
    let app = App::answering([Answer::Always], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    assert_eq!(app.request(&agent), "allowed");
    app.settled();
    // Another program takes it back.
    std::fs::remove_file(&app.rule_files()[0]).unwrap();
    eventually("it is cut", || {
        app.server.revoked.lock().unwrap().contains(&1)
    });
    assert_eq!(app.request(&agent), "consent_denied");
    assert_eq!(app.consent.rules(), []);
}

#[test]
fn what_was_taken_back_while_nobody_was_there_lets_nobody_in_again() {
    for _ in 0..20 {
        let app = App::answering([Answer::Always], |builder| builder);
        app.request(&app.connect(1, "agent"));
        app.settled();
        app.gate.gone(1);
        std::fs::remove_file(&app.rule_files()[0]).unwrap();
        // Not even its first request.
        assert_eq!(app.request(&app.connect(2, "agent")), "consent_pending");
    }
}

#[test]
fn what_was_said_and_taken_back_before_anybody_looked_lets_nobody_in_again() {
    let folder = agent_test_support::folder();
    let rules = folder.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    std::fs::set_permissions(&rules, std::fs::Permissions::from_mode(0o700)).unwrap();
    let app = App::again(folder, [Answer::Always], |builder| builder);
    app.request(&app.connect(1, "agent"));
    app.gate.gone(1);
    app.settled();
    // The folder is as it was when the app began.
    std::fs::remove_file(&app.rule_files()[0]).unwrap();
    assert_eq!(app.request(&app.connect(2, "agent")), "consent_pending");
}

#[test]
fn what_is_edited_to_a_no_holds_and_what_is_spoilt_counts_for_nothing() {
    let spoilt = |text: String| text.replace("\"allow\": true", "\"allow\": tru");
    let turned = |text: String| text.replace("\"allow\": true", "\"allow\": false");
    type Edit = fn(String) -> String;
    for (edit, expected) in [
        (spoilt as Edit, "consent_pending"),
        (turned as Edit, "consent_denied"),
    ] {
        let app = App::answering([Answer::Always], |builder| builder);
        let agent = app.connect(1, "agent");
        app.request(&agent);
        assert_eq!(app.request(&agent), "allowed");
        app.settled();
        let notices = app.consent.notices();
        let file = &app.rule_files()[0];
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, edit(text)).unwrap();
        eventually("it is cut", || {
            app.server.revoked.lock().unwrap().contains(&1)
        });
        assert_eq!(app.request(&app.connect(2, "agent")), expected);
        let bad = notices
            .try_iter()
            .any(|notice| matches!(notice, Notice::BadRule { .. }));
        assert_eq!(bad, expected == "consent_pending");
        assert_eq!(app.consent.problems().len(), usize::from(bad));
        assert_eq!(app.user.told().len(), usize::from(bad));
    }
}

#[test]
fn rule_13_a_rule_that_cannot_be_saved_holds_for_the_run_and_the_user_is_told() {
    let folder = agent_test_support::folder();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let rules = folder.path().join("file/rules");
    let app = App::answering([Answer::Always], |builder| builder.rules_dir(rules));
    let agent = app.connect(1, "agent");
    app.request(&agent);
    let told = "“agent” could not be saved and holds until this app quits";
    eventually("the user is told", || {
        app.user.told().iter().any(|it| it.contains(told))
    });
    assert!(app.user.told()[0].starts_with("Remembered answers can't be read"));
    assert_eq!(app.request(&agent), "allowed");
    assert_eq!(app.request(&app.connect(2, "agent")), "allowed");
    let rules = app.consent.rules();
    assert!(!rules[0].stored);
    assert!(app.consent.revoke(&rules[0].id));
    assert_eq!(app.request(&agent), "consent_denied");
}

#[test]
fn how_often_a_rule_was_used_is_told_and_kept() {
    let app = App::answering([Answer::Always], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.settled();
    for _ in 0..7 {
        assert_eq!(app.request(&agent), "allowed");
    }
    let rule = app.consent.rules()[0].rule.clone();
    assert_eq!(
        (rule.uses, rule.last_used, rule.since),
        (7, Some(NOON), NOON)
    );
    assert_eq!(rule.program.as_deref(), Some("/opt/agent"));
    app.gate.gone(1);
    let store = Store::at(app.folder.path().join("rules"));
    eventually("it is written", || {
        store.load().rules.iter().any(|rule| rule.uses == 7)
    });
}

#[test]
fn the_plain_call_decides_by_the_same_rules() {
    let folder = agent_test_support::folder();
    let rules = folder.path().join("org.example.orders");
    let place = rules.clone();
    let app = App::answering([Answer::Always], |builder| builder.rules_dir(place));
    let agent = Agent::pretend("/opt/agent", "1");
    app.request(&app.connect_as(1, agent.clone()));
    eventually("it is saved", || {
        app.consent.rules().iter().all(|rule| rule.stored)
    });
    let asked = |_: &str| -> Option<Answer> { panic!("it is remembered") };
    let decision = crate::decide(&rules, Mode::Ask, agent.id().unwrap(), asked);
    assert_eq!(decision, Decision::Allow);
    let decision = crate::decide(&rules, Mode::Lockdown, agent.id().unwrap(), asked);
    assert!(matches!(decision, Decision::Deny(_)));
    // And the other way round.
    let never = |_: &str| Some(Answer::Never);
    let other = Agent::pretend("/opt/other", "1");
    let _ = crate::decide(&rules, Mode::Ask, other.id().unwrap(), never);
    let request = app.connect_as(2, other);
    eventually("it is noticed", || {
        app.gate.check(&request) != Decision::Ask
    });
    assert_eq!(app.request(&request), "consent_denied");
}

// Confirmations.

/// An app that lets everybody in, and its agent.
fn lenient() -> (App, Request) {
    let app = App::with(|builder| builder.mode(Mode::AllowAll));
    let agent = app.connect(1, "agent");
    (app, agent)
}

#[test]
fn a_yes_to_an_action_is_good_once() {
    let (app, agent) = lenient();
    let erase = question(&agent, "erase", 1);
    assert_eq!(app.gate.confirm(&erase), Confirmed::No);
    assert_eq!(app.gate.confirm(&erase), Confirmed::No);
    assert_eq!((app.user.open(), app.user.shown()), (1, 1));
    assert_eq!(
        app.user.headings(),
        ["May “agent” press “Erase everything”?"]
    );
    assert!(!app.user.answer(Answer::Always), "each time is each time");
    assert!(app.user.answer(Answer::Once));
    assert_eq!(app.gate.confirm(&erase), Confirmed::Yes);
    assert_eq!(app.gate.confirm(&erase), Confirmed::No);
    assert_eq!((app.user.open(), app.user.shown()), (1, 2));
}

#[test]
fn a_yes_to_an_action_is_void_for_any_other() {
    let set = |value: &str| Action::SetText {
        value: value.into(),
        base_version: 1,
        range: None,
    };
    type Change = Box<dyn Fn(&App, &mut Question)>;
    let changes: Vec<(&str, Change)> = vec![
        (
            "another node",
            Box::new(|_, question| question.node = "other".into()),
        ),
        (
            "another window",
            Box::new(|_, question| question.window = "Other".into()),
        ),
        (
            "another action",
            Box::new(|_, question| question.action = Action::Focus),
        ),
        (
            "another text",
            Box::new(move |_, question| question.action = set("b")),
        ),
        (
            "something else is to be seen",
            Box::new(|_, question| question.seen = 2),
        ),
        (
            "another agent",
            Box::new(|app, question| question.request = app.connect(2, "other")),
        ),
        (
            "too late",
            Box::new(|app, _| app.clock.pass(Duration::from_secs(61))),
        ),
        (
            "an agent acted",
            Box::new(|app, question| app.gate.acting(&question.request)),
        ),
        (
            "another agent acted",
            Box::new(|app, _| app.gate.acting(&app.connect(2, "other"))),
        ),
        ("revoked", Box::new(|app, _| app.consent.revoke_all())),
        ("stopped", Box::new(|app, _| app.consent.stop_all())),
        (
            "it is gone",
            Box::new(|app, question| {
                app.gate.gone(1);
                question.request = app.connect(1, "agent");
            }),
        ),
    ];
    for (what, change) in changes {
        let (app, agent) = lenient();
        let mut asked = question(&agent, "erase", 1);
        asked.action = set("a");
        app.gate.confirm(&asked);
        assert!(app.user.answer(Answer::Once), "{what}");
        change(&app, &mut asked);
        assert_eq!(app.gate.confirm(&asked), Confirmed::No, "{what}");
    }
    // In time it is good, the same agent's other connection included.
    let (app, agent) = lenient();
    let mut asked = question(&agent, "erase", 1);
    app.gate.confirm(&asked);
    app.user.answer(Answer::Once);
    app.clock.pass(Duration::from_secs(60));
    asked.request = app.connect(2, "agent");
    assert_eq!(app.gate.confirm(&asked), Confirmed::Yes);
}

#[test]
fn a_question_about_what_looks_different_by_now_is_asked_anew() {
    let (app, agent) = lenient();
    app.gate.confirm(&question(&agent, "erase", 1));
    app.gate.confirm(&question(&agent, "erase", 2));
    assert_eq!(
        (app.user.open(), app.user.shown(), app.user.withdrawn()),
        (1, 2, 1)
    );
    app.gate.acting(&click(&agent));
    assert_eq!((app.user.open(), app.user.withdrawn()), (0, 2));
}

#[test]
fn after_a_no_to_an_action_there_is_a_rest() {
    let (app, agent) = lenient();
    let erase = question(&agent, "erase", 1);
    app.gate.confirm(&erase);
    app.user.answer(Answer::No);
    assert_eq!(app.gate.confirm(&erase), Confirmed::No);
    // Nor is it asked about the next thing it can think of.
    app.gate.confirm(&question(&agent, "another", 1));
    assert_eq!(app.user.shown(), 1);
    app.clock.pass(Duration::from_secs(10));
    app.gate.confirm(&erase);
    assert_eq!(app.user.shown(), 2);
}

#[test]
fn an_agent_has_one_question_at_a_time() {
    let app = App::answering([Answer::Once], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.gate.confirm(&question(&agent, "erase", 1));
    assert_eq!(app.request(&full(&agent)), "consent_pending");
    app.gate.confirm(&question(&agent, "other", 1));
    assert_eq!(app.user.shown(), 2);
    app.user.answer(Answer::Once);
    assert_eq!(app.user.open(), 0);
    assert_eq!(app.request(&full(&agent)), "consent_pending");
    assert_eq!(app.user.open(), 1);
}

#[test]
fn what_would_be_written_is_shown() {
    let (app, agent) = lenient();
    let mut asked = question(&agent, "amount", 1);
    asked.name.clear();
    asked.action = Action::SetText {
        value: "10\u{202e}000".into(),
        base_version: 1,
        range: None,
    };
    app.gate.confirm(&asked);
    let said = app.user.see(|asked| {
        let lines: Vec<String> = asked.details().iter().map(|line| line.plain()).collect();
        (asked.heading().plain(), lines)
    });
    let (heading, lines) = said.unwrap();
    assert_eq!(heading, "May “agent” write to “amount”?");
    assert_eq!(lines[0], "In the window “Account”.");
    assert_eq!(lines[1], "It would write: “10\\u{202e}000”");
}

// What the app hears.

#[test]
fn the_app_hears_who_comes_what_is_said_and_what_is_done() {
    let app = App::answering([Answer::Once], |builder| builder);
    let notices = app.consent.notices();
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.gate.acting(&click(&agent));
    assert!(app.consent.connected()[0].acting);
    app.gate.done(&click(&agent), "allowed");
    assert!(!app.consent.connected()[0].acting);
    let other = app.connect(2, "other");
    app.request(&other);
    app.user.answer(Answer::No);
    app.request(&other);
    app.request(&other);
    app.gate.gone(1);
    let heard: Vec<String> = notices
        .try_iter()
        .map(|notice| {
            let text = format!("{notice:?}");
            text.split(' ').next().unwrap_or_default().to_owned()
        })
        .collect();
    let expected = [
        "Connected",
        "Asked",
        "Allowed",
        "Acting",
        "Acted",
        "Connected",
        "Asked",
        "Refused",
        "TurnedAway",
        "Gone",
    ];
    assert_eq!(heard, expected);
}

#[test]
fn an_app_hears_which_action_is_over_though_others_are_on_their_way() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = heard.clone();
    let app = App::with(|builder| {
        builder.mode(Mode::AllowAll).on_act(move |act| {
            hears.lock().unwrap().push(match act {
                crate::Act::Before(request) => format!("before {}", request.number),
                crate::Act::After(request, outcome) => format!("{outcome} {}", request.number),
            });
        })
    });
    let agent = app.connect(1, "agent");
    app.request(&agent);
    let numbered = |number| Request {
        number,
        ..click(&agent)
    };
    let acts = || app.consent.connected().first().is_some_and(|it| it.acting);
    app.gate.acting(&numbered(71));
    // Its client takes back one that waits behind it.
    app.gate.done(&numbered(72), "cancelled");
    assert!(acts(), "the first goes on");
    app.gate.done(&numbered(71), "allowed");
    assert!(!acts());
    // Whose client goes meanwhile has acted all the same.
    app.gate.acting(&numbered(73));
    app.gate.gone(1);
    app.gate.done(&numbered(73), "allowed");
    let expected = ["before 71", "allowed 71", "before 73", "allowed 73"];
    assert_eq!(*heard.lock().unwrap(), expected);
    let (_, lines) = app.logged();
    let acted: Vec<&str> = lines
        .iter()
        .filter(|line| line["event"] == "acted")
        .map(|line| line["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(acted, ["cancelled", "allowed", "allowed"]);
}

/// What each line of the log tells of.
fn events(lines: &[serde_json::Value]) -> Vec<&str> {
    let events = lines.iter().map(|line| line["event"].as_str());
    events.map(Option::unwrap).collect()
}

#[test]
fn the_log_says_who_did_what_to_which_node_and_never_a_text() {
    let app = App::answering([Answer::Once], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.request(&agent);
    let set = Request {
        verb: Verb::SetText,
        target: Some("amount".into()),
        ..agent.clone()
    };
    let mut asked = question(&agent, "amount", 1);
    asked.action = Action::SetText {
        value: "a secret".into(),
        base_version: 1,
        range: None,
    };
    app.gate.confirm(&asked);
    app.user.answer(Answer::Once);
    app.gate.acting(&set);
    app.gate.done(&set, "allowed");
    let (text, lines) = app.logged();
    let events = events(&lines);
    assert_eq!(
        events,
        [
            "asked", "answered", "admitted", "asked", "answered", "acted"
        ]
    );
    let acted = lines.last().unwrap();
    assert_eq!(acted["verb"], "set_text");
    assert_eq!(acted["node"], "amount");
    assert_eq!(acted["outcome"], "allowed");
    assert_eq!(acted["name"], "agent");
    assert!(acted["at"].as_str().unwrap().ends_with('Z'));
    assert!(
        !text.contains("secret") && !text.contains("Erase"),
        "{text}"
    );
}

#[test]
fn rule_10_an_agent_cannot_fill_the_log_with_what_costs_it_nothing() {
    let app = App::answering([Answer::No], |builder| builder);
    for connection in 0..500 {
        let agent = app.connect(connection, "agent");
        app.request(&agent);
        app.request(&agent);
        app.gate.gone(connection);
    }
    app.consent.set_mode(Mode::AllowAll);
    let other = app.connect(1_000, "other");
    app.request(&other);
    for _ in 0..500 {
        app.gate.done(&click(&other), "not_found");
    }
    app.clock.pass(Duration::from_secs(1));
    app.gate.done(&click(&other), "not_found");
    let (_, lines) = app.logged();
    let events = events(&lines);
    assert_eq!(
        events,
        [
            "asked",
            "answered",
            "turned_away",
            "admitted",
            "acted",
            "acted"
        ]
    );
    assert_eq!(lines[5]["not_logged_before"], 499);
}

#[test]
fn the_log_says_what_was_read_and_no_more_often_than_once_a_minute() {
    let app = App::with(|builder| builder.mode(Mode::AllowAll));
    let agent = app.connect(1, "agent");
    app.request(&agent);
    let read = |node: &str| Request {
        verb: Verb::GetText,
        target: Some(node.into()),
        ..agent.clone()
    };
    for _ in 0..100 {
        app.gate.done(&read("notes"), "allowed");
        app.gate.done(&read("total"), "allowed");
    }
    app.clock.pass(Duration::from_secs(60));
    app.gate.done(&read("notes"), "allowed");
    for n in 0..1_000 {
        app.gate.done(&read(&format!("row/{n}")), "allowed");
    }
    let (_, lines) = app.logged();
    let read: Vec<_> = lines.iter().filter(|it| it["event"] == "read").collect();
    let nodes: Vec<&str> = read.iter().map(|it| it["node"].as_str().unwrap()).collect();
    assert_eq!(nodes[..4], ["notes", "total", "notes", "row/0"]);
    assert_eq!(read[2]["not_logged_before"], 198);
    assert_eq!(nodes.len(), 3 + 63, "no more nodes than are kept");
}

#[test]
fn the_log_says_what_was_taken_back_though_nobody_was_there() {
    let app = App::answering([Answer::Always, Answer::Always], |builder| builder);
    for name in ["agent", "other"] {
        app.request(&app.connect(1, name));
        app.gate.gone(1);
    }
    app.settled();
    let rules = app.consent.rules();
    assert!(app.consent.revoke(&rules[0].id));
    eventually("it is removed", || app.rule_files().len() == 1);
    std::fs::remove_file(&app.rule_files()[0]).unwrap();
    // Whoever comes next is judged by what is there now.
    app.request(&app.connect(2, "third"));
    let (_, lines) = app.logged();
    let revoked: Vec<_> = lines
        .iter()
        .filter(|it| it["event"] == "rule_revoked")
        .map(|it| (it["name"].as_str().unwrap(), it["outside"] == true))
        .collect();
    assert_eq!(revoked, [("agent", false), ("other", true)]);
}

#[test]
fn rule_9_a_disk_that_hangs_is_told_of_while_it_hangs() {
    // The clock leaps, so that whatever else is on its way would hang, too.
    let app = App::answering([Answer::Always; 3], Builder::no_log);
    let known = app.connect(1, "known");
    app.request(&known);
    app.settled();
    let hangs = app.consent.inner().hang();
    let agent = request(2);
    app.consent
        .pretend_known(&agent, Agent::pretend("/opt/agent", "1"));
    app.request(&agent);
    assert_eq!(app.request(&agent), "allowed", "nothing waits for a disk");
    assert_eq!(app.user.told(), Vec::<String>::new());
    let told = |what: &str| {
        app.clock.pass(Duration::from_secs(5));
        app.user.told().iter().any(|it| it.contains(what))
    };
    eventually("told that it isn't saved", || {
        told("about “agent” could not be saved and holds until this app quits: the disk does not")
    });
    assert!(told(
        "Remembered answers can't be read, the disk does not answer"
    ));
    // From now on at once.
    assert!(app.consent.revoke(&app.consent.rules()[1].id));
    assert!(told("took back from “known” could not be removed"));
    assert_eq!(app.request(&known), "consent_denied");
    let told = app.user.told().len();
    drop(hangs);
    app.settled();
    assert_eq!(app.user.told().len(), told, "{:?}", app.user.told());
    assert_eq!(app.consent.rules()[0].rule.name, "agent");
    eventually("it is no problem any more", || {
        app.consent.problems().is_empty()
    });
}

/// Writes nothing until it is let go.
struct Stuck(std::sync::mpsc::Receiver<()>);

impl Sink for Stuck {
    fn write(&mut self, _: &[u8]) -> std::io::Result<()> {
        let _ = self.0.recv();
        Ok(())
    }
}

#[test]
fn rule_9_a_log_whose_disk_hangs_is_told_of_while_it_hangs() {
    let (let_go, stuck) = std::sync::mpsc::channel();
    let app = App::with(|builder| builder.mode(Mode::AllowAll));
    let inner = app.consent.inner();
    inner.lock().audit = Audit::to(Stuck(stuck), inner.log.clone(), |_| ()).ok();
    let agent = app.connect(1, "agent");
    app.request(&agent);
    eventually("told", || {
        app.clock.pass(Duration::from_secs(5));
        let told = app.user.told();
        told == ["What agents do is not being logged: the disk does not answer"]
    });
    assert_eq!(app.request(&agent), "allowed");
    drop(let_go);
}

#[test]
fn another_program_that_writes_rules_keeps_no_revocation_from_being_noticed() {
    let app = App::answering([Answer::Always; 2], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.settled();
    assert_eq!(app.request(&agent), "allowed");
    let folder = std::fs::File::open(app.folder.path().join("rules")).unwrap();
    let exclusive = rustix::fs::FlockOperation::LockExclusive;
    rustix::fs::flock(&folder, exclusive).unwrap();
    app.request(&app.connect(2, "other"));
    std::fs::remove_file(&app.rule_files()[0]).unwrap();
    eventually("it is cut", || {
        app.server.revoked.lock().unwrap().contains(&1)
    });
    // The other rule waits all the while, and is saved when it is its turn.
    assert_eq!(app.user.told(), Vec::<String>::new());
    assert_eq!(app.rule_files().len(), 0);
    drop(folder);
    app.settled();
    assert_eq!(app.consent.rules()[0].rule.name, "other");
}

#[test]
fn who_comes_and_goes_all_the_time_does_not_keep_a_revocation_from_being_noticed() {
    let app = App::answering([Answer::Always], |builder| builder);
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.settled();
    std::fs::remove_file(&app.rule_files()[0]).unwrap();
    let mut next = 2;
    assert_eq!(app.request(&agent), "allowed");
    eventually("it is cut", || {
        for _ in 0..5 {
            app.connect(next, "other");
            app.gate.gone(next);
            next += 1;
        }
        app.server.revoked.lock().unwrap().contains(&1)
    });
}

#[test]
fn an_app_can_look_before_and_after_an_action() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = heard.clone();
    let app = App::with(|builder| {
        builder.mode(Mode::AllowAll).on_act(move |act| {
            hears.lock().unwrap().push(match act {
                crate::Act::Before(request) => format!("before {}", request.verb.word()),
                crate::Act::After(_, outcome) => format!("after {outcome}"),
            });
        })
    });
    let agent = app.connect(1, "agent");
    app.request(&agent);
    app.gate.acting(&click(&agent));
    app.gate.done(&click(&agent), "allowed");
    // Refused before it began.
    app.gate.done(&click(&agent), "not_actionable");
    assert_eq!(*heard.lock().unwrap(), ["before click", "after allowed"]);
}

#[test]
fn rule_13_a_prompt_that_panics_has_let_nobody_in() {
    struct Panics;
    impl crate::Prompt for Panics {
        fn show(&self, _: crate::Asked) {
            panic!("a fault in the prompt");
        }
        fn withdraw(&self, _: crate::QuestionId) {}
    }
    let app = App::with(|builder| builder.prompt(Panics));
    let agent = app.connect(1, "agent");
    assert_eq!(app.request(&agent), "consent_pending");
    assert_eq!(app.request(&agent), "consent_pending");
    app.consent.stop_all();
    assert_eq!(app.request(&agent), "consent_denied");
}

#[test]
fn agents_go_on_after_a_stop_and_not_against_the_mode() {
    let app = App::with(|builder| builder.mode(Mode::AllowAll));
    let request = app.connect(1, "agent");
    assert!(!app.consent.can_resume());
    app.consent.stop_all();
    assert!(app.consent.can_resume());
    app.consent.resume();
    assert_eq!(app.request(&request), "allowed");
    app.consent.set_mode(Mode::Lockdown);
    assert!(app.consent.is_stopped() && !app.consent.can_resume());
    app.consent.resume();
    assert_eq!(app.request(&request), "consent_denied");
}

#[test]
fn rule_13_no_file_lets_anybody_in_to_more_than_the_surface() {
    let folder = agent_test_support::folder();
    let store = Store::at(folder.path().join("rules"));
    let agent = Agent::pretend("/opt/agent", "1");
    for scope in [Scope::Surface, Scope::Full] {
        let mut rule = crate::rule::tests::rule(agent.id().unwrap());
        rule.scope = scope;
        store.save(&rule).unwrap();
    }
    let app = App::again(folder, [], |builder| builder);
    let request = app.connect_as(1, agent);
    assert_eq!(app.request(&request), "allowed");
    assert_eq!(app.request(&full(&request)), "consent_pending");
}

#[test]
fn all_is_taken_back_also_what_nobody_here_has_seen() {
    let app = App::new();
    // Of a second window of the app, while nobody is connected to this one; and of a clock that
    // was wrong.
    let store = Store::at(app.folder.path().join("rules"));
    let agent = Agent::pretend("/opt/agent", "1");
    let mut rule = crate::rule::tests::rule(agent.id().unwrap());
    store.save(&rule).unwrap();
    rule.agent = "another".into();
    (rule.since, rule.until) = (NOON + 1_000, Some(NOON + 2_000));
    store.save(&rule).unwrap();
    app.consent.revoke_all();
    let request = app.connect_as(1, agent);
    assert_eq!(app.request(&request), "consent_pending");
    eventually("nothing is left", || app.rule_files().is_empty());
}

#[test]
fn what_cannot_be_proven_is_let_in_by_no_file_unless_the_app_says_so() {
    let script = || {
        let mut link = crate::Link::pretend("/usr/bin/node", "1");
        link.script = Some(crate::Script {
            path: "/a/agent.js".into(),
            content: None,
        });
        Agent::pretend_behind(vec![link])
    };
    let app = App::answering([Answer::Always], Builder::remember_unproven);
    app.request(&app.connect_as(1, script()));
    app.settled();
    let folder = app.folder;
    drop((app.consent, app.gate));
    let app = App::again(folder, [Answer::UntilQuit], |builder| builder);
    let request = app.connect_as(1, script());
    assert_eq!(app.request(&request), "consent_pending");
    assert_eq!(app.request(&request), "allowed", "until the app quits");
}

#[test]
fn a_question_of_who_went_is_one_of_who_stayed_and_asked() {
    let app = App::new();
    let notices = app.consent.notices();
    for connection in [1, 2] {
        app.request(&app.connect(connection, "agent"));
    }
    app.gate.gone(1);
    // What is said is told, logged, and withdrawn by a stop.
    assert!(app.user.answer(Answer::No));
    let refused = notices
        .try_iter()
        .any(|it| matches!(it, Notice::Refused { who, .. } if who.connection == 2));
    assert!(refused);

    let app = App::new();
    for connection in [1, 2] {
        app.request(&app.connect(connection, "agent"));
    }
    app.connect(3, "agent");
    app.gate.gone(1);
    assert!(app.consent.stop(3));
    assert_eq!((app.user.open(), app.user.withdrawn()), (0, 1));

    // Nobody who asked is there any more, though the program is.
    let app = App::new();
    app.request(&app.connect(1, "agent"));
    app.connect(2, "agent");
    app.gate.gone(1);
    assert_eq!((app.user.open(), app.user.withdrawn()), (0, 1));
}

#[test]
fn a_mode_that_decides_leaves_nothing_to_ask() {
    for mode in [Mode::AllowAll, Mode::DenyAll] {
        let app = App::new();
        app.request(&app.connect(1, "agent"));
        app.consent.set_mode(mode);
        assert_eq!((app.user.open(), app.user.withdrawn()), (0, 1), "{mode:?}");
        // What is held back is judged again.
        assert!(app.server.answered.lock().unwrap().contains(&1));
    }
}
