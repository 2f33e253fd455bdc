//! `picture`: the egui recipe's window, with what an agent sees outlined, for the README.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::{
    Options, debian, program,
    recipes::{self, RuntimeFolder},
    workspace,
    xvfb::Xvfb,
};

/// Where it is kept.
const PICTURE: &str = "docs/egui_agent.png";

/// Taking the picture and drawing on it, which ImageMagick does.
const DRAWING: Duration = Duration::from_secs(60);

/// What an agent sees: exposed nodes, each with its id and its frame in window points.
const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"describe_ui","params":{"include":["frame"],"timeout_ms":20000}}"#;

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
    let recipe = recipes::build(&root, &root.join("recipes/egui_agent"))?;
    let runtime = RuntimeFolder::make()?;
    let xvfb = Xvfb::start()?;
    let mut command = Command::new(recipe);
    command
        .arg("--serve")
        .env("XDG_RUNTIME_DIR", &runtime.0)
        .stdout(Stdio::piped());
    xvfb.show(&mut command);
    let mut app = App(command.spawn().map_err(|error| error.to_string())?);
    let address = app.address()?;
    let frames = frames(Path::new(&address))?;

    // A frame is answered before it is on the screen, and X tells nobody when it is.
    std::thread::sleep(Duration::from_secs(2));
    let picture = root.join(PICTURE);
    // The window is the only one, without a manager that would move it: its points are those of
    // the screen.
    let mut import = Command::new("import");
    import
        .args(["-window", "root", "-crop", "420x360+0+0", "+repage"])
        .arg(&picture);
    xvfb.show(&mut import);
    run_quietly(&mut import)?;
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
    println!("wrote {PICTURE}: {} nodes outlined", frames.len());
    Ok(())
}

/// The recipe, kept up until this is dropped.
struct App(Child);

impl App {
    /// Where it says that it serves.
    fn address(&mut self) -> Result<String, String> {
        let stdout = self.0.stdout.take().ok_or("the recipe has no output")?;
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| error.to_string())?;
            if let Some(address) = line.strip_prefix("Serving at ") {
                return Ok(address.to_owned());
            }
        }
        Err("the recipe ended without saying where it serves".to_owned())
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn frames(address: &Path) -> Result<Vec<(String, [f64; 4])>, String> {
    let ask = || -> std::io::Result<Value> {
        let mut stream = UnixStream::connect(address)?;
        writeln!(stream, "{ASK}")?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    let reply = ask().map_err(|error| format!("the recipe did not answer: {error}"))?;
    let nodes = reply["result"]["nodes"].as_array();
    let nodes = nodes.ok_or_else(|| format!("no description: {reply}"))?;
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
