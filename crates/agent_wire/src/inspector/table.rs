//! The rows.

use crate::{
    limits,
    verbs::{LOOKING, Param, ParamKind, Verb, optional, required},
    words,
};

/// What all rows have in common.
const INSPECTING: Verb = Verb {
    of_window: false,
    ..LOOKING
};

/// A node's handle: a number that names it for the run, exposed or not.
const HANDLE: ParamKind = ParamKind::Integer {
    min: 0,
    max: u64::MAX,
};

const NODE: Param = required("node", HANDLE, "the node's handle");

/// Every method that is built.
pub static METHODS: &[Verb] = &[
    Verb {
        name: "inspector.tree",
        summary: "The whole live tree but for what is excluded, or what changed in it. A reply \
                  with `next` is a page: ask the same with `from` until there is none; \
                  the `revision` of the first page is what `since` takes after that.",
        params: &[
            optional(
                "since",
                HANDLE,
                "only what changed since this revision, which an earlier reply gave",
            ),
            optional(
                "from",
                HANDLE,
                "go on with this, which an earlier reply gave as `next`; \
                 the app is not looked at anew",
            ),
            optional(
                "limit",
                ParamKind::Integer {
                    min: 1,
                    max: limits::INSPECTOR_NODES as u64,
                },
                "nodes on a page at most",
            ),
        ],
        result: "`{revision, complete, nodes, next?}` or \
                 `{revision, complete, since, changed, removed, next?}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.node",
        summary: "Every property of a node, under the toolkit's own names, with type and value.",
        params: &[NODE],
        result: "`{node, properties}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.highlight",
        summary: "Draws over a node, without entering the tree, the layout or what can be hit; \
                  without a node, over none any more.",
        params: &[optional("node", HANDLE, "the node's handle")],
        read_only: false,
        result: "`{}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.pick",
        summary: "The node under the pointer.",
        result: "`{node?}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.screenshot",
        summary: "A picture of a node, or of the first window, with what is excluded or secret \
                  blacked out.",
        params: &[
            optional("node", HANDLE, "the node's handle"),
            optional(
                "hide",
                ParamKind::OneOf(words::HIDES),
                "`unexposed` blacks out whatever is not exposed, too",
            ),
        ],
        result: "`{png, width, height, scale, from}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.agent_view",
        summary: "What agents see of a node and why, and what each verb would be answered now.",
        params: &[NODE],
        result: "`{node, exposed, place, id?, id_from, ceiling, narrowed, marks, verbs}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.lint",
        summary: "What is likely wrong in how widgets are tagged.",
        result: "`{findings, complete}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.log",
        summary: "What happened, as agents that listen would hear it, and what agents asked and \
                  were answered, oldest first.",
        params: &[
            optional("after", HANDLE, "only what came after this entry"),
            optional(
                "limit",
                ParamKind::Integer {
                    min: 1,
                    max: limits::INSPECTOR_LOG as u64,
                },
                "entries at most",
            ),
        ],
        result: "`{entries, last, dropped}`",
        ..INSPECTING
    },
    Verb {
        name: "inspector.consent",
        summary: "What the app's user has decided about agents, to read: who decides, the standing \
                  mode, the rules that are remembered.",
        result: "`{by, mode?, rules, complete}`",
        ..INSPECTING
    },
];
