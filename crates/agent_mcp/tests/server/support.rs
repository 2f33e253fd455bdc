//! A backend with a thread of its own, a folder, and a server of both.

use std::{
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use agent_core::{
    Acted, Action, Answer, AuthGate, Backend, Call, Described, Description, EventVerb, Fault,
    Inbox, Job, Refusal, Role, States, TextRead, VerbSet, Why,
};
use agent_mcp::{Config, Limits, Server, serve_uds};
use agent_test_support::{Client, allow, eventually};

/// What the backend does with a click.
#[derive(Clone, Debug, Default)]
pub(crate) enum Clicks {
    /// Performs it.
    #[default]
    Work,
    /// Blocks the UI thread until it may [go on](Fake::go_on), then performs it.
    Block,
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
    blocked: Mutex<bool>,
    unblocked: Condvar,
    /// What the field holds.
    pub(crate) text: Mutex<String>,
    /// What the button is called.
    pub(crate) name: Mutex<String>,
    pub(crate) submitted: AtomicUsize,
    pub(crate) clicked: AtomicUsize,
    pub(crate) clients: AtomicUsize,
    pub(crate) listeners: AtomicUsize,
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
        if matches!(clicks, Clicks::Block) {
            *self.blocked.lock().unwrap() = true;
        }
        *self.clicks.lock().unwrap() = clicks;
    }

    /// Ends what [`Clicks::Block`] began.
    pub(crate) fn go_on(&self) {
        *self.blocked.lock().unwrap() = false;
        self.unblocked.notify_all();
    }

    /// Waits until the first request is being performed.
    pub(crate) fn wait_until_entered(&self) {
        eventually("it has entered", || {
            self.submitted() == 1 && self.queued() == 0
        });
    }

    /// How many requests it took and didn't answer.
    pub(crate) fn hung(&self) -> usize {
        self.hung.lock().unwrap().len()
    }

    /// Answers them after all, as requests to listen.
    pub(crate) fn listen_late(&self) {
        for job in std::mem::take(&mut *self.hung.lock().unwrap()) {
            job.reply.send(Answer::Heard { revision: 3 });
        }
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
            Call::Subscribe { .. } => {
                if matches!(*self.clicks.lock().unwrap(), Clicks::Hang) {
                    return self.hung.lock().unwrap().push(job);
                }
                Answer::Heard { revision: 3 }
            }
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
                    Clicks::Block => {
                        let blocked = self.blocked.lock().unwrap();
                        drop(self.unblocked.wait_while(blocked, |it| *it).unwrap());
                    }
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
                place: None,
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
        self.go_on();
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

    fn set_listeners(&self, listeners: usize) {
        self.listeners.store(listeners, Ordering::SeqCst);
    }

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
        inspector: agent_mcp::Inspector::default(),
        limits: Limits::default(),
    }
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
