//! The policy of a real app: what it is built of, what it offers the app, how the gate asks it.

use std::{
    path::PathBuf,
    sync::{Arc, Weak, mpsc::Receiver},
    time::Duration,
};

use agent_core::{
    AuthGate, Channel, Confirmed, Connections, Decision, Pending, Policy, Question, Request,
};

use crate::{
    audit::{Audit, Rotating},
    clock::{Clock, SystemClock},
    decide::Mode,
    evidence::Agent,
    inner::{Act, Inner},
    keeper,
    notice::Notice,
    place,
    prompt::Prompt,
    rule::RuleId,
    state::{Connected, Remembered, Settings, State},
    store::{Problem, Store},
    texts::Texts,
    traffic,
};

/// Who may: asks the user once, remembers the answer, and takes it back. Cheap to clone; all
/// clones are one. Any thread; no call waits for the user, for a disk or for an agent.
#[derive(Clone)]
pub struct Consent {
    life: Arc<Life>,
}

/// Ends the threads with the last that holds it.
struct Life {
    inner: Arc<Inner>,
}

impl Drop for Life {
    fn drop(&mut self) {
        keeper::stop(&self.inner);
        // The last lines of the log are written before the app goes on.
        let audit = self.inner.lock().audit.take();
        drop(audit);
    }
}

impl Consent {
    /// Begins with the app's id, the same that its surface has: it is a part of each rule.
    pub fn builder(app: impl Into<String>) -> Builder {
        let seconds = Duration::from_secs;
        Builder {
            settings: Settings {
                app: app.into(),
                texts: Texts::default(),
                has_prompt: false,
                remembers_unproven: false,
                hold: Duration::ZERO,
                retry_after: seconds(2),
                cool_down: seconds(300),
                rest: seconds(10),
            },
            mode: Mode::Ask,
            clock: Arc::new(SystemClock),
            rules: None,
            log: None,
            logs: true,
            prompt: None,
            wake: None,
            on_act: None,
        }
    }

    /// The gate that this decides at, for the surface's builder.
    pub fn gate(&self) -> AuthGate {
        AuthGate::of(Arc::new(Gate(self.life.clone())))
    }

    /// The one that decides at this gate, if one does.
    pub fn behind(gate: &AuthGate) -> Option<Self> {
        let Gate(life) = gate.policy::<Gate>()?;
        Some(Self { life: life.clone() })
    }

    /// What becomes of agents about whom nothing is remembered.
    pub fn mode(&self) -> Mode {
        self.inner().lock().mode()
    }

    /// Changes it. Who is connected and would not be let in any more is refused from here on.
    pub fn set_mode(&self, mode: Mode) {
        self.inner().cut(|state| state.set_mode(mode));
    }

    /// "Stop all agents": when this returns, nothing of theirs that had not begun will be
    /// performed, what they listen to has ended, and questions are off the screen.
    pub fn stop_all(&self) {
        self.inner().cut(|state| state.lock_down(true));
    }

    /// Lets agents in again, as the mode and the rules say; unless the mode itself is lockdown.
    pub fn resume(&self) {
        self.inner().cut(|state| state.resume());
    }

    /// Whether [`resume`](Self::resume) would let agents in again: they are stopped, and not by
    /// the mode.
    pub fn can_resume(&self) -> bool {
        self.inner().lock().can_resume()
    }

    /// Whether all agents are stopped.
    pub fn is_stopped(&self) -> bool {
        self.mode() == Mode::Lockdown
    }

    /// What was decided about whom, by name.
    pub fn rules(&self) -> Vec<Remembered> {
        self.inner().lock().rules()
    }

    /// Takes a rule back. When this returns, nothing of that agent's that had not begun will be
    /// performed, what it listens to has ended, and it is asked about when it comes again. False:
    /// there was no such rule.
    ///
    /// The file is removed by another thread right after; should that fail it is told.
    pub fn revoke(&self, rule: &RuleId) -> bool {
        let mut found = false;
        self.inner().cut(|state| {
            let cut = state.revoke(rule);
            found = cut.is_some();
            cut.unwrap_or_default()
        });
        found
    }

    /// The same with all rules, and with all agents outside the app that are connected, whatever
    /// let them in.
    pub fn revoke_all(&self) {
        self.inner().cut(|state| state.revoke_all());
    }

    /// Stops the agent of this connection, on all its connections: takes back what it was
    /// allowed, and refuses it without a question for as long as after a no. False: there is no
    /// such connection.
    pub fn stop(&self, connection: u64) -> bool {
        let mut found = false;
        self.inner().cut(|state| {
            let cut = state.stop(connection);
            found = cut.is_some();
            cut.unwrap_or_default()
        });
        found
    }

    /// Who is connected, has made a request and was not stopped.
    pub fn connected(&self) -> Vec<Connected> {
        self.inner().lock().connected()
    }

    /// What happens from now on. Up to 1,024 notices wait to be fetched; what is lost beyond
    /// that is counted. Dropping the receiver ends it.
    pub fn notices(&self) -> Receiver<Notice> {
        self.inner().lock().listen()
    }

    /// What was found in place of rules: nobody is allowed by these.
    pub fn problems(&self) -> Vec<Problem> {
        self.inner().lock().problems()
    }

    /// For tests of what doesn't depend on how an agent is found.
    #[cfg(test)]
    pub(crate) fn pretend(&self, request: &Request, agent: Agent) {
        keeper::catch_up(self.inner());
        self.pretend_known(request, agent);
    }

    /// The same, without a look at what is remembered.
    #[cfg(test)]
    pub(crate) fn pretend_known(&self, request: &Request, agent: Agent) {
        self.inner().change(|state| state.meet(request, agent));
        self.inner().work.notify_all();
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.life.inner
    }
}

impl std::fmt::Debug for Consent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consent")
            .field("mode", &self.mode())
            .finish_non_exhaustive()
    }
}

/// A consent that is being put together, from [`Consent::builder`].
#[must_use = "nothing is decided until build() is called"]
pub struct Builder {
    settings: Settings,
    mode: Mode,
    clock: Arc<dyn Clock>,
    rules: Option<PathBuf>,
    log: Option<PathBuf>,
    logs: bool,
    prompt: Option<Arc<dyn Prompt>>,
    wake: Option<Box<dyn Fn() + Send + Sync>>,
    on_act: Option<crate::inner::OnAct>,
}

impl Builder {
    /// How the user is asked. Without a prompt, who would be asked about is refused.
    pub fn prompt(mut self, prompt: impl Prompt) -> Self {
        self.prompt = Some(Arc::new(prompt));
        self
    }

    /// What becomes of agents about whom nothing is remembered; [`Mode::Ask`] if not set.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Another folder for the rules than `agent-surface/rules/<app id>` in the user's state
    /// folder.
    pub fn rules_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.rules = Some(folder.into());
        self
    }

    /// Another file for the log than `agent-surface/audit/<app id>/log.jsonl` in the user's
    /// state folder.
    pub fn log(mut self, file: impl Into<PathBuf>) -> Self {
        self.log = Some(file.into());
        self
    }

    /// Keeps no log.
    pub fn no_log(mut self) -> Self {
        self.logs = false;
        self
    }

    /// Holds requests back for the answer, up to this long, instead of telling agents at once to
    /// come back. Not set: it tells them at once.
    pub fn hold(mut self, limit: Duration) -> Self {
        self.settings.hold = limit;
        self
    }

    /// After how long an agent that is being asked about is told to come back; 2 s if not set.
    pub fn retry_after(mut self, time: Duration) -> Self {
        self.settings.retry_after = time;
        self
    }

    /// For how long an agent is refused after a no before it may be asked about again; 5 minutes
    /// if not set. After eight noes in a row within that time the user is asked about nobody for
    /// as long: agents are told to come back.
    pub fn cool_down(mut self, time: Duration) -> Self {
        self.settings.cool_down = time;
        self
    }

    /// After how long an agent may be asked about again whose question was waved away, and an
    /// action of one that was just refused another; 10 s if not set.
    pub fn rest(mut self, time: Duration) -> Self {
        self.settings.rest = time;
        self
    }

    /// Offers to remember a yes beyond the run also for scripts, which can say of themselves
    /// what they like: for an app that knows what its users run.
    pub fn remember_unproven(mut self) -> Self {
        self.settings.remembers_unproven = true;
        self
    }

    /// Other words, or another language.
    pub fn texts(mut self, texts: Texts) -> Self {
        self.settings.texts = texts;
        self
    }

    /// Called when there are notices to fetch, from any thread: it must return at once. A
    /// toolkit that sleeps wants to be woken by it.
    pub fn wake(mut self, wake: impl Fn() + Send + Sync + 'static) -> Self {
        self.wake = Some(Box::new(wake));
        self
    }

    /// Called on the UI thread right before and after an action of an agent's, such as to take a
    /// snapshot for the app's own undo.
    pub fn on_act(mut self, hear: impl Fn(&Act<'_>) + Send + Sync + 'static) -> Self {
        self.on_act = Some(Box::new(hear));
        self
    }

    /// Another clock, for tests.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Starts the threads that read and write, and waits for none of them: no disk holds up the
    /// calling thread. Until the rules are read, [`Consent::rules`] has none, and nobody is
    /// judged who comes from outside. What is wrong with a disk or a file is told by
    /// [`Consent::problems`], notices and the prompt: nobody is let in by it, and the app can go
    /// on.
    pub fn build(mut self) -> Consent {
        let own = place::state_folder();
        let app = self.settings.app.clone();
        let in_own =
            |place: fn(&std::path::Path, &str) -> PathBuf| own.as_ref().map(|own| place(own, &app));
        let rules = self.rules.or_else(|| in_own(place::rules));
        let log = self
            .log
            .or_else(|| in_own(place::log))
            .filter(|_| self.logs);
        self.settings.has_prompt = self.prompt.is_some();
        let store = rules.map(Store::at);

        let mut inner = Inner::new(State::new(self.settings, self.mode, self.clock));
        inner.store = store.clone();
        inner.prompt = self.prompt;
        inner.wake = self.wake;
        inner.on_act = self.on_act;
        let inner = Arc::new(inner);
        if let Some(log) = log {
            let told = Arc::downgrade(&inner);
            let failed = move |why| {
                if let Some(inner) = told.upgrade() {
                    inner.change(|state| state.not_logged(why));
                }
            };
            match Audit::to(Rotating::at(log), inner.log.clone(), failed) {
                Ok(audit) => inner.lock().audit = Some(audit),
                Err(error) => inner.change(|state| state.not_logged(error.to_string())),
            }
        }
        keeper::begin(&inner, store);
        if let Err(error) = traffic::watch(&inner) {
            inner.change(|state| state.not_logged(error.to_string()));
        }
        Consent {
            life: Arc::new(Life { inner }),
        }
    }
}

struct Gate(Arc<Life>);

impl Policy for Gate {
    fn check(&self, request: &Request) -> Decision {
        self.0.inner.lock().check(request)
    }

    fn met(&self, request: &Request) {
        let inner = &self.0.inner;
        if inner.lock().knows(request.connection) {
            return;
        }
        let agent = match request.channel {
            Channel::InApp => Agent::unidentified(),
            Channel::External => {
                keeper::catch_up(inner);
                Agent::behind(request.peer.as_ref(), &inner.prints)
            }
        };
        inner.change(|state| state.meet(request, agent));
        // The rules are watched from now on.
        inner.work.notify_all();
    }

    fn ask(&self, request: &Request) -> Option<Pending> {
        let asked = self.0.inner.change(|state| state.ask(request));
        asked.map(|(retry_after, hold)| Pending { retry_after, hold })
    }

    fn confirm(&self, question: &Question) -> Confirmed {
        self.0.inner.change(|state| state.confirm(question))
    }

    fn acting(&self, request: &Request) {
        self.0.inner.change(|state| state.acting(request));
        if let Some(hear) = &self.0.inner.on_act {
            hear(&Act::Before(request));
        }
    }

    fn done(&self, request: &Request, outcome: &'static str) {
        let acted = self.0.inner.change(|state| state.done(request, outcome));
        if acted && let Some(hear) = &self.0.inner.on_act {
            hear(&Act::After(request, outcome));
        }
    }

    fn gone(&self, connection: u64) {
        self.0.inner.change(|state| state.go(connection));
        self.0.inner.work.notify_all();
    }

    fn attach(&self, server: Weak<dyn Connections>) {
        self.0.inner.attach(server);
    }
}
