//! The assistant: its panel, which it can neither see nor press, and the thread that it works on.

use std::{
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
};

use agent_surface::{
    egui::{AgentUi, AgentWidget, Tag},
    inapp::{Describe, Description, Error, Include, Session},
};
use eframe::egui::{self, Context, ViewportCommand, ViewportId};

use crate::model::{Model, Step};

/// A model that goes round in circles is stopped after so many steps.
const STEPS: usize = 8;

/// What the person and the assistant have said.
type Talk = Arc<Mutex<Vec<String>>>;

/// The panel's end of it.
pub(crate) struct Assistant {
    talk: Talk,
    draft: String,
    work: Sender<Work>,
}

enum Work {
    Goal(String),
    /// The demonstration is over.
    Close,
}

impl Assistant {
    /// Starts its thread, which waits for work.
    pub(crate) fn start(
        ctx: &Context,
        session: Session,
        model: Box<dyn Model>,
    ) -> std::io::Result<Self> {
        let talk = Talk::default();
        let (work, receive) = channel();
        let worker = Worker {
            session,
            model,
            talk: talk.clone(),
            ctx: ctx.clone(),
        };
        std::thread::Builder::new()
            .name("assistant".to_owned())
            .spawn(move || worker.run(&receive))?;
        Ok(Self {
            talk,
            draft: String::new(),
            work,
        })
    }

    /// Gives it this work, and has the app close afterwards.
    pub(crate) fn demonstrate(&self, goals: &[&str], close: bool) {
        let goals = goals.iter().map(|goal| Work::Goal((*goal).to_owned()));
        for work in goals.chain(close.then_some(Work::Close)) {
            // Nobody takes it if the app is closing.
            let _ = self.work.send(work);
        }
    }

    /// Draws it. Excluded: to the assistant, and to every other agent, it doesn't exist.
    pub(crate) fn panel(&mut self, ui: &mut egui::Ui) {
        ui.agent_tagged(Tag::new().excluded(), |ui| {
            ui.heading("Assistant");
            ui.horizontal(|ui| {
                let field = egui::TextEdit::singleline(&mut self.draft)
                    .hint_text("order for Grace")
                    .desired_width(170.0);
                let entered = ui.add(field).lost_focus()
                    && ui.input(|input| input.key_pressed(egui::Key::Enter));
                // It has an id, like any button, but whoever asks for that is told that there is
                // none.
                let ask = egui::Button::new("Ask").agent_id("ask");
                if ui.add(ask).clicked() || entered {
                    let goal = Work::Goal(std::mem::take(&mut self.draft));
                    let _ = self.work.send(goal);
                }
            });
            ui.separator();
            let said = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
            egui::ScrollArea::vertical()
                .stick_to_bottom(true)
                .auto_shrink(false)
                .show(ui, |ui| {
                    for line in said.iter() {
                        ui.label(line);
                    }
                });
        });
    }
}

/// The thread's end of it.
struct Worker {
    session: Session,
    model: Box<dyn Model>,
    talk: Talk,
    ctx: Context,
}

impl Worker {
    fn run(mut self, work: &Receiver<Work>) {
        while let Ok(work) = work.recv() {
            let Work::Goal(goal) = work else {
                self.close();
                return;
            };
            println!("\n== {goal} ==");
            self.say(format!("You: {goal}"));
            let last = self.reach(&goal).unwrap_or_else(|why| why.to_string());
            println!("assistant: {last}");
            self.say(last);
        }
    }

    /// Looks for its own panel in the whole tree, which it may see too, and closes the app.
    fn close(&self) {
        println!("\n== The whole tree ==");
        match self.session.describe_ui(true).wait() {
            Ok(whole) => {
                let own = whole.nodes.iter().any(|node| {
                    let text = node.full.as_ref().and_then(|full| full.text.as_deref());
                    let words = [Some(node.name.as_str()), text];
                    // Of its panel, of the question to the user, of who is connected.
                    ["Ask", "Do it", "Stop all"]
                        .iter()
                        .any(|it| words.contains(&Some(it)))
                });
                println!(
                    "{} nodes; what governs it is there: {own}",
                    whole.nodes.len()
                );
            }
            Err(why) => println!("{why}"),
        }
        self.ctx
            .send_viewport_cmd_to(ViewportId::ROOT, ViewportCommand::Close);
        self.ctx.request_repaint();
    }

    /// Looks, asks the model, does what it says, until it has something to say.
    fn reach(&mut self, goal: &str) -> Result<String, Error> {
        let mut came_of = String::new();
        for _ in 0..STEPS {
            let screen = self.look()?;
            let step = self.model.next(goal, &screen, &came_of);
            came_of = match step {
                Step::Say(words) => return Ok(words),
                Step::Press(id) => {
                    println!("-> click {id}");
                    let pressed = self.session.click(id).wait();
                    outcome(pressed.map(|acted| acted.events.len()))
                }
                Step::Write(id, text) => {
                    println!("-> set_text {id} {text:?}");
                    let written = self.session.get_text(id.as_str()).wait().and_then(|read| {
                        let version = read.version;
                        self.session.set_text(id.as_str(), text, version).wait()
                    });
                    outcome(written.map(|acted| acted.events.len()))
                }
            };
            println!("<- {came_of}");
            self.say(format!("({came_of})"));
        }
        Ok("I give up.".to_owned())
    }

    /// What the app shows, in words for a model.
    fn look(&self) -> Result<String, Error> {
        let include = Include {
            value: true,
            ..Include::default()
        };
        let seen = self.session.describe(Describe {
            include,
            ..Describe::default()
        });
        let screen = outline(&seen.wait()?);
        println!("{screen}");
        Ok(screen)
    }

    fn say(&self, line: String) {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        talk.push(line);
        drop(talk);
        self.ctx.request_repaint();
    }
}

fn outcome(result: Result<usize, Error>) -> String {
    match result {
        Ok(events) => format!("allowed, {events} events"),
        Err(why) => why.to_string(),
    }
}

/// One node a line: `role "name" [id] ="value"`.
fn outline(seen: &Description) -> String {
    let mut lines = format!("# revision {}", seen.revision);
    for node in &seen.nodes {
        let (role, name, id) = (node.role.word(), &node.name, &node.id);
        // Quoted as Rust quotes, so that no name can look like another line. Writing to a string
        // can't fail.
        let _ = write!(lines, "\n  {role} {name:?} [{id}]");
        if let Some(value) = &node.value {
            let _ = write!(lines, " ={value:?}");
        }
    }
    lines
}
