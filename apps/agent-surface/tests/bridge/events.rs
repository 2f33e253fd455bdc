//! Events, as each kind of client has them: as a stream, as resources, and by the tools.

use std::time::Duration;

use agent_test_support::takes_less_than;
use serde_json::{Value, json};

use super::support::{Host, Place};

const STREAM: &str = "io.modelcontextprotocol/subscriptionId";

fn read(host: &mut Host, uri: &str) -> Value {
    let reply = host.ask("resources/read", json!({"uri": uri}));
    let text = reply["result"]["contents"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{reply}"))).unwrap()
}

/// `source verb`, and whether it was this host's own doing.
fn told(read: &Value) -> Vec<(String, bool)> {
    let events = read["events"].as_array().unwrap().iter();
    events
        .filter(|event| event["verb"] != "ui_changed")
        .map(|event| {
            let words = [&event["source"], &event["verb"]].map(|word| word.as_str().unwrap());
            (words.join(" "), event["own"] == true)
        })
        .collect()
}

/// The next message, which has to be the notification that this resource was updated.
fn updated(host: &mut Host, uri: &str) -> Value {
    let note = host.reply();
    assert_eq!(note["method"], "notifications/resources/updated", "{note}");
    assert_eq!(note["params"]["uri"], uri, "{note}");
    note
}

pub(crate) fn a_resource_is_followed_before_2026_07_28() {
    let place = Place::new();
    let app = place.app("org.a", "form");
    let mut host = place.host(&[]);
    let mut other = place.host(&[]);
    let uri = "agent-surface://events?node=main&app=org.a";
    let templates = host.ask("resources/templates/list", json!({}))["result"].to_string();
    assert!(templates.contains("agent-surface://events{?node,verb,role,window,from,app}"));
    let reply = host.ask("resources/read", json!({"uri": uri}));
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("subscribe to it"), "{reply}");
    for bad in [
        "agent-surface://events?nod=a",
        "agent-surface://events?app=org.b",
        "file:///etc",
    ] {
        let reply = host.ask("resources/subscribe", json!({"uri": bad}));
        assert_eq!(
            reply["error"]["data"]["reason"], "invalid_params",
            "{reply}"
        );
    }
    let reply = host.ask("resources/subscribe", json!({"uri": uri}));
    assert_eq!(reply["result"], json!({}), "{reply}");
    assert!(!other.call("click", json!({"id": "save"})).0);
    updated(&mut host, uri);
    assert_eq!(
        told(&read(&mut host, uri)),
        [
            ("save clicked".to_owned(), false),
            ("status changed".to_owned(), false)
        ]
    );
    assert_eq!(told(&read(&mut host, uri)), []);
    // Its own click is told as its own. The note and the reply come as they are ready.
    let id = host.send_call("click", json!({"id": "save"}));
    let (one, two) = (host.reply(), host.reply());
    assert!(one["id"] == id || two["id"] == id, "{one} {two}");
    let read = read(&mut host, uri);
    assert_eq!(told(&read), [("save clicked".to_owned(), true)]);
    let reply = host.ask("resources/unsubscribe", json!({"uri": uri}));
    assert_eq!(reply["result"], json!({}), "{reply}");
    assert!(!host.call("click", json!({"id": "save"})).0);
    // From where it stopped reading, nothing is lost.
    let from = format!("{uri}&from={}", read["next"]);
    host.ask("resources/subscribe", json!({"uri": from}));
    updated(&mut host, &from);
    assert_eq!(
        told(&self::read(&mut host, &from)),
        [("save clicked".to_owned(), true)]
    );
    assert_eq!(app.quit(), 3);
}

pub(crate) fn a_stream_is_listened_to_from_2026_07_28_on() {
    let place = Place::new();
    let mut app = place.app("org.a", "form");
    let mut host = Host::start(place.command().arg("mcp"));
    host.without_handshake();
    let uri = "agent-surface://events?verb=clicked";
    let listen = |host: &mut Host, uris: &[&str]| {
        let id = host.send(
            "subscriptions/listen",
            json!({"notifications": {"resourceSubscriptions": uris}}),
        );
        let ack = host.reply();
        assert_eq!(
            ack["method"], "notifications/subscriptions/acknowledged",
            "{ack}"
        );
        assert_eq!(ack["params"]["_meta"][STREAM], id, "{ack}");
        (
            id,
            ack["params"]["notifications"]["resourceSubscriptions"].clone(),
        )
    };
    let (id, accepted) = listen(&mut host, &[uri, "file:///etc/passwd"]);
    assert_eq!(accepted, json!([uri]));
    let mut other = place.host(&[]);
    assert!(!other.call("click", json!({"id": "save"})).0);
    let note = updated(&mut host, uri);
    assert_eq!(note["params"]["_meta"][STREAM], id, "{note}");
    assert_eq!(
        told(&read(&mut host, uri)),
        [("save clicked".to_owned(), false)]
    );
    // A second stream of the same, and the end of the first.
    let (second, _) = listen(&mut host, &[uri]);
    host.notify("notifications/cancelled", json!({"requestId": id}));
    // What was sent before this has been seen to.
    host.ask("tools/list", json!({}));
    assert!(!other.call("click", json!({"id": "save"})).0);
    let note = updated(&mut host, uri);
    assert_eq!(note["params"]["_meta"][STREAM], second, "{note}");
    // With the app the stream ends, and says why.
    app.kill();
    let last = [host.reply(), host.reply()];
    let reply = last.iter().find(|it| it["id"] == second).unwrap();
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("quit"), "{last:?}");
    // One that has nothing to listen to says so.
    host.send(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": ["file:///etc/passwd"]}}),
    );
    let _ack = host.reply();
    assert_eq!(host.reply()["error"]["data"]["reason"], "invalid_params");
    // What only listens does not hold up the end, which calls do for two seconds.
    let _app = place.app("org.a", "form");
    takes_less_than(Duration::from_secs(2), "the end", || {
        let mut host = Host::start(place.command().arg("mcp"));
        host.without_handshake();
        listen(&mut host, &[uri]);
        host.close()
    });
}

pub(crate) fn a_resource_stays_with_the_app_it_was_followed_in() {
    let place = Place::new();
    let first = place.app("org.a", "form");
    let mut host = place.host(&[]);
    let uri = "agent-surface://events?verb=clicked";
    let reply = host.ask("resources/subscribe", json!({"uri": uri}));
    assert_eq!(reply["result"], json!({}), "{reply}");
    // Others begin to run, one of them under the same id.
    let others = [place.app("org.b", "form"), place.app("org.a", "form")];
    let first_name = format!("org.a-{}", first.pid());
    let mut person = place.host(&["--app", &first_name]);
    for clicks in 1..=2 {
        assert!(!person.call("click", json!({"id": "save"})).0);
        updated(&mut host, uri);
        let read = read(&mut host, uri);
        assert_eq!(
            told(&read),
            [("save clicked".to_owned(), false)],
            "{clicks}"
        );
        assert_eq!(read["app"], "org.a", "{read}");
    }
    // Which is meant by the same words has to be said now.
    let reply = person.ask("resources/subscribe", json!({"uri": uri}));
    assert_eq!(reply["result"], json!({}), "{reply}");
    let mut late = place.host(&[]);
    let reply = late.ask("resources/subscribe", json!({"uri": uri}));
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("several apps run"), "{reply}");
    drop(others);
    assert_eq!(first.quit(), 2);
}

pub(crate) fn events_are_fetched_by_tools() {
    let place = Place::new();
    let _app = place.app("org.a", "form");
    let mut host = place.host(&[]);
    let (error, text) = host.call("subscribe", json!({"node": "save", "push": true}));
    assert!(error && text.contains("agent-surface://events"), "{text}");
    let (error, text) = host.call("subscribe", json!({"node": "save"}));
    assert!(!error, "{text}");
    let made: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
    assert!(!place.host(&[]).call("click", json!({"id": "save"})).0);
    assert!(!host.call("click", json!({"id": "save"})).0);
    let (error, text) = host.call("poll_events", json!({"subscription": made["subscription"]}));
    assert!(!error && text.starts_with("# org.a\n"), "{text}");
    let polled: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
    assert_eq!(
        told(&polled),
        [
            ("save clicked".to_owned(), false),
            ("save clicked".to_owned(), true)
        ]
    );
    assert!(
        !host
            .call("unsubscribe", json!({"subscription": made["subscription"]}))
            .0
    );
    let (error, _) = host.call("poll_events", json!({"subscription": made["subscription"]}));
    assert!(error);
}
