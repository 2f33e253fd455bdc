//! The node under the pointer, found by looking: no event is taken from anybody.

use agent_inspect::{Inspect as _, find};
use objc2::{msg_send, rc::Retained};
use objc2_app_kit::{NSEvent, NSTabView, NSTableView, NSView, NSWindow};
use objc2_foundation::{NSArray, NSPoint, NSRect, NSSize};

use super::super::{
    finding::{Look, Thing},
    table::Node,
    tagging::HasNode,
};

/// The innermost node there, if an inspector may look at it.
pub(super) fn node(look: &Look) -> Option<Node> {
    let window = window_at(look, NSEvent::mouseLocation())?;
    let content = window.contentView()?;
    let base = in_window(&window, NSEvent::mouseLocation());
    // SAFETY: asked on the main thread, and kept from here on.
    let around = unsafe { content.superview() };
    let at = around.map_or(base, |around| around.convertPoint_fromView(base, None));
    let hit = content.hitTest(at);
    let mut node = window.agent_node();
    if !look.windows().contains(&node) {
        return None;
    }
    // From the window down, as far as there are nodes: what a control is drawn with is none.
    while let Some(hit) = &hit
        && let Some(inside) = look
            .children(node)
            .iter()
            .find(|child| holds(look, **child, hit, base))
    {
        node = *inside;
    }
    find(look, look.handle(node)).ok()
}

/// Whether the pointer is over this child of what it is over.
fn holds(look: &Look, child: Node, hit: &NSView, base: NSPoint) -> bool {
    match look.thing(child) {
        Thing::View(view) => hit.isDescendantOf(&view),
        Thing::Row(table, number) => row_at(&table, base) == number,
        Thing::Tab(tab) => {
            let tabs: Option<Retained<NSTabView>> = tab.tabView(look.mtm);
            let over = tabs
                .and_then(|tabs| tabs.tabViewItemAtPoint(tabs.convertPoint_fromView(base, None)));
            over.is_some_and(|over| std::ptr::eq(&*over, &*tab))
        }
        _ => false,
    }
}

fn row_at(table: &NSTableView, base: NSPoint) -> isize {
    table.rowAtPoint(table.convertPoint_fromView(base, None))
}

/// The app's window there, unless something of another program lies over it.
fn window_at(look: &Look, at: NSPoint) -> Option<Retained<NSWindow>> {
    let app = look.app();
    let number = NSWindow::windowNumberAtPoint_belowWindowWithWindowNumber(at, 0, look.mtm);
    if number > 0 {
        return app.windowWithWindowNumber(number);
    }
    // Nothing is there, or it can't be asked, as on GNUstep.
    // SAFETY: it answers this with an array of windows, front to back.
    let windows: Retained<NSArray<NSWindow>> = unsafe { msg_send![&app, orderedWindows] };
    windows.iter().find(|window| {
        let frame = window.frame();
        let within = |at: f64, from: f64, size: f64| (from..from + size).contains(&at);
        window.isVisible()
            && !window.ignoresMouseEvents()
            && within(at.x, frame.origin.x, frame.size.width)
            && within(at.y, frame.origin.y, frame.size.height)
    })
}

/// A point of the screen in a window. GNUstep converts rectangles alone.
fn in_window(window: &NSWindow, at: NSPoint) -> NSPoint {
    window
        .convertRectFromScreen(NSRect::new(at, NSSize::new(0.0, 0.0)))
        .origin
}
