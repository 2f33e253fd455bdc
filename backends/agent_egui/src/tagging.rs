//! How an app tags its widgets: three spellings of one thing.

use std::borrow::Cow;

use agent_core::{Role, Tag};
use egui::{
    Context, InnerResponse, Response, ScrollArea, Ui, Widget, scroll_area::ScrollAreaOutput,
};

use crate::pass::{self, Spelling, enter, leave};

/// Tags a widget before it is added: `ui.add(egui::TextEdit::singleline(&mut name).agent_id("name-field"))`.
///
/// On the UI thread. Every verb that the widget offers can be performed; whether a client is
/// connected or not, and whether consent was given, the widget looks and behaves as without a
/// tag.
pub trait AgentWidget: Widget + Sized {
    /// Exposes the widget to agents under `id` (see [`Tag::id`]).
    fn agent_id(self, id: impl Into<Cow<'static, str>>) -> Tagged<Self> {
        self.agent(Tag::id(id))
    }

    /// Puts a tag on the widget.
    fn agent(self, tag: impl Into<Tag>) -> Tagged<Self> {
        Tagged {
            widget: self,
            tag: tag.into(),
        }
    }
}

impl<W: Widget> AgentWidget for W {}

/// A widget with a tag, from [`AgentWidget`].
#[must_use = "a tagged widget does nothing until it is added: ui.add(..)"]
pub struct Tagged<W> {
    widget: W,
    tag: Tag,
}

impl<W: Widget> Widget for Tagged<W> {
    fn ui(self, ui: &mut Ui) -> Response {
        around(ui, self.tag, Spelling::Widget, |ui| self.widget.ui(ui))
    }
}

/// Tags what is added by a closure, and groups of widgets. On the UI thread.
pub trait AgentUi {
    /// Tags whatever returns a [`Response`]: `ui.agent("theme", |ui| ui.checkbox(&mut dark, "Dark"))`.
    fn agent(&mut self, tag: impl Into<Tag>, add: impl FnOnce(&mut Ui) -> Response) -> Response;

    /// Tags a group: what the tag says holds for everything added inside, whatever layer,
    /// frame, panel or window that is in. It is drawn as [`Ui::scope`] draws it.
    ///
    /// ```no_run
    /// # use agent_egui::AgentUi; fn f(ui: &mut egui::Ui) {
    /// ui.agent_group("danger", |tag| tag.ceiling([]), |ui| { ui.button("Close account"); });
    /// # }
    /// ```
    fn agent_group<R>(
        &mut self,
        id: impl Into<Cow<'static, str>>,
        tag: impl FnOnce(Tag) -> Tag,
        add: impl FnOnce(&mut Ui) -> R,
    ) -> InnerResponse<R>;

    /// Like [`agent_group`](Self::agent_group), for a tag without an id or with a key: a row of
    /// a list, or a part of the window that is only marked.
    fn agent_tagged<R>(&mut self, tag: Tag, add: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R>;

    /// A tagged list of many rows, of which only those in view are drawn
    /// ([`egui::ScrollArea::show_rows`]). Each row is addressed as `list/key`, and an agent's
    /// `scroll_to` reaches those out of view too: `find` says where the row of a key is.
    fn agent_rows(
        &mut self,
        tag: impl Into<Tag>,
        rows: Rows<'_>,
        add: impl FnMut(&mut Ui, usize) -> Response,
    ) -> ScrollAreaOutput<()>;

    /// Tags the viewport that this is in. Call it in every pass, before the window's widgets are
    /// added. A second tag on a viewport is ignored: a window that is shown embedded in another
    /// ([`egui::ViewportClass::EmbeddedWindow`]) is no window of its own.
    fn agent_window(&mut self, tag: impl Into<Tag>);
}

impl AgentUi for Ui {
    fn agent(&mut self, tag: impl Into<Tag>, add: impl FnOnce(&mut Ui) -> Response) -> Response {
        around(self, tag.into(), Spelling::Closure, add)
    }

    fn agent_group<R>(
        &mut self,
        id: impl Into<Cow<'static, str>>,
        tag: impl FnOnce(Tag) -> Tag,
        add: impl FnOnce(&mut Ui) -> R,
    ) -> InnerResponse<R> {
        self.agent_tagged(tag(Tag::id(id)), add)
    }

    fn agent_tagged<R>(&mut self, tag: Tag, add: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R> {
        self.scope(|ui| {
            let entered = enter(ui, tag, Spelling::Group);
            let inner = guarded(ui, entered.is_some(), add);
            leave(ui, entered, None);
            inner
        })
    }

    fn agent_rows(
        &mut self,
        tag: impl Into<Tag>,
        rows: Rows<'_>,
        mut add: impl FnMut(&mut Ui, usize) -> Response,
    ) -> ScrollAreaOutput<()> {
        let tagged = self.agent_tagged(tag.into(), |ui| {
            let mut area = rows.area;
            if let Some(row) = pass::rows(ui.ctx(), rows.count, rows.find) {
                let pitch = rows.height + ui.spacing().item_spacing.y;
                // One row below the upper edge: how high the area will be is not known yet.
                let above = row.saturating_sub(1);
                area = area.vertical_scroll_offset(above as f32 * pitch);
            }
            area.show_rows(ui, rows.height, rows.count, |ui, shown| {
                for row in shown {
                    let tag = Tag::key((rows.key)(row)).role(Role::ListItem);
                    ui.agent(tag, |ui| add(ui, row));
                }
            })
        });
        tagged.inner
    }

    fn agent_window(&mut self, tag: impl Into<Tag>) {
        let tag = tag.into();
        pass::tag_window(self.ctx(), tag);
    }
}

/// The rows of a list, for [`AgentUi::agent_rows`].
pub struct Rows<'a> {
    /// What they are scrolled in, such as `ScrollArea::vertical()`.
    pub area: ScrollArea,
    /// How many there are.
    pub count: usize,
    /// How high each is, in points.
    pub height: f32,
    /// The key of a row's data: the same for as long as it is the same data, wherever it stands.
    pub key: &'a dyn Fn(usize) -> String,
    /// Which row has this key now.
    pub find: &'a dyn Fn(&str) -> Option<usize>,
}

/// Tags a widget that was added already: `ui.button("Save").agent_id("save")`.
///
/// The widget has run by then, so this is for reading, and for click and focus only; other
/// verbs answer `not_offered`. Tag the widget before it is added for those. On the UI thread.
pub trait AgentResponse: Sized {
    /// Exposes the widget to agents under `id` (see [`Tag::id`]). An agent's click is on the
    /// response that this returns: ask that one whether it was clicked.
    fn agent_id(self, id: impl Into<Cow<'static, str>>) -> Response;
}

impl AgentResponse for Response {
    fn agent_id(mut self, id: impl Into<Cow<'static, str>>) -> Response {
        let ctx = self.ctx.clone();
        pass::chained(&ctx, Tag::id(id), &mut self);
        self
    }
}

fn around(
    ui: &mut Ui,
    tag: Tag,
    spelling: Spelling,
    add: impl FnOnce(&mut Ui) -> Response,
) -> Response {
    let entered = enter(ui, tag, spelling);
    let mut response = guarded(ui, entered.is_some(), add);
    leave(ui, entered, Some(&mut response));
    response
}

fn guarded<R>(ui: &mut Ui, entered: bool, add: impl FnOnce(&mut Ui) -> R) -> R {
    let ctx = ui.ctx().clone();
    let mut unwind = Unwind(entered.then_some(&ctx));
    let inner = add(ui);
    unwind.0 = None;
    inner
}

/// If an app's closure panics and the app goes on, the stack of tags must not stay as it was:
/// what follows would inherit from a tag that is not around it.
struct Unwind<'a>(Option<&'a Context>);

impl Drop for Unwind<'_> {
    fn drop(&mut self) {
        if let Some(ctx) = self.0.take() {
            pass::unwound(ctx);
        }
    }
}
