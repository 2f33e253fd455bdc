//! The words that a case may use: the form's own, and the wire's. Cases are written before what
//! they promise is built, so the wire's words are listed here in full and not taken from the
//! table of what is built.

/// The backends that a case may be skipped on.
pub const BACKENDS: &[&str] = &["headless", "egui", "gtk", "appkit", "slint"];

pub(super) const FOLDERS: &[&str] = &[
    "describe",
    "act",
    "text",
    "observe",
    "consent",
    "wire",
    "lifecycle",
    "secrets",
];

/// A verb, what it takes (`window` and `timeout_ms` go with every one), and what it must have.
pub(super) struct VerbForm {
    pub(super) name: &'static str,
    pub(super) takes: &'static [&'static str],
    pub(super) needs: &'static [&'static str],
}

const fn verb(
    name: &'static str,
    takes: &'static [&'static str],
    needs: &'static [&'static str],
) -> VerbForm {
    VerbForm { name, takes, needs }
}

pub(super) const VERBS: &[VerbForm] = &[
    verb(
        "describe_ui",
        &["mode", "root", "depth", "limit", "include", "since"],
        &[],
    ),
    verb("get_text", &["id", "from", "limit"], &["id"]),
    verb("click", &["id"], &["id"]),
    verb(
        "set_text",
        &["id", "value", "base_version", "from", "to"],
        &["id", "value", "base_version"],
    ),
    verb("scroll_to", &["id", "key"], &["id"]),
    verb("focus", &["id"], &["id"]),
    verb("submit", &["id"], &["id"]),
    verb("select", &["id"], &["id"]),
    verb("set_checked", &["id", "checked"], &["id", "checked"]),
    verb("set_value", &["id", "value"], &["id", "value"]),
    verb("expand", &["id"], &["id"]),
    verb("collapse", &["id"], &["id"]),
    verb(
        "subscribe",
        &["node", "verb", "role", "from", "queue", "push"],
        &[],
    ),
    verb(
        "poll_events",
        &["subscription", "max", "wait_ms"],
        &["subscription"],
    ),
    verb("unsubscribe", &["subscription"], &["subscription"]),
    verb("wait_for", &["id", "until", "value"], &["until"]),
    verb("hello", &["name"], &[]),
];

pub(super) fn verb_form(name: &str) -> Option<&'static VerbForm> {
    VERBS.iter().find(|verb| verb.name == name)
}

/// Methods that are no verbs.
pub(super) const OTHER_METHODS: &[&str] =
    &["initialize", "server/discover", "tools/list", "tools/call"];

pub(super) const UNTIL: &[&str] = &[
    "exists",
    "gone",
    "actionable",
    "text_is",
    "text_contains",
    "state",
    "revision_after",
];

pub(super) const OUTCOMES: &[&str] = &[
    "allowed",
    "not_found",
    "not_exposed",
    "not_actionable",
    "version_conflict",
    "ambiguous",
    "needs_confirmation",
];

pub(super) const WHY: &[&str] = &[
    "ceiling",
    "disabled",
    "hidden",
    "read_only",
    "blocked_by_modal",
    "secret",
    "not_offered",
];

/// Codes and their reasons; the last is MCP's own.
pub(super) const ERRORS: &[(i64, &str)] = &[
    (-32700, "parse_error"),
    (-32600, "invalid_request"),
    (-32601, "method_not_found"),
    (-32602, "invalid_params"),
    (-32603, "internal"),
    (-31001, "consent_denied"),
    (-31002, "consent_pending"),
    (-31003, "not_armed"),
    (-31004, "app_busy"),
    (-31005, "window_gone"),
    (-31006, "limit"),
    (-31007, "unsupported"),
    (-32022, ""),
];

pub(super) const EVENTS: &[&str] = &[
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

pub(super) const STATES: &[&str] = &[
    "disabled",
    "checked",
    "mixed",
    "pressed",
    "selected",
    "expanded",
    "collapsed",
    "focused",
    "offscreen",
    "read_only",
    "secret",
    "busy",
    "modal",
    "blocked",
    "duplicate",
    "relayed",
];

pub(super) const INCLUDE: &[&str] = &["value", "state", "actions", "frame"];

pub(super) const MATCHERS: &[&str] = &[
    "$contains",
    "$exactly",
    "$absent",
    "$any",
    "$type",
    "$len",
    "$not",
    "$gt",
    "$one_of",
    "$each",
    "$includes",
    "$repeat",
];

pub(super) const TYPES: &[&str] = &["string", "number", "boolean", "array", "object", "null"];
