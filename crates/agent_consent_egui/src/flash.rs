//! An outline on a node that is acted on, which fades: painted, and no widget, so there is nothing
//! of it that anybody could press or read.

use egui::{Color32, Context, Id, LayerId, Order, Stroke, StrokeKind};

/// How long it is seen, in seconds.
const LASTS: f64 = 0.9;

/// Outlines at a time.
const MOST: usize = 16;

/// Those that are seen.
#[derive(Debug, Default)]
pub(crate) struct Flashes(Vec<(String, f64)>);

impl Flashes {
    /// This node is acted on, now.
    pub(crate) fn add(&mut self, node: String, now: f64) {
        self.0.retain(|(known, _)| *known != node);
        if self.0.len() < MOST {
            self.0.push((node, now));
        }
    }

    /// Paints those in the window that is being drawn.
    pub(crate) fn paint(&mut self, ctx: &Context) {
        let now = ctx.input(|input| input.time);
        self.0
            .retain(|(_, since)| (0.0..LASTS).contains(&(now - since)));
        if self.0.is_empty() {
            return;
        }
        let layer = LayerId::new(Order::Tooltip, Id::unique("agent outline"));
        let painter = ctx.layer_painter(layer);
        let color = ctx.global_style().visuals.warn_fg_color;
        for (node, since) in &self.0 {
            let Some((window, rect)) = agent_egui::drawn_at(ctx, node) else {
                continue;
            };
            if window == ctx.viewport_id() {
                let left = 1.0 - (now - since) / LASTS;
                let stroke = Stroke::new(2.0, fade(color, left as f32));
                painter.rect_stroke(rect.expand(2.0), 3.0, stroke, StrokeKind::Outside);
            }
        }
        ctx.request_repaint();
    }
}

fn fade(color: Color32, left: f32) -> Color32 {
    color.gamma_multiply(left.clamp(0.0, 1.0))
}
