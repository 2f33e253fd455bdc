//! `recipes`: the small apps of `recipes/`, run as a reader would, held to what they should say.

use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    Options, debian,
    program::capture,
    step::{Ended, Steps},
    transcript::Expected,
    workspace::{self, without_display},
    xvfb::Xvfb,
};

/// A recipe's whole conversation. Most of it is the first frame drawn in software.
const CONVERSATION: Duration = Duration::from_secs(120);

/// What its conversation should be, in each recipe's folder.
const EXPECTED: &str = "expected.txt";

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let mut steps = Steps::default();
    add_steps(&mut steps)?;
    steps.finish()
}

/// For each recipe: it is built, and runs without any display, and in a window on a display of our
/// own.
pub(crate) fn add_steps(steps: &mut Steps) -> Result<(), String> {
    let root = workspace::root()?;
    for folder in folders(&root)? {
        let name = name_of(&folder);
        let mut built = Err("it was not built, as said above".to_owned());
        steps.run(&format!("recipe {name}: build"), || {
            for (_, other) in STARTS.iter().filter(|(recipe, _)| *recipe == name) {
                build(&root, &root.join(other))?;
            }
            built = Ok(build(&root, &folder)?);
            Ok(Ended::Passed(String::new()))
        });
        steps.run(&format!("recipe {name}: no display"), || {
            converse(built.as_ref()?, &folder, without_display)
        });
        steps.run(&format!("recipe {name}: in a window"), || {
            in_a_window(built.as_ref()?, &folder)
        });
    }
    Ok(())
}

/// The egui recipe drawn by another renderer, and with its widgets told to screen readers.
pub(crate) fn by_wgpu(root: &Path) -> Result<Ended, String> {
    let folder = root.join("recipes/egui_agent");
    let program = build_with(root, &folder, &["--features", "wgpu,accesskit"])?;
    in_a_window(&program, &folder)
}

fn in_a_window(program: &Path, folder: &Path) -> Result<Ended, String> {
    if let Err(why) = debian::can_open_windows() {
        return Ok(Ended::Skipped(why));
    }
    let xvfb = Xvfb::start()?;
    converse(program, folder, |command| xvfb.show(command))
}

/// Recipes that start a program of ours, which they find beside their own.
const STARTS: &[(&str, &str)] = &[("inspector_agent", "apps/agent-surface")];

/// Recipes for macOS: here `cargo xtask appkit` runs them, on GNUstep.
const FOR_MACOS: &[&str] = &["appkit_agent"];

/// Every folder of `recipes/` that is a crate: a new recipe is run without being named here.
fn folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    let recipes = root.join("recipes");
    let entries = std::fs::read_dir(&recipes)
        .map_err(|error| format!("could not list {}: {error}", recipes.display()))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .filter(|folder| {
            cfg!(target_os = "macos") || !FOR_MACOS.contains(&name_of(folder).as_str())
        })
        .collect();
    folders.sort();
    if folders.is_empty() {
        return Err(format!("no recipe in {}", recipes.display()));
    }
    Ok(folders)
}

fn name_of(folder: &Path) -> String {
    folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Builds it and asks cargo where the program is.
pub(crate) fn build(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    build_with(root, folder, &[])
}

fn build_with(root: &Path, folder: &Path, arguments: &[&str]) -> Result<PathBuf, String> {
    let mut cargo = workspace::cargo(root);
    cargo
        .args(["build", "--locked", "--bins", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .args(arguments);
    let programs = workspace::build(&mut cargo)?;
    match programs.as_slice() {
        [program] => Ok(program.clone()),
        [] => Err("it has no program: give it a src/main.rs".to_owned()),
        _ => Err("it has several programs; a recipe has one".to_owned()),
    }
}

/// Runs it in a place, and compares what it says with what it should.
pub(crate) fn converse(
    program: &Path,
    folder: &Path,
    place: impl FnOnce(&mut Command),
) -> Result<Ended, String> {
    let runtime = RuntimeFolder::make()?;
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("XDG_RUNTIME_DIR", &runtime.0)
        // What it remembers of agents is not the person's.
        .env("XDG_STATE_HOME", runtime.0.join("state"));
    place(&mut command);
    let said = capture(&mut command, CONVERSATION)?;
    if !said.status.success() {
        let status = said.status;
        return Err(format!(
            "ended with {status}; it had said:\n{}{}",
            said.stdout, said.stderr
        ));
    }
    let file = folder.join(EXPECTED);
    let compared = std::fs::read_to_string(&file)
        .map_err(|error| error.to_string())
        .and_then(|expected| Expected::parse(&expected)?.compare(&said.stdout));
    if let Err(why) = compared {
        return Err(format!(
            "{}: {why}\nIf the recipe is right, change that file: a header of `#` lines, an empty \
             line, then what the recipe says, with `{{any}}` for what differs from run to run. It \
             said:\n{}",
            file.display(),
            said.stdout
        ));
    }
    Ok(Ended::Passed(format!(
        "{} lines as expected",
        said.stdout.lines().count()
    )))
}

/// A folder for the recipe's socket, closed to others and out of the way of the person's own apps.
/// Its path is short, as a socket's must be.
pub(crate) struct RuntimeFolder(pub(crate) PathBuf);

impl RuntimeFolder {
    pub(crate) fn make() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("xtask-{}", std::process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| {
                format!(
                    "could not make {}: {error}; if it is left from before, remove it",
                    path.display()
                )
            })?;
        Ok(Self(path))
    }
}

impl Drop for RuntimeFolder {
    fn drop(&mut self) {
        // Left behind, it does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
