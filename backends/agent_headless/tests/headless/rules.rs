//! The rules, on this backend, driven by jobs as a server makes them.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use agent_core::{
    Action, Answer, AuthGate, Backend, Call, Confirmed, Decision, Describe, EventVerb, Fault,
    Refusal, Tag, Target, Verb, Why,
};
use agent_headless::{Headless, Kind, Rows, Tree, Widget};
use agent_test_support::{LONG, User, eventually};

use crate::agent::{
    Agent, Counter, Pending, act, acted, app, block, events, fault, find, read, refused, why, write,
};

fn window(children: impl IntoIterator<Item = Widget>) -> Widget {
    Widget::window("Main").tag("main").children(children)
}

#[test]
fn rule_1_what_is_not_exposed_changes_nothing_that_is_told() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([
            Widget::button("Save").tag("save"),
            Widget::new(Kind::Group).named("aside").children([
                Widget::words("09:00").named("time"),
                Widget::button("Snooze").named("snooze"),
                Widget::text_field("Secret plan").tag(Tag::id("plan").exposed(false)),
            ]),
        ]));
    });
    let before = agent.describe();
    app.run(|tree| {
        let [time, snooze, aside, plan] =
            ["time", "snooze", "aside", "plan"].map(|name| find(tree, name));
        tree.set_text(time, "09:01");
        tree.set_enabled(snooze, false);
        tree.user_type(plan, "x");
        tree.focus(None);
        tree.add(aside, Widget::checkbox("New"));
        tree.remove(time);
        tree.open_window(Widget::window("Untagged"));
    });
    assert_eq!(agent.describe(), before);
    assert_eq!(
        refused(agent.click("plan")),
        refused(agent.click("nowhere"))
    );
    assert_eq!(events(agent.click("save")), ["save clicked"]);
}

#[test]
fn rule_1_what_is_not_exposed_uses_up_no_room() {
    let (app, agent) = app(|tree| {
        let main = tree.open_window(window([Widget::button("Save").tag("save")]));
        let helper = Widget::group("Helper")
            .tag(Tag::id("helper").excluded())
            .named("helper");
        let helper = tree.add(main, helper);
        for n in 0..1_000 {
            let button = Widget::button("Ring").named(format!("ring{n}"));
            if n % 2 == 0 {
                tree.add(main, button);
            } else {
                tree.add(helper, button.tag(format!("ring-{n}")));
            }
        }
    });
    agent.describe();
    let told = app.run(|tree| {
        for n in 0..1_000 {
            assert!(tree.user_click(find(tree, &format!("ring{n}"))));
        }
        tree.user_click(find(tree, "save"));
        tree.take_acted()
    });
    assert_eq!(told.len(), 1);
}

#[test]
fn rule_2_gate_is_asked_again() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, mut agent) = app(move |tree| {
        tree.open_window(window([Widget::button("Save")
            .tag("save")
            .on_click(count.count())]));
    });
    let allowed = Arc::new(AtomicBool::new(true));
    let asked = allowed.clone();
    agent.gate = AuthGate::serve(move |_| match asked.load(Ordering::SeqCst) {
        true => Decision::Allow,
        false => Decision::Ask,
    });
    app.block(200);
    let pending = agent.later(act("save", Action::Click));
    allowed.store(false, Ordering::SeqCst);
    assert_eq!(fault(pending.wait()), Fault::Denied);
    assert_eq!(counter.get(), 0);
}

#[test]
fn rule_3_enter_is_judged_as_the_button_it_presses() {
    type Bar = fn(&mut Tree);
    let no = |why| Refusal::NotActionable { why, by: None };
    let rows: [(&str, Bar, Option<Refusal>); 8] = [
        ("free", |_| (), None),
        (
            "ceiling",
            |tree| tree.set_tag(find(tree, "ok"), Some(Tag::new().ceiling([Verb::Focus]))),
            Some(no(Why::Ceiling)),
        ),
        (
            "ceiling around",
            |tree| tree.set_tag(find(tree, "bar"), Some(Tag::new().ceiling([]))),
            Some(no(Why::Ceiling)),
        ),
        (
            "disabled",
            |tree| tree.set_enabled(find(tree, "bar"), false),
            Some(no(Why::Disabled)),
        ),
        (
            "hidden",
            |tree| tree.set_visible(find(tree, "ok"), false),
            Some(no(Why::Hidden)),
        ),
        (
            "confirm",
            |tree| tree.set_tag(find(tree, "bar"), Some(Tag::new().confirm())),
            Some(Refusal::NeedsConfirmation),
        ),
        (
            "excluded",
            |tree| tree.set_tag(find(tree, "ok"), Some(Tag::new().excluded())),
            Some(no(Why::Ceiling)),
        ),
        (
            "unexposed",
            |tree| tree.set_tag(find(tree, "ok"), Some(Tag::id("okay").exposed(false))),
            None,
        ),
    ];
    for (name, bar, expected) in rows {
        let counter = Counter::default();
        let count = counter.clone();
        let (app, agent) = app(move |tree| {
            let ok = Widget::button("Ok")
                .named("ok")
                .default_button()
                .on_click(count.count());
            tree.open_window(window([
                Widget::text_field("Name").tag("name"),
                Widget::new(Kind::Group).named("bar").child(ok),
            ]));
        });
        app.run(bar);
        let answer = agent.act("name", Action::Submit);
        match expected {
            // Nobody is told of the button: it is not exposed.
            None => assert_eq!(events(answer), ["name submitted"], "{name}"),
            Some(refusal) => assert_eq!(refused(answer), refusal, "{name}"),
        }
        let pressed = u64::from(matches!(name, "free" | "unexposed"));
        assert_eq!(counter.get(), pressed, "{name}");
    }
}

#[test]
fn rule_3_a_marked_action_is_performed_with_a_yes_alone() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, mut agent) = app(move |tree| {
        let erase = Widget::button("Erase").tag(Tag::id("erase").confirm());
        tree.open_window(window([
            erase.on_click(count.count()),
            Widget::words("10 files").named("files").tag("files"),
        ]));
    });
    let (user, gate) = User::who_says(Confirmed::No);
    agent.gate = gate;
    assert_eq!(refused(agent.click("erase")), Refusal::NeedsConfirmation);
    assert_eq!((counter.get(), user.acting()), (0, 0));
    user.say(Confirmed::Yes);
    acted(agent.click("erase"));
    assert_eq!((counter.get(), user.acting()), (1, 1));
    app.run(|tree| tree.set_text(find(tree, "files"), "9 files"));
    acted(agent.click("erase"));
    let seen: Vec<u64> = user.asked().iter().map(|asked| asked.seen).collect();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[1], seen[2]);
}

#[test]
fn rule_3_ceilings_only_narrow() {
    let (_app, agent) = app(|tree| {
        tree.open_window(window([
            Widget::group("Danger")
                .tag(Tag::id("danger").ceiling([]))
                .children([Widget::button("Close").tag(Tag::id("close").ceiling([Verb::Click]))]),
            Widget::button("Go").tag(Tag::id("go").ceiling([Verb::Click, Verb::SetText])),
        ]));
    });
    assert_eq!(why(agent.click("close")), Why::Ceiling);
    acted(agent.act("close", Action::ScrollTo { key: None }));
    assert!(!agent.node("close").actionable && agent.node("go").actionable);
    assert_eq!(why(agent.act("go", write("x", 1))), Why::NotOffered);
}

#[test]
fn rule_4_the_second_click_sees_what_the_first_left() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, agent) = app(move |tree| {
        tree.open_window(window([
            Widget::button("Lock")
                .tag("lock")
                .on_click(|tree, _| tree.set_enabled(find(tree, "launch"), false)),
            Widget::button("Launch")
                .tag("launch")
                .on_click(count.count()),
        ]));
    });
    app.block(50);
    let one = agent.later(act("lock", Action::Click));
    let two = agent.later(act("launch", Action::Click));
    assert_eq!(events(one.wait()), ["lock clicked", "launch disabled"]);
    assert_eq!(why(two.wait()), Why::Disabled);
    assert_eq!(counter.get(), 0);
}

#[test]
fn rule_5_an_id_means_one_thing() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([
            Widget::list("Orders").tag("orders").named("list").child(
                Widget::new(Kind::ListItem)
                    .named("seven")
                    .tag(Tag::key("7"))
                    .child(Widget::words("12.50").named("total").tag(Tag::key("total"))),
            ),
            Widget::list("Files")
                .tag("files")
                .child(Widget::list_item("one").tag(Tag::key("a b/c] \"x\""))),
            Widget::button("Ok").tag("ok"),
        ]));
    });
    assert_eq!(
        agent.ids(),
        [
            "main",
            "orders",
            "orders/7",
            "orders/7/total",
            "files",
            "files/a%20b%2Fc%5D%20%22x%22",
            "ok"
        ]
    );
    let text = |id: &str| agent.text(id).text.unwrap_or_default();
    let gone = |id: &str| refused(agent.call(read(id))) == Refusal::NotFound;
    assert_eq!(text("orders/7/total"), "12.50");
    assert!(gone("files/a b/c] \"x\""));
    // What is around a key changes what it is a key of, however deep it lies.
    app.run(|tree| tree.set_tag(find(tree, "list"), Some(Tag::id("bills"))));
    assert_eq!(text("bills/7/total"), "12.50");
    assert!(gone("orders/7/total"));
    app.run(|tree| tree.set_tag(find(tree, "seven"), None));
    assert_eq!(text("bills/total"), "12.50");
    app.run(|tree| tree.set_tag(find(tree, "list"), Some(Tag::id("bills").exposed(false))));
    assert_eq!(text("main/total"), "12.50");
    app.run(|tree| {
        let (total, files) = (find(tree, "total"), find(tree, "files"));
        tree.move_to(total, files, 0);
    });
    assert_eq!(text("files/total"), "12.50");

    // Two that claim one id: neither.
    let first = app.run(|tree| tree.add(find(tree, "main"), Widget::button("Ok").tag("ok")));
    assert_eq!(refused(agent.click("ok")), Refusal::Ambiguous);
    let duplicates = agent
        .describe()
        .1
        .into_iter()
        .filter(|node| node.states.words().any(|word| word == "duplicate"));
    assert_eq!(duplicates.count(), 2);
    assert!(
        app.warnings()
            .iter()
            .any(|warning| warning.to_string().contains("\"ok\""))
    );
    app.run(move |tree| tree.remove(first));
    acted(agent.click("ok"));
    // Its place is used again, its node is not.
    let second = app.run(|tree| tree.add(find(tree, "main"), Widget::button("New").tag("new")));
    assert_ne!(first, second);
    assert!(!app.run(move |tree| tree.contains(first)));
}

#[test]
fn rule_5_a_key_is_scrolled_to_in_its_own_list() {
    let (_app, agent) = app(|tree| {
        for id in ["left", "right"] {
            let items =
                (0..40).map(|n| Widget::list_item(n.to_string()).tag(Tag::key(n.to_string())));
            tree.open_window(
                Widget::window(id)
                    .tag(id)
                    .child(Widget::list("List").tag("list").children(items)),
            );
        }
    });
    let target = Target {
        id: "list".into(),
        window: Some("right".into()),
    };
    let action = Action::ScrollTo {
        key: Some("39".into()),
    };
    acted(agent.call(Call::Act { target, action }));
    let (_, nodes) = agent.describe();
    let last: Vec<bool> = nodes
        .iter()
        .filter(|node| &*node.id == "list/39")
        .map(|node| node.states.contains(agent_core::States::OFFSCREEN))
        .collect();
    assert_eq!(last, [true, false]);
}

#[test]
fn rule_6_every_writer_makes_a_version_stale() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([Widget::text_field("Name").tag("name")]));
    });
    let conflict = |answer| match refused(answer) {
        Refusal::VersionConflict { version, text } => (version, text.unwrap_or_default()),
        other => panic!("{other:?}"),
    };
    let v0 = agent.text("name").version;
    app.run(|tree| tree.user_type(find(tree, "name"), "Ada"));
    let (v1, text) = conflict(agent.write("name", "Bob", v0));
    assert_eq!(text, "Ada");
    let bob = acted(agent.write("name", "Bob", v1));
    assert_eq!(
        (bob.version, bob.text),
        (Some(agent.text("name").version), None)
    );
    app.run(|tree| tree.set_text(find(tree, "name"), "Cy"));
    let (v3, text) = conflict(agent.write("name", "Dee", v1));
    assert_eq!(text, "Cy");
    let other = Agent::new(&app);
    acted(other.write("name", "Eve", v3));
    assert_eq!(conflict(agent.write("name", "Flo", v3)).1, "Eve");
    // Away and back again is a change too.
    let v = agent.text("name").version;
    app.run(|tree| {
        let name = find(tree, "name");
        tree.user_type(name, "!");
        tree.user_undo(name);
    });
    assert_eq!(conflict(agent.write("name", "Flo", v)).1, "Eve");
}

#[test]
fn rule_6_a_field_built_again_under_its_id_has_a_new_version() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([Widget::text_field("Name").tag("name").value("x")]));
    });
    let version = agent.text("name").version;
    app.run(|tree| {
        tree.remove(find(tree, "name"));
        let main = find(tree, "main");
        tree.add(main, Widget::text_field("Name").tag("name").value("x"));
    });
    assert!(agent.text("name").version > version);
}

#[test]
fn rule_7_a_reply_comes_after_its_frame() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([
            Widget::button("More").tag("more").on_click(|tree, _| {
                tree.open_window(Widget::window("Details").tag("details"));
            }),
            Widget::button("Dud").tag("dud"),
        ]));
    });
    assert!(agent.handle.has_window("main") && !agent.handle.has_window("details"));
    let (before, _) = agent.describe();
    let reply = acted(agent.click("more"));
    assert!(agent.handle.has_window("details"));
    assert_eq!(agent.describe().0, reply.revision);
    assert!(reply.revision > before);
    let dud = acted(agent.click("dud"));
    assert_eq!((dud.revision, dud.events.len()), (reply.revision, 1));

    let gone = Call::Describe(Describe {
        window: Some("details".into()),
        ..Describe::default()
    });
    let go_on = block(&app);
    app.post(|tree| tree.close(find(tree, "details")));
    let pending = agent.later(gone);
    go_on.send(()).expect("it waits");
    assert_eq!(fault(pending.wait()), Fault::WindowGone);
    assert!(!agent.handle.has_window("details"));
    app.run(|tree| tree.set_tag(find(tree, "main"), Some(Tag::id("home"))));
    assert!(agent.handle.has_window("home") && !agent.handle.has_window("main"));
    app.run(|tree| tree.set_tag(find(tree, "home"), Some(Tag::id("home").excluded())));
    assert!(!agent.handle.has_window("home"));
}

#[test]
fn rule_7_what_others_did_before_is_not_brought_about_by_the_action() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([
            Widget::button("Dud").tag("dud"),
            Widget::checkbox("Gift").tag("gift"),
            Widget::words("new").tag("status"),
        ]));
    });
    agent.describe();
    app.run(|tree| {
        tree.set_text(find(tree, "status"), "saved");
        tree.user_check(find(tree, "gift"), true);
    });
    assert_eq!(events(agent.click("dud")), ["dud clicked"]);
}

#[test]
fn rule_7_a_reply_holds_sixteen_events() {
    let (_app, agent) = app(|tree| {
        let labels = (0..40).map(|n| Widget::words("").tag(format!("l{n}")));
        let all = Widget::button("All").tag("all").on_click(|tree, _| {
            for n in 0..40 {
                tree.set_text(find(tree, &format!("l{n}")), "x");
            }
        });
        tree.open_window(window(labels).child(all));
    });
    assert_eq!(events(agent.click("all")).len(), 16);
}

#[test]
fn rule_8_a_secret_changes_once_until_it_is_left() {
    for tag in [Tag::id("pin"), Tag::id("pin").secret()] {
        let kind = if tag == Tag::id("pin") {
            Kind::PasswordField
        } else {
            Kind::TextField
        };
        let (app, agent) = app(move |tree| {
            tree.open_window(window([
                Widget::new(kind).tag(tag).label("Pin"),
                Widget::text_field("Name").tag("name"),
            ]));
        });
        let look = || {
            let pin = agent.node("pin");
            assert_eq!((pin.value, &*pin.name), (None, "Pin"));
            let text = agent.text("pin");
            assert_eq!((text.text, text.length), (None, None));
            assert_eq!(pin.version, Some(text.version));
            text.version
        };
        let typed = |text: &'static str| {
            app.run(move |tree| assert!(tree.user_type(find(tree, "pin"), text)))
        };
        let v0 = look();
        typed("a");
        let v1 = look();
        assert_ne!(v0, v1);
        let revision = agent.describe().0;
        typed("b");
        app.run(|tree| tree.set_text(find(tree, "pin"), "by the app"));
        assert_eq!((look(), agent.describe().0), (v1, revision));
        // It lost the focus, and is typed into again.
        app.run(|tree| tree.user_type(find(tree, "name"), "x"));
        typed("c");
        let v2 = look();
        assert_ne!(v1, v2);
        typed("d");
        assert_eq!(look(), v2);
        app.run(|tree| tree.user_submit(find(tree, "pin")));
        typed("e");
        let v3 = look();
        assert_ne!(v2, v3);
        assert!(
            !app.run(|tree| tree.user_undo(find(tree, "pin"))),
            "no history of secrets"
        );
    }
}

#[test]
fn rule_8_a_guess_at_a_secret_is_a_change_like_any_other() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, agent) = app(move |tree| {
        tree.open_window(window([Widget::password_field("Pin")
            .tag("pin")
            .value("crocus")
            .max_length(6)
            .on_change(count.count())]));
    });
    let write = |value: &str| {
        let before = agent.text("pin").version;
        let reply = acted(agent.write("pin", value, before));
        assert_eq!((reply.text, reply.events.len()), (None, 1), "{value}");
        assert_ne!(reply.version, Some(before));
        reply.version
    };
    // Wrong, right, right again, too long: all the same.
    for value in ["tulips", "crocus", "crocus", "crocus and more"] {
        write(value);
    }
    assert_eq!(counter.get(), 4);
    // After an agent wrote, the next change is shown once.
    let version = agent.text("pin").version;
    app.run(|tree| {
        let pin = find(tree, "pin");
        tree.user_clear(pin);
        tree.user_type(pin, "x")
    });
    let after = agent.text("pin").version;
    assert_ne!(version, after);
    let conflict = refused(agent.write("pin", "y", version));
    assert_eq!(
        conflict,
        Refusal::VersionConflict {
            version: after,
            text: None
        }
    );
}

#[test]
fn rule_8_a_secret_is_not_told_by_what_it_is_shown_in() {
    let (app, agent) = app(|tree| {
        let hush = || Widget::new(Kind::Group).tag(Tag::new().secret());
        let window = tree.open_window(window([
            Widget::combo("Card").tag("card").child(
                Widget::new(Kind::Group)
                    .tag(Tag::new().secret())
                    .child(Widget::option("hunter2").named("option").selected(true)),
            ),
            Widget::new(Kind::Button)
                .tag("button")
                .child(hush().child(Widget::words("hunter2").named("inside"))),
            Widget::new(Kind::Label)
                .tag(Tag::id("label").secret())
                .text("hunter2"),
            Widget::button("Fail")
                .tag("fail")
                .on_click(|_, _| panic!("hunter2")),
        ]));
        let word = tree.add(window, Widget::words("hunter2").tag(Tag::new().secret()));
        let field = tree.add(window, Widget::new(Kind::TextField).tag("field"));
        tree.set_labelled_by(field, &[word]);
    });
    let told = format!("{:?}{:?}", agent.describe(), agent.click("fail"));
    assert!(!told.contains("hunter2"), "{told}");
    let (revision, _) = agent.describe();
    app.run(|tree| {
        for name in ["option", "inside"] {
            tree.set_text(find(tree, name), "hunter3");
        }
    });
    assert_eq!(agent.describe().0, revision);
}

#[test]
fn rule_9_what_is_withdrawn_or_late_never_happens() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, agent) = app(move |tree| {
        tree.open_window(window([Widget::button("Next")
            .tag("next")
            .on_click(count.count())]));
    });
    let go_on = block(&app);
    let withdrawn = agent.later(act("next", Action::Click));
    let deadline = Instant::now() + Duration::from_millis(50);
    let late = agent.later_by(act("next", Action::Click), deadline);
    let kept = agent.later(act("next", Action::Click));
    assert!(withdrawn.ticket.withdraw());
    agent.handle.purge();
    eventually("it is late", || Instant::now() > deadline);
    go_on.send(()).expect("it waits");
    let entered = kept.ticket.clone();
    acted(kept.wait());
    assert_eq!(counter.get(), 1);
    assert!(late.ticket.is_withdrawn());
    assert!(withdrawn.answer.try_recv().is_err() && late.answer.try_recv().is_err());
    assert!(!entered.withdraw(), "what has entered completes");
}

#[test]
fn rule_9_a_flood_slows_the_flooder_and_not_the_person() {
    const FLOOD: u64 = 200;
    let slow = Counter::default();
    let count = slow.clone();
    let (app, flooder) = app(move |tree| {
        let mut count = count.count();
        tree.open_window(window([Widget::button("Slow").tag("slow").on_click(
            move |tree, node| {
                count(tree, node);
                std::thread::sleep(Duration::from_millis(3));
            },
        )]));
    });
    // How much of the flood was over when the other agent had its turn, and the person then.
    let (tell, told) = std::sync::mpsc::channel();
    let (handle, so_far) = (app.handle(), slow.clone());
    app.run(move |tree| {
        let ok = Widget::button("Ok").tag("ok").on_click(move |_, _| {
            let (tell, so_far) = (tell.clone(), so_far.clone());
            tell.send(so_far.get()).expect("it is told");
            handle.post(move |_| tell.send(so_far.get()).expect("it is told"));
        });
        let main = find(tree, "main");
        tree.add(main, ok);
    });
    let other = Agent::new(&app);
    let go_on = block(&app);
    let flood: Vec<_> = (0..FLOOD)
        .map(|_| flooder.later(act("slow", Action::Click)))
        .collect();
    let quick = other.later(act("ok", Action::Click));
    go_on.send(()).expect("it waits");
    acted(quick.wait());
    for who in ["the other agent", "the person"] {
        let over = told.recv_timeout(LONG).expect("it is told");
        assert!(over < FLOOD / 2, "{who} waited for {over} of the flood");
    }
    drop(app);
    let performed = flood
        .into_iter()
        .map(Pending::wait)
        .filter(|answer| !matches!(answer, Answer::Fault(Fault::Closed)))
        .count();
    assert_eq!(performed as u64, slow.get());
}

#[test]
fn rule_9_a_person_comes_before_the_next_job() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([Widget::button("Two").tag("two")]));
    });
    let handle = app.handle();
    app.run(move |tree| {
        let one = Widget::button("One").tag("one").on_click(move |_, _| {
            handle.post(|tree| tree.set_enabled(find(tree, "two"), false));
        });
        let main = find(tree, "main");
        tree.add(main, one);
    });
    app.block(50);
    let one = agent.later(act("one", Action::Click));
    let two = agent.later(act("two", Action::Click));
    assert_eq!(events(one.wait()), ["one clicked", "two disabled"]);
    assert_eq!(why(two.wait()), Why::Disabled);
}

#[test]
fn rule_9_a_busy_app_keeps_nobody_from_asking() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([]));
    });
    // None of this waits for the UI thread.
    let go_on = block(&app);
    let pending = agent.later(Call::Describe(Describe::default()));
    assert!(agent.handle.has_window("main"));
    agent.handle.set_clients(2);
    agent.handle.emit("main", EventVerb::Changed);
    agent.handle.purge();
    go_on.send(()).expect("it waits");
    assert!(matches!(pending.wait(), Answer::Described(_)));
}

#[test]
fn rule_11_what_is_excluded_is_there_for_people_only() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, agent) = app(move |tree| {
        tree.open_window(window([Widget::group("Helper")
            .tag(Tag::id("helper").excluded())
            .child(
                Widget::button("Approve")
                    .tag("approve")
                    .on_click(count.count()),
            )]));
    });
    assert_eq!(refused(agent.click("approve")), Refusal::NotFound);
    assert!(app.run(|tree| tree.user_click(find(tree, "approve"))));
    assert_eq!(agent.ids(), ["main"]);
    assert_eq!(counter.get(), 1);
}

#[test]
fn rule_13_a_handler_that_panics_is_told_and_everything_goes_on() {
    let (begun, ok) = (Counter::default(), Counter::default());
    let counts = (begun.clone(), ok.clone());
    let (app, agent) = app(move |tree| {
        tree.open_window(window([
            Widget::button("Import").tag("import").on_click({
                let mut count = counts.0.count();
                move |tree, node| {
                    count(tree, node);
                    tree.set_text(node, "Importing");
                    panic!("no such column");
                }
            }),
            Widget::button("Close")
                .tag("close")
                .on_click(counts.1.count()),
            Widget::list("Rows").tag("rows").rows(
                Rows::new(100, |n| {
                    assert!(n < 50, "no such row");
                    n.to_string()
                })
                .keyed(),
            ),
        ]));
    });
    for n in 1..=2 {
        assert!(matches!(fault(agent.click("import")), Fault::Internal(_)));
        assert_eq!(begun.get(), n, "it is in its place again");
    }
    assert_eq!(agent.node("import").name, "Importing");
    let far = Action::ScrollTo {
        key: Some("80".into()),
    };
    assert!(matches!(fault(agent.act("rows", far)), Fault::Internal(_)));
    let near = Action::ScrollTo {
        key: Some("30".into()),
    };
    acted(agent.act("rows", near));
    acted(agent.click("close"));
    assert_eq!(ok.get(), 1);

    // A person's step that panics does so where the test asked for it.
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        app.run(|tree| tree.user_click(find(tree, "import")))
    }));
    let why = asked.expect_err("the handler's panic");
    assert_eq!(why.downcast_ref::<&str>(), Some(&"no such column"));
    app.post(|_| panic!("heard by nobody"));
    acted(agent.click("close"));
}

#[test]
fn rule_13_a_build_that_panics_starts_nothing() {
    let started = std::panic::catch_unwind(|| Headless::start("ui", |_| panic!("no window")));
    assert!(started.is_err());
}

#[test]
fn rule_14_an_agent_goes_the_way_a_person_goes() {
    let counter = Counter::default();
    let count = counter.clone();
    let (app, agent) = app(move |tree| {
        let email = Widget::text_field("Email").tag("email").on_change({
            let mut count = count.count();
            move |tree, node| {
                count(tree, node);
                tree.set_enabled(find(tree, "send"), true);
            }
        });
        tree.open_window(window([
            email,
            Widget::button("Send").tag("send").enabled(false),
        ]));
    });
    assert_eq!(why(agent.click("send")), Why::Disabled);
    assert_eq!(
        events(agent.put("email", "ada@example.org")),
        ["email changed", "send enabled"]
    );
    assert_eq!(counter.get(), 1);
    acted(agent.click("send"));
    app.run(|tree| tree.user_type(find(tree, "email"), "!"));
    assert_eq!(counter.get(), 2);
    app.run(|tree| tree.set_text(find(tree, "email"), ""));
    assert_eq!(counter.get(), 2, "the app needs no telling of what it does");
}

#[test]
fn with_nobody_connected_nothing_is_looked_at() {
    // A text that is made when somebody looks would be made here.
    let app = Headless::start("ui", |tree| {
        tree.open_window(window([
            Widget::button("Ok").tag("ok"),
            Widget::button("Ok").tag("ok"),
        ]));
    });
    for _ in 0..10 {
        app.run(|tree| tree.user_click(find(tree, "ok")));
    }
    assert!(app.warnings().is_empty());
    assert!(app.run(|tree| tree.take_acted()).is_empty());
    app.handle().emit("ok", EventVerb::Changed);
    app.handle().set_clients(1);
    let agent = Agent::new(&app);
    assert_eq!(agent.ids().len(), 3);
    assert_eq!(app.warnings().len(), 1);
}

#[test]
fn what_the_app_raises_is_told_on_what_is_exposed() {
    let (app, agent) = app(|tree| {
        let paint = Widget::button("Paint").tag("paint");
        tree.open_window(window([Widget::new(Kind::Canvas).tag("canvas"), paint]));
    });
    agent.describe();
    let handle = app.handle();
    app.run(move |tree| {
        let main = find(tree, "main");
        let button = Widget::button("Raise").tag("raise").on_click(move |_, _| {
            handle.emit("canvas", EventVerb::Changed);
            handle.emit("nowhere", EventVerb::Changed);
        });
        tree.add(main, button);
    });
    assert_eq!(
        events(agent.click("raise")),
        ["raise clicked", "canvas changed"]
    );
    assert_eq!(events(agent.click("paint")), ["paint clicked"]);
}

#[test]
fn an_app_that_is_gone_says_so() {
    let (app, agent) = app(|tree| {
        tree.open_window(window([]));
    });
    app.block(50);
    let pending = agent.later(read("main"));
    app.stop();
    assert_eq!(fault(pending.wait()), Fault::Closed);
    assert_eq!(fault(agent.call(read("main"))), Fault::Closed);
}

#[test]
fn a_reply_tells_what_came_by_the_end_of_the_frame_after() {
    let way: Arc<OnceLock<agent_headless::HeadlessHandle>> = Arc::default();
    let inside = way.clone();
    let (app, agent) = app(move |tree| {
        let window = tree.open_window(Widget::window("Main").tag("main"));
        let status = tree.add(window, Widget::words("new").tag("status"));
        let later = move |_: &mut Tree, _| {
            if let Some(app) = inside.get() {
                app.post(move |tree| tree.set_text(status, "saving"));
            }
        };
        let save = Widget::button("Save").tag("save").on_click(later);
        tree.add(window, save);
    });
    assert!(way.set(app.handle()).is_ok());
    agent.describe();
    assert_eq!(
        events(agent.click("save")),
        ["save clicked", "status changed"]
    );
    // The next one is not told of what it did not bring about.
    assert_eq!(events(agent.click("save")), ["save clicked"]);
}
