//! Rule 2, and taking a leave back.

use std::sync::{Arc, Mutex, atomic::Ordering};

use agent_core::{AuthGate, Decision, Request, Scope, Verb};
use serde_json::json;

use crate::support::{Clicks, served, served_with};
use agent_test_support::{eventually, reason};

#[test]
fn rule_2_gate_first_who_is_denied_gets_one_answer_and_reaches_nothing() {
    let gates: [(&str, AuthGate); 4] = [
        ("none", AuthGate::deny_all()),
        ("no", AuthGate::serve(|_| Decision::deny("hunter2"))),
        ("ask", AuthGate::serve(|_| Decision::Ask)),
        (
            "fault",
            AuthGate::serve(|_| panic!("a fault in the policy")),
        ),
    ];
    let mut answers = Vec::new();
    for (name, gate) in gates {
        let served = served_with(|config| config.gate = gate);
        let mut client = served.connect();
        for (method, params) in [
            ("click", "{\"id\":\"save\"}"),
            ("click", "{\"id\":\"nowhere\"}"),
            ("click", "{\"id\":\"save\",\"window\":\"main\"}"),
            ("focus", "{\"id\":\"save\"}"),
            ("get_text", "{\"id\":\"field\"}"),
            ("describe_ui", "{}"),
            ("describe_ui", "{\"mode\":\"full\"}"),
            ("hello", "{}"),
        ] {
            client.raw(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}"
            ));
            answers.push(client.line());
        }
        assert_eq!(served.fake.submitted(), 0, "{name}");
        assert_eq!(served.fake.clients(), 0, "{name}");
        assert!(!served.server.clients()[0].admitted, "{name}");
    }
    assert!(answers[0].contains("-31001"), "{}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

#[test]
fn the_gate_is_told_the_facts() {
    let seen = Arc::new(Mutex::new(Vec::<Request>::new()));
    let seeing = seen.clone();
    let served = served_with(|config| {
        config.gate = AuthGate::serve(move |request| {
            seeing.lock().unwrap().push(request.clone());
            Decision::deny("no")
        });
    });
    let mut client = served.connect();
    client.ask("hello", json!({"name": "a\"b"}));
    client.ask("click", json!({"id": "save"}));
    client.ask("describe_ui", json!({"mode": "full", "root": "list"}));
    client.ask("hello", json!({}));
    let seen = seen.lock().unwrap();
    let facts: Vec<_> = seen
        .iter()
        .map(|it| (it.verb, it.scope, it.target.as_deref()))
        .collect();
    assert_eq!(
        facts,
        [
            (Verb::Hello, Scope::Surface, None),
            (Verb::Click, Scope::Surface, Some("save")),
            (Verb::DescribeUi, Scope::Full, Some("list")),
            (Verb::Hello, Scope::Surface, None),
        ]
    );
    let connection = served.server.clients()[0].connection;
    for request in seen.iter() {
        assert_eq!(request.claimed_name.as_deref(), Some("a\"b"));
        assert_eq!(request.connection, connection);
        // The test connects to itself, and the app is no agent.
        assert_eq!(request.peer, None);
    }
}

#[test]
fn rule_2_the_gate_is_asked_again_on_entry() {
    let allowed = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let asked = allowed.clone();
    let served = served_with(|config| {
        config.gate = AuthGate::serve(move |_| {
            if asked.load(Ordering::SeqCst) {
                Decision::Allow
            } else {
                Decision::deny("no more")
            }
        });
    });
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    client.send("click", json!({"id": "save"}));
    client.send("click", json!({"id": "save"}));
    eventually("both queued", || served.fake.submitted() == 2);
    allowed.store(false, Ordering::SeqCst);
    served.fake.go_on();
    client.reply();
    assert_eq!(reason(&client.reply()), "consent_denied");
    assert!(served.fake.clicked() <= 1);
}

#[test]
fn the_backend_knows_how_many_were_let_in() {
    let served = served();
    let mut a = served.connect();
    let mut b = served.connect();
    let _silent = served.connect();
    a.assert_served("demo");
    a.assert_served("demo");
    assert_eq!(served.fake.clients(), 1);
    b.assert_served("demo");
    assert_eq!(served.fake.clients(), 2);
    drop(a);
    eventually("one left", || served.fake.clients() == 1);
    served.server.revoke();
    assert_eq!(served.fake.clients(), 0);
    drop(b);
    eventually("gone", || served.server.clients().len() == 1);
    assert_eq!(served.fake.clients(), 0);
}

#[test]
fn rule_2_who_is_revoked_begins_nothing_more() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    let entered = client.send("click", json!({"id": "save"}));
    served.fake.wait_until_entered();
    let queued = client.send("click", json!({"id": "save"}));
    eventually("queued", || served.fake.queued() == 1);
    served.server.revoke();
    assert_eq!(served.fake.queued(), 0, "withdrawn when `revoke` returns");
    let refused = client.reply();
    assert_eq!(
        (reason(&refused), &refused["id"]),
        ("consent_denied", &json!(queued))
    );
    // What had entered completes, and says so.
    served.fake.go_on();
    let done = client.reply();
    assert_eq!(
        (&done["id"], &done["result"]["outcome"]),
        (&json!(entered), &json!("allowed"))
    );
    for _ in 0..3 {
        assert_eq!(reason(&client.click("save")), "consent_denied");
        assert_eq!(reason(&client.ask("hello", json!({}))), "consent_denied");
    }
    assert_eq!(served.fake.clicked(), 1);
    assert!(!served.server.clients()[0].admitted);
    // Whoever connects now is for the gate to judge.
    assert_eq!(
        served.connect().click("save")["result"]["outcome"],
        "allowed"
    );
}

#[test]
fn rule_2_no_click_slips_past_a_revocation() {
    for _ in 0..20 {
        let served = served();
        let mut client = served.connect();
        client.assert_served("demo");
        let address = served.server.address().unwrap().to_owned();
        drop(client);
        let flood = std::thread::spawn(move || {
            let mut client = agent_test_support::Client::connect(&address);
            while reason(&client.click("save")) != "consent_denied" {}
        });
        eventually("clicks", || served.fake.clicked() > 3);
        served.server.revoke();
        let after = served.fake.clicked();
        flood.join().unwrap();
        // One may have been on the UI thread when it was revoked.
        assert!(served.fake.clicked() <= after + 1);
    }
}

#[test]
fn rule_10_a_subscription_whose_name_nobody_will_know_is_ended() {
    let ends: [fn(&mut agent_test_support::Client, u64); 2] = [
        |client, asked| client.notify("notifications/cancelled", json!({"requestId": asked})),
        |client, _| assert_eq!(reason(&client.reply()), "app_busy"),
    ];
    for (which, end) in ends.into_iter().enumerate() {
        let served = served();
        let listeners = || served.fake.listeners.load(Ordering::SeqCst);
        let mut client = served.connect();
        let kept = client.get("subscribe", json!({}));
        served.fake.on_click(Clicks::Hang);
        let timeout = if which == 0 { 30_000 } else { 200 };
        let asked = client.send("subscribe", json!({"timeout_ms": timeout}));
        eventually("it has entered", || served.fake.hung() == 1);
        end(&mut client, asked);
        // What was sent before this has been seen to.
        client.assert_served("demo");
        served.fake.listen_late();
        eventually("it is ended", || listeners() == 1);
        client.get("poll_events", kept_only(&kept));
    }
}

fn kept_only(subscribed: &serde_json::Value) -> serde_json::Value {
    json!({"subscription": subscribed["subscription"]})
}

#[test]
fn rule_2_who_is_gone_or_revoked_when_its_turn_comes_listens_to_nothing() {
    for revoked in [true, false] {
        let served = served();
        let listeners = || served.fake.listeners.load(Ordering::SeqCst);
        let mut client = served.connect();
        client.get("subscribe", json!({}));
        assert_eq!(listeners(), 1);
        served.fake.on_click(Clicks::Hang);
        client.send("subscribe", json!({}));
        eventually("it has entered", || served.fake.hung() == 1);
        if revoked {
            served.server.revoke();
        } else {
            drop(client);
            eventually("it is gone", || served.server.clients().is_empty());
        }
        eventually("nobody listens", || listeners() == 0);
        served.fake.listen_late();
        assert_eq!(listeners(), 0, "revoked: {revoked}");
    }
}
