//! A connection to an app, as an agent makes it: a line out, a line back.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
};

use serde_json::{Value, json};

pub(super) struct Agent(BufReader<UnixStream>);

impl Agent {
    pub(super) fn connect(address: &str) -> Result<Self, String> {
        let stream = UnixStream::connect(address);
        let stream = stream.map_err(|error| format!("{address}: {error}"))?;
        Ok(Self(BufReader::new(stream)))
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let mut ask = || -> std::io::Result<Value> {
            let line =
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            writeln!(self.0.get_mut(), "{line}")?;
            let mut reply = String::new();
            self.0.read_line(&mut reply)?;
            Ok(serde_json::from_str(&reply)?)
        };
        let mut reply = ask().map_err(|error| format!("{method}: {error}"))?;
        match reply["error"].is_null() {
            true => Ok(reply["result"].take()),
            false => Err(format!("{method}: {reply}")),
        }
    }
}
