//! An egui app without a display, on a thread of its own: it draws when egui asks for it, as an
//! event loop would, and when a test has changed something.

use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread::JoinHandle,
};

use agent_surface::egui::Context;
use egui::{RawInput, Rect, Ui};

type Change<S> = Box<dyn FnOnce(&mut S) + Send>;

enum Message<S> {
    Repaint,
    Change(Change<S>, Sender<()>),
    ChangeUndrawn(Change<S>, Sender<()>),
    Quit,
}

pub(crate) struct Windowless<S> {
    pub(crate) ctx: Context,
    messages: Sender<Message<S>>,
    thread: Option<JoinHandle<S>>,
}

impl<S: Send + 'static> Windowless<S> {
    /// Large enough that nothing in it is out of sight.
    pub(crate) fn start(state: S, draw: fn(&mut Ui, &mut S)) -> Self {
        let ctx = Context::default();
        let (messages, inbox) = mpsc::channel();
        let repaint = messages.clone();
        ctx.set_request_repaint_callback(move |info| {
            // A repaint later on is for animations, which nobody sees here.
            if info.delay.is_zero() {
                drop(repaint.send(Message::Repaint));
            }
        });
        let ui = ctx.clone();
        let thread = std::thread::Builder::new()
            .name("egui".into())
            .spawn(move || run(&ui, state, draw, &inbox))
            .unwrap();
        Self {
            ctx,
            messages,
            thread: Some(thread),
        }
    }

    /// Changes the app on the UI thread, and draws it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut S) + Send + 'static) {
        let (done, when_done) = mpsc::channel();
        let message = Message::Change(Box::new(change), done);
        self.messages.send(message).ok().unwrap();
        when_done.recv().unwrap();
    }

    /// Changes the app between two frames: the next one draws it, whatever that is for.
    pub(crate) fn change_undrawn(&self, change: impl FnOnce(&mut S) + Send + 'static) {
        let (done, when_done) = mpsc::channel();
        let message = Message::ChangeUndrawn(Box::new(change), done);
        self.messages.send(message).ok().unwrap();
        when_done.recv().unwrap();
    }

    /// Looks at the app between two frames.
    pub(crate) fn look<R: Send + 'static>(
        &self,
        look: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> R {
        let (tell, told) = mpsc::channel();
        self.change(move |state| drop(tell.send(look(state))));
        told.recv().unwrap()
    }

    /// Ends the UI thread, as an app that quits.
    pub(crate) fn quit(&mut self) -> Option<S> {
        drop(self.messages.send(Message::Quit));
        self.thread.take().map(|thread| thread.join().unwrap())
    }
}

impl<S> Drop for Windowless<S> {
    fn drop(&mut self) {
        drop(self.messages.send(Message::Quit));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run<S>(
    ctx: &Context,
    mut state: S,
    draw: fn(&mut Ui, &mut S),
    inbox: &Receiver<Message<S>>,
) -> S {
    let mut time = 0.0;
    let mut frame = |state: &mut S| {
        time += 0.1;
        let size = egui::vec2(30_000.0, 30_000.0);
        let raw = RawInput {
            screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, size)),
            time: Some(time),
            focused: true,
            ..RawInput::default()
        };
        let output = ctx.run_ui(raw, |ui| draw(ui, state));
        output.drop_without_applying_deltas();
    };
    while let Ok(message) = inbox.recv() {
        // What is asked for several times is drawn once.
        let mut next = Some(message);
        let mut repaint = false;
        while let Some(message) = next {
            match message {
                Message::Repaint => repaint = true,
                Message::Change(change, done) => {
                    change(&mut state);
                    frame(&mut state);
                    repaint = false;
                    done.send(()).ok();
                }
                Message::ChangeUndrawn(change, done) => {
                    change(&mut state);
                    done.send(()).ok();
                }
                Message::Quit => return state,
            }
            next = inbox.try_recv().ok();
        }
        if repaint {
            frame(&mut state);
        }
    }
    state
}
