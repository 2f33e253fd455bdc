//! One egui window of `n` widgets, 30 of them tagged, on a context without a window.

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use agent_core::{
    Action, Answer, AuthGate, Backend, Call, Channel, Decision, Describe, Include, Job, ReplyTo,
    Request, Scope, Target, Ticket, View,
};
use agent_egui::{AgentUi, AgentWidget};
use egui::{Context, RawInput, Ui};

/// How a pass is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Without any of this library.
    Plain,
    /// The same, with AccessKit on.
    Tree,
    /// Tagged and served, nobody connected.
    Nobody,
    /// One client admitted, which asks nothing.
    Idle,
    /// Each frame serves a description of the 30.
    Describe,
    /// Each frame serves a click.
    Click,
}

impl Mode {
    /// The mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "plain" => Self::Plain,
            "tree" => Self::Tree,
            "nobody" => Self::Nobody,
            "idle" => Self::Idle,
            "describe" => Self::Describe,
            "click" => Self::Click,
            _ => return None,
        })
    }
}

/// The app.
pub struct App {
    ctx: Context,
    mode: Mode,
    n: usize,
    fields: Vec<String>,
    clicks: usize,
    backend: Option<Arc<dyn Backend>>,
}

/// How many are tagged: 20 buttons and 10 fields.
pub const TAGGED: usize = 30;

impl App {
    /// A window of `n` widgets.
    pub fn new(mode: Mode, n: usize) -> Self {
        let ctx = Context::default();
        let backend = match mode {
            Mode::Plain => None,
            Mode::Tree => {
                ctx.enable_accesskit();
                None
            }
            _ => Some(agent_egui::open(&ctx)),
        };
        if let Some(backend) = backend.as_ref().filter(|_| mode != Mode::Nobody) {
            backend.set_clients(1);
        }
        let mut app = Self {
            ctx,
            mode,
            n,
            fields: vec![String::new(); 10],
            clicks: 0,
            backend,
        };
        // Layout settles, ids are known, and an agent has looked once.
        for warming in [Mode::Idle, Mode::Idle, Mode::Describe] {
            if app.backend.is_some() && mode != Mode::Nobody {
                app.mode = warming;
            }
            app.frame();
        }
        app.mode = mode;
        app
    }

    /// One frame, with what its mode asks for.
    pub fn frame(&mut self) {
        let waiting = match self.mode {
            Mode::Describe => Some(self.serve(describe())),
            Mode::Click => Some(self.serve(Call::Act {
                target: target("button-7"),
                action: Action::Click,
            })),
            _ => None,
        };
        let input = RawInput {
            screen_rect: Some(egui::Rect::from_min_size(
                egui::Pos2::ZERO,
                egui::vec2(800.0, 700.0),
            )),
            ..RawInput::default()
        };
        let ctx = self.ctx.clone();
        let output = ctx.run_ui(input, |ui| self.draw(ui));
        output.drop_without_applying_deltas();
        if let Some(waiting) = waiting {
            assert!(
                matches!(
                    waiting.try_recv(),
                    Ok(Answer::Described(_) | Answer::Acted(_))
                ),
                "one frame serves a request"
            );
        }
    }

    fn draw(&mut self, ui: &mut Ui) {
        let tagged = self.backend.is_some();
        if tagged {
            ui.agent_window("main");
        }
        for (n, id) in BUTTONS.into_iter().enumerate() {
            let button = egui::Button::new(format!("Action {n:02}"));
            let response = match tagged {
                true => ui.add(button.agent_id(id)),
                false => ui.add(button),
            };
            self.clicks += usize::from(response.clicked());
        }
        for (n, text) in self.fields.iter_mut().enumerate() {
            let field = egui::TextEdit::singleline(text);
            match tagged {
                true => ui.add(field.agent_id(FIELDS[n])),
                false => ui.add(field),
            };
        }
        egui::ScrollArea::vertical().show(ui, |ui| {
            for row in TAGGED..self.n {
                ui.label(format!("Row {row}"));
            }
        });
    }

    fn serve(&self, call: Call) -> mpsc::Receiver<Answer> {
        let (sender, receiver) = mpsc::channel();
        if let Some(backend) = &self.backend {
            backend.submit(Job {
                request: Request {
                    channel: Channel::External,
                    connection: 1,
                    claimed_name: None,
                    peer: None,
                    verb: call.verb(),
                    scope: Scope::Surface,
                    target: None,
                },
                call,
                gate: AuthGate::serve(|_| Decision::Allow),
                view: View {
                    names_unexposed: false,
                    window_was_there: false,
                },
                deadline: Instant::now() + Duration::from_secs(60),
                ticket: Arc::new(Ticket::default()),
                reply: ReplyTo::new(move |answer| {
                    let _ = sender.send(answer);
                }),
            });
        }
        receiver
    }
}

fn describe() -> Call {
    Call::Describe(Describe {
        include: Include::default(),
        ..Describe::default()
    })
}

fn target(id: &str) -> Target {
    Target {
        id: id.to_owned(),
        window: None,
    }
}

const BUTTONS: [&str; 20] = [
    "button-0",
    "button-1",
    "button-2",
    "button-3",
    "button-4",
    "button-5",
    "button-6",
    "button-7",
    "button-8",
    "button-9",
    "button-10",
    "button-11",
    "button-12",
    "button-13",
    "button-14",
    "button-15",
    "button-16",
    "button-17",
    "button-18",
    "button-19",
];
const FIELDS: [&str; 10] = [
    "field-0", "field-1", "field-2", "field-3", "field-4", "field-5", "field-6", "field-7",
    "field-8", "field-9",
];
