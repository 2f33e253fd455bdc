//! A backend with a thread of its own, a client, a folder, and a server of all three.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::DirBuilderExt as _, net::UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use agent_core::{
    Acted, Action, Answer, AuthGate, Backend, Call, Decision, Described, Description, EventVerb,
    Fault, Inbox, Job, Refusal, Role, States, TextRead, VerbSet, Why,
};
use agent_mcp::{Config, Limits, Server, serve_uds};
use serde_json::{Value, json};

/// Longer than anything here takes on the slowest machine.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// What the backend does with a click.
#[derive(Clone, Debug, Default)]
pub(crate) enum Clicks {
    /// Performs it.
    #[default]
    Work,
    /// Blocks the UI thread for so long, then performs it.
    Block(Duration),
    /// Takes it, and never answers.
    Hang,
    /// Drops it unanswered.
    Drop,
    /// Refuses it.
    Refuse,
    /// Fails at it, with this text.
    Fail(&'static str),
}

/// A backend of one button, one field and one thread.
#[derive(Default)]
pub(crate) struct Fake {
    inbox: Mutex<(Inbox, bool)>,
    wake: Condvar,
    clicks: Mutex<Clicks>,
    /// What the field holds.
    pub(crate) text: Mutex<String>,
    /// What the button is called.
    pub(crate) name: Mutex<String>,
    pub(crate) submitted: AtomicUsize,
    pub(crate) clicked: AtomicUsize,
    pub(crate) clients: AtomicUsize,
    hung: Mutex<Vec<Job>>,
}

impl Fake {
    pub(crate) fn start() -> Arc<Self> {
        let fake = Arc::new(Self::default());
        let ui = fake.clone();
        std::thread::Builder::new()
            .name("fake-ui".into())
            .spawn(move || ui.run())
            .unwrap();
        fake
    }

    pub(crate) fn on_click(&self, clicks: Clicks) {
        *self.clicks.lock().unwrap() = clicks;
    }

    pub(crate) fn submitted(&self) -> usize {
        self.submitted.load(Ordering::SeqCst)
    }

    pub(crate) fn clicked(&self) -> usize {
        self.clicked.load(Ordering::SeqCst)
    }

    pub(crate) fn clients(&self) -> usize {
        self.clients.load(Ordering::SeqCst)
    }

    pub(crate) fn queued(&self) -> usize {
        self.inbox.lock().unwrap().0.len()
    }

    fn run(&self) {
        loop {
            let mut inbox = self.inbox.lock().unwrap();
            let job = loop {
                if inbox.1 {
                    return;
                }
                match inbox.0.pop() {
                    Some(job) => break job,
                    None => inbox = self.wake.wait(inbox).unwrap(),
                }
            };
            drop(inbox);
            if let Some(job) = job.enter(Instant::now()) {
                self.turn(job);
            }
        }
    }

    fn turn(&self, job: Job) {
        let answer = match &job.call {
            Call::Describe(_) => Answer::Described(self.describe()),
            Call::GetText { target, .. } if target.id == "field" => {
                let text = self.text.lock().unwrap().clone();
                Answer::Text(TextRead {
                    length: Some(text.chars().count() as u64),
                    text: Some(text),
                    version: 7,
                    from: None,
                    more: false,
                })
            }
            Call::GetText { .. } => Answer::Refused(Refusal::NotFound),
            Call::Subscribe { .. } => Answer::Heard { revision: 3 },
            Call::Wait(_) => Answer::Waited {
                met: true,
                revision: 3,
            },
            Call::Act { target, .. } if target.window.as_deref() == Some("main") => {
                assert!(job.view.window_was_there);
                Answer::Fault(Fault::WindowGone)
            }
            Call::Act { action, .. } if *action != Action::Click => acted(),
            Call::Act { .. } => {
                let clicks = self.clicks.lock().unwrap().clone();
                match clicks {
                    Clicks::Work => {}
                    Clicks::Block(time) => std::thread::sleep(time),
                    Clicks::Hang => return self.hung.lock().unwrap().push(job),
                    Clicks::Drop => return,
                    Clicks::Refuse => {
                        return job.reply.send(Answer::Refused(Refusal::NotActionable {
                            why: Why::BlockedByModal,
                            by: Some("sure".into()),
                        }));
                    }
                    Clicks::Fail(why) => {
                        return job.reply.send(Answer::Fault(Fault::Internal(why.into())));
                    }
                }
                self.clicked.fetch_add(1, Ordering::SeqCst);
                acted()
            }
        };
        job.reply.send(answer);
    }

    fn describe(&self) -> Description {
        Description {
            revision: 3,
            complete: true,
            nodes: vec![Described {
                id: "save".into(),
                role: Role::Button,
                name: self.name.lock().unwrap().clone(),
                actionable: true,
                parent: None,
                parent_id: None,
                omitted: 0,
                value: None,
                version: None,
                states: States::empty(),
                actions: VerbSet::empty(),
                frame: None,
                size: None,
                full: None,
            }],
            since: None,
        }
    }

    fn end(&self) {
        self.inbox.lock().unwrap().1 = true;
        self.wake.notify_all();
    }
}

fn acted() -> Answer {
    Answer::Acted(Acted {
        revision: 4,
        ..Acted::default()
    })
}

impl Backend for Fake {
    fn submit(&self, job: Job) {
        self.submitted.fetch_add(1, Ordering::SeqCst);
        self.inbox.lock().unwrap().0.push(job);
        self.wake.notify_one();
    }

    fn purge(&self) {
        self.inbox.lock().unwrap().0.purge();
    }

    fn has_window(&self, id: &str) -> bool {
        id == "main"
    }

    fn unsupported(&self) -> VerbSet {
        VerbSet::Focus
    }

    fn emit(&self, _: &str, _: EventVerb) {}

    fn listen(&self, _: agent_core::EventSink) {}

    fn set_listeners(&self, _: usize) {}

    fn set_clients(&self, clients: usize) {
        self.clients.store(clients, Ordering::SeqCst);
    }
}

/// A folder of this user's alone, gone at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("ams-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .unwrap();
        Self(path)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.0)
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server at a path of its own, and what is behind it.
pub(crate) struct Served {
    pub(crate) server: Server,
    pub(crate) fake: Arc<Fake>,
    pub(crate) folder: Folder,
}

pub(crate) fn config(fake: &Arc<Fake>, gate: AuthGate) -> Config {
    Config {
        app: "demo".into(),
        name: "Demo \"one\"".into(),
        gate,
        backend: fake.clone(),
        armed_full: false,
        limits: Limits::default(),
    }
}

pub(crate) fn allow() -> AuthGate {
    AuthGate::serve(|_| Decision::Allow)
}

/// A server that lets everybody in.
pub(crate) fn served() -> Served {
    served_with(|_| {})
}

pub(crate) fn served_with(change: impl FnOnce(&mut Config)) -> Served {
    let fake = Fake::start();
    let folder = Folder::new();
    let mut config = config(&fake, allow());
    change(&mut config);
    let server = serve_uds(config, &folder.0.join("s")).unwrap();
    Served {
        server,
        fake,
        folder,
    }
}

impl Served {
    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.server.address().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.stop();
        self.fake.end();
    }
}

/// Waits until it is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// One connection.
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

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a line as it is.
    pub(crate) fn raw(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Sends a request, and answers its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.raw(&request.to_string());
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
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

    /// Sends a request, and answers the next reply, which is to it.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let reply = self.reply();
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    pub(crate) fn click(&mut self) -> Value {
        self.ask("click", json!({"id": "save"}))
    }

    /// That the server serves this connection.
    pub(crate) fn assert_served(&mut self) {
        let reply = self.ask("hello", json!({}));
        assert_eq!(reply["result"]["app"], "demo", "{reply}");
    }

    /// That the server ends this connection, whatever it still says.
    pub(crate) fn assert_closed(&mut self) {
        let begun = Instant::now();
        while !self.line().is_empty() {
            assert!(begun.elapsed() < LONG, "it goes on");
        }
    }
}

pub(crate) fn reason(reply: &Value) -> &str {
    reply["error"]["data"]["reason"].as_str().unwrap_or("none")
}

pub(crate) fn limit(reply: &Value) -> &str {
    reply["error"]["data"]["limit"].as_str().unwrap_or("none")
}
