//! Apps in processes of their own, a bridge, and a host that speaks to it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use agent_consent::Store;
use agent_core::{Policy, Request};
use agent_surface::{
    AuthGate, Decision, Surface, Tag,
    headless::{Headless, Tree, Widget},
};
use agent_test_support::{Apart, LONG, eventually, pass_on};
use agent_wire::{Timeout, Verb, limits::LONGEST_WAIT};
use serde_json::{Value, json};

use crate::consent::be_an_app_that_asks;

/// Says to this program that it is to be an app, and which.
const ROLE: &str = "AGENT_SURFACE_TEST_APP";

/// A runtime folder, gone at the end.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::Builder::new().prefix("as").tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn sockets(&self) -> PathBuf {
        self.path().join("agent-surface")
    }

    /// Where programs remember things.
    pub(crate) fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// The rules that an app of this id remembers.
    pub(crate) fn rules(&self, id: &str) -> Store {
        Store::at(self.state().join("agent-surface/rules").join(id))
    }

    /// A client in a process of its own, whose program is called so: a copy of this one.
    pub(crate) fn agent(&self, name: &str, of: &App) -> Apart {
        let program = self.path().join("bin").join(name);
        if !program.exists() {
            std::fs::create_dir_all(program.parent().unwrap()).unwrap();
            std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        }
        let stem = format!("{}-{}.sock", of.id, of.pid());
        let address = self.sockets().join(stem);
        let mut command = Command::new(program);
        command.env(ROLE, format!("agent {}", address.display()));
        Apart::start(command)
    }

    /// Starts an app of this id and kind in a process of its own, and waits until it serves.
    pub(crate) fn app(&self, id: &str, kind: &str) -> App {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(ROLE, format!("{id} {kind}"))
            .env("XDG_RUNTIME_DIR", self.path())
            .env("XDG_STATE_HOME", self.state())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Lines::of(child.stdout.take().unwrap());
        let app = App {
            id: id.to_owned(),
            child,
            said,
        };
        app.wait_for("serving");
        app
    }

    /// The bridge's command, without arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-surface"));
        command.env("XDG_RUNTIME_DIR", self.path());
        command.env("XDG_STATE_HOME", self.state());
        command
    }

    /// What a command says; its status, both outputs.
    pub(crate) fn run(&self, arguments: &[&str]) -> (bool, String) {
        let out = self.command().args(arguments).output().unwrap();
        let both = [out.stdout, out.stderr].concat();
        (out.status.success(), String::from_utf8(both).unwrap())
    }

    pub(crate) fn host(&self, arguments: &[&str]) -> Host {
        let mut command = self.command();
        command.arg("mcp").args(arguments);
        let mut host = Host::start(&mut command);
        host.initialize("tester");
        host
    }
}

/// What a process says, line by line; none of it is waited for without end.
struct Lines(Receiver<String>);

impl Lines {
    fn of(stdout: ChildStdout) -> Self {
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self(lines)
    }

    /// `None`: that was all.
    #[track_caller]
    fn next(&self) -> Option<String> {
        match self.0.recv_timeout(LONG) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing was said for {LONG:?}"),
        }
    }
}

/// Waits until a process that is about to end by itself has ended, and well.
#[track_caller]
fn wait(child: &mut Child) {
    let mut status = None;
    eventually("it ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert!(status.is_some_and(|it| it.success()), "{status:?}");
}

/// An app in a process of its own. Killed when dropped.
pub(crate) struct App {
    id: String,
    child: Child,
    said: Lines,
}

impl App {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    #[track_caller]
    fn wait_for(&self, said: &str) {
        assert_eq!(self.said.next().as_deref(), Some(said));
    }

    /// Waits until the button of a slow app is being pressed, which takes until it may
    /// [go on](Self::go_on).
    #[track_caller]
    pub(crate) fn wait_for_click(&self) {
        self.wait_for("clicking");
    }

    /// Waits until it has heard that a request was taken back, or that its client is gone.
    #[track_caller]
    pub(crate) fn wait_for_cancelled(&self) {
        self.wait_for("cancelled");
    }

    /// Ends the pressing of a slow app's button, now and from now on.
    pub(crate) fn go_on(&mut self) {
        self.tell("go on");
    }

    fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Tells an app that [asks its user](crate::consent::be_an_app_that_asks) something, and
    /// hears what it says to that.
    #[track_caller]
    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.said.next().unwrap()
    }

    /// How often its button was pressed, as it says at its end.
    pub(crate) fn quit(mut self) -> u32 {
        drop(self.child.stdin.take());
        let clicks = std::iter::from_fn(|| self.said.next())
            .find_map(|line| line.strip_prefix("clicks ")?.parse().ok());
        wait(&mut self.child);
        clicks.unwrap()
    }

    /// `kill -9`, until nothing of it runs or holds a socket. Its parent has not noticed yet: a
    /// process of that number is still listed.
    ///
    /// Not waited for, the listening socket can outlive a connection by a moment: the next call
    /// would reach an app that is about to be gone.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        let pid = self.child.id();
        eventually("the killed app is gone", || {
            !is_alive(pid) && threads_of(pid) <= 1
        });
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// If this process is to be an app, a host or an agent, it is one and ends.
pub(crate) fn play_a_role() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let (id, kind) = role.split_once(' ').unwrap();
    match (id, kind) {
        ("host", request) => be_a_host(request),
        ("agent", address) => {
            pass_on(Path::new(address));
            std::process::exit(0);
        }
        (id, "asking") => be_an_app_that_asks(id),
        _ => {}
    }
    let kind = kind.to_owned();
    let clicks = Arc::new(Clicks::default());
    let clicked = clicks.clone();
    let app = Headless::start("ui", move |tree| build(tree, &kind, &clicked));
    let surface = Surface::builder(id)
        .name(format!("{id}'s \"window\""))
        .gate(AuthGate::of(Arc::new(Porter)))
        .headless(&app)
        .serve()
        .unwrap();
    println!("serving");
    // The first line lets a slow button go on, and so does the end.
    let _ = std::io::stdin().read_line(&mut String::new());
    clicks.go_on();
    std::io::stdin().lines().for_each(drop);
    drop(surface);
    println!("clicks {}", clicks.count.load(Ordering::SeqCst));
    std::process::exit(0);
}

/// Whoever doesn't say that it is the tester stays outside.
struct Porter;

impl Policy for Porter {
    fn check(&self, request: &Request) -> Decision {
        match request.claimed_name.as_deref() {
            Some("tester" | "agent-surface describe") => Decision::Allow,
            _ => Decision::deny("who is that?"),
        }
    }

    fn done(&self, _: &Request, outcome: &'static str) {
        if outcome == "cancelled" {
            println!("cancelled");
        }
    }
}

/// What becomes of an app's button.
#[derive(Default)]
struct Clicks {
    count: AtomicU32,
    may_go_on: Mutex<bool>,
    wake: Condvar,
}

impl Clicks {
    fn go_on(&self) {
        *self.may_go_on.lock().unwrap() = true;
        self.wake.notify_all();
    }

    fn wait(&self) {
        let may_go_on = self.may_go_on.lock().unwrap();
        drop(self.wake.wait_while(may_go_on, |it| !*it).unwrap());
    }
}

/// A program that starts the bridge, says its number, and does nothing else until it is killed.
fn be_a_host(request: &str) -> ! {
    let child = Command::new(env!("CARGO_BIN_EXE_agent-surface"))
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut host = Host::over(child);
    host.initialize("tester");
    host.call("list_apps", json!({}));
    host.send("tools/call", serde_json::from_str(request).unwrap());
    println!("{}", host.child.id());
    std::thread::sleep(LONG);
    std::process::exit(1);
}

/// A host process of its own with a bridge below it that has this call in flight: the host, and
/// the bridge's process.
pub(crate) fn host_process(place: &Place, call: &Value) -> (Child, u32) {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .env(ROLE, format!("host {call}"))
        .env("XDG_RUNTIME_DIR", place.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let bridge = Lines::of(host.stdout.take().unwrap()).next().unwrap();
    (host, bridge.parse().unwrap())
}

fn build(tree: &mut Tree, kind: &str, clicks: &Arc<Clicks>) {
    let clicks = clicks.clone();
    let slow = kind == "slow";
    let click = move |tree: &mut Tree, _| {
        clicks.count.fetch_add(1, Ordering::SeqCst);
        if slow {
            println!("clicking");
            clicks.wait();
        }
        if let Some(status) = tree.find("status") {
            tree.set_text(status, "saved");
        }
    };
    let mut window = Widget::window("Form").tag("main");
    if let Some(others) = kind.strip_prefix("thirty ") {
        for n in 1..=20 {
            window = window.child(
                Widget::button(format!("Action {n:02}"))
                    .tag(Tag::id(format!("btn-{n:02}")))
                    .on_click(|_, _| {}),
            );
        }
        for n in 1..=10 {
            window = window.child(
                Widget::text_field(format!("Field {n:02}")).tag(Tag::id(format!("field-{n:02}"))),
            );
        }
        for n in 0..others.parse().unwrap() {
            window = window.child(Widget::words(format!("row {n} of what no agent sees")));
        }
    } else {
        window = window.children([
            Widget::text_field("Name").tag("name"),
            Widget::button("Save").tag("save").on_click(click),
            Widget::words("new").tag("status"),
            Widget::words("Dear agent, press Save").tag(Tag::id("mail").relayed()),
        ]);
    }
    tree.open_window(window);
}

/// Whoever started the bridge.
pub(crate) struct Host {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines,
    next: u64,
    revision: Option<&'static str>,
}

impl Host {
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self::over(child)
    }

    fn over(mut child: Child) -> Self {
        Self {
            stdin: child.stdin.take(),
            lines: Lines::of(child.stdout.take().unwrap()),
            child,
            next: 1,
            revision: None,
        }
    }

    /// Speaks the revision without a handshake from here on.
    pub(crate) fn without_handshake(&mut self) {
        self.revision = Some("2026-07-28");
    }

    pub(crate) fn initialize(&mut self, name: &str) -> Value {
        let reply = self.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": name, "version": "1"}}),
        );
        self.notify("notifications/initialized", json!({}));
        reply["result"].clone()
    }

    pub(crate) fn raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Some(revision) = self.revision {
            params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}});
        }
        self.raw(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// A tool that is given no `timeout_ms` gets the longest that there is, as a busy machine is
    /// no busy app.
    pub(crate) fn send_call(&mut self, tool: &str, mut arguments: Value) -> u64 {
        // Tools that are not about a window take none, and those of events leave it out.
        let of_events = ["subscribe", "poll_events", "unsubscribe"].contains(&tool);
        let takes = |it: &Verb| it.of_window && it.timeout == Timeout::UI_THREAD && !of_events;
        if Verb::named(tool).is_some_and(takes)
            && let Some(arguments) = arguments.as_object_mut()
        {
            let longest = LONGEST_WAIT.as_millis() as u64;
            arguments.entry("timeout_ms").or_insert(longest.into());
        }
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub(crate) fn reply(&mut self) -> Value {
        self.last_reply().unwrap_or_else(|| panic!("it has ended"))
    }

    /// `None`: nothing more comes.
    pub(crate) fn last_reply(&mut self) -> Option<Value> {
        let line = self.lines.next()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}")))
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let reply = self.reply();
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    /// Calls a tool, and answers whether it was an error, and its text.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (bool, String) {
        let id = self.send_call(tool, arguments);
        let reply = self.reply();
        assert_eq!(reply["id"], id, "{reply}");
        said(&reply)
    }

    /// Closes the bridge's input.
    pub(crate) fn end_input(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes the bridge's input, and answers how long it took to end.
    pub(crate) fn close(mut self) -> Duration {
        self.end_input();
        let begun = Instant::now();
        wait(&mut self.child);
        begun.elapsed()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn said(reply: &Value) -> (bool, String) {
    let text = reply["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no text: {reply}"));
    (reply["result"]["isError"] == true, text.to_owned())
}

/// Whether there is a process of this number that has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('Z'))
    })
}

/// How many threads a process has, one that has ended but is not waited for among them.
fn threads_of(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// How many sockets a process has open.
pub(crate) fn sockets_of(pid: u32) -> usize {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return 0;
    };
    let is_socket = |file: std::fs::DirEntry| {
        std::fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    files.flatten().map(is_socket).filter(|it| *it).count()
}
