//! What a panel that asks the user about agents has to know of them.

use agent_core::{Target, View};
use egui::{Context, Rect, ViewportId};

use crate::{
    pass,
    plugin::AgentPlugin,
    state::{Record, Viewport, lock},
};

/// In which window an exposed node is drawn, and where in that, in points: as of this pass where it
/// was drawn already, else of the last. `None`: it isn't drawn, two nodes claim this id, or no
/// agent is connected. On the UI thread, outside a hook of a plugin.
pub fn drawn_at(ctx: &Context, id: &str) -> Option<(ViewportId, Rect)> {
    let shared = ctx.plugin_opt::<AgentPlugin>()?.lock().shared.clone();
    let view = View {
        names_unexposed: false,
        window_was_there: false,
    };
    let (window, key) = {
        let state = lock(&shared.ui);
        let target = Target {
            id: id.to_owned(),
            window: None,
        };
        let key = agent_core::locate(&state.drawn(), &target, view).ok()?;
        let holds = |viewport: &&Viewport| viewport.records.iter().any(|it| it.key == key);
        let viewport = state.viewports.iter().find(holds)?;
        (viewport.id, key)
    };
    let place = |records: &[Record]| {
        let record = records.iter().find(|record| record.key == key)?;
        (record.visible && record.rect.is_finite()).then_some(record.rect)
    };
    let now = pass::current(ctx, |pass| {
        (pass.viewport == window).then(|| place(&pass.records))
    });
    let rect = match now.flatten().flatten() {
        Some(rect) => rect,
        None => {
            let state = lock(&shared.ui);
            let mut viewports = state.viewports.iter();
            place(&viewports.find(|viewport| viewport.id == window)?.records)?
        }
    };
    Some((window, rect))
}
