//! `tokens`: what a model pays for a window, through us and through a peer, as `docs/tokens.md` has
//! it. The peer is a crate outside of the workspace, and comes from the registry.

use std::path::Path;

use crate::{Options, debian, program, step::Ended, workspace, xvfb::Xvfb};

/// Where the peer is, from the root.
const PEER: &str = "bench/peers/egui_mcp";

/// The test that counts, which takes the peer along where these two say so.
const TEST: &str = "tools_and_thirty_nodes_stay_within_their_tokens";
const WITH_PEER: &str = "AGENT_SURFACE_PEER";
const WRITE: &str = "AGENT_SURFACE_WRITE_TOKENS";

pub(crate) fn run(options: &Options) -> Result<(), String> {
    match count(&workspace::root()?, options.has("--write"))? {
        Ended::Passed(_) => Ok(()),
        Ended::Skipped(why) => Err(why),
    }
}

/// Counts both, prints the table, and with `write` puts it into the page.
pub(crate) fn count(root: &Path, write: bool) -> Result<Ended, String> {
    if let Err(why) = debian::can_open_windows() {
        return Ok(Ended::Skipped(why));
    }
    let folder = root.join(PEER);
    let target = workspace::target(root).join("peers");
    // Not `--locked`: what our own crates depend on may have changed, and its lock file follows
    // them here. The peer's version is pinned in its manifest.
    if let Err(why) = program::run(workspace::cargo(&folder).arg("fetch")) {
        return Ok(Ended::Skipped(format!(
            "the peer can't be had: cargo fetch {why}, as said above; it needs the network once"
        )));
    }
    let mut build = workspace::cargo(&folder);
    build
        .args(["build", "--locked"])
        .env("CARGO_TARGET_DIR", target);
    let programs = workspace::build(&mut build)?;
    let [peer] = programs.as_slice() else {
        return Err(format!("{PEER} must be one program"));
    };
    let xvfb = Xvfb::start()?;
    let mut cargo = workspace::cargo(root);
    cargo
        .args(["test", "--quiet", "--locked", "--package", "agent-surface"])
        .args(["--test", "bridge", TEST])
        .env(WITH_PEER, peer);
    if write {
        cargo.env(WRITE, "1");
    }
    xvfb.show(&mut cargo);
    program::run(&mut cargo)?;
    Ok(Ended::Passed(String::new()))
}
