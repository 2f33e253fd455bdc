//! `clients`: real MCP clients, which we didn't write, drive the egui recipe through the bridge.

use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Options, debian,
    program::{self, capture, is_installed},
    step::{Ended, Steps},
    workspace::{self, without_display},
    xvfb::Xvfb,
};

/// A client's whole conversation, with all that it starts.
const CONVERSATION: Duration = Duration::from_secs(60);

/// How long the app takes to serve.
const START: Duration = Duration::from_secs(20);

/// Where the clients are, in the workspace.
const CLIENTS: &str = "apps/agent-surface/tests/clients";

/// The lifecycles that the Python SDK speaks: with the handshake, found out, and without it.
const LIFECYCLES: &[&str] = &["legacy", "auto", "2026-07-28"];

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let mut steps = Steps::default();
    let mut built = Err("it was not built, as said above".to_owned());
    steps.run("bridge and recipe: build", || {
        built = Ok(Programs::build(&root)?);
        Ok(Ended::Passed(String::new()))
    });
    let place = workspace::target(&root).join("clients");
    let mut python = Ok(None);
    steps.run("Python SDK: install", || {
        let ended = python_sdk(&root, &place);
        python = ended.clone();
        Ok(match ended? {
            Some(_) => Ended::Passed(String::new()),
            None => Ended::Skipped("there is no python3".to_owned()),
        })
    });
    for lifecycle in LIFECYCLES {
        steps.run(&format!("Python SDK: {lifecycle}"), || {
            let Some(python) = python.clone()? else {
                return Ok(Ended::Skipped("there is no python3".to_owned()));
            };
            let script = root.join(CLIENTS).join("python/client.py");
            let mut client = Command::new(python);
            client.arg(script).arg(lifecycle);
            converse(built.as_ref()?, client)
        });
    }
    let mut typescript = Ok(None);
    steps.run("TypeScript SDK: install", || {
        let ended = typescript_sdk(&root, &place);
        typescript = ended.clone();
        Ok(match ended? {
            Some(_) => Ended::Passed(String::new()),
            None => Ended::Skipped("there is no node with npm".to_owned()),
        })
    });
    steps.run("TypeScript SDK", || {
        let Some(script) = typescript.clone()? else {
            return Ok(Ended::Skipped("there is no node with npm".to_owned()));
        };
        let mut client = Command::new("node");
        client.arg(script);
        converse(built.as_ref()?, client)
    });
    steps.finish()
}

struct Programs {
    bridge: PathBuf,
    recipe: PathBuf,
}

impl Programs {
    fn build(root: &Path) -> Result<Self, String> {
        let mut cargo = workspace::cargo(root);
        cargo.args([
            "build",
            "--locked",
            "-p",
            "agent-surface",
            "-p",
            "egui_agent",
        ]);
        let programs = workspace::build(&mut cargo)?;
        let named = |name: &str| {
            let found = programs
                .iter()
                .find(|it| it.file_stem().is_some_and(|it| it == name));
            found
                .cloned()
                .ok_or_else(|| format!("cargo made no program `{name}`"))
        };
        Ok(Self {
            bridge: named("agent-surface")?,
            recipe: named("egui_agent")?,
        })
    }
}

/// A Python that has the SDK, at the version in `requirements.txt`. `None`: there is no Python.
fn python_sdk(root: &Path, place: &Path) -> Result<Option<PathBuf>, String> {
    if !is_installed("python3") {
        return Ok(None);
    }
    let environment = place.join("python");
    let python = environment.join("bin/python");
    if !python.is_file() {
        program::run(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(&environment),
        )?;
    }
    let requirements = root.join(CLIENTS).join("python/requirements.txt");
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
    ]);
    program::run(pip.arg(requirements))?;
    Ok(Some(python))
}

/// The client's script beside the SDK, at the version in `package-lock.json`. `None`: there is no
/// Node.
fn typescript_sdk(root: &Path, place: &Path) -> Result<Option<PathBuf>, String> {
    if !is_installed("node") || !is_installed("npm") {
        return Ok(None);
    }
    let folder = place.join("typescript");
    let io = |error: std::io::Error| format!("could not fill {}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(io)?;
    let from = root.join(CLIENTS).join("typescript");
    let mut changed = !folder.join("node_modules").is_dir();
    for name in ["client.mjs", "package.json", "package-lock.json"] {
        let wanted = std::fs::read(from.join(name)).map_err(io)?;
        let is_current = std::fs::read(folder.join(name)).is_ok_and(|there| there == wanted);
        changed |= !is_current && name != "client.mjs";
        std::fs::write(folder.join(name), wanted).map_err(io)?;
    }
    if changed {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        program::run(npm.current_dir(&folder))?;
    }
    Ok(Some(folder.join("client.mjs")))
}

/// The client, with a new app to talk to: in a window where one can be opened.
fn converse(programs: &Programs, mut client: Command) -> Result<Ended, String> {
    let runtime = Runtime::make()?;
    let xvfb = match debian::can_open_windows() {
        Ok(()) => Some(Xvfb::start()?),
        Err(_) => None,
    };
    let _app = runtime.start(&programs.recipe, xvfb.as_ref())?;
    client.arg(&programs.bridge).arg("mcp");
    client.env("XDG_RUNTIME_DIR", &runtime.0);
    // Where the script is, which is where Node looks for its packages.
    let script = client.get_args().next().map(PathBuf::from);
    if let Some(folder) = script.as_deref().and_then(Path::parent) {
        client.current_dir(folder);
    }
    let said = capture(&mut client, CONVERSATION)?;
    if said.status.success() {
        return Ok(Ended::Passed(format!(
            "{} lines, the app {}",
            said.stdout.lines().count(),
            if xvfb.is_some() {
                "in a window"
            } else {
                "without a window: none can be opened here"
            }
        )));
    }
    Err(format!(
        "ended with {}; it had said:\n{}{}",
        said.status, said.stdout, said.stderr
    ))
}

/// A folder for the app's socket, closed to others and out of the way of the person's own apps.
/// Its path is short, as a socket's must be.
struct Runtime(PathBuf);

impl Runtime {
    fn make() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("xclients-{}", std::process::id()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            let path = path.display();
            format!("could not make {path}: {error}; if it is left from before, remove it")
        })?;
        Ok(Self(path))
    }

    /// Starts the recipe, there or without a window, and waits until it serves.
    fn start(&self, recipe: &Path, xvfb: Option<&Xvfb>) -> Result<Killed, String> {
        let mut command = Command::new(recipe);
        command.arg("--serve").env("XDG_RUNTIME_DIR", &self.0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match xvfb {
            Some(xvfb) => xvfb.show(&mut command),
            None => without_display(&mut command),
        }
        let started = command.spawn();
        let mut app = Killed(started.map_err(|error| format!("could not start it: {error}"))?);
        let until = Instant::now() + START;
        while Instant::now() < until {
            let files = std::fs::read_dir(self.0.join("agent-surface"))
                .into_iter()
                .flatten();
            let is_description = |name: &Path| name.extension().is_some_and(|it| it == "json");
            if files.flatten().any(|file| is_description(&file.path())) {
                return Ok(app);
            }
            if let Ok(Some(status)) = app.0.try_wait() {
                return Err(format!("the recipe ended with {status}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err(format!(
            "the recipe did not serve within {} s",
            START.as_secs()
        ))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Left behind, it does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program that is killed when it is not needed any more.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
