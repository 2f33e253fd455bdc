//! An ordinary small egui app: what makes it operable by agents is the six lines with `agent`.

use agent_surface::egui::{AgentResponse, AgentUi, AgentWidget, Role, Tag};
use eframe::egui;

/// A form for orders, and the orders.
pub(crate) struct Orders {
    customer: String,
    status: String,
    orders: Vec<String>,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            customer: String::new(),
            status: "nothing saved yet".to_owned(),
            orders: (1..=500).map(|n| format!("Order {n}")).collect(),
        }
    }
}

impl Orders {
    pub(crate) fn ui(&mut self, ui: &mut egui::Ui) {
        // winit tells no window titles on X11, so the label says it.
        ui.agent_window(Tag::id("main").label("Orders"));
        egui::CentralPanel::default().show(ui, |ui| self.form(ui));
    }

    fn form(&mut self, ui: &mut egui::Ui) {
        ui.heading("Orders");
        // A caption that no agent sees: it has no tag.
        ui.label("Internal: margin 12 %");
        ui.horizontal(|ui| {
            let label = ui.label("Customer");
            ui.add(egui::TextEdit::singleline(&mut self.customer).agent_id("name-field"))
                .labelled_by(label.id);
            if ui
                .add(egui::Button::new("Save").agent_id("save-btn"))
                .clicked()
            {
                self.save();
            }
        });
        ui.label(&self.status).agent_id("status");
        ui.separator();
        let list = Tag::id("orders").role(Role::List).label("Orders");
        ui.agent_tagged(list, |ui| {
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| {
                    for order in &self.orders {
                        ui.label(order);
                    }
                });
        });
    }

    fn save(&mut self) {
        let customer = if self.customer.is_empty() {
            "nobody"
        } else {
            &self.customer
        };
        self.status = format!("saved for {customer}");
        println!("   app: {}", self.status);
        self.orders.insert(0, format!("Order for {customer}"));
    }
}
