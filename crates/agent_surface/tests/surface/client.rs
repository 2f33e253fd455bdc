//! One connection, as a script would make it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::{Duration, Instant},
};

use agent_surface::{AuthGate, Decision};
use serde_json::{Value, json};

/// Longer than anything here takes on the slowest machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    lines: BufReader<UnixStream>,
    next: u64,
}

impl Client {
    pub(crate) fn connect(address: &Path) -> Self {
        Self::over(UnixStream::connect(address).unwrap())
    }

    pub(crate) fn over(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self {
            stream,
            lines,
            next: 1,
        }
    }

    /// Sends a line as it is.
    pub(crate) fn raw(&mut self, line: &str) {
        self.stream
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// Sends a request, and answers its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.raw(&request.to_string());
        id
    }

    /// The next line as it is; empty at the end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(_) => line,
            // The server closed the socket while something unread was in it.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("{error}"),
        }
    }

    /// The next reply.
    pub(crate) fn reply(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request, and answers the reply to it.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let reply = self.reply();
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    /// Sends a request, and answers its result.
    pub(crate) fn get(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.ask(method, params);
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].take()
    }

    pub(crate) fn click(&mut self, id: &str) -> Value {
        self.ask("click", json!({ "id": id }))
    }
}

pub(crate) fn reason(reply: &Value) -> &str {
    reply["error"]["data"]["reason"].as_str().unwrap_or("none")
}

pub(crate) fn allow() -> AuthGate {
    AuthGate::serve(|_| Decision::Allow)
}

/// Waits until it is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A folder that nobody else may look into, gone at the end.
pub(crate) fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir()
        .unwrap()
}
