//! "Why can't the agent see this button?", asked by an MCP client that drives the inspector's own
//! window, of which it knows what any agent is told of any app.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use std::{path::Path, thread::JoinHandle};

use agent_inspector::{Inspector, Watch, Which};
use agent_surface::{
    Surface, Tag,
    headless::{Headless, Tree, Widget},
};
use agent_test_support::{Client, TempDir, allow, eventually, folder};
use egui::{Context, ViewportCommand, ViewportId, vec2};
use serde_json::{Value, json};

/// An app that forgot a tag.
fn orders(tree: &mut Tree) {
    tree.open_window(Widget::window("Orders").tag("main").children([
        Widget::text_field("Customer").tag("customer"),
        Widget::text_field("Password").tag(Tag::id("password").secret()),
        Widget::button("Save").tag("save"),
        Widget::button("Export"),
        Widget::button("Print").tag("print").visible(false),
    ]));
}

struct App {
    surface: Option<Surface>,
    _app: Headless,
}

impl App {
    fn start(folder: &TempDir) -> Self {
        let app = Headless::start("orders", orders);
        let surface = Surface::builder("orders")
            .gate(allow())
            .headless(&app)
            .arm_inspector()
            .at(folder.path().join("orders.sock"))
            .serve()
            .unwrap();
        Self {
            surface: Some(surface),
            _app: app,
        }
    }
}

/// The inspector, drawn nowhere, on a thread of its own.
struct Window {
    ctx: Context,
    thread: Option<JoinHandle<()>>,
    _surface: Surface,
}

impl Window {
    fn open(at: &Path, folder: &TempDir) -> Self {
        let ctx = Context::default();
        let wake = ctx.clone();
        let watch = Watch::start(Which::At(at.to_owned()), move || wake.request_repaint());
        let mut inspector = Inspector::new(watch.unwrap());
        let surface = Surface::builder("agent-inspector")
            .gate(allow())
            .egui(&ctx)
            .at(folder.path().join("inspector.sock"))
            .serve()
            .unwrap();
        let of_thread = ctx.clone();
        let thread = std::thread::spawn(move || {
            let size = vec2(1_200.0, 800.0);
            agent_surface::egui::run_windowless(&of_thread, "Inspector", size, |ui| {
                inspector.ui(ui);
            });
        });
        Self {
            ctx,
            thread: Some(thread),
            _surface: surface,
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let close = ViewportCommand::Close;
        self.ctx.send_viewport_cmd_to(ViewportId::ROOT, close);
        self.ctx.request_repaint();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// A model, as it speaks: tools by name, text back.
struct Mcp(Client);

impl Mcp {
    fn connect(at: &Path) -> Self {
        let mut client = Client::connect(at);
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "why", "version": "1"},
        });
        client.get("initialize", hello);
        client.notify("notifications/initialized", json!({}));
        Self(client)
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.0.get("tools/call", params)
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Searches for this, selects the row that shows it, and reads the answer.
    fn why(&mut self, name: &str) -> (String, String) {
        let ui = self.text("describe_ui", json!({"include": ["value"]}));
        let version = version(&ui, "[search]");
        let edit = json!({"id": "search", "value": name, "base_version": version});
        self.text("set_text", edit);
        let mut row = None;
        eventually("a row", || {
            let ui = self.text("describe_ui", json!({"root": "tree"}));
            let mut lines = ui.lines().filter(|line| line.contains("tree/"));
            row = lines.find(|line| line.contains(name)).map(id);
            row.is_some()
        });
        self.text("click", json!({"id": row.unwrap()}));
        let mut answer = String::new();
        eventually("an answer", || {
            let selected = self.text("get_text", json!({"id": "selected"}));
            let result = self.call("get_text", json!({"id": "answer"}));
            answer = result["content"][0]["text"].as_str().unwrap().to_owned();
            selected.contains(name) && answer.contains("agents")
        });
        (answer, self.text("describe_ui", json!({"root": "verbs"})))
    }
}

/// The id in a line of an outline.
fn id(line: &str) -> String {
    let from = line.find("[tree/").unwrap() + 1;
    let to = line[from..].find(']').unwrap();
    line[from..from + to].to_owned()
}

/// The version of a field in an outline.
fn version(outline: &str, id: &str) -> u64 {
    let line = outline.lines().find(|line| line.contains(id)).unwrap();
    let words = line.split_whitespace();
    let mut versions = words.filter_map(|word| word.strip_prefix('v')?.parse().ok());
    versions.next_back().unwrap()
}

#[test]
fn an_agent_finds_out_why_agents_cant_see_a_button() {
    let folder = folder();
    let app = App::start(&folder);
    let surface = app.surface.as_ref().unwrap();
    let window = Window::open(surface.address().unwrap(), &folder);
    let mut agent = Mcp::connect(&folder.path().join("inspector.sock"));
    eventually("the app's tree", || {
        let ui = agent.text("describe_ui", json!({}));
        ui.contains("Export")
    });

    let (why, verbs) = agent.why("Export");
    assert!(
        why.contains("it has no tag; give it one with an id"),
        "{why}"
    );
    assert!(verbs.contains("click: not_found"), "{verbs}");
    let (why, verbs) = agent.why("Save");
    assert!(why.contains("agents are shown it"), "{why}");
    assert!(verbs.contains("click: allowed"), "{verbs}");
    let (why, _) = agent.why("Print");
    assert!(why.contains("it is hidden"), "{why}");
    drop(window);
}

#[test]
fn the_selection_is_kept_when_the_app_is_started_again() {
    let folder = folder();
    let mut app = App::start(&folder);
    let at = app.surface.as_ref().unwrap().address().unwrap().to_owned();
    let window = Window::open(&at, &folder);
    let mut agent = Mcp::connect(&folder.path().join("inspector.sock"));
    eventually("the app's tree", || {
        agent.text("describe_ui", json!({})).contains("Export")
    });
    agent.why("Save");
    drop(app.surface.take());
    eventually("it is gone", || {
        agent
            .text("get_text", json!({"id": "status"}))
            .contains("looking again")
    });
    drop(app);
    let _app = App::start(&folder);
    eventually("it is back, with what was selected", || {
        let status = agent.text("get_text", json!({"id": "status"}));
        let selected = agent.text("get_text", json!({"id": "selected"}));
        status.contains("nodes") && selected.contains("Save")
    });
    drop(window);
}
