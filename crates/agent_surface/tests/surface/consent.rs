//! The policy that asks the user, behind the real server: the client is this very process, so
//! that nobody can identify it, and a yes is for one connection.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent_surface::{
    Limits, Surface,
    consent::{Answer, Builder, Consent, Mode, Notice, Scripted},
    headless::{Headless, Widget},
};
use agent_test_support::{Client, TempDir, eventually, folder, reason};
use serde_json::json;

/// A served app with a button, one that is confirmed each time, and a user of answers.
struct App {
    user: Scripted,
    consent: Consent,
    surface: Surface,
    clicks: Arc<AtomicUsize>,
    _app: Headless,
    _folder: TempDir,
}

impl App {
    fn new(set: impl FnOnce(Builder) -> Builder) -> Self {
        let clicks = Arc::new(AtomicUsize::new(0));
        let counts = clicks.clone();
        let app = Headless::start("consent", move |tree| {
            let count = || {
                let clicks = counts.clone();
                move || {
                    // So that what comes at once has to wait its turn.
                    std::thread::sleep(Duration::from_millis(1));
                    clicks.fetch_add(1, Ordering::SeqCst);
                }
            };
            let (save, erase) = (count(), count());
            tree.open_window(
                Widget::window("Main").tag("main").children([
                    Widget::button("Save")
                        .tag("save")
                        .on_click(move |_, _| save()),
                    Widget::button("Erase")
                        .tag(agent_surface::Tag::id("erase").confirm())
                        .on_click(move |_, _| erase()),
                ]),
            );
        });
        let folder = folder();
        let user = Scripted::new();
        let builder = Consent::builder("org.example.consent")
            .prompt(user.clone())
            .retry_after(Duration::from_millis(700))
            .rules_dir(folder.path().join("rules"))
            .log(folder.path().join("log.jsonl"));
        let consent = set(builder).build();
        let surface = Surface::builder("org.example.consent")
            .gate(consent.gate())
            .headless(&app)
            .limits(Limits {
                actions: None,
                ..Limits::default()
            })
            .at(folder.path().join("s"))
            .serve()
            .unwrap();
        Self {
            user,
            consent,
            surface,
            clicks,
            _app: app,
            _folder: folder,
        }
    }

    fn connect(&self) -> Client {
        Client::connect(self.surface.address().unwrap())
    }

    fn clicks(&self) -> usize {
        self.clicks.load(Ordering::SeqCst)
    }
}

#[test]
fn the_user_is_asked_once_and_the_agent_comes_back() {
    let app = App::new(|builder| builder);
    let mut agent = app.connect();
    let pending = agent.click("save");
    assert_eq!(reason(&pending), "consent_pending");
    assert_eq!(pending["error"]["data"]["retry_after_ms"], 700);
    assert_eq!(reason(&agent.click("save")), "consent_pending");
    assert_eq!((app.user.open(), app.user.shown(), app.clicks()), (1, 1, 0));
    assert!(app.user.answer(Answer::Once));
    assert_eq!(agent.click("save")["result"]["outcome"], "allowed");
    assert_eq!(app.clicks(), 1);
    // A yes to using the app is none to the whole tree, had the app armed it or not.
    let full = agent.ask("describe_ui", json!({"mode": "full"}));
    assert_eq!(reason(&full), "consent_pending");
    assert!(app.user.answer(Answer::No));
    let full = agent.ask("describe_ui", json!({"mode": "full"}));
    assert_eq!(reason(&full), "consent_denied");
    // Another connection of who can't be identified is asked about by itself.
    assert_eq!(reason(&app.connect().click("save")), "consent_pending");
}

#[test]
fn what_is_held_back_is_served_when_the_answer_comes() {
    let app = App::new(|builder| builder.hold(Duration::from_secs(60)));
    let mut agent = app.connect();
    agent.send("click", json!({"id": "save"}));
    eventually("it is asked", || app.user.open() == 1);
    assert_eq!(app.clicks(), 0);
    assert!(app.user.answer(Answer::Once));
    assert_eq!(agent.reply()["result"]["outcome"], "allowed");
    let mut other = app.connect();
    other.send("click", json!({"id": "save"}));
    eventually("it is asked", || app.user.open() == 1);
    assert!(app.user.answer(Answer::No));
    assert_eq!(reason(&other.reply()), "consent_denied");
    assert_eq!(app.clicks(), 1);
}

#[test]
fn a_question_goes_with_its_client() {
    let app = App::new(|builder| builder);
    let mut agent = app.connect();
    agent.click("save");
    assert_eq!(app.user.open(), 1);
    drop(agent);
    eventually("it is withdrawn", || {
        (app.user.open(), app.user.withdrawn()) == (0, 1)
    });
    eventually("nobody is connected", || app.consent.connected().is_empty());
}

#[test]
fn what_is_marked_is_confirmed_each_time() {
    let app = App::new(|builder| builder.mode(Mode::AllowAll));
    let mut agent = app.connect();
    let mut outcome = |id| {
        agent.click(id)["result"]["outcome"]
            .as_str()
            .map(str::to_owned)
    };
    let mut check = |id, expected: &str| assert_eq!(outcome(id).as_deref(), Some(expected));
    check("erase", "needs_confirmation");
    assert_eq!(
        app.user.headings(),
        ["May a program that can't be identified press “Erase”?"]
    );
    assert!(app.user.answer(Answer::Once));
    check("erase", "allowed");
    check("erase", "needs_confirmation");
    assert!(app.user.answer(Answer::Once));
    // Another act in between voids the yes.
    check("save", "allowed");
    check("erase", "needs_confirmation");
    assert_eq!(app.clicks(), 2);
}

#[test]
fn rule_2_none_of_a_hundred_in_flight_is_performed_after_a_revocation_returns() {
    for take_back in [Consent::revoke_all as fn(&Consent), Consent::stop_all] {
        let app = App::new(|builder| builder.mode(Mode::AllowAll));
        let mut agents: Vec<Client> = (0..10).map(|_| app.connect()).collect();
        for agent in &mut agents {
            assert_eq!(agent.click("save")["result"]["outcome"], "allowed");
        }
        for agent in &mut agents {
            for _ in 0..10 {
                agent.send("click", json!({"id": "save"}));
            }
        }
        eventually("some are performed", || app.clicks() > 15);
        take_back(&app.consent);
        // What had begun when it returned may end.
        let begun = app.clicks() + 1;
        let mut allowed = 0;
        for agent in &mut agents {
            for _ in 0..10 {
                let reply = agent.reply();
                match reply["result"]["outcome"].as_str() {
                    Some(outcome) => {
                        assert_eq!(outcome, "allowed");
                        allowed += 1;
                    }
                    None => assert_eq!(reason(&reply), "consent_denied"),
                }
            }
        }
        assert!(app.clicks() <= begun, "{} > {begun}", app.clicks());
        assert_eq!(app.clicks(), 10 + allowed);
        assert!(allowed < 100, "all were performed before it was taken back");
        for agent in &mut agents {
            assert_eq!(reason(&agent.click("save")), "consent_denied");
        }
    }
}

#[test]
fn a_revocation_ends_what_an_agent_listens_to() {
    let app = App::new(|builder| builder.mode(Mode::AllowAll));
    let mut agent = app.connect();
    let subscription = agent.get("subscribe", json!({}))["subscription"].clone();
    agent.send(
        "poll_events",
        json!({"subscription": subscription, "wait_ms": 20_000}),
    );
    eventually("it is known", || app.consent.connected().len() == 1);
    let connection = app.consent.connected()[0].who.connection;
    assert!(app.consent.stop(connection));
    assert_eq!(reason(&agent.reply()), "consent_denied");
    assert!(app.consent.connected().is_empty());
}

#[test]
fn the_app_hears_of_all_that_agents_do() {
    let acts = Arc::new(Mutex::new(Vec::new()));
    let hears = acts.clone();
    let app = App::new(|builder| {
        builder.mode(Mode::AllowAll).on_act(move |act| {
            hears
                .lock()
                .unwrap()
                .push(format!("{act:?}").split('(').next().map(str::to_owned));
        })
    });
    let notices = app.consent.notices();
    let mut agent = app.connect();
    agent.get("hello", json!({"name": "tester"}));
    agent.click("save");
    agent.click("nowhere");
    drop(agent);
    let mut heard = Vec::new();
    eventually("it has gone", || {
        heard.extend(notices.try_iter());
        matches!(heard.last(), Some(Notice::Gone { .. }))
    });
    let outcomes: Vec<(Option<&str>, &str)> = heard
        .iter()
        .filter_map(|notice| match notice {
            Notice::Acted { node, outcome, .. } => Some((node.as_deref(), *outcome)),
            _ => None,
        })
        .collect();
    assert_eq!(
        outcomes,
        [(Some("save"), "allowed"), (Some("nowhere"), "not_found")]
    );
    let acting = heard
        .iter()
        .filter(|notice| matches!(notice, Notice::Acting { .. }));
    assert_eq!(acting.count(), 1, "{heard:?}");
    let acts = acts.lock().unwrap();
    assert_eq!(*acts, [Some("Before".to_owned()), Some("After".to_owned())]);
}
