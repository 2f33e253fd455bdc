//! Subscribers: those who don't read, and those who die and come back.

use std::net::Shutdown;

use agent_surface::{
    Limits, Surface,
    headless::{Headless, Widget},
};
use agent_test_support::{Client, allow, eventually, folder};
use serde_json::{Value, json};

/// What the log holds for who comes back, by default.
const LOG: u64 = 4096;

/// An app of one label, which it changes by itself.
struct Counter {
    app: Headless,
    counted: u64,
}

impl Counter {
    fn new() -> Self {
        let app = Headless::start("counter", |tree| {
            let count = Widget::words("0").tag("count").named("count");
            tree.open_window(Widget::window("Main").tag("main").child(count));
        });
        Self { app, counted: 0 }
    }

    /// So many changes, each in a turn of its own.
    fn count(&mut self, changes: u64) {
        for _ in 0..changes {
            self.counted += 1;
            let text = self.counted.to_string();
            self.app.run(move |tree| {
                let count = tree.find("count").unwrap();
                tree.set_text(count, text);
            });
        }
    }
}

fn changes(from: Option<u64>) -> Value {
    let mut params = json!({"node": "count", "verb": "changed", "push": true});
    if let Some(from) = from {
        params["from"] = json!(from);
    }
    params
}

fn event(client: &mut Client) -> Value {
    let line = client.reply();
    assert_eq!(line["method"], "event", "{line}");
    line["params"].clone()
}

#[test]
fn rule_9_one_subscriber_of_64_who_never_reads_slows_nobody() {
    const ROUNDS: u64 = 20;
    // Fewer than a queue holds, so that who reads loses none.
    const CHANGES: u64 = 100;
    let mut app = Counter::new();
    let folder = folder();
    let surface = Surface::builder("org.example.counter")
        .gate(allow())
        .headless(&app.app)
        .limits(Limits {
            // It is not to be closed meanwhile.
            unread_for: std::time::Duration::from_secs(3600),
            ..Limits::default()
        })
        .at(folder.path().join("s"))
        .serve()
        .unwrap();
    let mut clients: Vec<Client> = (0..64)
        .map(|_| Client::connect(surface.address().unwrap()))
        .collect();
    for client in &mut clients {
        assert!(client.get("subscribe", changes(None))["subscription"].is_string());
    }
    let (deaf, others) = clients.split_first_mut().unwrap();
    let mut last = vec![0; others.len()];
    for _ in 0..ROUNDS {
        // Each of these returns: nobody is waited for.
        app.count(CHANGES);
        for (other, last) in others.iter_mut().zip(&mut last) {
            for _ in 0..CHANGES {
                let event = event(other);
                assert_eq!(event["dropped"], Value::Null, "{event}");
                let seq = event["seq"].as_u64().unwrap();
                assert!(seq > *last, "in order, and once");
                *last = seq;
            }
        }
    }
    // And the deaf one, should it come to itself, is told how much it has missed.
    let (mut heard, mut dropped) = (0, 0);
    let mut seq = 0;
    while heard + dropped < ROUNDS * CHANGES {
        let event = event(deaf);
        heard += 1;
        dropped += event["dropped"].as_u64().unwrap_or(0);
        assert!(event["seq"].as_u64().unwrap() > seq);
        seq = event["seq"].as_u64().unwrap();
    }
    assert_eq!(heard + dropped, ROUNDS * CHANGES);
    assert!(dropped > 0, "its socket takes more than was sent");
    assert_eq!(seq, last[0]);
}

#[test]
fn a_subscriber_that_was_killed_loses_nothing_that_the_log_holds() {
    let mut app = Counter::new();
    let folder = folder();
    let surface = super::app::serve(&app.app, folder.path().join("s"));
    let mut stays = Client::connect(surface.address().unwrap());
    let whole = json!({"node": "count", "verb": "changed", "queue": 1});
    let stays_on = stays.get("subscribe", whole)["subscription"].clone();
    let mut next = 1;
    let mut heard = 0;
    let mut told = 0;
    for changes_meanwhile in [0, 1, 300, 1500] {
        let mut client = Client::connect(surface.address().unwrap());
        let made = client.get("subscribe", changes(Some(next)));
        assert_eq!(made["gap"], Value::Null, "{made}");
        app.count(50);
        told += 50;
        // It hears what came while it was gone, and half of what comes now, and is killed.
        while heard < told - 25 {
            let event = event(&mut client);
            assert_eq!(event["dropped"], Value::Null, "{event}");
            assert_eq!(event["subscription"], made["subscription"]);
            assert!(event["seq"].as_u64().unwrap() >= next, "{event}");
            next = event["seq"].as_u64().unwrap() + 1;
            heard += 1;
        }
        client.stream.shutdown(Shutdown::Both).unwrap();
        drop(client);
        eventually("it is gone", || surface.clients().len() == 1);
        app.count(changes_meanwhile);
        told += changes_meanwhile;
    }
    let mut client = Client::connect(surface.address().unwrap());
    client.get("subscribe", changes(Some(next)));
    while heard < told {
        next = event(&mut client)["seq"].as_u64().unwrap() + 1;
        heard += 1;
    }
    // That was all: the same as who has been there all the time is told.
    let polled = stays.get("poll_events", json!({"subscription": stays_on}));
    assert_eq!(polled["dropped"], told - 1);
    assert_eq!(polled["events"][0]["seq"], next - 1);
    client.assert_served("org.example.counting");
    drop(client);

    // More than the log holds: that there is a gap is told, and the rest of it.
    app.count(LOG + 10);
    let mut late = Client::connect(surface.address().unwrap());
    let made = late.get("subscribe", changes(Some(next)));
    assert_eq!(made["gap"], true, "{made}");
    let first = event(&mut late)["seq"].as_u64().unwrap();
    assert!(first > next);
    let polled = stays.get("poll_events", json!({"subscription": stays_on}));
    let last = polled["events"][0]["seq"].as_u64().unwrap();
    assert!(last - first < LOG);
    let mut seq = first;
    while seq < last {
        seq = event(&mut late)["seq"].as_u64().unwrap();
    }
    late.assert_served("org.example.counting");

    // Who fetches them does so in parts.
    let fetches = json!({"node": "count", "verb": "changed", "from": first});
    let fetches = late.get("subscribe", fetches)["subscription"].clone();
    let mut from = first;
    let mut parts = 0;
    while from < last {
        let polled = late.get("poll_events", json!({"subscription": fetches}));
        let events = polled["events"].as_array().unwrap();
        assert!(events.len() <= 256 && polled["dropped"] == 0, "{polled}");
        assert!(events[0]["seq"].as_u64().unwrap() >= from);
        from = polled["next"].as_u64().unwrap();
        parts += 1;
    }
    assert!(parts > 4, "{parts}");
}
