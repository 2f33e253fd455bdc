//! What happened, in the words of the wire.

use std::{collections::HashMap, sync::Arc};

use crate::{id::MAX_ID_BYTES, role::Role};

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// What happened to a node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventVerb { $($(#[$doc])* $name,)* }

        impl EventVerb {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

events! {
    /// A button, link or menu item was pressed.
    Clicked = "clicked";
    /// Its name, text or value changed.
    Changed = "changed";
    /// Enter was pressed in it.
    Submitted = "submitted";
    /// It became selected.
    Selected = "selected";
    /// It was switched.
    Toggled = "toggled";
    /// It opened.
    Opened = "opened";
    /// It closed.
    Closed = "closed";
    /// It can be used again.
    Enabled = "enabled";
    /// It can't be used.
    Disabled = "disabled";
    /// It is new.
    Added = "added";
    /// It is gone.
    Removed = "removed";
    /// It is shown again.
    Appeared = "appeared";
    /// It is hidden.
    Disappeared = "disappeared";
    /// The window is new.
    WindowOpened = "window_opened";
    /// The window is gone.
    WindowClosed = "window_closed";
    /// Something that an agent can see in the window changed.
    UiChanged = "ui_changed";
}

/// One event: never a text in it (rule 8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number in the surface's log, which counts up by one; 0 before it is there.
    pub seq: u64,
    /// The exposed node that it is about.
    pub source: Arc<str>,
    /// The exposed nodes around it, outermost first: a subscription on any of them hears it.
    pub around: Arc<[Arc<str>]>,
    /// What happened.
    pub verb: EventVerb,
    /// What the node is.
    pub role: Role,
    /// The revision that it led to.
    pub revision: u64,
    /// The action that brought it about, if it was one of an agent's. Only who asked for that is
    /// told.
    pub cause: Option<Cause>,
}

/// A request of an agent's, as a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The connection that it came on.
    pub connection: u64,
    /// Its name there.
    pub request: Arc<str>,
}

/// Says of these events that an action brought them about. That something changed in a window is
/// nobody's: one such event may stand for several.
pub fn caused(events: &mut [Event], cause: Option<&Cause>) {
    for event in events {
        if event.verb != EventVerb::UiChanged {
            event.cause = cause.cloned();
        }
    }
}

/// The app's own events on their way to the UI thread: bounded, so that an app that raises them
/// faster than it draws piles nothing up without end.
#[derive(Debug, Default)]
pub struct Emitted(HashMap<(String, EventVerb), usize>);

impl Emitted {
    /// How many wait at most; beyond this the newest are lost. What is exposed isn't known before
    /// the UI thread looks, so there is room for more than any app raises between two looks: what
    /// is not exposed displaces nothing that is.
    pub const MOST: usize = 65_536;

    /// Adds one at the end. One that waits already is not there twice, as it would not be told
    /// twice: whatever an app raises on one node over and over, it is no other's loss.
    pub fn push(&mut self, id: &str, verb: EventVerb) {
        if id.len() > MAX_ID_BYTES || self.0.len() >= Self::MOST {
            return;
        }
        let order = self.0.len();
        self.0.entry((id.to_owned(), verb)).or_insert(order);
    }

    /// Takes them all, as what happened to the nodes that they name; what names none, or an
    /// ambiguous one, is dropped.
    pub fn take<L: crate::LiveTree>(&mut self, live: &L) -> Vec<(L::Key, EventVerb)> {
        let view = crate::View {
            names_unexposed: false,
            window_was_there: false,
        };
        let mut emitted: Vec<_> = std::mem::take(&mut self.0).into_iter().collect();
        emitted.sort_unstable_by_key(|(_, order)| *order);
        emitted
            .into_iter()
            .filter_map(|((id, verb), _)| {
                let target = crate::Target { id, window: None };
                Some((crate::locate(live, &target, view).ok()?, verb))
            })
            .collect()
    }
}
