//! A developer's inspector: the whole of the app's windows, apart from what is looked at for
//! agents, and what is drawn over a window or taken as a picture of it.

mod outline;
mod picture;
mod pointer;
mod properties;

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::Instant,
};

use agent_core::EventVerb;
use agent_inspect::{
    Ask, Inspect, Inspectable, Job, Looker, No, Property, Told, answer, find as find_node,
};
use objc2::{MainThreadMarker, rc::Retained};
use objc2_app_kit::NSView;
use objc2_foundation::{NSPoint, NSRect, NSSize};

use super::{
    door,
    exceptions::catch,
    finding::{Look, Thing},
    handle::{AppKitHandle, Shared, lock, serve},
    table::{self, Node},
    turn,
};
use outline::Outline;

/// What an app's windows are inspected by, after [`open`](super::open), for `agent_surface`. On
/// the main thread.
pub fn inspectable(main_thread: MainThreadMarker) -> Arc<dyn Inspectable> {
    let shared = turn::shared().unwrap_or_else(|| serve(main_thread));
    Arc::new(AppKitHandle(shared))
}

impl Inspectable for AppKitHandle {
    fn submit(&self, job: Job) {
        self.0.leave(job, |state, job| state.inspections.push(job));
    }

    fn set_inspectors(&self, inspectors: usize) {
        lock(&self.0.state).inspectors = inspectors;
        // What is drawn for nobody goes.
        self.0.wake();
    }
}

/// What is kept for inspectors.
#[derive(Default)]
struct Inspection {
    looker: Looker<Node>,
    highlighted: Option<Node>,
    outline: Option<Outline>,
}

thread_local! {
    static INSPECTION: RefCell<Inspection> = RefCell::default();
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// `None` if somebody is looking right now.
fn with<R>(f: impl FnOnce(&mut Inspection) -> R) -> Option<R> {
    INSPECTION.with(|cell| Some(f(&mut *cell.try_borrow_mut().ok()?)))
}

/// Whether any inspector is there.
pub(crate) fn is_on() -> bool {
    IS_ON.get()
}

/// A widget told of this by itself.
pub(crate) fn happened(node: Node, verb: EventVerb) {
    if is_on() {
        with(|inspection| inspection.looker.happened(node, verb));
    }
}

/// Does what inspectors asked.
pub(crate) fn work(mtm: MainThreadMarker, shared: &Shared) {
    // Each with what goes with it outside of the borrow: that is AppKit's, too.
    if with(|_| ()).is_none() {
        return door::wake_later();
    }
    let mut state = lock(&shared.state);
    let (jobs, inspectors) = (std::mem::take(&mut state.inspections), state.inspectors);
    drop(state);
    IS_ON.set(inspectors > 0);
    if inspectors == 0 {
        end();
    }
    for job in jobs {
        see_to(mtm, job);
    }
    follow(mtm);
}

/// Forgets everything.
pub(crate) fn end() {
    drop(with(std::mem::take));
}

fn see_to(mtm: MainThreadMarker, job: Job) {
    let Some(job) = job.enter(Instant::now()) else {
        return;
    };
    let told = catch("looking at the app", || {
        with(|inspection| inspection.answer(mtm, &job.ask))
    });
    job.answer(match told {
        Ok(Some(told)) => told,
        Ok(None) => Err(No::Closed),
        Err(_) => Err(No::Unsupported(
            "something in it threw an Objective-C exception when it was looked at",
        )),
    });
}

/// Has what is drawn over be where its node is.
pub(crate) fn follow(mtm: MainThreadMarker) {
    if !is_on() {
        return;
    }
    let followed = catch("outlining what an inspector points at", || {
        with(|inspection| inspection.draw(&Look::of_an_inspector(mtm)))
    });
    if let Err(why) = followed {
        log::error!("{why:?}");
    }
}

impl Inspection {
    fn answer(&mut self, mtm: MainThreadMarker, ask: &Ask) -> Result<Told, No> {
        let look = Look::of_an_inspector(mtm);
        if let Some(told) = answer(&look, &mut self.looker, ask) {
            return told;
        }
        match ask {
            Ask::Highlight(node) => self.highlight(&look, *node),
            Ask::Screenshot { node, hide } => picture::take(&look, *node, *hide).map(Told::Picture),
            _ => Ok(Told::Picked(pointer::node(&look).map(Node::number))),
        }
    }

    fn highlight(&mut self, look: &Look, node: Option<u64>) -> Result<Told, No> {
        let node = node.map(|node| find_node(look, node)).transpose()?;
        if node.is_some_and(|node| place(look, node).is_none()) {
            return Err(No::Unsupported(IN_A_MENU));
        }
        self.highlighted = node;
        self.draw(look);
        Ok(Told::Highlighted)
    }

    fn draw(&mut self, look: &Look) {
        let on_screen = self.highlighted.and_then(|node| on_screen(look, node));
        match on_screen {
            None => self.outline = None,
            Some((window, rect)) => {
                let outline = self.outline.get_or_insert_with(|| Outline::new(look.mtm));
                outline.show(&window, rect);
            }
        }
    }
}

/// Why there is no picture of a node, nor an outline.
const IN_A_MENU: &str = "menus are drawn in no window of the app's, and only while they are open";

/// What is to be seen of a node: a view, and a rectangle of it. Of what is drawn by what it is
/// in (a tab, an item of a pop-up), that.
fn place(look: &Look, node: Node) -> Option<(Retained<NSView>, NSRect)> {
    match look.thing(node) {
        Thing::Window(window) => {
            let content = window.contentView()?;
            let bounds = content.bounds();
            Some((content, bounds))
        }
        Thing::View(view) => {
            let seen = view.visibleRect();
            Some((view, seen))
        }
        Thing::Row(table, number) => {
            let seen = common(table.rectOfRow(number), table.visibleRect());
            Some((table.into_super().into_super(), seen))
        }
        Thing::Menu(_) | Thing::MenuItem(_) | Thing::Tab(_) => place(look, look.parent(node)?),
        Thing::Gone => None,
    }
}

/// The window that a node is seen in, and where on the screen.
fn on_screen(look: &Look, node: Node) -> Option<(Retained<objc2_app_kit::NSWindow>, NSRect)> {
    let (view, rect) = place(look, node)?;
    let window = view.window()?;
    let seen = rect.size.width > 0.0
        && rect.size.height > 0.0
        && window.isVisible()
        && !view.isHiddenOrHasHiddenAncestor();
    let rect = view.convertRect_toView(rect, None);
    seen.then(|| {
        let rect = window.convertRectToScreen(rect);
        (window, rect)
    })
}

/// What two rectangles have in common.
fn common(a: NSRect, b: NSRect) -> NSRect {
    let (x, y) = (a.origin.x.max(b.origin.x), a.origin.y.max(b.origin.y));
    let right = (a.origin.x + a.size.width).min(b.origin.x + b.size.width);
    let top = (a.origin.y + a.size.height).min(b.origin.y + b.size.height);
    NSRect::new(
        NSPoint::new(x, y),
        NSSize::new((right - x).max(0.0), (top - y).max(0.0)),
    )
}

impl Inspect for Look {
    fn handle(&self, node: Node) -> u64 {
        node.number()
    }

    fn node(&self, handle: u64) -> Option<Node> {
        let node = Node::from_number(handle);
        let is_there = table::sort(node).is_some() || self.row(node).is_some();
        is_there.then_some(node)
    }

    fn properties(&self, node: Node, secret: bool) -> Vec<Property> {
        properties::of(self, node, secret)
    }
}
