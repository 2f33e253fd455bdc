//! Events as resources, on the app's own socket: the feature `mcp`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

use std::sync::Arc;

use agent_core::{AuthGate, Decision, Verb};
use agent_headless::{Headless, Widget};
use agent_mcp::{Config, Limits, Server, serve_uds};
use agent_test_support::{Client, TempDir, allow, eventually, folder, reason};
use serde_json::{Value, json};

const URI: &str = "agent-surface://events?node=main&verb=clicked";

struct Served {
    server: Server,
    _app: Headless,
    _folder: TempDir,
}

impl Served {
    fn new() -> Self {
        Self::with(allow())
    }

    fn with(gate: AuthGate) -> Self {
        let app = Headless::start("events", |tree| {
            let save = Widget::button("Save").tag("save").on_click(|_, _| {});
            tree.open_window(Widget::window("Form").tag("main").child(save));
        });
        let folder = folder();
        let config = Config {
            app: "demo".into(),
            name: "Demo".into(),
            gate,
            backend: Arc::new(app.handle()),
            armed_full: false,
            inspector: agent_mcp::Inspector::default(),
            limits: Limits::default(),
        };
        let server = serve_uds(config, &folder.path().join("s")).unwrap();
        Self {
            server,
            _app: app,
            _folder: folder,
        }
    }

    fn connect(&self) -> Client {
        Client::connect(self.server.address().unwrap())
    }
}

fn initialize(client: &mut Client) {
    client.ask(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}),
    );
    client.notify("notifications/initialized", json!({}));
}

fn read(client: &mut Client) -> Value {
    let reply = client.ask("resources/read", json!({"uri": URI}));
    let text = reply["result"]["contents"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{reply}"))).unwrap()
}

#[test]
fn a_resource_is_followed_on_the_apps_own_socket() {
    let served = Served::new();
    let (mut client, mut other) = (served.connect(), served.connect());
    initialize(&mut client);
    let reply = client.ask("resources/subscribe", json!({"uri": URI}));
    assert_eq!(reply["result"], json!({}), "{reply}");
    other.click("save");
    let note = client.reply();
    assert_eq!(note["method"], "notifications/resources/updated", "{note}");
    assert_eq!(note["params"]["uri"], URI);
    let events = read(&mut client)["events"].clone();
    assert_eq!(events.as_array().unwrap().len(), 1, "{events}");
    assert_eq!(events[0]["source"], "save");
    assert_eq!(events[0].get("own"), None);
    // Both dialects have one stream, and what the client sent of either is its own.
    client.send("click", json!({"id": "save"}));
    let (one, two) = (client.reply(), client.reply());
    assert!(one["result"]["outcome"] == "allowed" || two["result"]["outcome"] == "allowed");
    assert_eq!(read(&mut client)["events"][0]["own"], true);
    client.ask("resources/unsubscribe", json!({"uri": URI}));
    let reply = client.ask("resources/read", json!({"uri": URI}));
    assert_eq!(reason(&reply), "invalid_params", "{reply}");
}

#[test]
fn what_a_resource_replays_is_told_of_when_it_is_followed() {
    let served = Served::new();
    let (mut client, mut other) = (served.connect(), served.connect());
    initialize(&mut client);
    other.click("save");
    let uri = format!("{URI}&from=1");
    client.send("resources/subscribe", json!({"uri": uri}));
    // The SDK may send either first.
    let lines = [client.reply(), client.reply()];
    let told = |line: &&Value| line["method"] == "notifications/resources/updated";
    let note = lines.iter().find(told).unwrap();
    assert_eq!(note["params"]["uri"], uri);
    assert!(lines.iter().any(|line| line["result"] == json!({})));
}

#[test]
fn rule_10_a_resource_that_cannot_be_fetched_leaves_no_subscription() {
    let served = Served::with(AuthGate::serve(|request| match request.verb {
        Verb::PollEvents => Decision::deny("to listen is one thing"),
        _ => Decision::Allow,
    }));
    let mut client = served.connect();
    initialize(&mut client);
    for _ in 0..40 {
        let reply = client.ask("resources/subscribe", json!({"uri": URI}));
        assert_eq!(reason(&reply), "consent_denied", "{reply}");
    }
    client.get("subscribe", json!({}));
}

#[test]
fn a_stream_is_named_by_the_clients_own_id_and_ends_when_it_is_cancelled() {
    let served = Served::new();
    let (mut client, mut other) = (served.connect(), served.connect());
    let listen = json!({"jsonrpc": "2.0", "id": "my stream", "method": "subscriptions/listen",
        "params": {"notifications": {"resourceSubscriptions": [URI]}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "newest", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}});
    client.raw(&listen.to_string());
    let stream =
        |note: &Value| note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
    let ack = client.reply();
    assert_eq!(stream(&ack), "my stream", "{ack}");
    other.click("save");
    let note = client.reply();
    assert_eq!(stream(&note), "my stream", "{note}");
    client.notify("notifications/cancelled", json!({"requestId": "my stream"}));
    client.assert_served("demo");
    other.click("save");
    // Nothing of it comes any more: this reply is the next line.
    client.assert_served("demo");
}

#[test]
fn what_was_heard_before_a_revocation_is_not_read_after_it() {
    let served = Served::new();
    let (mut client, mut other) = (served.connect(), served.connect());
    initialize(&mut client);
    client.ask("resources/subscribe", json!({"uri": URI}));
    other.click("save");
    client.reply();
    served.server.revoke();
    // That it has ended is told; whatever happens now is not.
    let note = client.reply();
    assert_eq!(note["method"], "notifications/resources/updated", "{note}");
    let mut third = served.connect();
    third.click("save");
    let reply = client.ask("resources/read", json!({"uri": URI}));
    assert_eq!(reason(&reply), "consent_denied", "{reply}");
    let reply = client.ask("resources/subscribe", json!({"uri": URI}));
    assert_eq!(reason(&reply), "consent_denied", "{reply}");
    eventually("the one that came later is all that is left", || {
        served
            .server
            .clients()
            .iter()
            .filter(|it| it.admitted)
            .count()
            == 1
    });
}

#[test]
fn a_client_that_is_gone_leaves_no_subscription() {
    let served = Served::new();
    for _ in 0..40 {
        let mut client = served.connect();
        initialize(&mut client);
        let reply = client.ask("resources/subscribe", json!({"uri": URI}));
        assert_eq!(reply["result"], json!({}), "{reply}");
    }
    eventually("all are gone", || served.server.clients().is_empty());
    let mut client = served.connect();
    initialize(&mut client);
    // Following and leaving again leaves nothing either.
    for _ in 0..40 {
        let reply = client.ask("resources/subscribe", json!({"uri": URI}));
        assert_eq!(reply["result"], json!({}), "{reply}");
        client.ask("resources/unsubscribe", json!({"uri": URI}));
    }
    let most = 8;
    for n in 0..=most {
        let uri = format!("{URI}&from={n}");
        let reply = client.ask("resources/subscribe", json!({"uri": uri}));
        assert_eq!(reply.get("error").is_some(), n == most, "{reply}");
    }
}
