//! Actions: handlers that throw, a main thread that is busy, menus.

use std::{
    sync::{Arc, mpsc::channel},
    time::{Duration, Instant},
};

use agent_appkit::{
    AgentTagged, Panels, Question, Tag, Words,
    objc2::{MainThreadOnly, define_class, msg_send, rc::Retained, sel},
    objc2_app_kit::{NSApplication, NSButton, NSMenu, NSMenuItem, NSTextField, NSView},
    objc2_foundation::{NSRect, NSString, ns_string},
};
use agent_core::{Action, Answer, Call, Describe, Event, EventVerb, Fault, Target};
use agent_test_support::job;

use super::app::{App, act, content, rect};

type Test = (&'static str, fn(&App));

pub(crate) const TESTS: &[Test] = &[
    (
        "what_a_handler_throws_is_an_error_and_the_app_goes_on",
        throws,
    ),
    (
        "a_reply_tells_what_a_handler_left_until_the_run_loop_goes_on",
        left,
    ),
    ("rule_9_a_job_that_is_late_is_not_performed", late),
    (
        "rule_9_a_job_that_was_withdrawn_is_not_performed",
        withdrawn,
    ),
    (
        "rule_14_an_edit_of_a_field_is_one_step_of_the_windows_undo",
        undo,
    ),
    ("an_item_of_the_apps_menu_is_pressed", menu),
    (
        "rule_11_a_question_to_the_user_is_seen_by_no_agent",
        question,
    ),
    (
        "an_accessibility_identifier_is_an_id_where_the_app_wants_that",
        identifiers,
    ),
];

fn throws(app: &App) {
    let window = app.window("throws");
    app.button(&window, "fails", true);
    app.button(&window, "works", false);
    let before = app.handler.times();
    let answer = app.answer(act("fails", Action::Click));
    let Answer::Fault(Fault::Internal(why)) = answer else {
        panic!("no error: {answer:?}");
    };
    assert!(!why.contains("secret"), "{why}");
    let answer = app.answer(act("works", Action::Click));
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!(app.handler.times(), before + 2);
    window.close();
}

fn left(app: &App) {
    let window = app.window("left");
    let button = app.button(&window, "leaves", false);
    // SAFETY: the handler's method takes a button.
    unsafe { button.setAction(Some(sel!(leave:))) };
    // What is there at first is no news.
    app.answer(Call::Describe(Describe::default()));
    let answer = app.answer(act("leaves", Action::Click));
    let Answer::Acted(acted) = answer else {
        panic!("not done: {answer:?}");
    };
    let verbs: Vec<_> = acted.events.iter().map(|event| event.verb).collect();
    assert_eq!(verbs, [EventVerb::Clicked, EventVerb::Changed]);
    window.close();
}

fn late(app: &App) {
    let window = app.window("late");
    app.button(&window, "later", false);
    let before = app.handler.times();
    let (mut job, answer) = job(act("later", Action::Click));
    job.deadline = Instant::now() + Duration::from_millis(30);
    let ticket = job.ticket.clone();
    app.backend().submit(job);
    // The main thread is busy with something else.
    std::thread::sleep(Duration::from_millis(60));
    app.ids();
    assert!(ticket.is_withdrawn());
    assert!(
        answer.try_recv().is_err(),
        "whoever counts the time tells the asker"
    );
    assert_eq!(app.handler.times(), before);
    window.close();
}

fn withdrawn(app: &App) {
    let window = app.window("withdrawn");
    app.button(&window, "never", false);
    let before = app.handler.times();
    let (job, answer) = job(act("never", Action::Click));
    let ticket = job.ticket.clone();
    app.backend().submit(job);
    assert!(ticket.withdraw());
    app.ids();
    assert!(answer.try_recv().is_err());
    assert_eq!(app.handler.times(), before);
    window.close();
}

fn undo(app: &App) {
    let window = app.window("undo");
    let field = NSTextField::initWithFrame(
        NSTextField::alloc(app.main_thread),
        rect(0.0, 0.0, 90.0, 24.0),
    );
    field.setStringValue(ns_string!("before"));
    field.set_agent_id("note");
    content(&window).addSubview(&field);
    window.makeFirstResponder(None);
    let target = Target {
        id: "note".to_owned(),
        window: None,
    };
    let read = app.answer(Call::GetText {
        target,
        from: None,
        limit: None,
    });
    let Answer::Text(read) = read else {
        panic!("not read: {read:?}");
    };
    let edit = Action::SetText {
        value: "after".to_owned(),
        base_version: read.version,
        range: None,
    };
    let answer = app.answer(act("note", edit));
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    app.turn();
    assert_eq!(field.stringValue().to_string(), "after");
    assert!(
        field.currentEditor().is_none(),
        "the focus stays where it is"
    );
    let undo = window.undoManager().expect("a window has one");
    undo.undo();
    assert_eq!(field.stringValue().to_string(), "before");
    undo.redo();
    assert_eq!(field.stringValue().to_string(), "after");
    window.close();
}

fn menu(app: &App) {
    let main = NSMenu::initWithTitle(NSMenu::alloc(app.main_thread), ns_string!("Main"));
    let file = NSMenu::initWithTitle(NSMenu::alloc(app.main_thread), ns_string!("File"));
    file.setAutoenablesItems(false);
    let item = |menu: &NSMenu, title: &str| -> Retained<NSMenuItem> {
        // SAFETY: `count:` takes any sender.
        let item = unsafe {
            NSMenuItem::initWithTitle_action_keyEquivalent(
                NSMenuItem::alloc(app.main_thread),
                &NSString::from_str(title),
                Some(sel!(count:)),
                ns_string!(""),
            )
        };
        menu.addItem(&item);
        item
    };
    let top = item(&main, "File");
    main.setSubmenu_forItem(Some(&file), &top);
    let save = item(&file, "Save");
    // SAFETY: the handler outlives the menu.
    unsafe { save.setTarget(Some(&app.handler)) };
    let print = item(&file, "Print");
    // SAFETY: the same.
    unsafe { print.setTarget(Some(&app.handler)) };
    print.setEnabled(false);
    main.set_agent(Tag::id("bar"));
    top.set_agent_id("file");
    save.set_agent_id("save-item");
    print.set_agent_id("print-item");
    let ns = NSApplication::sharedApplication(app.main_thread);
    ns.setMainMenu(Some(&main));

    let ids = app.ids();
    for id in ["bar", "file", "save-item", "print-item"] {
        assert!(ids.iter().any(|it| it == id), "{id} is not in {ids:?}");
    }
    let before = app.handler.times();
    let answer = app.answer(act("save-item", Action::Click));
    let Answer::Acted(acted) = answer else {
        panic!("not pressed: {answer:?}");
    };
    assert!(
        acted
            .events
            .iter()
            .any(|it| it.verb == EventVerb::Clicked && &*it.source == "save-item")
    );
    let answer = app.answer(act("print-item", Action::Click));
    assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
    assert_eq!(app.handler.times(), before + 1);
    ns.setMainMenu(None);
}

fn question(app: &App) {
    let window = app.window("asked-about");
    let panels = Panels::new(app.main_thread);
    let (told, answer) = channel();
    let long = format!("{}…", "It is long, ".repeat(20));
    let ask = |number| {
        let told = told.clone();
        let question = Question {
            title: "Agents".to_owned(),
            heading: Words {
                shown: "Let it in?".to_owned(),
                full: None,
            },
            details: vec![Words {
                shown: long.clone(),
                full: Some("It is long indeed.".to_owned()),
            }],
            choices: vec!["No".to_owned(), "Once".to_owned()],
        };
        panels.show(number, question, move |choice| {
            // The test may have failed, and be gone.
            let _told = told.send((number, choice));
        });
    };
    let shown = || {
        let windows = NSApplication::sharedApplication(app.main_thread).windows();
        windows
            .iter()
            .find(|it| it.title().to_string() == "Agents" && it.isVisible())
    };
    let before = app.ids();
    let asked = Instant::now();
    ask(1);
    let panel = app.until("a panel", shown);
    assert_eq!(app.ids(), before);
    assert!(
        panel.defaultButtonCell().is_none(),
        "nothing is pressed by Enter"
    );
    let words = content(&panel).subviews().iter().find_map(|view| {
        let words = view.downcast::<NSTextField>().ok()?;
        (words.stringValue().to_string() == long).then_some(words)
    });
    let words = words.expect("a paragraph");
    let tip = words.toolTip().map(|it| it.to_string());
    assert_eq!(tip.as_deref(), Some("It is long indeed."));
    let high = words.frame().size.height;
    assert!(high > 40.0, "all of it is seen: {high}");
    let once = content(&panel).subviews().iter().find_map(|view| {
        let button = view.downcast::<NSButton>().ok()?;
        (button.title().to_string() == "Once").then_some(button)
    });
    let once = once.expect("a choice has a button");
    // SAFETY: any sender will do.
    let press = || unsafe { once.performClick(None) };
    press();
    if asked.elapsed() < Duration::from_millis(700) {
        assert!(answer.try_recv().is_err(), "it has only just appeared");
    }
    let pressed = app.until("an answer", || {
        press();
        answer.try_recv().ok()
    });
    assert_eq!(pressed, (1, Some(1)));
    assert!(asked.elapsed() >= Duration::from_millis(700));
    assert!(shown().is_none());
    // Neither of two covers the other.
    ask(8);
    ask(9);
    let frames = app.until("two panels", || {
        let windows = NSApplication::sharedApplication(app.main_thread).windows();
        let panels = windows
            .iter()
            .filter(|it| it.title().to_string() == "Agents" && it.isVisible());
        let frames: Vec<NSRect> = panels.map(|it| it.frame()).collect();
        (frames.len() == 2).then_some(frames)
    });
    let (one, other) = (frames[0], frames[1]);
    let top = |frame: NSRect| frame.origin.y + frame.size.height;
    assert!(
        one.origin.y >= top(other) || other.origin.y >= top(one),
        "{frames:?}"
    );
    panels.withdraw(8);
    panels.withdraw(9);
    app.until("no panel", || shown().is_none().then_some(()));
    ask(2);
    app.until("a panel", shown).performClose(None);
    assert_eq!(answer.try_recv(), Ok((2, None)));
    ask(3);
    app.until("a panel", shown);
    panels.withdraw(3);
    app.until("no panel", || shown().is_none().then_some(()));
    assert!(answer.try_recv().is_err(), "it was taken back");
    window.close();
}

define_class!(
    // SAFETY: it only has a name; there is no `Drop`.
    #[unsafe(super(NSButton))]
    #[thread_kind = MainThreadOnly]
    struct NamedButton;

    impl NamedButton {
        #[unsafe(method_id(accessibilityIdentifier))]
        fn identifier(&self) -> Retained<NSString> {
            NSString::from_str("named-button")
        }
    }
);

define_class!(
    // SAFETY: it only has a name; there is no `Drop`.
    #[unsafe(super(NSView))]
    #[thread_kind = MainThreadOnly]
    struct Named;

    impl Named {
        #[unsafe(method_id(accessibilityIdentifier))]
        fn identifier(&self) -> Retained<NSString> {
            NSString::from_str("by-accessibility")
        }
    }
);

fn identifiers(app: &App) {
    let window = app.window("identifiers");
    // SAFETY: `initWithFrame:` of NSView.
    let view: Retained<Named> = unsafe {
        msg_send![Named::alloc(app.main_thread), initWithFrame: rect(0.0, 0.0, 10.0, 10.0)]
    };
    content(&window).addSubview(&view);
    let is_shown = || app.ids().iter().any(|id| id == "by-accessibility");
    assert!(!is_shown(), "nobody asked for that");
    agent_appkit::use_accessibility_identifiers(app.main_thread);
    assert!(is_shown());
    // SAFETY: `initWithFrame:` of NSButton; the handler outlives the window.
    let button: Retained<NamedButton> = unsafe {
        let button: Retained<NamedButton> = msg_send![
            NamedButton::alloc(app.main_thread),
            initWithFrame: rect(0.0, 40.0, 80.0, 24.0)
        ];
        button.setTarget(Some(&app.handler));
        button.setAction(Some(sel!(count:)));
        button
    };
    content(&window).addSubview(&button);
    // More clicks of what nobody is shown than are remembered, and then one of it.
    let others: Vec<_> = (0..300)
        .map(|_| {
            let other = app.button(&window, "other", false);
            other.clear_agent();
            other
        })
        .collect();
    let (told, heard) = channel();
    app.backend().listen(Arc::new(move |events: &mut [Event]| {
        for event in events {
            let _told = told.send((event.source.to_string(), event.verb));
        }
    }));
    app.backend().set_listeners(1);
    app.ids();
    for other in &others {
        // SAFETY: the button's own action, to its own target.
        unsafe { other.sendAction_to(other.action(), other.target().as_deref()) };
    }
    // SAFETY: the same.
    unsafe { button.sendAction_to(button.action(), button.target().as_deref()) };
    let clicked = ("named-button".to_owned(), EventVerb::Clicked);
    app.until("a person's click is heard", || {
        heard.try_iter().any(|it| it == clicked).then_some(())
    });
    app.backend().set_listeners(0);
    window.close();
}
