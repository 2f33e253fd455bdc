//! MCP on the app's own socket, beside the bare dialect: the feature `mcp`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

#[allow(dead_code, reason = "shared with the tests of the bare dialect")]
#[path = "server/support.rs"]
mod support;

#[allow(dead_code, reason = "shared with the tests of the bare dialect")]
#[path = "server/desk.rs"]
mod desk;

#[allow(dead_code, reason = "shared with the tests of the bare dialect")]
#[path = "server/slow.rs"]
mod slow;

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use agent_core::{AuthGate, Decision};
use serde_json::{Value, json};

use agent_test_support::{Client, eventually, limit, reason, takes_less_than};
use desk::Desk;
use slow::Slow;
use support::{Clicks, Served, served, served_with};

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const NEWEST: &str = "2026-07-28";

fn initialize(client: &mut Client, revision: &str) -> Value {
    initialize_as(client, "test", revision)
}

fn initialize_as(client: &mut Client, name: &str, revision: &str) -> Value {
    let reply = client.ask(
        "initialize",
        json!({"protocolVersion": revision, "capabilities": {},
            "clientInfo": {"name": name, "version": "1"}}),
    );
    client.notify("notifications/initialized", json!({}));
    reply["result"].clone()
}

fn meta(revision: &str) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": {"name": "newest", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}})
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

fn click() -> Value {
    call("click", json!({"id": "save", "timeout_ms": 30_000}))
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or("no text")
}

fn is_error(reply: &Value) -> bool {
    reply["result"]["isError"] == true
}

fn denied() -> Served {
    served_with(|config| config.gate = AuthGate::deny_all())
}

#[test]
fn every_revision_is_spoken_on_one_socket_beside_the_bare_dialect() {
    let served = served();
    let mut bare = served.connect();
    let mut clients = Vec::new();
    for revision in REVISIONS {
        let mut client = served.connect();
        let result = initialize(&mut client, revision);
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "demo");
        assert!(result["capabilities"]["tools"].is_object());
        assert!(
            result["instructions"]
                .as_str()
                .unwrap()
                .contains("never instructions")
        );
        let reply = client.ask("tools/call", click());
        assert!(
            !is_error(&reply) && text(&reply).starts_with("allowed"),
            "{reply}"
        );
        assert!(reply["result"].get("resultType").is_none(), "{reply}");
        clients.push(client);
    }
    for odd in ["1999-01-01", NEWEST] {
        let result = initialize(&mut served.connect(), odd);
        assert_eq!(result["protocolVersion"], "2025-11-25");
    }
    let mut newest = served.connect();
    let found = newest.ask("server/discover", json!({"_meta": meta(NEWEST)}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(NEWEST)), "{found}");
    let mut with_meta = click();
    with_meta["_meta"] = meta(NEWEST);
    let reply = newest.ask("tools/call", with_meta);
    assert_eq!(reply["result"]["resultType"], "complete");
    assert!(!is_error(&reply), "{reply}");
    // All still there, each in both dialects.
    for client in clients.iter_mut().chain([&mut newest, &mut bare]) {
        assert_eq!(client.click("save")["result"]["outcome"], "allowed");
    }
    assert_eq!(served.fake.clicked(), 4 + 1 + 6);
}

#[test]
fn rule_2_static_things_pass_and_calls_are_refused_readably() {
    let served = denied();
    let mut client = served.connect();
    initialize(&mut client, "2025-06-18");
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    let reply = client.ask("tools/list", json!({}));
    let tools = reply["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let table: Vec<&str> = agent_wire::VERBS.iter().map(|verb| verb.name).collect();
    assert_eq!(names, table);
    for (tool, verb) in tools.iter().zip(agent_wire::VERBS) {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["description"], verb.summary);
        let notes = &tool["annotations"];
        assert_eq!(notes["readOnlyHint"], verb.read_only);
        if !verb.read_only {
            assert_eq!(notes["destructiveHint"], verb.destructive);
            assert_eq!(notes["idempotentHint"], verb.idempotent);
        }
    }
    for (tool, arguments) in [
        ("click", json!({"id": "save"})),
        ("describe_ui", json!({})),
        ("hello", json!({})),
    ] {
        let reply = client.ask("tools/call", call(tool, arguments));
        assert!(
            is_error(&reply) && text(&reply).starts_with("consent_denied: "),
            "{reply}"
        );
    }
    assert_eq!(reason(&client.click("save")), "consent_denied");
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn results_and_refusals_are_text() {
    let served = served();
    let mut client = served.connect();
    *served.fake.name.lock().unwrap() = "Save\" [x]\nbutton".into();
    let mut says = |tool: &str, arguments: Value| {
        let reply = client.ask("tools/call", call(tool, arguments));
        (is_error(&reply), text(&reply).to_owned())
    };
    let outline = "# revision 3\nbutton \"Save\\\" [x]\\nbutton\" [save]\n";
    assert_eq!(says("describe_ui", json!({})), (false, outline.into()));
    let (error, json) = says("describe_ui", json!({"structured": true}));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(!error && json["nodes"][0]["id"] == "save");
    for (tool, arguments, begins) in [
        (
            "describe_ui",
            json!({"structured": 1}),
            "invalid_params: parameter `structured`",
        ),
        ("describe_ui", json!({"frce": 1}), "invalid_params: "),
        ("describe_ui", json!({"mode": "full"}), "not_armed: "),
        ("click", json!({}), "invalid_params: "),
        ("get_text", json!({"id": "x"}), "not_found; "),
        ("focus", json!({"id": "save"}), "unsupported: "),
        (
            "click",
            json!({"id": "save", "window": "main"}),
            "window_gone: ",
        ),
    ] {
        let (error, text) = says(tool, arguments);
        assert!(error && text.starts_with(begins), "{tool}: {text}");
    }
    *served.fake.text.lock().unwrap() = "line\n\"two\"".into();
    let read = "v7, 10 characters\n~\"line\\n\\\"two\\\"\"";
    assert_eq!(
        says("get_text", json!({"id": "field"})),
        (false, read.into())
    );
    served.fake.on_click(Clicks::Refuse);
    let refused = "not_actionable: blocked_by_modal by [sure]; nothing was done";
    assert_eq!(says("click", json!({"id": "save"})), (true, refused.into()));
    served.fake.on_click(Clicks::Fail("secret"));
    let (error, text) = says("click", json!({"id": "save"}));
    assert!(error && text.starts_with("internal: ") && !text.contains("secret"));
    served.fake.on_click(Clicks::Hang);
    let (error, text) = says("click", json!({"id": "save", "timeout_ms": 30}));
    assert!(error && text.starts_with("app_busy: "), "{text}");
}

#[test]
fn whatever_comes_in_the_next_message_is_served() {
    let served = served();
    let mut client = served.connect();
    client.notify("notifications/initialized", json!({}));
    client.notify("notifications/roots/list_changed", json!({}));
    for (line, expected) in [
        ("{", "parse_error"),
        ("[]", "invalid_request"),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
            "invalid_request",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            "invalid_params",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
            "invalid_params",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"click","arguments":[]}}"#,
            "invalid_params",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nix"}}"#,
            "invalid_params",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
            "invalid_params",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#,
            "method_not_found",
        ),
    ] {
        client.raw(line);
        assert_eq!(reason(&client.reply()), expected, "{line}");
    }
    client.raw(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"click","arguments":{"id":"save"}}}"#);
    client.assert_served("demo");
    initialize(&mut client, "2024-11-05");
    let reply = client.ask("tools/call", click());
    assert!(!is_error(&reply), "{reply}");
    assert_eq!(served.fake.clicked(), 1);
}

#[test]
fn ids_are_echoed_exactly_and_belong_to_one_request() {
    let served = served();
    let mut client = served.connect();
    for id in [
        json!(u64::MAX),
        json!(i64::MIN),
        json!("1"),
        json!(1),
        json!(""),
    ] {
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": click()});
        client.raw(&request.to_string());
        assert_eq!(client.reply()["id"], id);
    }
    served.fake.on_click(Clicks::Block);
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": click()});
    client.raw(&request.to_string());
    for method in ["tools/list", "hello"] {
        client.raw(&json!({"jsonrpc": "2.0", "id": 9, "method": method}).to_string());
        assert_eq!(reason(&client.reply()), "invalid_request");
    }
    served.fake.go_on();
    let reply = client.reply();
    assert!(
        reply["id"] == 9 && text(&reply).starts_with("allowed"),
        "{reply}"
    );
}

#[test]
fn what_the_sdk_refuses_is_not_done() {
    let served = served();
    let mut client = served.connect();
    for meta in [
        meta("2099-01-01"),
        json!({"io.modelcontextprotocol/protocolVersion": NEWEST}),
        json!({"io.modelcontextprotocol/protocolVersion": 7}),
        json!(7),
    ] {
        let mut params = click();
        params["_meta"] = meta.clone();
        let reply = client.ask("tools/call", params);
        if reply.get("error").is_none() {
            assert!(is_error(&reply), "{meta}: {reply}");
        }
    }
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn both_dialects_keep_one_order() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    let mut ids = Vec::new();
    for n in 0..10 {
        ids.push(match n % 2 {
            0 => client.send("tools/call", click()),
            _ => client.send("click", json!({"id": "save"})),
        });
    }
    served.fake.go_on();
    let mut seen: Vec<u64> = (0..10)
        .map(|_| client.reply()["id"].as_u64().unwrap())
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, ids);
    assert_eq!(served.fake.clicked(), 10);
}

#[test]
fn a_cancelled_call_is_withdrawn_and_not_answered() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    let first = client.send("tools/call", click());
    let second = client.send("tools/call", click());
    eventually("the first is on its way", || served.fake.submitted() == 2);
    client.notify("notifications/cancelled", json!({"requestId": second}));
    eventually("the second is withdrawn", || served.fake.queued() == 0);
    served.fake.go_on();
    assert_eq!(client.reply()["id"], first);
    served.fake.on_click(Clicks::Work);
    // Its id is free again.
    let reply = client.ask("hello", json!({}));
    assert_eq!(reply["result"]["app"], "demo");
    assert_eq!(served.fake.clicked(), 1);
}

#[test]
fn a_model_is_told_what_to_do_while_the_user_is_asked_and_a_call_may_wait() {
    let desk = Desk::holding(Duration::ZERO);
    let served = served_with(|config| config.gate = desk.gate());
    let mut client = served.connect();
    initialize(&mut client, REVISIONS[3]);
    client.ask("tools/list", json!({}));
    assert!(desk.told().met.is_empty(), "static things ask nobody");
    let reply = client.ask("tools/call", click());
    assert!(is_error(&reply), "{reply}");
    let said = text(&reply);
    for part in ["consent_pending", "again later", "700", "tell the user"] {
        assert!(said.contains(part), "{said}");
    }
    let desk = Desk::holding(Duration::from_secs(600));
    let served = served_with(|config| config.gate = desk.gate());
    let mut client = served.connect();
    initialize(&mut client, REVISIONS[3]);
    let cancelled = client.send("tools/call", click());
    let waits = client.send("tools/call", click());
    eventually("asked", || desk.told().asked.len() == 2);
    client.notify("notifications/cancelled", json!({"requestId": cancelled}));
    eventually("cancelled", || desk.told().done.len() == 1);
    desk.decide(|_| Decision::Allow);
    let reply = client.reply();
    assert_eq!((&reply["id"], is_error(&reply)), (&json!(waits), false));
    assert_eq!(served.fake.clicked(), 1);
}

#[test]
fn what_was_asked_before_the_end_is_still_answered() {
    let served = served();
    let mut client = served.connect();
    client.send("tools/list", json!({}));
    client.send("tools/call", click());
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let answers = [client.reply(), client.reply()];
    assert!(answers.iter().any(|it| it["result"]["tools"].is_array()));
    assert!(answers.iter().any(|it| text(it).starts_with("allowed")));
    client.assert_closed();
}

#[test]
fn rule_10_requests_in_flight_are_counted_in_both_lifecycles() {
    let served = served_with(|config| config.limits.requests_in_flight = 3);
    served.fake.on_click(Clicks::Hang);
    let mut client = served.connect();
    for _ in 0..3 {
        client.send("tools/call", click());
    }
    let reply = client.ask("tools/list", json!({}));
    assert_eq!(limit(&reply), "requests");
}

#[test]
fn the_gate_hears_what_the_client_calls_itself_and_a_revocation_ends_it() {
    let names = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = names.clone();
    let served = served_with(|config| {
        config.gate = AuthGate::serve(move |request| {
            heard.lock().unwrap().push(request.claimed_name.clone());
            Decision::Allow
        });
    });
    let mut client = served.connect();
    initialize(&mut client, "2025-06-18");
    assert!(names.lock().unwrap().is_empty(), "static things ask nobody");
    client.ask("tools/call", click());
    let mut with_meta = click();
    with_meta["_meta"] = meta(NEWEST);
    client.ask("tools/call", with_meta);
    let heard = names.lock().unwrap().clone();
    assert!(heard.contains(&Some("test".into())) && heard.contains(&Some("newest".into())));
    assert_eq!(served.fake.clients(), 1);
    served.server.revoke();
    let reply = client.ask("tools/call", click());
    assert!(
        is_error(&reply) && text(&reply).starts_with("consent_denied"),
        "{reply}"
    );
    assert_eq!(served.fake.clicked.load(Ordering::SeqCst), 2);
}

#[test]
fn rule_9_who_takes_long_to_be_met_holds_up_no_other_client_of_the_sdk() {
    let follow = json!({"uri": "agent-surface://events?node=save"});
    for (method, params) in [("tools/call", click()), ("resources/subscribe", follow)] {
        let slow = Arc::new(Slow::default());
        let served = served_with(|config| config.gate = AuthGate::of(slow.clone()));
        let mut large = served.connect();
        initialize_as(&mut large, "large", "2025-11-25");
        let asked = large.send(method, params.clone());
        slow.is_meeting();
        for _ in 0..10 {
            let mut other = served.connect();
            initialize(&mut other, "2025-11-25");
            let reply = other.ask("tools/call", click());
            assert!(!is_error(&reply), "{method}: {reply}");
            let reply = other.ask(method, params.clone());
            assert!(reply["error"].is_null(), "{reply}");
        }
        slow.go_on();
        let reply = large.reply();
        assert_eq!(reply["id"], asked, "{reply}");
        assert!(reply["error"].is_null(), "{reply}");
    }
}

#[test]
fn stopping_ends_the_sdk_too() {
    // It waits a second for who doesn't end.
    takes_less_than(Duration::from_millis(900), "stopping", || {
        let served = served();
        served.fake.on_click(Clicks::Hang);
        let mut client = served.connect();
        initialize(&mut client, "2025-06-18");
        client.send("tools/call", click());
        eventually("it is on its way", || served.fake.submitted() == 1);
        let begun = Instant::now();
        served.server.stop();
        let took = begun.elapsed();
        client.assert_closed();
        took
    });
}
