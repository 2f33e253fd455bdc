//! `agent-surface inspect`: the developer's view of an app, which is a program of its own: it
//! brings a toolkit with it, and this command none.

use std::{env, ffi::OsStr, os::unix::process::CommandExt as _, path::PathBuf, process::Command};

use agent_mcp::Running;
use serde_json::{Value, json};

use crate::{apps::Apps, once::Once};

/// What the program is called.
const PROGRAM: &str = "agent-inspector";

/// On success it does not come back: this process has become the window's, so that what is done
/// to the one is done to the other.
pub(crate) fn run(app: Option<&str>, open: bool) -> Result<(), String> {
    let apps = Apps::glance(None)?;
    // So that a wrong name is told here.
    let app = apps.choose(app)?;
    let name = apps.name(app);
    if !is_armed(app).map_err(|why| format!("{name}: {why}"))? {
        return Err(format!(
            "{name} has not armed the inspector; its developer does, by arm_inspector() on the \
             builder of its surface"
        ));
    }
    let program = program(
        env::current_exe().ok(),
        env::var_os("PATH").unwrap_or_default().as_os_str(),
    )
    .ok_or_else(|| {
        format!(
            "there is no {PROGRAM} beside this program or in PATH; `cargo install {PROGRAM}` \
             brings it"
        )
    })?;
    let mut window = Command::new(&program);
    if name == app.app {
        // The window finds it again by its id, also when it was started anew.
        window.arg(&app.app);
    } else {
        // One of several runs of an app: this one, and no other.
        window.arg("--at").arg(&app.address);
    }
    if open {
        window.arg("--let-agents-in");
    }
    let why = window.exec();
    Err(format!("could not start {}: {why}", program.display()))
}

/// Whether an app knows the inspector's methods. The gate, and so its user, isn't asked: the form
/// of a request is looked at before, and this one has none.
fn is_armed(app: &Running) -> Result<bool, String> {
    let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "inspector.node", "params": {}});
    let mut once = Once::to(app)?;
    once.send(&ask)?;
    let reply: Value = serde_json::from_slice(&once.line()?)
        .map_err(|_| "it answered with no reply".to_owned())?;
    Ok(reply["error"]["data"]["reason"] != "method_not_found")
}

/// Beside this program, else in `PATH`.
fn program(own: Option<PathBuf>, path: &OsStr) -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let beside = own.as_deref().and_then(|own| own.parent());
    let beside = beside.map(PathBuf::from).into_iter();
    beside
        .chain(env::split_paths(path))
        .map(|folder| folder.join(&name))
        .find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_found_beside_this_program_before_path() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let (beside, elsewhere) = (place("beside"), place("elsewhere"));
        let own = || Some(beside.join("agent-surface"));
        let found = || program(own(), elsewhere.as_os_str());
        assert_eq!(found(), None);
        let there = |folder: &PathBuf| {
            let program = folder.join(PROGRAM);
            std::fs::write(&program, "").unwrap();
            program
        };
        assert_eq!(Some(there(&elsewhere)), found());
        assert_eq!(Some(there(&beside)), found());
    }
}
