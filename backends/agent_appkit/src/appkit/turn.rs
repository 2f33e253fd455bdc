//! What is done on the main thread: requests, and looking at what changed.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    sync::Arc,
    time::Instant,
};

use agent_core::{
    Acted, Action, Answer, Authorised, Call, Cause, Changes, Event, EventVerb, Fault, Job,
    LiveTree, No, ReplyTo, Standings, States, Surface, TURN_BUDGET, Waiting,
};
use objc2::{MainThreadMarker, rc::Retained};
use objc2_app_kit::{NSControl, NSMenuItem, NSView};
use objc2_foundation::NSTimer;

use super::{
    door,
    exceptions::catch,
    finding::{self, Look},
    handle::{Shared, lock},
    perform,
    table::{self, Node},
    widget::Widget,
};

/// How often it is looked at what changed while somebody waits for that, in seconds: for what
/// happens without an event that AppKit tells of.
const TICK: f64 = 0.05;

/// How much is remembered of what people did since the last look.
const MAX_ACTED: usize = 256;

struct Ui {
    shared: Arc<Shared>,
    surface: Surface<Node>,
    waiting: Waiting,
    /// The action that is being performed, until it is answered.
    acting: Option<Acting>,
    actions: u64,
    timer: Option<Retained<NSTimer>>,
}

/// An action that has begun. It is answered when the run loop goes on: what its handler left to
/// be done next has been done then. A handler that opens a modal window comes back when that is
/// closed; the run loop goes on inside.
struct Acting {
    number: u64,
    reply: ReplyTo,
    cause: Option<Cause>,
    /// Of an edit: the field.
    edited: Option<Node>,
    /// What its handler came back with; `Ok(None)` as long as it hasn't.
    performed: Result<Option<String>, Fault>,
    has_come_back: bool,
    /// What came of it so far.
    events: Vec<Event>,
}

thread_local! {
    static UI: RefCell<Option<Ui>> = const { RefCell::new(None) };
    /// What people did to exposed widgets since the last look.
    static ACTED: RefCell<Vec<(Node, EventVerb)>> = const { RefCell::new(Vec::new()) };
    /// The secrets whose change was told, and need not be told again.
    static TOLD: RefCell<HashSet<Node>> = RefCell::default();
    /// Whether any client is there: else nothing is noted.
    static NOTES: Cell<bool> = const { Cell::new(false) };
}

/// Serves these from now on.
pub(crate) fn begin(shared: Arc<Shared>) {
    let ui = Ui {
        shared,
        surface: Surface::default(),
        waiting: Waiting::default(),
        acting: None,
        actions: 0,
        timer: None,
    };
    let before = UI.with(|cell| cell.replace(Some(ui)));
    if let Some(before) = before {
        before.shared.stop();
    }
}

/// The app terminates.
pub(crate) fn end() {
    if let Some(shared) = shared() {
        shared.stop();
    }
    #[cfg(feature = "inspector")]
    super::inspect::end();
}

/// `None` if somebody is looking right now: AppKit called back into the app, which called here.
fn with_ui<R>(f: impl FnOnce(&mut Ui) -> R) -> Option<R> {
    UI.with(|cell| cell.try_borrow_mut().ok()?.as_mut().map(f))
}

pub(crate) fn shared() -> Option<Arc<Shared>> {
    with_ui(|ui| ui.shared.clone())
}

/// Agents have their share of the turn, which is over when it is used up.
pub(crate) fn work(mtm: MainThreadMarker) {
    let Some(shared) = shared() else {
        return door::wake_later();
    };
    shared.came();
    NOTES.set(lock(&shared.state).clients > 0);
    if with_ui(|ui| is_to_be_answered(ui)) == Some(true) {
        // What comes next would be taken for what came of it: that is served after it.
        return;
    }
    went_on(mtm);
    let begun = Instant::now();
    while let Some(job) = next(&shared) {
        serve(mtm, job);
        if with_ui(|ui| is_to_be_answered(ui)) == Some(true) {
            return;
        }
        if begun.elapsed() >= TURN_BUDGET {
            break;
        }
    }
    look_again(mtm);
    #[cfg(feature = "inspector")]
    super::inspect::work(mtm, &shared);
    shared.wake_for_more();
}

/// Whether there is an action that was performed, and whose frame after is not over.
fn is_to_be_answered(ui: &Ui) -> bool {
    ui.acting.as_ref().is_some_and(|it| it.has_come_back)
}

fn next(shared: &Shared) -> Option<Job> {
    let mut state = lock(&shared.state);
    if state.stopped {
        None
    } else {
        state.inbox.pop()
    }
}

fn is_watched(ui: &Ui) -> bool {
    !ui.waiting.is_empty() || lock(&ui.shared.state).listeners > 0
}

/// AppKit tells of something that may show, and may not be over yet: it is looked at when the run
/// loop goes on, if anybody waits for that.
pub(crate) fn happened() {
    if with_ui(|ui| is_watched(ui)) == Some(true) {
        door::wake();
    }
}

/// Looks at what changed, if anybody waits for that.
pub(crate) fn look_again(mtm: MainThreadMarker) {
    let looked = catch("looking at the app", || {
        with_ui(|ui| {
            if is_watched(ui) {
                ui.settle(mtm, None);
                ui.waiting.purge();
            }
        })
    });
    if let Err(why) = looked {
        log::error!("agents were told nothing of a change: {why:?}");
    }
    keep_looking();
}

/// Has a timer exactly while somebody waits for changes.
fn keep_looking() {
    with_ui(|ui| {
        if is_watched(ui) == ui.timer.is_some() {
            return;
        }
        ui.timer = match ui.timer.take() {
            Some(timer) => {
                timer.invalidate();
                None
            }
            None => door::timer(TICK),
        };
    });
}

/// The run loop goes on. If an action is being performed, it goes on inside its handler, and
/// what the handler did so far is what came of it.
pub(crate) fn went_on(mtm: MainThreadMarker) {
    let acting = with_ui(|ui| ui.acting.take()).flatten();
    let Some(acting) = acting else { return };
    finish(mtm, acting);
    // GNUstep's run loop, when it has just fired what was delayed, takes another thread's message and
    // performs it only when it turns again, which may be long; and the client has its answer.
    #[cfg(feature = "gnustep")]
    door::wake_later();
    look_again(mtm);
    // What else waits has waited for this, or would wait for the handler to come back.
    if let Some(shared) = shared() {
        shared.wake_for_more();
    }
}

enum Judged {
    Answer(Answer),
    Leave(Authorised<Node>),
}

/// One request, begun and ended within this turn: what is checked is what is acted on (rule 4).
fn serve(mtm: MainThreadMarker, job: Job) {
    if matches!(job.call, Call::Wait(_)) {
        let waits = catch("looking at the app", || {
            with_ui(|ui| {
                ui.settle(mtm, None);
                ui.waiting.purge();
                ui.waiting.add(job, &ui.surface, &Look::new(mtm));
            })
        });
        // The job went with what was thrown, and has been answered by that.
        drop(waits);
        return;
    }
    let Some(job) = job.enter(Instant::now()) else {
        return;
    };
    let judged = catch("looking at the app", || {
        with_ui(|ui| {
            // What happened before is settled before, so that it is not told as brought about by
            // what this job does.
            ui.settle(mtm, None);
            ui.judge(mtm, &job)
        })
    });
    let leave = match judged {
        Ok(Some(Judged::Leave(leave))) => leave,
        Ok(Some(Judged::Answer(answer))) => return job.reply.send(answer),
        Ok(None) => return job.reply.send(Answer::Fault(Fault::Closed)),
        Err(fault) => return job.reply.send(Answer::Fault(fault)),
    };
    let cause = job.cause();
    act(mtm, job.reply, cause, leave);
}

fn act(mtm: MainThreadMarker, reply: ReplyTo, cause: Option<Cause>, leave: Authorised<Node>) {
    let secret = leave.is_secret();
    let (node, action) = leave.perform();
    let edited = matches!(action, Action::SetText { .. }).then_some(node);
    let number = with_ui(|ui| {
        ui.actions += 1;
        ui.acting = Some(Acting {
            number: ui.actions,
            reply,
            cause,
            edited,
            performed: Ok(None),
            has_come_back: false,
            events: Vec::new(),
        });
        ui.actions
    });
    door::tell_when_it_goes_on();
    let performed = catch("a handler of the app", || {
        perform::perform(mtm, node, action, secret)
    });
    door::need_not_tell();
    let looked = catch("looking at the app", || {
        with_ui(|ui| match &mut ui.acting {
            Some(acting) if Some(acting.number) == number => {
                (acting.performed, acting.has_come_back) = (performed, true);
                ui.settle(mtm, None);
            }
            // It was answered while its handler ran.
            _ => {}
        })
    });
    if let Err(why) = looked {
        log::error!("agents were told nothing of a change: {why:?}");
    }
    // After whatever the handler left to be done as soon as the run loop goes on.
    door::tell_when_it_goes_on();
}

fn finish(mtm: MainThreadMarker, mut acting: Acting) {
    let answer = catch("looking at the app", || {
        with_ui(|ui| {
            let mut events = std::mem::take(&mut acting.events);
            events.extend(ui.settle(mtm, acting.cause.as_ref()));
            let edit = match acting.performed {
                Ok(edit) => edit,
                Err(fault) => return Answer::Fault(fault),
            };
            let wanted = edit.as_deref();
            let look = Look::new(mtm);
            let after = acting
                .edited
                .and_then(|node| ui.surface.after_edit(&look, node, wanted));
            let (version, text) = match after {
                Some((version, text)) => (Some(version), text.filter(|_| wanted.is_some())),
                None => (None, None),
            };
            Answer::Acted(Acted {
                version,
                text,
                ..Acted::new(ui.surface.revision(), events)
            })
        })
    });
    acting.reply.send(match answer {
        Ok(Some(answer)) => answer,
        Ok(None) => Answer::Fault(Fault::Closed),
        Err(fault) => Answer::Fault(fault),
    });
}

impl Ui {
    fn judge(&mut self, mtm: MainThreadMarker, job: &Job) -> Judged {
        let look = Look::new(mtm);
        if let Some(answer) = self.surface.read(&look, &job.call, job.view) {
            return Judged::Answer(answer);
        }
        let Call::Act { target, action } = &job.call else {
            return Judged::Answer(Answer::Fault(Fault::Unsupported));
        };
        let judged = self.surface.judge(&look, target, action.clone(), job.view);
        let leave = judged.and_then(|judged| {
            let leave = self
                .surface
                .authorise(&look, judged, &job.gate, &job.request);
            leave.map_err(No::from)
        });
        match leave {
            Ok(leave) => Judged::Leave(leave),
            Err(no) => Judged::Answer(no.into()),
        }
    }

    /// Looks at what changed: by an agent's action, or by whatever else.
    fn settle(&mut self, mtm: MainThreadMarker, cause: Option<&Cause>) -> Vec<Event> {
        let look = Look::new(mtm);
        let mut acted = ACTED.take();
        let mut emitted = std::mem::take(&mut lock(&self.shared.state).emitted);
        let emitted = emitted.take(&look);
        #[cfg(feature = "inspector")]
        for (node, verb) in &emitted {
            super::inspect::happened(*node, *verb);
        }
        acted.extend(emitted);
        let mut events = self.surface.settle(&look, Changes::Everything, &acted);
        let acting = self.acting.as_ref().filter(|it| it.has_come_back);
        let cause = cause.or(acting.and_then(|it| it.cause.as_ref()));
        agent_core::caused(&mut events, cause);
        for warning in self.surface.take_warnings() {
            log::warn!("{warning}");
        }
        self.tell_windows(&look);
        let sink = lock(&self.shared.state).sink.clone();
        if let Some(sink) = sink.filter(|_| !events.is_empty()) {
            sink(&mut events);
        }
        self.waiting.look(&self.surface, &look);
        if let Some(acting) = self.acting.as_mut().filter(|it| it.has_come_back) {
            acting.events.extend(events.iter().cloned());
        }
        events
    }

    /// Makes known to other threads what they may ask about without waiting for this one.
    fn tell_windows(&self, look: &Look) {
        let mut standings = Standings::new(look);
        let ids = LiveTree::windows(look)
            .into_iter()
            .filter_map(|window| Some(standings.of(window)?.id.as_deref()?.to_owned()))
            .collect();
        *lock(&self.shared.windows) = ids;
    }
}

/// Whether anybody may ever be told of it: the rest must not even use up the room.
fn may_be_shown(node: Node) -> bool {
    table::tags().of.contains_key(&node) || finding::has_identifier(node)
}

/// Whether anybody is there to whom it is told what people do.
fn notes() -> bool {
    #[cfg(feature = "inspector")]
    let inspected = super::inspect::is_on();
    #[cfg(not(feature = "inspector"))]
    let inspected = false;
    NOTES.get() || inspected
}

/// Notes what somebody did to a widget.
fn tell(node: Node, verb: EventVerb) {
    if !notes() || !may_be_shown(node) {
        return;
    }
    if NOTES.get() {
        ACTED.with_borrow_mut(|acted| {
            if acted.len() < MAX_ACTED && !acted.contains(&(node, verb)) {
                acted.push((node, verb));
            }
        });
    }
    #[cfg(feature = "inspector")]
    super::inspect::happened(node, verb);
}

/// A control sends its action.
pub(crate) fn control_was_used(control: &NSControl) {
    if !notes() {
        return;
    }
    let view: &NSView = control;
    if let Some(node) = table::known(view)
        && matches!(Widget::of(view), Widget::Button(_))
    {
        tell(node, EventVerb::Clicked);
    }
}

/// A menu item was chosen.
pub(crate) fn item_was_used(item: &NSMenuItem) {
    if let Some(node) = table::known(item) {
        tell(node, EventVerb::Clicked);
    }
}

/// Somebody edited a text. Of a secret it is noted once, so that neither its length nor its
/// rhythm shows (rule 8).
pub(crate) fn text_changed(mtm: MainThreadMarker, view: &NSView) {
    if !NOTES.get() {
        return;
    }
    // What is known because an inspector saw it is not noted: that would show.
    let Some(node) = table::known(view).filter(|node| may_be_shown(*node)) else {
        return;
    };
    let look = Look::new(mtm);
    let secret = Standings::new(&look).states(node).contains(States::SECRET);
    if secret && !TOLD.with_borrow_mut(|told| told.insert(node)) {
        return;
    }
    table::text_changed(node);
}

/// An agent wrote to a secret: that is always a change, and the next one is told again.
pub(crate) fn secret_was_written(node: Node, stamp_before: u64) {
    if table::stamp(node) == stamp_before {
        table::text_changed(node);
    }
    tell_secret_again(node);
}

/// The next change of a secret is told.
pub(crate) fn tell_secret_again(node: Node) {
    TOLD.with_borrow_mut(|told| told.remove(&node));
}

/// A text lost the focus, or Enter was pressed in it.
pub(crate) fn text_ended(view: &NSView, by_return: bool) {
    let Some(node) = table::known(view) else {
        return;
    };
    tell_secret_again(node);
    if by_return {
        tell(node, EventVerb::Submitted);
    }
}

/// An agent pressed Enter in a field.
pub(crate) fn was_submitted(node: Node) {
    tell_secret_again(node);
    tell(node, EventVerb::Submitted);
}
