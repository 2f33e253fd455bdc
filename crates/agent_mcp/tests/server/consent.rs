//! While the user is asked: who waits, who is sent away, and what the policy is told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent_core::{AuthGate, Decision, RevokedUntil, Verb};
use serde_json::{Value, json};

use crate::{
    desk::{Desk, is_full},
    slow::Slow,
    support::{Clicks, Served, served_with},
};
use agent_test_support::{Client, eventually, reason};

/// Never over in a test.
const HOLD: Duration = Duration::from_secs(600);

fn served(desk: &Arc<Desk>) -> Served {
    served_with(|config| {
        config.gate = desk.gate();
        config.armed_full = true;
        config.limits.actions = None;
    })
}

fn clicks(client: &mut Client, times: usize) -> Vec<u64> {
    let click = |_| client.send("click", json!({"id": "save", "timeout_ms": 20_000}));
    (0..times).map(click).collect()
}

fn outcome(reply: &Value) -> &str {
    reply["result"]["outcome"].as_str().unwrap_or(reason(reply))
}

fn asked(desk: &Desk, times: usize) {
    eventually("asked", || desk.told().asked.len() >= times);
}

#[test]
fn who_may_not_wait_is_told_to_come_back_and_nothing_is_done() {
    let desk = Desk::holding(Duration::ZERO);
    let served = served(&desk);
    let mut client = served.connect();
    for _ in 0..3 {
        let reply = client.click("save");
        assert_eq!(reason(&reply), "consent_pending");
        assert_eq!(reply["error"]["code"], -31002);
        assert_eq!(reply["error"]["data"]["retry_after_ms"], 700);
    }
    assert_eq!((served.fake.submitted(), served.fake.clients()), (0, 0));
    assert_eq!(desk.told().done, [(Verb::Click, "consent_pending"); 3]);
    desk.decide(|_| Decision::Allow);
    assert_eq!(outcome(&client.click("save")), "allowed");
    // Where nobody can be asked it is a no.
    let desk = Desk::new(None);
    let served = self::served(&desk);
    assert_eq!(reason(&served.connect().click("save")), "consent_denied");
}

#[test]
fn who_waits_is_served_in_order_when_the_answer_comes() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    let mut client = served.connect();
    let mut sent = vec![client.send("hello", json!({"name": "x"}))];
    sent.extend(clicks(&mut client, 2));
    sent.push(client.send("describe_ui", json!({})));
    asked(&desk, 4);
    assert_eq!(served.fake.submitted(), 0);
    // An answer to another question changes nothing: the first is asked about again, and waits.
    desk.server().answered(&|_| true);
    asked(&desk, 5);
    assert_eq!((served.fake.submitted(), desk.told().done), (0, vec![]));
    desk.decide(|_| Decision::Allow);
    for id in sent {
        let reply = client.reply();
        assert_eq!(reply["id"], id, "{reply}");
        assert!(reply["error"].is_null(), "{reply}");
    }
    assert_eq!(served.fake.clicked(), 2);
    assert!(desk.told().done.iter().all(|(_, word)| *word == "allowed"));
    // And when it is a no.
    let desk = Desk::holding(HOLD);
    let served = self::served(&desk);
    let mut client = served.connect();
    let sent = clicks(&mut client, 2);
    asked(&desk, 2);
    desk.decide(|_| Decision::deny("no"));
    for id in sent {
        let reply = client.reply();
        assert_eq!(
            (&reply["id"], reason(&reply)),
            (&json!(id), "consent_denied")
        );
    }
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn who_has_waited_long_enough_is_told_to_come_back() {
    let desk = Desk::holding(Duration::from_secs(4));
    let served = served_with(|config| {
        config.gate = desk.gate();
        // To wait is not to be idle.
        config.limits.idle_before_gate = Duration::from_secs(3);
    });
    let mut client = served.connect();
    clicks(&mut client, 2);
    for _ in 0..2 {
        assert_eq!(reason(&client.reply()), "consent_pending");
    }
    eventually("told", || desk.told().done.len() == 2);
    assert_eq!(desk.told().done, [(Verb::Click, "consent_pending"); 2]);
    desk.decide(|_| Decision::Allow);
    assert_eq!(outcome(&served.connect().click("save")), "allowed");
    assert_eq!(served.fake.clicked(), 1);
}

#[test]
fn rule_9_what_is_cancelled_while_it_waits_is_not_done_nor_answered() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    let mut client = served.connect();
    let sent = clicks(&mut client, 2);
    asked(&desk, 2);
    client.notify("notifications/cancelled", json!({"requestId": sent[0]}));
    eventually("cancelled", || {
        desk.told().done == [(Verb::Click, "cancelled")]
    });
    desk.decide(|_| Decision::Allow);
    assert_eq!(client.reply()["id"], sent[1]);
    client.assert_served("demo");
    assert_eq!(served.fake.clicked(), 1);
}

#[test]
fn rule_9_who_goes_while_it_waits_leaves_nothing_to_be_done() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    let mut client = served.connect();
    clicks(&mut client, 3);
    asked(&desk, 3);
    drop(client);
    eventually("gone", || desk.told().gone.len() == 1);
    let told = desk.told();
    assert_eq!(
        (told.done, told.gone),
        (vec![(Verb::Click, "cancelled"); 3], told.met)
    );
    desk.decide(|_| Decision::Allow);
    served.connect().assert_served("demo");
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn rule_10_four_may_wait_before_the_gate_and_the_fifth_is_sent_away() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    let mut client = served.connect();
    let sent = clicks(&mut client, 6);
    for id in &sent[4..] {
        let reply = client.reply();
        assert_eq!(
            (&reply["id"], reason(&reply)),
            (&json!(id), "consent_pending")
        );
    }
    desk.decide(|_| Decision::Allow);
    for id in &sent[..4] {
        assert_eq!(client.reply()["id"], *id);
    }
    assert_eq!(served.fake.clicked(), 4);
}

#[test]
fn what_comes_after_one_that_waits_keeps_its_place_and_the_rest_goes_on() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    desk.decide(|request| match request.verb {
        Verb::SetText => Decision::Ask,
        _ => Decision::Allow,
    });
    let mut client = served.connect();
    client.assert_served("demo");
    let write = json!({"id": "field", "value": "x", "base_version": 7});
    let first = client.send("set_text", write);
    asked(&desk, 1);
    let behind = client.send("click", json!({"id": "save"}));
    // What takes no turn of the UI thread is not behind it, nor is anybody else.
    client.assert_served("demo");
    assert_eq!(outcome(&served.connect().click("save")), "allowed");
    assert_eq!(served.fake.clicked(), 1);
    desk.decide(|_| Decision::Allow);
    assert_eq!(client.reply()["id"], first);
    assert_eq!(client.reply()["id"], behind);
    // A yes to one scope is no yes to another, and neither waits for the other.
    desk.decide(|request| match is_full(request) {
        true => Decision::Ask,
        false => Decision::Allow,
    });
    let whole = client.send("describe_ui", json!({"mode": "full"}));
    assert_eq!(outcome(&client.click("save")), "allowed");
    desk.decide(|_| Decision::Allow);
    assert_eq!(client.reply()["id"], whole);
    // The last one behind is served too when the one before it is over.
    desk.decide(|request| match request.verb {
        Verb::SetText => Decision::Ask,
        _ => Decision::Allow,
    });
    let write = json!({"id": "field", "value": "x", "base_version": 7});
    let first = client.send("set_text", write);
    let behind = client.send("click", json!({"id": "save"}));
    client.notify("notifications/cancelled", json!({"requestId": first}));
    let reply = client.reply();
    assert_eq!((&reply["id"], outcome(&reply)), (&json!(behind), "allowed"));
}

#[test]
fn rule_2_who_is_revoked_waits_no_longer() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    let mut client = served.connect();
    clicks(&mut client, 3);
    asked(&desk, 3);
    desk.server().revoke(&|_| true, RevokedUntil::Gone);
    for _ in 0..3 {
        assert_eq!(reason(&client.reply()), "consent_denied");
    }
    desk.decide(|_| Decision::Allow);
    assert_eq!(reason(&client.click("save")), "consent_denied");
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn rule_2_who_was_stopped_is_the_gates_to_let_in_again() {
    let desk = Desk::holding(Duration::ZERO);
    let served = served(&desk);
    desk.decide(|_| Decision::Allow);
    let mut client = served.connect();
    let made = client.get("subscribe", json!({"push": true}));
    desk.decide(|_| Decision::deny("all are stopped"));
    desk.server().revoke(&|_| true, RevokedUntil::Admitted);
    assert_eq!(served.fake.clients(), 0);
    assert_eq!(reason(&client.click("save")), "consent_denied");
    desk.decide(|_| Decision::Allow);
    assert_eq!(outcome(&client.click("save")), "allowed");
    assert_eq!(served.fake.clients(), 1);
    // What it listened to is gone for good.
    let poll = json!({"subscription": made["subscription"]});
    assert_eq!(reason(&client.ask("poll_events", poll)), "invalid_params");
}

#[test]
fn rule_2_of_a_hundred_in_flight_none_begins_after_a_revocation() {
    let desk = Desk::holding(HOLD);
    let served = served(&desk);
    desk.decide(|_| Decision::Allow);
    served.fake.on_click(Clicks::Block);
    let mut clients: Vec<Client> = (0..5).map(|_| served.connect()).collect();
    let mut kept = clients.split_off(4).remove(0);
    kept.assert_served("demo");
    let kept_is = desk.told().met[0];
    clicks(&mut kept, 1);
    served.fake.wait_until_entered();
    served.fake.on_click(Clicks::Work);
    for client in &mut clients {
        clicks(client, 25);
    }
    let last = clicks(&mut kept, 1)[0];
    eventually("queued", || served.fake.queued() == 101);
    desk.server()
        .revoke(&|connection| connection != kept_is, RevokedUntil::Gone);
    assert_eq!(served.fake.queued(), 1, "withdrawn when it returns");
    for client in &mut clients {
        for _ in 0..25 {
            assert_eq!(reason(&client.reply()), "consent_denied");
        }
    }
    // Who was not meant is served on.
    served.fake.go_on();
    assert_eq!(outcome(&kept.reply()), "allowed");
    let reply = kept.reply();
    assert_eq!((&reply["id"], outcome(&reply)), (&json!(last), "allowed"));
    assert_eq!(served.fake.clicked(), 2);
    let denied = |told: &(Verb, &str)| *told == (Verb::Click, "consent_denied");
    eventually("told", || {
        desk.told().done.iter().filter(|it| denied(it)).count() == 100
    });
}

#[test]
fn rule_2_nobody_is_met_for_connecting() {
    let desk = Desk::holding(Duration::ZERO);
    let served = served(&desk);
    for _ in 0..1000 {
        let mut bare = served.connect();
        bare.raw("");
        bare.notify("notifications/initialized", json!({}));
        drop(bare);
        eventually("room", || served.server.clients().len() < 32);
    }
    let mut client = served.connect();
    client.ask("juggle", json!({}));
    client.ask("click", json!({}));
    let told = desk.told();
    assert_eq!((told.met, told.asked, told.done), (vec![], vec![], vec![]));
    for _ in 0..3 {
        client.click("save");
    }
    let connection = desk.told().met;
    assert_eq!(connection.len(), 1);
    drop(client);
    eventually("gone", || desk.told().gone == connection);
    eventually("all gone", || served.server.clients().is_empty());
    assert_eq!(desk.told().gone.len(), 1);
}

/// A server whose policy is slow, and who is being met by it: it has asked three things.
fn meeting() -> (Arc<Slow>, Served, Client) {
    let slow = Arc::new(Slow::default());
    let served = served_with(|config| config.gate = AuthGate::of(slow.clone()));
    let mut client = served.connect();
    // All at once, so that they are all there to be seen to when it has been met.
    let lines = [
        (1, "hello", json!({"name": "large"})),
        (2, "click", json!({"id": "save"})),
        (3, "click", json!({"id": "save"})),
    ]
    .map(|(id, method, params)| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    });
    client.raw(&lines.join("\n"));
    slow.is_meeting();
    (slow, served, client)
}

#[test]
fn rule_9_who_takes_long_to_be_met_holds_up_nobody_else() {
    let (slow, served, mut large) = meeting();
    for _ in 0..50 {
        let mut other = served.connect();
        assert_eq!(outcome(&other.click("save")), "allowed");
    }
    slow.go_on();
    large.reply();
    for _ in 0..2 {
        assert_eq!(outcome(&large.reply()), "allowed");
    }
    assert_eq!(served.fake.clicked(), 52);
}

#[test]
fn rule_9_nothing_is_done_for_who_goes_while_it_is_being_met() {
    for _ in 0..20 {
        let (slow, served, large) = meeting();
        drop(large);
        slow.go_on();
        slow.is_gone(1);
        assert!(served.server.clients().is_empty());
        assert_eq!(served.fake.submitted(), 0);
        served.connect().assert_served("demo");
    }
}

#[test]
fn rule_2_who_is_being_met_can_be_revoked_and_stopped() {
    let (slow, served, mut large) = meeting();
    served.server.revoke();
    slow.go_on();
    for _ in 0..3 {
        assert_eq!(reason(&large.reply()), "consent_denied");
    }
    assert_eq!(served.fake.submitted(), 0);

    let (slow, served, mut large) = meeting();
    let mut other = served.connect();
    other.assert_served("demo");
    // It returns, though the policy is at it still.
    served.server.stop();
    assert_eq!(served.folder.names(), [""; 0]);
    other.assert_closed();
    large.assert_closed();
    slow.go_on();
    slow.is_gone(2);
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn what_came_of_each_request_is_told_once_in_the_wires_words() {
    let desk = Desk::holding(HOLD);
    let served = served_with(|config| config.gate = desk.gate());
    desk.decide(|_| Decision::Allow);
    let mut client = served.connect();
    let mut expected = Vec::new();
    let mut check = |client: &mut Client, method: &str, params: Value, word: &'static str| {
        client.ask(method, params);
        expected.push((Verb::from_word(method).unwrap(), word));
        eventually("told", || desk.told().done.len() >= expected.len());
        assert_eq!(desk.told().done, expected);
    };
    let save = || json!({"id": "save"});
    check(&mut client, "hello", json!({}), "allowed");
    check(&mut client, "describe_ui", json!({}), "allowed");
    check(
        &mut client,
        "describe_ui",
        json!({"mode": "full"}),
        "not_armed",
    );
    check(
        &mut client,
        "get_text",
        json!({"id": "nowhere"}),
        "not_found",
    );
    check(&mut client, "focus", save(), "unsupported");
    check(&mut client, "click", save(), "allowed");
    let gone = json!({"id": "save", "window": "main"});
    check(&mut client, "click", gone, "window_gone");
    check(&mut client, "subscribe", json!({}), "allowed");
    let poll = |wait: u64| json!({"subscription": "s1", "wait_ms": wait});
    check(&mut client, "poll_events", poll(0), "allowed");
    check(&mut client, "poll_events", poll(20), "allowed");
    check(
        &mut client,
        "unsubscribe",
        json!({"subscription": "s1"}),
        "allowed",
    );
    check(&mut client, "poll_events", poll(0), "invalid_params");
    served.fake.on_click(Clicks::Refuse);
    check(&mut client, "click", save(), "not_actionable");
    served.fake.on_click(Clicks::Fail("hunter2"));
    check(&mut client, "click", save(), "internal");
    served.fake.on_click(Clicks::Drop);
    check(&mut client, "click", save(), "internal");
    served.fake.on_click(Clicks::Block);
    let entered = client.send("click", save());
    let late = json!({"timeout_ms": 50});
    let late = client.send("describe_ui", late);
    assert_eq!(client.reply()["id"], late);
    served.fake.go_on();
    assert_eq!(client.reply()["id"], entered);
    let told = desk.told().done.split_off(expected.len());
    assert_eq!(
        told,
        [(Verb::DescribeUi, "app_busy"), (Verb::Click, "allowed")]
    );
}

#[test]
fn rule_2_a_leave_that_is_taken_back_while_the_gate_is_asked_is_none() {
    let desk = Desk::holding(Duration::ZERO);
    let served = served(&desk);
    let server = Arc::downgrade(&desk.server());
    let asked = AtomicUsize::new(0);
    // The user stops all agents just when the gate has let something in.
    desk.decide(move |_| {
        if asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return Decision::deny("lockdown");
        }
        let server = server.upgrade().unwrap();
        server.revoke(&|_| true, RevokedUntil::Admitted);
        Decision::Allow
    });
    let mut client = served.connect();
    assert_eq!(reason(&client.ask("hello", json!({}))), "consent_denied");
    assert!(!served.server.clients()[0].admitted);
    assert_eq!(served.fake.clients(), 0);
}
