//! Each lint with a window that it is found in, and one that it isn't.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use std::collections::HashSet;

use agent_core::{Tag, Verb};
use agent_headless::{Kind, Tree, Widget};
use agent_inspect::{Lint, Look, Looker, lint};

fn look(inside: impl IntoIterator<Item = Widget>) -> Look {
    let mut tree = Tree::new();
    tree.open_window(Widget::window("Main").tag("main").children(inside));
    Looker::default().look(&tree)
}

/// What is found in a window of these, and on which ids.
fn found(inside: impl IntoIterator<Item = Widget>) -> Vec<(Lint, Vec<String>)> {
    let found = lint(&look(inside), &HashSet::new());
    found.into_iter().map(|it| (it.lint, it.ids)).collect()
}

#[track_caller]
fn finds(what: Lint, ids: &[&str], inside: impl IntoIterator<Item = Widget>) {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    assert_eq!(found(inside), [(what, ids)]);
}

#[track_caller]
fn finds_nothing(inside: impl IntoIterator<Item = Widget>) {
    assert_eq!(found(inside), []);
}

fn list(rows: impl IntoIterator<Item = Widget>) -> Widget {
    Widget::new(Kind::Group).tag("list").children(rows)
}

#[test]
fn duplicate_ids() {
    let two = |other: &'static str| {
        [
            Widget::button("One").tag("save"),
            Widget::button("Two").tag(other),
        ]
    };
    finds(Lint::DuplicateId, &["save"], two("save"));
    finds_nothing(two("save-as"));
    // Only exposed nodes claim.
    finds_nothing([
        Widget::button("One").tag("save"),
        Widget::button("Two").tag(Tag::id("save").exposed(false)),
    ]);
}

#[test]
fn what_can_be_acted_on_and_has_no_name() {
    finds(Lint::NoName, &["save"], [Widget::button("").tag("save")]);
    finds(Lint::NoName, &["save"], [Widget::button(" ").tag("save")]);
    finds_nothing([Widget::button("Save").tag("save")]);
    finds_nothing([Widget::button("").tag(Tag::id("save").label("Save"))]);
    // What no agent may press need not say what it is, nor what can't be pressed.
    finds_nothing([Widget::button("").tag(Tag::id("save").ceiling([Verb::Focus]))]);
    finds_nothing([Widget::words("").tag("status")]);
    finds_nothing([Widget::button("")]);
}

#[test]
fn ids_that_count_places() {
    let buttons = |ids: [&'static str; 3]| ids.map(|id| Widget::button(id).tag(id));
    let rows = |keys: [&'static str; 3]| {
        let rows = keys.map(|key| Widget::list_item(key).tag(Tag::key(key)));
        [list(rows)]
    };
    let counted = ["row-0", "row-1", "row-2"];
    finds(Lint::PositionalId, &counted, buttons(counted));
    let counted = ["row-1", "row-2", "row-3"];
    finds(Lint::PositionalId, &counted, buttons(counted));
    let ids = ["list/0", "list/1", "list/2"];
    finds(Lint::PositionalId, &ids, rows(["0", "1", "2"]));
    finds_nothing(rows(["1007", "1008", "1009"]));
    finds_nothing(buttons(["row-1", "row-3", "row-2"]));
    finds_nothing(buttons(["save", "save-as", "save-all"]));
    // Two may be what they say: before and after, left and right.
    finds_nothing([
        Widget::button("Line 1").tag("line-1"),
        Widget::button("Line 2").tag("line-2"),
    ]);
}

#[test]
fn exposed_and_never_visible() {
    let print = |visible| [Widget::button("Print").tag("print").visible(visible)];
    finds(Lint::NeverVisible, &["print"], print(false));
    finds_nothing(print(true));
    // It was visible in an earlier look.
    let mut tree = Tree::new();
    let window = tree.open_window(Widget::window("Main").tag("main"));
    let print = tree.add(window, Widget::button("Print").tag("print"));
    let mut looker = Looker::default();
    let before: HashSet<u64> = looker.look(&tree).visible().collect();
    tree.set_visible(print, false);
    let now = looker.look(&tree);
    assert_eq!(lint(&now, &before), []);
    assert_eq!(lint(&now, &HashSet::new()).len(), 1);
}

#[test]
fn secrets_that_are_not_marked() {
    let field = |label: &'static str, id: &'static str| [Widget::text_field(label).tag(id)];
    for (label, id) in [
        ("Password", "field"),
        ("Field", "password"),
        ("Your API key", "field"),
        ("Field", "apiKey"),
        ("Field", "access-token"),
        ("Card number", "field"),
        ("PIN", "field"),
    ] {
        finds(Lint::UnmarkedSecret, &[id], field(label, id));
    }
    for (label, id) in [
        ("Customer", "name"),
        ("Pinned note", "note"),
        ("Keyboard", "key"),
        ("Shipping", "spinner"),
    ] {
        finds_nothing(field(label, id));
    }
    finds_nothing([Widget::text_field("Password").tag(Tag::id("password").secret())]);
    finds_nothing([Widget::password_field("Password").tag("password")]);
    // A button that shows one holds none.
    finds_nothing([Widget::button("Show password").tag("show-password")]);
}
