//! A host without a window: requests go in as a server would put them, frames are run until
//! the answer is there.

use std::sync::{Arc, mpsc};

use agent_core::{
    Action, Answer, AuthGate, Backend, Call, Describe, Description, Include, Refusal, Target,
    TextRead, Ticket, View,
};
use agent_test_support::{allow, job};
use egui::{Context, Event, RawInput, Ui};

/// How the host runs its passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    /// `run_ui`, as eframe does.
    RunUi,
    /// `run_ui` with one pass a frame.
    OnePass,
    /// `begin_pass` and `end_pass` by itself.
    BeginEnd,
}

pub(crate) struct Driver<S> {
    pub(crate) ctx: Context,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) state: S,
    pub(crate) draw: fn(&mut Ui, &mut S),
    pub(crate) host: Host,
    pub(crate) names_unexposed: bool,
    pub(crate) window_was_there: bool,
    pub(crate) gate: AuthGate,
    pub(crate) time: f64,
    /// Whether the last frame had an update for a screen reader.
    pub(crate) updates: Vec<bool>,
    pub(crate) passes: usize,
}

impl<S> Driver<S> {
    pub(crate) fn new(state: S, draw: fn(&mut Ui, &mut S)) -> Self {
        Self::on(Host::RunUi, state, draw)
    }

    pub(crate) fn on(host: Host, state: S, draw: fn(&mut Ui, &mut S)) -> Self {
        let mut driver = Self::unwatched(host, state, draw);
        driver.backend.set_clients(1);
        driver.frame(vec![]);
        driver
    }

    /// No client has ever been there.
    pub(crate) fn unwatched(host: Host, state: S, draw: fn(&mut Ui, &mut S)) -> Self {
        let ctx = Context::default();
        if host == Host::OnePass {
            ctx.options_mut(|options| options.max_passes = 1.try_into().unwrap());
        }
        let backend = agent_egui::open(&ctx);
        Self {
            ctx,
            backend,
            state,
            draw,
            host,
            names_unexposed: false,
            window_was_there: false,
            gate: allow(),
            time: 0.0,
            updates: Vec::new(),
            passes: 0,
        }
    }

    pub(crate) fn frame(&mut self, events: Vec<Event>) {
        self.time += 0.1;
        let size = egui::vec2(800.0, 600.0);
        let raw = RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
            time: Some(self.time),
            focused: true,
            events,
            ..RawInput::default()
        };
        let (draw, state) = (self.draw, &mut self.state);
        let mut passes = 0;
        let output = match self.host {
            Host::RunUi | Host::OnePass => self.ctx.run_ui(raw, |ui| {
                passes += 1;
                draw(ui, state);
            }),
            Host::BeginEnd => {
                passes += 1;
                self.ctx.begin_pass(raw);
                self.ctx.root_ui(|ui| draw(ui, state));
                self.ctx.end_pass()
            }
        };
        self.passes = passes;
        self.updates
            .push(output.platform_output.accesskit_update.is_some());
        output.drop_without_applying_deltas();
    }

    pub(crate) fn send(&mut self, call: Call) -> (Arc<Ticket>, mpsc::Receiver<Answer>) {
        let (mut job, receiver) = job(call);
        job.gate = self.gate.clone();
        job.view = View {
            names_unexposed: self.names_unexposed,
            window_was_there: self.window_was_there,
        };
        let ticket = job.ticket.clone();
        self.backend.submit(job);
        (ticket, receiver)
    }

    pub(crate) fn call(&mut self, call: Call) -> Answer {
        let (_, receiver) = self.send(call);
        for _ in 0..20 {
            if let Ok(answer) = receiver.try_recv() {
                return answer;
            }
            self.frame(vec![]);
        }
        receiver.try_recv().expect("no answer after 20 frames")
    }

    pub(crate) fn act(&mut self, id: &str, action: Action) -> Answer {
        self.call(Call::Act {
            target: target(id),
            action,
        })
    }

    pub(crate) fn refused(&mut self, id: &str, action: Action) -> Refusal {
        match self.act(id, action) {
            Answer::Refused(refusal) => refusal,
            other => panic!("not refused: {other:?}"),
        }
    }

    pub(crate) fn read(&mut self, id: &str) -> TextRead {
        match self.call(Call::GetText {
            target: target(id),
            from: None,
            limit: None,
        }) {
            Answer::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    pub(crate) fn describe(&mut self, describe: Describe) -> Description {
        match self.call(Call::Describe(describe)) {
            Answer::Described(description) => description,
            other => panic!("no description: {other:?}"),
        }
    }

    /// The exposed nodes, a line each.
    pub(crate) fn outline(&mut self) -> Vec<String> {
        let include = Include {
            value: true,
            state: true,
            actions: false,
            frame: false,
        };
        let description = self.describe(Describe {
            include,
            ..Describe::default()
        });
        let nodes = description.nodes.iter();
        nodes
            .map(|node| {
                let states: Vec<&str> = node.states.words().collect();
                format!(
                    "{}{} {:?}{}{}{}",
                    node.parent
                        .map_or(String::new(), |parent| format!("{parent}<")),
                    node.id,
                    node.name,
                    node.value
                        .as_ref()
                        .map_or(String::new(), |value| format!(" ={value:?}")),
                    if states.is_empty() {
                        String::new()
                    } else {
                        format!(" {}", states.join(" "))
                    },
                    if node.actionable { "" } else { " !" },
                )
            })
            .collect()
    }
}

pub(crate) fn target(id: &str) -> Target {
    Target {
        id: id.to_owned(),
        window: None,
    }
}

pub(crate) fn set_text(value: &str, base_version: u64) -> Action {
    Action::SetText {
        value: value.to_owned(),
        base_version,
        range: None,
    }
}
