#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(all(feature = "appkit", feature = "consent"))]
mod appkit_prompt;
#[cfg(all(feature = "inspector", feature = "consent"))]
mod inspected_consent;

use std::{os::fd::OwnedFd, path::PathBuf, sync::Arc};

use agent_core::Backend;
use agent_mcp::Config;

#[cfg(feature = "appkit")]
pub use agent_appkit as appkit;
#[cfg(feature = "consent")]
pub use agent_consent as consent;
#[cfg(feature = "consent_egui")]
pub use agent_consent_egui as consent_egui;
pub use agent_core::{
    AuthGate, Channel, Decision, EventVerb, Peer, Reason, Request, Role, Scope, Tag, Verb, VerbSet,
};
#[cfg(feature = "egui")]
pub use agent_egui as egui;
#[cfg(feature = "headless")]
pub use agent_headless as headless;
#[cfg(feature = "inapp")]
pub use agent_inapp as inapp;
pub use agent_mcp::{ActionRate, Client, FdPeer, Limits, ServeError};
#[cfg(all(feature = "appkit", feature = "consent"))]
pub use appkit_prompt::{AppKitPrompt, AppKitTexts};

/// What one app offers to agents, while it is served. Dropping it ends that: the socket is
/// closed, its files are removed, requests that wait are answered with an error.
///
/// Any thread.
#[must_use = "dropping the surface stops serving it: keep it as long as the app runs"]
pub struct Surface {
    /// `None`: no socket is open, for the app's own assistant alone.
    server: Option<agent_mcp::Server>,
    backend: Arc<dyn Backend>,
    #[cfg(feature = "inapp")]
    host: Arc<agent_inapp::Host>,
}

impl Surface {
    /// Begins with the app's id: 1 to 200 letters, digits, `-`, `_`, `.`, `:`, in reverse
    /// domain form by custom (`org.example.orders`).
    pub fn builder(app: impl Into<String>) -> Builder {
        let app = app.into();
        Builder {
            name: app.clone(),
            app,
            gate: AuthGate::deny_all(),
            backend: None,
            armed_full: false,
            #[cfg(feature = "inspector")]
            inspectable: None,
            #[cfg(feature = "inspector")]
            armed_inspector: false,
            limits: Limits::default(),
            path: None,
        }
    }

    /// Where the socket is; `None` when a connected stream is served, or no socket is open.
    pub fn address(&self) -> Option<&std::path::Path> {
        self.server.as_ref()?.address()
    }

    /// Who is connected now: agents outside, and sessions of the app's own assistants.
    pub fn clients(&self) -> Vec<Client> {
        #[cfg_attr(
            not(feature = "inapp"),
            expect(unused_mut, reason = "there is nobody else")
        )]
        let mut clients = self
            .server
            .as_ref()
            .map_or_else(Vec::new, agent_mcp::Server::clients);
        #[cfg(feature = "inapp")]
        clients.extend(self.host.members().into_iter().map(|member| Client {
            connection: member.connection,
            claimed_name: Some(member.name),
            peer: None,
            since: member.since,
            admitted: member.admitted,
        }));
        clients
    }

    /// A session for an assistant that is part of the app, under this name, which the user is
    /// shown. Only who has this handle can make one. Any thread; each call makes another one.
    ///
    /// Its assistant isn't asked for consent: see [`inapp::Session`].
    #[cfg(feature = "inapp")]
    pub fn session(&self, name: impl Into<String>) -> agent_inapp::Session {
        self.host.session(name)
    }

    /// Refuses every agent that is connected now, from here on: when this returns, nothing of
    /// theirs that had not begun will be performed. Agents that connect later are asked about
    /// at the gate.
    pub fn revoke(&self) {
        if let Some(server) = &self.server {
            server.revoke();
        }
        #[cfg(feature = "inapp")]
        self.host.revoke_all();
    }

    /// Raises an event of the app's own on a tagged node, for a widget that the toolkit says
    /// nothing about: `surface.emit("chart", EventVerb::Changed)`. On a node that is not
    /// exposed it does nothing.
    pub fn emit(&self, id: &str, verb: EventVerb) {
        self.backend.emit(id, verb);
    }

    /// Stops serving; the same as dropping it.
    pub fn stop(self) {}
}

#[cfg(feature = "inapp")]
impl Drop for Surface {
    fn drop(&mut self) {
        self.host.stop();
    }
}

/// A surface that is being put together, from [`Surface::builder`].
#[must_use = "nothing is served until serve() is called"]
pub struct Builder {
    app: String,
    name: String,
    gate: AuthGate,
    backend: Option<Arc<dyn Backend>>,
    armed_full: bool,
    #[cfg(feature = "inspector")]
    inspectable: Option<Arc<dyn agent_inspect::Inspectable>>,
    #[cfg(feature = "inspector")]
    armed_inspector: bool,
    limits: Limits,
    path: Option<PathBuf>,
}

impl Builder {
    /// What the app calls itself to people; its id, if this is not set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Who is let in. Without a gate: nobody.
    pub fn gate(mut self, gate: AuthGate) -> Self {
        self.gate = gate;
        self
    }

    /// Serves an egui app's windows. On the UI thread, outside a pass.
    #[cfg(feature = "egui")]
    pub fn egui(self, ctx: &agent_egui::Context) -> Self {
        #[cfg(feature = "inspector")]
        let this = self.inspectable(agent_egui::inspectable(ctx));
        #[cfg(not(feature = "inspector"))]
        let this = self;
        this.backend(agent_egui::open(ctx))
    }

    /// Serves an AppKit app's windows, those that open later too. On the main thread, whose run
    /// loop does what agents ask.
    #[cfg(feature = "appkit")]
    pub fn appkit(self, main_thread: agent_appkit::MainThreadMarker) -> Self {
        let this = self.backend(agent_appkit::open(main_thread));
        #[cfg(feature = "inspector")]
        let this = this.inspectable(agent_appkit::inspectable(main_thread));
        this
    }

    /// Serves scripted widgets, which have no display.
    #[cfg(feature = "headless")]
    pub fn headless(self, app: &agent_headless::Headless) -> Self {
        #[cfg(feature = "inspector")]
        let this = self.inspectable(Arc::new(app.handle()));
        #[cfg(not(feature = "inspector"))]
        let this = self;
        this.backend(Arc::new(app.handle()))
    }

    /// Serves a backend of another crate.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Lets whoever the gate admits for [`Scope::Full`] see the whole tree, unexposed parts
    /// included, though never secrets and what is excluded. It widens nothing that can be done.
    pub fn arm_full(mut self) -> Self {
        self.armed_full = true;
        self
    }

    /// What an inspector asks of a backend of another crate.
    #[cfg(feature = "inspector")]
    pub fn inspectable(mut self, app: Arc<dyn agent_inspect::Inspectable>) -> Self {
        self.inspectable = Some(app);
        self
    }

    /// Lets whoever the gate admits for [`Scope::Inspector`] look at everything there is, for the
    /// app's developer: the whole tree with every property, what agents see of it and why,
    /// pictures. Never what is secret or excluded. A yes to an agent is no yes to this.
    #[cfg(feature = "inspector")]
    pub fn arm_inspector(mut self) -> Self {
        self.armed_inspector = true;
        self
    }

    /// Other bounds than the wire's own.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Binds this path instead of the default address. Its folder must belong to the user and
    /// be closed to others. Nobody finds it by looking for running apps.
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Binds, on the calling thread, and serves from threads of its own.
    ///
    /// # Errors
    /// Each says what to do next; the app can go on without being served.
    pub fn serve(mut self) -> Result<Surface, ServeError> {
        let path = self.path.take();
        self.start(|config| match path {
            Some(path) => agent_mcp::serve_uds(config, &path),
            None => agent_mcp::serve(config),
        })
    }

    /// Serves one stream that is connected already, such as half of a `socketpair`. The kernel
    /// says of such a pair only who made it, which is the app itself: `peer` says who is at the
    /// other end, or that nobody knows.
    ///
    /// # Errors
    /// If it is not a stream socket, or its other end belongs to another user.
    pub fn serve_fd(self, stream: OwnedFd, peer: FdPeer) -> Result<Surface, ServeError> {
        self.start(|config| agent_mcp::serve_fd(config, stream, peer))
    }

    /// Serves the app's own assistant alone, by [`Surface::session`]: no socket is opened.
    ///
    /// # Errors
    /// If the app's id is none.
    #[cfg(feature = "inapp")]
    pub fn serve_in_app(self) -> Result<Surface, ServeError> {
        agent_core::check_id(&self.app).map_err(ServeError::App)?;
        let backend = self.backend.unwrap_or_else(|| Arc::new(Nothing));
        let host = agent_inapp::Host::new(self.app, self.name, backend.clone(), self.gate);
        Ok(Surface {
            server: None,
            backend,
            host,
        })
    }

    fn start(
        self,
        serve: impl FnOnce(Config) -> Result<agent_mcp::Server, ServeError>,
    ) -> Result<Surface, ServeError> {
        #[cfg(feature = "inspector")]
        let inspector = match self.inspectable.filter(|_| self.armed_inspector) {
            Some(app) => agent_mcp::Inspector::armed(app),
            None => agent_mcp::Inspector::default(),
        };
        #[cfg(all(feature = "inspector", feature = "consent"))]
        let inspector = match inspected_consent::read(&self.gate) {
            Some(read) => inspector.with_consent(read),
            None => inspector,
        };
        #[cfg(not(feature = "inspector"))]
        let inspector = agent_mcp::Inspector::default();
        let backend = self.backend.unwrap_or_else(|| Arc::new(Nothing));
        // Between the two, so that it is one app to the backend.
        #[cfg(feature = "inapp")]
        let host = agent_inapp::Host::new(
            self.app.clone(),
            self.name.clone(),
            backend,
            // Beside the server, which has the inspector listen for itself.
            #[cfg(feature = "inspector")]
            inspector.listening(self.gate.clone()),
            #[cfg(not(feature = "inspector"))]
            self.gate.clone(),
        );
        #[cfg(feature = "inapp")]
        let backend: Arc<dyn Backend> = host.clone();
        let server = serve(Config {
            app: self.app,
            name: self.name,
            gate: self.gate,
            backend: backend.clone(),
            armed_full: self.armed_full,
            inspector,
            limits: self.limits,
        })?;
        Ok(Surface {
            server: Some(server),
            backend,
            #[cfg(feature = "inapp")]
            host,
        })
    }
}

/// An app without a toolkit has no windows.
struct Nothing;

impl Backend for Nothing {
    fn submit(&self, job: agent_core::Job) {
        if let Some(job) = job.enter(std::time::Instant::now()) {
            job.reply
                .send(agent_core::Answer::Fault(agent_core::Fault::Closed));
        }
    }

    fn purge(&self) {}

    fn has_window(&self, _: &str) -> bool {
        false
    }

    fn emit(&self, _: &str, _: EventVerb) {}

    fn listen(&self, _: agent_core::EventSink) {}

    fn set_listeners(&self, _: usize) {}

    fn set_clients(&self, _: usize) {}
}
