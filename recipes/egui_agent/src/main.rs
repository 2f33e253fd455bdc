//! `cargo run -p egui_agent`: the app, and an agent in a second process that operates it.
//!
//! Runs in a window where there is a display, and without one where there is none: the same
//! user interface, the same plugin.

mod app;
mod client;

use std::{env, error::Error};

use agent_surface::{Surface, egui::run_windowless};
use app::Orders;
use client::Options;
use eframe::egui::{Context, Ui, ViewportBuilder, ViewportCommand, ViewportId, vec2};

/// The app's window, and its surface as long as that is open.
struct Window {
    orders: Orders,
    _surface: Surface,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.orders.ui(ui);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(options) = Options::read()? else {
        return Ok(());
    };
    let display = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if display("DISPLAY") || display("WAYLAND_DISPLAY") {
        let viewport = ViewportBuilder::default().with_inner_size([420.0, 360.0]);
        let native = eframe::NativeOptions {
            viewport,
            ..Default::default()
        };
        let create: eframe::AppCreator<'_> = Box::new(|cc| {
            Ok(Box::new(Window {
                orders: Orders::default(),
                _surface: serve(&cc.egui_ctx, options)?,
            }))
        });
        eframe::run_native("Orders", native, create)?;
    } else {
        eprintln!("(no display: the same app, without a window)");
        let ctx = Context::default();
        let _surface = serve(&ctx, options)?;
        let mut orders = Orders::default();
        run_windowless(&ctx, "Orders", vec2(420.0, 360.0), |ui| orders.ui(ui));
    }
    Ok(())
}

/// Lets agents in, as far as the door is open.
fn serve(ctx: &Context, options: Options) -> Result<Surface, agent_surface::ServeError> {
    let mut surface = Surface::builder("org.example.orders")
        .name("Orders")
        .gate(options.door.gate())
        .egui(ctx);
    if options.full {
        surface = surface.arm_full();
    }
    if env::args().any(|arg| arg == "--inspect") {
        surface = surface.arm_inspector();
    }
    let surface = surface.serve()?;
    if let Some(address) = surface.address() {
        let ctx = ctx.clone();
        options.show(address, move || {
            ctx.send_viewport_cmd_to(ViewportId::ROOT, ViewportCommand::Close);
            ctx.request_repaint();
        });
    }
    Ok(surface)
}
