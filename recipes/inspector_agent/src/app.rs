//! The app that is asked about: three buttons, of which agents see one.

use agent_surface::egui::{AgentUi, AgentWidget, Tag};
use eframe::egui::{Button, CentralPanel, Ui};

pub(crate) fn ui(ui: &mut Ui) {
    ui.agent_window(Tag::id("main").label("Orders"));
    CentralPanel::default().show(ui, |ui| {
        ui.heading("Orders");
        ui.add(Button::new("Save").agent_id("save"));
        // A tag was forgotten.
        ui.add(Button::new("Export"));
        // Kept back on purpose.
        ui.add(Button::new("Delete").agent(Tag::id("delete").exposed(false)));
    });
}
