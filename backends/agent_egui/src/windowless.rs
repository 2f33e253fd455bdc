//! An egui app without a window.

use std::sync::{Arc, Condvar, Mutex};

use egui::{Context, Pos2, RawInput, Rect, Ui, Vec2, ViewportCommand, ViewportId};

use crate::state::lock;

/// Draws `ui` whenever a repaint is asked for, as an event loop would, but nowhere: for demos
/// and tests of an app on a machine without a display. Returns when the app is told to close
/// ([`ViewportCommand::Close`]). On the thread that is to be the UI thread; it waits without
/// polling.
pub fn run_windowless(ctx: &Context, title: &str, size: Vec2, mut ui: impl FnMut(&mut Ui)) {
    let asked = Arc::new((Mutex::new(true), Condvar::new()));
    let ask = asked.clone();
    ctx.set_request_repaint_callback(move |info| {
        // A repaint later on is for animations, which nobody sees here.
        if info.delay.is_zero() {
            *lock(&ask.0) = true;
            ask.1.notify_one();
        }
    });
    let start = std::time::Instant::now();
    loop {
        let mut due = lock(&asked.0);
        while !*due {
            due = asked
                .1
                .wait(due)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *due = false;
        drop(due);
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(start.elapsed().as_secs_f64()),
            focused: true,
            ..RawInput::default()
        };
        if let Some(window) = input.viewports.get_mut(&ViewportId::ROOT) {
            window.title = Some(title.to_owned());
        }
        let output = ctx.run_ui(input, &mut ui);
        let root = output.viewport_output.get(&ViewportId::ROOT);
        let close = root.is_some_and(|root| root.commands.contains(&ViewportCommand::Close));
        output.drop_without_applying_deltas();
        if close {
            return;
        }
    }
}
