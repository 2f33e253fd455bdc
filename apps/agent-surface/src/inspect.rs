//! `agent-surface inspect`: the developer's view of an app, which is a program of its own: it
//! brings a toolkit with it, and this command none.

use std::{env, ffi::OsStr, path::PathBuf, process::Command};

use crate::apps::Apps;

/// What the program is called.
const PROGRAM: &str = "agent-inspector";

pub(crate) fn run(app: Option<&str>) -> Result<(), String> {
    let apps = Apps::glance(None)?;
    // So that a wrong name is told here; the window then finds the app again by its id, also
    // when it was started anew.
    let app = apps.choose(app)?;
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
    let status = Command::new(&program)
        .arg(&app.app)
        .status()
        .map_err(|why| format!("could not start {}: {why}", program.display()))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{PROGRAM} ended with {status}")),
    }
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
