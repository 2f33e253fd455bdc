use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::Instant,
};

use agent_wire::{Timeout, Verb, limits::LONGEST_WAIT};
use serde_json::{Value, json};

use crate::LONG;

/// One connection, as a script would make it. It waits [`LONG`] at most for anything.
#[derive(Debug)]
pub struct Client {
    /// The socket itself, to do with it what no client should.
    pub stream: UnixStream,
    lines: BufReader<UnixStream>,
    next: u64,
}

impl Client {
    /// Connects to the socket at this path.
    pub fn connect(address: &Path) -> Self {
        Self::over(UnixStream::connect(address).unwrap())
    }

    /// Speaks over this socket.
    pub fn over(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self {
            stream,
            lines,
            next: 1,
        }
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a line as it is.
    pub fn raw(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Sends a request, and answers its id. A verb that is given no `timeout_ms` gets the longest
    /// that there is, as a busy machine is no busy app.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let (Some(verb), Some(params)) = (Verb::named(method), params.as_object_mut())
            && verb.timeout == Timeout::UI_THREAD
        {
            let longest = LONGEST_WAIT.as_millis() as u64;
            params.entry("timeout_ms").or_insert(longest.into());
        }
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.raw(&request.to_string());
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The next line as it is; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(_) => line,
            // The server closed the socket while something unread was in it.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("{error}"),
        }
    }

    /// The next reply.
    pub fn reply(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request, and answers the next reply, which is to it.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let reply = self.reply();
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    /// Sends a request, and answers its result.
    pub fn get(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.ask(method, params);
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].take()
    }

    /// Clicks this node, and answers the reply.
    pub fn click(&mut self, id: &str) -> Value {
        self.ask("click", json!({ "id": id }))
    }

    /// That this app serves this connection.
    pub fn assert_served(&mut self, app: &str) {
        let reply = self.ask("hello", json!({}));
        assert_eq!(reply["result"]["app"], app, "{reply}");
    }

    /// That the server ends this connection, whatever it still says.
    pub fn assert_closed(&mut self) {
        let begun = Instant::now();
        while !self.line().is_empty() {
            assert!(begun.elapsed() < LONG, "it goes on");
        }
    }
}

/// Why the request failed, by its error's `reason`.
pub fn reason(reply: &Value) -> &str {
    reply["error"]["data"]["reason"].as_str().unwrap_or("none")
}

/// Which limit the request went over.
pub fn limit(reply: &Value) -> &str {
    reply["error"]["data"]["limit"].as_str().unwrap_or("none")
}
