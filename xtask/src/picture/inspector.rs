//! The inspector's window on the egui recipe and on the AppKit one, for its page: what is asked
//! there, and what it looks at, is done through its own surface.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{Agent, Window};
use crate::appkit;

/// Where it is kept, of the egui recipe.
const EGUI: &str = "docs/inspector.png";

/// And of the AppKit one.
const APPKIT: &str = "docs/inspector-appkit.png";

/// How either is started.
const ARGUMENTS: &[&str] = &["--serve", "--inspect"];

/// A caption that no agent sees, because it has no tag.
const NODE: &str = "Internal: margin 12 %";

/// Its first frame, drawn in software, takes most of it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn take(root: &Path) -> Result<(), String> {
    let egui = Window::open(root, "recipes/egui_agent", ARGUMENTS, None)?;
    of(root, egui, EGUI)?;
    // On GNUstep, where that is installed.
    match appkit::program(root, "appkit_agent")? {
        Some(program) => of(root, Window::start(&program, ARGUMENTS, None)?, APPKIT),
        None => Ok(()),
    }
}

/// The inspector's window on this app, each on a display of its own: nothing moves windows that
/// lie over one another.
fn of(root: &Path, app: Window, picture: &str) -> Result<(), String> {
    let runtime = app.runtime.clone();
    let (_app, address) = app.after("Serving at ")?;
    let arguments = ["org.example.orders", "--let-agents-in"];
    let shown = Window::open(root, "apps/inspector", &arguments, Some(runtime))?;
    let (shown, at) = shown.after("Serving at ")?;
    let mut window = Agent::connect(&at)?;

    let row = wait_for(&mut window, NODE)?;
    // So that there is something to hear of.
    let mut agent = Agent::connect(&address)?;
    agent.ask("hello", json!({"name": "an agent"}))?;
    agent.ask("click", json!({"id": "save-btn"}))?;
    agent.ask("click", json!({"id": "nothing-here"}))?;
    window.ask("click", json!({"id": row}))?;
    window.ask(
        "wait_for",
        json!({"id": "answer", "until": "text_contains", "value": "agents"}),
    )?;
    window.ask("click", json!({"id": "take-picture"}))?;
    window.ask(
        "wait_for",
        json!({"id": "picture", "until": "state", "value": "relayed", "timeout_ms": 30_000}),
    )?;
    shown.take("1280x800", &root.join(picture))?;
    println!("wrote {picture}");
    Ok(())
}

/// The row of the inspector's tree that shows this.
fn wait_for(window: &mut Agent, name: &str) -> Result<String, String> {
    let begun = Instant::now();
    loop {
        let ui = json!({"timeout_ms": 20_000});
        let described = window.ask("describe_ui", ui)?;
        let nodes = described["nodes"].as_array().into_iter().flatten();
        let mut rows = nodes.filter_map(|node| {
            let id = node["id"].as_str()?;
            let shows = node["name"].as_str()?.contains(name);
            (id.starts_with("tree/") && shows).then(|| id.to_owned())
        });
        if let Some(row) = rows.next() {
            return Ok(row);
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("the inspector shows no {name:?}"));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
