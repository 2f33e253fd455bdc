//! The error table, row by row; after each line the connection serves on.

use serde_json::{Value, json};

use crate::support::{Clicks, served, served_with};
use agent_test_support::{Client, reason};

/// Sends a line, expects this reply (a part of it), and then service.
fn check(client: &mut Client, line: &str, expected: Value) {
    client.raw(line);
    let reply = client.reply();
    assert!(is_in(&expected, &reply), "{line}\n{reply}\n{expected}");
    client.assert_served("demo");
}

fn is_in(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|it| is_in(value, it))),
        _ => part == whole,
    }
}

fn error(id: Value, code: i32, reason: &str) -> Value {
    json!({"id": id, "error": {"code": code, "data": {"reason": reason}}})
}

#[test]
fn rule_13_after_any_line_the_next_is_served() {
    let served = served();
    let mut client = served.connect();
    let request = |rest: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":900,{rest}}}");
    for line in [
        "not json",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"click\"",
        "\u{feff}\u{feff}{}",
        "{\"a\":}",
        &"[".repeat(10_000),
    ] {
        check(&mut client, line, error(Value::Null, -32700, "parse_error"));
    }
    client.write(b"\xff\xfe{}\n");
    assert_eq!(reason(&client.reply()), "parse_error");
    for line in [
        "[]",
        "42",
        "null",
        "\"click\"",
        "{}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"hello\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"hello\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"hello\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}]",
        "{\"jsonrpc\":\"2.0\",\"result\":{}}",
    ] {
        check(
            &mut client,
            line,
            error(Value::Null, -32600, "invalid_request"),
        );
    }
    let rows = [
        ("\"method\":7", -32600, "invalid_request"),
        ("\"method\":\"juggle\"", -32601, "method_not_found"),
        ("\"method\":\"inspector.tree\"", -32601, "method_not_found"),
        ("\"method\":\"\"", -32601, "method_not_found"),
        ("\"method\":\"click\"", -32602, "invalid_params"),
        (
            "\"method\":\"click\",\"params\":null",
            -32602,
            "invalid_params",
        ),
        (
            "\"method\":\"click\",\"params\":[\"save\"]",
            -32602,
            "invalid_params",
        ),
        (
            "\"method\":\"click\",\"params\":{\"id\":5}",
            -32602,
            "invalid_params",
        ),
        (
            "\"method\":\"click\",\"params\":{\"id\":\"save\",\"timeout_ms\":30001}",
            -32602,
            "invalid_params",
        ),
        (
            "\"method\":\"describe_ui\",\"params\":{\"mode\":\"full\"}",
            -31003,
            "not_armed",
        ),
        (
            "\"method\":\"focus\",\"params\":{\"id\":\"save\"}",
            -31007,
            "unsupported",
        ),
        (
            "\"method\":\"click\",\"params\":{\"id\":\"save\",\"window\":\"main\"}",
            -31005,
            "window_gone",
        ),
    ];
    for (rest, code, reason) in rows {
        check(&mut client, &request(rest), error(json!(900), code, reason));
    }
    served.fake.on_click(Clicks::Fail("hunter2"));
    client.raw(&request(
        "\"method\":\"click\",\"params\":{\"id\":\"save\"}",
    ));
    let line = client.line();
    assert!(
        line.contains("-32603") && !line.contains("hunter2"),
        "{line}"
    );
    served.fake.on_click(Clicks::Drop);
    check(
        &mut client,
        &request("\"method\":\"click\",\"params\":{\"id\":\"save\"}"),
        error(json!(900), -32603, "internal"),
    );
    assert_eq!(served.fake.clicked(), 0);
}

#[test]
fn results_have_the_form_of_the_wire() {
    let served = served();
    served.fake.text.lock().unwrap().push_str("Ada");
    let mut client = served.connect();
    let rows = [
        (
            "click",
            json!({"id": "save"}),
            json!({"outcome": "allowed", "revision": 4, "events": []}),
        ),
        (
            "scroll_to",
            json!({"id": "save"}),
            json!({"outcome": "allowed", "revision": 4}),
        ),
        (
            "get_text",
            json!({"id": "field"}),
            json!({"text": "Ada", "version": 7, "length": 3}),
        ),
        (
            "get_text",
            json!({"id": "nowhere"}),
            json!({"outcome": "not_found"}),
        ),
    ];
    for (method, params, result) in rows {
        assert_eq!(client.ask(method, params)["result"], result, "{method}");
    }
    served.fake.on_click(Clicks::Refuse);
    let refused = json!({"outcome": "not_actionable", "why": "blocked_by_modal", "by": "sure"});
    assert_eq!(client.click("save")["result"], refused);
    let hello = client.ask("hello", json!({"name": "tester"}));
    let hello = &hello["result"];
    assert_eq!(hello["name"], "Demo \"one\"");
    assert_eq!(hello["pid"], std::process::id());
    assert_eq!(hello["protocol"], agent_wire::PROTOCOL);
    assert_eq!(hello["armed"], json!([]));
    let verbs = hello["verbs"].as_array().unwrap();
    assert!(verbs.contains(&json!("click")) && !verbs.contains(&json!("focus")));
    assert_eq!(
        served.server.clients()[0].claimed_name.as_deref(),
        Some("tester")
    );
}

#[test]
fn full_is_answered_where_it_is_armed() {
    let served = served_with(|config| config.armed_full = true);
    let mut client = served.connect();
    let reply = client.ask("describe_ui", json!({"mode": "full"}));
    assert_eq!(reply["result"]["revision"], 3, "{reply}");
    assert_eq!(
        client.ask("hello", json!({}))["result"]["armed"],
        json!(["full"])
    );
}

#[test]
fn any_text_comes_out_as_it_went_in() {
    let served = served();
    let mut client = served.connect();
    let emoji = "👨\u{200d}👩\u{200d}👧".repeat(300);
    for text in [
        "",
        "a \"b\" \\ c",
        "line\nline\r\n\u{2028}\u{2029}\u{85}",
        "\u{0}\u{1}\u{1f}\u{7f}",
        "\u{202e}\u{2066}abc\u{2069}",
        "ключ 🔑",
        &emoji,
    ] {
        *served.fake.text.lock().unwrap() = text.to_owned();
        *served.fake.name.lock().unwrap() = text.to_owned();
        let read = client.ask("get_text", json!({"id": "field"}));
        assert_eq!(read["result"]["text"], text);
        let node = client.ask("describe_ui", json!({}))["result"]["nodes"][0].clone();
        if text == emoji {
            assert_eq!(node["name_length"], 300);
            let name = node["name"].as_str().unwrap();
            assert!(text.starts_with(name.trim_end_matches('…')), "{name}");
        } else {
            assert_eq!(node["name"], text);
        }
        let id = serde_json::to_string(text).unwrap();
        client.raw(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"hello\"}}"
        ));
        assert_eq!(client.reply()["id"], text);
    }
}

#[test]
fn ids_are_echoed_and_told_apart() {
    let served = served();
    let mut client = served.connect();
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "18446744073709551615",
        "\"\"",
        "\"1\"",
    ] {
        client.raw(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"hello\"}}"
        ));
        let line = client.line();
        assert!(line.contains(&format!("\"id\":{id},")), "{line}");
    }
    served.fake.on_click(Clicks::Block);
    let click = |id: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"click\",\"params\":{{\"id\":\"save\",\"timeout_ms\":30000}}}}"
        )
    };
    client.raw(&click("1"));
    client.raw(&click("1"));
    let refused = client.reply();
    assert_eq!(
        (reason(&refused), &refused["id"]),
        ("invalid_request", &json!(1))
    );
    client.raw(&click("\"1\""));
    served.fake.go_on();
    assert_eq!(client.reply()["id"], 1);
    assert_eq!(client.reply()["id"], "1");
    assert_eq!(served.fake.clicked(), 2);
    // It is answered, and can be had again.
    client.raw(&click("1"));
    assert_eq!(client.reply()["result"]["outcome"], "allowed");
}

#[test]
fn a_verb_sent_as_a_notification_is_not_performed() {
    let served = served();
    let mut client = served.connect();
    client.notify("click", json!({"id": "save"}));
    client.notify("juggle", json!(null));
    client.notify("notifications/cancelled", json!(null));
    client.notify("notifications/cancelled", json!({"requestId": [1]}));
    client.raw("");
    client.raw("   \r");
    client.assert_served("demo");
    assert_eq!(served.fake.submitted(), 0);
}

#[test]
fn a_client_that_says_all_and_listens_gets_its_answers() {
    let served = served();
    served.fake.on_click(Clicks::Block);
    let mut client = served.connect();
    client.send("click", json!({"id": "save"}));
    client.send("get_text", json!({"id": "field"}));
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    // It may have noticed by then that nothing more will be said, and that ends nothing.
    std::thread::sleep(std::time::Duration::from_millis(200));
    served.fake.go_on();
    assert_eq!(client.reply()["result"]["outcome"], "allowed");
    assert_eq!(client.reply()["result"]["version"], 7);
    assert_eq!(client.line(), "");
}

#[test]
fn rule_13_noise_ends_at_most_its_own_connection() {
    let served = served();
    let mut other = served.connect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..100 {
        let mut noisy = served.connect();
        let bytes: Vec<u8> = (0..2000)
            .map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                // Much of what JSON is made of, and lines that end.
                match seed % 4 {
                    0 => b"{}[]\":,\\\n\r 0e-"[(seed >> 8) as usize % 14],
                    _ => (seed >> 16) as u8,
                }
            })
            .collect();
        // It may be closed for its parse errors before it has said all.
        let _ = std::io::Write::write_all(&mut noisy.stream, &bytes);
        let _ = noisy.stream.shutdown(std::net::Shutdown::Write);
        noisy.assert_closed();
        other.assert_served("demo");
    }
    assert_eq!(served.fake.submitted(), 0);
}
