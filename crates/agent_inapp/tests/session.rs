//! The session on scripted widgets, off the UI thread and on it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use std::{
    collections::BTreeSet,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use agent_core::{
    AuthGate, Backend, Channel, Decision, Policy, Request, Scope, Tag, Target, Until, Verb,
};
use agent_headless::{Headless, Widget};
use agent_inapp::{
    Describe, Error, EventVerb, Host, Include, Listen, Pending, Refusal, Session, Why,
};
use agent_test_support::{LONG, eventually};

/// An app with a field, a button, what an agent must not see, and one of each kind of widget that
/// a verb needs.
fn app() -> Headless {
    Headless::start("ui", |tree| {
        tree.open_window(
            Widget::window("Form").tag("main").children([
                Widget::text_field("Name").tag("name"),
                Widget::button("Save").tag("save").on_click(|tree, button| {
                    tree.set_text(button, "Saved");
                }),
                Widget::button("Delete").tag(Tag::id("delete").ceiling([])),
                Widget::button("Hidden trick").named("trick"),
                Widget::password_field("Password").tag("password"),
                Widget::group("Assistant")
                    .tag(Tag::id("assistant").excluded())
                    .child(Widget::button("Send").tag("send")),
                Widget::checkbox("Dark").tag("dark"),
                Widget::slider("Volume").tag("volume"),
                Widget::list("Plan").tag("plan").children([
                    Widget::list_item("Small").tag("small"),
                    Widget::list_item("Large").tag("large"),
                ]),
                Widget::tree("Files").child(
                    Widget::tree_item("src")
                        .tag("src")
                        .child(Widget::tree_item("main.rs")),
                ),
            ]),
        );
    })
}

fn host(app: &Headless, gate: AuthGate) -> Arc<Host> {
    let backend = Arc::new(app.handle());
    Host::new("org.example".into(), "Example".into(), backend, gate)
}

/// An app, its host without a policy, and a session.
fn served() -> (Headless, Arc<Host>, Session) {
    let app = app();
    let host = host(&app, AuthGate::default());
    let session = patient(&host, "Assistant");
    (app, host, session)
}

/// A session that a busy machine can't make late.
fn patient(host: &Arc<Host>, name: &str) -> Session {
    let session = host.session(name);
    session.set_deadline(agent_inapp::LONGEST_WAIT);
    session
}

#[track_caller]
fn got<T>(pending: Pending<T>) -> T {
    pending
        .wait()
        .unwrap_or_else(|why| panic!("{}: {why}", why.word()))
}

#[track_caller]
fn refused<T: std::fmt::Debug>(pending: Pending<T>) -> Refusal {
    match pending.wait() {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

/// Keeps the UI thread busy until the test lets it go on.
fn wait(go_on: &mpsc::Receiver<()>) {
    let _ = go_on.recv_timeout(LONG);
}

/// What a policy is told.
#[derive(Default)]
struct Told {
    checked: Mutex<Vec<Request>>,
    done: Mutex<Vec<(Verb, &'static str)>>,
    met: AtomicUsize,
    gone: Mutex<Vec<u64>>,
    lockdown: AtomicBool,
    attached: Mutex<Vec<std::sync::Weak<dyn agent_core::Connections>>>,
}

impl Policy for Told {
    fn check(&self, request: &Request) -> Decision {
        self.checked.lock().unwrap().push(request.clone());
        match self.lockdown.load(Ordering::Relaxed) {
            true => Decision::deny("lockdown"),
            // Nobody has decided: an agent outside would be asked about.
            false => Decision::Ask,
        }
    }

    fn met(&self, _: &Request) {
        self.met.fetch_add(1, Ordering::Relaxed);
    }

    fn done(&self, request: &Request, outcome: &'static str) {
        self.done.lock().unwrap().push((request.verb, outcome));
    }

    fn gone(&self, connection: u64) {
        self.gone.lock().unwrap().push(connection);
    }

    fn attach(&self, server: std::sync::Weak<dyn agent_core::Connections>) {
        self.attached.lock().unwrap().push(server);
    }
}

#[test]
fn rule_12_a_session_has_every_verb_of_the_table() {
    let app = app();
    let told = Arc::new(Told::default());
    let host = host(&app, AuthGate::of(told.clone()));
    let session = patient(&host, "Assistant");
    let wait = Duration::from_secs(5);
    for verb in Verb::ALL {
        told.checked.lock().unwrap().clear();
        told.done.lock().unwrap().clear();
        // A verb that is new doesn't build before it is here.
        match verb {
            Verb::Hello => assert_eq!(got(session.hello()).app, "org.example"),
            Verb::DescribeUi => assert!(!got(session.describe_ui(false)).nodes.is_empty()),
            Verb::GetText => assert_eq!(got(session.get_text("name")).text.as_deref(), Some("")),
            Verb::Click => drop(got(session.click("save"))),
            Verb::SetText => {
                let version = got(session.get_text("name")).version;
                let edited = got(session.set_text("name", "Ada", version));
                let part = session.set_text_part("name", (1, 2), "D", edited.version.unwrap());
                let edited = got(part);
                assert_eq!(
                    got(session.get_text_part("name", 1, 2)).text.as_deref(),
                    Some("Da")
                );
                assert!(edited.version.is_some());
            }
            Verb::ScrollTo => {
                got(session.scroll_to("save"));
                assert_eq!(
                    refused(session.scroll_to_row("plan", "x")),
                    Refusal::NotFound
                );
            }
            Verb::Focus => drop(got(session.focus("name"))),
            Verb::Submit => drop(got(session.submit("name"))),
            Verb::Select => drop(got(session.select("small"))),
            Verb::SetChecked => drop(got(session.set_checked("dark", true))),
            Verb::SetValue => drop(got(session.set_value("volume", 40.0))),
            Verb::Expand => drop(got(session.expand("src"))),
            Verb::Collapse => drop(got(session.collapse("src"))),
            Verb::Subscribe => drop(got(session.subscribe(Listen::default()))),
            Verb::PollEvents => {
                let heard = got(session.subscribe(Listen::default()));
                let polled = got(session.poll_events(&heard, 10, Duration::ZERO));
                assert_eq!((polled.events.len(), polled.dropped), (0, 0));
            }
            Verb::Unsubscribe => {
                let heard = got(session.subscribe(Listen::default()));
                session.unsubscribe(heard).unwrap();
            }
            Verb::WaitFor => {
                assert!(got(session.wait_for("save", Until::Exists, wait)).met);
                let revision = got(session.describe_ui(false)).revision;
                assert!(got(session.wait_for_revision(revision - 1, wait)).met);
            }
        }
        let checked = told.checked.lock().unwrap().clone();
        let of_it = checked.iter().find(|request| request.verb == *verb);
        let request = of_it.unwrap_or_else(|| panic!("{verb:?} was asked as something else"));
        assert_eq!(request.channel, Channel::InApp);
        assert_eq!(request.claimed_name.as_deref(), Some("Assistant"));
        assert_eq!(request.scope, Scope::Surface);
        eventually("it is told what came of it", || {
            told.done.lock().unwrap().contains(&(*verb, "allowed"))
        });
    }
    // The wire's table is the same one.
    let words: BTreeSet<&str> = Verb::ALL.iter().map(|verb| verb.word()).collect();
    let rows: BTreeSet<&str> = agent_wire::VERBS.iter().map(|row| row.name).collect();
    assert_eq!(words, rows);
    // Nobody is met twice, and who goes is missed.
    assert_eq!(told.met.load(Ordering::Relaxed), 1);
    let connection = host.members()[0].connection;
    drop(session);
    assert_eq!(*told.gone.lock().unwrap(), [connection]);
    assert!(host.members().is_empty());
}

/// What the wire lets a client say, and how a session says it: a parameter that is new has to find
/// its place here.
#[test]
fn rule_12_a_session_takes_every_parameter_of_the_table() {
    // `mode`, `push` and the two that all verbs have are: `full`, `on_news`, `Target::in_window`,
    // `set_deadline` (of `wait_for` and `poll_events`: `timeout`, `wait`).
    let taken: &[(&str, &[&str])] = &[
        (
            "describe_ui",
            &[
                "mode", "window", "root", "depth", "limit", "include", "since",
            ],
        ),
        ("get_text", &["id", "from", "limit"]),
        ("click", &["id"]),
        ("set_text", &["id", "value", "base_version", "from", "to"]),
        ("scroll_to", &["id", "key"]),
        ("focus", &["id"]),
        ("submit", &["id"]),
        ("select", &["id"]),
        ("set_checked", &["id", "checked"]),
        ("set_value", &["id", "value"]),
        ("expand", &["id"]),
        ("collapse", &["id"]),
        (
            "subscribe",
            &["node", "verb", "role", "from", "queue", "push"],
        ),
        ("poll_events", &["subscription", "max", "wait_ms"]),
        ("unsubscribe", &["subscription"]),
        ("wait_for", &["id", "until", "value"]),
        // Who asks is said when the session is made.
        ("hello", &["name"]),
    ];
    for row in agent_wire::VERBS {
        let (_, taken) = taken
            .iter()
            .find(|(verb, _)| *verb == row.name)
            .unwrap_or_else(|| panic!("{} is new", row.name));
        for param in row.parameters() {
            let common = ["window", "timeout_ms"].contains(&param.name);
            assert!(
                common || taken.contains(&param.name),
                "{} takes {}",
                row.name,
                param.name
            );
        }
    }
    let limits = [
        (agent_inapp::UI_DEADLINE, agent_wire::limits::UI_DEADLINE),
        (
            agent_inapp::CONDITION_WAIT,
            agent_wire::limits::CONDITION_WAIT,
        ),
        (agent_inapp::LONGEST_WAIT, agent_wire::limits::LONGEST_WAIT),
    ];
    assert!(limits.iter().all(|(ours, wires)| ours == wires));
    use agent_wire::limits as wire;
    for (ours, wires) in [
        (agent_inapp::REQUESTS_IN_FLIGHT, wire::REQUESTS_IN_FLIGHT),
        (agent_inapp::SUBSCRIPTIONS, wire::SUBSCRIPTIONS),
        (agent_inapp::SUBSCRIPTION_QUEUE, wire::SUBSCRIPTION_QUEUE),
        (agent_inapp::EVENT_LOG, wire::EVENT_LOG),
        (agent_inapp::TEXT_BYTES_IN, wire::LINE_BYTES),
    ] {
        assert_eq!(ours, wires);
    }
}

#[test]
fn rule_11_a_full_description_holds_neither_what_is_excluded_nor_a_secret() {
    let (app, _host, session) = served();
    app.run(|tree| {
        let password = tree.find("password").unwrap();
        assert!(tree.user_type(password, "hunter2"));
    });
    let whole = got(session.describe_ui(true));
    let said = format!("{whole:?}");
    assert!(said.contains("Hidden trick"), "{said}");
    for kept in ["Assistant", "Send", "send", "hunter2"] {
        assert!(!said.contains(kept), "{kept}: {said}");
    }
    // Nor can it be reached: to a session too it doesn't exist.
    for id in ["send", "assistant"] {
        assert_eq!(refused(session.click(id)), Refusal::NotFound, "{id}");
    }
    let since = session.describe(Describe {
        full: true,
        since: Some(whole.revision),
        ..Describe::default()
    });
    assert_eq!(since.wait().unwrap_err().word(), "invalid_params");
}

#[test]
fn what_is_not_exposed_is_told_apart_from_nothing() {
    let (_app, _host, session) = served();
    let whole = got(session.describe_ui(true));
    let trick = whole.nodes.iter().find(|node| node.name == "Hidden trick");
    let id = trick.unwrap().id.to_string();
    assert_eq!(refused(session.click(id.as_str())), Refusal::NotExposed);
    assert_eq!(refused(session.click("nothing")), Refusal::NotFound);
    let elsewhere = Target::from("save").in_window("other");
    assert_eq!(refused(session.click(elsewhere)), Refusal::NotFound);
}

#[test]
fn rule_3_ceilings_and_secrets_hold_for_the_apps_own_assistant() {
    let (_app, _host, session) = served();
    let why = Why::Ceiling;
    assert_eq!(
        refused(session.click("delete")),
        Refusal::NotActionable { why, by: None }
    );
    assert_eq!(got(session.get_text("password")).text, None);
    let old = session.set_text("name", "Ada", 1_000);
    assert!(matches!(refused(old), Refusal::VersionConflict { .. }));
    let long = "x".repeat(agent_inapp::TEXT_BYTES_IN + 1);
    let long = session.set_text("name", long, 1).wait().unwrap_err();
    assert_eq!(long.word(), "invalid_params");
}

#[test]
fn names_and_values_are_cut_as_on_the_wire() {
    let app = Headless::start("ui", |tree| {
        let name = "n".repeat(1_000);
        tree.open_window(
            Widget::window("Form").tag("main").child(
                Widget::text_field(name)
                    .tag("field")
                    .text("v".repeat(9_000)),
            ),
        );
    });
    let host = host(&app, AuthGate::default());
    let session = patient(&host, "Assistant");
    let described = session.describe(Describe {
        root: Some("field".into()),
        include: Include {
            value: true,
            ..Include::default()
        },
        ..Describe::default()
    });
    let described = got(described);
    let field = &described.nodes[0];
    // And the mark that says so.
    assert_eq!(field.name.chars().count(), agent_core::MAX_NAME + 1);
    let value = field.value.as_ref().unwrap();
    assert_eq!(value.chars().count(), agent_core::MAX_VALUE + 1);
}

#[test]
fn on_the_ui_thread_a_wait_is_refused_and_a_look_is_not() {
    let (app, _host, session) = served();
    let (send, receive) = mpsc::channel();
    let asks = session.clone();
    app.run(move |_| {
        let waited = asks.click("save").wait();
        send.send((waited, asks.describe_ui(false))).unwrap();
    });
    let (waited, mut pending) = receive.recv_timeout(LONG).unwrap();
    assert_eq!(waited.unwrap_err(), Error::OnUiThread);
    let mut described = None;
    eventually("the description is there", || {
        described = pending.try_take();
        described.is_some()
    });
    let described = described.unwrap().unwrap();
    // What was refused was withdrawn: the button was not pressed.
    let save = described.nodes.iter().find(|node| &*node.id == "save");
    assert_eq!(save.unwrap().name, "Save");
    assert!(pending.try_take().is_none());
    assert_eq!(pending.wait().unwrap_err(), Error::Closed);
}

/// An executor of one future, by a channel.
struct Woken(mpsc::Sender<()>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let (send, receive) = mpsc::channel();
    let waker = Waker::from(Arc::new(Woken(send)));
    let mut context = Context::from_waker(&waker);
    loop {
        match std::pin::Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => receive.recv_timeout(LONG).unwrap(),
        }
    }
}

#[test]
fn an_answer_can_be_awaited_by_any_executor() {
    let (app, _host, session) = served();
    app.block(50);
    assert!(block_on(session.click("save")).is_ok());
    // The clock wakes who awaits as well.
    let never = session.wait_for("nothing", Until::Exists, Duration::from_millis(30));
    assert!(!block_on(never).unwrap().met);
}

#[test]
fn news_of_answers_and_events_wake_who_asked_for_that() {
    let (app, _host, session) = served();
    let news = Arc::new(AtomicUsize::new(0));
    let counts = news.clone();
    session.on_news(move || {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    let mut click = session.click("save");
    eventually("the answer woke", || news.load(Ordering::SeqCst) == 1);
    assert!(click.try_take().unwrap().is_ok());
    let listen = Listen {
        node: Some("dark".into()),
        verb: Some(EventVerb::Toggled),
        ..Listen::default()
    };
    let heard = got(session.subscribe(listen));
    let before = news.load(Ordering::SeqCst);
    app.run(|tree| {
        let dark = tree.find("dark").unwrap();
        assert!(tree.user_click(dark));
    });
    eventually("the event woke", || news.load(Ordering::SeqCst) > before);
    let polled = got(session.poll_events(&heard, 10, Duration::ZERO));
    assert_eq!(polled.events.len(), 1);
    assert_eq!(&*polled.events[0].source, "dark");
}

#[test]
fn rule_9_nobody_waits_without_a_deadline_and_what_is_late_is_withdrawn() {
    let (app, _host, session) = served();
    session.set_deadline(Duration::from_millis(30));
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    let Err(Error::Busy { waited, entered }) = session.click("save").wait() else {
        panic!("it is busy")
    };
    assert!(waited >= Duration::from_millis(30) && !entered);
    // Nor by who only looks.
    let mut looked = session.click("save");
    let mut busy = None;
    eventually("it is late", || {
        busy = looked.try_take();
        busy.is_some()
    });
    assert_eq!(busy.unwrap().unwrap_err().word(), "app_busy");
    go_on.send(()).unwrap();
    let text = app.run(|tree| tree.props(tree.find("save").unwrap()).unwrap().text.clone());
    assert_eq!(text, "Save");
    session.set_deadline(agent_inapp::LONGEST_WAIT);
    assert_eq!(got(session.click("save")).events.len(), 2);
}

#[test]
fn rule_9_what_is_dropped_is_withdrawn() {
    let (app, _host, session) = served();
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    drop(session.click("save"));
    let stays = session.set_checked("dark", true);
    go_on.send(()).unwrap();
    got(stays);
    let text = app.run(|tree| tree.props(tree.find("save").unwrap()).unwrap().text.clone());
    assert_eq!(text, "Save");
}

#[test]
fn rule_10_a_session_has_bounds() {
    let (app, _host, session) = served();
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    let asked: Vec<_> = (0..agent_inapp::REQUESTS_IN_FLIGHT)
        .map(|_| session.get_text("save"))
        .collect();
    let mut more = session.get_text("save");
    let limit = more.try_take().unwrap().unwrap_err();
    assert_eq!(limit.word(), "limit");
    go_on.send(()).unwrap();
    for pending in asked {
        got(pending);
    }
    let heard: Vec<_> = (0..agent_inapp::SUBSCRIPTIONS)
        .map(|_| got(session.subscribe(Listen::default())))
        .collect();
    let more = session.subscribe(Listen::default());
    assert_eq!(more.wait().unwrap_err().word(), "limit");
    drop(heard);
    drop(got(session.subscribe(Listen::default())));
}

/// The user stops all agents just when the gate has let something in.
#[derive(Default)]
struct StoppedMeanwhile {
    checked: AtomicUsize,
    attached: Mutex<Vec<std::sync::Weak<dyn agent_core::Connections>>>,
}

impl Policy for StoppedMeanwhile {
    fn check(&self, _: &Request) -> Decision {
        if self.checked.fetch_add(1, Ordering::Relaxed) > 0 {
            return Decision::deny("lockdown");
        }
        let host = self.attached.lock().unwrap()[0].upgrade().unwrap();
        host.revoke(&|_| true, agent_core::RevokedUntil::Admitted);
        Decision::Allow
    }

    fn attach(&self, server: std::sync::Weak<dyn agent_core::Connections>) {
        self.attached.lock().unwrap().push(server);
    }
}

#[test]
fn rule_2_a_leave_that_is_taken_back_while_the_gate_is_asked_is_none() {
    let app = app();
    let host = host(&app, AuthGate::of(Arc::<StoppedMeanwhile>::default()));
    let session = host.session("Assistant");
    assert_eq!(session.hello().wait(), Err(Error::Denied));
    assert!(!host.members()[0].admitted);
}

#[test]
fn a_policy_that_refuses_is_obeyed_and_lockdown_stops_what_waits() {
    let app = app();
    let told = Arc::new(Told::default());
    let host = host(&app, AuthGate::of(told.clone()));
    let session = patient(&host, "Assistant");
    let heard = got(session.subscribe(Listen::default()));
    // Queued before, its turn after: the gate is asked again.
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    let queued = session.click("save");
    told.lockdown.store(true, Ordering::Relaxed);
    go_on.send(()).unwrap();
    assert_eq!(queued.wait().unwrap_err(), Error::Denied);
    assert_eq!(session.describe_ui(true).wait().unwrap_err(), Error::Denied);
    let polled = session.poll_events(&heard, 10, Duration::ZERO).wait();
    assert_eq!(polled.unwrap_err(), Error::Denied);
    assert_eq!(session.hello().wait().unwrap_err(), Error::Denied);
    let done = told.done.lock().unwrap();
    assert!(done.contains(&(Verb::Click, "consent_denied")), "{done:?}");
    drop(done);
    let checked = told.checked.lock().unwrap();
    let full = checked.iter().rfind(|it| it.verb == Verb::DescribeUi);
    assert_eq!(full.unwrap().scope, Scope::Full);
}

#[test]
fn each_request_is_told_of_once_whatever_comes_of_it() {
    let app = app();
    let told = Arc::new(Told::default());
    let host = host(&app, AuthGate::of(told.clone()));
    let session = patient(&host, "Assistant");
    let done = |what: &[(Verb, &'static str)]| {
        eventually("it is told", || {
            told.done.lock().unwrap().len() >= what.len()
        });
        let mut all = std::mem::take(&mut *told.done.lock().unwrap());
        all.sort_by_key(|(verb, _)| *verb);
        assert_eq!(all, what);
        let checked = std::mem::take(&mut *told.checked.lock().unwrap());
        // On its way in, and again on the UI thread if it got there.
        assert!(checked.len() >= what.len());
    };
    assert_eq!(refused(session.click("nothing")), Refusal::NotFound);
    done(&[(Verb::Click, "not_found")]);
    session.set_deadline(Duration::from_millis(30));
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    drop(session.click("save"));
    assert!(session.focus("name").wait().is_err());
    let waits = session.wait_for("x", Until::Exists, Duration::from_secs(20));
    host.revoke_all();
    assert!(waits.wait().is_err());
    go_on.send(()).unwrap();
    done(&[
        (Verb::Click, "cancelled"),
        (Verb::Focus, "app_busy"),
        (Verb::WaitFor, "consent_denied"),
    ]);
    let other = patient(&host, "Other");
    let never = other.wait_for("x", Until::Exists, Duration::from_millis(30));
    assert!(!got(never).met);
    done(&[(Verb::WaitFor, "allowed")]);
}

#[test]
fn what_is_revoked_is_refused_for_good_and_hears_nothing() {
    let app = app();
    let told = Arc::new(Told::default());
    let host = host(&app, AuthGate::of(told.clone()));
    let (one, other) = (patient(&host, "One"), patient(&host, "Other"));
    let heard = got(one.subscribe(Listen::default()));
    let others = got(other.subscribe(Listen::default()));
    let waits = one.poll_events(&heard, 10, Duration::from_secs(20));
    let awaits = one.wait_for("nothing", Until::Exists, Duration::from_secs(20));
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    let queued = one.click("save");
    // As the policy does it.
    let connection = host.members()[0].connection;
    let attached = told.attached.lock().unwrap()[0].upgrade().unwrap();
    attached.revoke(&|it| it == connection, agent_core::RevokedUntil::Gone);
    go_on.send(()).unwrap();
    for ended in [
        queued.wait().map(drop),
        waits.wait().map(drop),
        awaits.wait().map(drop),
        one.describe_ui(false).wait().map(drop),
        one.poll_events(&heard, 10, Duration::ZERO).wait().map(drop),
    ] {
        assert_eq!(ended.unwrap_err(), Error::Denied);
    }
    assert!(!host.members()[0].admitted && host.members()[1].admitted);
    got(other.click("save"));
    let polled = got(other.poll_events(&others, 10, Duration::ZERO));
    assert!(!polled.events.is_empty());
    // Another session can be made.
    got(patient(&host, "Again").click("save"));
}

#[test]
fn a_subscription_ends_when_it_is_dropped_and_belongs_to_its_session() {
    let (_app, host, session) = served();
    let other = patient(&host, "Other");
    let heard = got(session.subscribe(Listen::default()));
    let polled = other.poll_events(&heard, 1, Duration::ZERO).wait();
    assert_eq!(polled.unwrap_err(), Error::NoSubscription);
    // What is waited for comes.
    let waits = session.poll_events(&heard, 1, Duration::from_secs(20));
    got(other.click("save"));
    let theirs = got(waits);
    assert_eq!(theirs.events.len(), 1);
    // What one brought about oneself is told apart, and whose the rest is isn't told.
    assert_eq!(theirs.events[0].cause, None);
    let _ = got(session.poll_events(&heard, 10, Duration::ZERO));
    let click = session.click("save");
    let name = click.name().map(str::to_owned);
    got(click);
    let mine = got(session.poll_events(&heard, 1, Duration::ZERO));
    let cause = mine.events[0]
        .cause
        .as_ref()
        .map(|it| it.request.to_string());
    assert!(name.is_some());
    assert_eq!(cause, name);
    // Nothing is lost by giving up.
    got(session.set_checked("dark", true));
    drop(session.poll_events(&heard, 10, Duration::from_secs(20)));
    let rest = got(session.poll_events(&heard, 10, Duration::ZERO));
    assert!(!rest.events.is_empty());
    // Nothing comes: the time is over.
    let none = got(session.poll_events(&heard, 10, Duration::from_millis(20)));
    assert!(none.events.is_empty());
    // What happened can be replayed.
    let replay = Listen {
        from: Some(1),
        ..Listen::default()
    };
    let again = got(session.subscribe(replay));
    assert!(!again.gap);
    assert!(
        !got(session.poll_events(&again, 10, Duration::ZERO))
            .events
            .is_empty()
    );
}

/// Counts what a backend is told.
struct Counted {
    app: agent_headless::HeadlessHandle,
    clients: AtomicUsize,
    listeners: AtomicUsize,
}

impl Backend for Counted {
    fn submit(&self, job: agent_core::Job) {
        self.app.submit(job);
    }
    fn purge(&self) {
        self.app.purge();
    }
    fn has_window(&self, id: &str) -> bool {
        self.app.has_window(id)
    }
    fn emit(&self, id: &str, verb: EventVerb) {
        self.app.emit(id, verb);
    }
    fn listen(&self, sink: agent_core::EventSink) {
        self.app.listen(sink);
    }
    fn set_listeners(&self, listeners: usize) {
        self.listeners.store(listeners, Ordering::SeqCst);
        self.app.set_listeners(listeners);
    }
    fn set_clients(&self, clients: usize) {
        self.clients.store(clients, Ordering::SeqCst);
        self.app.set_clients(clients);
    }
}

#[test]
fn a_server_and_sessions_share_a_backend_and_number_events_alike() {
    let app = app();
    let counted = Arc::new(Counted {
        app: app.handle(),
        clients: AtomicUsize::new(0),
        listeners: AtomicUsize::new(0),
    });
    let gate = AuthGate::default();
    let host = Host::new("a".into(), "A".into(), counted.clone(), gate);
    let counts = || {
        let clients = counted.clients.load(Ordering::SeqCst);
        (clients, counted.listeners.load(Ordering::SeqCst))
    };
    // As a server does it: a hub of its own, and numbers that know of nobody else.
    let hub = Arc::new(Mutex::new(agent_core::Hub::new(16)));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (tells, hears) = (hub.clone(), heard.clone());
    let server: Arc<dyn Backend> = host.clone();
    server.listen(Arc::new(move |events| {
        tells.lock().unwrap().emit(events);
        hears.lock().unwrap().extend(events.iter().cloned());
    }));
    server.set_clients(2);
    server.set_listeners(1);
    let session = patient(&host, "Assistant");
    assert_eq!(counts(), (2, 1));
    let ours = got(session.subscribe(Listen::default()));
    assert_eq!(counts(), (3, 2));
    server.set_clients(0);
    server.set_listeners(0);
    assert_eq!(counts(), (1, 1));
    for _ in 0..3 {
        got(session.set_checked("dark", true));
        got(session.set_checked("dark", false));
    }
    let polled = got(session.poll_events(&ours, 256, Duration::ZERO));
    let told: Vec<u64> = heard.lock().unwrap().iter().map(|it| it.seq).collect();
    for event in &polled.events {
        assert!(told.contains(&event.seq));
        let theirs = heard.lock().unwrap();
        let same = theirs.iter().find(|it| it.seq == event.seq).unwrap();
        assert_eq!((&same.source, same.verb), (&event.source, event.verb));
    }
    assert!(polled.events.len() >= 6);
    drop(ours);
    assert_eq!(counts(), (1, 0));
    drop(session);
    assert_eq!(counts(), (0, 0));
}

#[test]
fn a_surface_that_is_no_longer_served_says_so() {
    let (app, host, session) = served();
    got(session.click("save"));
    let waits = session.wait_for("nothing", Until::Exists, Duration::from_secs(20));
    host.stop();
    assert_eq!(waits.wait().unwrap_err(), Error::Closed);
    assert_eq!(session.click("save").wait().unwrap_err(), Error::Closed);
    assert_eq!(
        patient(&host, "Late").hello().wait().unwrap_err(),
        Error::Closed
    );
    drop(host);
    assert_eq!(session.click("save").wait().unwrap_err(), Error::Closed);
    drop(app);
}

#[test]
fn an_app_that_closes_answers_what_waits() {
    let (app, _host, session) = served();
    let (go_on, blocked) = mpsc::channel::<()>();
    app.post(move |_| wait(&blocked));
    let waits = session.click("save");
    let ends = std::thread::spawn(move || drop(app));
    go_on.send(()).unwrap();
    // Either it got its turn before the end, or it is told of the end.
    let result = waits.wait();
    assert!(matches!(result, Ok(_) | Err(Error::Closed)), "{result:?}");
    ends.join().unwrap();
    assert_eq!(session.click("save").wait().unwrap_err(), Error::Closed);
}

#[test]
fn many_threads_ask_one_session() {
    let (_app, _host, session) = served();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let session = session.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    got(session.get_text("save"));
                }
            });
        }
    });
    assert!(begun.elapsed() < LONG);
}
