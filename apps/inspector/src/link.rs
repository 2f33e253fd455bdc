//! One connection to an app: a request out, its result back.

use std::{
    fmt,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use agent_mcp::{Running, discover};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Longer than an app takes to say that it is busy.
const PATIENCE: Duration = Duration::from_secs(40);

/// A page of the tree, or a picture, is not longer.
const MAX_REPLY: u64 = 256 << 20;

/// How long the app may take to look at itself, in milliseconds.
const TIMEOUT_MS: u64 = 20_000;

/// Which app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one that serves at this path, now and after it was started again.
    At(PathBuf),
    /// The one of this id, or the only one that runs.
    Called(Option<String>),
}

/// Why there is no result.
#[derive(Debug)]
pub enum No {
    /// The app refused, by an error of the wire.
    Refused {
        /// Its reason.
        reason: String,
        /// What it said.
        message: String,
    },
    /// There is no app, or no longer.
    Gone(String),
}

impl fmt::Display for No {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { reason, message } => match reason.as_str() {
                "method_not_found" => f.write_str(
                    "this app has not armed the inspector: call arm_inspector() on its builder",
                ),
                "consent_denied" => {
                    f.write_str("this app's gate does not let the inspector in (Scope::Inspector)")
                }
                "consent_pending" => f.write_str("the app's user is being asked"),
                _ => f.write_str(message),
            },
            Self::Gone(why) => f.write_str(why),
        }
    }
}

/// A connection.
pub struct Link {
    lines: BufReader<UnixStream>,
    last: u64,
    /// What the app is called.
    pub app: String,
}

impl Link {
    /// Connects.
    ///
    /// # Errors
    /// If no such app runs.
    pub fn to(which: &Which) -> Result<Self, No> {
        let gone = |why: &dyn fmt::Display| No::Gone(why.to_string());
        let (stream, app) = match which {
            Which::At(path) => {
                let stream = UnixStream::connect(path).map_err(|why| gone(&why))?;
                (stream, path.display().to_string())
            }
            Which::Called(id) => {
                let found = discover().map_err(|why| gone(&why))?;
                let app = choose(&found.apps, id.as_deref())?;
                let stream = app.connect().map_err(|why| gone(&why))?;
                (
                    stream,
                    format!("{} ({}, process {})", app.name, app.app, app.pid),
                )
            }
        };
        let timed = stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        timed.map_err(|why| gone(&why))?;
        Ok(Self {
            lines: BufReader::new(stream),
            last: 0,
            app,
        })
    }

    /// Asks, and waits for the result.
    ///
    /// # Errors
    /// If it is refused, or the app is gone.
    pub fn ask<T: DeserializeOwned>(&mut self, method: &str, mut params: Value) -> Result<T, No> {
        let gone = |why: &dyn fmt::Display| No::Gone(format!("the app is gone: {why}"));
        self.last += 1;
        if let Some(params) = params.as_object_mut() {
            params
                .entry("timeout_ms")
                .or_insert_with(|| TIMEOUT_MS.into());
        }
        let request = json!({
            "jsonrpc": "2.0", "id": self.last,
            "method": format!("inspector.{method}"), "params": params,
        });
        let mut line = request.to_string();
        line.push('\n');
        let stream = self.lines.get_mut();
        stream
            .write_all(line.as_bytes())
            .map_err(|why| gone(&why))?;
        let mut reply = Vec::new();
        let mut lines = (&mut self.lines).take(MAX_REPLY);
        let read = lines
            .read_until(b'\n', &mut reply)
            .map_err(|why| gone(&why))?;
        if read == 0 {
            return Err(No::Gone("the app is gone".to_owned()));
        }
        let Reply { result, error } = serde_json::from_slice(&reply).map_err(|why| gone(&why))?;
        match (result, error) {
            (Some(result), _) => Ok(result),
            (None, Some(error)) => Err(No::Refused {
                reason: error.data.reason,
                message: error.message,
            }),
            (None, None) => Err(No::Gone("the app answered with no reply".to_owned())),
        }
    }
}

#[derive(serde::Deserialize)]
struct Reply<T> {
    result: Option<T>,
    error: Option<ReplyError>,
}

#[derive(serde::Deserialize)]
struct ReplyError {
    message: String,
    data: ReplyErrorData,
}

#[derive(serde::Deserialize)]
struct ReplyErrorData {
    reason: String,
}

fn choose<'a>(apps: &'a [Running], id: Option<&str>) -> Result<&'a Running, No> {
    // Not the inspector itself, which serves its own window.
    let own = std::process::id();
    let others = apps.iter().filter(|app| app.pid != own);
    let fitting: Vec<&Running> = others
        .filter(|app| id.is_none_or(|id| app.app == id))
        .collect();
    match (fitting.as_slice(), id) {
        ([app], _) => Ok(app),
        ([], Some(id)) => Err(No::Gone(format!("{id} does not run"))),
        ([], None) => Err(No::Gone("no app that lets agents in runs".to_owned())),
        // Of several runs of one app, the newest.
        ([.., last], Some(_)) => Ok(last),
        (several, None) => {
            let names: Vec<&str> = several.iter().map(|app| app.app.as_str()).collect();
            Err(No::Gone(format!(
                "several apps run, say which: {}",
                names.join(", ")
            )))
        }
    }
}
