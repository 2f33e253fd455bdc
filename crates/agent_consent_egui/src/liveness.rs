//! When the buttons of a question count: not before the user can have seen what lies under the
//! pointer.

use egui::Rect;

/// How long the buttons are dead after the panel appeared, moved or changed its size, and after
/// its window did or got the focus: a click or key that was meant for something else goes
/// nowhere. In seconds, as egui counts them.
pub const DEAD_FOR: f64 = 0.7;

/// What the user sees, as far as it decides where a press lands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) panel: Rect,
    pub(crate) window: Rect,
    /// Where the window is on the screen, if that is told.
    pub(crate) on_screen: Option<Rect>,
    pub(crate) focused: bool,
}

/// Since when a question has been seen as it is.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    seen: Option<Seen>,
    since: f64,
    pressed: Option<f64>,
}

impl Liveness {
    /// Notes what this pass shows.
    pub(crate) fn look(&mut self, seen: Seen, now: f64) {
        let same = |old: &Seen| {
            near(old.panel, seen.panel)
                && near(old.window, seen.window)
                && match (old.on_screen, seen.on_screen) {
                    (Some(old), Some(seen)) => near(old, seen),
                    (old, seen) => old == seen,
                }
                && old.focused == seen.focused
        };
        // A clock that ran backwards says nothing of how long.
        if !self.seen.as_ref().is_some_and(same) || now < self.since {
            self.seen = Some(seen);
            self.since = now;
        }
    }

    /// Notes that a button of the pointer went down.
    pub(crate) fn pressed(&mut self, now: f64) {
        self.pressed = Some(now);
    }

    /// How long the buttons are dead still; `None`: they count.
    pub(crate) fn dead_for(&self, now: f64) -> Option<f64> {
        let left = match self.seen {
            None => DEAD_FOR,
            Some(_) => self.since + DEAD_FOR - now,
        };
        (left > 0.0).then_some(left)
    }

    /// Whether a click that ends now counts: it began while the buttons did.
    pub(crate) fn takes_click(&self, now: f64) -> bool {
        self.dead_for(now).is_none()
            && self
                .pressed
                .is_some_and(|pressed| pressed >= self.since + DEAD_FOR)
    }
}

/// Layouts are rounded to pixels, and differ by less than one from pass to pass.
fn near(a: Rect, b: Rect) -> bool {
    let close = |a: f32, b: f32| (a - b).abs() < 1.5;
    close(a.min.x, b.min.x)
        && close(a.min.y, b.min.y)
        && close(a.max.x, b.max.x)
        && close(a.max.y, b.max.y)
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    fn at(x: f32) -> Seen {
        Seen {
            panel: Rect::from_min_size(pos2(x, 0.0), vec2(100.0, 50.0)),
            window: Rect::from_min_size(pos2(0.0, 0.0), vec2(800.0, 600.0)),
            on_screen: None,
            focused: true,
        }
    }

    #[test]
    fn buttons_are_dead_at_first_and_after_every_change() {
        let mut it = Liveness::default();
        assert!(it.dead_for(0.0).is_some());
        it.look(at(0.0), 10.0);
        assert!(it.dead_for(10.6).is_some() && it.dead_for(10.7).is_none());
        it.look(at(0.4), 11.0);
        assert!(it.dead_for(11.0).is_none());
        let moved = Seen {
            on_screen: Some(at(50.0).panel),
            ..at(0.0)
        };
        let larger = Seen {
            panel: at(0.0).panel.expand(10.0),
            ..at(0.0)
        };
        let wider = Seen {
            window: at(0.0).window.expand(10.0),
            ..at(0.0)
        };
        let left = Seen {
            focused: false,
            ..at(0.0)
        };
        for (changed, now) in [
            (moved, 11.2),
            (at(20.0), 12.0),
            (larger, 13.0),
            (wider, 14.0),
            (left, 15.0),
        ] {
            it.look(changed, now);
            assert!(it.dead_for(now + 0.6).is_some(), "{changed:?}");
            it.look(changed, now + 0.6);
            assert!(it.dead_for(now + 0.8).is_none(), "{changed:?}");
        }
        // It stands still, but the clock doesn't.
        it.look(left, 3.0);
        assert!(it.dead_for(3.1).is_some());
    }

    #[test]
    fn a_click_counts_if_it_began_while_buttons_did() {
        let mut it = Liveness::default();
        it.look(at(0.0), 0.0);
        it.pressed(0.5);
        assert!(!it.takes_click(0.9));
        it.pressed(0.8);
        assert!(it.takes_click(0.9));
        it.look(at(20.0), 1.0);
        assert!(!it.takes_click(1.8));
    }
}
