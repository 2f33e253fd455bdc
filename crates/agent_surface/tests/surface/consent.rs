//! The real policy before a real app: who is asked about, in which order, and what is over when
//! a leave is taken back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent_consent::{Answer, Builder, Consent, Mode, Scripted};
use agent_surface::{
    Limits, Surface, Tag,
    headless::{Headless, Widget},
};
use agent_test_support::{Client, TempDir, eventually, folder, reason};
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
    let served = served(|consent| consent.mode(Mode::AllowAll));
    let mut clients: Vec<Client> = (0..4).map(|_| served.connect()).collect();
    for client in &mut clients {
        client.assert_served("org.example.consent");
    }
    served.app.block(2000);
    for client in &mut clients {
        clicks(client, 25);
        // Refused where it is read: those before it are on their way.
        assert_eq!(reason(&client.ask("juggle", json!({}))), "method_not_found");
    }
    served.consent.revoke_all();
    let before = served.saved();
    served.app.run(|_| ());
    let performed = served.saved();
    // On a slow machine one may have been on the UI thread at that moment.
    assert!(performed <= before + 1, "{before} {performed}");
    let mut allowed = 0;
    for client in &mut clients {
        for _ in 0..25 {
            match reason(&client.reply()) {
                "consent_denied" => {}
                _ => allowed += 1,
            }
        }
    }
    assert_eq!(allowed, performed);
    assert!(performed < 100, "the app was blocked for too short a time");
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
