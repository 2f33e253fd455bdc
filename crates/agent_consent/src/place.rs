//! Where rules and the log are, if the app doesn't say.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use agent_core::check_id;

use crate::evidence::hash;

/// The user's folder for what programs remember, and ours in it. `None`: the user has no home.
pub(crate) fn state_folder() -> Option<PathBuf> {
    folder_from(|name| std::env::var_os(name), std::env::home_dir())
}

fn folder_from(env: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let home = home.filter(absolute);
    let state = if cfg!(target_os = "macos") {
        home?.join("Library/Application Support")
    } else {
        // A relative path there is to be ignored, says the XDG specification.
        let given = env("XDG_STATE_HOME").map(PathBuf::from).filter(absolute);
        given.or_else(|| home.map(|home| home.join(".local/state")))?
    };
    Some(state.join("agent-surface"))
}

/// The folder of an app's rules: its id, where that can be a folder's name.
pub(crate) fn rules(state: &Path, app: &str) -> PathBuf {
    all_rules(state).join(folder_name(app))
}

/// What these folders lie in.
pub(crate) fn all_rules(state: &Path) -> PathBuf {
    state.join("rules")
}

/// The file of an app's log.
pub(crate) fn log(state: &Path, app: &str) -> PathBuf {
    state.join("audit").join(folder_name(app)).join("log.jsonl")
}

fn folder_name(app: &str) -> String {
    match check_id(app) {
        Ok(()) if !app.starts_with('.') => app.to_owned(),
        _ => hash(app.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_users_own() {
        let check = |given: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let env = |_: &str| given.map(OsString::from);
            let found = folder_from(env, home.map(PathBuf::from));
            assert_eq!(found.as_deref(), expected.map(Path::new));
        };
        if !cfg!(target_os = "macos") {
            check(Some("/s"), Some("/h"), Some("/s/agent-surface"));
            check(Some("s"), Some("/h"), Some("/h/.local/state/agent-surface"));
            check(None, Some("/h"), Some("/h/.local/state/agent-surface"));
        }
        check(None, Some("h"), None);
        check(None, None, None);
    }

    #[test]
    fn no_apps_id_leads_out_of_the_folder() {
        let check = |app: &str, as_it_is: bool| {
            let folder = rules(Path::new("/s"), app);
            assert_eq!(folder.parent(), Some(Path::new("/s/rules")), "{app}");
            assert_eq!(folder.ends_with(app), as_it_is, "{app}");
        };
        check("org.example.orders", true);
        for odd in ["..", ".", "a/b", "/etc", "../x", "", ".hidden", "ä"] {
            assert_eq!(folder_name(odd).len(), 64, "{odd}");
        }
    }
}
