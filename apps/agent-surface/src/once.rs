//! A few requests to an app on a connection of their own, for a person who waits.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    time::Duration,
};

use agent_mcp::Running;
use serde_json::Value;

use crate::mcp::MAX_REPLY;

/// Longer than an app takes to say that it is busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends these, and answers the lines that come back, as they come. Errors are words that follow
/// the app's name.
pub(crate) fn ask(
    app: &Running,
    requests: &[Value],
) -> Result<impl Iterator<Item = Result<Vec<u8>, String>> + use<>, String> {
    let failed = |why: io::Error| format!("could not ask: {why}");
    let mut stream = app
        .connect()
        .map_err(|why| format!("could not connect: {why}"))?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    let lines: String = requests.iter().map(|it| format!("{it}\n")).collect();
    stream.write_all(lines.as_bytes()).map_err(failed)?;
    let most = requests.len() * MAX_REPLY;
    let lines = BufReader::new(stream).take(most as u64).split(b'\n');
    Ok(lines.map(move |line| line.map_err(failed)))
}
