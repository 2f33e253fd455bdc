//! Where in its window the panel stands: over the app, never over what it asks about.

use egui::{Pos2, Rect, Vec2, pos2, vec2};

/// Between the panel and what is around it.
const MARGIN: f32 = 12.0;

/// Less than this is no room for a panel, which can be scrolled where it is small.
const LEAST: Vec2 = vec2(140.0, 60.0);

/// Where the panel goes, and how large it may be there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) pos: Pos2,
    pub(crate) most: Vec2,
}

/// The place in `window` for a panel that would like to have this `size`: at the bottom, in the
/// middle, unless that would cover `about`; then in the part of the window beside that which has
/// the most room for it. If there is room nowhere (what it asks about fills the window), at the
/// bottom all the same: a question that nobody sees would be worse.
pub(crate) fn place(window: Rect, size: Vec2, about: Option<Rect>) -> Place {
    let whole = window.shrink(MARGIN);
    let bottom = at_bottom(whole, size);
    let Some(about) = about.map(|about| about.expand(MARGIN)) else {
        return bottom;
    };
    let covers =
        |place: &Place| Rect::from_min_size(place.pos, size.min(place.most)).intersects(about);
    if !covers(&bottom) {
        return bottom;
    }
    let beside = [
        Rect::from_min_max(whole.min, pos2(whole.max.x, about.min.y)),
        Rect::from_min_max(pos2(whole.min.x, about.max.y), whole.max),
        Rect::from_min_max(whole.min, pos2(about.min.x, whole.max.y)),
        Rect::from_min_max(pos2(about.max.x, whole.min.y), whole.max),
    ];
    let room = |part: &Rect| {
        let fits = part.size().min(size);
        fits.x.max(0.0) * fits.y.max(0.0)
    };
    let best = beside
        .iter()
        .filter(|part| part.width() >= LEAST.x && part.height() >= LEAST.y)
        .max_by(|a, b| room(a).total_cmp(&room(b)));
    best.map_or(bottom, |part| at_bottom(*part, size))
}

fn at_bottom(part: Rect, size: Vec2) -> Place {
    let most = part.size().max(Vec2::ZERO);
    let taken = size.min(most);
    Place {
        pos: pos2(part.center().x - taken.x / 2.0, part.max.y - taken.y),
        most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_panel_never_covers_what_it_asks_about() {
        let window = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 400.0));
        let size = vec2(300.0, 150.0);
        let at = |x, y, w, h| Rect::from_min_size(pos2(x, y), vec2(w, h));
        for about in [
            at(10.0, 10.0, 80.0, 20.0),
            at(250.0, 370.0, 80.0, 20.0),
            at(0.0, 180.0, 600.0, 40.0),
            at(0.0, 0.0, 600.0, 300.0),
            at(0.0, 0.0, 400.0, 400.0),
            at(200.0, 0.0, 400.0, 400.0),
            at(0.0, 100.0, 600.0, 300.0),
            // Out of sight.
            at(0.0, 900.0, 80.0, 20.0),
        ] {
            let place = place(window, size, Some(about));
            let panel = Rect::from_min_size(place.pos, size.min(place.most));
            assert!(window.contains_rect(panel), "{about:?}: {panel:?}");
            assert!(!panel.intersects(about), "{about:?}: {panel:?}");
        }
    }

    #[test]
    fn with_nothing_to_keep_clear_of_it_stands_at_the_bottom() {
        let window = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 400.0));
        let bottom = place(window, vec2(300.0, 150.0), None);
        assert_eq!(bottom.pos, pos2(150.0, 238.0));
        let clear = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 100.0));
        assert_eq!(place(window, vec2(300.0, 150.0), Some(clear)), bottom);
        // No room anywhere: it is shown nevertheless.
        assert_eq!(place(window, vec2(300.0, 150.0), Some(window)), bottom);
        let tiny = Rect::from_min_size(pos2(0.0, 0.0), vec2(10.0, 10.0));
        assert_eq!(place(tiny, vec2(300.0, 150.0), None).most, Vec2::ZERO);
    }
}
