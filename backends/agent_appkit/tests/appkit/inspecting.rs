//! What a developer's inspector is told, and that nothing of it shows in what agents are.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::channel,
    time::{Duration, Instant},
};

use agent_appkit::{
    AgentRows, AgentTagged, Tag,
    objc2::{
        DefinedClass, MainThreadOnly, define_class, msg_send,
        rc::Retained,
        runtime::{AnyObject, NSObject, NSObjectProtocol, ProtocolObject},
    },
    objc2_app_kit::{
        NSApplication, NSEvent, NSPopUpButton, NSScrollView, NSSecureTextField, NSTableColumn,
        NSTableView, NSTableViewDataSource, NSTextField, NSView, NSWindow,
    },
    objc2_foundation::{NSInteger, NSPoint, NSString, ns_string},
};
use agent_core::{Action, AuthGate, Decision, Scope};
use agent_inspect::{Ask, Exposure, Hide, Job, Look, No, Picture, Property, Told, Value};
use agent_surface::Surface;
use agent_test_support::{Client, LONG, Random, allow, folder, job, reason};
use serde_json::{Value as Json, json};

use super::app::{App, act, content, rect};

type Test = (&'static str, fn(&App));

pub(crate) const TESTS: &[Test] = &[
    (
        "the_whole_tree_is_told_but_for_what_is_excluded",
        whole_tree,
    ),
    (
        "rule_8_properties_are_told_and_secrets_are_withheld",
        properties,
    ),
    ("why_an_agent_sees_a_view_or_not", view),
    (
        "a_highlight_changes_neither_the_tree_nor_where_things_are_nor_events",
        highlight,
    ),
    ("the_node_under_the_pointer_is_picked", pick),
    ("rule_11_no_picture_shows_what_must_not_be_seen", picture),
    ("the_gate_is_asked_when_an_inspection_begins", gate),
    ("rows_of_one_key_are_two_nodes_for_good", same_key),
    (
        "an_inspector_sees_rows_that_nothing_is_said_of",
        untold_rows,
    ),
    ("an_inspector_sees_what_people_do", clicks),
    (
        "rule_1_an_inspector_shows_in_no_reply_to_an_agent",
        conversations,
    ),
    ("unarmed_it_is_unknown_like_any_other_word", unarmed),
];

/// What nobody may read.
const SECRET: &str = "hunter2";
/// What is written on the panel that governs agents.
const EXCLUDED: &str = "Allow the agent";

/// A form with a view of each kind that matters here.
struct Form {
    window: Retained<NSWindow>,
    secret: Retained<NSTextField>,
    popup: Retained<NSPopUpButton>,
}

fn form(app: &App, id: &'static str) -> Form {
    let window = app.window(id);
    let save = app.button(&window, "save", false);
    save.setFrame(rect(10.0, 160.0, 80.0, 24.0));
    let untagged = app.button(&window, "untagged", false);
    untagged.setFrame(rect(110.0, 160.0, 80.0, 24.0));
    untagged.clear_agent();
    let secret: Retained<NSTextField> = NSSecureTextField::initWithFrame(
        NSSecureTextField::alloc(app.main_thread),
        rect(10.0, 120.0, 120.0, 24.0),
    )
    .into_super();
    secret.setStringValue(&NSString::from_str(SECRET));
    secret.set_agent(Tag::id("password").label("Password"));
    content(&window).addSubview(&secret);
    let marked = NSTextField::initWithFrame(
        NSTextField::alloc(app.main_thread),
        rect(140.0, 120.0, 120.0, 24.0),
    );
    marked.setStringValue(&NSString::from_str(SECRET));
    marked.setToolTip(Some(&NSString::from_str(SECRET)));
    marked.set_agent(Tag::id("token").label("Token").secret());
    content(&window).addSubview(&marked);
    let panel = NSView::initWithFrame(
        NSView::alloc(app.main_thread),
        rect(10.0, 60.0, 100.0, 40.0),
    );
    panel.set_agent(Tag::new().excluded());
    content(&window).addSubview(&panel);
    let allow = app.button(&window, "allow", false);
    allow.removeFromSuperview();
    allow.setTitle(&NSString::from_str(EXCLUDED));
    // It sticks out of its panel.
    allow.setFrame(rect(20.0, 10.0, 120.0, 24.0));
    panel.addSubview(&allow);
    let popup = NSPopUpButton::initWithFrame_pullsDown(
        NSPopUpButton::alloc(app.main_thread),
        rect(10.0, 20.0, 120.0, 24.0),
        false,
    );
    popup.addItemWithTitle(ns_string!("Plain"));
    popup.addItemWithTitle(&NSString::from_str(SECRET));
    popup.set_agent_id("choice");
    let item = popup.itemAtIndex(1).expect("it was added");
    item.set_agent(Tag::id("kept").label("Kept").secret());
    content(&window).addSubview(&popup);
    popup.selectItemAtIndex(0);
    Form {
        window,
        secret,
        popup,
    }
}

/// Asks as an inspector does, and lets the run loop go on until it is answered.
fn ask_through(app: &App, gate: AuthGate, ask: Ask) -> Result<Told, No> {
    let inspectable = agent_appkit::inspectable(app.main_thread);
    inspectable.set_inspectors(1);
    let (send, told) = channel();
    let mut request = job(act("nobody", Action::Click)).0.request;
    request.scope = Scope::Inspector;
    let deliver = move |answer| drop(send.send(answer));
    inspectable.submit(Job::new(ask, request, gate, Instant::now() + LONG, deliver));
    app.until("an answer to the inspector", || told.try_recv().ok())
}

fn ask(app: &App, ask: Ask) -> Result<Told, No> {
    ask_through(app, allow(), ask)
}

/// The inspector goes.
fn leave(app: &App) {
    agent_appkit::inspectable(app.main_thread).set_inspectors(0);
    app.until("no outline", || edges(app).is_empty().then_some(()));
}

fn tree(app: &App) -> Look {
    match ask(app, Ask::Tree) {
        Ok(Told::Tree(look)) => look,
        other => panic!("no tree: {other:?}"),
    }
}

fn named(look: &Look, name: &str) -> u64 {
    let mut nodes = look.nodes.iter();
    let node = nodes.find(|node| node.name == name || node.id.as_deref() == Some(name));
    node.unwrap_or_else(|| panic!("no {name} in {look:#?}"))
        .handle
}

fn told(app: &App, node: u64) -> Vec<Property> {
    match ask(app, Ask::Node(node)) {
        Ok(Told::Node(properties)) => properties,
        other => panic!("no properties: {other:?}"),
    }
}

fn whole_tree(app: &App) {
    let form = form(app, "whole");
    let look = tree(app);
    assert!(look.complete);
    for name in ["whole", "save", "untagged", "password", "token", "choice"] {
        named(&look, name);
    }
    let said = format!("{look:?}");
    assert!(!said.contains(EXCLUDED) && !said.contains(SECRET), "{said}");
    let classes: Vec<&str> = look.nodes.iter().map(|it| it.class.as_str()).collect();
    for class in ["NSWindow", "NSButton", "NSSecureTextField", "NSMenuItem"] {
        assert!(classes.contains(&class), "no {class} in {classes:?}");
    }
    for (at, node) in look.nodes.iter().enumerate() {
        let before = |parent| look.nodes[..at].iter().any(|it| it.handle == parent);
        assert!(node.parent.is_none_or(before), "{node:?}");
    }
    // The same handles again.
    let handles = |look: &Look| -> Vec<u64> { look.nodes.iter().map(|it| it.handle).collect() };
    assert_eq!(handles(&tree(app)), handles(&look));
    leave(app);
    form.window.close();
}

fn properties(app: &App) {
    let form = form(app, "properties");
    let look = tree(app);
    let save = told(app, named(&look, "save"));
    let holds = |name: &str, kind: &str, value: Value| {
        let found = save.iter().find(|it| it.name == name);
        assert_eq!(found, Some(&Property::new(name, kind, value)), "{save:#?}");
    };
    holds("title", "NSString", Value::Text("save".into()));
    holds("enabled", "BOOL", Value::Bool(true));
    holds("hidden", "BOOL", Value::Bool(false));
    holds("frame", "NSRect", Value::Text("10, 160, 80 x 24".into()));
    holds("alphaValue", "double", Value::Number(1.0));
    holds("action", "SEL", Value::Text("count:".into()));
    assert!(save.len() > 15, "{save:#?}");
    form.popup.selectItemAtIndex(1);
    for (name, withheld) in [
        ("password", "stringValue"),
        ("token", "stringValue"),
        ("token", "toolTip"),
        ("choice", "title"),
    ] {
        let all = told(app, named(&look, name));
        let is = |it: &&Property| it.name == withheld;
        let value = all.iter().find(is).map(|it| it.value.clone());
        assert_eq!(value, Some(Value::Withheld), "{name}: {all:#?}");
    }
    // Whatever there is.
    for node in &look.nodes {
        let all = format!("{:?}", told(app, node.handle));
        assert!(!all.contains(SECRET) && !all.contains(EXCLUDED), "{all}");
    }
    // Nothing was ended by being looked at.
    form.window.makeKeyAndOrderFront(None);
    form.window.makeFirstResponder(Some(&form.secret));
    let edited = form.secret.currentEditor().is_some();
    told(app, named(&look, "password"));
    assert_eq!(form.secret.currentEditor().is_some(), edited);
    assert_eq!(ask(app, Ask::Node(u64::MAX)), Err(No::NotFound));
    leave(app);
    form.window.close();
}

fn view(app: &App) {
    let form = form(app, "views");
    let look = tree(app);
    let why = |name: &str| match ask(app, Ask::View(named(&look, name))) {
        Ok(Told::View(view)) => *view,
        other => panic!("no view: {other:?}"),
    };
    assert_eq!(why("save").exposure, Exposure::Shown);
    assert_eq!(why("untagged").exposure, Exposure::NoTag);
    assert_eq!(why("save").id.as_deref(), Some("save"));
    // What is excluded has no handle.
    let known: Vec<u64> = look.nodes.iter().map(|it| it.handle).collect();
    let (first, last) = (known.iter().min().unwrap(), known.iter().max().unwrap());
    let missing: Vec<u64> = (*first..*last).filter(|it| !known.contains(it)).collect();
    assert!(!missing.is_empty());
    for node in missing.into_iter().rev().take(20) {
        assert_eq!(ask(app, Ask::View(node)), Err(No::NotFound));
        assert_eq!(ask(app, Ask::Node(node)), Err(No::NotFound));
        assert_eq!(ask(app, Ask::Highlight(Some(node))), Err(No::NotFound));
    }
    let lints = |look: &Look| agent_inspect::lint(look, &look.visible().collect());
    assert_eq!(lints(&look), [], "secrets are marked, and all have names");
    app.button(&form.window, "save", false);
    let found = lints(&tree(app));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].lint, agent_inspect::Lint::DuplicateId);
    assert_eq!(why("save").exposure, Exposure::Duplicate);
    leave(app);
    form.window.close();
}

/// The windows that an outline is made of.
fn edges(app: &App) -> Vec<Retained<NSWindow>> {
    let windows = NSApplication::sharedApplication(app.main_thread).windows();
    let is = |it: &Retained<NSWindow>| it.ignoresMouseEvents() && it.isVisible();
    windows.iter().filter(is).collect()
}

fn highlight(app: &App) {
    let form = form(app, "highlight");
    // What happened before is told with the first.
    tree(app);
    let before = tree(app);
    let ids = app.ids();
    let save = named(&before, "save");
    assert_eq!(ask(app, Ask::Highlight(Some(save))), Ok(Told::Highlighted));
    let drawn = edges(app);
    assert_eq!(drawn.len(), 4, "it is drawn");
    for edge in &drawn {
        assert!(!edge.canBecomeKeyWindow() && !edge.canBecomeMainWindow());
    }
    let after = tree(app);
    assert!(after == before && after.events.is_empty(), "{after:#?}");
    assert_eq!(app.ids(), ids);
    let answer = app.answer(act("save", Action::Click));
    assert!(format!("{answer:?}").contains("Acted"), "{answer:?}");
    // It goes where its node goes.
    let at = drawn[0].frame().origin;
    form.window.setFrameOrigin(NSPoint::new(160.0, 130.0));
    app.until("the outline follows", || {
        tree(app);
        let now = edges(app)[0].frame().origin;
        let followed = (now.x - at.x, now.y - at.y) == (60.0, 30.0);
        followed.then_some(())
    });
    // And away with its window, or when nobody asks for it any more.
    form.window.orderOut(None);
    tree(app);
    assert!(edges(app).is_empty());
    form.window.orderFront(None);
    tree(app);
    assert_eq!(edges(app).len(), 4);
    assert_eq!(ask(app, Ask::Highlight(None)), Ok(Told::Highlighted));
    assert!(edges(app).is_empty());
    assert_eq!(ask(app, Ask::Highlight(Some(save))), Ok(Told::Highlighted));
    leave(app);
    form.window.close();
}

fn pick(app: &App) {
    let form = form(app, "pick");
    let look = tree(app);
    let pointer = NSEvent::mouseLocation();
    // Brings a point of the form under the pointer.
    let picked = |x: f64, y: f64| {
        let origin = NSPoint::new(pointer.x - x, pointer.y - y);
        form.window.setFrameOrigin(origin);
        match ask(app, Ask::Pick) {
            Ok(Told::Picked(node)) => node,
            other => panic!("nothing picked: {other:?}"),
        }
    };
    let before = app.handler.times();
    assert_eq!(picked(50.0, 172.0), Some(named(&look, "save")));
    assert_eq!(picked(150.0, 172.0), Some(named(&look, "untagged")));
    assert_eq!(picked(30.0, 82.0), None, "it is excluded");
    assert_eq!(picked(-500.0, 50.0), None, "there is no window");
    // Nor is what is drawn over it in the way.
    let save = named(&look, "save");
    ask(app, Ask::Highlight(Some(save))).expect("it is there");
    assert_eq!(picked(50.0, 172.0), Some(save));
    assert_eq!(app.handler.times(), before, "nothing was pressed");
    leave(app);
    form.window.close();
}

const BLACK: [u8; 4] = [0, 0, 0, 255];

/// Whether all of a frame of the form is black, from the bottom as AppKit counts.
fn is_black(picture: &Picture, x: f64, y: f64, width: f64, height: f64) -> bool {
    let top = picture.height as f64 / picture.scale - y - height;
    let at = |it: f64| (it * picture.scale) as usize;
    (at(top)..at(top + height)).all(|row| {
        let row = &picture.pixels[row * picture.width..][..picture.width];
        row[at(x)..at(x + width)].iter().all(|it| *it == BLACK)
    })
}

fn picture(app: &App) {
    let form = form(app, "picture");
    // What is exposed lies over it, but for being scrolled out of sight there.
    let under = app.button(&form.window, "under", false);
    under.setFrame(rect(150.0, 0.0, 100.0, 9.0));
    under.clear_agent();
    table(app, &form.window, Some(|row| row.to_string()));
    let panel = app.window("over-it");
    panel.set_agent(Tag::new().excluded());
    app.turns(Duration::from_millis(50));
    let look = tree(app);
    let take = |node: &str, hide| {
        let node = Some(named(&look, node));
        match ask(app, Ask::Screenshot { node, hide }) {
            Ok(Told::Picture(picture)) => picture,
            other => panic!("no picture: {other:?}"),
        }
    };
    let all = take("picture", Hide::Secrets);
    assert_eq!((all.width, all.height), (300, 200));
    let save = [10.0, 160.0, 80.0, 24.0];
    let untagged = [110.0, 160.0, 80.0, 24.0];
    let black = |picture: &Picture, [x, y, w, h]: [f64; 4]| is_black(picture, x, y, w, h);
    let colours: std::collections::HashSet<_> = all.pixels.iter().collect();
    assert!(colours.len() > 2, "something is drawn: {colours:?}");
    assert!(!black(&all, save) && !black(&all, untagged));
    assert!(black(&all, [10.0, 120.0, 120.0, 24.0]), "a secure field");
    assert!(black(&all, [140.0, 120.0, 120.0, 24.0]), "a secret");
    assert!(black(&all, [10.0, 60.0, 100.0, 40.0]), "a panel");
    assert!(black(&all, [30.0, 70.0, 120.0, 24.0]), "what sticks out");
    let exposed = take("picture", Hide::Unexposed);
    assert!(!black(&exposed, save) && black(&exposed, untagged));
    let under = [150.0, 0.0, 100.0, 8.0];
    assert!(!black(&all, under) && black(&exposed, under));
    assert!(!black(&exposed, [160.0, 20.0, 90.0, 70.0]), "the rows");
    assert!(black(&exposed, [10.0, 120.0, 120.0, 24.0]));
    // A part, with a pixel more on each side.
    let part = take("save", Hide::Secrets);
    assert_eq!((part.width, part.height), (82, 26));
    assert_eq!(part.from, (9.0, 15.0));
    assert!(part.pixels.iter().any(|it| *it != BLACK));
    // What a pop-up shows is its item's.
    let choice = [10.0, 20.0, 120.0, 24.0];
    assert!(!black(&all, choice));
    form.popup.selectItemAtIndex(1);
    assert!(black(&take("picture", Hide::Secrets), choice));
    // What is drawn over a node is in no picture.
    let save = named(&look, "save");
    form.popup.selectItemAtIndex(0);
    ask(app, Ask::Highlight(Some(save))).expect("it is there");
    assert!(take("picture", Hide::Secrets) == all);
    leave(app);
    panel.close();
    form.window.close();
}

fn gate(app: &App) {
    let no = AuthGate::serve(|request| match request.scope {
        Scope::Inspector => Decision::deny("no inspector here"),
        _ => Decision::Allow,
    });
    assert_eq!(ask_through(app, no, Ask::Tree), Err(No::Denied));
    leave(app);
}

define_class!(
    // SAFETY: NSObject asks nothing of those that are made from it; there is no `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    #[ivars = NSInteger]
    struct Rows;

    // SAFETY: it asks nothing.
    unsafe impl NSObjectProtocol for Rows {}

    // SAFETY: the methods have the signatures that the protocol gives.
    unsafe impl NSTableViewDataSource for Rows {
        #[unsafe(method(numberOfRowsInTableView:))]
        fn count(&self, _: &NSTableView) -> NSInteger {
            *self.ivars()
        }

        #[unsafe(method_id(tableView:objectValueForTableColumn:row:))]
        fn row(
            &self,
            _: &NSTableView,
            _: Option<&NSTableColumn>,
            row: NSInteger,
        ) -> Option<Retained<AnyObject>> {
            Some(NSString::from_str(&format!("Row {row}")).into())
        }
    }
);

/// A table in a window, whose rows have keys.
fn table(app: &App, window: &NSWindow, key: Option<fn(isize) -> String>) {
    let rows = Rows::alloc(app.main_thread).set_ivars(40);
    // SAFETY: `init` of NSObject.
    let rows: Retained<Rows> = unsafe { msg_send![super(rows), init] };
    let list = NSTableView::initWithFrame(
        NSTableView::alloc(app.main_thread),
        rect(0.0, 0.0, 100.0, 100.0),
    );
    let column =
        NSTableColumn::initWithIdentifier(NSTableColumn::alloc(app.main_thread), ns_string!("one"));
    list.addTableColumn(&column);
    list.setHeaderView(None);
    list.set_agent_id("list");
    if let Some(key) = key {
        list.set_agent_key(key);
    }
    // SAFETY: it is kept for good.
    unsafe { list.setDataSource(Some(ProtocolObject::from_ref(&*rows))) };
    let scroll = NSScrollView::initWithFrame(
        NSScrollView::alloc(app.main_thread),
        rect(150.0, 10.0, 120.0, 90.0),
    );
    scroll.setDocumentView(Some(&list));
    content(window).addSubview(&scroll);
    list.reloadData();
    std::mem::forget(rows);
}

fn same_key(app: &App) {
    let window = app.window("same-key");
    table(app, &window, Some(|row| (row / 2).to_string()));
    let rows = |look: &Look| -> Vec<(u64, Option<String>)> {
        let rows = look.nodes.iter().filter(|it| it.class == "row");
        rows.map(|it| (it.handle, it.id.as_deref().map(str::to_owned)))
            .collect()
    };
    let first = rows(&tree(app));
    assert!(first.len() > 2, "{first:?}");
    assert_eq!(first[0].1, first[1].1, "they claim one id");
    assert_ne!(first[0].0, first[1].0, "and are two");
    let known = agent_appkit::known_objects();
    for _ in 0..5 {
        app.ids();
        assert_eq!(rows(&tree(app)), first);
    }
    assert_eq!(
        agent_appkit::known_objects(),
        known,
        "nothing is left behind"
    );
    leave(app);
    window.close();
}

fn untold_rows(app: &App) {
    let window = app.window("untold-rows");
    table(app, &window, None);
    let look = tree(app);
    let row = named(&look, "Row 0");
    match ask(app, Ask::View(row)) {
        Ok(Told::View(view)) => assert_eq!(view.exposure, Exposure::NoTag),
        other => panic!("no view: {other:?}"),
    }
    assert_eq!(named(&tree(app), "Row 0"), row, "it is the same again");
    assert!(!app.ids().iter().any(|id| id.starts_with("list/")));
    leave(app);
    window.close();
}

fn clicks(app: &App) {
    let form = form(app, "clicks");
    tree(app);
    tree(app);
    // No agent is there.
    app.backend().set_clients(0);
    app.ids();
    let save = content(&form.window).subviews().iter().find_map(|view| {
        let button = view
            .downcast::<agent_appkit::objc2_app_kit::NSButton>()
            .ok()?;
        (button.title().to_string() == "save").then_some(button)
    });
    // SAFETY: any sender will do.
    unsafe { save.expect("it is there").performClick(None) };
    let events = tree(app).events;
    let clicked = |it: &&agent_core::Event| it.verb == agent_core::EventVerb::Clicked;
    let clicked: Vec<_> = events.iter().filter(clicked).collect();
    assert!(
        clicked.len() == 1 && &*clicked[0].source == "save",
        "{events:?}"
    );
    app.backend().set_clients(1);
    leave(app);
    form.window.close();
}

/// Serves the app's windows for as long as a client of another thread needs them.
fn served<R: Send + 'static>(
    app: &App,
    armed: bool,
    client: impl FnOnce(&Path) -> R + Send + 'static,
) -> R {
    let folder = folder();
    let at: PathBuf = folder.path().join("form.sock");
    let mut surface = Surface::builder("form")
        .gate(allow())
        .appkit(app.main_thread);
    if armed {
        surface = surface.arm_inspector();
    }
    let surface = surface.at(at.clone()).serve().unwrap();
    let thread = std::thread::spawn(move || client(&at));
    app.until("the client is done", || thread.is_finished().then_some(()));
    let said = thread.join();
    drop(surface);
    said.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What an agent asks and is answered; an inspector asks everything in between, or nobody does.
fn conversation(at: &Path, seed: u64, inspected: bool) -> Vec<String> {
    let mut inspector = inspected.then(|| Client::connect(at));
    let mut look = || {
        let Some(client) = &mut inspector else { return };
        let tree = client.get("inspector.tree", json!({}));
        let nodes = tree["nodes"].as_array().unwrap();
        let node = nodes[seed as usize % nodes.len()]["node"].clone();
        for (method, params) in [
            ("node", json!({ "node": node })),
            ("agent_view", json!({ "node": node })),
            ("highlight", json!({ "node": node })),
            ("lint", json!({})),
            ("log", json!({})),
            ("pick", json!({})),
            ("screenshot", json!({})),
        ] {
            let reply = client.ask(&format!("inspector.{method}"), params);
            let said = reply.to_string();
            let ok = ["none", "unsupported"].contains(&reason(&reply));
            assert!(ok && !said.contains(SECRET), "{method}: {said}");
            assert!(!said.contains(EXCLUDED), "{method}: {said}");
        }
    };
    look();
    let mut agent = Client::connect(at);
    let mut dice = Random(seed);
    let mut lines = Vec::new();
    let mut version = 1;
    let include = json!({"include": ["value", "state", "actions", "frame"]});
    for number in 0..12 {
        let id = *dice.one_of(&["save", "password", "choice", "list", "list/3", "nowhere"]);
        let (method, params): (&str, Json) = match dice.below(8) {
            0 | 1 => ("describe_ui", include.clone()),
            2 => ("get_text", json!({ "id": "choice" })),
            3 => ("click", json!({ "id": id })),
            4 => {
                let value = format!("v{number}");
                let edit = json!({"id": "password", "value": value, "base_version": version});
                ("set_text", edit)
            }
            5 => (
                "scroll_to",
                json!({"id": "list", "key": number.to_string()}),
            ),
            6 => ("subscribe", json!({})),
            _ => ("poll_events", json!({"subscription": "s1"})),
        };
        agent.send(method, params);
        let line = agent.line();
        let reply: Json = serde_json::from_str(&line).unwrap();
        if let Some(now) = reply["result"]["version"].as_u64() {
            version = now;
        }
        lines.push(format!("{method}: {line}"));
        look();
    }
    lines
}

fn conversations(app: &App) {
    for seed in 1..=4 {
        let said = |inspected| {
            let form = form(app, "talked-about");
            table(
                app,
                &form.window,
                (seed != 3).then_some(|row| row.to_string()),
            );
            // A window without a tag, too.
            let other = app.window("nameless");
            other.clear_agent();
            app.button(&other, "in-the-nameless", false);
            let said = served(app, true, move |at| conversation(at, seed, inspected));
            form.window.close();
            other.close();
            said
        };
        assert_eq!(said(true), said(false), "seed {seed}");
    }
    app.reopen();
}

fn unarmed(app: &App) {
    let form = form(app, "unarmed");
    let said = served(app, false, |at| {
        let mut client = Client::connect(at);
        let ask = |client: &mut Client, method: &str| {
            let method = format!("inspector.{method}");
            reason(&client.ask(&method, json!({"node": 1}))).to_owned()
        };
        [
            "tree",
            "node",
            "highlight",
            "pick",
            "screenshot",
            "agent_view",
            "lint",
            "log",
            "consent",
        ]
        .map(|method| ask(&mut client, method))
    });
    assert!(said.iter().all(|it| it == "method_not_found"), "{said:?}");
    form.window.close();
    app.reopen();
}
