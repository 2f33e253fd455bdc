//! One client of the app: what it sent, and every line that came back.

use std::{
    io::{BufRead, BufReader, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::secrets::Secrets;
use crate::json;

/// A line of the server.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) value: Value,
    pub(super) taken: bool,
}

impl Received {
    /// The id that it is a reply to; `None` for what is no reply.
    fn reply_to(&self) -> Option<&Value> {
        let reply = self.value.get("result").is_some() || self.value.get("error").is_some();
        let named = self.value.get("id");
        (reply || named.is_some()).then(|| named.unwrap_or(&Value::Null))
    }

    /// The parameters of a pushed event.
    pub(super) fn event(&self) -> Option<&Value> {
        let is = self.value.get("method")? == "event" && self.value.get("id").is_none();
        self.value.get("params").filter(|_| is)
    }
}

#[derive(Debug, Default)]
struct Log {
    lines: Vec<Received>,
    closed: bool,
    /// The first line that should never have been written, and why.
    bad: Option<String>,
}

type Shared = Arc<(Mutex<Log>, Condvar)>;

fn lock(shared: &Shared) -> MutexGuard<'_, Log> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) struct Connection {
    stream: UnixStream,
    shared: Shared,
    /// The ids whose replies somebody has asked for and not taken.
    expected: Vec<Value>,
    /// From here on, a pushed event breaks the quiet.
    quiet_from: usize,
}

/// Why what was waited for did not come.
pub(super) enum Missing {
    Timeout,
    Closed,
    Bad(String),
}

impl Connection {
    pub(super) fn open(address: &Path, secrets: Arc<Secrets>) -> Result<Self, String> {
        let stream = UnixStream::connect(address)
            .map_err(|error| format!("the socket can't be connected to: {error}"))?;
        let reading = stream
            .try_clone()
            .map_err(|error| format!("the socket can't be read: {error}"))?;
        let shared = Shared::default();
        let to = shared.clone();
        std::thread::Builder::new()
            .name("case:read".into())
            .spawn(move || read(reading, &to, &secrets))
            .map_err(|error| format!("no thread to read with: {error}"))?;
        Ok(Self {
            stream,
            shared,
            expected: Vec::new(),
            quiet_from: 0,
        })
    }

    pub(super) fn send(&mut self, text: &str, newline: bool) -> Result<(), String> {
        let mut bytes = text.as_bytes().to_vec();
        if newline {
            bytes.push(b'\n');
        }
        self.stream
            .write_all(&bytes)
            .map_err(|error| format!("the server doesn't take it: {error}"))
    }

    pub(super) fn shut(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// A reply to this id may come from now on.
    pub(super) fn expect(&mut self, id: Value) {
        self.expected.push(id);
    }

    /// Waits until `look` finds something in what has come, or the time is over.
    fn wait<T>(
        &self,
        until: Instant,
        mut look: impl FnMut(&mut Log) -> Option<T>,
    ) -> Result<T, Missing> {
        let mut log = lock(&self.shared);
        loop {
            if let Some(bad) = &log.bad {
                return Err(Missing::Bad(bad.clone()));
            }
            if let Some(found) = look(&mut log) {
                return Ok(found);
            }
            if log.closed {
                return Err(Missing::Closed);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Missing::Timeout);
            }
            log = self
                .shared
                .1
                .wait_timeout(log, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits for the reply to one of these ids, the first of them first.
    pub(super) fn reply(&mut self, ids: &[Value], until: Instant) -> Result<Value, Missing> {
        let (at, id, value) = self.wait(until, |log| {
            ids.iter().find_map(|id| {
                let of = |line: &Received| !line.taken && line.reply_to() == Some(id);
                let at = log.lines.iter().position(of)?;
                let line = log.lines.get_mut(at)?;
                line.taken = true;
                Some((at, id.clone(), line.value.clone()))
            })
        })?;
        self.quiet_from = self.quiet_from.max(at + 1);
        for id in ids {
            if let Some(at) = self.expected.iter().position(|expected| expected == id) {
                self.expected.swap_remove(at);
            }
        }
        let _ = id;
        Ok(value)
    }

    /// Waits for the next pushed event that `fits`; those before it are passed over.
    pub(super) fn event(
        &mut self,
        until: Instant,
        mut fits: impl FnMut(&Value) -> bool,
    ) -> Result<(), Missing> {
        let at = self.wait(until, |log| {
            for (at, line) in log.lines.iter_mut().enumerate() {
                if !line.taken && line.event().is_some() {
                    line.taken = true;
                    if line.event().is_some_and(&mut fits) {
                        return Some(at);
                    }
                }
            }
            None
        })?;
        self.quiet_from = self.quiet_from.max(at + 1);
        Ok(())
    }

    /// Listens for so long: the first pushed event, if one comes.
    pub(super) fn listen(&self, time: Duration) -> Result<Option<Value>, Missing> {
        let from = self.quiet_from;
        let heard = self.wait(Instant::now() + time, |log| {
            let mut new = log.lines.iter().skip(from);
            new.find_map(|line| line.event().cloned())
        });
        match heard {
            Ok(event) => Ok(Some(event)),
            Err(Missing::Timeout | Missing::Closed) => Ok(None),
            Err(bad) => Err(bad),
        }
    }

    pub(super) fn wait_closed(&self, until: Instant) -> Result<(), Missing> {
        match self.wait(until, |log| log.closed.then_some(())) {
            Err(Missing::Closed) => Ok(()),
            other => other,
        }
    }

    /// What came that should not have: a line that is no message, a secret, a reply that no
    /// step asked for.
    pub(super) fn stray(&self) -> Option<String> {
        let log = lock(&self.shared);
        if let Some(bad) = &log.bad {
            return Some(bad.clone());
        }
        let mut expected = self.expected.clone();
        for line in log.lines.iter().filter(|line| !line.taken) {
            let Some(id) = line.reply_to() else { continue };
            match expected.iter().position(|expected| expected == id) {
                Some(at) => {
                    expected.swap_remove(at);
                }
                None => {
                    return Some(format!(
                        "a reply came that no step asked for: {}",
                        json::short(&line.value, 2000)
                    ));
                }
            }
        }
        None
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shut();
    }
}

fn read(stream: UnixStream, shared: &Shared, secrets: &Secrets) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let ended = matches!(reader.read_until(b'\n', &mut line), Ok(0) | Err(_));
        let judged = (!line.is_empty()).then(|| judge(&line, secrets));
        let mut log = lock(shared);
        match judged {
            Some(Ok(value)) => log.lines.push(Received {
                value,
                taken: false,
            }),
            Some(Err(why)) => {
                log.bad.get_or_insert(why);
            }
            None => {}
        }
        log.closed = ended;
        shared.1.notify_all();
        if ended {
            return;
        }
    }
}

fn judge(line: &[u8], secrets: &Secrets) -> Result<Value, String> {
    let text = String::from_utf8_lossy(line);
    let shown = json::cut(text.trim_end(), 2000);
    let value = json::parse(&text);
    if let Some(secret) = secrets.found_in(&text, value.as_ref().ok()) {
        return Err(format!(
            "{secret:?} is never to be on the wire, and is in this line: {shown}"
        ));
    }
    let Ok(value) = value else {
        return Err(format!("the server wrote a line that is not JSON: {shown}"));
    };
    if std::str::from_utf8(line).is_err() || !text.ends_with('\n') {
        return Err(format!(
            "the server wrote a line that is not UTF-8 or has no end: {shown}"
        ));
    }
    let has = |key| value.get(key).is_some();
    let reply = has("result") != has("error") && !has("method") && has("id");
    let notification = has("method") && !has("id") && !has("result") && !has("error");
    if value.get("jsonrpc") == Some(&Value::from("2.0")) && (reply || notification) {
        Ok(value)
    } else {
        Err(format!(
            "the server wrote a line that is neither a reply nor a notification: {shown}"
        ))
    }
}
