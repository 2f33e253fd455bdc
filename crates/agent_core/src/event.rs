//! What happened, in the words of the wire.

use std::sync::Arc;

use crate::role::Role;

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
    /// The exposed node that it is about.
    pub source: Arc<str>,
    /// What happened.
    pub verb: EventVerb,
    /// What the node is.
    pub role: Role,
    /// The revision that it led to.
    pub revision: u64,
}
