//! `cargo run -p inapp_agent`: an app, and an assistant that is part of it.
//!
//! Runs in a window where there is a display, and without one where there is none. With `--stay`
//! the window is left open, to give the assistant work of your own; with `--serve` other agents of
//! yours can come too, and you are asked about each.

mod app;
mod assistant;
mod model;

use std::{env, error::Error};

use agent_surface::{
    Surface,
    consent::Consent,
    consent_egui::{self, ConsentUi},
    egui::run_windowless,
};
use app::Orders;
use assistant::Assistant;
use eframe::egui::{Context, Key, KeyboardShortcut, Modifiers, Panel, Ui, ViewportBuilder, vec2};
use model::Scripted;

/// What the person asks for in the demonstration.
const GOALS: [&str; 4] = [
    "order for Ada",
    "delete everything",
    "press your own Ask button",
    "ship all orders",
];

const APP: &str = "org.example.orders";

/// Stops every agent, at any time.
const STOP: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Period);

/// The app's window, its assistant, and its surface as long as the window is open.
struct Window {
    orders: Orders,
    assistant: Assistant,
    consent: ConsentUi,
    _surface: Surface,
}

/// What comes after the window is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The demonstration, and the end.
    Close,
    /// The demonstration.
    Stay,
    /// Whoever comes.
    Serve,
}

impl Window {
    fn open(ctx: &Context, then: Then) -> Result<Self, Box<dyn Error + Send + Sync>> {
        // The assistant is let in without a question, but is shown, can be stopped, and the user
        // confirms what is marked so.
        let (consent, consent_ui) = consent_egui::open(ctx, Consent::builder(APP));
        let surface = Surface::builder(APP)
            .name("Orders")
            .gate(consent.gate())
            .egui(ctx);
        let surface = match then {
            Then::Serve => surface.serve()?,
            // No socket: nobody but the app's own assistant is served.
            Then::Close | Then::Stay => surface.serve_in_app()?,
        };
        if let Some(address) = surface.address() {
            println!("Serving at {}", address.display());
        }
        let session = surface.session("Assistant");
        let assistant = Assistant::start(ctx, session, Box::new(Scripted::default()))?;
        if then != Then::Serve {
            assistant.demonstrate(&GOALS, then == Then::Close);
        }
        Ok(Self {
            orders: Orders::default(),
            assistant,
            consent: consent_ui.with_stop_shortcut(STOP),
            _surface: surface,
        })
    }

    fn show(&mut self, ui: &mut Ui) {
        Panel::top("agents").show(ui, |ui| self.consent.indicator(ui));
        Panel::right("assistant")
            .exact_size(260.0)
            .show(ui, |ui| self.assistant.panel(ui));
        self.orders.ui(ui);
        self.consent.show(ui.ctx());
    }
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let then = match env::args().nth(1).as_deref() {
        None => Then::Close,
        Some("--stay") => Then::Stay,
        Some("--serve") => Then::Serve,
        Some(odd) => {
            return Err(format!("{odd}: no such option; there are --stay and --serve").into());
        }
    };
    let display = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let size = [640.0, 400.0];
    if display("DISPLAY") || display("WAYLAND_DISPLAY") {
        let native = eframe::NativeOptions {
            viewport: ViewportBuilder::default().with_inner_size(size),
            ..Default::default()
        };
        let create: eframe::AppCreator<'_> =
            Box::new(move |cc| Ok(Box::new(Window::open(&cc.egui_ctx, then)?)));
        eframe::run_native("Orders", native, create)?;
    } else {
        eprintln!("(no display: the same app, without a window)");
        let ctx = Context::default();
        let mut window = Window::open(&ctx, then).map_err(|error| error as Box<dyn Error>)?;
        run_windowless(&ctx, "Orders", vec2(size[0], size[1]), |ui| window.show(ui));
    }
    Ok(())
}
