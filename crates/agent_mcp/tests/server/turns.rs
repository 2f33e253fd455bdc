//! Rule 9: no agent waits without a deadline, and nothing happens late.

use std::{
    net::Shutdown,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Clicks, served};
use agent_test_support::{LONG, eventually, reason};

fn busy(reply: &Value) -> (u64, bool) {
    assert_eq!(reason(reply), "app_busy", "{reply}");
    let data = &reply["error"]["data"];
    (
        data["waited_ms"].as_u64().unwrap(),
        data["entered"].as_bool().unwrap(),
    )
}

#[test]
fn rule_9_a_busy_app_answers_in_time_and_others_are_served() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut a = served.connect();
    let mut b = served.connect();
    a.send("click", json!({"id": "save", "timeout_ms": 2000}));
    let (waited, entered) = busy(&a.reply());
    assert!(waited >= 2000 && entered, "{waited} {entered}");
    b.assert_served("demo");
    let (waited, entered) = busy(&b.ask("describe_ui", json!({"timeout_ms": 100})));
    assert!(waited >= 100 && !entered, "{waited} {entered}");
    eventually("purged", || served.fake.queued() == 0);
    served.fake.go_on();
    let later = b.ask("describe_ui", json!({"timeout_ms": 20000}));
    assert_eq!(later["result"]["revision"], 3);
    assert_eq!(served.fake.clicked(), 1);
    // The late answer of the click went nowhere.
    a.assert_served("demo");
}

#[test]
fn rule_9_who_never_answers_costs_its_caller_the_deadline() {
    let served = served();
    served.fake.on_click(Clicks::Hang);
    let mut client = served.connect();
    for timeout in [1, 50, 200] {
        let reply = client.ask("click", json!({"id": "save", "timeout_ms": timeout}));
        assert!(busy(&reply).0 >= timeout);
    }
    // Deadlines in any order, each answered at its own.
    let late = client.send("click", json!({"id": "save", "timeout_ms": 600}));
    let early = client.send("click", json!({"id": "save", "timeout_ms": 100}));
    assert_eq!(client.reply()["id"], early);
    assert_eq!(client.reply()["id"], late);
    // Also on a connection that has been idle for longer than its writer lingers.
    std::thread::sleep(Duration::from_millis(1200));
    let begun = Instant::now();
    busy(&client.ask("click", json!({"id": "save", "timeout_ms": 100})));
    assert!(begun.elapsed() < LONG);
    client.assert_served("demo");
}

#[test]
fn rule_9_nothing_happens_late_short() {
    nothing_happens_late(Duration::from_secs(3));
}

#[test]
#[ignore = "a minute"]
fn rule_9_nothing_happens_late_long() {
    nothing_happens_late(Duration::from_secs(60));
}

/// Blocks the UI thread, and asks it for things all the while.
fn nothing_happens_late(blocked: Duration) {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut a = served.connect();
    let begun = Instant::now();
    a.send("click", json!({"id": "save", "timeout_ms": 1000}));
    served.fake.wait_until_entered();
    busy(&a.reply());
    served.fake.on_click(Clicks::Work);
    let mut asked = 0;
    while begun.elapsed() < blocked || asked <= 10 {
        let mut b = served.connect();
        b.assert_served("demo");
        let (_, entered) = busy(&b.ask("click", json!({"id": "save", "timeout_ms": 20})));
        assert!(!entered);
        let mut c = served.connect();
        let before = served.fake.submitted();
        c.send("click", json!({"id": "save", "timeout_ms": 20}));
        a.assert_served("demo");
        // Read later than this it could still be in time when the app goes on.
        eventually("asked", || served.fake.submitted() > before);
        asked += 2;
    }
    eventually("the last is late", || served.fake.queued() == 0);
    served.fake.go_on();
    let done = a.ask("describe_ui", json!({"timeout_ms": 20000}));
    assert_eq!(done["result"]["revision"], 3, "{done}");
    assert_eq!(served.fake.clicked(), 1, "only what had entered");
}

#[test]
fn a_cancelled_call_that_has_not_begun_is_never_performed() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    let entered = client.send("click", json!({"id": "save"}));
    served.fake.wait_until_entered();
    let queued = client.send("click", json!({"id": "save"}));
    let kept = client.send("click", json!({"id": "save"}));
    for id in [
        json!(entered),
        json!(queued),
        json!("unheard-of"),
        json!(queued),
    ] {
        client.notify("notifications/cancelled", json!({"requestId": id}));
    }
    // It has read all that by now.
    client.assert_served("demo");
    served.fake.go_on();
    // Neither the one that was withdrawn nor the one that had entered is answered.
    assert_eq!(client.reply()["id"], kept);
    client.assert_served("demo");
    assert_eq!(served.fake.clicked(), 2);
}

#[test]
fn requests_of_a_connection_enter_in_order() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    let click = client.send("click", json!({"id": "save"}));
    let texts: Vec<u64> = (0..20)
        .map(|_| client.send("get_text", json!({"id": "field"})))
        .collect();
    // What needs no UI overtakes.
    let hello = client.send("hello", json!({}));
    assert_eq!(client.reply()["id"], hello);
    served.fake.go_on();
    for id in [click].into_iter().chain(texts) {
        assert_eq!(client.reply()["id"], id);
    }
}

#[test]
fn a_client_that_is_gone_asks_nothing_more() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut gone = served.connect();
    gone.send("click", json!({"id": "save"}));
    served.fake.wait_until_entered();
    gone.send("click", json!({"id": "save"}));
    gone.send("click", json!({"id": "save"}));
    eventually("queued", || served.fake.queued() == 2);
    gone.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"click\",\"params\":{\"id\":\"save\"}}");
    drop(gone);
    eventually("purged", || served.fake.queued() == 0);
    eventually("forgotten", || served.server.clients().is_empty());
    served.fake.go_on();
    eventually("completed", || served.fake.clicked() == 1);
    // Half a line was no request.
    served.connect().assert_served("demo");
    assert_eq!(served.fake.submitted(), 3);
    assert_eq!(served.fake.clicked(), 1);
}

#[test]
fn stopping_ends_every_connection() {
    let served = served();
    served.fake.on_click(Clicks::Hang);
    let mut asking = served.connect();
    asking.send("click", json!({"id": "save", "timeout_ms": 30000}));
    let mut idle = served.connect();
    idle.assert_served("demo");
    let mut half = served.connect();
    half.write(b"{\"jsonrpc\"");
    half.stream.shutdown(Shutdown::Write).unwrap();
    served.fake.wait_until_entered();
    let begun = Instant::now();
    served.server.stop();
    assert!(begun.elapsed() < LONG);
    for mut client in [asking, idle, half] {
        client.assert_closed();
    }
    eventually("nobody is left", || {
        served.server.clients().is_empty() && served.fake.clients() == 0
    });
    assert_eq!(served.folder.names(), [""; 0]);
    served.server.stop();
}
