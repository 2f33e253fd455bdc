//! What a model pays in `egui_mcp`, in one window with us: only where `cargo xtask tokens` has built
//! it and gives it a display.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Host, Place};

/// Where the program is, of `bench/peers/egui_mcp`.
const PEER: &str = "AGENT_SURFACE_PEER";

pub(crate) struct Peer {
    pub(crate) version: String,
    pub(crate) tools: usize,
    pub(crate) instructions: usize,
    /// One for each number of others.
    pub(crate) thirty: Vec<Thirty>,
    pub(crate) click: usize,
}

/// What the thirty cost among some others.
pub(crate) struct Thirty {
    /// For us, in this window.
    pub(crate) ours: usize,
    /// By asking for the buttons, then for the fields.
    pub(crate) filtered: usize,
    /// By asking for what there is.
    pub(crate) unfiltered: usize,
}

/// `None`: there is none here.
pub(crate) fn count(others: &[usize], tokens: impl Fn(&str) -> usize) -> Option<Peer> {
    let program = PathBuf::from(std::env::var_os(PEER)?);
    let mut peer = Peer {
        version: String::new(),
        tools: 0,
        instructions: 0,
        thirty: Vec::new(),
        click: 0,
    };
    for others in others {
        let place = Place::new();
        let window = Window::open(&place, &program, *others);
        // Its first frame takes long on a slow machine.
        let patient = json!({"timeout_ms": 30_000});
        let (error, ours) = place.host(&[]).call("describe_ui", patient);
        assert!(!error && ours.lines().count() == 32, "{ours}");

        let mut host = Host::start(Command::new(&program).arg("server"));
        let about = host.initialize("tester");
        let tools = host.ask("tools/list", json!({}))["result"]["tools"].to_string();
        call(&mut host, "attach", json!({"port": window.port}));
        let unfiltered = call(&mut host, "widget_tree", json!({}));
        let buttons = call(&mut host, "widget_tree", json!({"role": "Button"}));
        let fields = call(&mut host, "widget_tree", json!({"role": "TextInput"}));
        assert_eq!(widgets(&unfiltered, "Button").len(), 20, "{unfiltered}");
        assert_eq!(widgets(&fields, "TextInput").len(), 10, "{fields}");
        let button = widgets(&buttons, "Button")[9]["id"].clone();
        let click = call(&mut host, "click", json!({"id": button}));

        peer.version = about["serverInfo"]["version"].as_str().unwrap().to_owned();
        peer.instructions = tokens(about["instructions"].as_str().unwrap());
        peer.tools = tokens(&tools);
        peer.click = tokens(&click);
        peer.thirty.push(Thirty {
            ours: tokens(&ours),
            filtered: tokens(&buttons) + tokens(&fields),
            unfiltered: tokens(&unfiltered),
        });
    }
    Some(peer)
}

fn call(host: &mut Host, tool: &str, arguments: Value) -> String {
    let (error, text) = host.call(tool, arguments);
    assert!(!error, "{tool}: {text}");
    text
}

/// The widgets of this role in an answer of the peer's, at whatever depth.
fn widgets(answer: &str, role: &str) -> Vec<Value> {
    fn look(at: &Value, role: &str, found: &mut Vec<Value>) {
        if at["role"] == role {
            found.push(at.clone());
        }
        match at {
            Value::Array(all) => all.iter().for_each(|it| look(it, role, found)),
            Value::Object(all) => all.values().for_each(|it| look(it, role, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    look(&serde_json::from_str(answer).unwrap(), role, &mut found);
    found
}

/// The window that both look at, in a process of its own. Killed when dropped.
struct Window {
    process: Child,
    port: u16,
}

impl Window {
    fn open(place: &Place, program: &Path, others: usize) -> Self {
        // The peer takes a number, so one is taken that was free a moment ago.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut process = Command::new(program)
            .args(["window", &others.to_string()])
            .env("XDG_RUNTIME_DIR", place.path())
            .env("EGUI_INSPECTION", format!("127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let window = Self { process, port };
        assert_eq!(line, "serving\n");
        window
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
