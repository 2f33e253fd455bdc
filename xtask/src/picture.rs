//! `picture`: windows for the documents: the egui recipe's, with what an agent sees outlined, two
//! in which the user is asked, about an action and about an agent, and the developer's view of the
//! first and of the AppKit recipe.

mod agent;
mod assistant;
mod inspector;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};

use self::agent::Agent;
use crate::{
    Options, debian, program,
    recipes::{self, RuntimeFolder},
    workspace,
    xvfb::Xvfb,
};

/// Where the egui recipe's window is kept.
const SEEN: &str = "docs/egui_agent.png";

/// Where the window is kept in which the user is asked about an action.
const ASKED: &str = "docs/inapp_agent.png";

/// Where the one is kept in which the user is asked about an agent.
const CONSENT: &str = "docs/consent.png";

/// Taking the picture and drawing on it, which ImageMagick does.
const DRAWING: Duration = Duration::from_secs(60);

/// A frame is answered before it is on the screen, and X tells nobody when it is. Until then also
/// what fades has faded.
const DRAWN: Duration = Duration::from_secs(4);

pub(crate) fn run(_: &Options) -> Result<(), String> {
    debian::can_open_windows()?;
    for tool in ["import", "convert"] {
        if !program::is_installed(tool) {
            return Err(format!(
                "no {tool} here; as root: apt-get install imagemagick"
            ));
        }
    }
    let root = workspace::root()?;
    what_an_agent_sees(&root)?;
    what_the_user_is_asked(&root)?;
    whom_the_user_is_asked_about(&root)?;
    inspector::take(&root)
}

fn what_an_agent_sees(root: &Path) -> Result<(), String> {
    let window = Window::open(root, "recipes/egui_agent", &["--serve"], None)?;
    let (window, address) = window.after("Serving at ")?;
    let frames = frames(&address)?;
    let picture = root.join(SEEN);
    window.take("420x360", &picture)?;
    let mut convert = Command::new("convert");
    convert
        .arg(&picture)
        .args(["-fill", "none", "-stroke", "orange"]);
    for (_, [x, y, width, height]) in &frames {
        let (right, bottom) = (x + width, y + height);
        convert
            .arg("-draw")
            .arg(format!("rectangle {x},{y} {right},{bottom}"));
    }
    convert.args(["-stroke", "none", "-fill", "orange", "-pointsize", "10"]);
    for (id, [x, y, width, _]) in &frames {
        // On the frame's upper edge, at its right.
        let left = x + width - 6.0 * id.len() as f64;
        convert
            .arg("-annotate")
            .arg(format!("+{}+{}", left.max(*x), y - 1.0))
            .arg(id);
    }
    convert.arg(&picture);
    run_quietly(&mut convert)?;
    println!("wrote {SEEN}: {} nodes outlined", frames.len());
    Ok(())
}

fn what_the_user_is_asked(root: &Path) -> Result<(), String> {
    let window = Window::open(root, "recipes/inapp_agent", &["--stay"], None)?;
    // Its last goal needs the user's yes.
    let (window, _) = window.after("<- needs_confirmation")?;
    window.take("640x400", &root.join(ASKED))?;
    println!("wrote {ASKED}");
    Ok(())
}

fn whom_the_user_is_asked_about(root: &Path) -> Result<(), String> {
    let bridge = recipes::build(root, &root.join("apps/agent-surface"))?;
    let window = Window::open(root, "recipes/inapp_agent", &["--serve"], None)?;
    let (window, _) = window.after("Serving at ")?;
    let _asks = assistant::start(&bridge, &window.runtime)
        .map_err(|error| format!("the assistant could not be started: {error}"))?;
    window.take("640x400", &root.join(CONSENT))?;
    println!("wrote {CONSENT}");
    Ok(())
}

/// A program in a window of its own, on a screen of its own.
struct Window {
    app: App,
    xvfb: Xvfb,
    runtime: Arc<RuntimeFolder>,
}

impl Window {
    /// `runtime`: the folder that it shares with another; one of its own, if `None`.
    fn open(
        root: &Path,
        folder: &str,
        arguments: &[&str],
        runtime: Option<Arc<RuntimeFolder>>,
    ) -> Result<Self, String> {
        Self::start(
            &recipes::build(root, &root.join(folder))?,
            arguments,
            runtime,
        )
    }

    /// The same, of a program that is built already.
    fn start(
        program: &Path,
        arguments: &[&str],
        runtime: Option<Arc<RuntimeFolder>>,
    ) -> Result<Self, String> {
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => Arc::new(RuntimeFolder::make()?),
        };
        let xvfb = Xvfb::start()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("XDG_RUNTIME_DIR", &runtime.0)
            .env("XDG_STATE_HOME", runtime.0.join("state"))
            .stdout(Stdio::piped());
        xvfb.show(&mut command);
        let app = App(command.spawn().map_err(|error| error.to_string())?);
        Ok(Self { app, xvfb, runtime })
    }

    /// Waits until it says this, and answers the rest of the line.
    fn after(mut self, wanted: &str) -> Result<(Self, String), String> {
        let stdout = self
            .app
            .0
            .stdout
            .take()
            .ok_or("the program has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let found = lines.by_ref().find_map(|line| {
            let rest = line.as_deref().ok()?.strip_prefix(wanted)?.to_owned();
            Some(rest)
        });
        // Read on, so that it can go on speaking.
        std::thread::spawn(move || lines.for_each(drop));
        let found = found.ok_or_else(|| format!("the program ended without saying {wanted:?}"))?;
        Ok((self, found))
    }

    /// Takes a picture of its window, which is the only one, without a manager that would move
    /// it: its points are those of the screen.
    fn take(&self, size: &str, picture: &Path) -> Result<(), String> {
        std::thread::sleep(DRAWN);
        let mut import = Command::new("import");
        import
            .args(["-window", "root", "-crop", &format!("{size}+0+0")])
            .arg("+repage")
            .arg(picture);
        self.xvfb.show(&mut import);
        run_quietly(&mut import)
    }
}

/// The program, kept up until this is dropped.
struct App(Child);

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What an agent sees: exposed nodes, each with its id and its frame in window points.
fn frames(address: &str) -> Result<Vec<(String, [f64; 4])>, String> {
    let all = json!({"include": ["frame"], "timeout_ms": 20_000});
    let described = Agent::connect(address)?.ask("describe_ui", all)?;
    let nodes = described["nodes"].as_array();
    let nodes = nodes.ok_or_else(|| format!("no description: {described}"))?;
    let framed = nodes.iter().filter_map(|node| {
        let frame: Vec<f64> = node["frame"]
            .as_array()?
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        Some((node["id"].as_str()?.to_owned(), frame.try_into().ok()?))
    });
    Ok(framed.collect())
}

fn run_quietly(command: &mut Command) -> Result<(), String> {
    let said = program::capture(command, DRAWING)?;
    if said.status.success() {
        Ok(())
    } else {
        Err(format!(
            "{:?} failed: {}",
            command.get_program(),
            said.stderr
        ))
    }
}
