//! The rows.

use super::{Param, ParamKind, Timeout, Verb};
use crate::{limits, words};

/// What most rows that only look have in common.
pub(crate) const LOOKING: Verb = Verb {
    name: "",
    summary: "",
    params: &[],
    ranges: &[],
    timeout: Timeout::UI_THREAD,
    of_window: true,
    acting: false,
    read_only: true,
    idempotent: true,
    destructive: false,
    result: "",
};

/// What most rows that act have in common.
const ACTING: Verb = Verb {
    acting: true,
    read_only: false,
    result: "`{outcome, revision, events}`",
    ..LOOKING
};

/// The node that most verbs are about.
const ID: Param = required("id", ParamKind::Id, "the node's id");

const ANY_LENGTH: ParamKind = ParamKind::Integer {
    min: 0,
    max: u64::MAX,
};

/// Every verb that is built, in the order in which clients are told of them.
pub static VERBS: &[Verb] = &[
    Verb {
        name: "describe_ui",
        summary: "Lists what the app shows: nodes with id, role, name and whether they can be \
                  acted on. Call this first; the other tools take its ids.",
        params: &[
            optional(
                "mode",
                ParamKind::OneOf(words::MODES),
                "`full` is the whole tree, if the app has armed it",
            ),
            optional("root", ParamKind::Id, "only this node and what is in it"),
            optional("depth", ANY_LENGTH, "levels below the root"),
            optional("since", ANY_LENGTH, "only what changed since"),
            optional(
                "limit",
                ParamKind::Integer {
                    min: 1,
                    max: limits::NODES as u64,
                },
                "nodes at most (500)",
            ),
            optional(
                "include",
                ParamKind::ListOf(words::INCLUDES),
                "what else to tell",
            ),
        ],
        result: "`{revision, complete, nodes}`",
        ..LOOKING
    },
    Verb {
        name: "get_text",
        summary: "Reads a node's whole text and the version that set_text asks for.",
        params: &[
            ID,
            optional("from", ANY_LENGTH, "first character (0)"),
            optional(
                "limit",
                ParamKind::Integer {
                    min: 1,
                    max: u64::MAX,
                },
                "characters at most",
            ),
        ],
        result: "`{text, version, length, from?, more?}`",
        ..LOOKING
    },
    Verb {
        name: "click",
        summary: "Presses a button, link or menu item and tells what came of it.",
        params: &[ID],
        idempotent: false,
        destructive: true,
        ..ACTING
    },
    Verb {
        name: "set_text",
        summary: "Replaces a field's text, or the range from..to. Fails if the text has changed \
                  since base_version was read.",
        params: &[
            ID,
            required("value", ParamKind::Text, "the new text"),
            required("base_version", ANY_LENGTH, "the version that you read"),
            optional("from", ANY_LENGTH, "range: first character"),
            optional("to", ANY_LENGTH, "range: the character behind it"),
        ],
        ranges: &[("from", "to")],
        destructive: true,
        result: "`{outcome, version, text?, revision, events}`",
        ..ACTING
    },
    Verb {
        name: "scroll_to",
        summary: "Scrolls a node into view; in a long list, the row with this key.",
        params: &[
            ID,
            optional(
                "key",
                ParamKind::ShortText,
                "the row's key, id being the list",
            ),
        ],
        result: "`{outcome, revision}`",
        ..ACTING
    },
    Verb {
        name: "focus",
        summary: "Moves the keyboard focus to a node.",
        params: &[ID],
        ..ACTING
    },
    Verb {
        name: "submit",
        summary: "Presses Enter in a field.",
        params: &[ID],
        destructive: true,
        ..ACTING
    },
    Verb {
        name: "select",
        summary: "Selects an option, row, tab or radio button.",
        params: &[ID],
        ..ACTING
    },
    Verb {
        name: "set_checked",
        summary: "Switches a checkbox, switch or toggle button on or off.",
        params: &[ID, required("checked", ParamKind::Bool, "on or off")],
        ..ACTING
    },
    Verb {
        name: "set_value",
        summary: "Sets a slider or number field.",
        params: &[ID, required("value", ParamKind::Number, "the number")],
        ..ACTING
    },
    Verb {
        name: "expand",
        summary: "Opens an expander, tree item or combo box.",
        params: &[ID],
        ..ACTING
    },
    Verb {
        name: "collapse",
        summary: "Closes an expander, tree item or combo box.",
        params: &[ID],
        ..ACTING
    },
    Verb {
        name: "subscribe",
        summary: "Collects events; poll_events fetches them. All filters must match.",
        params: &[
            optional("node", ParamKind::Id, "this node and below"),
            optional("verb", ParamKind::OneOf(words::EVENTS), "what happened"),
            optional("role", ParamKind::ShortText, "of nodes of this role"),
            optional("from", ANY_LENGTH, "replay from this seq"),
            optional(
                "queue",
                ParamKind::Integer {
                    min: 1,
                    max: limits::SUBSCRIPTION_QUEUE as u64,
                },
                "events kept (256)",
            ),
            optional("push", ParamKind::Bool, "also as notifications"),
        ],
        idempotent: false,
        result: "`{subscription, revision, gap?}`",
        ..LOOKING
    },
    Verb {
        name: "poll_events",
        summary: "Fetches what a subscription has collected, oldest first.",
        params: &[
            required("subscription", ParamKind::Id, "from subscribe"),
            optional(
                "max",
                ParamKind::Integer {
                    min: 1,
                    max: limits::SUBSCRIPTION_QUEUE as u64,
                },
                "events at most",
            ),
            optional(
                "wait_ms",
                ParamKind::Integer {
                    min: 0,
                    max: 30_000,
                },
                "wait for the first (0)",
            ),
        ],
        idempotent: false,
        result: "`{events, dropped, next}`",
        ..LOOKING
    },
    Verb {
        name: "unsubscribe",
        summary: "Ends a subscription.",
        params: &[required("subscription", ParamKind::Id, "from subscribe")],
        result: "`{}`",
        ..LOOKING
    },
    Verb {
        name: "wait_for",
        summary: "Waits until a condition holds, and tells whether it did.",
        params: &[
            required("until", ParamKind::OneOf(words::UNTIL), "the condition"),
            optional("id", ParamKind::Id, "the node's id; not for revision_after"),
            optional("value", ParamKind::UntilValue, "text, state or revision"),
        ],
        timeout: Timeout::CONDITION,
        result: "`{met, revision}`",
        ..LOOKING
    },
    Verb {
        name: "hello",
        summary: "Tells which app this is and what it can do.",
        params: &[optional(
            "name",
            ParamKind::ShortText,
            "who you are, to be shown to the user",
        )],
        result: "`{app, name, pid, protocol, verbs, armed}`",
        ..LOOKING
    },
];

pub(crate) const fn required(name: &'static str, kind: ParamKind, doc: &'static str) -> Param {
    Param {
        name,
        kind,
        required: true,
        doc,
    }
}

pub(crate) const fn optional(name: &'static str, kind: ParamKind, doc: &'static str) -> Param {
    Param {
        required: false,
        ..required(name, kind, doc)
    }
}
