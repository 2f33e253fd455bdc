//! The panel that a question is asked in.

use agent_consent::{Answer, Asked, Kind, Piece, Text};
use egui::{
    Area, Button, Context, Event, FontId, Frame, Id, Key, Label, Order, Rect, Response, ScrollArea,
    Stroke, TextFormat, TextStyle, Ui, Vec2, ViewportId,
    accesskit::{Live, Role},
    text::LayoutJob,
    vec2,
};

use crate::{
    keys::{Pressed, Shortcuts},
    liveness::{Liveness, Seen},
    place::place,
    texts::Texts,
    ui::lock,
};

/// How wide the panel would like to be, in points.
const WIDTH: f32 = 440.0;

/// What the buttons take of its height, about, in points.
const BUTTONS: f32 = 95.0;

/// What its frame takes of its width and height, in points.
const FRAME: f32 = 16.0;

/// A question on the screen.
pub(crate) struct Open {
    pub(crate) asked: Asked,
    /// Where it is drawn, once it is.
    pub(crate) window: Option<ViewportId>,
    liveness: Liveness,
    /// As of the last pass.
    size: Vec2,
    /// Long names are shown whole.
    whole: bool,
    /// The focus goes to the first button, when that is drawn.
    reach: bool,
    /// Whether one of its buttons had the focus in the last pass.
    focused: bool,
    /// What had the focus before the user came here by keyboard.
    before: Option<Id>,
}

/// What the user said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Answer(Answer),
    Later,
}

impl Open {
    pub(crate) fn new(asked: Asked) -> Self {
        Self {
            asked,
            window: None,
            liveness: Liveness::default(),
            size: vec2(WIDTH, 2.0 * BUTTONS),
            whole: false,
            reach: false,
            focused: false,
            before: None,
        }
    }

    /// The user wants to answer it by keyboard.
    pub(crate) fn reach(&mut self, ctx: &Context) {
        if !self.focused {
            self.before = ctx.memory(|memory| memory.focused());
        }
        self.reach = true;
    }

    /// It is over: who came here by keyboard goes back.
    pub(crate) fn leave(&self, ctx: &Context) {
        if let Some(before) = self.before.filter(|_| self.focused) {
            ctx.memory_mut(|memory| memory.request_focus(before));
        }
    }

    /// Draws it, and says what the user said, if that counts.
    pub(crate) fn draw(
        &mut self,
        ui: &mut Ui,
        texts: &Texts,
        pressed: &Pressed,
        now: f64,
    ) -> Option<Verdict> {
        let ctx = ui.ctx().clone();
        let window = ctx.content_rect();
        let place = place(window, self.size, self.about(&ctx));
        let focused = ctx.input(|input| input.focused);
        if ctx.input(|input| input.pointer.any_pressed()) {
            self.liveness.pressed(now);
        }
        let dead = self.liveness.dead_for(now).is_some();
        // Above whatever the app shows, its modal dialogs too: it is about the app as a whole.
        let area = Area::new(Id::unique("agent consent question"))
            .order(Order::Tooltip)
            .movable(false)
            .fade_in(false)
            .constrain_to(window)
            .fixed_pos(place.pos)
            .role(Role::AlertDialog)
            .accessible_name(self.asked.heading().plain_full());
        let mut said = None;
        let shown = area.show(&ctx, |ui| {
            let details = self.asked.details().iter().map(Text::plain_full);
            let description = details.collect::<Vec<_>>().join("\n");
            ctx.accesskit_node_builder(ui.unique_id(), |node| {
                node.set_description(description);
                // It takes no focus, so a screen reader is told of it.
                node.set_live(Live::Assertive);
                node.set_bounds(bounds(Rect::from_min_size(place.pos, self.size)));
            });
            // An area is else no larger than it was.
            ui.set_max_size(place.most);
            let edge = Stroke::new(1.5, ui.visuals().hyperlink_color);
            Frame::popup(ui.style()).stroke(edge).show(ui, |ui| {
                ui.set_width(WIDTH.min(place.most.x - FRAME).max(0.0));
                let most = (place.most.y - FRAME).max(0.0);
                let all = ScrollArea::vertical().id_salt("all").max_height(most);
                said = all
                    .show(ui, |ui| self.contents(ui, texts, pressed, most, dead))
                    .inner;
            });
        });
        let panel = shown.response.rect;
        self.size = panel.size();
        self.liveness.look(
            Seen {
                panel,
                window,
                on_screen: ctx.input(|input| input.viewport().outer_rect),
                focused,
            },
            now,
        );
        if let Some(left) = self.liveness.dead_for(now) {
            ctx.request_repaint_after_secs(left as f32 + 0.01);
        }
        said.filter(|(_, how)| self.counts(*how, now))
            .map(|(verdict, _)| verdict)
    }

    fn contents(
        &mut self,
        ui: &mut Ui,
        texts: &Texts,
        pressed: &Pressed,
        most: f32,
        dead: bool,
    ) -> Option<(Verdict, How)> {
        // The words give way first: the buttons are to be seen.
        let words_have = (most - BUTTONS).max(40.0);
        ScrollArea::vertical()
            .max_height(words_have)
            .show(ui, |ui| {
                words(ui, self.asked.heading(), self.whole, TextStyle::Heading);
                for text in self.asked.details() {
                    words(ui, text, self.whole, TextStyle::Body);
                }
            });
        if self.is_cut() {
            let label = match self.whole {
                true => &texts.show_less,
                false => &texts.show_all,
            };
            if ui.small_button(label).clicked() {
                self.whole = !self.whole;
            }
        }
        ui.add_space(4.0);
        let said = self.buttons(ui, texts, pressed, dead);
        let Shortcuts { answer, .. } = *lock(&pressed.shortcuts);
        if let Some(shortcut) = answer {
            let keys = ui.ctx().format_shortcut(&shortcut);
            let hint = Texts::fill(&texts.answer_by_keyboard, "shortcut", &keys);
            ui.add(Label::new(egui::RichText::new(hint).weak()).selectable(false));
        }
        said
    }

    /// Where what it asks about is, in this window.
    fn about(&self, ctx: &Context) -> Option<Rect> {
        let Kind::Confirm { node } = self.asked.kind() else {
            return None;
        };
        let (window, rect) = agent_egui::drawn_at(ctx, node)?;
        (window == ctx.viewport_id()).then_some(rect)
    }

    fn is_cut(&self) -> bool {
        let texts = [self.asked.heading()].into_iter();
        let pieces = texts.chain(self.asked.details()).flat_map(|it| &it.pieces);
        pieces
            .into_iter()
            .any(|piece| matches!(piece, Piece::Theirs(theirs) if theirs.full.is_some()))
    }

    fn buttons(
        &mut self,
        ui: &mut Ui,
        texts: &Texts,
        pressed: &Pressed,
        dead: bool,
    ) -> Option<(Verdict, How)> {
        let mut said = None;
        let had_focus = std::mem::take(&mut self.focused);
        ui.horizontal_wrapped(|ui| {
            if dead {
                ui.multiply_opacity(0.5);
            }
            let answers = self.asked.choices().iter();
            let choices =
                answers.map(|choice| (choice.label.as_str(), Verdict::Answer(choice.answer)));
            let later = (texts.decide_later.as_str(), Verdict::Later);
            for (label, verdict) in choices.chain([later]) {
                let button = ui.add(Button::new(label));
                if dead {
                    ui.ctx().accesskit_node_builder(button.id, |node| {
                        node.set_disabled();
                    });
                }
                if std::mem::take(&mut self.reach) {
                    button.request_focus();
                }
                self.focused |= button.has_focus();
                if let Some(how) = How::clicked(&button, pressed) {
                    said = Some((verdict, how));
                }
            }
        });
        // egui takes the focus away at this key, before anything is drawn.
        if had_focus && is_pressed(ui.ctx(), pressed, Key::Escape) {
            said = said.or(Some((Verdict::Later, How::Key)));
        }
        said
    }

    /// Whether a press counts: it was made at what has been on the screen for a while.
    fn counts(&self, how: How, now: f64) -> bool {
        match how {
            How::Pointer => self.liveness.takes_click(now),
            How::Key | How::Reader => self.liveness.dead_for(now).is_none(),
        }
    }
}

/// By what a person pressed a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Pointer,
    Key,
    /// A screen reader, or another aid.
    Reader,
}

impl How {
    fn clicked(button: &Response, pressed: &Pressed) -> Option<Self> {
        if !button.clicked() {
            return None;
        }
        let ctx = &button.ctx;
        if pressed.by_reader(ctx, button.id) {
            return Some(Self::Reader);
        }
        if pressed.released(ctx) {
            return Some(Self::Pointer);
        }
        let key = [Key::Enter, Key::Space]
            .into_iter()
            .any(|key| is_pressed(ctx, pressed, key));
        (button.has_focus() && key).then_some(Self::Key)
    }
}

/// Whether the person has pressed this key just now, and not only holds it: then it was pressed
/// for something else.
fn is_pressed(ctx: &Context, pressed: &Pressed, wanted: Key) -> bool {
    let down = |event: &Event| matches!(event, Event::Key { key, pressed: true, repeat: false, .. } if *key == wanted);
    pressed.key(ctx, wanted) && ctx.input(|input| input.events.iter().any(down))
}

/// Words of ours, with those of others set apart: in another typeface, on another ground, in
/// quotes that they can't end.
fn words(ui: &mut Ui, text: &Text, whole: bool, style: TextStyle) {
    let visuals = ui.visuals();
    let ours = TextFormat {
        font_id: style.resolve(ui.style()),
        color: match style {
            TextStyle::Heading => visuals.strong_text_color(),
            _ => visuals.text_color(),
        },
        ..TextFormat::default()
    };
    let theirs = TextFormat {
        font_id: FontId::monospace(ours.font_id.size * 0.9),
        color: visuals.strong_text_color(),
        background: visuals.code_bg_color,
        // Else it lies over what follows.
        expand_bg: 0.0,
        ..TextFormat::default()
    };
    let mut job = LayoutJob::default();
    for piece in &text.pieces {
        match piece {
            Piece::Ours(words) => job.append(words, 0.0, ours.clone()),
            Piece::Theirs(words) => {
                let shown = match &words.full {
                    Some(full) if whole => full,
                    _ => &words.short,
                };
                job.append(&format!("“{shown}”"), 0.0, theirs.clone());
            }
        }
    }
    ui.add(Label::new(job).wrap().selectable(false));
}

fn bounds(rect: Rect) -> egui::accesskit::Rect {
    egui::accesskit::Rect {
        x0: rect.min.x.into(),
        y0: rect.min.y.into(),
        x1: rect.max.x.into(),
        y1: rect.max.y.into(),
    }
}

/// Something that the user should know. Answers whether it was read.
pub(crate) fn note(ui: &mut Ui, note: &Text, texts: &Texts) -> bool {
    let ctx = ui.ctx().clone();
    let window = ctx.content_rect();
    let area = Area::new(Id::unique("agent consent note"))
        .order(Order::Foreground)
        .movable(false)
        .fade_in(false)
        .anchor(egui::Align2::RIGHT_TOP, vec2(-12.0, 12.0))
        .role(Role::Alert)
        .accessible_name(note.plain_full());
    let shown = area.show(&ctx, |ui| {
        ctx.accesskit_node_builder(ui.unique_id(), |node| node.set_live(Live::Polite));
        let frame = Frame::popup(ui.style()).show(ui, |ui| {
            ui.set_width(300.0_f32.min(window.width() - 40.0).max(0.0));
            words(ui, note, true, TextStyle::Body);
            ui.button(&texts.understood).clicked()
        });
        frame.inner
    });
    shown.inner
}
