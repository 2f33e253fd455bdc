//! One pass of one window as it is drawn: the stack of tags, and what each does around its
//! widget.

use std::{
    cell::RefCell,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use agent_core::{
    Action, Authorised, EventVerb, Job, Marks, No, Refusal, States, Tag, Target, Verb,
};
use egui::{
    Context, Event, Id, Key, LayerId, Modifiers, Response, Ui, ViewportId,
    accesskit::{self as ak, ActionRequest, TreeId},
    response::Flags,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};

use crate::{
    ids::IdMap,
    scene::{Key as NodeKey, Scene, SceneNode},
    state::{ActWork, Done, Record, Shared, Stage, Track, UiState, Work, lock, not_offered},
};

thread_local! {
    // The passes under way on this thread: an immediate viewport's lies inside its parent's.
    // Hooks can't hand this to a widget in any other way that costs a widget nothing.
    static PASSES: RefCell<Vec<Pass>> = const { RefCell::new(Vec::new()) };
}

/// A pass under way.
pub(crate) struct Pass {
    ctx: Context,
    pub(crate) shared: Arc<Shared>,
    pub(crate) viewport: ViewportId,
    pub(crate) number: u64,
    /// The first pass of this frame.
    pub(crate) frame: u64,
    /// Whether a client is there to see any of it.
    pub(crate) recording: bool,
    /// Whether `on_begin_pass` was called: only then is another pass to be had in this frame.
    pub(crate) driven: bool,
    pub(crate) records: Vec<Record>,
    stack: Vec<Around>,
    pub(crate) root_tag: Option<Tag>,
    /// Which tag each widget lies in, where everything is to be told.
    pub(crate) inner: Option<IdMap<Id, usize>>,
    /// The widgets inside what is secret or excluded: none of them may name another.
    pub(crate) kept_back: IdMap<Id, Marks>,
    pub(crate) acting: bool,
    /// Whether agents are told the whole of it.
    pub(crate) whole: bool,
    /// Whether an inspector is.
    #[cfg(feature = "inspector")]
    pub(crate) inspects: bool,
    /// What lies over what, for that one.
    #[cfg(feature = "inspector")]
    pub(crate) layers: crate::layers::Layers,
    /// Whether its picture is what came of an action.
    pub(crate) settled: bool,
}

/// A tag that is being drawn.
struct Around {
    record: Option<usize>,
    spot: Id,
    /// The claim of the innermost exposed tag, itself included; `None`: there is none.
    within: Option<Id>,
    marks: Marks,
}

/// How a tag was spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// On a widget before it is added: nothing else is drawn inside.
    Widget,
    /// Round anything that returns a `Response`.
    Closure,
    /// Round a group.
    Group,
    /// On a `Response`.
    Chained,
}

/// What `leave` needs of `enter`.
pub(crate) struct Entered {
    key: NodeKey,
    armed: Option<Armed>,
    before: Option<Vec<(LayerId, usize)>>,
    auto: Id,
}

/// An action that is under way around its widget.
struct Armed {
    authorised: Authorised<NodeKey>,
    aimed: Option<Id>,
    event: Option<ActionRequest>,
    wanted: Option<String>,
    caret: Option<usize>,
    /// Enter goes to the field that has the focus when a pass begins: this pass gives it.
    focus_first: bool,
}

impl Pass {
    pub(crate) fn new(ctx: &Context, shared: Arc<Shared>, viewport: ViewportId) -> Self {
        Self {
            ctx: ctx.clone(),
            shared,
            viewport,
            number: 0,
            frame: 0,
            recording: false,
            driven: false,
            records: Vec::new(),
            stack: Vec::new(),
            root_tag: None,
            inner: None,
            kept_back: IdMap::default(),
            acting: false,
            whole: false,
            #[cfg(feature = "inspector")]
            inspects: false,
            #[cfg(feature = "inspector")]
            layers: Default::default(),
            settled: true,
        }
    }
}

/// A pass begins.
pub(crate) fn begin(pass: Pass) {
    PASSES.with_borrow_mut(|passes| {
        // A pass that never ended (its app panicked and was caught) is over now.
        let stale = passes
            .iter()
            .position(|old| old.ctx == pass.ctx && old.viewport == pass.viewport);
        if let Some(stale) = stale {
            passes.truncate(stale);
        }
        passes.push(pass);
    });
}

/// The pass of this context ends.
pub(crate) fn end(ctx: &Context) -> Option<Pass> {
    PASSES.with_borrow_mut(|passes| {
        let last = passes.last()?;
        if last.ctx == *ctx { passes.pop() } else { None }
    })
}

/// Looks at the pass of this context, if it is a pass of ours.
pub(crate) fn current<R>(ctx: &Context, look: impl FnOnce(&mut Pass) -> R) -> Option<R> {
    PASSES.with_borrow_mut(|passes| {
        let pass = passes.last_mut()?;
        (pass.ctx == *ctx).then(|| look(pass))
    })
}

/// A tag begins: notes it, and, if an action waits for it, judges that and gets it ready.
pub(crate) fn enter(ui: &mut Ui, tag: Tag, spelling: Spelling) -> Option<Entered> {
    current(ui.ctx(), |pass| {
        let shared = pass.shared.clone();
        if !pass.recording && !shared.ever.load(Ordering::Relaxed) {
            // Nobody has ever asked: nothing has a version that could go stale.
            return None;
        }
        let mut state = lock(&shared.ui);
        let state = &mut *state;
        let Place {
            parent,
            marks,
            claim,
            within,
        } = place(pass, state, &tag);
        let auto = ui.next_auto_id();
        let (spot, key, known, stamp) = track(state, pass, claim, spelling);
        if spelling == Spelling::Group
            && let Some(track) = state.tracks.get_mut(&(pass.viewport, spot))
        {
            // It has no widget, whatever had this id before.
            track.widget = None;
            track.looked = None;
        }
        let mut entered = Entered {
            key,
            armed: None,
            before: None,
            auto,
        };
        let mut record = None;
        if pass.recording {
            let layer = ui.layer_id();
            pass.records.push(Record {
                key,
                spot,
                claim,
                parent,
                tag,
                marks,
                widget: None,
                enabled: ui.is_enabled(),
                visible: ui.is_visible(),
                reachable: ui.memory(|memory| memory.allows_interaction(layer)),
                rect: egui::Rect::NOTHING,
                onscreen: true,
                layer,
                from: layer,
                stamp,
                chained: spelling == Spelling::Chained,
                size: None,
            });
            record = Some(pass.records.len() - 1);
            let keeps_back = marks.intersects(Marks::SECRET | Marks::EXCLUDED);
            if spelling != Spelling::Chained && (pass.inner.is_some() || keeps_back) {
                entered.before = Some(counts(ui.ctx()));
            }
            if pass.acting && !ui.is_sizing_pass() {
                let aimed = aim(known, auto, spelling);
                entered.armed = act(ui.ctx(), pass, state, aimed);
            }
        }
        pass.stack.push(Around {
            record,
            spot,
            within,
            marks,
        });
        Some(entered)
    })
    .flatten()
}

/// A tag ends: takes back what was put in, says what became of it, and notes how the widget is.
pub(crate) fn leave(ui: &mut Ui, entered: Option<Entered>, response: Option<&mut Response>) {
    let Some(entered) = entered else {
        return;
    };
    let ctx = ui.ctx().clone();
    current(&ctx, |pass| {
        let around = pass.stack.pop();
        let shared = pass.shared.clone();
        let mut state = lock(&shared.ui);
        let state = &mut *state;
        let record = around.as_ref().and_then(|around| around.record);
        if let (Some(around), Some(at)) = (&around, record)
            && let Some(before) = &entered.before
        {
            let own = response.as_deref().map(|response| response.id);
            for id in added_since(&ctx, before) {
                if Some(id) != own
                    && let Some(inner) = &mut pass.inner
                {
                    inner.entry(id).or_insert(at);
                }
                if around.marks.intersects(Marks::SECRET | Marks::EXCLUDED) {
                    pass.kept_back.entry(id).or_insert(around.marks);
                }
            }
        }
        if let Some(at) = record
            && let Some(record) = pass.records.get_mut(at)
        {
            match response.as_deref() {
                Some(response) => {
                    record.widget = Some(response.id);
                    record.enabled = response.enabled();
                    record.visible = response.visible() && ui.is_visible();
                    record.rect = response.rect;
                    record.onscreen = response.interact_rect.is_positive();
                    record.layer = response.layer_id;
                }
                None => {
                    record.rect = ui.min_rect();
                    record.onscreen = ui.clip_rect().intersects(ui.min_rect());
                }
            }
            if record.tag.get_exposed() == Some(false)
                && let Some(id) = record.widget
            {
                pass.kept_back.insert(id, Marks::EXCLUDED);
            }
        }
        let changed = response.as_deref().is_some_and(Response::changed);
        let lost_focus = response.as_deref().is_some_and(Response::lost_focus);
        let ours = entered.armed.is_some();
        let mut submitted = false;
        if let Some(around) = &around
            && let Some(track) = state.tracks.get_mut(&(pass.viewport, around.spot))
            && track.key == entered.key
        {
            if let Some(response) = response.as_deref() {
                track.widget = Some(response.id);
                track.auto = entered.auto;
            }
            track.changed(changed, lost_focus, around.marks, ours);
            if let Some(record) = record.and_then(|at| pass.records.get_mut(at)) {
                record.stamp = track.stamp;
            }
            // A person's Enter takes the focus away: what an app asks for as well.
            let field = track.looked.as_ref();
            submitted = lost_focus
                && !ours
                && field.is_some_and(|field| field.offers.contains(Verb::Submit.set()))
                && ctx.input(|input| input.key_pressed(Key::Enter));
        }
        if submitted && pass.recording {
            state.happened(entered.key, EventVerb::Submitted);
        }
        if let Some(armed) = entered.armed {
            settle(&ctx, Some(ui), state, entered.key, armed, response);
        } else if let Some(response) = response
            && pass.recording
            && response.clicked()
        {
            state.happened(entered.key, EventVerb::Clicked);
        }
    });
}

/// Tags the window that is being drawn.
pub(crate) fn tag_window(ctx: &Context, tag: Tag) {
    current(ctx, |pass| match &pass.root_tag {
        None => pass.root_tag = Some(tag),
        Some(first) if *first == tag => {}
        Some(first) => lock(&pass.shared.ui).warn(format!(
            "the window {:?} is tagged again as {:?} in one pass: the second tag is ignored",
            first.get_id().unwrap_or_default(),
            tag.get_id().unwrap_or_default(),
        )),
    });
}

/// A tag's closure panicked: it is not around what follows.
pub(crate) fn unwound(ctx: &Context) {
    current(ctx, |pass| pass.stack.pop());
}

/// A tag on a response whose widget has run.
pub(crate) fn chained(ctx: &Context, tag: Tag, response: &mut Response) {
    current(ctx, |pass| {
        let shared = pass.shared.clone();
        if !pass.recording && !shared.ever.load(Ordering::Relaxed) {
            return;
        }
        let mut state = lock(&shared.ui);
        let state = &mut *state;
        let Place {
            parent,
            marks,
            claim,
            ..
        } = place(pass, state, &tag);
        let (spot, key, _, _) = track(state, pass, claim, Spelling::Chained);
        let Some(track) = state.tracks.get_mut(&(pass.viewport, spot)) else {
            return;
        };
        let mut stamp = 0;
        if track.key == key {
            track.widget = Some(response.id);
            track.changed(response.changed(), response.lost_focus(), marks, false);
            stamp = track.stamp;
        }
        if !pass.recording {
            return;
        }
        let layer = response.layer_id;
        pass.records.push(Record {
            key,
            spot,
            claim,
            parent,
            tag,
            marks,
            widget: Some(response.id),
            enabled: response.enabled(),
            visible: response.visible(),
            reachable: ctx.memory(|memory| memory.allows_interaction(layer)),
            rect: response.rect,
            onscreen: response.interact_rect.is_positive(),
            layer,
            from: layer,
            stamp,
            chained: true,
            size: None,
        });
        let armed = match pass.acting {
            true => act(ctx, pass, state, Aim::Nothing),
            false => None,
        };
        match armed {
            Some(armed) => settle(ctx, None, state, key, armed, Some(response)),
            None if response.clicked() => state.happened(key, EventVerb::Clicked),
            None => {}
        }
    });
}

/// The list that was tagged last stands for so many rows, of which only those in view are drawn.
/// Answers which row is to be brought into view now, because an agent asked for it: `find` says
/// where a key's row is.
pub(crate) fn rows(
    ctx: &Context,
    count: usize,
    find: impl FnOnce(&str) -> Option<usize>,
) -> Option<usize> {
    current(ctx, |pass| {
        let shared = pass.shared.clone();
        let mut state = lock(&shared.ui);
        let state = &mut *state;
        if let Some(list) = pass.records.last_mut() {
            list.size = u64::try_from(count).ok();
        }
        let Some(Work::Act(work)) = &state.work else {
            return None;
        };
        let scrolls = matches!(work.action, Action::ScrollTo { .. });
        if !pass.recording
            || !scrolls
            || work.job.is_none()
            || work.done.is_some()
            || state.is_busy(pass.viewport)
        {
            return None;
        }
        let (id, key) = agent_core::split_key(&work.target.id)?;
        let (mut scene, list) = beside(pass, state, id)?;
        let named = Target {
            id: id.to_owned(),
            window: work.target.window.clone(),
        };
        if agent_core::locate(&scene, &named, work.view) != Ok(list) {
            return None;
        }
        let row = find(&key)?;
        scene.know_row(list, &key);
        let Some(Work::Act(mut work)) = state.work.take() else {
            return None;
        };
        let scrolled = scroll_to_row(state, &mut work, &scene);
        state.work = Some(Work::Act(work));
        scrolled.then_some(row)
    })
    .flatten()
}

/// Judges a request for a row that may not be drawn; it is done by drawing the list there.
fn scroll_to_row(state: &mut UiState, work: &mut ActWork, scene: &Scene) -> bool {
    let Some(job) = work.job.take().and_then(|job| job.enter(Instant::now())) else {
        return false;
    };
    match authorise(state, work, scene, &job) {
        Err(no) => {
            job.reply.send(no);
            false
        }
        Ok(authorised) => {
            let (list, _) = authorised.perform();
            work.entered = Some(job);
            work.done = Some(done(list, Verb::ScrollTo, None));
            work.later = true;
            true
        }
    }
}

/// Whether a tag with these marks, its own and those around it, may expose anything.
pub(crate) fn may_be_exposed(tag: &Tag, marks: Marks) -> bool {
    tag.get_exposed() != Some(false) && !marks.contains(Marks::EXCLUDED) && tag.fault().is_none()
}

/// What an exposed tag claims: its id or, within what is exposed around it, its key. It depends
/// on nothing that is not exposed.
fn claim(tag: &Tag, marks: Marks, within: Option<Id>) -> Option<Id> {
    if !may_be_exposed(tag, marks) {
        return None;
    }
    match (tag.get_id(), tag.get_key(), within) {
        (Some(id), _, _) => Some(Id::unique(("agent", id))),
        (None, Some(key), Some(within)) => Some(within.with(("key", key))),
        _ => None,
    }
}

/// Where a tag that exposes nothing stands: nothing of it is told to anybody.
fn unexposed(pass: &Pass, tag: &Tag) -> Id {
    let named = tag.get_id().or(tag.get_key());
    Id::unique(("agent-unexposed", named, pass.records.len()))
}

/// The window's own tag: that of this pass, or of the last one until it says so.
fn root_tag<'a>(pass: &'a Pass, state: &'a UiState) -> Option<&'a Tag> {
    let last = || {
        let mut viewports = state.viewports.iter();
        let viewport = viewports.find(|viewport| viewport.id == pass.viewport)?;
        viewport.root_tag.as_ref()
    };
    pass.root_tag.as_ref().or_else(last)
}

/// Where a tag that is drawn now stands.
struct Place {
    /// The record of the tag around it.
    parent: Option<usize>,
    /// Its own marks, and those that it inherits.
    marks: Marks,
    claim: Id,
    /// The claim of the innermost exposed tag, itself included; `None`: there is none.
    within: Option<Id>,
}

fn place(pass: &Pass, state: &UiState, tag: &Tag) -> Place {
    let (parent, inherited, within) = match pass.stack.last() {
        Some(around) => (around.record, around.marks, around.within),
        None => {
            let root = root_tag(pass, state);
            let marks = root.map_or(Marks::empty(), Tag::get_marks);
            let within = root.and_then(|root| claim(root, marks, None));
            (None, marks, within)
        }
    };
    let marks = tag.get_marks() | inherited;
    let own = claim(tag, marks, within);
    Place {
        parent,
        marks,
        claim: own.unwrap_or_else(|| unexposed(pass, tag)),
        within: own.or(within),
    }
}

/// The spot of a tag that is drawn now (its claim, or beside that for a second claimant), its
/// key, the widget it came out as last time, and its stamp. One that the last pass did not draw
/// has been away: it is another widget under the same id.
fn track(
    state: &mut UiState,
    pass: &Pass,
    claim: Id,
    spelling: Spelling,
) -> (Id, NodeKey, Option<(Id, Id)>, u64) {
    let fresh = state.fresh_key();
    let number = pass.number;
    let mut spot = claim;
    let mut nth = 0_u32;
    while state
        .tracks
        .get(&(pass.viewport, spot))
        .is_some_and(|track| track.pass == number && number > 0)
    {
        nth += 1;
        spot = claim.with(("claimant", nth));
    }
    let track = state
        .tracks
        .entry((pass.viewport, spot))
        .or_insert_with(|| Track {
            key: fresh,
            pass: number,
            stamp: 0,
            told: false,
            widget: None,
            auto: Id::NULL,
            looked: None,
        });
    if track.pass + 1 < number {
        track.key = fresh;
        track.widget = None;
        track.looked = None;
        track.told = false;
    }
    let drawn = std::mem::replace(&mut track.pass, number);
    // What is inside a closure may have shifted since the last frame.
    let settled = spelling != Spelling::Closure || drawn >= pass.frame && drawn < number;
    let known = track
        .widget
        .filter(|_| settled)
        .map(|widget| (widget, track.auto));
    (spot, track.key, known, track.stamp)
}

/// How many widgets each layer has so far.
fn counts(ctx: &Context) -> Vec<(LayerId, usize)> {
    ctx.viewport(|viewport| {
        let layers = viewport.this_pass.widgets.layers();
        layers
            .map(|(layer, widgets)| (*layer, widgets.len()))
            .collect()
    })
}

/// The widgets that were added since.
fn added_since(ctx: &Context, before: &[(LayerId, usize)]) -> Vec<Id> {
    ctx.viewport(|viewport| {
        let mut added = Vec::new();
        for (layer, widgets) in viewport.this_pass.widgets.layers() {
            let known = before.iter().find(|(known, _)| known == layer);
            let from = known.map_or(0, |(_, count)| *count);
            added.extend(widgets.iter().skip(from).map(|widget| widget.id));
        }
        added
    })
}

/// Which widget an action on a tag is aimed at, before it is drawn.
enum Aim {
    /// The one of this id.
    Widget(Id),
    /// The response is here already, or there is none.
    Nothing,
    /// It is not known which id it will have: everything has shifted since the last pass. The
    /// next one knows.
    Unknown,
}

fn aim(known: Option<(Id, Id)>, auto: Id, spelling: Spelling) -> Aim {
    match (spelling, known) {
        (Spelling::Chained | Spelling::Group, _) => Aim::Nothing,
        // Automatic ids count up: if the next one is as it was, so are those inside.
        (_, Some((widget, before))) if before == auto => Aim::Widget(widget),
        // A widget that took the next automatic id takes the next one again.
        (Spelling::Widget, Some((widget, before))) if widget == before => Aim::Widget(auto),
        _ => Aim::Unknown,
    }
}

/// If an action waits for the tag that was noted last: judges it here, beside the widget
/// (rule 4), and puts it in.
fn act(ctx: &Context, pass: &Pass, state: &mut UiState, aim: Aim) -> Option<Armed> {
    let Some(Work::Act(work)) = &state.work else {
        return None;
    };
    let waits = work.job.is_some() || work.entered.is_some();
    if work.stage != Stage::Act(pass.viewport) || work.done.is_some() || !waits {
        return None;
    }
    if !names(&work.target.id, &pass.records.last()?.tag) {
        return None;
    }
    let Some(Work::Act(mut work)) = state.work.take() else {
        return None;
    };
    let armed = match aim {
        Aim::Widget(id) => judge(ctx, pass, state, &mut work, Some(id)),
        Aim::Nothing => judge(ctx, pass, state, &mut work, None),
        // A no needs no aim; a yes waits for the next pass, where it is judged anew.
        Aim::Unknown if is_refused(pass, state, &work) => judge(ctx, pass, state, &mut work, None),
        Aim::Unknown => {
            if work.tries < 4 {
                work.tries += 1;
                work.again = true;
            }
            None
        }
    };
    state.work = Some(Work::Act(work));
    armed
}

/// Whether the action would be refused beside the tag that was noted last.
fn is_refused(pass: &Pass, state: &mut UiState, work: &ActWork) -> bool {
    let Some((scene, _)) = beside(pass, state, &work.target.id) else {
        return false;
    };
    let judged = state
        .surface
        .judge(&scene, &work.target, work.action.clone(), work.view);
    judged.is_err_and(|no| no != Refusal::NotFound.into())
}

/// Whether an id can be that of this tag: the rules decide, with everything around it.
fn names(id: &str, tag: &Tag) -> bool {
    match id.rsplit_once('/') {
        None => tag.get_id() == Some(id),
        Some((within, _)) => tag
            .get_key()
            .is_some_and(|key| agent_core::keyed_id(within, key).as_deref() == Ok(id)),
    }
}

fn judge(
    ctx: &Context,
    pass: &Pass,
    state: &mut UiState,
    work: &mut ActWork,
    aimed: Option<Id>,
) -> Option<Armed> {
    let (scene, key) = beside(pass, state, &work.target.id)?;
    // Is it this one? A row's key may stand in another list too.
    if agent_core::locate(&scene, &work.target, work.view) == Err(Refusal::NotFound.into()) {
        return None;
    }
    // From here on it happens, or is refused: nothing withdraws it any more.
    let job = match work.entered.take() {
        Some(job) => job,
        None => work.job.take()?.enter(Instant::now())?,
    };
    match authorise(state, work, &scene, &job) {
        Err(no) => {
            let chained = pass.records.last().is_some_and(|record| record.chained);
            if chained && no == not_offered() {
                state.warn(format!(
                    "{:?} is tagged on a Response, and can only be clicked and focused: for {} tag the widget before it is added, ui.add(widget.agent_id(..))",
                    work.target.id,
                    work.action.verb().word(),
                ));
            }
            job.reply.send(no);
            None
        }
        Ok(authorised) => {
            work.entered = Some(job);
            // What its reply tells begins here. Those who listen are told of what was before.
            if !state.listening {
                state.acted.clear();
            }
            let node = scene.get(key)?;
            Some(arm(ctx, &work.action, authorised, aimed, node))
        }
    }
}

/// Judges the action as this pass draws it, and asks the user if it is marked so, once for all
/// the passes that it takes.
fn authorise(
    state: &mut UiState,
    work: &mut ActWork,
    scene: &Scene,
    job: &Job,
) -> Result<Authorised<NodeKey>, No> {
    let action = work.action.clone();
    let judged = state
        .surface
        .judge(scene, &work.target, action, work.view)?;
    let renewed = match work.leave.take() {
        Some(leave) => leave.renew(judged),
        None => Err(judged),
    };
    let judged = match renewed {
        Ok(leave) => return Ok(leave),
        Err(judged) => judged,
    };
    let leave = if judged.asks() {
        // What the user sees is the whole window, as the look before this pass found it.
        let window = state.pictured();
        state
            .surface
            .authorise(&window, judged, &job.gate, &job.request)
    } else {
        state
            .surface
            .authorise(scene, judged, &job.gate, &job.request)
    };
    Ok(leave?)
}

/// The way from the window to the tag that was entered last, as it is drawn in this very pass.
fn beside(pass: &Pass, state: &UiState, id: &str) -> Option<(Scene, NodeKey)> {
    let viewport = state
        .viewports
        .iter()
        .find(|viewport| viewport.id == pass.viewport)?;
    let mut way = vec![pass.records.len().checked_sub(1)?];
    while let Some(parent) = way
        .last()
        .and_then(|at| pass.records.get(*at))
        .and_then(|record| record.parent)
    {
        way.push(parent);
    }
    let mut root = viewport.root();
    if pass.root_tag.is_some() {
        root.tag = pass.root_tag.clone();
    }
    let mut nodes = vec![root];
    for at in way.iter().rev() {
        nodes.push(state.bare(viewport, pass.records.get(*at)?, &pass.records));
    }
    let record = pass.records.last()?;
    if let Some(target) = nodes.last_mut() {
        // What it holds, as the look before this pass found it.
        let look = viewport.picture.iter().find(|node| node.key == record.key);
        target.text = look.and_then(|node| node.text.clone());
        if !record.reachable {
            target.blocked_by = state.modal(viewport, &viewport.records);
        }
    }
    let modal = nodes.last().and_then(|target| target.blocked_by);
    for node in &viewport.picture {
        if modal == Some(node.key) && !nodes.iter().any(|known| known.key == node.key) {
            let mut node = node.clone();
            node.parent = Some(viewport.root_key);
            nodes.push(node);
        }
    }
    let mut scene = Scene::new(nodes);
    // A second claimant may not have been drawn yet in this pass; it was in the last one.
    let drawn = viewport.records.iter();
    if drawn.filter(|old| old.claim == record.claim).count() > 1 {
        scene.second_claimant(id);
    }
    Some((scene, record.key))
}

/// Gets an authorised action ready: an AccessKit request goes into the input just before the
/// widget runs.
fn arm(
    ctx: &Context,
    action: &Action,
    authorised: Authorised<NodeKey>,
    aimed: Option<Id>,
    node: &SceneNode,
) -> Armed {
    let mut armed = Armed {
        authorised,
        aimed,
        event: None,
        wanted: None,
        caret: None,
        focus_first: false,
    };
    let held = node.text.clone();
    let states = node.looked.states;
    let on = states.intersects(States::CHECKED | States::PRESSED | States::SELECTED);
    let Some(id) = aimed else {
        return armed;
    };
    let (action, data) = match action {
        Action::Click => (ak::Action::Click, None),
        // What is so already is done: sending it twice does no harm.
        Action::SetChecked(to) if *to != on || states.contains(States::MIXED) => {
            (ak::Action::Click, None)
        }
        Action::Select if !on => (ak::Action::Click, None),
        Action::Expand if states.contains(States::COLLAPSED) => (ak::Action::Click, None),
        Action::Collapse if states.contains(States::EXPANDED) => (ak::Action::Click, None),
        Action::SetValue(value) => (
            ak::Action::SetValue,
            Some(ak::ActionData::NumericValue(*value)),
        ),
        Action::Submit => {
            if ctx.memory(|memory| memory.has_focus(id)) {
                // It stays to the end of the pass: an app asks after the widget whether the
                // focus went and Enter was pressed.
                ctx.input_mut(|input| input.events.push(enter_key()));
            } else {
                armed.focus_first = true;
            }
            return armed;
        }
        Action::SetText { value, range, .. } => {
            let whole = match (range, &held) {
                (Some((from, to)), Some(held)) => {
                    let (from, to) = (*from as usize, *to as usize);
                    armed.caret = Some(from + value.chars().count());
                    let chars = || held.chars();
                    chars()
                        .take(from)
                        .chain(value.chars())
                        .chain(chars().skip(to))
                        .collect()
                }
                _ => value.clone(),
            };
            if let Some(held) = held {
                remember_for_undo(ctx, id, held);
            }
            armed.wanted = Some(whole.clone());
            (
                ak::Action::SetValue,
                Some(ak::ActionData::Value(whole.into())),
            )
        }
        // Nothing is to be done, or the response can be asked.
        _ => return armed,
    };
    let request = ActionRequest {
        action,
        target_tree: TreeId::ROOT,
        target_node: id.accesskit_id(),
        data,
    };
    let event = Event::AccessKitActionRequest(request.clone());
    ctx.input_mut(|input| input.events.push(event));
    armed.event = Some(request);
    armed
}

fn enter_key() -> Event {
    Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    }
}

/// The text before an agent's edit becomes the point that the user's undo goes back to: egui
/// itself makes none for a field without the focus.
fn remember_for_undo(ctx: &Context, field: Id, held: String) {
    let mut state = TextEditState::load(ctx, field).unwrap_or_default();
    let caret = CCursor::new(held.chars().count());
    let range = state
        .cursor
        .char_range()
        .unwrap_or_else(|| CCursorRange::one(caret));
    let mut undoer = state.undoer();
    undoer.add_undo(&(range, held));
    state.set_undoer(undoer);
    state.store(ctx, field);
}

/// Takes the request back, performs what needs the response, and says what was done.
fn settle(
    ctx: &Context,
    ui: Option<&mut Ui>,
    state: &mut UiState,
    key: NodeKey,
    armed: Armed,
    response: Option<&mut Response>,
) {
    if let Some(request) = &armed.event {
        ctx.input_mut(|input| {
            let ours = input.events.iter().rposition(
                |event| matches!(event, Event::AccessKitActionRequest(other) if other == request),
            );
            if let Some(ours) = ours {
                input.events.remove(ours);
            }
        });
    }
    let Some(Work::Act(work)) = &mut state.work else {
        return;
    };
    let Some(response) = response else {
        // Only a group has none, and a group offers nothing but to be scrolled to.
        let (_, action) = armed.authorised.perform();
        if matches!(action, Action::ScrollTo { .. })
            && let Some(ui) = ui
        {
            ui.scroll_to_rect(ui.min_rect(), Some(egui::Align::Center));
            work.done = Some(done(key, Verb::ScrollTo, None));
            work.later = true;
        }
        return;
    };
    if armed.aimed.is_some_and(|aimed| aimed != response.id) && armed.event.is_some() {
        // Something inside the closure shifted in this very pass. It may have reached another
        // widget of the closure, so it is not tried again.
        if let Some(job) = work.entered.take() {
            job.reply
                .send(agent_core::Answer::Fault(agent_core::Fault::Internal(
                    "the widget changed its identity while it was drawn; give it an explicit id"
                        .to_owned(),
                )));
        }
        return;
    }
    if armed.focus_first {
        response.request_focus();
        work.leave = Some(armed.authorised);
        work.again = true;
        return;
    }
    let verb = armed.authorised.verb();
    let (_, action) = armed.authorised.perform();
    let mut acted = None;
    match action {
        Action::Click => {
            if armed.event.is_none() {
                response.flags.insert(Flags::FAKE_PRIMARY_CLICKED);
            }
            acted = Some(EventVerb::Clicked);
        }
        Action::Submit => acted = Some(EventVerb::Submitted),
        Action::SetText { .. } => {
            if let Some(at) = armed.caret
                && let Some(mut field) = TextEditState::load(ctx, response.id)
            {
                let caret = CCursorRange::one(CCursor::new(at));
                field.cursor.set_char_range(Some(caret));
                field.store(ctx, response.id);
            }
            acted = Some(EventVerb::Changed);
        }
        Action::Focus => response.request_focus(),
        Action::ScrollTo { .. } => {
            // At once: the reply says that it is in view.
            response.scroll_to_me_animation(
                Some(egui::Align::Center),
                egui::style::ScrollAnimation::none(),
            );
        }
        _ => {}
    }
    work.done = Some(done(key, verb, armed.wanted));
    work.later = verb == Verb::ScrollTo;
    if let Some(verb) = acted {
        state.happened(key, verb);
    }
}

fn done(key: NodeKey, verb: Verb, wanted: Option<String>) -> Done {
    Done { key, verb, wanted }
}
