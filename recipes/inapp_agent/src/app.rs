//! An ordinary small egui app, tagged.

use agent_surface::egui::{AgentResponse, AgentUi, AgentWidget, Role, Tag};
use eframe::egui;

/// A form for orders, and the orders.
#[derive(Default)]
pub(crate) struct Orders {
    customer: String,
    orders: Vec<String>,
}

impl Orders {
    pub(crate) fn ui(&mut self, ui: &mut egui::Ui) {
        // winit tells no window titles on X11, so the label says it.
        ui.agent_window(Tag::id("main").label("Orders"));
        egui::CentralPanel::default().show(ui, |ui| self.form(ui));
    }

    fn form(&mut self, ui: &mut egui::Ui) {
        ui.heading("Orders");
        ui.horizontal(|ui| {
            let label = ui.label("Customer");
            ui.add(
                egui::TextEdit::singleline(&mut self.customer)
                    .desired_width(180.0)
                    .agent_id("customer"),
            )
            .labelled_by(label.id);
            if ui.add(egui::Button::new("Save").agent_id("save")).clicked() {
                println!("   app: saved an order for {}", self.customer);
                self.orders.push(format!("Order for {}", self.customer));
            }
        });
        ui.label(format!("Orders: {}", self.orders.len()))
            .agent_id("status");
        // The user confirms it each time, whoever of the agents asks.
        let ship = Tag::id("ship").confirm();
        if ui.add(egui::Button::new("Ship all").agent(ship)).clicked() {
            println!("   app: shipped {} orders", self.orders.len());
            self.orders.clear();
        }
        // Seen by agents, and never pressed by one: also not by the app's own.
        let delete = Tag::id("delete").ceiling([]);
        if ui
            .add(egui::Button::new("Delete everything").agent(delete))
            .clicked()
        {
            self.orders.clear();
        }
        ui.separator();
        let list = Tag::id("orders").role(Role::List).label("Orders");
        ui.agent_tagged(list, |ui| {
            for order in &self.orders {
                ui.label(order);
            }
        });
    }
}
