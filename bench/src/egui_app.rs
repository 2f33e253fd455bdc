//! One egui window of `n` widgets, of which agents see 30, on a context without a window of the
//! system's: drawn frame by frame, or on a UI thread of its own.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
};

use agent_core::{Action, Answer, Backend, Call, Describe, Target};
use agent_egui::{AgentUi, AgentWidget};
use agent_surface::Surface;
use agent_test_support::job;
use egui::{Context, RawInput, Ui, Vec2, ViewportCommand, ViewportId};

use crate::{
    BUTTONS, EXPOSED, FIELDS,
    pingpong::{self, Hop},
    served::{Folder, Served, counted, open_to_all},
    thread_clock::ThreadClock,
};

const SIZE: Vec2 = egui::vec2(800.0, 700.0);

/// What is drawn.
struct Window {
    n: usize,
    tagged: bool,
    fields: [String; FIELDS.len()],
    clicks: Arc<AtomicUsize>,
}

impl Window {
    fn new(n: usize, tagged: bool) -> Self {
        Self {
            n,
            tagged,
            fields: Default::default(),
            clicks: Arc::default(),
        }
    }

    fn draw(&mut self, ui: &mut Ui) {
        if self.tagged {
            ui.agent_window("main");
        }
        for (number, id) in BUTTONS.into_iter().enumerate() {
            let button = egui::Button::new(format!("Action {number:02}"));
            let response = match self.tagged {
                true => ui.add(button.agent_id(id)),
                false => ui.add(button),
            };
            if response.clicked() {
                self.clicks.fetch_add(1, Ordering::Relaxed);
            }
        }
        for (text, id) in self.fields.iter_mut().zip(FIELDS) {
            let field = egui::TextEdit::singleline(text);
            match self.tagged {
                true => ui.add(field.agent_id(id)),
                false => ui.add(field),
            };
        }
        egui::ScrollArea::vertical().show(ui, |ui| {
            for row in EXPOSED..self.n {
                ui.label(format!("Row {row}"));
            }
        });
    }
}

/// The window, served at a socket, for one client.
///
/// # Errors
/// If there is no place for the socket.
pub fn serve(n: usize) -> io::Result<Served> {
    let folder = Folder::new()?;
    let ctx = Context::default();
    let surface = open_to_all(Surface::builder("org.example.bench").egui(&ctx))
        .at(folder.socket())
        .serve()
        .map_err(io::Error::other)?;
    let mut window = Window::new(n, true);
    let clicks = window.clicks.clone();
    let (ui, clock) = UiThread::start(ctx, move |ui| window.draw(ui))?;
    Ok(Served::new(folder, clock, counted(clicks), (surface, ui)))
}

/// The ping-pong with egui's UI thread, which draws the same window without anything of ours:
/// each line asks for a repaint, and is answered at the end of the pass.
///
/// # Errors
/// If there is no place for the socket.
pub fn ping_pong(n: usize) -> io::Result<Served> {
    let folder = Folder::new()?;
    let hop = Hop::default();
    let ctx = Context::default();
    let wake = ctx.clone();
    let connection = pingpong::serve(&folder.socket(), hop.clone(), move || {
        wake.request_repaint();
    })?;
    let mut window = Window::new(n, false);
    let (ui, clock) = UiThread::start(ctx, move |ui| {
        window.draw(ui);
        hop.answer();
    })?;
    Ok(Served::new(
        folder,
        clock,
        counted(Arc::default()),
        (connection, ui),
    ))
}

/// A thread that draws whenever a repaint is asked for. Dropping it closes the app.
struct UiThread {
    ctx: Context,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl UiThread {
    fn start(
        ctx: Context,
        draw: impl FnMut(&mut Ui) + Send + 'static,
    ) -> io::Result<(Self, ThreadClock)> {
        let (told, clock) = mpsc::channel();
        let of_thread = ctx.clone();
        let thread = std::thread::Builder::new()
            .name("ui".to_owned())
            .spawn(move || {
                if told.send(ThreadClock::of_this_thread()).is_ok() {
                    agent_egui::run_windowless(&of_thread, "Bench", SIZE, draw);
                }
            })?;
        let ui = Self {
            ctx,
            thread: Some(thread),
        };
        let clock = clock.recv().map_err(io::Error::other)?;
        Ok((ui, clock))
    }
}

impl Drop for UiThread {
    fn drop(&mut self) {
        self.ctx
            .send_viewport_cmd_to(ViewportId::ROOT, ViewportCommand::Close);
        self.ctx.request_repaint();
        if let Some(thread) = self.thread.take() {
            // A panic there has been told where it happened.
            drop(thread.join());
        }
    }
}

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
    /// Every mode.
    pub const ALL: [Self; 6] = [
        Self::Plain,
        Self::Tree,
        Self::Nobody,
        Self::Idle,
        Self::Describe,
        Self::Click,
    ];

    /// Its word, for the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tree => "tree",
            Self::Nobody => "nobody",
            Self::Idle => "idle",
            Self::Describe => "describe",
            Self::Click => "click",
        }
    }

    /// The mode of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

/// The window, drawn frame by frame on the calling thread, without a socket.
pub struct App {
    ctx: Context,
    mode: Mode,
    window: Window,
    backend: Option<Arc<dyn Backend>>,
}

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
            window: Window::new(n, backend.is_some()),
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
        let clicks = self.window.clicks.load(Ordering::Relaxed);
        let waiting = match self.mode {
            Mode::Describe => Some(self.serve(Call::Describe(Describe::default()))),
            Mode::Click => Some(self.serve(Call::Act {
                target: Target {
                    id: "button-7".to_owned(),
                    window: None,
                },
                action: Action::Click,
            })),
            _ => None,
        };
        let input = RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, SIZE)),
            ..RawInput::default()
        };
        let ctx = self.ctx.clone();
        let output = ctx.run_ui(input, |ui| self.window.draw(ui));
        output.drop_without_applying_deltas();
        if let Some(waiting) = waiting {
            let answer = waiting.try_recv();
            assert!(
                matches!(answer, Ok(Answer::Described(_) | Answer::Acted(_))),
                "one frame serves a request, but: {answer:?}"
            );
        }
        let clicked = self.window.clicks.load(Ordering::Relaxed) - clicks;
        assert_eq!(clicked, usize::from(self.mode == Mode::Click));
    }

    fn serve(&self, call: Call) -> mpsc::Receiver<Answer> {
        let (job, receiver) = job(call);
        if let Some(backend) = &self.backend {
            backend.submit(job);
        }
        receiver
    }
}
