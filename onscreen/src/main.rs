//! An egui app in a window, whose widgets each have a colour of their own, so that a picture tells
//! which of them it shows. For the tests of this crate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "it is a part of tests, which fail if it ends"
)]

mod pointing;

use agent_surface::{
    AuthGate, Decision, Scope, Surface,
    egui::{AgentResponse as _, AgentUi as _, AgentWidget as _, Tag},
};
use eframe::egui::{self, Button, Color32, TextEdit, Ui, ViewportBuilder};

/// What is exposed, where it isn't said otherwise.
const EXPOSED: Color32 = Color32::from_rgb(0, 200, 0);
const UNTAGGED: Color32 = Color32::from_rgb(200, 0, 200);
const SECRET: Color32 = Color32::from_rgb(200, 200, 0);
const EXCLUDED: Color32 = Color32::from_rgb(200, 0, 0);
const IN_POPUP: Color32 = Color32::from_rgb(0, 0, 200);
const QUESTION: Color32 = Color32::from_rgb(200, 100, 0);
/// What lies under all of them.
const GROUND: Color32 = Color32::from_rgb(0, 120, 120);

/// With the first one, or by itself.
#[derive(Clone, Copy)]
enum Second {
    Immediate,
    Deferred,
}

#[derive(Default)]
struct Form {
    saved: usize,
    under: usize,
    popup: usize,
    other: usize,
    open: bool,
    asks: bool,
    /// All of it is somewhere else in each frame.
    moves: bool,
    /// How a second window is drawn, if there is one.
    second: Option<Second>,
    password: String,
}

impl Form {
    fn ui(&mut self, ui: &mut Ui) {
        ui.agent_window(Tag::id("main").label("Onscreen"));
        let ground = egui::Frame::central_panel(ui.style()).fill(GROUND);
        egui::CentralPanel::default()
            .frame(ground)
            .show(ui, |ui| self.form(ui));
        let id = egui::ViewportId::from_hash_of("second");
        // Beside the first, which stands in the corner of the screen.
        let window = ViewportBuilder::default()
            .with_title("Second")
            .with_position([450.0, 40.0])
            .with_inner_size([300.0, 200.0]);
        match self.second {
            None => {}
            Some(Second::Immediate) => {
                ui.ctx()
                    .show_viewport_immediate(id, window, |ui, _| second(ui));
            }
            Some(Second::Deferred) => {
                ui.ctx()
                    .show_viewport_deferred(id, window, |ui, _| second(ui));
            }
        }
    }

    fn form(&mut self, ui: &mut Ui) {
        if self.moves {
            let frame = ui.ctx().cumulative_frame_nr();
            ui.add_space((frame % 5) as f32 * 13.0);
            ui.ctx().request_repaint();
        }
        ui.label("Caption");
        if ui.add(wide("Save", EXPOSED).agent_id("save")).clicked() {
            self.saved += 1;
        }
        if ui.add(wide("Untagged", UNTAGGED)).clicked() {
            self.other += 1;
        }
        let password = TextEdit::singleline(&mut self.password)
            .background_color(SECRET)
            .agent(Tag::id("password").label("Password").secret());
        ui.add(password);
        ui.agent_tagged(Tag::new().excluded(), |ui| {
            if ui.add(wide("Allow", EXCLUDED)).clicked() {
                self.other += 1;
                self.asks = !self.asks;
            }
            if self.asks {
                // Elsewhere, and with a ground of its own.
                let frame = egui::Frame::window(ui.style()).fill(QUESTION);
                let window = egui::Window::new("Question").frame(frame);
                let window = window.fixed_pos([200.0, 150.0]).fade_in(false);
                window.show(ui.ctx(), |ui| ui.add(wide("Yes", EXCLUDED)));
            }
        });
        let more = ui.add(Button::new("More").agent_id("more"));
        self.open |= more.clicked();
        if self.open {
            // By hand: of egui's own popups there is a node, and of this one's edge there is none.
            let area = egui::Area::new(egui::Id::unique("popup")).order(egui::Order::Foreground);
            let area = area.fixed_pos(more.rect.left_bottom()).fade_in(false);
            area.show(ui.ctx(), |ui| {
                egui::Frame::popup(ui.style()).show(ui, |ui| {
                    if ui.add(wide("In the popup", IN_POPUP)).clicked() {
                        self.popup += 1;
                        self.open = false;
                    }
                });
            });
        }
        let covered = |tag: Tag| tag.label("What is covered");
        ui.agent_group("covered", covered, |ui| {
            if ui.add(wide("Under", EXPOSED).agent_id("under")).clicked() {
                self.under += 1;
            }
        });
        let Self {
            saved,
            under,
            popup,
            other,
            ..
        } = self;
        ui.label(format!(
            "saved {saved}, under {under}, popup {popup}, other {other}"
        ))
        .agent_id("status");
        if ui.button("Hang").agent_id("hang").clicked() {
            // Until whoever started this says a word.
            println!("hangs");
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
    }
}

fn second(ui: &mut Ui) {
    ui.agent_window(Tag::id("second").label("Second"));
    egui::CentralPanel::default().show(ui, |ui| {
        ui.add(wide("There", EXPOSED).agent_id("there"));
        ui.add(wide("Hidden there", SECRET).agent(Tag::id("hidden").secret()));
    });
}

/// A button with room for its colour beside its words.
fn wide(words: &str, colour: Color32) -> Button<'_> {
    Button::new(words)
        .fill(colour)
        .min_size(egui::vec2(150.0, 30.0))
}

struct Window {
    form: Form,
    _surface: Surface,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.form.ui(ui);
    }
}

fn main() -> eframe::Result {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, address, name] = arguments.as_slice()
        && role == "--point"
    {
        pointing::point(address.as_ref(), name);
    }
    let has = |option: &str| arguments.iter().any(|it| it == option);
    let moves = has("--moves");
    let second = match (has("--immediate"), has("--deferred")) {
        (true, _) => Some(Second::Immediate),
        (_, true) => Some(Second::Deferred),
        _ => None,
    };
    let (unarmed, shut) = (has("--unarmed"), has("--no-inspector"));
    let mut ids = arguments.iter().filter(|it| !it.starts_with('-'));
    let id = ids.next().expect("the app's id").clone();
    let native = eframe::NativeOptions {
        viewport: ViewportBuilder::default().with_inner_size([400.0, 330.0]),
        ..Default::default()
    };
    let create: eframe::AppCreator<'_> = Box::new(move |cc| {
        // A popup is there or not, and in no colour between.
        cc.egui_ctx
            .all_styles_mut(|style| style.animation_time = 0.0);
        let gate = AuthGate::serve(move |request| match request.scope {
            Scope::Inspector if shut => Decision::deny("no inspector here"),
            _ => Decision::Allow,
        });
        let mut surface = Surface::builder(id)
            .name("Onscreen")
            .gate(gate)
            .egui(&cc.egui_ctx);
        if !unarmed {
            surface = surface.arm_inspector();
        }
        let surface = surface.serve()?;
        if let Some(address) = surface.address() {
            println!("Serving at {}", address.display());
        }
        Ok(Box::new(Window {
            form: Form {
                password: "hunter2".to_owned(),
                moves,
                second,
                ..Form::default()
            },
            _surface: surface,
        }))
    });
    eframe::run_native("Onscreen", native, create)
}
