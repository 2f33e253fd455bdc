//! What each kind of widget is, offers and does.

use agent_core::{Action, Fault, Role, Tag, Why};
use agent_headless::{Kind, Rows, Widget};

use crate::agent::{Counter, acted, app, events, fault, find, why};

#[test]
fn every_kind_has_its_role_and_offers_what_a_person_can_do() {
    let rows: &[(&str, &str, &str)] = &[
        ("dialog", "dialog", ""),
        ("group", "group", ""),
        ("scroll", "group", ""),
        ("list", "list", ""),
        ("list_item", "listitem", "select"),
        ("tabs", "tablist", ""),
        ("tab", "tab", "focus select"),
        ("tree", "tree", ""),
        ("tree_item", "treeitem", "select"),
        ("table", "table", ""),
        ("row", "row", "select"),
        ("cell", "cell", ""),
        ("toolbar", "toolbar", ""),
        ("menu_bar", "menubar", ""),
        ("menu", "menu", "expand collapse"),
        ("menu_item", "menuitem", "click focus"),
        ("button", "button", "click focus"),
        ("toggle", "button", "click focus set_checked"),
        ("checkbox", "checkbox", "click focus set_checked"),
        ("radio", "radio", "click focus select"),
        ("switch", "switch", "click focus set_checked"),
        ("link", "link", "click focus"),
        ("text_field", "textbox", "set_text focus submit"),
        ("password_field", "textbox", "set_text focus submit"),
        ("text_area", "textbox", "set_text focus"),
        ("search_field", "searchbox", "set_text focus submit"),
        ("combo", "combobox", "focus expand collapse"),
        ("option", "option", "select"),
        ("slider", "slider", "focus set_value"),
        ("spin", "spinbutton", "focus set_value"),
        ("progress", "progressbar", ""),
        ("label", "text", ""),
        ("heading", "heading", ""),
        ("image", "img", ""),
        ("separator", "separator", ""),
        ("canvas", "img", ""),
    ];
    // All but the window, which these are in.
    assert_eq!(rows.len(), Kind::ALL.len() - 1);
    let (_app, agent) = app(|tree| {
        let window = tree.open_window(Widget::window("Kinds").tag("main"));
        for kind in &Kind::ALL[1..] {
            tree.add(window, Widget::new(*kind).tag(kind.word()));
        }
    });
    for (kind, role, actions) in rows {
        let node = agent.node(kind);
        assert_eq!(node.role.word(), *role, "{kind}");
        let offered: Vec<_> = node
            .actions
            .verbs()
            .map(|verb| verb.word())
            .filter(|verb| *verb != "scroll_to")
            .collect();
        assert_eq!(offered.join(" "), *actions, "{kind}");
        assert_eq!(node.full, None);
    }
}

#[test]
fn what_listens_to_clicks_can_be_clicked_and_tells_of_none() {
    let clicks = Counter::default();
    let count = clicks.clone();
    let kinds = ["list_item", "row", "cell", "tree_item", "image", "canvas"];
    let (_app, agent) = app(move |tree| {
        let window = tree.open_window(Widget::window("Clicks").tag("main"));
        for kind in kinds {
            let widget = Widget::new(Kind::from_word(kind).expect("a kind"));
            tree.add(window, widget.tag(kind).on_click(count.count()));
        }
        tree.add(
            window,
            Widget::words("Words").tag("words").on_click(count.count()),
        );
    });
    for kind in kinds {
        assert_eq!(events(agent.click(kind)), Vec::<String>::new(), "{kind}");
    }
    assert_eq!(clicks.get(), 6);
    assert!(agent.states("row").is_empty(), "a click is no selection");
    assert_eq!(why(agent.click("words")), Why::NotOffered);
}

#[test]
fn switches() {
    let (changes, clicks) = (Counter::default(), Counter::default());
    let count = (changes.clone(), clicks.clone());
    let (app, agent) = app(move |tree| {
        let window = tree.open_window(Widget::window("Switches").tag("main"));
        for kind in [Kind::Checkbox, Kind::Switch, Kind::Toggle] {
            let widget = Widget::new(kind).tag(kind.word());
            let widget = widget.on_change(count.0.count()).on_click(count.1.count());
            tree.add(window, widget);
        }
        let item = Widget::menu_item("Wrap").tag("wrap").checked(false);
        let item = item.on_change(count.0.count()).on_click(count.1.count());
        tree.add(window, Widget::menu("View").tag("view").child(item));
    });
    for (kind, on) in [
        ("checkbox", "checked"),
        ("switch", "checked"),
        ("toggle", "pressed"),
    ] {
        assert_eq!(
            events(agent.act(kind, Action::SetChecked(true))),
            [format!("{kind} toggled")]
        );
        assert_eq!(agent.states(kind), [on]);
        let again = acted(agent.act(kind, Action::SetChecked(true)));
        assert!(again.events.is_empty());
        assert_eq!(events(agent.click(kind)), [format!("{kind} toggled")]);
        assert!(agent.states(kind).is_empty());
    }
    assert_eq!((changes.get(), clicks.get()), (6, 6));

    app.run(|tree| tree.set_mixed(find(tree, "checkbox"), true));
    assert_eq!(agent.states("checkbox"), ["mixed"]);
    agent.click("checkbox");
    assert_eq!(agent.states("checkbox"), ["checked"]);
    let unchecked = app.run(|tree| {
        let checkbox = find(tree, "checkbox");
        tree.set_mixed(checkbox, true);
        tree.user_check(checkbox, false)
    });
    assert!(unchecked && agent.states("checkbox").is_empty());

    let wrap = agent.node("wrap");
    assert_eq!((wrap.role, &*wrap.name), (Role::MenuItemCheckbox, "Wrap"));
    assert_eq!(events(agent.act("view", Action::Expand)), ["view opened"]);
    let pressed = events(agent.click("wrap"));
    assert_eq!(pressed, ["view closed", "wrap clicked", "wrap toggled"]);
    assert_eq!(
        events(agent.act("wrap", Action::SetChecked(false))),
        ["wrap toggled"]
    );
    assert_eq!((changes.get(), clicks.get()), (11, 10));
}

#[test]
fn one_of_a_choice_is_chosen() {
    let chosen = Counter::default();
    let count = chosen.clone();
    let (app, agent) = app(move |tree| {
        let choice = |id: &'static str, kind| Widget::new(kind).tag(id).text(id);
        tree.open_window(
            Widget::window("Choices").tag("main").children([
                Widget::combo("Size")
                    .tag("size")
                    .on_change(count.count())
                    .children([
                        choice("small", Kind::Option).selected(true),
                        choice("large", Kind::Option),
                    ]),
                Widget::tabs("Pages")
                    .tag("pages")
                    .on_change(count.count())
                    .children([
                        choice("first", Kind::Tab),
                        choice("second", Kind::Tab).selected(true),
                    ]),
                Widget::tree("Files")
                    .tag("files")
                    .on_change(count.count())
                    .child(
                        choice("docs", Kind::TreeItem)
                            .expanded(true)
                            .child(choice("letter", Kind::TreeItem)),
                    ),
                Widget::group("Way")
                    .tag("way")
                    .on_change(count.count())
                    .children([
                        choice("by-sea", Kind::Radio).checked(true),
                        choice("by-air", Kind::Radio),
                    ]),
            ]),
        );
    });
    assert_eq!(agent.node("size").value.as_deref(), Some("small"));
    let select = |id| events(agent.act(id, Action::Select));
    assert_eq!(select("large"), ["large selected", "size changed"]);
    assert_eq!(agent.node("size").value.as_deref(), Some("large"));
    assert!(agent.states("small").is_empty());
    assert!(select("large").is_empty());

    assert_eq!(select("first"), ["first selected"]);
    assert!(agent.states("second").is_empty());
    assert_eq!(select("letter"), ["letter selected"]);
    assert_eq!(select("docs"), ["docs selected"]);
    assert!(agent.states("letter").is_empty());
    assert_eq!(agent.states("docs"), ["selected", "expanded"]);
    assert_eq!(chosen.get(), 4);

    // A radio button is one of those it is among, and its group is no widget that chooses.
    assert_eq!(select("by-air"), ["by-air toggled", "by-sea toggled"]);
    assert!(select("by-air").is_empty() && events(agent.click("by-air")).is_empty());
    assert_eq!(agent.states("by-air"), ["checked"]);
    assert_eq!(
        why(agent.act("by-air", Action::SetChecked(false))),
        Why::NotOffered
    );

    // The app chooses: no handler, and what is told is what comparing tells.
    app.run(|tree| tree.set_text(find(tree, "size"), "small"));
    assert_eq!(agent.states("small"), ["selected"]);
    app.run(|tree| tree.set_text(find(tree, "small"), "tiny"));
    assert_eq!(agent.node("size").value.as_deref(), Some("tiny"));
    app.run(|tree| {
        let combo = find(tree, "size");
        tree.set_text(combo, "none of them");
        tree.user_select(find(tree, "small"));
        tree.remove(find(tree, "small"));
    });
    assert_eq!(agent.node("size").value.as_deref(), Some("none of them"));
    assert_eq!(chosen.get(), 5);
}

#[test]
fn numbers_keep_to_their_bounds_and_steps() {
    let (app, agent) = app(|tree| {
        tree.open_window(Widget::window("Numbers").tag("main").children([
            Widget::slider("Volume").tag("volume").value(10).step(10.0),
            Widget::spin("Copies").tag("copies").value("1").min(1.0),
            Widget::new(Kind::Progress).tag("progress").value(0.5),
        ]));
    });
    let value = |id: &str| agent.node(id).value.unwrap_or_default();
    let set = |id: &str, to| agent.act(id, Action::SetValue(to));
    assert_eq!(
        (value("volume"), value("copies"), value("progress")),
        ("10".into(), "1".into(), "0.5".into())
    );
    assert_eq!(events(set("volume", 43.0)), ["volume changed"]);
    assert_eq!(value("volume"), "40");
    assert!(events(set("volume", 40.0)).is_empty());
    for (id, bad) in [
        ("volume", 101.0),
        ("volume", -1.0),
        ("volume", f64::NAN),
        ("copies", 0.0),
        ("copies", f64::INFINITY),
    ] {
        assert!(
            matches!(
                fault(set(id, bad)),
                Fault::InvalidParams { name: "value", .. }
            ),
            "{bad}"
        );
    }
    assert_eq!(events(set("copies", 1e6)), ["copies changed"]);
    assert_eq!(why(set("progress", 1.0)), Why::NotOffered);
    app.run(|tree| {
        tree.set_read_only(find(tree, "volume"), true);
        tree.set_text(find(tree, "progress"), "0.75");
        tree.set_number(find(tree, "copies"), -5.0);
    });
    assert_eq!(why(set("volume", 50.0)), Why::ReadOnly);
    assert_eq!(
        (value("progress"), value("copies")),
        ("0.75".into(), "1".into())
    );
}

#[test]
fn a_closed_tree_item_hides_its_items_and_keeps_their_focus_from_them() {
    let (app, agent) = app(|tree| {
        let leaf = Widget::tree_item("Letter")
            .tag("letter")
            .child(Widget::text_field("Title").tag("title"));
        let docs = Widget::tree_item("Docs").tag("docs").child(leaf);
        tree.open_window(
            Widget::window("Files")
                .tag("main")
                .child(Widget::tree("Files").child(docs)),
        );
    });
    assert_eq!(agent.ids(), ["main", "docs"]);
    assert_eq!(agent.states("docs"), ["collapsed"]);
    assert_eq!(why(agent.act("title", Action::Focus)), Why::Hidden);
    let opened = events(agent.act("docs", Action::Expand));
    assert_eq!(opened, ["docs opened", "letter appeared", "title appeared"]);
    assert!(events(agent.act("docs", Action::Expand)).is_empty());
    agent.act("title", Action::Focus);
    assert_eq!(agent.states("title"), ["focused"]);
    let closed = events(agent.act("docs", Action::Collapse));
    assert_eq!(
        closed,
        ["docs closed", "letter disappeared", "title disappeared"]
    );
    assert_eq!(app.run(|tree| tree.focused()), None);
    assert_eq!(why(agent.act("letter", Action::Expand)), Why::Hidden);
}

#[test]
fn enter_in_a_field() {
    let (lines, presses) = (Counter::default(), Counter::default());
    let count = (lines.clone(), presses.clone());
    let (app, agent) = app(move |tree| {
        tree.open_window(
            Widget::window("Enter").tag("main").children([
                Widget::search_field("Query")
                    .tag("query")
                    .on_submit(count.0.count()),
                Widget::text_field("Name").tag("name"),
                Widget::text_area("Body").tag("body"),
                Widget::text_area("Chat")
                    .tag("chat")
                    .on_submit(count.0.count()),
                Widget::button("Ok")
                    .tag("ok")
                    .default_button()
                    .on_click(count.1.count()),
            ]),
        );
    });
    let submit = |id| agent.act(id, Action::Submit);
    assert_eq!(events(submit("query")), ["query submitted"]);
    assert_eq!(events(submit("name")), ["name submitted", "ok clicked"]);
    assert_eq!(why(submit("body")), Why::NotOffered);
    assert_eq!(events(submit("chat")), ["chat submitted"]);
    assert_eq!((lines.get(), presses.get()), (2, 1));

    assert!(app.run(|tree| tree.user_submit(find(tree, "body"))));
    assert_eq!(agent.text("body").text.as_deref(), Some("\n"));
    assert!(app.run(|tree| tree.user_submit(find(tree, "name"))));
    app.run(|tree| tree.set_enabled(find(tree, "ok"), false));
    assert!(
        app.run(|tree| tree.user_submit(find(tree, "name"))),
        "silent to a person"
    );
    assert_eq!(presses.get(), 2);
    app.run(|tree| tree.remove(find(tree, "ok")));
    assert_eq!(events(submit("name")), ["name submitted"]);
}

#[test]
fn text_is_edited_cut_and_taken_back() {
    let edits = Counter::default();
    let count = edits.clone();
    let (app, agent) = app(move |tree| {
        tree.open_window(
            Widget::window("Text").tag("main").children([
                Widget::text_field("Code")
                    .tag("code")
                    .max_length(5)
                    .on_change(count.count()),
                Widget::text_area("Body").tag("body").value("héllo wörld"),
            ]),
        );
    });
    let cut = acted(agent.put("code", "abcdefgh"));
    assert_eq!(cut.text.as_deref(), Some("abcde"));
    assert_eq!(cut.version, Some(agent.text("code").version));
    let same = acted(agent.put("code", "abcde"));
    assert_eq!(
        (same.events.len(), same.text, same.version),
        (0, None, cut.version)
    );
    assert_eq!(edits.get(), 1);

    let range = Action::SetText {
        value: "Erde".into(),
        base_version: agent.text("body").version,
        range: Some((6, 11)),
    };
    assert_eq!(acted(agent.act("body", range)).text, None);
    assert_eq!(agent.text("body").text.as_deref(), Some("héllo Erde"));

    assert!(app.run(|tree| tree.user_type(find(tree, "body"), "!")));
    assert!(app.run(|tree| tree.user_undo(find(tree, "body"))));
    assert!(app.run(|tree| tree.user_undo(find(tree, "body"))));
    assert_eq!(agent.text("body").text.as_deref(), Some("héllo wörld"));
    assert!(!app.run(|tree| tree.user_undo(find(tree, "body"))));
}

#[test]
fn a_lazy_list_has_widgets_for_what_is_in_view() {
    let chosen = Counter::default();
    let count = chosen.clone();
    let (app, agent) = app(move |tree| {
        let rows = Rows::new(500, |n| format!("Order {n}"));
        tree.open_window(
            Widget::window("Orders").tag("main").children([
                Widget::list("Orders")
                    .tag("orders")
                    .rows(rows.clone().keyed())
                    .on_change(count.count()),
                Widget::list("Plain").tag("plain").rows(rows),
            ]),
        );
    });
    let keys = || -> Vec<String> {
        let rows = agent.ids().into_iter();
        rows.filter_map(|id| Some(id.strip_prefix("orders/")?.to_owned()))
            .collect()
    };
    assert_eq!(keys().join(" "), "1 2 3 4 5 6 7 8 9");
    assert_eq!(
        (agent.node("orders").size, agent.node("plain").size),
        (Some(500), None)
    );

    let scroll = |id: &str, key: Option<&str>| {
        agent.act(
            id,
            Action::ScrollTo {
                key: key.map(str::to_owned),
            },
        )
    };
    acted(scroll("orders", Some("405")));
    assert!(
        keys().len() <= 11 && keys().contains(&"405".into()),
        "{:?}",
        keys()
    );
    let row = agent.node("orders/405");
    assert_eq!((row.role, &*row.name), (Role::ListItem, "Order 405"));
    assert!(agent.states("orders/405").is_empty(), "in sight");
    assert_eq!(
        events(agent.act("orders/405", Action::Select)),
        ["orders/405 selected"]
    );
    acted(scroll("orders/2", None));
    assert!(!keys().contains(&"405".into()));
    assert_eq!(agent.node("orders/2").name, "Order 2");
    assert_eq!(
        app.run(|tree| tree.selected_row(find(tree, "orders"))),
        Some(405)
    );
    acted(scroll("orders/405", None));
    assert_eq!(
        agent.states("orders/405"),
        ["selected"],
        "what is chosen outlives its widget"
    );
    agent.act("orders/404", Action::Select);
    assert!(agent.states("orders/405").is_empty());
    assert_eq!(chosen.get(), 2);

    for key in ["501", "0", "0405", "+405", "x", ""] {
        assert!(
            matches!(
                crate::agent::refused(scroll("orders", Some(key))),
                agent_core::Refusal::NotFound
            ),
            "{key}"
        );
    }
    assert!(app.run(|tree| tree.user_scroll(find(tree, "orders"), 1.0)));
    assert_eq!(keys().last().map(String::as_str), Some("500"));
    app.run(|tree| {
        tree.set_rows(
            find(tree, "orders"),
            Some(Rows::new(3, |n| n.to_string()).keyed()),
        )
    });
    assert_eq!(keys().join(" "), "1 2 3");
    app.run(|tree| tree.set_rows(find(tree, "orders"), None));
    assert!(keys().is_empty());
}

#[test]
fn scrolling_brings_into_sight_through_everything_around() {
    let (app, agent) = app(|tree| {
        let labels = |from: usize| {
            (from..from + 60).map(|n| Widget::words(n.to_string()).tag(format!("l{n}")))
        };
        let inner = Widget::list("Inner").children(labels(100));
        tree.open_window(
            Widget::window("Long")
                .tag("main")
                .children(labels(0))
                .child(Widget::new(Kind::Scroll).children(labels(200)).child(inner)),
        );
    });
    let hidden = |id: &str| agent.states(id).contains(&"offscreen");
    assert!(!hidden("l0") && hidden("l59") && hidden("l150"));
    let (before, _) = agent.describe();
    acted(agent.act("l150", Action::ScrollTo { key: None }));
    assert!(hidden("l0") && !hidden("l150"));
    assert!(app.run(|tree| tree.user_scroll(find(tree, "main"), 0.0)));
    assert!(!hidden("l0") && hidden("l150"));
    assert!(app.run(|tree| tree.user_resize(find(tree, "main"), 100.0, 40.0)));
    assert!(hidden("l5"));
    let (after, _) = agent.describe();
    assert_eq!(before, after, "where a thing is moves no revision");
}

#[test]
fn what_is_partly_in_sight_is_in_sight() {
    let (app, agent) = app(|tree| {
        let items = (0..14).map(|n| Widget::list_item("").tag(format!("i{n}")));
        let list = Widget::list("Items").named("list").children(items);
        tree.open_window(Widget::window("Main").child(list));
    });
    let offscreen = |id: &str| agent.states(id).contains(&"offscreen");
    let ends = || (offscreen("i0"), offscreen("i9"), offscreen("i13"));
    for (to, expected) in [
        (0.0, (false, true, true)),
        (0.25, (false, false, true)),
        (0.5, (true, false, true)),
        (1.0, (true, false, false)),
    ] {
        assert!(app.run(move |tree| tree.user_scroll(find(tree, "list"), to)));
        assert_eq!(ends(), expected, "{to}");
    }
}

#[test]
fn frames_are_below_one_another() {
    let mut tree = agent_headless::Tree::new();
    let window = tree.open_window(Widget::window("Frames"));
    let group = tree.add(window, Widget::group("Group"));
    let inner = tree.add(group, Widget::button("Ok"));
    let frame = |node| {
        let frame = agent_core::LiveTree::frame(&tree, node).expect("a frame");
        (frame.x, frame.y, frame.width, frame.height)
    };
    assert_eq!(frame(window), (0.0, 0.0, 640.0, 480.0));
    assert_eq!(frame(group), (8.0, 24.0, 624.0, 48.0));
    assert_eq!(frame(inner), (16.0, 48.0, 608.0, 24.0));
}

#[test]
fn what_is_unsupported_is_not_offered_and_said_so() {
    let (app, agent) = app(|tree| {
        tree.set_unsupported(agent_core::Verb::Click.set());
        tree.open_window(
            Widget::window("Few")
                .tag("main")
                .child(Widget::button("Ok").tag("ok")),
        );
    });
    assert_eq!(
        agent_core::Backend::unsupported(&app.handle()),
        agent_core::VerbSet::Click
    );
    assert_eq!(fault(agent.click("ok")), Fault::Unsupported);
    assert_eq!(fault(agent.click("nowhere")), Fault::Unsupported);
    assert!(!agent.node("ok").actionable);
    acted(agent.act("ok", Action::Focus));
}

#[test]
fn names_come_from_labels_then_captions() {
    let (app, agent) = app(|tree| {
        let window = tree.open_window(Widget::window("Names").tag("main"));
        let word = tree.add(window, Widget::words("Street").named("word"));
        let field = tree.add(
            window,
            Widget::new(Kind::TextField)
                .tag("street")
                .value("High St")
                .hint("1 A St"),
        );
        tree.set_labelled_by(field, &[word]);
        tree.add(window, Widget::button("X").label("Close").tag("close"));
        tree.add(
            window,
            Widget::new(Kind::Button)
                .tag("named")
                .child(Widget::words("inside").named("inside")),
        );
        tree.add(
            window,
            Widget::new(Kind::Group).tag(Tag::id("box").label("Box")),
        );
    });
    let name = |id: &str| agent.node(id).name;
    assert_eq!(
        (name("main"), name("street")),
        ("Names".into(), "Street".into())
    );
    assert_eq!(
        (name("close"), name("named"), name("box")),
        ("Close".into(), "inside".into(), "Box".into())
    );
    let (before, _) = agent.describe();
    app.run(|tree| {
        tree.set_text(find(tree, "word"), "Road");
        tree.set_text(find(tree, "inside"), "within");
    });
    assert_eq!(
        (name("street"), name("named")),
        ("Road".into(), "within".into())
    );
    assert_ne!(agent.describe().0, before);
    app.run(|tree| tree.remove(find(tree, "word")));
    assert_eq!(name("street"), "");
}

#[test]
fn the_whole_tree_names_classes_and_keeps_secrets() {
    let (_app, agent) = app(|tree| {
        tree.open_window(
            Widget::window("Whole").tag("main").children([
                Widget::new(Kind::Group).child(Widget::words("Hidden").visible(false)),
                Widget::password_field("Pin").value("hunter2"),
                Widget::group("Helper")
                    .tag(Tag::new().excluded())
                    .child(Widget::words("Not here")),
            ]),
        );
    });
    let call = agent_core::Call::Describe(agent_core::Describe {
        full: true,
        ..Default::default()
    });
    let agent_core::Answer::Described(whole) = agent.call(call) else {
        panic!("no description");
    };
    let lines: Vec<(&str, String, Option<String>)> = whole
        .nodes
        .iter()
        .filter_map(|node| {
            let full = node.full.clone()?;
            Some((&*node.id, full.class, full.text))
        })
        .collect();
    let line =
        |id, class: &str, text: Option<&str>| (id, class.to_owned(), text.map(str::to_owned));
    assert_eq!(
        lines,
        [
            line("main", "window", Some("Whole")),
            line("main/group#0", "group", None),
            line("main/group#0/text#0", "label", Some("Hidden")),
            line("main/textbox#0", "password_field", None),
        ]
    );
}
