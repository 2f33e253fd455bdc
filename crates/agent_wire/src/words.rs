//! The closed vocabularies of the wire: what parameters may say, and what replies say.

use serde::{Deserialize, Serialize};

/// `mode` of `describe_ui`: the exposed nodes only. The default.
pub const MODE_EXPOSED: &str = "exposed";
/// `mode` of `describe_ui`: the whole tree, where the app has armed it.
pub const MODE_FULL: &str = "full";
/// Every value of `mode`.
pub const MODES: &[&str] = &[MODE_EXPOSED, MODE_FULL];

/// In `include` of `describe_ui`: [`Node::value`](crate::Node::value) and its version.
pub const INCLUDE_VALUE: &str = "value";
/// In `include` of `describe_ui`: [`Node::state`](crate::Node::state).
pub const INCLUDE_STATE: &str = "state";
/// In `include` of `describe_ui`: [`Node::actions`](crate::Node::actions).
pub const INCLUDE_ACTIONS: &str = "actions";
/// In `include` of `describe_ui`: [`Node::frame`](crate::Node::frame).
pub const INCLUDE_FRAME: &str = "frame";
/// Every word that `include` may hold.
pub const INCLUDES: &[&str] = &[INCLUDE_VALUE, INCLUDE_STATE, INCLUDE_ACTIONS, INCLUDE_FRAME];

/// In `hide` of `inspector.screenshot`: what is excluded or secret only. The default.
pub const HIDE_SECRETS: &str = "secrets";
/// In `hide` of `inspector.screenshot`: whatever is not exposed, too.
pub const HIDE_UNEXPOSED: &str = "unexposed";
/// Every value of `hide`.
pub const HIDES: &[&str] = &[HIDE_SECRETS, HIDE_UNEXPOSED];

/// An enum whose variants each have one spelling on the wire, written once.
macro_rules! vocabulary {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every word, in the order of the protocol's table.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The word as the wire spells it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use vocabulary;

vocabulary! {
    /// What an action, or a look at a node, came to. Not an error: the call worked.
    Outcome {
        /// Authorised, performed, and the frame that took it is over.
        Allowed = "allowed",
        /// No such id now, or one that this client may not know of.
        NotFound = "not_found",
        /// The node is there and not exposed, and the client may know that.
        NotExposed = "not_exposed",
        /// The ceiling or the node's state forbids it; [`Why`] says which.
        NotActionable = "not_actionable",
        /// The text is not the one that was read; the reply has the current version.
        VersionConflict = "version_conflict",
        /// More than one node claims this id.
        Ambiguous = "ambiguous",
        /// The user is asked each time, and has not said yes.
        NeedsConfirmation = "needs_confirmation",
    }
}

vocabulary! {
    /// Why a node is [`Outcome::NotActionable`].
    Why {
        /// The developer never permits this action on this node.
        Ceiling = "ceiling",
        /// The node, or one that it is inside of, is disabled.
        Disabled = "disabled",
        /// The node, or one that it is inside of, is hidden.
        Hidden = "hidden",
        /// Its text may be read and not written.
        ReadOnly = "read_only",
        /// A modal dialog stands before it.
        BlockedByModal = "blocked_by_modal",
        /// Its text is secret.
        Secret = "secret",
        /// A widget of this kind has no such action.
        NotOffered = "not_offered",
    }
}

/// The conditions of `wait_for`.
pub const UNTIL: &[&str] = &[
    "exists",
    "gone",
    "actionable",
    "text_is",
    "text_contains",
    "state",
    "revision_after",
];

/// What events tell of.
pub const EVENTS: &[&str] = &[
    "clicked",
    "changed",
    "submitted",
    "selected",
    "toggled",
    "opened",
    "closed",
    "enabled",
    "disabled",
    "added",
    "removed",
    "appeared",
    "disappeared",
    "window_opened",
    "window_closed",
    "ui_changed",
];
