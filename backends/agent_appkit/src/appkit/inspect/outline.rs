//! What is drawn over a node: four thin windows around it, which let every click through and
//! can't become key. Windows, because a view would be in the app's tree; four, because a
//! transparent one needs a compositor.

use objc2::{MainThreadMarker, MainThreadOnly, rc::Retained};
use objc2_app_kit::{
    NSBackingStoreType, NSColor, NSWindow, NSWindowOrderingMode, NSWindowStyleMask,
};
use objc2_foundation::{NSPoint, NSRect, NSSize};

/// How thick it is, in points.
const THICK: f64 = 2.0;

pub(super) struct Outline {
    edges: [Retained<NSWindow>; 4],
    around: Option<(Retained<NSWindow>, NSRect)>,
}

impl Outline {
    pub(super) fn new(mtm: MainThreadMarker) -> Self {
        Self {
            edges: std::array::from_fn(|_| edge(mtm)),
            around: None,
        }
    }

    /// Draws it around a rectangle of the screen, over this window.
    pub(super) fn show(&mut self, window: &NSWindow, rect: NSRect) {
        let same = |(before, at): &(Retained<NSWindow>, NSRect)| {
            std::ptr::eq(&**before, window) && *at == rect
        };
        if self.around.as_ref().is_some_and(same) {
            return;
        }
        self.hide();
        for (edge, rect) in self.edges.iter().zip(edges(rect)) {
            edge.setFrame_display(rect, true);
            // SAFETY: both live, and neither is in the other.
            unsafe { window.addChildWindow_ordered(edge, NSWindowOrderingMode::Above) };
            // GNUstep doesn't keep a child over its parent.
            if cfg!(feature = "gnustep") {
                edge.setLevel(window.level() + 1);
                edge.orderFront(None);
            }
        }
        self.around = Some((objc2::Message::retain(window), rect));
    }

    fn hide(&mut self) {
        let Some((window, _)) = self.around.take() else {
            return;
        };
        for edge in &self.edges {
            window.removeChildWindow(edge);
            edge.orderOut(None);
        }
    }
}

impl Drop for Outline {
    fn drop(&mut self) {
        self.hide();
        for edge in &self.edges {
            edge.close();
        }
    }
}

fn edge(mtm: MainThreadMarker) -> Retained<NSWindow> {
    // SAFETY: it is kept by the outline, and not let go by its closing.
    let edge = unsafe {
        let edge = NSWindow::initWithContentRect_styleMask_backing_defer(
            NSWindow::alloc(mtm),
            NSRect::new(NSPoint::new(0.0, 0.0), NSSize::new(THICK, THICK)),
            NSWindowStyleMask::Borderless,
            NSBackingStoreType::Buffered,
            false,
        );
        edge.setReleasedWhenClosed(false);
        edge
    };
    edge.setIgnoresMouseEvents(true);
    edge.setExcludedFromWindowsMenu(true);
    edge.setHasShadow(false);
    edge.setBackgroundColor(Some(&NSColor::colorWithCalibratedRed_green_blue_alpha(
        0.91, 0.42, 0.09, 1.0,
    )));
    edge
}

/// Below, above, left and right, just outside.
fn edges(rect: NSRect) -> [NSRect; 4] {
    let (x, y) = (rect.origin.x, rect.origin.y);
    let (width, height) = (rect.size.width, rect.size.height);
    [
        (x - THICK, y - THICK, width + 2.0 * THICK, THICK),
        (x - THICK, y + height, width + 2.0 * THICK, THICK),
        (x - THICK, y, THICK, height),
        (x + width, y, THICK, height),
    ]
    .map(|(x, y, width, height)| NSRect::new(NSPoint::new(x, y), NSSize::new(width, height)))
}
