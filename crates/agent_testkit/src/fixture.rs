//! What a backend implements to take part: it builds a case's user interface with its
//! toolkit's own widgets, has it served, and does on the UI thread what the conversation asks.
//!
//! ```text
//! main thread  Fixture::run(session)
//!                build the windows                from session.windows()
//!                session.serve(..)  ───────────►  the conversation, on a thread of its own
//!                loop: the toolkit's own turns,
//!                      running.try_next() ◄─────  Ask, after which `wake` was called
//!                      do it, frame included
//!                      asked.done(..)  ────────►  the next step
//!                until Ask::Quit
//! ```
//!
//! Widgets may be built and changed ([`fixtures::headless`](crate::fixtures::headless)) or
//! drawn anew in each frame ([`fixtures::egui`](crate::fixtures::egui), from a
//! [`Model`](crate::model::Model)); and since `run` is called on the main thread, a toolkit
//! that insists on that one is at home.

use std::{
    path::PathBuf,
    sync::{Arc, Weak, mpsc},
    time::Duration,
};

use agent_core::Tag;
use agent_surface::{Builder, Surface};

use crate::{
    case::{App, Case, Consent, Node},
    control::{Asked, Control, Counters},
    door::Door,
};

/// The id of every case's app.
const APP: &str = "org.example.case";

/// A backend that runs cases.
pub trait Fixture {
    /// Its name, as in a case's `skip`.
    fn name(&self) -> &'static str;

    /// Why this toolkit can't show a case, if it can't: a kind of widget or a step that it
    /// truly lacks, never one that is not written yet.
    fn lacks(&self, case: &Case) -> Option<String>;

    /// Takes over the calling thread, which is the main thread: builds the user interface, has
    /// it served by [`Session::serve`], and runs the toolkit until it is asked to quit.
    ///
    /// What is asked for ([`Asked`]) is done before what agents ask from then on, and is over,
    /// frame included, before [`Asked::done`] is called.
    ///
    /// # Errors
    /// If the user interface can't be built or served.
    fn run(&self, session: Session) -> Result<(), String>;
}

/// How patient a run is, and how it is disturbed.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long one step may take.
    pub step: Duration,
    /// The seed of random delays on the UI thread, if there are to be any.
    pub shake: Option<u64>,
    /// Where the current step is written to, for whoever has to end a run that hangs.
    pub status: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            step: Duration::from_secs(30),
            shake: None,
            status: None,
        }
    }
}

/// What is done with the app once it is served: the conversation begins.
type Begin = Box<dyn FnOnce(PathBuf, Control)>;

/// One run of one case, before its app is served. UI thread.
pub struct Session {
    case: Arc<Case>,
    socket: PathBuf,
    patience: Duration,
    counters: Counters,
    begin: Begin,
}

impl Session {
    /// Of `case`, its socket at a path of the run's own; `begin` is called with the socket and
    /// the hold on the app when it is served.
    pub fn new(
        case: Arc<Case>,
        socket: PathBuf,
        patience: Duration,
        begin: impl FnOnce(PathBuf, Control) + 'static,
    ) -> Self {
        Self {
            case,
            socket,
            patience,
            counters: Counters::default(),
            begin: Box::new(begin),
        }
    }

    /// The windows to begin with.
    pub fn windows(&self) -> &[Node] {
        &self.case.windows
    }

    /// What the app has switched on.
    pub fn app(&self) -> &App {
        &self.case.app
    }

    /// Where the effect `count` counts. To be kept by handlers.
    pub fn counters(&self) -> Counters {
        self.counters.clone()
    }

    /// Serves the app, and begins the conversation. `attach` gives the builder its backend;
    /// `wake` is called on another thread whenever there is something to be asked, and must get
    /// an idle UI thread to look at [`Running::try_next`].
    ///
    /// # Errors
    /// If it can't be served, or asks for what isn't there.
    pub fn serve(
        self,
        attach: impl FnOnce(Builder) -> Builder,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Running, String> {
        let app = &self.case.app;
        if app.armed_inspector {
            return Err("the inspector can't be armed: it isn't built yet".into());
        }
        // Beside the socket, in the run's own folder.
        let door = Door::new(APP, &self.socket.with_extension("rules"), app.consent);
        let mut builder = Surface::builder(APP).name("A case");
        if app.consent != Consent::None {
            builder = builder.gate(door.gate());
        }
        if app.armed_full {
            builder = builder.arm_full();
        }
        let surface = attach(builder)
            .at(&self.socket)
            .serve()
            .map_err(|error| format!("it can't be served: {error}"))?;
        let surface = Arc::new(surface);
        let revoked: Weak<Surface> = Arc::downgrade(&surface);
        let revoke = move || {
            if let Some(surface) = revoked.upgrade() {
                surface.revoke();
            }
        };
        let (control, asks) =
            Control::new(wake, revoke, door, self.counters.clone(), self.patience);
        (self.begin)(self.socket, control);
        Ok(Running {
            asks,
            _surface: surface,
        })
    }
}

/// An app that is being served, until this is dropped. UI thread.
pub struct Running {
    asks: mpsc::Receiver<Asked>,
    _surface: Arc<Surface>,
}

impl Running {
    /// What is asked for next, if anything is.
    pub fn try_next(&self) -> Option<Asked> {
        self.asks.try_recv().ok()
    }

    /// Waits for what is asked for next, where the toolkit has a thread of its own. `None`: the
    /// conversation is over.
    pub fn wait_next(&self) -> Option<Asked> {
        self.asks.recv().ok()
    }
}

/// What a node's developer says of it to agents. `None`: nothing. Its label, and the role of
/// what the toolkit has no word for, are the fixture's to add.
pub fn tag_of(node: &Node) -> Option<Tag> {
    let says = node.id.is_some()
        || node.key.is_some()
        || node.ceiling.is_some()
        || node.exposed.is_some()
        || node.secret
        || node.excluded
        || node.relayed
        || node.confirm;
    if !says {
        return None;
    }
    let mut tag = match (&node.id, &node.key) {
        (Some(id), _) => Tag::id(id.clone()),
        (None, Some(key)) => Tag::key(key.clone()),
        (None, None) => Tag::new(),
    };
    if let Some(ceiling) = node.ceiling {
        tag = tag.ceiling(ceiling);
    }
    if let Some(exposed) = node.exposed {
        tag = tag.exposed(exposed);
    }
    for (marked, mark) in [
        (node.secret, Tag::secret as fn(Tag) -> Tag),
        (node.excluded, Tag::excluded),
        (node.relayed, Tag::relayed),
        (node.confirm, Tag::confirm),
    ] {
        if marked {
            tag = mark(tag);
        }
    }
    Some(tag)
}
