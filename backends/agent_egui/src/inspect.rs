//! A developer's inspector: the whole of every window as AccessKit tells of it, apart from what
//! is looked at for agents, and what is drawn over a window or taken as a picture of it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use agent_core::{EventVerb, Frame, LiveTree as _};
use agent_inspect::{
    Ask, Hide, Inspect, Inspectable, Job, Layer, Looker, No, Property, Told, answer, find,
};
use egui::{
    Color32, Context, CornerRadius, Id, LayerId, Order, Rect, Stroke, StrokeKind, ViewportId,
    accesskit as ak,
};

use crate::{
    backend::{EguiBackend, wake},
    pass::Pass,
    properties,
    scene::{Key, Scene, SceneNode},
    screenshot::Pictures,
    state::{Record, Shared, UiState, lock},
};

/// What a context's windows are inspected by, for `agent_surface`. On the UI thread, outside a
/// pass.
pub fn inspectable(ctx: &Context) -> Arc<dyn Inspectable> {
    Arc::new(crate::backend::backend(ctx))
}

impl Inspectable for EguiBackend {
    fn submit(&self, job: Job) {
        lock(&self.shared.inspections).push(job);
        wake(&self.ctx, &self.shared);
    }

    fn set_inspectors(&self, inspectors: usize) {
        if inspectors > 0 {
            // Tags are followed from here on, as they are once an agent was there.
            self.shared.ever.store(true, Ordering::Release);
        }
        self.shared.inspectors.store(inspectors, Ordering::Release);
        // What is drawn for nobody goes.
        wake(&self.ctx, &self.shared);
    }
}

/// What is kept for inspectors, between passes.
#[derive(Default)]
pub(crate) struct Inspection {
    /// What waits for a look that is newer than `since`.
    jobs: Vec<Job>,
    since: u64,
    turns: HashMap<ViewportId, Turn>,
    looker: Looker<Key>,
    /// The keys of what has no tag, by window and widget: the same from look to look.
    keys: HashMap<(ViewportId, ak::NodeId), Key>,
    met: HashSet<(ViewportId, ak::NodeId)>,
    pictures: HashMap<ViewportId, (Whole, u64)>,
    highlighted: Option<Highlighted>,
    /// Pictures that are being taken: each look goes to them, too.
    taking: Pictures,
}

/// The whole of one window.
pub(crate) struct Whole {
    nodes: Vec<SceneNode>,
    layers: Vec<Frame>,
    /// Which of these each node is in, if any.
    layer_of: HashMap<Key, usize>,
}

impl Whole {
    /// What a pass drew, these being its nodes.
    pub(crate) fn new(nodes: Vec<SceneNode>, pass: &Pass) -> Self {
        Self {
            layers: pass.layers.frames().collect(),
            layer_of: pass.layers.of(&nodes, &pass.records),
            nodes,
        }
    }

    /// It alone.
    fn scene(&self, root: SceneNode) -> Scene {
        let window = root.key;
        let frames = self.layers.iter();
        let layers = frames.map(|frame| Layer {
            window,
            frame: *frame,
        });
        let nodes = [root].into_iter().chain(self.nodes.iter().cloned());
        Scene::new(nodes.collect()).with_layers(layers.collect(), self.layer_of.clone())
    }
}

/// Whose turn it is in a window.
#[derive(Default)]
struct Turn {
    /// How many frames took a second pass, one after the other, up to this one.
    in_row: usize,
    /// This one took one.
    again: bool,
    /// This one is not looked at.
    rests: bool,
}

/// How many frames in a row take a second pass.
const MOST_IN_ROW: usize = 2;

/// The same where a host was asked for a picture, and may hand it over frames later.
const MOST_FOR_A_PICTURE: usize = 6;

/// What is drawn over.
struct Highlighted {
    viewport: ViewportId,
    what: Over,
}

/// How it is found again in each pass: it may move, or be there no more.
enum Over {
    Window,
    Tag(Key),
    Widget(Id),
}

impl Inspection {
    /// Whether this window is to be looked at.
    pub(crate) fn wants(&self, viewport: ViewportId) -> bool {
        let seen = self.pictures.get(&viewport).map_or(0, |(_, at)| *at);
        let waits = !self.jobs.is_empty() && seen <= self.since;
        // Of which frame a picture is taken is not known.
        waits || self.taking.may_be_of(viewport)
    }

    /// Whether this window is looked at in the pass that begins, the `first` of its frame. egui
    /// warns, on the app's own screen in a debug build, where several frames in a row take a second
    /// pass: then one goes by in between.
    pub(crate) fn takes_turn(&mut self, viewport: ViewportId, first: bool) -> bool {
        let most = match self.taking.may_be_of(viewport) {
            true => MOST_FOR_A_PICTURE,
            false => MOST_IN_ROW,
        };
        let turn = self.turns.entry(viewport).or_default();
        if first {
            turn.rests = turn.in_row >= most;
        }
        !turn.rests && self.wants(viewport)
    }

    /// A second pass was asked for, in a pass that looks.
    pub(crate) fn asked_again(&mut self, viewport: ViewportId) {
        self.turns.entry(viewport).or_default().again = true;
    }

    /// Whether something waits.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.jobs.is_empty() || !self.taking.is_empty()
    }

    /// A widget told of this by itself.
    pub(crate) fn happened(&mut self, key: Key, verb: EventVerb) {
        self.looker.happened(key, verb);
    }

    /// Whether every property of this node is asked for.
    pub(crate) fn asks_for(&self, key: Key) -> bool {
        let asks = |job: &Job| job.ask == Ask::Node(key);
        self.jobs.iter().any(asks)
    }
}

impl UiState {
    /// Takes up what inspectors asked.
    pub(crate) fn next_inspection(&mut self, shared: &Shared) {
        if shared.inspectors.load(Ordering::Acquire) == 0 {
            self.inspection = Inspection::default();
        }
        let mut jobs = std::mem::take(&mut *lock(&shared.inspections));
        if !jobs.is_empty() {
            self.inspection.since = self.tick();
            self.inspection.jobs.append(&mut jobs);
        }
        let now = Instant::now();
        let jobs = std::mem::take(&mut self.inspection.jobs).into_iter();
        self.inspection.jobs = jobs.filter_map(|job| job.unless_late(now)).collect();
    }

    /// The key of a widget without a tag: the same in every look.
    pub(crate) fn key_of(&mut self, viewport: ViewportId, widget: ak::NodeId) -> Key {
        self.inspection.met.insert((viewport, widget));
        match self.inspection.keys.get(&(viewport, widget)) {
            Some(key) => *key,
            None => {
                let key = self.fresh_key();
                self.inspection.keys.insert((viewport, widget), key);
                key
            }
        }
    }

    /// What a pass drew, where the picture that is being taken may be of it.
    pub(crate) fn for_pictures(&mut self, viewport: ViewportId, all: &Whole) -> Option<Scene> {
        let is_taken = self.inspection.taking.may_be_of(viewport);
        is_taken.then(|| all.scene(self.viewport(viewport).root()))
    }

    /// A window was looked at: when all have been, what waits is answered.
    pub(crate) fn inspected(&mut self, ctx: &Context, viewport: ViewportId, all: Whole) {
        let now = self.tick();
        self.inspection.pictures.insert(viewport, (all, now));
        let open: Vec<ViewportId> = self.viewports.iter().map(|viewport| viewport.id).collect();
        let inspection = &mut self.inspection;
        inspection
            .pictures
            .retain(|viewport, _| open.contains(viewport));
        inspection
            .turns
            .retain(|viewport, _| open.contains(viewport));
        let seen = |viewport| {
            let at = inspection.pictures.get(viewport).map_or(0, |(_, at)| *at);
            at > inspection.since
        };
        if !open.iter().all(seen) {
            return;
        }
        let mut nodes = Vec::new();
        let mut layers = Vec::new();
        let mut layer_of = HashMap::new();
        for viewport in &self.viewports {
            nodes.push(viewport.root());
            if let Some((whole, _)) = self.inspection.pictures.remove(&viewport.id) {
                nodes.extend(whole.nodes);
                let below = layers.len();
                let of = whole.layer_of.into_iter();
                layer_of.extend(of.map(|(node, layer)| (node, below + layer)));
                let window = viewport.root_key;
                let frames = whole.layers.into_iter();
                layers.extend(frames.map(|frame| Layer { window, frame }));
            }
        }
        let scene = Scene::new(nodes).with_layers(layers, layer_of);
        let met = std::mem::take(&mut self.inspection.met);
        self.inspection
            .keys
            .retain(|widget, _| met.contains(widget));
        self.serve_inspections(ctx, &scene);
    }

    fn serve_inspections(&mut self, ctx: &Context, scene: &Scene) {
        for job in std::mem::take(&mut self.inspection.jobs) {
            let Some(job) = job.enter(Instant::now()) else {
                continue;
            };
            if let Some(told) = answer(scene, &mut self.inspection.looker, &job.ask) {
                job.answer(told);
                continue;
            }
            match job.ask {
                Ask::Highlight(node) => {
                    let told = self.highlight(ctx, scene, node);
                    // That in which something was drawn over before, too.
                    for viewport in &self.viewports {
                        ctx.request_repaint_of(viewport.id);
                    }
                    job.answer(told);
                }
                Ask::Screenshot { node, hide } => self.take(scene, node, hide, job),
                _ => {
                    let told = Told::Picked(self.pick(ctx, scene));
                    job.answer(Ok(told));
                }
            }
        }
    }

    fn highlight(&mut self, ctx: &Context, scene: &Scene, node: Option<u64>) -> Result<Told, No> {
        self.inspection.highlighted = match node {
            None => None,
            Some(node) => {
                let viewport = self.place(scene, node)?;
                let frame = scene.frame(node);
                let of_node = scene.get(node);
                let drawn = of_node.and_then(|it| widget(ctx, viewport, it.widget?));
                let what = match (of_node, drawn) {
                    (Some(it), _) if it.tag.is_some() && frame.is_some() => Over::Tag(node),
                    (_, Some(drawn)) => Over::Widget(drawn),
                    _ => Over::Window,
                };
                Some(Highlighted { viewport, what })
            }
        };
        Ok(Told::Highlighted)
    }

    /// The window of a node that an inspector may look at.
    fn place(&self, scene: &Scene, node: Key) -> Result<ViewportId, No> {
        let node = find(scene, node)?;
        let standing = agent_core::Standings::new(scene).of(node);
        let standing = standing.ok_or(No::NotFound)?;
        let mut viewports = self.viewports.iter();
        let viewport = viewports.find(|viewport| viewport.root_key == standing.window);
        Ok(viewport.ok_or(No::NotFound)?.id)
    }

    /// The node under the pointer: the topmost widget that there is a node for, if that is not
    /// excluded.
    fn pick(&self, ctx: &Context, scene: &Scene) -> Option<u64> {
        let by_widget: HashMap<ak::NodeId, Key> = scene
            .all()
            .filter_map(|node| Some((node.widget?, node.key)))
            .collect();
        self.viewports.iter().find_map(|viewport| {
            let hits: Vec<Id> = ctx.viewport_for(viewport.id, |viewport| {
                viewport.input.pointer.hover_pos()?;
                // At its edge egui counts what a popup covers among what is hit.
                let hits = &viewport.hits.contains_pointer;
                let layer = hits.last()?.layer_id;
                let hits = hits.iter().rev().filter(|hit| hit.layer_id == layer);
                Some(hits.map(|widget| widget.id).collect())
            })?;
            let node = hits
                .iter()
                .find_map(|id| by_widget.get(&id.accesskit_id()))?;
            self.place(scene, *node).ok().map(|_| *node)
        })
    }

    /// Has a picture taken of one of the next frames.
    fn take(&mut self, scene: &Scene, node: Option<u64>, hide: Hide, job: Job) {
        let viewport = match node {
            Some(node) => self.place(scene, node),
            None => match self.viewports.first() {
                Some(viewport) => Ok(viewport.id),
                None => Err(No::NotFound),
            },
        };
        let viewport = match viewport {
            Ok(viewport) => viewport,
            Err(no) => return job.answer(Err(no)),
        };
        let window = self.viewport(viewport).root_key;
        let taking = &mut self.inspection.taking;
        taking.take((viewport, window), node, hide, job);
    }

    /// A frame of a window is over, of which this is the whole, if that was looked at.
    pub(crate) fn inspected_frame_over(
        &mut self,
        ctx: &Context,
        viewport: ViewportId,
        seen: Option<&Scene>,
    ) {
        let turn = self.inspection.turns.entry(viewport).or_default();
        turn.in_row = match std::mem::take(&mut turn.again) {
            true => turn.in_row + 1,
            false => 0,
        };
        // The next ones will be looked at, then.
        let rested = turn.in_row == 0;
        self.inspection
            .taking
            .frame_over(ctx, viewport, seen, rested);
    }

    /// Draws over what an inspector points at: on a layer of its own, that no area knows of and
    /// nothing can hit.
    pub(crate) fn draw_over(&self, ctx: &Context, viewport: ViewportId, records: &[Record]) {
        let Some(Highlighted { what, .. }) = &self
            .inspection
            .highlighted
            .as_ref()
            .filter(|it| it.viewport == viewport)
        else {
            return;
        };
        let rect = match what {
            Over::Window => Some(Rect::EVERYTHING),
            Over::Tag(key) => {
                let mut drawn = records.iter().filter(|it| it.key == *key && it.onscreen);
                drawn.next().map(|record| record.rect)
            }
            Over::Widget(id) => ctx.viewport(|viewport| {
                let drawn = viewport.this_pass.widgets.get(*id);
                let drawn = drawn.filter(|it| it.interact_rect.is_positive());
                drawn.map(|it| it.rect)
            }),
        };
        let Some(rect) = rect else { return };
        let layer = LayerId::new(Order::Debug, Id::unique("agent inspector"));
        let painter = ctx.layer_painter(layer);
        let rect = rect.intersect(painter.clip_rect());
        let colour = Color32::from_rgb(0xE8, 0x6A, 0x17);
        painter.rect(
            rect,
            CornerRadius::same(2),
            colour.gamma_multiply(0.2),
            Stroke::new(2.0, colour),
            StrokeKind::Outside,
        );
    }
}

/// The widget that AccessKit knows by this id, as the last pass drew it.
fn widget(ctx: &Context, viewport: ViewportId, node: ak::NodeId) -> Option<Id> {
    ctx.viewport_for(viewport, |viewport| {
        let layers = viewport.prev_pass.widgets.layers();
        let mut ids = layers.flat_map(|(_, widgets)| widgets.iter().map(|widget| widget.id));
        ids.find(|id| id.accesskit_id() == node)
    })
}

impl Inspect for Scene {
    fn handle(&self, node: Key) -> u64 {
        node
    }

    fn node(&self, handle: u64) -> Option<Key> {
        self.get(handle).map(|node| node.key)
    }

    fn properties(&self, node: Key, secret: bool) -> Vec<Property> {
        self.get(node)
            .map(|node| properties::of(node, secret))
            .unwrap_or_default()
    }

    fn layers(&self) -> Vec<Layer> {
        self.layers().to_vec()
    }

    fn layer(&self, node: Key) -> Option<usize> {
        self.layer_of(node)
    }
}
