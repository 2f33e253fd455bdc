//! What the person pressed, as it came from the window: the two shortcuts, taken before the app or
//! any widget sees them, and what may press a button of a question. What an agent does, or the app
//! in its name, is put in later, beside a widget, and is none of it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use egui::{
    Context, Event, Id, Key, KeyboardShortcut, Plugin, PointerButton, RawInput, ViewportId,
    accesskit::{Action, NodeId},
};

use crate::ui::lock;

/// What was pressed and not yet acted on.
#[derive(Default)]
pub(crate) struct Pressed {
    /// There is a question to be reached.
    pub(crate) open: AtomicBool,
    pub(crate) answer: AtomicBool,
    pub(crate) stop_all: AtomicBool,
    pub(crate) shortcuts: Mutex<Shortcuts>,
    own: Mutex<HashMap<ViewportId, Own>>,
}

/// What came from the person in the pass of a window.
#[derive(Debug, Default)]
struct Own {
    keys: Vec<Key>,
    released: bool,
    readers: Vec<NodeId>,
}

/// The keys that press or leave a button.
const KEYS: [Key; 3] = [Key::Enter, Key::Space, Key::Escape];

impl Pressed {
    /// Whether this key was pressed in this pass.
    pub(crate) fn key(&self, ctx: &Context, key: Key) -> bool {
        self.own(ctx, |own| own.keys.contains(&key))
    }

    /// Whether the pointer's main button was let go in this pass.
    pub(crate) fn released(&self, ctx: &Context) -> bool {
        self.own(ctx, |own| own.released)
    }

    /// Whether a screen reader, or another aid, pressed this widget in this pass.
    pub(crate) fn by_reader(&self, ctx: &Context, widget: Id) -> bool {
        self.own(ctx, |own| own.readers.contains(&widget.accesskit_id()))
    }

    fn own(&self, ctx: &Context, is: impl Fn(&Own) -> bool) -> bool {
        lock(&self.own).get(&ctx.viewport_id()).is_some_and(is)
    }
}

/// Which they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shortcuts {
    pub(crate) answer: Option<KeyboardShortcut>,
    pub(crate) stop_all: Option<KeyboardShortcut>,
}

pub(crate) struct Keys(pub(crate) Arc<Pressed>);

impl Plugin for Keys {
    fn debug_name(&self) -> &'static str {
        "agent consent"
    }

    fn input_hook(&mut self, _: &Context, input: &mut RawInput) {
        let Shortcuts { answer, stop_all } = *lock(&self.0.shortcuts);
        let open = self.0.open.load(Ordering::Acquire);
        let mut all = lock(&self.0.own);
        all.retain(|window, _| input.viewports.contains_key(window));
        let own = all.entry(input.viewport_id).or_default();
        *own = Own::default();
        if open {
            input.events.iter().for_each(|event| own.note(event));
        }
        drop(all);
        input.events.retain(|event| {
            if is(event, stop_all) {
                self.0.stop_all.store(true, Ordering::Release);
                false
            } else if open && is(event, answer) {
                self.0.answer.store(true, Ordering::Release);
                false
            } else {
                true
            }
        });
    }
}

impl Own {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Key {
                key, pressed: true, ..
            } if KEYS.contains(key) => self.keys.push(*key),
            Event::PointerButton {
                button: PointerButton::Primary,
                pressed: false,
                ..
            } => self.released = true,
            Event::AccessKitActionRequest(request) if request.action == Action::Click => {
                self.readers.push(request.target_node);
            }
            _ => {}
        }
    }
}

fn is(event: &Event, shortcut: Option<KeyboardShortcut>) -> bool {
    let Event::Key {
        key,
        pressed: true,
        repeat: false,
        modifiers,
        ..
    } = event
    else {
        return false;
    };
    shortcut.is_some_and(|shortcut| {
        *key == shortcut.logical_key && modifiers.matches_exact(shortcut.modifiers)
    })
}
