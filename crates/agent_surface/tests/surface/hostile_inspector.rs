//! What an inspector may send, forget, take back, leave unread or die over: the app, its agents and
//! other inspectors don't mind.

use std::{
    io::Write as _,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use agent_surface::{
    AuthGate, Decision, Limits, Request, Scope, Surface, Tag,
    headless::{Headless, Widget},
    inapp::Error,
};
use agent_test_support::{Client, LONG, allow, eventually, folder, limit, reason};
use serde_json::{Value, json};

use crate::{
    app::{process, told},
    inspector::{BOTH, METHODS, Served, handle, headless, outcomes, tree},
};

/// Keeps the UI thread of a headless app from its work, until this is dropped.
fn hold(served: &Served) -> Sender<()> {
    let (go_on, wait) = channel::<()>();
    let app = served.headless.as_ref().unwrap();
    let (begin, begun) = channel();
    app.post(move |_| {
        begin.send(()).unwrap();
        let _ = wait.recv();
    });
    begun.recv().unwrap();
    go_on
}

/// How often the gate was asked about an inspector, and that gate, which lets everybody in.
fn counting() -> (impl Fn() -> usize, AuthGate) {
    let count: Arc<AtomicUsize> = Arc::default();
    let counts = count.clone();
    let gate = AuthGate::serve(move |request: &Request| {
        if request.scope == Scope::Inspector {
            counts.fetch_add(1, Ordering::SeqCst);
        }
        Decision::Allow
    });
    (move || count.load(Ordering::SeqCst), gate)
}

fn raw(client: &mut Client, id: &Value, method: &str, params: Value) {
    client
        .raw(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
}

#[test]
fn parameters_of_every_wrong_form_are_refused_and_not_repeated() {
    let odd = [
        json!("NEEDLE"),
        json!(["NEEDLE"]),
        json!({"other": 1}),
        json!({"n".repeat(100_000): 1}),
        json!({"node": "NEEDLE"}),
        json!({"node": -1}),
        json!({"node": 1.5}),
        json!({"node": true}),
        json!({"node": {"other": ["NEEDLE"]}}),
        json!({"since": -1}),
        json!({"since": "NEEDLE"}),
        json!({"hide": ""}),
        json!({"hide": "NEEDLE"}),
        json!({"hide": "NEEDLE".repeat(100_000)}),
        json!({"after": -1}),
        json!({"limit": 0}),
        json!({"limit": u64::MAX}),
        json!({"timeout_ms": 0}),
        json!({"timeout_ms": 30_001}),
        json!({"timeout_ms": "NEEDLE"}),
        json!({"window": "NEEDLE"}),
    ];
    let written = [
        r#"{"node": 1e999}"#,
        r#"{"node": 18446744073709551616}"#,
        r#"{"node": 1, "node": "NEEDLE"}"#,
        r#"{"since": 99999999999999999999999999}"#,
        r#""#,
    ];
    for (kind, serve) in BOTH {
        let served = serve(allow(), true);
        let (mut client, mut agent) = (served.client(), served.client());
        let known = tree(&mut client);
        for method in METHODS {
            let lines = odd.iter().map(Value::to_string);
            for params in lines.chain(written.iter().map(|it| (*it).to_owned())) {
                client.raw(&format!(
                    r#"{{"jsonrpc": "2.0", "id": 7, "method": "inspector.{method}", "params": {params}}}"#
                ));
                let line = client.line();
                let reply: Value = serde_json::from_str(&line).unwrap();
                let why = ["invalid_params", "invalid_request", "parse_error"];
                assert!(
                    why.contains(&reason(&reply)),
                    "{kind} {method} {params:.100} {line:.200}"
                );
                assert!(
                    !line.contains("NEEDLE") && line.len() < 1_000,
                    "{kind} {line:.200}"
                );
                // Few lines in a row that are no JSON end a connection.
                client.get("hello", json!({}));
            }
        }
        // Of a node that isn't there, and of numbers that never were.
        for node in [0, 1 << 40, u64::MAX] {
            for method in ["node", "agent_view", "highlight", "screenshot"] {
                let reply = client.ask(&format!("inspector.{method}"), json!({ "node": node }));
                assert_eq!(reason(&reply), "invalid_params", "{kind} {method} {reply}");
            }
        }
        let since = client.get("inspector.tree", json!({"since": u64::MAX}));
        assert!(since["nodes"].is_array(), "{kind} {since}");
        let log = client.get("inspector.log", json!({"after": u64::MAX}));
        assert_eq!(log["entries"], json!([]), "{kind}");
        assert_eq!(tree(&mut client), known, "{kind}");
        assert_eq!(
            agent.click("save")["result"]["outcome"],
            "allowed",
            "{kind}"
        );
    }
}

#[test]
fn a_line_longer_than_any_is_refused() {
    let served = headless(allow(), true);
    let mut client = served.client();
    tree(&mut client);
    let long = "x".repeat(5 << 20);
    // It may be closed while it still writes.
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "inspector.screenshot",
        "params": {"hide": long}});
    let _ = client.stream.write_all(format!("{request}\n").as_bytes());
    let line = client.line();
    if !line.is_empty() {
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(limit(&reply), "line", "{reply}");
    }
    let mut other = served.client();
    tree(&mut other);
}

#[test]
fn an_id_is_in_flight_until_its_request_is_over() {
    let served = headless(allow(), true);
    let mut client = served.client();
    tree(&mut client);
    let id = json!("same");
    let go_on = hold(&served);
    raw(
        &mut client,
        &id,
        "inspector.tree",
        json!({"timeout_ms": 20_000}),
    );
    // Whatever takes this id again is refused, and the first goes on.
    for method in ["inspector.pick", "inspector.log", "describe_ui", "hello"] {
        raw(&mut client, &id, method, json!({}));
        let reply = client.reply();
        assert_eq!(reason(&reply), "invalid_request", "{method} {reply}");
    }
    // Another client's ids are its own.
    let mut other = served.client();
    raw(&mut other, &id, "hello", json!({}));
    assert!(other.reply()["error"].is_null());
    drop(go_on);
    assert!(client.reply()["result"]["nodes"].is_array());
    // And the other way round, with an agent's request in flight.
    let go_on = hold(&served);
    raw(
        &mut client,
        &id,
        "describe_ui",
        json!({"timeout_ms": 20_000}),
    );
    raw(&mut client, &id, "inspector.tree", json!({}));
    assert_eq!(reason(&client.reply()), "invalid_request");
    drop(go_on);
    assert!(client.reply()["error"].is_null());
    // When it is answered the id is free, at once.
    for _ in 0..50 {
        raw(&mut client, &id, "inspector.pick", json!({}));
        assert_eq!(reason(&client.reply()), "unsupported");
        raw(&mut client, &id, "inspector.tree", json!({}));
        assert!(client.reply()["error"].is_null());
    }
}

#[test]
fn what_is_cancelled_is_not_answered_nor_begun_and_makes_room() {
    let (checks, gate) = counting();
    let served = headless(gate, true);
    let mut client = served.client();
    let save = handle(&tree(&mut client), "Save");
    let go_on = hold(&served);
    // More than can be asked at a time, were they not taken back.
    for round in 0..30 {
        let id = json!(1_000 + round);
        let params = json!({"node": save, "timeout_ms": 30_000});
        raw(&mut client, &id, "inspector.highlight", params);
        client.notify("notifications/cancelled", json!({"requestId": id}));
        eventually("there is room again", || {
            let reply = client.ask("inspector.log", json!({}));
            limit(&reply) == "none"
        });
    }
    // Nobody's.
    client.notify("notifications/cancelled", json!({"requestId": 999_999}));
    let before = checks();
    drop(go_on);
    tree(&mut client);
    // That one is asked about on its way in, and when it begins; none of those before it began.
    assert_eq!(checks(), before + 2);
    let outcomes = outcomes(&mut client);
    assert_eq!(
        outcomes,
        Vec::<String>::new(),
        "an inspector's calls are not logged"
    );
}

#[test]
fn rule_2_what_waits_when_leave_is_taken_away_is_refused() {
    let (checks, gate) = counting();
    let served = headless(gate, true);
    let mut client = served.client();
    let save = handle(&tree(&mut client), "Save");
    let go_on = hold(&served);
    let asked = ["tree", "lint", "screenshot", "highlight"].map(|method| {
        let params = match method {
            "highlight" => json!({"node": save, "timeout_ms": 30_000}),
            _ => json!({"timeout_ms": 30_000}),
        };
        client.send(&format!("inspector.{method}"), params)
    });
    // So that all of them are waiting by then.
    client.get("inspector.log", json!({}));
    served.surface.revoke();
    let mut refused: Vec<u64> = asked
        .iter()
        .map(|_| {
            let reply = client.reply();
            assert_eq!(reason(&reply), "consent_denied", "{reply}");
            reply["id"].as_u64().unwrap()
        })
        .collect();
    refused.sort_unstable();
    assert_eq!(refused, asked);
    let before = checks();
    drop(go_on);
    assert_eq!(
        reason(&client.ask("inspector.tree", json!({}))),
        "consent_denied"
    );
    served.headless.as_ref().unwrap().run(|_| ());
    assert_eq!(checks(), before, "none of them began");
}

#[test]
fn rule_9_sixty_four_inspectors_at_once_keep_nobody_waiting() {
    const MANY: usize = 63;
    let folder = folder();
    let app =
        Headless::start("many", |tree| {
            tree.open_window(Widget::window("Many").tag("main").children(
                (0..50).map(|n| Widget::button(format!("Row {n}")).tag(format!("row-{n}"))),
            ));
        });
    let at = folder.path().join("s");
    let surface = Surface::builder("many")
        .gate(allow())
        .headless(&app)
        .arm_inspector()
        .limits(Limits {
            connections_per_peer: MANY + 1,
            ..Limits::default()
        })
        .at(&at)
        .serve()
        .unwrap();
    let mut agent = Client::connect(&at);
    agent.get("hello", json!({}));
    let inspectors: Vec<Client> = (0..MANY).map(|_| Client::connect(&at)).collect();
    thread::scope(|scope| {
        let asking: Vec<_> = inspectors
            .into_iter()
            .enumerate()
            .map(|(number, mut client)| {
                scope.spawn(move || {
                    let begun = Instant::now();
                    // Making a picture into a file takes long without optimisation.
                    let last = if number % 16 == 0 {
                        "screenshot"
                    } else {
                        "log"
                    };
                    for method in ["tree", "lint", last] {
                        loop {
                            let params = json!({"timeout_ms": 20_000});
                            let reply = client.ask(&format!("inspector.{method}"), params);
                            match reason(&reply) {
                                "none" => break,
                                why => assert_eq!(why, "limit", "{reply}"),
                            }
                            assert!(begun.elapsed() < LONG, "never its turn");
                            thread::sleep(Duration::from_millis(5));
                        }
                    }
                })
            })
            .collect();
        while asking.iter().any(|it| !it.is_finished()) {
            let reply = agent.ask("click", json!({"id": "row-7", "timeout_ms": 20_000}));
            let ok = ["none", "limit"].contains(&reason(&reply));
            assert!(ok, "{reply}");
        }
    });
    eventually("they are gone", || surface.clients().len() == 1);
}

#[test]
fn rule_10_who_never_reads_its_pictures_is_closed() {
    let (checks, gate) = counting();
    let folder = folder();
    let at = folder.path().join("s");
    let app = Headless::start("pictures", |tree| {
        tree.open_window(Widget::window("Pictures").tag("main").children([
            Widget::button("Save").tag("save"),
            Widget::text_field("Password").tag(Tag::id("password").secret()),
        ]));
    });
    const UNREAD: usize = 50_000;
    let surface = Surface::builder("pictures")
        .gate(gate)
        .headless(&app)
        .arm_inspector()
        .limits(Limits {
            unread_bytes: UNREAD,
            unread_for: Duration::from_secs(2),
            ..Limits::default()
        })
        .at(&at)
        .serve()
        .unwrap();
    let mut other = Client::connect(&at);
    let size = other
        .get("inspector.screenshot", json!({}))
        .to_string()
        .len();
    let mut deaf = Client::connect(&at);
    deaf.stream
        .set_write_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let before = checks();
    let begun = Instant::now();
    let mut id = 0;
    while surface.clients().len() > 1 {
        assert!(begun.elapsed() < LONG, "it is still there");
        id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "inspector.screenshot",
            "params": {"timeout_ms": 20_000}});
        // Until nothing goes in any more, and then it is closed.
        if deaf
            .stream
            .write_all(format!("{line}\n").as_bytes())
            .is_err()
        {
            thread::sleep(Duration::from_millis(10));
        }
    }
    // What the system keeps of a socket, and what we do, and those that were being answered; each
    // is asked about twice, on the way in and in its turn.
    let most = 2 * (UNREAD / size + (4 << 20) / size + 16);
    let asked = checks() - before;
    assert!(asked <= most, "{asked} of {most}, each of {size} bytes");
    other.get("inspector.tree", json!({}));
    assert_eq!(other.click("save")["result"]["outcome"], "allowed");
}

/// An inspector in a process of its own: it asks for all that it may, and waits to be killed.
pub(crate) fn inspector(address: &Path) {
    let mut client = Client::connect(address);
    tree(&mut client);
    println!("let in");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    for _ in 0..8 {
        client.send("inspector.screenshot", json!({"timeout_ms": 30_000}));
    }
    println!("asked");
    std::io::stdin().lines().for_each(drop);
}

#[test]
fn rule_9_an_inspector_that_is_killed_while_its_picture_is_taken_leaves_nothing_behind() {
    let (checks, gate) = counting();
    let served = headless(gate, true);
    let mut other = served.client();
    tree(&mut other);
    let mut doomed = process("inspector", served.surface.address().unwrap())
        .spawn()
        .unwrap();
    told(&mut doomed, "let in");
    let go_on = hold(&served);
    let before = checks();
    doomed.stdin.as_mut().unwrap().write_all(b"now\n").unwrap();
    told(&mut doomed, "asked");
    eventually("all of them wait", || checks() == before + 8);
    // No more are answered at a time.
    let reply = other.ask("inspector.log", json!({}));
    assert_eq!(limit(&reply), "requests", "{reply}");
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    eventually("it is forgotten", || served.surface.clients().len() == 1);
    // Though the app has not come to itself, there is room for others.
    eventually("there is room", || {
        limit(&other.ask("inspector.log", json!({}))) == "none"
    });
    drop(go_on);
    tree(&mut other);
    for _ in 0..10 {
        other.get("inspector.screenshot", json!({}));
    }
}

#[test]
fn what_the_apps_own_assistant_asks_is_told_as_what_agents_ask() {
    for (kind, serve) in BOTH {
        let gate = AuthGate::serve(|request| match request.verb {
            agent_surface::Verb::GetText => Decision::deny("not that"),
            _ => Decision::Allow,
        });
        let served = serve(gate, true);
        let mut client = served.client();
        // After its first pass it is known which thread draws.
        tree(&mut client);
        let assistant = served.surface.session("Assistant");
        assistant.set_deadline(Duration::from_secs(30));
        assistant.hello().wait().unwrap();
        assistant.describe_ui(false).wait().unwrap();
        assistant.click("save").wait().unwrap();
        assistant.click("nowhere").wait().unwrap_err();
        assistant.click("delete").wait().unwrap_err();
        let denied = assistant.get_text("name").wait();
        assert_eq!(denied.unwrap_err(), Error::Denied, "{kind}");
        let mut agent = served.client();
        agent.get("hello", json!({"name": "an agent"}));
        agent.click("save");
        let expected = [
            "Assistant hello - allowed",
            "Assistant describe_ui - allowed",
            "Assistant click save allowed",
            "Assistant click nowhere not_found",
            "Assistant click delete not_actionable",
            "Assistant get_text name consent_denied",
            "an agent hello - allowed",
            "an agent click save allowed",
        ];
        assert_eq!(outcomes(&mut client), expected, "{kind}");
    }
}

#[test]
fn an_assistant_is_let_in_as_before_where_its_calls_are_told() {
    // Nobody has decided, and the app made it.
    let served = headless(AuthGate::deny_all(), true);
    let assistant = served.surface.session("Assistant");
    assistant.click("save").wait().unwrap();
    // And is seen and stopped as before.
    assert_eq!(served.surface.clients().len(), 1);
    served.surface.revoke();
    assert_eq!(assistant.click("save").wait().unwrap_err(), Error::Denied);
}
