//! What a person is in the middle of in a window. Agents act there when it is over.

use egui::{Context, Event, Id, ImeEvent, RawInput, ViewportId};

/// A person at one window.
#[derive(Debug, Default)]
pub(crate) struct Person {
    /// A text is being composed by an input method; in which field, once that is known.
    composing: Option<Option<Id>>,
    busy: bool,
}

impl Person {
    /// A pass begins with this input. What ends in it is not over before it ends.
    pub(crate) fn begin(&mut self, ctx: &Context, raw: &RawInput) {
        self.busy = self.composing.is_some() || is_dragging(ctx, raw.viewport_id);
        for event in &raw.events {
            match event {
                Event::Ime(ImeEvent::Preedit { text, .. }) if !text.is_empty() => {
                    self.composing.get_or_insert_default();
                    self.busy = true;
                }
                Event::Ime(ImeEvent::Preedit { .. } | ImeEvent::Commit(_)) => {
                    self.composing = None;
                    self.busy = true;
                }
                Event::PointerButton { .. } => self.busy = true,
                _ => {}
            }
        }
    }

    /// The pass is over.
    pub(crate) fn end(&mut self, ctx: &Context, id: ViewportId) {
        let focused = ctx.memory(|memory| memory.focused());
        // Not every system tells that it ends when the field loses the focus.
        self.composing = match self.composing {
            Some(None) if focused.is_some() => Some(focused),
            Some(field) if field.is_some() && field == focused => Some(field),
            _ => None,
        };
        self.busy = self.composing.is_some() || is_dragging(ctx, id);
    }

    /// Whether agents have to wait.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }
}

fn is_dragging(ctx: &Context, id: ViewportId) -> bool {
    ctx.input_for(id, |input| input.pointer.any_down())
}
