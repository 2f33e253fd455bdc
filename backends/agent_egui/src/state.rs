//! What is kept between passes, and what is being served.

use std::{
    collections::{HashMap, HashSet},
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool, atomic::AtomicUsize},
    thread::ThreadId,
    time::Instant,
};

use agent_core::{
    Acted, Action, Answer, Authorised, Call, Cause, Changes, Emitted, Event, EventSink, EventVerb,
    Inbox, Job, Marks, No, Refusal, Role, States, Surface, TURN_BUDGET, Tag, Target, Verb, View,
    Waiting, Why,
};
use egui::{Id, LayerId, Rect, ViewportId};

use crate::{
    ids::IdMap,
    looked::{Looked, as_role},
    person::Person,
    scene::{Key, Scene, SceneNode},
};

/// What server threads and the UI thread share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) inbox: Mutex<Inbox>,
    pub(crate) clients: AtomicUsize,
    pub(crate) listeners: AtomicUsize,
    /// What inspectors ask, and how many there are.
    #[cfg(feature = "inspector")]
    pub(crate) inspections: Mutex<Vec<agent_inspect::Job>>,
    #[cfg(feature = "inspector")]
    pub(crate) inspectors: AtomicUsize,
    /// Whether any client was ever admitted: before that no text has a version.
    pub(crate) ever: AtomicBool,
    /// Only the UI thread takes this one, so that a tag may hold it while it calls egui.
    pub(crate) ui: Mutex<UiState>,
    pub(crate) emitted: Mutex<Emitted>,
    pub(crate) sink: Mutex<Option<EventSink>>,
    pub(crate) windows: Mutex<HashSet<String>>,
    pub(crate) open: Mutex<Vec<ViewportId>>,
    /// The thread that runs the passes, as of the last one.
    pub(crate) ui_thread: Mutex<Option<ThreadId>>,
    /// The app's own number of passes a frame, while a frame may need more.
    pub(crate) passes_before: Mutex<Option<NonZeroUsize>>,
}

/// A panic while a lock was held leaves plain data behind, at worst a request unanswered.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of one tag from pass to pass.
#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) key: Key,
    /// The pass that drew it last.
    pub(crate) pass: u64,
    /// Moves with every change that its widget told of.
    pub(crate) stamp: u64,
    /// A secret's change shows once: it has.
    pub(crate) told: bool,
    pub(crate) widget: Option<Id>,
    /// The automatic id that was next when it was drawn.
    pub(crate) auto: Id,
    pub(crate) looked: Option<Looked>,
}

impl Track {
    /// What its widget's response told of this pass: that what it holds has changed, that it lost
    /// the focus. `ours`: by an agent's own action. Of a secret a person's typing shows as one
    /// change, however many letters it has.
    pub(crate) fn changed(&mut self, changed: bool, lost_focus: bool, marks: Marks, ours: bool) {
        let looks_secret = |looked: &Looked| looked.states.contains(States::SECRET);
        let secret =
            marks.contains(Marks::SECRET) || self.looked.as_ref().is_some_and(looks_secret);
        if changed && !(secret && self.told && !ours) {
            self.stamp += 1;
            self.told = secret;
        }
        if lost_focus || ours {
            self.told = false;
        }
    }
}

/// One tag as a pass drew it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) key: Key,
    pub(crate) spot: Id,
    /// What it claims: the same for all tags that are exposed under one id.
    pub(crate) claim: Id,
    /// The index of the tag around it.
    pub(crate) parent: Option<usize>,
    pub(crate) tag: Tag,
    /// Its own marks and those around it.
    pub(crate) marks: Marks,
    pub(crate) widget: Option<Id>,
    pub(crate) enabled: bool,
    pub(crate) visible: bool,
    pub(crate) reachable: bool,
    pub(crate) rect: Rect,
    pub(crate) onscreen: bool,
    pub(crate) layer: LayerId,
    /// The layer that it was begun in.
    pub(crate) from: LayerId,
    pub(crate) stamp: u64,
    /// Tagged on a `Response`: the widget had run by then.
    pub(crate) chained: bool,
    /// How many rows a list stands for.
    pub(crate) size: Option<u64>,
}

/// One window.
pub(crate) struct Viewport {
    pub(crate) id: ViewportId,
    pub(crate) root_key: Key,
    pub(crate) root_tag: Option<Tag>,
    pub(crate) title: Option<String>,
    pub(crate) pass: u64,
    /// The first pass of this frame, and whether another one of it follows.
    pub(crate) frame: u64,
    pub(crate) again: bool,
    /// The tags of the last pass, and when that was.
    pub(crate) records: Vec<Record>,
    pub(crate) recorded: u64,
    /// What AccessKit said of them, and when.
    pub(crate) picture: Vec<SceneNode>,
    pub(crate) pictured: u64,
    /// In this frame: whether AccessKit is on for somebody else.
    pub(crate) probe: Option<bool>,
    /// Its host runs one pass a frame.
    pub(crate) one_pass: bool,
    pub(crate) top_modal: Option<LayerId>,
    /// The areas that the last pass showed.
    pub(crate) layers: HashSet<LayerId>,
    pub(crate) focused: bool,
    /// In this frame: whether its tree has been looked at, for those who listen.
    pub(crate) seen: bool,
    pub(crate) person: Person,
}

/// What is being served.
pub(crate) enum Work {
    /// Descriptions and readings, from pictures not older than `since`.
    Read { jobs: Vec<Job>, since: u64 },
    /// One action.
    Act(Box<ActWork>),
}

pub(crate) struct ActWork {
    /// Until it enters.
    pub(crate) job: Option<Job>,
    /// After it entered, until it is answered.
    pub(crate) entered: Option<Job>,
    /// Leave that the last pass had no use for yet: the user is asked once an attempt.
    pub(crate) leave: Option<Authorised<Key>>,
    pub(crate) target: Target,
    pub(crate) action: Action,
    pub(crate) view: View,
    pub(crate) cause: Option<Cause>,
    pub(crate) stage: Stage,
    pub(crate) since: u64,
    pub(crate) tries: u32,
    pub(crate) done: Option<Done>,
    /// The next pass goes on with it.
    pub(crate) again: bool,
    /// What came of it shows in the next frame: a scroll area moves when time does.
    pub(crate) later: bool,
    /// In how many passes what came of it was seen, and moved still.
    pub(crate) moving: u32,
}

/// What was performed.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) key: Key,
    pub(crate) verb: Verb,
    /// For an edit: what was to be there.
    pub(crate) wanted: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Every window draws once, to see which has the target.
    Find,
    /// This window's tree is read: what the target is, what text it holds.
    Look(ViewportId),
    /// The target acts as this window draws it.
    Act(ViewportId),
    /// Every window's tree is read, to see what came of it.
    Settle,
    /// Every window is read whole, to tell an automatic id from none where that is armed.
    Whole,
}

#[derive(Default)]
pub(crate) struct UiState {
    pub(crate) tracks: IdMap<(ViewportId, Id), Track>,
    last_key: Key,
    /// In the order in which they opened.
    pub(crate) viewports: Vec<Viewport>,
    pub(crate) work: Option<Work>,
    pub(crate) surface: Surface<Key>,
    /// Counts passes and works, to tell what is newer.
    pub(crate) clock: u64,
    /// AccessKit is on because this pass of this window switched it on.
    pub(crate) ours: Option<ViewportId>,
    pub(crate) acted: Vec<(Key, EventVerb)>,
    pub(crate) waiting: Waiting,
    /// Somebody listens: every frame is looked at.
    pub(crate) listening: bool,
    /// Agents are let in: what happens is remembered for them.
    pub(crate) serving: bool,
    #[cfg(feature = "inspector")]
    pub(crate) inspection: crate::inspect::Inspection,
    told: HashSet<String>,
}

impl UiState {
    pub(crate) fn fresh_key(&mut self) -> Key {
        self.last_key += 1;
        self.last_key
    }

    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub(crate) fn viewport(&mut self, id: ViewportId) -> &mut Viewport {
        let at = match self.viewports.iter().position(|viewport| viewport.id == id) {
            Some(at) => at,
            None => {
                let root_key = self.fresh_key();
                self.viewports.push(Viewport {
                    id,
                    root_key,
                    root_tag: None,
                    title: None,
                    pass: 0,
                    frame: 0,
                    again: false,
                    records: Vec::new(),
                    recorded: 0,
                    picture: Vec::new(),
                    pictured: 0,
                    probe: None,
                    one_pass: false,
                    top_modal: None,
                    layers: HashSet::new(),
                    focused: false,
                    seen: false,
                    person: Person::default(),
                });
                self.viewports.len() - 1
            }
        };
        &mut self.viewports[at]
    }

    /// Notes what a widget told of by itself, until the next look. That a checkbox was clicked
    /// shows in that it is checked.
    pub(crate) fn happened(&mut self, key: Key, verb: EventVerb) {
        let pressed = |looked: &Looked| {
            matches!(
                looked.role,
                Role::Button | Role::Link | Role::MenuItem | Role::Unknown
            )
        };
        let mut tracks = self.tracks.values().filter(|track| track.key == key);
        let switched = verb == EventVerb::Clicked
            && tracks.any(|track| track.looked.as_ref().is_some_and(|looked| !pressed(looked)));
        if switched {
            return;
        }
        #[cfg(feature = "inspector")]
        self.inspection.happened(key, verb);
        // Nor twice: what a widget that is not exposed tells over and over displaces nothing.
        let happened = (key, verb);
        if self.serving && self.acted.len() < Emitted::MOST && !self.acted.contains(&happened) {
            self.acted.push(happened);
        }
    }

    /// Tells the developer something, once.
    pub(crate) fn warn(&mut self, message: String) {
        if self.told.len() < 256 && self.told.insert(message.clone()) {
            log::warn!("{message}");
        }
    }

    /// Takes up the next request, if none is being served.
    pub(crate) fn next_work(&mut self, inbox: &Mutex<Inbox>) {
        if let Some(Work::Act(act)) = &self.work
            && let Some(job) = &act.job
        {
            let waits = match act.stage {
                Stage::Look(window) | Stage::Act(window) => self.is_busy(window),
                _ => false,
            };
            // Timed out or cancelled before it entered: it can't happen any more.
            let is_over = job.ticket.is_withdrawn();
            if (waits || is_over)
                && let Some(Work::Act(act)) = self.work.take()
            {
                lock(inbox).put_back(act.job.into_iter().collect());
            }
        }
        if self.work.is_some() {
            return;
        }
        let mut inbox = lock(inbox);
        let Some(job) = inbox.pop_ready(|job| self.may_begin(job)) else {
            return;
        };
        let since = self.tick();
        self.work = Some(match &job.call {
            Call::Act { target, action } => {
                let (target, action) = by_row(target.clone(), action.clone());
                let stage = self.start(&target, &action, job.view);
                Work::Act(Box::new(ActWork {
                    view: job.view,
                    cause: job.cause(),
                    job: Some(job),
                    entered: None,
                    leave: None,
                    target,
                    action,
                    stage,
                    since,
                    tries: 0,
                    done: None,
                    again: false,
                    later: false,
                    moving: 0,
                }))
            }
            _ => {
                let mut jobs = vec![job];
                while let Some(job) = inbox.pop_if(is_read) {
                    jobs.push(job);
                }
                Work::Read { jobs, since }
            }
        });
    }

    /// Whether there is something to go on with.
    pub(crate) fn has_work(&self, inbox: &Inbox) -> bool {
        self.work.is_some() || inbox.has_ready(|job| self.may_begin(job))
    }

    /// Not an action in a window where a person is in the middle of something.
    fn may_begin(&self, job: &Job) -> bool {
        let Call::Act { target, .. } = &job.call else {
            return true;
        };
        let nobody = self.all(|viewport| !viewport.person.is_busy());
        nobody
            || self
                .locate(target, job.view)
                .map_or(true, |(window, _)| !self.is_busy(window))
    }

    /// Whether a person is in the middle of something in this window.
    pub(crate) fn is_busy(&self, id: ViewportId) -> bool {
        let mut viewports = self.viewports.iter();
        viewports.any(|viewport| viewport.id == id && viewport.person.is_busy())
    }

    /// Where an action begins, by what was drawn last: if its target was not, every window
    /// draws again before anything is said about it.
    fn start(&self, target: &Target, action: &Action, view: View) -> Stage {
        match self.locate(target, view) {
            Ok(place) => self.look_or_act(place, action),
            Err(_) => Stage::Find,
        }
    }

    /// What depends on the text or the state that the widget holds now needs a look at it, as
    /// does a question to the user, which is about what they see; and any action has to know
    /// what the widget is.
    fn look_or_act(&self, (viewport, spot): (ViewportId, Id), action: &Action) -> Stage {
        let track = self.tracks.get(&(viewport, spot));
        let known = track.is_some_and(|track| track.looked.is_some());
        let by_state = !matches!(
            action,
            Action::Click | Action::Focus | Action::ScrollTo { .. }
        );
        let mut windows = self.viewports.iter().filter(|it| it.id == viewport);
        let is_marked = windows.any(|window| {
            let mut drawn = window.records.iter().filter(|record| record.spot == spot);
            drawn.any(|record| record.marks.contains(Marks::CONFIRM))
        });
        if known && !by_state && !is_marked {
            Stage::Act(viewport)
        } else {
            Stage::Look(viewport)
        }
    }

    /// The window that drew the target last, and where in it. (A window itself has no place in
    /// it, and nothing that could be done to it.)
    fn locate(&self, target: &Target, view: View) -> Result<(ViewportId, Id), No> {
        let key = agent_core::locate(&self.drawn(), target, view)?;
        let mut places = self.viewports.iter().flat_map(|viewport| {
            let records = viewport.records.iter();
            records.map(|record| (record.key, (viewport.id, record.spot)))
        });
        let place = places.find(|(drawn, _)| *drawn == key);
        place.map(|(_, place)| place).ok_or(not_offered())
    }

    /// What the last pass of every window drew, without what only AccessKit knows.
    pub(crate) fn drawn(&self) -> Scene {
        let mut nodes = Vec::new();
        for viewport in &self.viewports {
            nodes.push(viewport.root());
            for record in &viewport.records {
                nodes.push(self.bare(viewport, record, &viewport.records));
            }
        }
        Scene::new(nodes)
    }

    /// A tag's node by what its pass knows of it.
    pub(crate) fn bare(
        &self,
        viewport: &Viewport,
        record: &Record,
        records: &[Record],
    ) -> SceneNode {
        let looked = self
            .tracks
            .get(&(viewport.id, record.spot))
            .and_then(|track| track.looked);
        let parent = record.parent.and_then(|parent| records.get(parent));
        record.node(
            parent.map_or(viewport.root_key, |parent| parent.key),
            looked.unwrap_or_else(|| Looked::unknown(Role::Group)),
            viewport,
        )
    }

    /// What AccessKit said of every window last.
    pub(crate) fn pictured(&self) -> Scene {
        let nodes = self.viewports.iter().flat_map(|viewport| {
            [viewport.root()]
                .into_iter()
                .chain(viewport.picture.iter().cloned())
        });
        Scene::new(nodes.collect())
    }

    /// Whether this window's tree is needed now.
    pub(crate) fn wants_tree(&self, id: ViewportId) -> bool {
        let newer = |since| {
            self.viewports
                .iter()
                .any(|viewport| viewport.id == id && viewport.pictured < since)
        };
        let stale = |viewport: &Viewport| viewport.id == id && !viewport.seen;
        if self.listening && self.viewports.iter().any(stale) {
            return true;
        }
        match &self.work {
            Some(Work::Read { since, .. }) => newer(*since),
            Some(Work::Act(act)) => match act.stage {
                // The first look of all sees everything, so that there is something to compare
                // the outcome with.
                Stage::Look(viewport) => {
                    (viewport == id || !self.surface.has_looked()) && newer(act.since)
                }
                Stage::Settle => !act.later && newer(act.since),
                Stage::Whole => newer(act.since),
                Stage::Find | Stage::Act(_) => false,
            },
            None => false,
        }
    }

    /// Whether the whole of a window is wanted, and not only what is tagged.
    pub(crate) fn wants_everything(&self) -> bool {
        match &self.work {
            Some(Work::Read { jobs, .. }) => jobs.iter().any(is_whole),
            Some(Work::Act(act)) => act.stage == Stage::Whole,
            None => false,
        }
    }

    /// Whether another pass in the same frame would bring the work on. `has_tree`: this one
    /// has a tree.
    pub(crate) fn wants_another_pass(&self, id: ViewportId, has_tree: bool) -> bool {
        if matches!(&self.work, Some(Work::Act(act)) if act.later) {
            return false;
        }
        if self.listening && !has_tree {
            return true;
        }
        match &self.work {
            Some(Work::Read { .. }) => self.wants_tree(id) && !has_tree,
            Some(Work::Act(act)) => match act.stage {
                // What was drawn decides what comes next, and it may be here.
                Stage::Find => true,
                Stage::Look(viewport) if viewport != id => self.wants_tree(id) && !has_tree,
                Stage::Look(viewport) | Stage::Act(viewport) => viewport == id,
                Stage::Settle | Stage::Whole => self.wants_tree(id) && !has_tree,
            },
            None => false,
        }
    }

    /// Brings the work on after a pass of a window.
    pub(crate) fn advance(&mut self, shared: &Shared) {
        match self.work.take() {
            // Every window is known: what this frame showed of one is what changed.
            None if self.listening && self.all(|viewport| viewport.pictured > 0) => {
                self.settle(shared, None);
            }
            None => {}
            Some(Work::Read { jobs, since }) => {
                if self.all(|viewport| viewport.pictured >= since) {
                    self.serve_reads(jobs, shared);
                } else {
                    self.work = Some(Work::Read { jobs, since });
                }
            }
            Some(Work::Act(act)) => self.advance_act(act, shared),
        }
    }

    fn advance_act(&mut self, mut act: Box<ActWork>, shared: &Shared) {
        if act.done.is_some() && act.stage != Stage::Settle {
            act.stage = Stage::Settle;
            act.since = self.tick();
        }
        if act.stage == Stage::Find {
            if !self.all(|viewport| viewport.recorded >= act.since) {
                self.work = Some(Work::Act(act));
                return;
            }
            match self.locate(&act.target, act.view) {
                Ok(place) => {
                    act.stage = self.look_or_act(place, &act.action);
                    act.since = self.tick();
                }
                Err(No::Refused(Refusal::NotFound)) if names_a_place(act.view, &act.target) => {
                    act.stage = Stage::Whole;
                    act.since = self.tick();
                    self.work = Some(Work::Act(act));
                    return;
                }
                // A window is in view as far as it can be.
                Err(no) if no == not_offered() && act.action.verb() == Verb::ScrollTo => {
                    let Some(job) = act.job.take().and_then(|job| job.enter(Instant::now())) else {
                        return;
                    };
                    job.gate.acting(&job.request);
                    act.entered = Some(job);
                    act.stage = Stage::Settle;
                    act.since = self.tick();
                }
                Err(no) => {
                    refuse(act, no);
                    return;
                }
            }
        }
        if let Stage::Look(id) = act.stage {
            let since = act.since;
            let everything = self.all(|viewport| viewport.pictured >= since);
            let enough = self.all(|viewport| viewport.id != id || viewport.pictured >= since);
            if everything || (enough && self.surface.has_looked()) {
                if everything {
                    // What changed before the action did not come of it.
                    self.settle(shared, None);
                }
                act.stage = Stage::Act(id);
                act.since = self.tick();
            }
            self.work = Some(Work::Act(act));
            return;
        }
        if let Stage::Act(id) = act.stage {
            let since = act.since;
            if std::mem::take(&mut act.again) {
                act.since = self.tick();
            } else if act.entered.is_none() && act.job.is_none() {
                // Answered beside the widget.
                return;
            } else if self.all(|viewport| viewport.id != id || viewport.recorded >= since) {
                // The pass went by without the target, or its widget could not be told by its
                // id yet: see again what is drawn.
                act.tries += 1;
                if act.tries > 4 && self.locate(&act.target, act.view).is_ok() {
                    // It is there, and never the same widget twice: that is no answer to give.
                    // The deadline says that the app was too busy, and that nothing was done.
                    if let Some(job) = act.job.take() {
                        job.ticket.withdraw();
                        drop(job.enter(Instant::now()));
                    }
                    return;
                }
                act.stage = Stage::Find;
                act.since = since;
                self.advance_act(act, shared);
                return;
            }
            self.work = Some(Work::Act(act));
            return;
        }
        let since = act.since;
        if act.stage == Stage::Whole && self.all(|viewport| viewport.pictured >= since) {
            let found = agent_core::locate(&self.pictured(), &act.target, act.view);
            self.forget_pictures();
            refuse(act, found.err().unwrap_or(Refusal::NotExposed.into()));
            return;
        }
        let seen = self.all(|viewport| viewport.pictured >= since);
        if act.stage == Stage::Settle && !act.later && seen {
            self.finish_act(act, shared);
            // What was asked after it can be told from the same pictures.
            let mut reads = Vec::new();
            while let Some(job) = lock(&shared.inbox).pop_if(|job| is_read(job) && !is_whole(job)) {
                reads.push(job);
            }
            self.serve_reads(reads, shared);
            return;
        }
        self.work = Some(Work::Act(act));
    }

    fn finish_act(&mut self, mut act: Box<ActWork>, shared: &Shared) {
        let (scene, events) = self.settle(shared, act.cause.as_ref());
        let mut result = Acted::new(self.surface.revision(), events);
        if let Some(done) = act.done.take()
            && done.verb == Verb::SetText
            && let Some((version, text)) =
                self.surface
                    .after_edit(&scene, done.key, done.wanted.as_deref())
        {
            result.version = Some(version);
            result.text = text;
        }
        if let Some(job) = act.entered.take() {
            job.reply.send(Answer::Acted(result));
        }
    }

    fn serve_reads(&mut self, jobs: Vec<Job>, shared: &Shared) {
        if jobs.is_empty() {
            return;
        }
        let (scene, _) = self.settle(shared, None);
        let began = Instant::now();
        let whole = jobs.iter().any(is_whole);
        let mut left = Vec::new();
        for (served, job) in jobs.into_iter().enumerate() {
            if served > 0 && began.elapsed() > TURN_BUDGET {
                left.push(job);
                continue;
            }
            if matches!(job.call, Call::Wait(_)) {
                self.waiting.purge();
                self.waiting.add(job, &self.surface, &scene);
                continue;
            }
            if let Some(job) = job.enter(Instant::now())
                && let Some(answer) = self.surface.read(&scene, &job.call, job.view)
            {
                job.reply.send(answer);
            }
        }
        if whole {
            self.forget_pictures();
        }
        if !left.is_empty() {
            // The rest waits for the next frame, before what came after it.
            lock(&shared.inbox).put_back(left);
        }
    }

    /// A whole tree is not kept, nor copied for the next request.
    fn forget_pictures(&mut self) {
        for viewport in &mut self.viewports {
            viewport.picture = Vec::new();
            viewport.pictured = 0;
        }
    }

    /// Takes in what every window's picture shows, and what happened since the last look: by an
    /// agent's action, or by whatever else.
    fn settle(&mut self, shared: &Shared, cause: Option<&Cause>) -> (Scene, Vec<Event>) {
        let scene = self.pictured();
        let mut acted = std::mem::take(&mut self.acted);
        acted.extend(lock(&shared.emitted).take(&scene));
        let mut events = self.surface.settle(&scene, Changes::Everything, &acted);
        agent_core::caused(&mut events, cause);
        let sink = lock(&shared.sink).clone();
        if let Some(sink) = sink.filter(|_| !events.is_empty()) {
            sink(&mut events);
        }
        self.waiting.look(&self.surface, &scene);
        for warning in self.surface.take_warnings() {
            log::warn!("{warning}");
        }
        (scene, events)
    }

    fn all(&self, holds: impl Fn(&Viewport) -> bool) -> bool {
        self.viewports.iter().all(holds)
    }

    /// The windows that an agent can see, by id.
    pub(crate) fn window_ids(&self) -> HashSet<String> {
        self.viewports
            .iter()
            .filter_map(|viewport| viewport.root_tag.as_ref())
            .filter(|tag| crate::pass::may_be_exposed(tag, tag.get_marks()))
            .filter_map(|tag| tag.get_id().map(str::to_owned))
            .collect()
    }

    /// The topmost modal of a window as an exposed node, with all that is around it.
    pub(crate) fn modal(&self, viewport: &Viewport, records: &[Record]) -> Option<Key> {
        let layer = viewport.top_modal?;
        let named = records.iter().find(|record| {
            // The tag around the modal was begun outside of it.
            let opens = record.layer == layer && record.from != layer;
            let asks = matches!(
                record.tag.get_role(),
                Some(Role::Dialog | Role::AlertDialog)
            );
            record.layer == layer && (opens || asks) && record.tag.get_id().is_some()
        });
        // A modal without a tag blocks too, in its window's name: which is no one's to see.
        Some(named.map_or(Key::MAX, |record| record.key))
    }

    /// Whether a picture of this window is what came of an action: not while an area that is new
    /// or gone has yet to find its place, which decides what lies under a modal.
    pub(crate) fn is_settled(&mut self, id: ViewportId, layers: HashSet<LayerId>) -> bool {
        let viewport = self.viewport(id);
        let moved = viewport.layers != layers;
        viewport.layers = layers;
        match &mut self.work {
            Some(Work::Act(act)) if act.stage == Stage::Settle && moved && act.moving < 4 => {
                act.moving += 1;
                false
            }
            _ => true,
        }
    }

    /// A frame is over: what waited for the next one goes on.
    pub(crate) fn frame_over(&mut self, id: ViewportId) {
        // What the next frame shows has not been looked at.
        self.viewport(id).seen = false;
        let now = self.tick();
        if let Some(Work::Act(act)) = &mut self.work
            && std::mem::take(&mut act.later)
        {
            act.since = now;
        }
    }

    /// Drops what has not been drawn for long, once there is more of that than of the rest.
    pub(crate) fn sweep(&mut self) {
        let drawn: usize = self
            .viewports
            .iter()
            .map(|viewport| viewport.records.len())
            .sum();
        if self.tracks.len() <= 2 * drawn + 256 {
            return;
        }
        let passes: HashMap<ViewportId, u64> = self
            .viewports
            .iter()
            .map(|viewport| (viewport.id, viewport.pass))
            .collect();
        self.tracks.retain(|(viewport, _), track| {
            passes
                .get(viewport)
                .is_some_and(|pass| track.pass + 1 >= *pass)
        });
    }
}

/// This kind of node has no such action.
pub(crate) fn not_offered() -> No {
    let why = Why::NotOffered;
    Refusal::NotActionable { why, by: None }.into()
}

/// A row that is named by its list and its key is named by its id.
fn by_row(target: Target, action: Action) -> (Target, Action) {
    match action {
        Action::ScrollTo { key: Some(key) } => match agent_core::keyed_id(&target.id, &key) {
            Ok(id) => (Target { id, ..target }, Action::ScrollTo { key: None }),
            Err(_) => (target, Action::ScrollTo { key: Some(key) }),
        },
        action => (target, action),
    }
}

fn is_read(job: &Job) -> bool {
    !matches!(job.call, Call::Act { .. })
}

/// Whether a request needs more of the windows than what is tagged.
fn is_whole(job: &Job) -> bool {
    match &job.call {
        Call::Describe(describe) => describe.full,
        Call::GetText { target, .. } => names_a_place(job.view, target),
        Call::Act { .. } | Call::Subscribe { .. } | Call::Wait(_) => false,
    }
}

/// Whether an automatic id would be told apart from none.
fn names_a_place(view: View, target: &Target) -> bool {
    view.names_unexposed && agent_core::is_automatic(&target.id)
}

/// Tells a no, if the request still counts.
fn refuse(mut act: Box<ActWork>, no: No) {
    if let Some(job) = act.entered.take() {
        job.reply.send(no);
    } else if let Some(job) = act.job.take().and_then(|job| job.enter(Instant::now())) {
        job.reply.send(no);
    }
}

impl Viewport {
    /// The window itself.
    pub(crate) fn root(&self) -> SceneNode {
        SceneNode {
            key: self.root_key,
            parent: None,
            tag: self.root_tag.clone(),
            looked: Looked::unknown(Role::Window),
            label: self.title.clone(),
            text: None,
            stamp: 0,
            frame: None,
            blocked_by: None,
            size: None,
            #[cfg(feature = "inspector")]
            widget: None,
            #[cfg(feature = "inspector")]
            properties: Vec::new(),
        }
    }
}

impl Record {
    /// Its node in a scene.
    pub(crate) fn node(&self, parent: Key, mut looked: Looked, viewport: &Viewport) -> SceneNode {
        if let Some(role) = self.tag.get_role() {
            looked.states = as_role(looked.states, role);
        }
        looked.states.set(States::HIDDEN, !self.visible);
        looked
            .states
            .set(States::DISABLED, !self.enabled && self.visible);
        looked.states.set(States::OFFSCREEN, !self.onscreen);
        looked.states.set(
            States::MODAL,
            looked.states.contains(States::MODAL)
                || (viewport.top_modal == Some(self.layer)
                    && matches!(
                        self.tag.get_role().unwrap_or(looked.role),
                        Role::Dialog | Role::AlertDialog
                    )),
        );
        if self.chained {
            looked.offers &= Verb::Click.set() | Verb::Focus.set();
        }
        let (min, size) = (self.rect.min, self.rect.size());
        SceneNode {
            key: self.key,
            parent: Some(parent),
            tag: Some(self.tag.clone()),
            looked,
            label: None,
            text: None,
            stamp: self.stamp,
            frame: self.rect.is_finite().then(|| agent_core::Frame {
                x: f64::from(min.x),
                y: f64::from(min.y),
                width: f64::from(size.x.max(0.0)),
                height: f64::from(size.y.max(0.0)),
            }),
            blocked_by: None,
            size: self.size,
            #[cfg(feature = "inspector")]
            widget: self.widget.map(|id| id.accesskit_id()),
            #[cfg(feature = "inspector")]
            properties: Vec::new(),
        }
    }
}
