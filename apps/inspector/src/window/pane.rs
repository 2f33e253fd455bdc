//! The panes that the keyboard goes through: F6 to the next, and the arrow keys are those of the
//! one that it is in.

use egui::{
    Context, EventFilter, Id, Key, Modifiers, ScrollArea, Sense, StrokeKind, TextStyle, Ui, Vec2,
    WidgetInfo, containers::scroll_area::ScrollAreaOutput, vec2,
};

/// A part of the window that takes keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Search,
    Tree,
    Details,
    Log,
}

/// In the order in which F6 goes through them.
const ALL: [(Pane, &str); 4] = [
    (Pane::Search, "Search"),
    (Pane::Tree, "Tree"),
    (Pane::Details, "Details"),
    (Pane::Log, "What happens"),
];

/// How far a pane is scrolled, and how far it can be.
#[derive(Clone, Copy, Default)]
struct Scrolled {
    offset: Vec2,
    most: Vec2,
    page: f32,
}

impl Pane {
    fn name(self) -> &'static str {
        ALL.iter()
            .find(|(pane, _)| *pane == self)
            .map_or("", |(_, name)| name)
    }

    /// The widget that has the focus while the keyboard is here.
    pub(super) fn id(self) -> Id {
        Id::unique(("pane", self.name()))
    }

    /// Whether the keyboard is here.
    pub(super) fn has_keys(self, ctx: &Context) -> bool {
        ctx.memory(|memory| memory.has_focus(self.id()))
    }

    /// Takes the keyboard here.
    pub(super) fn enter(self, ctx: &Context) {
        ctx.memory_mut(|memory| memory.request_focus(self.id()));
    }

    /// The rest of `ui` is this pane: it can be entered, and shows when it is.
    pub(super) fn begin(self, ui: &mut Ui) {
        let rect = ui.available_rect_before_wrap();
        let response = ui.interact(rect, self.id(), Sense::focusable_noninteractive());
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Group, true, self.name()));
        if response.has_focus() {
            let own = EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                ..EventFilter::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(self.id(), own));
            let stroke = ui.visuals().selection.stroke;
            let painter = ui.painter();
            let seen = rect.expand(3.0).intersect(painter.clip_rect());
            painter.rect_stroke(seen, 2.0, stroke, StrokeKind::Inside);
        }
    }

    /// What this pane is scrolled in, moved as the keys say while the keyboard is here.
    pub(super) fn scroll(self, ui: &Ui, area: ScrollArea) -> ScrollArea {
        if !self.has_keys(ui.ctx()) {
            return area;
        }
        let known: Scrolled = ui.data(|data| data.get_temp(self.id())).unwrap_or_default();
        let line = ui.text_style_height(&TextStyle::Body) + ui.spacing().item_spacing.y;
        let steps = [
            (Key::ArrowDown, vec2(0.0, line)),
            (Key::ArrowUp, vec2(0.0, -line)),
            (Key::ArrowRight, vec2(line, 0.0)),
            (Key::ArrowLeft, vec2(-line, 0.0)),
            (Key::PageDown, vec2(0.0, known.page - line)),
            (Key::PageUp, vec2(0.0, line - known.page)),
            (Key::Home, vec2(0.0, -known.most.y)),
            (Key::End, vec2(0.0, known.most.y)),
        ];
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let Some((_, step)) = steps.into_iter().find(|(key, _)| pressed(*key)) else {
            return area;
        };
        let to = (known.offset + step).clamp(Vec2::ZERO, known.most);
        match step.y == 0.0 {
            true => area.horizontal_scroll_offset(to.x),
            // What sticks to its end would not leave it.
            false => area.vertical_scroll_offset(to.y).stick_to_bottom(false),
        }
    }

    /// Notes where that has come to.
    pub(super) fn scrolled<R>(self, ui: &Ui, output: &ScrollAreaOutput<R>) {
        let room = output.inner_rect.size();
        let scrolled = Scrolled {
            offset: output.state.clamped_offset(),
            most: (output.content_size - room).max(Vec2::ZERO),
            page: room.y,
        };
        ui.data_mut(|data| data.insert_temp(self.id(), scrolled));
    }
}

/// F6 goes to the next pane, with Shift to the one before.
pub(super) fn turn(ctx: &Context) {
    let pressed = |modifiers| ctx.input_mut(|input| input.consume_key(modifiers, Key::F6));
    let step = if pressed(Modifiers::SHIFT) {
        ALL.len() - 1
    } else if pressed(Modifiers::NONE) {
        1
    } else {
        return;
    };
    let at = ALL.iter().position(|(pane, _)| pane.has_keys(ctx));
    // The tree has the keys while nothing else does.
    let next = at.map_or(1, |at| (at + step) % ALL.len());
    if let Some((pane, _)) = ALL.get(next) {
        pane.enter(ctx);
    }
}
