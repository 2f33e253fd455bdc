//! An app of more nodes than a reply holds: they come in several.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

use std::time::{Duration, Instant};

use agent_inspector::{Filter, Told, Watch, Which};
use agent_surface::{
    Surface,
    headless::{Headless, Kind, Tree, Widget},
};
use agent_test_support::{allow, eventually_within, folder};

/// It is a debug build, on a machine that does other things too.
const LONG: Duration = Duration::from_secs(300);

const BUTTONS: usize = 149;

fn large(tree: &mut Tree, groups: usize) {
    let group = |at: usize| {
        let buttons = (0..BUTTONS).map(|button| Widget::button(format!("{at}/{button}")));
        Widget::new(Kind::Group).children(buttons.collect::<Vec<_>>())
    };
    let groups: Vec<Widget> = (0..groups).map(group).collect();
    let first = Widget::button("Where it changes")
        .tag("first")
        .named("first");
    tree.open_window(Widget::window("Large").child(first).children(groups));
}

/// The tree comes whole, though in parts, and then what changes in it.
fn check(groups: usize) {
    let folder = folder();
    let app = Headless::start("large", move |tree| large(tree, groups));
    let at = folder.path().join("large.sock");
    let surface = Surface::builder("large")
        .gate(allow())
        .headless(&app)
        .arm_inspector()
        .at(&at)
        .serve()
        .unwrap();
    let begun = Instant::now();
    let watch = Watch::start(Which::At(at), || ()).unwrap();
    eventually_within(LONG, "the whole tree", || {
        watch.seen().tree.told() == Told::Whole
    });
    let nodes = 2 + groups + groups * BUTTONS;
    println!("{nodes} nodes after {:?}", begun.elapsed());
    let seen = watch.seen();
    assert_eq!(seen.tree.len(), nodes);
    let rows = seen.tree.rows(Filter::All, "", &Default::default());
    assert_eq!(rows.len(), nodes);
    drop(seen);
    app.run(|tree| {
        let first = tree.find("first").unwrap();
        tree.set_text(first, "It has changed");
    });
    eventually_within(LONG, "the change", || {
        let seen = watch.seen();
        let mut exposed = seen.tree.exposed();
        exposed.any(|node| node.name == "It has changed")
    });
    assert_eq!(watch.seen().tree.len(), nodes);
    drop(surface);
}

#[test]
fn more_nodes_than_one_reply_holds_come_whole_and_then_what_changes() {
    check(200);
}

#[test]
#[ignore = "a debug build looks at so many for half a minute"]
fn a_hundred_and_fifty_thousand_nodes_come_whole_and_then_what_changes() {
    check(1_000);
}
