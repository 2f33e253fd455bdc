//! Which apps run, how they are called, and which of them is meant.

use std::{fmt::Write as _, io::Write as _};

use agent_mcp::{
    Found, Running, ServeError, described, discover,
    mcp::{clean, quote},
};

/// What runs now, as far as it is asked about.
pub(crate) struct Apps(Found);

impl Apps {
    /// Those of this id; all, if none is given. Each is connected to for a moment, to see who is
    /// behind its socket. An error is for whoever started the program.
    pub(crate) fn look(only: Option<&str>) -> Result<Self, String> {
        Self::of(discover(), only)
    }

    /// The same without disturbing any: one that is not who it says it is shows when it is
    /// connected to.
    pub(crate) fn glance(only: Option<&str>) -> Result<Self, String> {
        Self::of(described(), only)
    }

    fn of(found: Result<Found, ServeError>, only: Option<&str>) -> Result<Self, String> {
        let mut found = found.map_err(|error| error.to_string())?;
        if let Some(only) = only {
            found.apps.retain(|app| is_called(app, only));
        }
        Ok(Self(found))
    }

    /// What an app is called here: its id; with its process number, where several have that id.
    pub(crate) fn name(&self, app: &Running) -> String {
        let same_id = |other: &&Running| other.app == app.app;
        if self.0.apps.iter().filter(same_id).count() > 1 {
            stem(app)
        } else {
            app.app.clone()
        }
    }

    fn names(&self) -> Vec<String> {
        self.0.apps.iter().map(|app| self.name(app)).collect()
    }

    /// The app that is meant, or in words why none is.
    pub(crate) fn choose(&self, asked: Option<&str>) -> Result<&Running, String> {
        let fitting: Vec<&Running> = match asked {
            Some(asked) => self
                .0
                .apps
                .iter()
                .filter(|app| is_called(app, asked))
                .collect(),
            None => self.0.apps.iter().collect(),
        };
        match (fitting.as_slice(), asked) {
            ([app], _) => Ok(app),
            ([], Some(asked)) => Err(format!("{} does not run; {}", quote(asked), self.running())),
            ([], None) => Err(self.running()),
            (several, _) => {
                let names: Vec<String> = several.iter().map(|app| self.name(app)).collect();
                Err(format!(
                    "several apps run, say which by app: {}",
                    names.join(", ")
                ))
            }
        }
    }

    /// What runs, in a sentence.
    pub(crate) fn running(&self) -> String {
        match self.names().as_slice() {
            [] => "no app that lets agents in runs now".to_owned(),
            names => format!("running now: {}", names.join(", ")),
        }
    }

    /// One app a line, the program that the kernel names beside the name that it claims.
    pub(crate) fn listed(&self, with_address: bool) -> String {
        let mut out = String::new();
        for app in &self.0.apps {
            let executable = app.executable.as_ref().map_or_else(
                || "unknown program".to_owned(),
                |path| printable(&path.to_string_lossy()),
            );
            // Writing into a `String` does not fail.
            let _ = write!(
                out,
                "{} {} pid {} {executable}",
                clean(&self.name(app)),
                quote(&app.name),
                app.pid
            );
            if with_address {
                let _ = write!(out, " {}", printable(&app.address.to_string_lossy()));
            }
            out.push('\n');
        }
        if self.0.apps.is_empty() {
            out.push_str("No app that lets agents in runs now.\n");
        }
        for odd in &self.0.odd {
            let file = odd.file.file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(
                out,
                "left out: {}: {}",
                printable(&file),
                printable(&odd.why)
            );
        }
        out
    }
}

/// `agent-surface apps`.
pub(crate) fn list() -> Result<(), String> {
    say(&Apps::look(None)?.listed(true));
    Ok(())
}

/// To standard output. Whoever reads it may have read enough.
pub(crate) fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// By its id, or by the name of its socket, which is its own.
fn is_called(app: &Running, asked: &str) -> bool {
    app.app == asked || stem(app) == asked
}

/// The name of its socket, which no other has.
pub(crate) fn stem(app: &Running) -> String {
    let stem = app.address.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// As it is, without what would break or reorder the line.
fn printable(text: &str) -> String {
    let quoted = quote(text);
    quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(&quoted)
        .to_owned()
}
