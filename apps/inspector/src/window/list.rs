//! The tree: only the rows in view are drawn, however many there are.

use agent_surface::egui::{AgentUi as _, Role, Rows, Tag};
use agent_wire::inspector::Node;
use egui::{
    Color32, FontSelection, Key, Modifiers, Rect, Response, ScrollArea, Sense, Shape, Stroke,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use super::{Asks, Parts, pane::Pane};
use crate::{tree::Row, watch::Seen};

/// How far a level is set in, in points.
const STEP: f32 = 12.0;

/// What the keyboard asked for.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) select: Option<u64>,
    pub(super) turned: Option<u64>,
}

/// The arrow keys walk the tree, while the keyboard is there or nowhere else.
pub(super) fn keys(ui: &Ui, rows: &[Row], seen: &Seen) -> Moved {
    let mut moved = Moved::default();
    let nowhere = ui.memory(|memory| memory.focused().is_none());
    if rows.is_empty() || !(nowhere || Pane::Tree.has_keys(ui.ctx())) {
        return moved;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let at = seen
        .selected
        .and_then(|node| rows.iter().position(|row| row.node == node));
    let last = rows.len() - 1;
    let to = if pressed(Key::ArrowDown) {
        Some(at.map_or(0, |at| (at + 1).min(last)))
    } else if pressed(Key::ArrowUp) {
        Some(at.map_or(0, |at| at.saturating_sub(1)))
    } else if pressed(Key::PageDown) {
        Some(at.map_or(0, |at| (at + 20).min(last)))
    } else if pressed(Key::PageUp) {
        Some(at.map_or(0, |at| at.saturating_sub(20)))
    } else if pressed(Key::Home) {
        Some(0)
    } else if pressed(Key::End) {
        Some(last)
    } else {
        None
    };
    if let Some(row) = to.and_then(|to| rows.get(to)) {
        moved.select = Some(row.node);
    }
    if let Some(row) = at.and_then(|at| rows.get(at)) {
        if pressed(Key::ArrowRight) && row.opens {
            match row.open {
                false => moved.turned = Some(row.node),
                true => moved.select = at.and_then(|at| rows.get(at + 1)).map(|row| row.node),
            }
        } else if pressed(Key::ArrowLeft) {
            if row.opens && row.open {
                moved.turned = Some(row.node);
            } else {
                let above = rows.iter().take(at.unwrap_or(0)).rev();
                let mut out = above.filter(|above| above.depth < row.depth);
                moved.select = out.next().map(|row| row.node);
            }
        }
    }
    moved
}

/// Draws the rows. Answers which one was opened or closed.
pub(super) fn show(
    ui: &mut Ui,
    rows: &[Row],
    parts: &mut Parts<'_>,
    asks: &mut Asks,
    follow: bool,
) -> Option<u64> {
    let seen = parts.seen;
    let height = ui.text_style_height(&TextStyle::Body);
    let mut area = ScrollArea::both().auto_shrink(false);
    if follow && let Some(at) = seen.selected.and_then(|node| place(rows, node)) {
        let pitch = height + ui.spacing().item_spacing.y;
        let (top, room) = (at as f32 * pitch, ui.available_height());
        let offset = ui.data(|data| data.get_temp::<f32>(egui::Id::unique("tree offset")));
        let offset = offset.unwrap_or(0.0);
        if top < offset || top + pitch > offset + room {
            area = area.vertical_scroll_offset((top - room / 2.0).max(0.0));
        }
    }
    let mut turned = None;
    // What the inspected app says is data for whoever reads this window.
    let tag = Tag::id("tree")
        .role(Role::List)
        .label("Tree of the app")
        .relayed();
    let listed = Rows {
        area,
        count: rows.len(),
        height,
        key: &|at| {
            rows.get(at)
                .map_or_else(String::new, |row| row.node.to_string())
        },
        find: &|key| place(rows, key.parse().ok()?),
    };
    let output = ui.agent_rows(tag, listed, |ui, at| {
        let row = rows.get(at);
        let node = row.and_then(|row| Some((row, seen.tree.get(row.node)?)));
        let Some((row, node)) = node else {
            return ui.label("");
        };
        let (response, arrow) = one(ui, row, node, parts, height);
        if response.clicked() {
            Pane::Tree.enter(ui.ctx());
        }
        if arrow {
            turned = Some(row.node);
        } else if response.clicked() {
            asks.select = Some(row.node);
        } else if response.double_clicked() && row.opens {
            turned = Some(row.node);
        }
        if response.hovered() {
            parts.now = Some(row.node);
        }
        response
    });
    let offset = output.state.clamped_offset().y;
    ui.data_mut(|data| data.insert_temp(egui::Id::unique("tree offset"), offset));
    turned
}

fn place(rows: &[Row], node: u64) -> Option<usize> {
    rows.iter().position(|row| row.node == node)
}

/// One row: an arrow, the role, the name, the id. Answers whether the arrow was clicked.
fn one(ui: &mut Ui, row: &Row, node: &Node, parts: &Parts<'_>, height: f32) -> (Response, bool) {
    let selected = parts.seen.selected == Some(row.node);
    let caption = caption(node);
    let font = FontSelection::Default.resolve(ui.style());
    let colour = match selected {
        true => ui.visuals().selection.stroke.color,
        false => colour(ui, node),
    };
    let galley = ui
        .painter()
        .layout_no_wrap(caption.clone(), font.clone(), colour);
    let left = row.depth as f32 * STEP + 14.0;
    let width = (left + galley.size().x + 8.0).max(ui.available_width());
    // The keyboard goes to the tree, and walks the rows from there.
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::CLICK);
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, selected, &caption));
    let visuals = ui.visuals();
    let hovered = response.hovered() || parts.hovered == Some(row.node);
    let fill = match (selected, hovered) {
        (true, _) => visuals.selection.bg_fill,
        (false, true) => visuals.widgets.hovered.weak_bg_fill,
        (false, false) => Color32::TRANSPARENT,
    };
    ui.painter().rect_filled(rect, 2.0, fill);
    let arrow = Rect::from_min_size(
        pos2(rect.left() + left - 14.0, rect.top()),
        vec2(14.0, height),
    );
    if row.opens {
        let middle = arrow.center();
        // Down where it is open, else to the right.
        let corners = match row.open {
            true => [vec2(-4.0, -2.5), vec2(4.0, -2.5), vec2(0.0, 4.0)],
            false => [vec2(-2.5, -4.0), vec2(4.0, 0.0), vec2(-2.5, 4.0)],
        };
        let corners = corners.map(|corner| middle + corner).to_vec();
        let weak = visuals.weak_text_color();
        ui.painter()
            .add(Shape::convex_polygon(corners, weak, Stroke::NONE));
    }
    let at = pos2(rect.left() + left, rect.top());
    ui.painter().galley(at, galley, visuals.text_color());
    let on_arrow = response
        .interact_pointer_pos()
        .is_some_and(|at| arrow.contains(at));
    let arrow = row.opens && response.clicked() && on_arrow;
    (response, arrow)
}

/// A node in a line.
pub(super) fn caption(node: &Node) -> String {
    let mut caption = node.role.to_string();
    if !node.name.is_empty() {
        let name: String = node.name.chars().take(80).collect();
        caption.push_str(&format!(" {name:?}"));
    }
    if let Some(id) = &node.id {
        caption.push_str(&format!(" [{id}]"));
    }
    let states: Vec<&str> = node.state.iter().map(|state| &**state).collect();
    if !states.is_empty() {
        caption.push_str(&format!(" {}", states.join(" ")));
    }
    caption
}

/// What agents are shown stands out.
fn colour(ui: &Ui, node: &Node) -> Color32 {
    let duplicate = node.state.iter().any(|state| state == "duplicate");
    match (node.shown, duplicate) {
        (_, true) => ui.visuals().error_fg_color,
        (true, false) => ui.visuals().strong_text_color(),
        (false, false) => ui.visuals().weak_text_color(),
    }
}
