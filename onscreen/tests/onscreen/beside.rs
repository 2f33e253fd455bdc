//! An agent and an inspector at one window at the same time.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use agent_test_support::{Client, eventually, reason};
use serde_json::json;

use crate::app::{App, Over, tree};

/// What an agent asks, and the lines that it is answered.
fn conversation(agent: &mut Client) -> Vec<String> {
    let describe = json!({"include": ["value", "state", "actions", "frame"]});
    let mut lines = Vec::new();
    for (method, mut params) in [
        ("describe_ui", describe.clone()),
        ("subscribe", json!({})),
        ("click", json!({"id": "save"})),
        ("get_text", json!({"id": "status"})),
        ("get_text", json!({"id": "password"})),
        ("click", json!({"id": "nowhere"})),
        ("click", json!({"id": "status"})),
        (
            "set_text",
            json!({"id": "password", "value": "swordfish", "base_version": 1}),
        ),
        (
            "set_text",
            json!({"id": "password", "value": "swordfish", "base_version": 77}),
        ),
        ("click", json!({"id": "more"})),
        ("describe_ui", describe.clone()),
        ("click", json!({"id": "under"})),
        ("focus", json!({"id": "under"})),
        ("click", json!({"id": "save", "window": "main"})),
        ("click", json!({"id": "save", "window": "other"})),
        ("describe_ui", json!({"mode": "full"})),
        (
            "wait_for",
            json!({"id": "status", "until": "text_contains", "value": "saved 2"}),
        ),
        ("poll_events", json!({"subscription": "s1"})),
        ("describe_ui", json!({"frobnicate": 1})),
        ("describe_ui", describe),
        ("inspector.frobnicate", json!({})),
    ] {
        if !["poll_events", "inspector.frobnicate"].contains(&method) {
            params["timeout_ms"] = 30_000.into();
        }
        agent.send(method, params);
        lines.push(format!("{method}: {}", agent.line()));
    }
    lines
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn rule_1_replies_in_a_window_are_byte_identical_beside_an_inspector() {
    let without = {
        let app = App::open(1.0);
        conversation(&mut app.client())
    };
    for _ in 0..2 {
        let app = App::open(1.0);
        let over = AtomicBool::new(false);
        let asked = AtomicUsize::new(0);
        let with = thread::scope(|scope| {
            let _over = Over(&over);
            for method in ["highlight", "pick", "screenshot", "tree", "lint"] {
                let (mut inspector, over, asked) = (app.client(), &over, &asked);
                scope.spawn(move || {
                    let nodes = tree(&mut inspector);
                    for round in 0.. {
                        if over.load(Ordering::Relaxed) {
                            break;
                        }
                        let mut params = json!({"timeout_ms": 30_000});
                        if method == "highlight" || (method == "screenshot" && round % 2 == 0) {
                            params["node"] = nodes[round % nodes.len()]["node"].clone();
                        }
                        let reply = inspector.ask(&format!("inspector.{method}"), params);
                        assert_eq!(reason(&reply), "none", "{method} {reply}");
                        asked.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            eventually("they are at it", || asked.load(Ordering::Relaxed) > 20);
            conversation(&mut app.client())
        });
        assert_eq!(with, without);
    }
}
