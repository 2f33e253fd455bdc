use std::sync::Arc;

use agent_core::{Event, EventVerb, Filter, Hub, Role};
use proptest::prelude::*;

fn event(source: &str, around: &[&str], verb: EventVerb, role: Role) -> Event {
    Event {
        seq: 0,
        source: source.into(),
        around: around.iter().map(|id| Arc::from(*id)).collect(),
        verb,
        role,
        revision: 1,
        cause: None,
    }
}

fn clicked(source: &str) -> Event {
    event(source, &["main"], EventVerb::Clicked, Role::Button)
}

fn heard(hub: &mut Hub, id: u64) -> Vec<String> {
    let polled = hub.poll(1, id, usize::MAX).unwrap();
    let events = polled.events.iter();
    events
        .map(|event| format!("{} {}", event.source, event.verb.word()))
        .collect()
}

#[test]
fn a_subscription_hears_its_node_and_all_below_it_if_every_filter_fits() {
    let mut hub = Hub::new(100);
    let mut listen = |node: Option<&str>, verb, role| {
        let filter = Filter {
            node: node.map(Into::into),
            verb,
            role,
        };
        hub.subscribe(1, filter, 10, false, None).id
    };
    let all = listen(None, None, None);
    let left = listen(Some("left"), None, None);
    let toggles = listen(None, Some(EventVerb::Toggled), None);
    let both = listen(Some("left"), Some(EventVerb::Clicked), Some(Role::Link));
    hub.emit(&mut [
        event("ok", &["main", "left"], EventVerb::Clicked, Role::Button),
        event("left", &["main"], EventVerb::Changed, Role::Group),
        event(
            "tick",
            &["main", "right"],
            EventVerb::Toggled,
            Role::Checkbox,
        ),
        event("more", &["main", "left"], EventVerb::Clicked, Role::Link),
    ]);
    assert_eq!(heard(&mut hub, all).len(), 4);
    assert_eq!(
        heard(&mut hub, left),
        ["ok clicked", "left changed", "more clicked"]
    );
    assert_eq!(heard(&mut hub, toggles), ["tick toggled"]);
    assert_eq!(heard(&mut hub, both), ["more clicked"]);
    assert!(hub.poll(2, all, 1).is_none(), "another connection's");
}

#[test]
fn rule_10_a_full_queue_drops_its_oldest_and_counts() {
    let mut hub = Hub::new(100);
    let id = hub.subscribe(1, Filter::default(), 3, false, None).id;
    hub.emit(&mut ["a", "b", "c", "d", "e"].map(clicked));
    let polled = hub.poll(1, id, 2).unwrap();
    assert_eq!(
        (polled.events.len(), polled.dropped, polled.next),
        (2, 2, 5)
    );
    assert_eq!(heard(&mut hub, id), ["e clicked"]);
    assert_eq!(hub.poll(1, id, 2).unwrap().next, 6);
}

#[test]
fn what_the_log_holds_is_replayed_and_a_gap_is_told() {
    let mut hub = Hub::new(3);
    hub.emit(&mut ["a", "b", "c", "d"].map(clicked));
    let whole = hub.subscribe(1, Filter::default(), 10, false, Some(2));
    assert!(!whole.gap);
    assert_eq!(
        heard(&mut hub, whole.id),
        ["b clicked", "c clicked", "d clicked"]
    );
    assert!(hub.subscribe(1, Filter::default(), 10, false, Some(1)).gap);
    assert!(!hub.subscribe(1, Filter::default(), 10, false, Some(5)).gap);
}

#[test]
fn that_something_changed_is_said_once_until_it_is_heard() {
    let mut hub = Hub::new(10);
    let id = hub.subscribe(1, Filter::default(), 10, false, None).id;
    let changed = || event("main", &[], EventVerb::UiChanged, Role::Window);
    hub.emit(&mut [changed(), changed()]);
    assert_eq!(heard(&mut hub, id), ["main ui_changed"]);
    hub.emit(&mut [changed()]);
    assert_eq!(heard(&mut hub, id), ["main ui_changed"]);
}

#[test]
fn a_subscription_on_a_window_ends_with_it() {
    let mut hub = Hub::new(10);
    let filter = Filter {
        node: Some("details".into()),
        ..Filter::default()
    };
    let id = hub.subscribe(1, filter, 10, false, None).id;
    hub.emit(&mut [
        event("details", &[], EventVerb::WindowClosed, Role::Window),
        event("ok", &["details"], EventVerb::Clicked, Role::Button),
    ]);
    assert_eq!(heard(&mut hub, id), ["details window_closed"]);
    hub.end(1);
    assert!(hub.is_empty() && hub.poll(1, id, 1).is_none());
}

proptest! {
    #[test]
    fn rule_10_delivered_and_dropped_are_what_matched(
        events in proptest::collection::vec((0usize..4, 0usize..3), 0..200),
        queues in proptest::collection::vec((proptest::option::of(0usize..4), proptest::option::of(0usize..3), 1usize..20), 1..10),
        polls in proptest::collection::vec(any::<bool>(), 200),
    ) {
        let sources = ["a", "b", "c", "d"];
        let verbs = [EventVerb::Clicked, EventVerb::Changed, EventVerb::Toggled];
        let mut hub = Hub::new(50);
        let ids: Vec<u64> = queues.iter().map(|(node, verb, most)| {
            let filter = Filter { node: node.map(|at| sources[at].into()), verb: verb.map(|at| verbs[at]), role: None };
            hub.subscribe(1, filter, *most, false, None).id
        }).collect();
        let mut got = vec![0u64; ids.len()];
        let mut next = vec![0u64; ids.len()];
        let mut poll = |hub: &mut Hub| for (at, id) in ids.iter().enumerate() {
            let polled = hub.poll(1, *id, usize::MAX).unwrap();
            for event in &polled.events {
                assert!(event.seq > next[at], "in order, once");
                next[at] = event.seq;
            }
            got[at] += polled.events.len() as u64 + polled.dropped;
        };
        for (at, (source, verb)) in events.iter().enumerate() {
            hub.emit(&mut [event(sources[*source], &[], verbs[*verb], Role::Button)]);
            if polls[at] {
                poll(&mut hub);
            }
        }
        poll(&mut hub);
        for (at, (node, verb, _)) in queues.iter().enumerate() {
            let matched = events.iter().filter(|(s, v)| node.is_none_or(|node| node == *s) && verb.is_none_or(|verb| verb == *v));
            prop_assert_eq!(got[at], matched.count() as u64);
        }
    }
}
