//! The UI thread: it owns the tree, and everybody else has a handle on it.

use std::{
    collections::{HashSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread::{JoinHandle, ThreadId},
    time::{Duration, Instant},
};

use agent_core::{
    Acted, Answer, Backend, Call, Cause, Emitted, Event, EventSink, EventVerb, Fault, Inbox, Job,
    No, Standings, Surface, TURN_BUDGET, VerbSet, Waiting, Warning,
};

use crate::{tree::Tree, widget::Node};

/// What was left to be done on the UI thread: it answers what is to be done after its frame.
type Errand = Box<dyn FnOnce(&mut Tree) -> After + Send>;
type After = Box<dyn FnOnce()>;

#[derive(Default)]
struct State {
    inbox: Inbox,
    errands: VecDeque<Errand>,
    emitted: Emitted,
    clients: usize,
    listeners: usize,
    sink: Option<EventSink>,
    stopped: bool,
    #[cfg(feature = "inspector")]
    inspections: VecDeque<agent_inspect::Job>,
    #[cfg(feature = "inspector")]
    inspectors: usize,
}

impl State {
    /// Whether the UI thread has nothing to do.
    fn is_idle(&self) -> bool {
        #[cfg(feature = "inspector")]
        let inspected = !self.inspections.is_empty();
        #[cfg(not(feature = "inspector"))]
        let inspected = false;
        self.errands.is_empty() && self.inbox.is_empty() && !self.stopped && !inspected
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// The ids of the exposed windows, as of the last turn.
    windows: Mutex<HashSet<String>>,
    warnings: Mutex<Vec<Warning>>,
    unsupported: AtomicU32,
    ui: OnceLock<ThreadId>,
}

/// Nothing panics while it holds one of our locks; a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A headless app: a thread with windows on it. Dropping it closes the app.
pub struct Headless {
    handle: HeadlessHandle,
    thread: Option<JoinHandle<()>>,
    ui: ThreadId,
}

impl Headless {
    /// Starts an app on a thread of this name. `build` opens its windows, on that thread; it is
    /// over when this returns. No agent is let in before a server is given the
    /// [`handle`](Self::handle).
    ///
    /// A panic of `build` goes on here, as does the system's refusal to start a thread.
    pub fn start(name: &str, build: impl FnOnce(&mut Tree) + Send + 'static) -> Self {
        let handle = HeadlessHandle(Arc::default());
        let shared = handle.0.clone();
        let (built, when_built) = mpsc::channel();
        let spawned = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // Nobody has set it before.
                let _ = shared.ui.set(std::thread::current().id());
                let mut ui = Ui::new(shared);
                ui.tree.listen(false);
                let result = catch_unwind(AssertUnwindSafe(|| build(&mut ui.tree)));
                ui.end_frame();
                let go_on = result.is_ok();
                let told = built.send(result);
                if go_on && told.is_ok() {
                    ui.run();
                }
            });
        let thread = match spawned {
            Ok(thread) => thread,
            Err(why) => resume_unwind(Box::new(format!("no thread for the UI: {why}"))),
        };
        if let Ok(Err(panic)) = when_built.recv() {
            resume_unwind(panic);
        }
        Self {
            handle,
            ui: thread.thread().id(),
            thread: Some(thread),
        }
    }

    /// The way onto the UI thread for a server. Any thread.
    pub fn handle(&self) -> HeadlessHandle {
        self.handle.clone()
    }

    /// Does something on the UI thread, frame included, and waits for it. Any thread but that
    /// one, which would wait for itself: a handler is given the tree.
    ///
    /// A panic of `f` goes on here; the app lives on.
    pub fn run<R: Send + 'static>(&self, f: impl FnOnce(&mut Tree) -> R + Send + 'static) -> R {
        if std::thread::current().id() == self.ui {
            resume_unwind(Box::new("Headless::run was called on the UI thread"));
        }
        let (done, when_done) = mpsc::channel();
        self.handle.leave_errand(Box::new(move |tree: &mut Tree| {
            let result = catch_unwind(AssertUnwindSafe(|| f(tree)));
            // After the frame, so that whoever waits finds the windows as they are now.
            Box::new(move || drop(done.send(result)))
        }));
        match when_done.recv() {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => resume_unwind(Box::new("the UI thread is gone")),
        }
    }

    /// Keeps the UI thread busy for a while, and returns at once. Any thread.
    pub fn block(&self, ms: u64) {
        self.post(move |_| std::thread::sleep(Duration::from_millis(ms)));
    }

    /// Does something on the UI thread when it comes to it. Any thread.
    pub fn post(&self, f: impl FnOnce(&mut Tree) + Send + 'static) {
        self.handle.post(f);
    }

    /// What the developer was told so far, each thing once. Any thread.
    pub fn warnings(&self) -> Vec<Warning> {
        lock(&self.handle.0.warnings).clone()
    }

    /// Closes the app, as dropping it does: whoever waits for an answer is told that it closed.
    pub fn stop(self) {}
}

impl Drop for Headless {
    fn drop(&mut self) {
        lock(&self.handle.0.state).stopped = true;
        self.handle.0.wake.notify_all();
        // On the UI thread itself (the app is dropped in a handler) it ends with this turn.
        if std::thread::current().id() != self.ui
            && let Some(thread) = self.thread.take()
        {
            // A panic there has been told where it happened.
            drop(thread.join());
        }
    }
}

/// A way onto the UI thread of a [`Headless`] app. Any thread; cheap to clone. After the app
/// has gone, jobs are answered [`Fault::Closed`].
#[derive(Clone)]
pub struct HeadlessHandle(Arc<Shared>);

impl HeadlessHandle {
    /// Does something on the UI thread when it comes to it, before what agents ask from now on.
    /// Any thread, the UI thread too; a panic of `f` ends `f` alone.
    pub fn post(&self, f: impl FnOnce(&mut Tree) + Send + 'static) {
        self.leave_errand(Box::new(move |tree: &mut Tree| {
            drop(catch_unwind(AssertUnwindSafe(|| f(tree))));
            Box::new(|| ())
        }));
    }

    /// A request of an inspector's.
    #[cfg(feature = "inspector")]
    pub(crate) fn inspect(&self, job: agent_inspect::Job) {
        self.leave(job, |state, job| state.inspections.push_back(job));
    }

    #[cfg(feature = "inspector")]
    pub(crate) fn inspectors(&self, inspectors: usize) {
        lock(&self.0.state).inspectors = inspectors;
        // So that what is kept for nobody goes.
        self.post(|_| ());
    }

    fn leave_errand(&self, errand: Errand) {
        self.leave(errand, |state, errand| state.errands.push_back(errand));
    }

    /// Leaves something for the UI thread. What comes after the end is answered by being dropped,
    /// which must not happen under the lock.
    fn leave<J>(&self, job: J, put: impl FnOnce(&mut State, J)) {
        let mut state = lock(&self.0.state);
        if state.stopped {
            drop(state);
            drop(job);
            return;
        }
        put(&mut state, job);
        drop(state);
        self.0.wake.notify_one();
    }
}

impl Backend for HeadlessHandle {
    fn submit(&self, job: Job) {
        self.leave(job, |state, job| state.inbox.push(job));
    }

    fn purge(&self) {
        lock(&self.0.state).inbox.purge();
    }

    fn has_window(&self, id: &str) -> bool {
        lock(&self.0.windows).contains(id)
    }

    fn unsupported(&self) -> VerbSet {
        VerbSet::from_bits_truncate(self.0.unsupported.load(Ordering::Relaxed))
    }

    fn is_ui_thread(&self) -> bool {
        self.0.ui.get() == Some(&std::thread::current().id())
    }

    fn emit(&self, id: &str, verb: EventVerb) {
        let mut state = lock(&self.0.state);
        if state.clients > 0 {
            state.emitted.push(id, verb);
        }
        // Without anybody who listens it is told when somebody looks next.
        let told = state.listeners > 0;
        drop(state);
        if told {
            self.post(|_| ());
        }
    }

    fn listen(&self, sink: EventSink) {
        lock(&self.0.state).sink = Some(sink);
    }

    fn set_listeners(&self, listeners: usize) {
        lock(&self.0.state).listeners = listeners;
    }

    fn set_clients(&self, clients: usize) {
        lock(&self.0.state).clients = clients;
    }
}

/// What the UI thread has.
struct Ui {
    shared: Arc<Shared>,
    tree: Tree,
    surface: Surface<Node>,
    waiting: Waiting,
    #[cfg(feature = "inspector")]
    inspection: crate::inspect::Inspection,
}

impl Ui {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            tree: Tree::new(),
            surface: Surface::default(),
            waiting: Waiting::default(),
            #[cfg(feature = "inspector")]
            inspection: crate::inspect::Inspection::default(),
        }
    }

    /// Turn after turn, until the app is closed. In each, people and the app come first; then
    /// agents have their share of it, which is over when somebody else waits.
    fn run(&mut self) {
        while let Some((errands, mut next)) = self.wait() {
            for errand in errands {
                let is_watched =
                    |ui: &Self| !ui.waiting.is_empty() || lock(&ui.shared.state).listeners > 0;
                self.frame_of(errand, |ui| is_watched(ui).then(|| ui.settle(None)));
            }
            #[cfg(feature = "inspector")]
            self.inspect();
            // The app may have been closed meanwhile: then the job is told so by being dropped.
            next = next.filter(|_| !lock(&self.shared.state).stopped);
            let begun = Instant::now();
            while let Some(job) = next {
                self.serve(job);
                next = (begun.elapsed() < TURN_BUDGET)
                    .then(|| self.next())
                    .flatten();
            }
        }
    }

    /// Waits until there is something to do. `None`: the app is closed. The first job is taken
    /// together with the errands: whatever was left before it came is done before it.
    fn wait(&mut self) -> Option<(VecDeque<Errand>, Option<Job>)> {
        let mut state = lock(&self.shared.state);
        while state.is_idle() {
            state = self
                .shared
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let errands = std::mem::take(&mut state.errands);
        let (clients, stopped) = (state.clients, state.stopped);
        let job = if stopped { None } else { state.inbox.pop() };
        drop(state);
        self.tree.listen(clients > 0);
        (!stopped || !errands.is_empty()).then_some((errands, job))
    }

    fn next(&self) -> Option<Job> {
        let mut state = lock(&self.shared.state);
        if state.stopped || !state.errands.is_empty() {
            return None;
        }
        state.inbox.pop()
    }

    /// One request, begun and ended within this turn: what is checked is what is acted on
    /// (rule 4).
    fn serve(&mut self, job: Job) {
        if matches!(job.call, Call::Wait(_)) {
            self.settle(None);
            self.waiting.purge();
            self.waiting.add(job, &self.surface, &self.tree);
            return;
        }
        let Some(job) = job.enter(Instant::now()) else {
            return;
        };
        // What happened before is settled before, so that it is not told as brought about by
        // what this job does.
        self.settle(None);
        let answer = match self.surface.read(&self.tree, &job.call, job.view) {
            Some(answer) => answer,
            None => self.act(&job),
        };
        self.end_frame();
        job.reply.send(answer);
    }

    /// A developer's requests come after the app's own, and touch nothing that agents see.
    #[cfg(feature = "inspector")]
    fn inspect(&mut self) {
        let mut state = lock(&self.shared.state);
        let (jobs, inspectors) = (std::mem::take(&mut state.inspections), state.inspectors);
        drop(state);
        self.tree.overhear(inspectors > 0);
        if inspectors == 0 {
            self.inspection = crate::inspect::Inspection::default();
        }
        for job in jobs {
            self.inspection.serve(&mut self.tree, job);
        }
    }

    fn act(&mut self, job: &Job) -> Answer {
        let Call::Act { target, action } = &job.call else {
            return Answer::Fault(Fault::Unsupported);
        };
        if self.tree.unsupported().contains(action.verb().set()) {
            return Answer::Fault(Fault::Unsupported);
        }
        let judged = self
            .surface
            .judge(&self.tree, target, action.clone(), job.view);
        let authorised = judged.and_then(|judged| {
            let leave = self
                .surface
                .authorise(&self.tree, judged, &job.gate, &job.request);
            leave.map_err(No::from)
        });
        let authorised = match authorised {
            Ok(authorised) => authorised,
            Err(no) => return no.into(),
        };
        let tree = &mut self.tree;
        let performed = catch_unwind(AssertUnwindSafe(|| tree.perform(authorised)))
            // What a panic says may hold anything that the handler knew, a secret too: that is
            // for the developer's own log.
            .map_err(|_| {
                let why = "a handler of the app panicked";
                Fault::Internal(why.into())
            });
        let cause = job.cause();
        let mut events = self.settle(cause.as_ref());
        self.end_frame();
        events.extend(self.frame_after(cause.as_ref()));
        let edit = match performed {
            Ok(edit) => edit,
            Err(fault) => return Answer::Fault(fault),
        };
        let (version, text) = edit
            .and_then(|edit| {
                self.surface
                    .after_edit(&self.tree, edit.node, Some(&edit.wanted))
            })
            .map_or((None, None), |(version, text)| (Some(version), text));
        Answer::Acted(Acted {
            version,
            text,
            ..Acted::new(self.surface.revision(), events)
        })
    }

    /// Does what a handler has left to be done, as the frame after an action: what comes of that
    /// came of the action. What is left meanwhile waits for its turn.
    fn frame_after(&mut self, cause: Option<&Cause>) -> Vec<Event> {
        let errands = std::mem::take(&mut lock(&self.shared.state).errands);
        let looked = errands
            .into_iter()
            .map(|errand| self.frame_of(errand, |ui| ui.settle(cause)));
        looked.flatten().collect()
    }

    /// An errand and its frame, at whose end it is looked at what came of it.
    fn frame_of<R>(&mut self, errand: Errand, look: impl FnOnce(&mut Self) -> R) -> R {
        let after = errand(&mut self.tree);
        let looked = look(self);
        self.end_frame();
        after();
        looked
    }

    /// Looks at what changed: by an agent's action, or by whatever else.
    fn settle(&mut self, cause: Option<&Cause>) -> Vec<Event> {
        let changes = self.tree.take_changes();
        let mut acted = self.tree.take_acted();
        let mut emitted = std::mem::take(&mut lock(&self.shared.state).emitted);
        acted.extend(emitted.take(&self.tree));
        let mut events = self.surface.settle(&self.tree, changes, &acted);
        agent_core::caused(&mut events, cause);
        let warnings = self.surface.take_warnings();
        if !warnings.is_empty() {
            lock(&self.shared.warnings).extend(warnings);
        }
        let sink = lock(&self.shared.state).sink.clone();
        if let Some(sink) = sink.filter(|_| !events.is_empty()) {
            sink(&mut events);
        }
        self.waiting.look(&self.surface, &self.tree);
        events
    }

    /// Makes known to other threads what they may ask about without waiting for this one.
    fn end_frame(&mut self) {
        if !std::mem::take(&mut self.tree.windows_changed) {
            return;
        }
        let mut standings = Standings::new(&self.tree);
        let windows = self
            .tree
            .windows
            .iter()
            .filter_map(|window| Some(standings.of(*window)?.id.as_deref()?.to_owned()))
            .collect();
        *lock(&self.shared.windows) = windows;
        self.shared
            .unsupported
            .store(self.tree.unsupported().bits(), Ordering::Relaxed);
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.stopped = true;
        let left = (
            std::mem::take(&mut state.inbox),
            std::mem::take(&mut state.errands),
            #[cfg(feature = "inspector")]
            std::mem::take(&mut state.inspections),
        );
        drop(state);
        // Those who wait are told by this, outside the lock.
        drop(left);
    }
}
