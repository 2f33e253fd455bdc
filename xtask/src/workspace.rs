//! Where things are, and which cargo to ask.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::program;

/// The root of the workspace, absolute. Taken from cargo at run time, not baked in when this was
/// built: two checkouts may share a target folder.
pub(crate) fn root() -> Result<PathBuf, String> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .ok_or("run it as `cargo xtask ...`, so that cargo says where the workspace is")?;
    let root = Path::new(&here)
        .parent()
        .ok_or("this crate must lie in a folder of the workspace")?;
    Ok(root.to_owned())
}

/// The cargo that runs this, started in the root. It never sees the display of the person at the
/// terminal: no test of ours may open a window there, and none may pass only because there is one.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root);
    without_display(&mut command);
    command
}

/// Cargo's target folder, which is where things go that can be had again.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Runs a `cargo build` that is complete but for how it reports, and answers the programs it made.
pub(crate) fn build(cargo: &mut Command) -> Result<Vec<PathBuf>, String> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let mut programs = Vec::new();
    program::run_reading(cargo, |line| programs.extend(executable(line)))?;
    Ok(programs)
}

/// The program that a line of cargo's says it has made.
fn executable(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let path = message.get("executable")?.as_str()?;
    Some(PathBuf::from(path))
}

/// Takes the way to any display out of the environment.
pub(crate) fn without_display(command: &mut Command) {
    for variable in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(variable);
    }
}
