//! The surface as an app meets it.

use std::{
    io::{BufRead as _, BufReader},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Instant,
};

use agent_surface::{
    EventVerb, FdPeer, ServeError, Surface,
    egui::{AgentUi as _, AgentWidget as _},
    headless::{Headless, Widget},
};
use agent_test_support::{Client, LONG, allow, eventually, folder, pass_on, reason};
use egui::Ui;
use serde_json::json;

use crate::windowless::Windowless;

/// A headless app of one button and one chart, and how often the button was pressed.
pub(crate) fn counting() -> (Headless, Arc<AtomicUsize>) {
    let clicks = Arc::new(AtomicUsize::new(0));
    let count = clicks.clone();
    let app = Headless::start("counting", move |tree| {
        tree.open_window(Widget::window("Main").tag("main").children([
            Widget::button("Save").tag("save").on_click(move |_, _| {
                count.fetch_add(1, Ordering::SeqCst);
            }),
            Widget::words("A chart").tag("chart"),
            Widget::words("Untagged"),
        ]));
    });
    (app, clicks)
}

pub(crate) fn serve(app: &Headless, path: PathBuf) -> Surface {
    let builder = Surface::builder("org.example.counting").gate(allow());
    builder.headless(app).at(path).serve().unwrap()
}

fn clicks(clicks: &AtomicUsize) -> usize {
    clicks.load(Ordering::SeqCst)
}

#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) clicks: usize,
    /// What the next frame does first.
    pub(crate) block: Option<Block>,
}

/// Keeps a UI thread busy until the test lets it go on, and says when it is.
pub(crate) struct Block(Sender<()>, Receiver<()>);

impl Block {
    /// With what is heard when it has begun, and what ends it.
    pub(crate) fn new() -> (Self, Receiver<()>, Sender<()>) {
        let ((begun, when_begun), (go_on, when_to_go_on)) = (channel(), channel());
        (Self(begun, when_to_go_on), when_begun, go_on)
    }

    pub(crate) fn wait(self) {
        self.0.send(()).unwrap();
        let _ = self.1.recv_timeout(LONG);
    }
}

pub(crate) fn draw(ui: &mut Ui, app: &mut Drawn) {
    if let Some(block) = app.block.take() {
        block.wait();
    }
    ui.agent_window("main");
    if ui.add(egui::Button::new("Save").agent_id("save")).clicked() {
        app.clicks += 1;
    }
}

#[test]
fn rule_2_a_builder_without_a_gate_lets_nobody_in() {
    let (app, _) = counting();
    let folder = folder();
    let builder = Surface::builder("org.example.app")
        .headless(&app)
        .arm_full();
    let surface = builder.at(folder.path().join("s")).serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    for (method, params) in [
        ("hello", json!({"name": "me"})),
        ("describe_ui", json!({})),
        ("describe_ui", json!({"mode": "full"})),
        ("click", json!({"id": "save"})),
        ("get_text", json!({"id": "nowhere"})),
    ] {
        assert_eq!(reason(&client.ask(method, params)), "consent_denied");
    }
    assert!(surface.clients().iter().all(|client| !client.admitted));
}

#[test]
fn an_app_id_that_is_none_is_refused() {
    for id in [
        "",
        "two words",
        "größe",
        "a/b",
        "../escape",
        &"x".repeat(201),
    ] {
        let folder = folder();
        let served = Surface::builder(id).at(folder.path().join("s")).serve();
        assert!(matches!(served, Err(ServeError::App(_))), "{id:?}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{id:?}");
    }
}

#[test]
fn two_surfaces_of_one_process_keep_apart() {
    let folder = folder();
    let (app, headless_clicks) = counting();
    let egui = Windowless::start(Drawn::default(), draw);
    let one = serve(&app, folder.path().join("one"));
    let builder = Surface::builder("org.example.egui").gate(allow());
    let two = builder.egui(&egui.ctx).at(folder.path().join("two"));
    let two = two.serve().unwrap();
    let mut first = Client::connect(one.address().unwrap());
    let mut second = Client::connect(two.address().unwrap());
    assert_eq!(first.get("hello", json!({}))["app"], "org.example.counting");
    assert_eq!(second.get("hello", json!({}))["app"], "org.example.egui");
    assert_eq!(second.click("save")["result"]["outcome"], "allowed");
    assert_eq!(clicks(&headless_clicks), 0);
    assert_eq!(egui.look(|app| app.clicks), 1);
    one.revoke();
    assert_eq!(reason(&first.click("save")), "consent_denied");
    assert_eq!(second.click("save")["result"]["outcome"], "allowed");
    drop(one);
    assert_eq!(first.line(), "");
    assert_eq!(second.click("save")["result"]["outcome"], "allowed");
}

#[test]
fn dropping_it_removes_its_socket_and_ends_its_connections() {
    let (app, _) = counting();
    let folder = folder();
    let surface = serve(&app, folder.path().join("s"));
    let mut client = Client::connect(surface.address().unwrap());
    client.get("hello", json!({}));
    drop(surface);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    assert_eq!(client.line(), "");
    // And the app can be served again at the same place.
    let surface = serve(&app, folder.path().join("s"));
    Client::connect(surface.address().unwrap()).get("hello", json!({}));
}

#[test]
fn rule_2_after_a_revocation_nothing_that_waited_is_performed() {
    for round in 0..30 {
        let (app, clicked) = counting();
        let folder = folder();
        let surface = serve(&app, folder.path().join("s"));
        let mut client = Client::connect(surface.address().unwrap());
        client.get("hello", json!({}));
        if round % 2 == 0 {
            app.block(20);
        }
        for _ in 0..20 {
            client.send("click", json!({"id": "save"}));
        }
        surface.revoke();
        let by_then = clicks(&clicked);
        // At most the one that had begun when it was revoked ends after that.
        for _ in 0..20 {
            client.reply();
        }
        app.run(|_| ());
        let after = clicks(&clicked);
        assert!(after <= by_then + 1, "{by_then} {after}");
        assert_eq!(reason(&client.click("save")), "consent_denied");
        assert_eq!(
            reason(&client.ask("describe_ui", json!({}))),
            "consent_denied"
        );
        assert_eq!(clicks(&clicked), after);
        assert!(surface.clients().iter().all(|client| !client.admitted));
        // Whoever comes later is for the gate to judge.
        Client::connect(surface.address().unwrap()).get("hello", json!({}));
    }
}

#[test]
fn rule_2_after_a_revocation_an_egui_app_performs_nothing() {
    let app = Windowless::start(Drawn::default(), draw);
    let folder = folder();
    let builder = Surface::builder("org.example.egui").gate(allow());
    let surface = builder.egui(&app.ctx).at(folder.path().join("s"));
    let surface = surface.serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    client.get("describe_ui", json!({}));
    let (block, begun, go_on) = Block::new();
    app.change_undrawn(|app| app.block = Some(block));
    for _ in 0..10 {
        client.send("click", json!({"id": "save"}));
    }
    begun.recv_timeout(LONG).unwrap();
    surface.revoke();
    go_on.send(()).unwrap();
    for _ in 0..10 {
        client.reply();
    }
    for _ in 0..5 {
        app.change(|_| ());
    }
    // One may have been on the UI thread when it was revoked.
    assert!(app.look(|app| app.clicks) <= 1);
}

#[test]
fn an_event_of_the_apps_own_shows_in_the_next_acting_reply() {
    let folder = folder();
    let app = Windowless::start(Drawn::default(), draw);
    let builder = Surface::builder("org.example.egui").gate(allow());
    let surface = builder.egui(&app.ctx).at(folder.path().join("e"));
    let surface = surface.serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    client.get("describe_ui", json!({}));
    surface.emit("save", EventVerb::Opened);
    surface.emit("nowhere", EventVerb::Opened);
    let reply = client.click("save");
    let events = &reply["result"]["events"];
    assert!(events.to_string().contains("opened"), "{reply}");
    assert!(!events.to_string().contains("nowhere"), "{reply}");
}

#[test]
fn who_is_connected_is_told() {
    let (app, _) = counting();
    let folder = folder();
    let surface = serve(&app, folder.path().join("s"));
    assert!(surface.clients().is_empty());
    let mut one = Client::connect(surface.address().unwrap());
    let mut two = Client::connect(surface.address().unwrap());
    one.get("hello", json!({"name": "one \"quoted\"\n"}));
    two.raw("");
    eventually("both are known", || surface.clients().len() == 2);
    let clients = surface.clients();
    assert_eq!(clients[0].claimed_name.as_deref(), Some("one \"quoted\"\n"));
    assert!(clients[0].admitted && !clients[1].admitted);
    // The app's own process is never taken for an agent's.
    assert_eq!(clients[0].peer, None);
    drop(one);
    eventually("it is gone", || surface.clients().len() == 1);
    two.get("hello", json!({}));
    assert!(surface.clients()[0].admitted);
}

#[test]
fn half_of_a_pair_is_served() {
    let (app, clicked) = counting();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let builder = Surface::builder("org.example.pair").gate(allow());
    let named = FdPeer::Named("assistant".into());
    let surface = builder.headless(&app);
    let surface = surface.serve_fd(OwnedFd::from(theirs), named).unwrap();
    assert_eq!(surface.address(), None);
    let mut client = Client::over(ours);
    client.get("hello", json!({"name": "somebody else"}));
    assert_eq!(client.click("save")["result"]["outcome"], "allowed");
    assert_eq!(clicks(&clicked), 1);
    let clients = surface.clients();
    assert_eq!(clients[0].claimed_name.as_deref(), Some("assistant"));
    assert!(
        clients[0]
            .peer
            .as_ref()
            .is_none_or(|peer| peer.pid.is_none())
    );
    drop(surface);
    assert_eq!(client.line(), "");
    let file = std::fs::File::open("/dev/null").unwrap();
    let builder = Surface::builder("org.example.pair").gate(allow());
    let served = builder.serve_fd(OwnedFd::from(file), FdPeer::Unknown);
    assert!(matches!(served, Err(ServeError::NotAStream)));
}

#[test]
fn rule_9_an_app_that_quits_answers_or_closes() {
    // The backend goes first.
    let (app, clicked) = counting();
    let folder = folder();
    let surface = serve(&app, folder.path().join("s"));
    let mut client = Client::connect(surface.address().unwrap());
    client.get("hello", json!({}));
    app.block(100);
    let begun = Instant::now();
    for _ in 0..5 {
        client.send("click", json!({"id": "save"}));
    }
    drop(app);
    let performed = (0..5)
        .filter(|_| client.reply()["result"]["outcome"] == "allowed")
        .count();
    assert!(!client.click("save")["error"].is_null());
    assert!(begun.elapsed() < LONG);
    assert_eq!(clicks(&clicked), performed);
    drop(surface);
    assert_eq!(client.line(), "");

    // The event loop of an egui app ends, and later the surface.
    let mut app = Windowless::start(Drawn::default(), draw);
    let builder = Surface::builder("org.example.egui").gate(allow());
    let surface = builder.egui(&app.ctx).at(folder.path().join("e"));
    let surface = surface.serve().unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    client.get("describe_ui", json!({}));
    let left = app.quit().unwrap();
    client.send("click", json!({"id": "save", "timeout_ms": 100}));
    client.send("describe_ui", json!({"timeout_ms": 100}));
    for _ in 0..2 {
        assert_eq!(reason(&client.reply()), "app_busy");
    }
    client.send("click", json!({"id": "save", "timeout_ms": 30_000}));
    drop(surface);
    while !client.line().is_empty() {}
    assert_eq!(left.clicks, 0);
}

#[test]
fn rule_9_a_blocked_app_is_busy_in_time_and_nothing_happens_late() {
    let folder = folder();
    let (headless, headless_clicks) = counting();
    let egui = Windowless::start(Drawn::default(), draw);
    let one = serve(&headless, folder.path().join("one"));
    let builder = Surface::builder("org.example.egui").gate(allow());
    let two = builder.egui(&egui.ctx).at(folder.path().join("two"));
    let two = two.serve().unwrap();
    let mut clients = Vec::new();
    for surface in [&one, &two] {
        let mut client = Client::connect(surface.address().unwrap());
        client.get("describe_ui", json!({}));
        clients.push(client);
    }
    // What follows is answered while neither can.
    let mut blocks = Vec::new();
    let (block, begun, go_on) = Block::new();
    headless.post(|_| block.wait());
    blocks.push((begun, go_on));
    let (block, begun, go_on) = Block::new();
    egui.change_undrawn(|app| app.block = Some(block));
    egui.ctx.request_repaint();
    blocks.push((begun, go_on));
    for (begun, _) in &blocks {
        begun.recv_timeout(LONG).unwrap();
    }
    for client in &mut clients {
        client.send("click", json!({"id": "save", "timeout_ms": 300}));
        client.send("describe_ui", json!({"timeout_ms": 300}));
    }
    for surface in [&one, &two] {
        Client::connect(surface.address().unwrap()).get("hello", json!({}));
    }
    for client in &mut clients {
        for _ in 0..2 {
            let reply = client.reply();
            assert_eq!(reason(&reply), "app_busy");
            assert_eq!(reply["error"]["data"]["entered"], false, "{reply}");
        }
    }
    for (_, go_on) in &blocks {
        go_on.send(()).unwrap();
    }
    // It comes to itself, serves again, and what was given up stays undone.
    for client in &mut clients {
        client.get("describe_ui", json!({"timeout_ms": 30_000}));
    }
    assert_eq!(clicks(&headless_clicks), 0);
    assert_eq!(egui.look(|app| app.clicks), 0);
}

/// This test's own program as a process of its own, playing `role`.
pub(crate) fn process(role: &str, argument: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "app::a_process_of_its_own", "--ignored"])
        .args(["--nocapture", "--test-threads", "1"])
        .env(ROLE, role)
        .env("ARGUMENT", argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// The rest of the line in which a process says `what`.
pub(crate) fn told(child: &mut Child, what: &str) -> String {
    let stdout = child.stdout.as_mut().unwrap();
    let mut lines = BufReader::new(stdout).lines();
    lines
        .find_map(|line| Some(line.unwrap().split_once(what)?.1.to_owned()))
        .unwrap_or_else(|| panic!("it never said {what:?}"))
}

const ROLE: &str = "THE_ROLE_THAT_THIS_PROCESS_PLAYS";

#[test]
#[ignore = "plays a role in a process of its own, for other tests"]
fn a_process_of_its_own() {
    let argument = PathBuf::from(std::env::var_os("ARGUMENT").unwrap_or_default());
    match std::env::var(ROLE).as_deref() {
        Ok("agent") => pass_on(&argument),
        Ok("client") => crate::killed::client(&argument),
        Ok("inspector") => crate::hostile_inspector::inspector(&argument),
        Ok("app") => {
            let (app, _) = counting();
            let mut builder = Surface::builder("org.example.env").headless(&app);
            if argument.as_os_str() == "open" {
                builder = builder.gate(allow());
            }
            let surface = builder.serve().unwrap();
            println!("served at {}", surface.address().unwrap().display());
            std::io::stdin().lines().for_each(drop);
            drop(surface);
            println!("gone from there");
        }
        // Run by hand, or with all the others.
        _ => {}
    }
}

#[test]
fn nothing_in_the_environment_switches_anything_on() {
    for (door, expected) in [("shut", "consent_denied"), ("open", "not_armed")] {
        let runtime = folder();
        let mut command = process("app", Path::new(door));
        command.env("XDG_RUNTIME_DIR", runtime.path());
        for name in [
            "AGENT_SURFACE",
            "AGENT_MCP",
            "AGENT",
            "AGENT_EGUI",
            "MCP",
            "ACCESSKIT",
        ] {
            for end in [
                "",
                "_FULL",
                "_ARM",
                "_ARM_FULL",
                "_ALLOW",
                "_GATE",
                "_DEBUG",
                "_INSECURE",
            ] {
                command.env(format!("{name}{end}"), "1");
            }
        }
        let mut app = command.spawn().unwrap();
        let address = PathBuf::from(told(&mut app, "served at "));
        let place = address.parent().unwrap().to_owned();
        assert!(place.starts_with(runtime.path()));
        assert_eq!(
            place.read_dir().unwrap().count(),
            2,
            "a socket and a description"
        );
        let mut client = Client::connect(&address);
        let full = client.ask("describe_ui", json!({"mode": "full"}));
        assert_eq!(reason(&full), expected, "{full}");
        drop(app.stdin.take());
        told(&mut app, "gone from there");
        assert_eq!(place.read_dir().unwrap().count(), 0);
        assert!(app.wait().unwrap().success());
    }
}
