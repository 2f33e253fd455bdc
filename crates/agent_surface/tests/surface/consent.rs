//! The real policy before a real app: who is asked about, in which order, and what is over when
//! a leave is taken back. The client is this very process, so that nobody can identify it, and a
//! yes is for one connection.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent_surface::{
    Limits, Surface, Tag,
    consent::{Answer, Builder, Consent, Mode, Notice, Scripted},
    headless::{Headless, Widget},
};
use agent_test_support::{Client, LONG, TempDir, eventually, folder, reason};
use serde_json::json;

struct Served {
    app: Headless,
    saved: Arc<AtomicUsize>,
    user: Scripted,
    consent: Consent,
    surface: Surface,
    _folder: TempDir,
}

fn served(set: impl FnOnce(Builder) -> Builder) -> Served {
    let folder = folder();
    let saved = Arc::new(AtomicUsize::new(0));
    let count = saved.clone();
    let app = Headless::start("consent", move |tree| {
        let save = |id: &str| {
            let count = count.clone();
            Widget::button("Save")
                .tag(id.to_owned())
                .on_click(move |_, _| {
                    count.fetch_add(1, Ordering::SeqCst);
                })
        };
        let erase = save("erase").tag(Tag::id("erase").confirm());
        tree.open_window(
            Widget::window("")
                .tag("main")
                .children([save("save"), erase]),
        );
    });
    let user = Scripted::new();
    let consent = Consent::builder("org.example.consent")
        .prompt(user.clone())
        .retry_after(Duration::from_millis(700))
        .rules_dir(folder.path().join("rules"))
        .no_log();
    let consent = set(consent).build();
    let limits = Limits {
        actions: None,
        ..Limits::default()
    };
    let surface = Surface::builder("org.example.consent")
        .gate(consent.gate())
        .limits(limits)
        .headless(&app)
        .at(folder.path().join("s"))
        .serve()
        .unwrap();
    Served {
        app,
        saved,
        user,
        consent,
        surface,
        _folder: folder,
    }
}

impl Served {
    fn connect(&self) -> Client {
        Client::connect(self.surface.address().unwrap())
    }

    fn saved(&self) -> usize {
        self.saved.load(Ordering::SeqCst)
    }
}

fn clicks(client: &mut Client, times: usize) {
    for _ in 0..times {
        client.send("click", json!({"id": "save", "timeout_ms": 30_000}));
    }
}

#[test]
fn rule_10_fifty_requests_and_five_agents_make_one_question_each_in_order() {
    let served = served(|consent| consent.hold(Duration::from_secs(600)));
    let mut clients: Vec<Client> = (0..5).map(|_| served.connect()).collect();
    for client in &mut clients {
        clicks(client, 50);
        // Four may wait; the others are told to come back.
        for _ in 4..50 {
            assert_eq!(reason(&client.reply()), "consent_pending");
        }
    }
    for (asked, client) in clients.iter_mut().enumerate() {
        eventually("the next question", || served.user.shown() == asked + 1);
        assert_eq!((served.user.open(), served.saved()), (1, asked * 4));
        assert!(served.user.answer(Answer::Once));
        // By nobody else's answer than their own, and in the order of asking.
        for _ in 0..4 {
            let reply = client.reply();
            assert_eq!(reply["result"]["outcome"], "allowed", "{reply}");
        }
    }
    assert_eq!((served.user.open(), served.user.shown()), (0, 5));
}

#[test]
fn a_thousand_bare_connections_ask_nobody() {
    let served = served(|consent| consent);
    for _ in 0..1000 {
        drop(served.connect());
        eventually("room", || served.surface.clients().len() < 32);
    }
    assert_eq!(served.user.shown(), 0);
    assert_eq!(reason(&served.connect().click("save")), "consent_pending");
    eventually("asked", || served.user.shown() == 1);
}

#[test]
fn rule_2_none_of_a_hundred_in_flight_is_performed_after_revoke_returns() {
    for take_back in [Consent::revoke_all as fn(&Consent), Consent::stop_all] {
        in_flight_when(take_back);
    }
}

fn in_flight_when(take_back: fn(&Consent)) {
    let served = served(|consent| consent.mode(Mode::AllowAll));
    let mut clients: Vec<Client> = (0..4).map(|_| served.connect()).collect();
    for client in &mut clients {
        client.assert_served("org.example.consent");
    }
    let (go_on, blocked) = std::sync::mpsc::channel::<()>();
    served.app.post(move |_| {
        let _ = blocked.recv_timeout(LONG);
    });
    for client in &mut clients {
        clicks(client, 25);
        // Refused where it is read: those before it are on their way.
        assert_eq!(reason(&client.ask("juggle", json!({}))), "method_not_found");
    }
    take_back(&served.consent);
    go_on.send(()).unwrap();
    let before = served.saved();
    served.app.run(|_| ());
    let performed = served.saved();
    assert_eq!((before, performed), (0, 0));
    for client in &mut clients {
        for _ in 0..25 {
            assert_eq!(reason(&client.reply()), "consent_denied");
        }
    }
}

#[test]
fn rule_3_a_yes_is_for_one_press_of_what_the_user_saw() {
    let served = served(|consent| consent.mode(Mode::AllowAll));
    let mut client = served.connect();
    let mut outcome = |id: &str| client.click(id)["result"]["outcome"].take();
    assert_eq!(outcome("erase"), "needs_confirmation");
    eventually("asked", || served.user.open() == 1);
    assert!(served.user.answer(Answer::Once));
    assert_eq!((outcome("erase"), served.saved()), (json!("allowed"), 1));
    assert_eq!(outcome("erase"), "needs_confirmation");
    eventually("asked", || served.user.open() == 1);
    assert!(served.user.answer(Answer::Once));
    // Another act voids it.
    assert_eq!(outcome("save"), "allowed");
    assert_eq!(outcome("erase"), "needs_confirmation");
    assert_eq!(served.saved(), 2);
}

#[test]
fn the_user_is_asked_once_and_the_agent_comes_back() {
    let app = served(|consent| consent);
    let mut agent = app.connect();
    let pending = agent.click("save");
    assert_eq!(reason(&pending), "consent_pending");
    assert_eq!(pending["error"]["data"]["retry_after_ms"], 700);
    assert_eq!(reason(&agent.click("save")), "consent_pending");
    assert_eq!((app.user.open(), app.user.shown(), app.saved()), (1, 1, 0));
    assert!(app.user.answer(Answer::Once));
    assert_eq!(agent.click("save")["result"]["outcome"], "allowed");
    assert_eq!(app.saved(), 1);
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
    let app = served(|consent| consent.hold(Duration::from_secs(60)));
    let mut agent = app.connect();
    agent.send("click", json!({"id": "save"}));
    eventually("it is asked", || app.user.open() == 1);
    assert_eq!(app.saved(), 0);
    assert!(app.user.answer(Answer::Once));
    assert_eq!(agent.reply()["result"]["outcome"], "allowed");
    let mut other = app.connect();
    other.send("click", json!({"id": "save"}));
    eventually("it is asked", || app.user.open() == 1);
    assert!(app.user.answer(Answer::No));
    assert_eq!(reason(&other.reply()), "consent_denied");
    assert_eq!(app.saved(), 1);
}

#[test]
fn a_question_goes_with_its_client() {
    let app = served(|consent| consent);
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
fn a_revocation_ends_what_an_agent_listens_to() {
    let app = served(|consent| consent.mode(Mode::AllowAll));
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
    let app = served(|consent| {
        consent.mode(Mode::AllowAll).on_act(move |act| {
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
