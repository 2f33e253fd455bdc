//! Rule 10: everything is bounded, and whoever hits a bound is told which.

use std::{
    io::{ErrorKind, Write as _},
    time::{Duration, Instant},
};

use agent_core::AuthGate;
use agent_mcp::{ActionRate, Limits};
use serde_json::json;

use crate::support::{Clicks, served, served_with};
use agent_test_support::{LONG, eventually, in_its_own_process, limit, reason};

/// Bytes of memory that this process has now.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

#[test]
fn rule_10_a_line_without_end_takes_no_memory_short() {
    let name = "bounds::rule_10_a_line_without_end_takes_no_memory_short";
    in_its_own_process(name, || line_without_end(128));
}

#[test]
#[ignore = "a GiB"]
fn rule_10_a_line_without_end_takes_no_memory_long() {
    let name = "bounds::rule_10_a_line_without_end_takes_no_memory_long";
    in_its_own_process(name, || line_without_end(1024));
}

fn line_without_end(mebibytes: usize) {
    let served = served();
    let mut client = served.connect();
    client.assert_served("demo");
    let chunk = vec![b'x'; 1 << 20];
    let before = resident();
    for _ in 0..mebibytes {
        client.write(&chunk);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    let told = client.reply();
    assert_eq!((reason(&told), limit(&told)), ("limit", "line"));
    client.raw("");
    client.assert_served("demo");
}

#[test]
fn rule_10_lines_are_shorter_before_the_gate() {
    let served = served();
    let mut client = served.connect();
    let long = |bytes: usize| {
        let value = "x".repeat(bytes);
        json!({"jsonrpc": "2.0", "id": 1, "method": "set_text",
            "params": {"id": "field", "value": value, "base_version": 1}})
        .to_string()
    };
    client.raw(&long(100_000));
    assert_eq!(limit(&client.reply()), "line");
    client.assert_served("demo");
    for bytes in [100_000, 4_000_000] {
        client.raw(&long(bytes));
        let reply = client.reply();
        assert_eq!(reply["result"]["outcome"], "allowed", "{bytes}");
    }
    client.raw(&long(4_300_000));
    assert_eq!(limit(&client.reply()), "line");
    client.assert_served("demo");
    served.server.revoke();
    client.raw(&long(1000));
    assert_eq!(reason(&client.reply()), "consent_denied");
    client.raw(&long(100_000));
    assert_eq!(limit(&client.reply()), "line");
}

#[test]
fn rule_10_connections_are_counted() {
    let served = served();
    let mut clients: Vec<_> = (0..64).map(|_| served.connect()).collect();
    eventually("all in", || served.server.clients().len() == 64);
    let mut over = served.connect();
    assert_eq!(limit(&over.reply()), "connections");
    over.assert_closed();
    for client in &mut clients {
        client.assert_served("demo");
    }
    clients.pop();
    eventually("one less", || served.server.clients().len() == 63);
    served.connect().assert_served("demo");
    // All at once, too.
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| {
                for _ in 0..5 {
                    let reply = client.ask("get_text", json!({"id": "field"}));
                    assert_eq!(reply["result"]["version"], 7);
                }
            });
        }
    });
}

#[test]
fn rule_10_requests_in_flight_are_counted() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    client.send("click", json!({"id": "save"}));
    for _ in 0..31 {
        client.send("get_text", json!({"id": "field"}));
    }
    let over = client.send("get_text", json!({"id": "field"}));
    // What needs no UI doesn't count.
    let hello = client.send("hello", json!({}));
    let refused = client.reply();
    assert_eq!(
        (limit(&refused), &refused["id"]),
        ("requests", &json!(over))
    );
    assert_eq!(client.reply()["id"], hello);
    served.fake.go_on();
    for _ in 0..32 {
        assert!(client.reply()["result"].is_object());
    }
    let again = client.ask("get_text", json!({"id": "field"}));
    assert_eq!(again["result"]["version"], 7);
}

#[test]
fn rule_10_parse_errors_in_a_row_end_it() {
    let served = served();
    let mut client = served.connect();
    for _ in 0..3 {
        for _ in 0..15 {
            client.raw("not json");
            assert_eq!(reason(&client.reply()), "parse_error");
            client.raw("");
        }
        client.assert_served("demo");
    }
    for _ in 0..16 {
        client.raw("not json");
    }
    for _ in 0..16 {
        assert_eq!(reason(&client.reply()), "parse_error");
    }
    assert_eq!(limit(&client.reply()), "parse_errors");
    assert_eq!(client.line(), "");
    eventually("forgotten", || served.server.clients().is_empty());
}

#[test]
fn rule_10_who_was_never_let_in_may_not_idle() {
    let short = |gate: AuthGate| {
        served_with(|config| {
            config.gate = gate;
            config.limits.idle_before_gate = Duration::from_secs(2);
        })
    };
    let allowing = short(agent_test_support::allow());
    let mut admitted = allowing.connect();
    admitted.assert_served("demo");
    // Idles as long as the one that was let in, or less.
    let mut idle = allowing.connect();

    let denying = short(AuthGate::deny_all());
    let mut silent = denying.connect();
    let mut asking = denying.connect();
    eventually("who says nothing is closed", || {
        assert_eq!(reason(&asking.click("save")), "consent_denied");
        denying.server.clients().len() == 1
    });
    assert_eq!(reason(&asking.click("save")), "consent_denied");
    silent.assert_closed();
    asking.assert_closed();

    idle.assert_closed();
    admitted.assert_served("demo");
}

#[test]
fn rule_10_actions_of_an_agent_have_a_rate() {
    let served = served_with(|config| {
        config.limits.actions = Some(ActionRate {
            per_second: 1,
            burst: 5,
        });
    });
    let mut client = served.connect();
    // Refusals and looks cost nothing.
    served.fake.on_click(Clicks::Refuse);
    for _ in 0..20 {
        assert_eq!(client.click("save")["result"]["outcome"], "not_actionable");
        client.ask("get_text", json!({"id": "field"}));
    }
    served.fake.on_click(Clicks::Work);
    let refused = (0..20)
        .map(|_| client.click("save"))
        .find(|reply| reason(reply) == "limit")
        .unwrap();
    assert_eq!(limit(&refused), "actions");
    assert!(served.fake.clicked() >= 5);
    let wait = refused["error"]["data"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=1000).contains(&wait), "{wait}");
    std::thread::sleep(Duration::from_millis(wait));
    assert_eq!(client.click("save")["result"]["outcome"], "allowed");
    let lifted = served_with(|config| config.limits.actions = None);
    let mut client = lifted.connect();
    for _ in 0..300 {
        assert_eq!(client.click("save")["result"]["outcome"], "allowed");
    }
}

#[test]
fn rule_10_who_leaves_too_much_unread_is_closed() {
    let served = served();
    *served.fake.text.lock().unwrap() = "x".repeat(1 << 20);
    let mut client = served.connect();
    let mut other = served.connect();
    // All are asked for before the first is answered: later, nothing would be read.
    served.fake.on_click(Clicks::Block);
    client.send("click", json!({"id": "save"}));
    for _ in 0..31 {
        client.send("get_text", json!({"id": "field"}));
    }
    eventually("all are read", || served.fake.submitted() == 32);
    served.fake.go_on();
    eventually("closed", || served.server.clients().len() == 1);
    other.assert_served("demo");
    client.assert_closed();
}

#[test]
fn rule_10_one_large_reply_can_be_had() {
    let served = served_with(|config| config.limits.unread_bytes = 1000);
    *served.fake.text.lock().unwrap() = "\u{1}".repeat(1 << 20);
    let mut client = served.connect();
    for _ in 0..3 {
        let reply = client.ask("get_text", json!({"id": "field"}));
        assert_eq!(reply["result"]["length"], 1 << 20);
    }
}

#[test]
fn rule_10_who_never_reads_is_closed_in_time() {
    let served = served_with(|config| config.limits.unread_for = Duration::from_secs(3));
    let mut client = served.connect();
    let mut other = served.connect();
    client
        .stream
        .set_write_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    // Until nothing goes in any more: it is not read for, because it does not read.
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n".repeat(1000);
    let begun = Instant::now();
    loop {
        match client.stream.write(&line) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
        other.assert_served("demo");
        assert!(begun.elapsed() < LONG);
    }
    eventually("closed", || served.server.clients().len() == 1);
    other.assert_served("demo");
}

#[test]
fn who_asks_much_at_once_and_then_reads_is_served() {
    let served = served_with(|config| config.limits.unread_bytes = 20_000);
    let mut client = served.connect();
    client.write(&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n".repeat(2000));
    for _ in 0..2000 {
        assert!(client.line().starts_with("{\"jsonrpc\""));
    }
}

#[test]
fn a_flood_that_is_read_is_answered_whole() {
    let served = served();
    let mut client = served.connect();
    let mut writing = client.stream.try_clone().unwrap();
    const MANY: usize = 50_000;
    let flood = std::thread::spawn(move || {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n";
        for _ in 0..MANY / 100 {
            writing.write_all(&line.repeat(100)).unwrap();
        }
    });
    for _ in 0..MANY {
        assert!(client.line().starts_with("{\"jsonrpc\""));
    }
    flood.join().unwrap();
}

#[test]
fn rule_10_half_read_lines_give_their_room_back() {
    let served = served_with(|config| {
        config.limits = Limits {
            queued_bytes: 1 << 20,
            half_line_for: Duration::from_millis(300),
            ..Limits::default()
        };
    });
    let mut holders: Vec<_> = (0..3).map(|_| served.connect()).collect();
    let mut other = served.connect();
    other.assert_served("demo");
    for client in &mut holders {
        client.assert_served("demo");
        // Who is given up meanwhile can't write any more.
        let _ = client.stream.write_all(&vec![b' '; 512 << 10]);
    }
    // Some of them give way, and everybody else is served again.
    let begun = Instant::now();
    for _ in 0..5 {
        other.assert_served("demo");
    }
    eventually("one closed", || served.server.clients().len() <= 3);
    other.assert_served("demo");
    assert!(begun.elapsed() < LONG);
    let told = holders
        .iter_mut()
        .map(|client| {
            client
                .stream
                .set_read_timeout(Some(Duration::from_secs(1)))
                .unwrap();
            let mut bytes = [0; 4096];
            let read = std::io::Read::read(&mut client.stream, &mut bytes).unwrap_or(0);
            String::from_utf8_lossy(&bytes[..read]).into_owned()
        })
        .filter(|line| line.contains("\"limit\":\"line\""))
        .count();
    assert!(told >= 1);
}

#[test]
fn rule_10_queued_requests_give_their_room_back() {
    let served = served_with(|config| config.limits.queued_bytes = 200_000);
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    client.send("click", json!({"id": "save", "timeout_ms": 30000}));
    let value = "x".repeat(50_000);
    let params = json!({"id": "field", "value": value, "base_version": 1, "timeout_ms": 30000});
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // No more of them can be read.
            eventually("the queue is full", || served.fake.submitted() >= 4);
            served.fake.go_on();
        });
        for _ in 0..12 {
            client.send("set_text", params.clone());
        }
    });
    for _ in 0..13 {
        assert_eq!(client.reply()["result"]["outcome"], "allowed");
    }
}
