//! What the app holds: it draws what there is to ask and to show.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering, mpsc::Receiver},
};

use agent_consent::{Asked, Builder, Consent, Kind, Notice, Prompt, QuestionId, RuleId, Text};
use agent_egui::{AgentUi as _, Tag};
use egui::{
    Context, Id, Key, KeyboardShortcut, LayerId, Modifiers, Ui, UiBuilder, UserAttentionType,
    ViewportCommand, ViewportId,
};

use crate::{
    agents::Recent,
    flash::Flashes,
    indicator,
    keys::{Keys, Pressed, Shortcuts},
    panel::{Open, Verdict},
    rules,
    texts::Texts,
};

/// A panic while a lock was held leaves plain data behind.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Things that the user should know and hasn't read; the oldest go first.
const NOTES: usize = 8;

/// Begins to ask the user of this context's windows: answers the consent that was put together,
/// and what draws its questions. On the UI thread, outside a pass; with eframe in the creation
/// closure.
///
/// ```no_run
/// # fn example(cc_egui_ctx: &egui::Context) {
/// use agent_consent::Consent;
///
/// let builder = Consent::builder("org.example.orders");
/// let (consent, consent_ui) = agent_consent_egui::open(cc_egui_ctx, builder);
/// // Surface::builder("org.example.orders").gate(consent.gate()) ..
/// # drop((consent, consent_ui)); }
/// ```
pub fn open(ctx: &Context, builder: Builder) -> (Consent, ConsentUi) {
    let shared = Arc::new(Shared::default());
    let pressed = Arc::new(Pressed::default());
    lock(&pressed.shortcuts).answer = Some(KeyboardShortcut::new(Modifiers::NONE, Key::F6));
    ctx.add_plugin(Keys(pressed.clone()));
    let side = Side {
        ctx: ctx.clone(),
        shared: shared.clone(),
    };
    let wakes = ctx.clone();
    let consent = builder
        .prompt(side)
        .wake(move || wakes.request_repaint())
        .build();
    let ui = ConsentUi {
        notices: consent.notices(),
        consent: consent.clone(),
        shared,
        pressed,
        texts: Texts::default(),
        open: None,
        recent: Recent::default(),
        flashes: Flashes::default(),
        drawn_in: HashSet::new(),
    };
    (consent, ui)
}

/// The questions about agents, and what is shown of them. The app keeps it beside its own state,
/// and draws it. UI thread.
///
/// All of it is excluded: for agents, and for the app's own assistant, it doesn't exist.
pub struct ConsentUi {
    consent: Consent,
    notices: Receiver<Notice>,
    shared: Arc<Shared>,
    pressed: Arc<Pressed>,
    texts: Texts,
    open: Option<Open>,
    recent: Recent,
    flashes: Flashes,
    /// The windows that this is drawn in.
    drawn_in: HashSet<ViewportId>,
}

impl ConsentUi {
    /// Other words, or another language.
    #[must_use]
    pub fn with_texts(mut self, texts: Texts) -> Self {
        self.texts = texts;
        self
    }

    /// Another shortcut to a question's buttons than F6. It is taken from the app only while a
    /// question is open.
    #[must_use]
    pub fn with_answer_shortcut(self, shortcut: KeyboardShortcut) -> Self {
        lock(&self.pressed.shortcuts).answer = Some(shortcut);
        self
    }

    /// A shortcut that stops all agents, in every window and at any time. None, if this is not
    /// set.
    #[must_use]
    pub fn with_stop_shortcut(self, shortcut: KeyboardShortcut) -> Self {
        lock(&self.pressed.shortcuts).stop_all = Some(shortcut);
        self
    }

    /// Draws the question that is open, over the app and without blocking it, and an outline on
    /// what is being acted on. In every window and in every pass, after the app's own widgets.
    pub fn show(&mut self, ctx: &Context) {
        let now = ctx.input(|input| input.time);
        let window = ctx.viewport_id();
        self.drawn_in.insert(window);
        lock(&self.shared.state).drawn = true;
        self.hear(now);
        self.flashes.paint(ctx);
        self.show_question(ctx, now);
        self.show_notes(ctx);
    }

    /// Draws who is connected and who acts, with a button that stops each and one for all, where
    /// the app wants it: in a bar at the top, say.
    pub fn indicator(&mut self, ui: &mut Ui) {
        let now = ui.input(|input| input.time);
        self.hear(now);
        let Shortcuts { stop_all, .. } = *lock(&self.pressed.shortcuts);
        let wish = excluded(ui, |ui| {
            indicator::draw(ui, &self.consent, &self.recent, &self.texts, stop_all)
        });
        self.grant(wish);
    }

    /// Draws what the user has decided about agents, each with a button that takes it back, where
    /// the app wants it: in its settings, say. What is taken back is over at once.
    pub fn rules(&mut self, ui: &mut Ui) {
        let wish = excluded(ui, |ui| rules::draw(ui, &self.consent, &self.texts));
        self.grant(wish);
    }

    /// Other than a question's, these buttons need no care: stopping does no harm.
    fn grant(&self, wish: Option<Wish>) {
        match wish {
            Some(Wish::Stop(connection)) => drop(self.consent.stop(connection)),
            Some(Wish::StopAll) => self.consent.stop_all(),
            Some(Wish::GoOn) => self.consent.resume(),
            Some(Wish::Revoke(rule)) => drop(self.consent.revoke(&rule)),
            Some(Wish::RevokeAll) => self.consent.revoke_all(),
            None => {}
        }
    }

    /// Whether a question is on the screen, or will be in the next pass.
    pub fn is_asking(&self) -> bool {
        let waits = || {
            lock(&self.shared.state)
                .questions
                .iter()
                .any(Asked::is_open)
        };
        self.open.as_ref().is_some_and(|open| open.asked.is_open()) || waits()
    }

    fn hear(&mut self, now: f64) {
        for notice in self.notices.try_iter() {
            self.recent.hear(notice, now);
        }
        for node in self.recent.take_touched() {
            self.flashes.add(node, now);
        }
        if self.pressed.stop_all.swap(false, Ordering::AcqRel) {
            self.consent.stop_all();
        }
    }

    fn show_question(&mut self, ctx: &Context, now: f64) {
        // One that is over without our doing: its agent is gone.
        if self.open.as_ref().is_some_and(|open| !open.asked.is_open()) {
            self.open = None;
        }
        if self.open.is_none() {
            let mut state = lock(&self.shared.state);
            let next = std::iter::from_fn(|| state.questions.pop_front()).find(Asked::is_open);
            self.open = next.map(Open::new);
        }
        let is_open = self.open.is_some();
        self.pressed.open.store(is_open, Ordering::Release);
        let Some(mut open) = self.open.take() else {
            return;
        };
        if self.home(ctx, &open) != ctx.viewport_id() {
            self.open = Some(open);
            return;
        }
        let home = ctx.viewport_id();
        if open.window != Some(home) {
            open.window = Some(home);
            if !ctx.input(|input| input.focused) {
                let attention = UserAttentionType::Informational;
                ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(attention));
            }
        }
        if self.pressed.answer.swap(false, Ordering::AcqRel) {
            open.reach(ctx);
        }
        let (texts, pressed) = (&self.texts, &self.pressed);
        let verdict = outside(ctx, |ui| open.draw(ui, texts, pressed, now));
        // Nothing of ours is locked: the next question may be handed over within this.
        match verdict {
            None => self.open = Some(open),
            Some(verdict) => {
                open.leave(ctx);
                match verdict {
                    Verdict::Answer(answer) => open.asked.answer(answer),
                    Verdict::Later => open.asked.dismiss(),
                };
                ctx.request_repaint();
            }
        }
    }

    /// The window that a question belongs in: that of what it asks about, else the one that it is
    /// in, else the one that the user is in, if it is drawn there.
    fn home(&self, ctx: &Context, open: &Open) -> ViewportId {
        let windows: Vec<(ViewportId, bool)> = ctx.input(|input| {
            let all = input.raw.viewports.iter();
            all.map(|(id, info)| (*id, info.focused == Some(true)))
                .collect()
        });
        let is_there = |id: &ViewportId| {
            self.drawn_in.contains(id) && windows.iter().any(|(there, _)| there == id)
        };
        if let Kind::Confirm { node } = open.asked.kind()
            && let Some((window, _)) = agent_egui::drawn_at(ctx, node)
            && is_there(&window)
        {
            return window;
        }
        let focused = windows.iter().filter(|(_, focused)| *focused);
        open.window
            .filter(is_there)
            .or_else(|| focused.map(|(id, _)| *id).find(is_there))
            .unwrap_or(ctx.viewport_id())
    }

    fn show_notes(&mut self, ctx: &Context) {
        let note = lock(&self.shared.state).notes.front().cloned();
        let Some(note) = note else {
            return;
        };
        let texts = &self.texts;
        if outside(ctx, |ui| crate::panel::note(ui, &note, texts)) {
            lock(&self.shared.state).notes.pop_front();
            ctx.request_repaint();
        }
    }
}

/// What the user wants of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Stop the one of this connection.
    Stop(u64),
    StopAll,
    /// Let them in again.
    GoOn,
    /// Take back what was decided.
    Revoke(RuleId),
    RevokeAll,
}

/// Draws what agents must neither see nor press.
fn excluded<R>(ui: &mut Ui, draw: impl FnOnce(&mut Ui) -> R) -> R {
    ui.agent_tagged(Tag::new().excluded(), draw).inner
}

/// The same, outside of the app's own layout: none of its widgets is moved or renamed by it.
fn outside<R>(ctx: &Context, draw: impl FnOnce(&mut Ui) -> R) -> R {
    let builder = UiBuilder::new()
        .layer_id(LayerId::background())
        .max_rect(ctx.content_rect());
    let mut ui = Ui::new(ctx.clone(), Id::unique("agent consent"), builder);
    excluded(&mut ui, draw)
}

/// What the prompt's side has handed over.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    questions: VecDeque<Asked>,
    notes: VecDeque<Text>,
    drawn: bool,
    warned: bool,
}

/// Where questions come in, on any thread.
struct Side {
    ctx: Context,
    shared: Arc<Shared>,
}

impl Prompt for Side {
    fn show(&self, question: Asked) {
        let mut state = lock(&self.shared.state);
        state.questions.push_back(question);
        let warn = !state.drawn && !std::mem::replace(&mut state.warned, true);
        drop(state);
        if warn {
            log::warn!(
                "a question about an agent waits to be drawn: call ConsentUi::show in every pass"
            );
        }
        self.ctx.request_repaint();
    }

    fn withdraw(&self, question: QuestionId) {
        let mut state = lock(&self.shared.state);
        let gone = state.questions.iter().position(|it| it.id() == question);
        let gone = gone.and_then(|at| state.questions.remove(at));
        drop(state);
        drop(gone);
        // One that is drawn is seen not to be open any more.
        self.ctx.request_repaint();
    }

    fn tell(&self, what: &Text) {
        let mut state = lock(&self.shared.state);
        if state.notes.len() == NOTES {
            state.notes.pop_front();
        }
        state.notes.push_back(what.clone());
        drop(state);
        self.ctx.request_repaint();
    }
}

impl std::fmt::Debug for ConsentUi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsentUi")
            .field("is_asking", &self.is_asking())
            .finish_non_exhaustive()
    }
}
