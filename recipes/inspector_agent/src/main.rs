//! `cargo run -p inspector_agent`: "why can't the agent see this button?", answered to an agent
//! that operates the inspector's window, as it would any app's, through `agent-surface mcp`.
//!
//! Four processes: an app, the inspector, the bridge, and this one, which plays the agent. The
//! first two have windows where there is a display, and none where there is none.

mod app;
mod bridge;

use std::{
    env,
    error::Error,
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::DirBuilderExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use agent_inspector::{Inspector, Watch, Which};
use agent_surface::{AuthGate, Decision, Surface, egui::run_windowless};
use bridge::Bridge;
use eframe::egui::{Context, Ui, ViewportBuilder, vec2};
use serde_json::json;

const APP: &str = "org.example.orders";
const INSPECTOR: &str = "agent-inspector";

/// What stands in the first lines of an answer is waited for so long: the first frames are drawn
/// in software.
const PATIENCE: Duration = Duration::from_secs(60);

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    match env::args().nth(1).as_deref() {
        None => converse(),
        Some("--app") => window("Orders", [420.0, 360.0], |ctx| {
            let surface = Surface::builder(APP)
                .name("Orders")
                .gate(everybody())
                .egui(ctx)
                .arm_inspector()
                .serve()?;
            Ok((surface, Box::new(app::ui)))
        }),
        Some("--inspector") => window("Inspector", [1_280.0, 800.0], |ctx| {
            let wake = ctx.clone();
            let app = Which::Called(Some(APP.to_owned()));
            let watch = Watch::start(app, move || wake.request_repaint())?;
            let mut inspector = Inspector::new(watch);
            let surface = agent_inspector::serve(ctx, everybody())?;
            Ok((surface, Box::new(move |ui| inspector.ui(ui))))
        }),
        Some(odd) => Err(format!("{odd}: no such option; there are --app and --inspector").into()),
    }
}

/// The agent's side.
fn converse() -> Result<()> {
    let place = Place::make()?;
    let _app = Part::start("--app", &place)?;
    let _inspector = Part::start("--inspector", &place)?;

    println!("== An agent looks at the app: it sees one button of three ==");
    Bridge::to(APP, &place.0)?.show("describe_ui", json!({}))?;

    let mut agent = Bridge::to(INSPECTOR, &place.0)?;
    for name in ["Export", "Delete", "Save"] {
        println!("\n== Why can't the agent see {name:?}? ==");
        ask(&mut agent, name)?;
    }
    Ok(())
}

/// Searches for it, selects what was found, and reads the answer.
fn ask(agent: &mut Bridge, name: &str) -> Result<()> {
    let field = agent.call(
        "describe_ui",
        json!({"root": "search", "include": ["value"]}),
    )?;
    let version = field
        .split_whitespace()
        .find_map(|word| word.strip_prefix('v')?.parse::<u64>().ok());
    let version = version.ok_or("the search has no version")?;
    let search = json!({"id": "search", "value": name, "base_version": version});
    agent.show("set_text", search)?;

    let begun = Instant::now();
    let row = loop {
        let rows = agent.call("describe_ui", json!({"root": "tree"}))?;
        if let Some(row) = rows.lines().find(|line| line.contains(name)) {
            break row.trim().to_owned();
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("the inspector shows no {name:?}: {rows}").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    println!("   {row}");
    let id = row.split(['[', ']']).find(|part| part.starts_with("tree/"));
    agent.show("click", json!({"id": id.ok_or("the row has no id")?}))?;

    // What is selected, and then what is told of it.
    for (id, words) in [("selected", name), ("answer", "agents")] {
        let wait = json!({
            "id": id, "until": "text_contains", "value": words, "timeout_ms": 30_000,
        });
        agent.call("wait_for", wait)?;
    }
    agent.show("get_text", json!({"id": "answer"}))?;
    agent.show("describe_ui", json!({"root": "verbs/click"}))?;
    Ok(())
}

/// A gate that lets everybody of the user's in: an app of yours asks its user, by
/// `agent_surface::consent`.
fn everybody() -> AuthGate {
    AuthGate::serve(|_| Decision::Allow)
}

type Draw = Box<dyn FnMut(&mut Ui)>;

/// What is drawn, and its surface as long as the window is open.
struct Window {
    draw: Draw,
    _surface: Surface,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        (self.draw)(ui);
    }
}

/// Opens a window and serves it, until it is closed.
fn window(
    title: &'static str,
    size: [f32; 2],
    open: impl FnOnce(&Context) -> Result<(Surface, Draw)> + 'static,
) -> Result<()> {
    let open = |ctx: &Context| -> Result<(Surface, Draw)> {
        let opened = open(ctx)?;
        println!("open");
        Ok(opened)
    };
    let display = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if !display("DISPLAY") && !display("WAYLAND_DISPLAY") {
        let ctx = Context::default();
        let (_surface, draw) = open(&ctx)?;
        run_windowless(&ctx, title, vec2(size[0], size[1]), draw);
        return Ok(());
    }
    let native = eframe::NativeOptions {
        viewport: ViewportBuilder::default().with_inner_size(size),
        ..Default::default()
    };
    let create: eframe::AppCreator<'_> = Box::new(|cc| {
        let (surface, draw) = open(&cc.egui_ctx)?;
        Ok(Box::new(Window {
            draw,
            _surface: surface,
        }))
    });
    eframe::run_native(title, native, create).map_err(|why| why.to_string().into())
}

/// This program in another part.
struct Part(Child);

impl Part {
    /// Starts it, and waits until it can be found.
    fn start(part: &str, place: &Place) -> Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .arg(part)
            .env("XDG_RUNTIME_DIR", &place.0)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take();
        let started = Self(process);
        let mut line = String::new();
        BufReader::new(output.ok_or("no output")?).read_line(&mut line)?;
        match line.trim() {
            "open" => Ok(started),
            _ => Err(format!("{part} ended before it was open").into()),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder of our own for the sockets, so that other apps of the person's are left alone.
struct Place(PathBuf);

impl Place {
    fn make() -> Result<Self> {
        let place = env::temp_dir().join(format!("inspector_agent-{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&place)?;
        Ok(Self(place))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Left behind, it does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
