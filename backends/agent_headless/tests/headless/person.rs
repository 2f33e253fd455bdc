//! What a person can do, and can't.

use agent_core::Why;
use agent_headless::{Kind, Tree, Widget};

use crate::agent::{Counter, acted, app, events, find};

fn form(counter: &Counter) -> Tree {
    let mut tree = Tree::new();
    tree.open_window(
        Widget::window("Form").tag("main").children([
            Widget::text_field("Name")
                .named("name")
                .on_change(counter.count()),
            Widget::button("Save")
                .named("save")
                .on_click(counter.count()),
            Widget::checkbox("Gift")
                .named("gift")
                .on_change(counter.count()),
            Widget::combo("Size")
                .named("size")
                .on_change(counter.count())
                .children([
                    Widget::option("S").named("small"),
                    Widget::option("L").named("large"),
                ]),
            Widget::slider("Volume")
                .named("volume")
                .on_change(counter.count()),
            Widget::list("Rows").named("rows").child(
                Widget::list_item("One")
                    .named("one")
                    .on_click(counter.count()),
            ),
            Widget::tree("Tree").child(
                Widget::tree_item("Docs")
                    .named("docs")
                    .child(Widget::tree_item("Letter").named("letter")),
            ),
        ]),
    );
    tree
}

/// Every step, and whether it could be done.
fn steps(tree: &mut Tree) -> Vec<bool> {
    let [name, save, gift, size, large, volume, one, rows, docs] = [
        "name", "save", "gift", "size", "large", "volume", "one", "rows", "docs",
    ]
    .map(|name| find(tree, name));
    vec![
        tree.user_click(save),
        tree.user_type(name, "Ada"),
        tree.user_clear(name),
        tree.user_undo(name),
        tree.user_submit(name),
        tree.user_check(gift, true),
        tree.user_select(large),
        tree.user_set_number(volume, 30.0),
        tree.user_click(one),
        tree.user_expand(docs, true),
        tree.user_click(size),
        tree.user_scroll(rows, 0.5),
    ]
}

#[test]
fn a_person_does_what_is_there_to_do() {
    let counter = Counter::default();
    let mut tree = form(&counter);
    assert!(steps(&mut tree).iter().all(|done| *done));
    let props = |name: &str| tree.props(find(&tree, name)).expect("a widget").clone();
    assert_eq!(props("name").text, "Ada");
    assert!(props("gift").checked && props("large").selected && props("one").selected);
    assert!(props("docs").expanded && props("size").expanded);
    assert_eq!(props("volume").number, 30.0);
    // save, type, clear, undo, gift, size, volume, one
    assert_eq!(counter.get(), 8);
    assert_eq!(tree.focused(), tree.find("name"));
}

#[test]
fn a_person_is_stopped_by_what_is_disabled_hidden_or_under_a_modal() {
    type Bar = fn(&mut Tree, agent_headless::Node);
    let bars: [(&str, Bar); 3] = [
        ("disabled", |tree, window| tree.set_enabled(window, false)),
        ("hidden", |tree, window| tree.set_visible(window, false)),
        ("blocked", |tree, window| {
            tree.open_modal(window, Widget::dialog("Sure?"));
        }),
    ];
    for (name, bar) in bars {
        let counter = Counter::default();
        let mut tree = form(&counter);
        let window = find(&tree, "main");
        bar(&mut tree, window);
        assert!(steps(&mut tree).iter().all(|done| !*done), "{name}");
        assert!(!tree.user_close_window(window), "{name}");
        assert!(!tree.user_resize(window, 10.0, 10.0), "{name}");
        assert_eq!(counter.get(), 0, "{name}");
    }
}

#[test]
fn steps_on_what_has_no_such_thing_do_nothing() {
    let mut tree = form(&Counter::default());
    let (save, window) = (find(&tree, "save"), find(&tree, "main"));
    assert!(!tree.user_type(save, "x") && !tree.user_submit(save) && !tree.user_undo(save));
    assert!(
        !tree.user_check(save, true) && !tree.user_select(save) && !tree.user_expand(save, true)
    );
    assert!(!tree.user_scroll(save, 1.0) && !tree.user_set_number(save, 1.0));
    assert!(!tree.user_close_window(save) && !tree.user_resize(save, 1.0, 1.0));
    let letter = find(&tree, "letter");
    assert!(!tree.user_select(letter), "its item is closed");
    let name = find(&tree, "name");
    assert!(tree.user_click(name) && tree.focused() == Some(name));
    assert!(tree.user_close_window(window));
    assert!(!tree.user_click(save) && !tree.contains(save));
    assert_eq!(tree.focused(), None);
    let nothing = tree.add(save, Widget::button("Late"));
    assert!(!tree.contains(nothing));
}

#[test]
fn modals_stack_and_let_go_in_any_order() {
    let (app, agent) = app(|tree| {
        let main = tree.open_window(
            Widget::window("Main")
                .tag("main")
                .child(Widget::button("Ok").tag("ok")),
        );
        tree.open_window(
            Widget::window("Other")
                .tag("other")
                .child(Widget::button("Ok").tag("free")),
        );
        tree.open_modal(
            main,
            Widget::dialog("First")
                .tag("first")
                .child(Widget::button("Yes").tag("yes")),
        );
    });
    let by = |id: &str| match crate::agent::refused(agent.click(id)) {
        agent_core::Refusal::NotActionable {
            by,
            why: Why::BlockedByModal,
        } => by.unwrap_or_default(),
        other => panic!("{other:?}"),
    };
    assert_eq!(by("ok"), "first");
    assert_eq!(agent.states("first"), ["modal"]);
    acted(agent.click("yes"));
    acted(agent.click("free"));
    // From the blocked window: it comes over the modal that is there.
    app.run(|tree| {
        let main = find(tree, "main");
        tree.open_modal(
            main,
            Widget::dialog("Second")
                .tag("second")
                .child(Widget::button("No").tag("no")),
        );
    });
    assert_eq!((by("ok"), by("yes")), ("second".into(), "second".into()));
    assert_eq!(agent.states("first"), ["modal", "blocked"]);
    app.run(|tree| tree.close(find(tree, "first")));
    assert_eq!(by("ok"), "second");
    app.run(|tree| tree.set_visible(find(tree, "second"), false));
    acted(agent.click("ok"));
    app.run(|tree| tree.set_visible(find(tree, "second"), true));
    assert_eq!(by("ok"), "second");
    app.run(|tree| tree.close(find(tree, "second")));
    assert_eq!(events(agent.click("ok")), ["ok clicked"]);
}

#[test]
fn what_is_left_of_a_stack_of_modals_still_blocks() {
    // Which of three modals over one another are closed, in order, and what blocks the window
    // after each.
    let orders = [
        ([1, 0, 2], ["3", "3", ""]),
        ([0, 1, 2], ["3", "3", ""]),
        ([2, 1, 0], ["2", "1", ""]),
        ([0, 2, 1], ["3", "2", ""]),
        ([1, 2, 0], ["3", "1", ""]),
        ([2, 0, 1], ["2", "2", ""]),
    ];
    for (order, left) in orders {
        let mut tree = Tree::new();
        let main = tree.open_window(Widget::window("Main"));
        let mut over = main;
        let modals = ["1", "2", "3"].map(|title| {
            over = tree.open_modal(over, Widget::dialog(title));
            over
        });
        for (closed, blocks) in order.into_iter().zip(left) {
            tree.close(modals[closed]);
            let by = agent_core::LiveTree::blocked_by(&tree, main);
            let title = by
                .and_then(|by| tree.props(by))
                .map_or("", |props| &props.text);
            assert_eq!(title, blocks, "{order:?}");
        }
    }
}

#[test]
fn a_handler_may_do_anything_to_the_tree() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, agent) = app(move |tree| {
        tree.open_window(
            Widget::window("Main").tag("main").children([
                Widget::button("Remove me")
                    .tag("self")
                    .on_click(|tree, node| tree.remove(node)),
                Widget::button("Again").tag("again").on_click({
                    let mut count = count.count();
                    move |tree, node| {
                        count(tree, node);
                        // Not called while it runs.
                        tree.user_click(node);
                    }
                }),
                Widget::button("More").tag("more").on_click(|tree, node| {
                    let window = find(tree, "main");
                    tree.insert(window, 0, Widget::button("New").tag("new"));
                    tree.move_to(node, window, 0);
                    tree.open_window(Widget::window("Details").tag("details"));
                }),
                Widget::button("Shut")
                    .tag("shut")
                    .on_click(|tree, _| tree.close(find(tree, "main"))),
            ]),
        );
    });
    assert!(events(agent.click("self")).contains(&"self removed".into()));
    acted(agent.click("again"));
    acted(agent.click("again"));
    assert_eq!(counter.get(), 2);
    let more = events(agent.click("more"));
    assert_eq!(more, ["more clicked", "new added", "details window_opened"]);
    assert_eq!(
        agent.ids(),
        ["main", "more", "new", "again", "shut", "details"]
    );
    acted(agent.click("shut"));
    assert_eq!(agent.ids(), ["details"]);
    assert!(app.run(|tree| tree.find("main").is_none()));
}

#[test]
fn a_widget_is_not_moved_into_itself() {
    let mut tree = Tree::new();
    let window = tree.open_window(Widget::window("Main"));
    let outer = tree.add(window, Widget::new(Kind::Group));
    let inner = tree.add(outer, Widget::new(Kind::Group));
    assert!(!tree.move_to(outer, inner, 0) && !tree.move_to(outer, outer, 0));
    assert!(!tree.move_to(window, outer, 0));
    assert!(tree.move_to(inner, window, 0));
    assert_eq!(
        agent_core::LiveTree::children(&tree, window),
        [inner, outer]
    );
    assert_eq!(agent_core::LiveTree::position(&tree, outer), 1);
}
