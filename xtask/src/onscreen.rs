//! `onscreen`: what shows on a screen alone, on a display of our own: a real pointer, the pixels of
//! windows, and the programs that open them.

use std::path::{Path, PathBuf};

use crate::{
    Options, debian, program,
    step::{Ended, Steps},
    workspace,
    xvfb::Xvfb,
};

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let mut steps = Steps::default();
    add_step(&mut steps)?;
    steps.finish()
}

pub(crate) fn add_step(steps: &mut Steps) -> Result<(), String> {
    let root = workspace::root()?;
    steps.run("on a screen", || test(&root, &[]));
    Ok(())
}

/// The same windows drawn by another renderer.
pub(crate) fn by_wgpu(root: &Path) -> Result<Ended, String> {
    test(root, &["--features", "wgpu"])
}

fn test(root: &Path, features: &[&str]) -> Result<Ended, String> {
    if let Err(why) = debian::can_open_windows() {
        return Ok(Ended::Skipped(why));
    }
    let command = build(root)?;
    let xvfb = Xvfb::start()?;
    let mut test = workspace::cargo(root);
    // One after the other: there is one pointer.
    test.args(["test", "--locked", "-p", "onscreen"])
        .args(features)
        .args(["--", "--ignored", "--test-threads=1"])
        .env("ONSCREEN_DISPLAY", xvfb.display())
        .env("ONSCREEN_COMMAND", command);
    xvfb.show(&mut test);
    program::run(&mut test)?;
    Ok(Ended::Passed(String::new()))
}

/// The command, and beside it the window that it opens.
fn build(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = workspace::cargo(root);
    cargo.args(["build", "--locked", "--bins"]);
    cargo.args(["-p", "agent-surface", "-p", "agent-inspector"]);
    let programs = workspace::build(&mut cargo)?;
    let is = |program: &PathBuf| program.file_stem().is_some_and(|it| it == "agent-surface");
    let found = programs.into_iter().find(is);
    found.ok_or_else(|| "cargo made no program `agent-surface`".to_owned())
}
