//! What lies over what in a window: popups, floating windows, tooltips.

use std::collections::HashMap;

use agent_core::Frame;
use egui::{Context, LayerId, Order, accesskit as ak};

use crate::{
    ids::IdMap,
    scene::{Key, SceneNode},
    state::Record,
};

/// The layers of a pass, over the one that panels are in.
#[derive(Default)]
pub(crate) struct Layers {
    over: Vec<(LayerId, Frame)>,
    by_widget: IdMap<ak::NodeId, LayerId>,
}

impl Layers {
    /// Those of the pass that ends.
    pub(crate) fn now(ctx: &Context) -> Self {
        let mut over: Vec<LayerId> = ctx.memory(|memory| {
            let shown = |layer: &LayerId| memory.areas().is_visible(layer);
            memory.layer_ids().filter(shown).collect()
        });
        over.retain(|layer| layer.order != Order::Background);
        // One that is new has not been sorted in yet.
        over.sort_by_key(|layer| layer.order);
        let place = |layer: LayerId| {
            let rect = ctx.memory(|memory| memory.area_rect(layer.id))?;
            let rect = match ctx.layer_transform_to_global(layer) {
                Some(moved) => moved.mul_rect(rect),
                None => rect,
            };
            let frame = Frame {
                x: f64::from(rect.min.x),
                y: f64::from(rect.min.y),
                width: f64::from(rect.width()),
                height: f64::from(rect.height()),
            };
            Some((layer, frame))
        };
        let over = over.into_iter().filter_map(place).collect();
        let by_widget = ctx.viewport(|viewport| {
            let layers = viewport.this_pass.widgets.layers();
            let widgets = layers.flat_map(|(layer, widgets)| {
                widgets
                    .iter()
                    .map(|widget| (widget.id.accesskit_id(), *layer))
            });
            widgets.collect()
        });
        Self { over, by_widget }
    }

    /// Where each is, from the lowest to the uppermost.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Frame> {
        self.over.iter().map(|(_, frame)| *frame)
    }

    /// Which of them each node is in, if any.
    pub(crate) fn of(&self, nodes: &[SceneNode], records: &[Record]) -> HashMap<Key, usize> {
        let tagged: HashMap<Key, LayerId> = records
            .iter()
            .map(|record| (record.key, record.layer))
            .collect();
        let layer = |node: &SceneNode| {
            let widget = node.widget.and_then(|widget| self.by_widget.get(&widget));
            let layer = widget.or_else(|| tagged.get(&node.key))?;
            let at = self.over.iter().position(|(over, _)| over == layer)?;
            Some((node.key, at))
        };
        nodes.iter().filter_map(layer).collect()
    }
}
