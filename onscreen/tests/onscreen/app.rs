//! The app, in a window, in a process of its own.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

use agent_test_support::{Client, TempDir, eventually, folder};
use serde_json::{Value, json};

use crate::screen::{Place, Screen, display};

const TITLE: &str = "Onscreen";

pub(crate) const ID: &str = "org.example.onscreen";

/// A program that was started, ended with the test.
pub(crate) struct Program {
    pub(crate) child: Child,
    lines: Option<BufReader<ChildStdout>>,
}

impl Program {
    /// Starts it, with its standard output and input in hand.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = child.stdout.take().map(BufReader::new);
        Self { child, lines }
    }

    /// Waits until it says this, and answers the rest of the line.
    pub(crate) fn says(&mut self, wanted: &str) -> String {
        let lines = self.lines.as_mut().unwrap();
        let mut line = String::new();
        loop {
            line.clear();
            let read = lines.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended without saying {wanted:?}");
            if let Some(rest) = line.strip_prefix(wanted) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Says a word to it.
    pub(crate) fn tell(&mut self) {
        let mut stdin = self.child.stdin.as_ref().unwrap();
        stdin.write_all(b"go on\n").unwrap();
    }

    /// Ends it at once, without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Folders of their own for what programs remember, and the display of these tests.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>, runtime: &TempDir) -> Command {
    let mut command = Command::new(program);
    command
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .env("DISPLAY", display())
        .env("XDG_RUNTIME_DIR", runtime.path())
        .env("XDG_STATE_HOME", runtime.path().join("state"));
    command
}

/// The program of this crate.
pub(crate) fn own() -> &'static str {
    env!("CARGO_BIN_EXE_onscreen_app")
}

/// Starts an app of this id, drawn so many times larger, and answers where it serves.
pub(crate) fn start(
    id: &str,
    scale: f64,
    options: &[&str],
    runtime: &TempDir,
) -> (Program, PathBuf) {
    let mut app = command(own(), runtime);
    app.arg(id)
        .args(options)
        .env("WINIT_X11_SCALE_FACTOR", scale.to_string());
    let mut app = Program::start(&mut app);
    let address = app.says("Serving at ").into();
    (app, address)
}

/// The app, and its window on the screen.
pub(crate) struct App {
    pub(crate) program: Program,
    pub(crate) address: PathBuf,
    pub(crate) screen: Screen,
    pub(crate) place: Place,
    pub(crate) scale: f64,
    _runtime: TempDir,
}

impl App {
    pub(crate) fn open(scale: f64) -> Self {
        Self::with(scale, &[])
    }

    pub(crate) fn with(scale: f64, options: &[&str]) -> Self {
        let screen = Screen::open();
        let runtime = folder();
        let (program, address) = start(ID, scale, options, &runtime);
        let place = screen.window(TITLE);
        let expected = [400.0 * scale, 330.0 * scale];
        let size = [f64::from(place.width), f64::from(place.height)];
        assert_eq!(size, expected, "no window manager makes it smaller");
        Self {
            program,
            address,
            screen,
            place,
            scale,
            _runtime: runtime,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.address)
    }

    /// Moves the pointer to this place in a node's frame, from 0 to 1 in both directions.
    pub(crate) fn point_at(&self, node: &Value, (x, y): (f64, f64)) {
        let [left, top, width, height] = self.pixels(node);
        self.screen.point((
            self.place.x + left + width * x,
            self.place.y + top + height * y,
        ));
    }

    /// A node's frame, in pixels of the window.
    pub(crate) fn pixels(&self, node: &Value) -> [f64; 4] {
        let frame = node["frame"].as_array().unwrap();
        [0, 1, 2, 3].map(|at| frame[at].as_f64().unwrap() * self.scale)
    }

    /// Waits until the app says so of what was clicked.
    pub(crate) fn counted(&self, agent: &mut Client, expected: &str) {
        let mut said = Value::Null;
        eventually(&format!("{expected:?}"), || {
            said = agent.get("get_text", json!({"id": "status", "timeout_ms": 30_000}));
            said["text"].as_str().unwrap().contains(expected)
        });
    }
}

/// An agent's click, which is performed.
pub(crate) fn click(agent: &mut Client, id: &str) {
    let done = agent.get("click", json!({"id": id, "timeout_ms": 30_000}));
    assert_eq!(done["outcome"], "allowed", "{done}");
}

/// Everything that an inspector is shown.
pub(crate) fn tree(inspector: &mut Client) -> Vec<Value> {
    let tree = inspector.get("inspector.tree", json!({"timeout_ms": 30_000}));
    tree["nodes"].as_array().unwrap().clone()
}

/// The node of this name; `None`: there is none.
pub(crate) fn named(nodes: &[Value], name: &str) -> Option<Value> {
    nodes.iter().find(|node| node["name"] == name).cloned()
}

/// Ends what goes on beside a test with it, however that ends: threads of a scope are waited for.
pub(crate) struct Over<'a>(pub(crate) &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
