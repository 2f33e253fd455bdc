//! What is measured over a socket: an app, or the ping-pong, and its one client, which is on the
//! caller's thread. The app is in the same process, unless its toolkit wants the main thread.

use std::{
    any::Any,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    time::{Duration, Instant},
};

use agent_surface::{AuthGate, Builder, Decision, Limits};
use serde_json::{Value, json};

use crate::{EXPOSED, thread_clock::ThreadClock};

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// That the line of a click comes back as it is: of the ping-pong only.
    Back,
    /// `describe_ui`.
    Describe,
    /// `click` on a button.
    Click,
    /// `set_text` of a field, always a different text.
    SetText,
    /// Nothing, but to be told: the app changes a field by itself, and the line of a subscriber
    /// who has events pushed is waited for, from the change on. Headless only.
    Told,
}

/// How an app changes a field by itself on its UI thread, where the time is noted.
pub(crate) type Change = Box<dyn Fn(Sender<Instant>)>;

/// How often the app's own handler of a click has run, by the app's account.
pub(crate) type Clicks = Box<dyn FnMut() -> io::Result<usize>>;

/// The account of an app in this process.
pub(crate) fn counted(clicks: Arc<AtomicUsize>) -> Clicks {
    Box::new(move || Ok(clicks.load(Ordering::Relaxed)))
}

/// An app, or the ping-pong, and its client.
pub struct Served {
    // Dropped first: the ping-pong ends when its client hangs up.
    client: Option<Client>,
    ui: ThreadClock,
    clicks: Clicks,
    /// How often it was asked to run.
    clicked: usize,
    /// Of the field that is written to.
    version: Option<u64>,
    change: Option<Change>,
    /// The client is told of changes.
    listens: bool,
    /// The app and what serves it, to be dropped.
    _app: Box<dyn Any>,
    folder: Folder,
}

impl Served {
    pub(crate) fn new(folder: Folder, ui: ThreadClock, clicks: Clicks, app: impl Any) -> Self {
        Self {
            client: None,
            ui,
            clicks,
            clicked: 0,
            version: None,
            change: None,
            listens: false,
            _app: Box::new(app),
            folder,
        }
    }

    pub(crate) fn changing(mut self, change: Change) -> Self {
        self.change = Some(change);
        self
    }

    /// Asks, connecting the client if it is not yet, and answers how long it took until the
    /// whole reply was there. That it is the right one is checked after that.
    ///
    /// # Errors
    /// If the connection broke, or the reply is not that of a request that was carried out.
    pub fn ask(&mut self, what: Ask) -> io::Result<Duration> {
        let line = match what {
            Ask::Told => return self.told(),
            Ask::Back | Ask::Click => request("click", json!({"id": "button-7"})),
            Ask::Describe => request("describe_ui", json!({})),
            Ask::SetText => {
                let version = match self.version {
                    Some(version) => version,
                    None => self.read_version()?,
                };
                // As the version goes up with each edit, no two texts in a row are the same.
                let value = format!("text {version}");
                let edit = json!({"id": "field-3", "value": value, "base_version": version});
                request("set_text", edit)
            }
        };
        self.clicked += usize::from(what == Ask::Click);
        let (reply, took) = self.client()?.ask(&line)?;
        let done = match what {
            Ask::Back => reply == line,
            Ask::Describe => {
                let exposed = parse(&reply)?["result"]["nodes"].as_array().map(Vec::len);
                // The window is exposed too.
                exposed == Some(EXPOSED + 1)
            }
            Ask::Click => allowed(&parse(&reply)?),
            Ask::SetText => {
                let reply = parse(&reply)?;
                self.version = reply["result"]["version"].as_u64();
                allowed(&reply) && self.version.is_some()
            }
            Ask::Told => false,
        };
        // Whatever was asked for, so that there is the same between any two requests.
        match done && self.clicks()? == self.clicked {
            true => Ok(took),
            false => Err(unexpected(&reply)),
        }
    }

    fn told(&mut self) -> io::Result<Duration> {
        if !self.listens {
            let line = request("subscribe", json!({"verb": "changed", "push": true}));
            let (reply, _) = self.client()?.ask(&line)?;
            if !parse(&reply)?["result"]["subscription"].is_string() {
                return Err(unexpected(&reply));
            }
            self.listens = true;
        }
        let (noted, changed) = channel();
        let change = self.change.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        change(noted);
        let (line, read) = self.client()?.read()?;
        let event = parse(&line)?;
        if event["params"]["verb"] != "changed" {
            return Err(unexpected(&line));
        }
        let changed = changed.recv().map_err(io::Error::other)?;
        Ok(read.duration_since(changed))
    }

    /// Has the client listen, and wait in so many requests for what never happens.
    ///
    /// # Errors
    /// If it is not let listen, or the connection broke.
    pub fn wait(&mut self, waits: usize) -> io::Result<()> {
        let line = request("subscribe", json!({"push": true}));
        let (reply, _) = self.client()?.ask(&line)?;
        if !parse(&reply)?["result"]["subscription"].is_string() {
            return Err(unexpected(&reply));
        }
        for _ in 0..waits {
            let wait = json!({"id": "button-7", "until": "gone", "timeout_ms": 30_000});
            let line = request("wait_for", wait);
            self.client()?.writer.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn client(&mut self) -> io::Result<&mut Client> {
        let client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(&self.folder)?,
        };
        Ok(self.client.insert(client))
    }

    fn read_version(&mut self) -> io::Result<u64> {
        let line = request("get_text", json!({"id": "field-3"}));
        let (reply, _) = self.client()?.ask(&line)?;
        let version = parse(&reply)?["result"]["version"].as_u64();
        version.ok_or_else(|| unexpected(&reply))
    }

    /// How long its UI thread has run.
    pub fn ui(&self) -> &ThreadClock {
        &self.ui
    }

    /// How often the UI thread was given a processor in this time, with nobody asking
    /// anything. `None`: the system doesn't tell.
    pub fn turns_in(&self, time: Duration) -> Option<u64> {
        let before = self.ui.spent()?;
        std::thread::sleep(time);
        Some(self.ui.spent()?.turns - before.turns)
    }

    /// How often the app's own handler of a click has run.
    ///
    /// # Errors
    /// If the app is gone.
    pub fn clicks(&mut self) -> io::Result<usize> {
        (self.clicks)()
    }
}

/// Everybody is let in, as often as they like: it is not the bounds that are measured.
pub fn open_to_all(builder: Builder) -> Builder {
    builder
        .gate(AuthGate::serve(|_| Decision::Allow))
        .limits(Limits {
            actions: None,
            ..Limits::default()
        })
}

fn request(method: &str, mut params: Value) -> String {
    // A window of 100,000 widgets takes a while to draw.
    params["timeout_ms"] = json!(30_000);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    format!("{request}\n")
}

fn parse(reply: &str) -> io::Result<Value> {
    serde_json::from_str(reply).map_err(io::Error::other)
}

fn allowed(reply: &Value) -> bool {
    reply["result"]["outcome"] == "allowed"
}

fn unexpected(reply: &str) -> io::Error {
    io::Error::other(format!("not the reply that was expected: {reply}"))
}

struct Client {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Client {
    fn connect(folder: &Folder) -> io::Result<Self> {
        let writer = UnixStream::connect(folder.socket())?;
        // Rather an error than a benchmark that hangs.
        writer.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self {
            reader: BufReader::with_capacity(64 * 1024, writer.try_clone()?),
            writer,
        })
    }

    fn ask(&mut self, line: &str) -> io::Result<(String, Duration)> {
        let begun = Instant::now();
        self.writer.write_all(line.as_bytes())?;
        let (reply, read) = self.read()?;
        Ok((reply, read.duration_since(begun)))
    }

    /// The next line, and when it was there.
    fn read(&mut self) -> io::Result<(String, Instant)> {
        let mut line = String::with_capacity(16 * 1024);
        self.reader.read_line(&mut line)?;
        Ok((line, Instant::now()))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.writer.shutdown(std::net::Shutdown::Both);
    }
}

/// A folder for one socket, closed to others.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        let closed = std::fs::Permissions::from_mode(0o700);
        let mut builder = tempfile::Builder::new();
        builder.permissions(closed).tempdir().map(Self)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.beside("bench.sock")
    }

    /// Another file in it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}
