//! The picture of the app's window, with outlines: what is pointed at here is marked in the tree
//! and in the app, and the other way round.

use agent_surface::egui::{AgentUi as _, Tag};
use agent_wire::inspector::Node;
use egui::{
    Color32, ColorImage, Pos2, Rect, Response, Sense, Stroke, StrokeKind, TextureHandle,
    TextureOptions, Ui, WidgetInfo, pos2, vec2,
};

use super::{Asks, Parts, list};
use crate::picture::Picture;

/// The picture, as the graphics card has it.
#[derive(Default)]
pub(super) struct Shown {
    texture: Option<TextureHandle>,
    of: u64,
}

const EXPOSED: Color32 = Color32::from_rgb(0x2E, 0x9E, 0x5B);
const POINTED: Color32 = Color32::from_rgb(0xE8, 0x6A, 0x17);

pub(super) fn show(ui: &mut Ui, shown: &mut Shown, parts: &mut Parts<'_>, asks: &mut Asks) {
    let seen = parts.seen;
    let picture = match &seen.picture {
        Some(Ok(picture)) => picture,
        Some(Err(why)) => {
            ui.agent("picture", |ui| ui.label(format!("No picture: {why}")));
            return;
        }
        None => {
            ui.agent("picture", |ui| ui.label("No picture yet."));
            return;
        }
    };
    if shown.of != seen.pictures || shown.texture.is_none() {
        let image = ColorImage::from_rgba_unmultiplied(picture.size, &picture.rgba);
        let texture = ui.load_texture_of(image);
        shown.texture = Some(texture);
        shown.of = seen.pictures;
    }
    let Some(texture) = &shown.texture else {
        return;
    };
    let window = seen.tree.children(None).first().copied();
    let response = ui.agent(
        Tag::id("picture").label("Picture of the app").relayed(),
        |ui| image(ui, texture, picture),
    );
    let rect = response.rect;
    // Points of the window to points of ours.
    let scale = rect.width() / (picture.size[0] as f32 / picture.scale as f32).max(1.0);
    let place = |[x, y, width, height]: [f64; 4]| {
        let corner = rect.min + vec2(x as f32, y as f32) * scale;
        Rect::from_min_size(corner, vec2(width as f32, height as f32) * scale)
    };
    if let (Some(at), Some(window)) = (response.hover_pos(), window) {
        let point = (at - rect.min) / scale;
        let under = seen.tree.at(window, point.x.into(), point.y.into());
        parts.now = under.or(parts.now);
        if response.clicked() {
            asks.select = under;
        }
        if let Some(node) = under.and_then(|node| seen.tree.get(node)) {
            response.on_hover_text_at_pointer(list::caption(node));
        }
    }
    let painter = ui.painter().with_clip_rect(rect);
    let outline = |node: &Node, colour: Color32, width: f32| {
        let inside = |node: &&Node| Some(node.node) == window;
        let here = inside(&node) || seen.tree.around(node.node).any(|node| inside(&node));
        if let Some(frame) = node.frame.filter(|_| here) {
            let stroke = Stroke::new(width, colour);
            painter.rect_stroke(place(frame), 1.0, stroke, StrokeKind::Inside);
        }
    };
    for node in seen.tree.exposed().filter(|node| node.shown).take(1_000) {
        outline(node, EXPOSED.gamma_multiply(0.7), 1.0);
    }
    let get = |node: Option<u64>| node.and_then(|node| seen.tree.get(node));
    if let Some(node) = get(seen.selected) {
        outline(node, POINTED, 2.0);
    }
    if let Some(node) = get(parts.now.or(parts.hovered)) {
        outline(node, POINTED.gamma_multiply(0.8), 1.0);
    }
}

/// As large as there is room for, not larger than it is.
fn image(ui: &mut Ui, texture: &TextureHandle, picture: &Picture) -> Response {
    let size = vec2(picture.size[0] as f32, picture.size[1] as f32) / picture.scale as f32;
    let room = ui.available_size();
    let fit = (room.x / size.x).min(room.y / size.y).clamp(0.05, 1.0);
    let (rect, response) = ui.allocate_exact_size(size * fit, Sense::click());
    let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
    ui.painter()
        .image(texture.id(), rect, whole, Color32::WHITE);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Image, true, "Picture of the app"));
    response
}

trait LoadTexture {
    fn load_texture_of(&self, image: ColorImage) -> TextureHandle;
}

impl LoadTexture for Ui {
    fn load_texture_of(&self, image: ColorImage) -> TextureHandle {
        self.ctx()
            .load_texture("picture", image, TextureOptions::LINEAR)
    }
}
