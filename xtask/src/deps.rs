//! `deps`: what an egui app takes on by depending on `agent_surface`, counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use crate::{Options, program::capture, workspace};

/// How many crates an app may have to take on, ours included. Raise it only for a reason that is
/// worth it to every app.
const MOST: usize = 15;

/// An app that lets agents in must not get an executor with them: the server has plain threads.
const ASYNC_RUNTIMES: &[&str] = &[
    "async-executor",
    "async-global-executor",
    "async-io",
    "async-std",
    "compio",
    "futures-executor",
    "glommio",
    "monoio",
    "smol",
    "tokio",
];

/// Resolving may have to fetch the registry's index first.
const RESOLVING: Duration = Duration::from_secs(300);

/// A crate of the tree, by name and version, and whether it is one of the workspace's own.
type Crates = BTreeMap<String, bool>;

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let without = tree(&root, &[])?;
    let with = tree(&root, &["--features", "agents"])?;
    let added: Crates = with
        .into_iter()
        .filter(|(name, _)| !without.contains_key(name))
        .collect();

    let ours = names(&added, true);
    let others = names(&added, false);
    println!(
        "An egui app that depends on agent_surface takes on {} crates, of {MOST} at most, beyond \
         those that egui itself brings:",
        added.len()
    );
    println!("  {} of this workspace: {}", ours.len(), join(&ours));
    println!("  {} of others: {}", others.len(), join(&others));

    if !ours.iter().any(|name| name.starts_with("agent_surface ")) {
        return Err("agent_surface itself is not in the tree, so nothing was counted".to_owned());
    }
    let runtimes: BTreeSet<&str> = others
        .iter()
        .copied()
        .filter(|name| ASYNC_RUNTIMES.contains(&name.split(' ').next().unwrap_or_default()))
        .collect();
    if !runtimes.is_empty() {
        return Err(format!(
            "an app must not get an async runtime with us: {}; `cargo tree --package \
             egui_app_deps --features agents --edges normal --invert <crate>` says who brings it",
            join(&runtimes)
        ));
    }
    if added.len() > MOST {
        return Err(format!(
            "{} crates are more than {MOST}; leave some out, or put them behind a feature that is \
             off by default",
            added.len()
        ));
    }
    Ok(())
}

/// What `egui_app_deps` (see `xtask/deps`) links or needs to be built, for this machine.
fn tree(root: &Path, features: &[&str]) -> Result<Crates, String> {
    let mut cargo = workspace::cargo(root);
    cargo
        .args(["tree", "--locked", "--package", "egui_app_deps"])
        .args(["--edges", "normal", "--prefix", "none"])
        .args(features);
    let answer = capture(&mut cargo, RESOLVING)?;
    if !answer.status.success() {
        return Err(format!("cargo tree failed:\n{}", answer.stderr));
    }
    Ok(answer
        .stdout
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let name = words.next().filter(|name| !name.is_empty())?;
            let version = words.next()?;
            // A crate from a path has that path after it; the registry's have none.
            let own = words.next().is_some_and(|word| word.starts_with("(/"));
            Some((format!("{name} {version}"), own))
        })
        .filter(|(name, _)| !name.starts_with("egui_app_deps "))
        .collect())
}

fn names(crates: &Crates, own: bool) -> BTreeSet<&str> {
    crates
        .iter()
        .filter(|(_, is_own)| **is_own == own)
        .map(|(name, _)| name.as_str())
        .collect()
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}
