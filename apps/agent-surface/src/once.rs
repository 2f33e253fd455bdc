//! A few requests to an app on a connection of their own, for a person who waits.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Split, Take, Write as _},
    os::unix::net::UnixStream,
    time::Duration,
};

use agent_mcp::Running;
use serde_json::Value;

use crate::mcp::MAX_REPLY;

/// Longer than an app takes to say that it is busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection of its own. Errors are words that follow the app's name.
pub(crate) struct Once {
    stream: UnixStream,
    lines: Split<Take<BufReader<UnixStream>>>,
}

/// A few replies, of which each has its limit.
const MOST: u64 = 64 * MAX_REPLY as u64;

impl Once {
    pub(crate) fn to(app: &Running) -> Result<Self, String> {
        let stream = app
            .connect()
            .map_err(|why| format!("could not connect: {why}"))?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let reader = BufReader::new(stream.try_clone().map_err(failed)?);
        Ok(Self {
            stream,
            lines: reader.take(MOST).split(b'\n'),
        })
    }

    pub(crate) fn send(&mut self, request: &Value) -> Result<(), String> {
        let line = format!("{request}\n");
        self.stream.write_all(line.as_bytes()).map_err(failed)
    }

    /// The next line that comes.
    pub(crate) fn line(&mut self) -> Result<Vec<u8>, String> {
        let line = self.lines.next().transpose().map_err(failed)?;
        line.ok_or_else(|| "it quit before it answered".to_owned())
    }
}

fn failed(why: io::Error) -> String {
    format!("could not ask: {why}")
}
