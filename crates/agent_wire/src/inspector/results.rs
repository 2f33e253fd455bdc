//! Results of the inspector's methods. Fields are left out when there is nothing to say.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{results::Word, words::vocabulary};

/// Result of `inspector.tree`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Of the inspector's own count, which moves when anything in the tree does; no agent's.
    pub revision: u64,
    /// False when these are not all.
    pub complete: bool,
    /// In the order of the tree. What a node is in may be on another page.
    pub nodes: Vec<Arc<Node>>,
    /// What `from` takes for the next page; none: a bound cut it, or nothing is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Result of `inspector.tree` with `since`, where that revision is still known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeChanges {
    /// The revision now.
    pub revision: u64,
    /// False when these are not all, or a bound cut the tree.
    pub complete: bool,
    /// The revision that was asked for.
    pub since: u64,
    /// The nodes that are new or differ, in the order of the tree.
    pub changed: Vec<Arc<Node>>,
    /// The handles of those that are gone: on the first page.
    pub removed: Vec<u64>,
    /// What `from` takes for the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One node of the whole tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its handle.
    pub node: u64,
    /// The handle of what it is in; a window is in nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// Its place among its siblings.
    pub index: usize,
    /// The toolkit's name for its class.
    pub class: String,
    /// The ARIA role.
    pub role: Word,
    /// The accessible name, possibly cut.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its own text where that is another, possibly cut; never a secret one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The id that agents know it by, if it is exposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether it has a tag.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tagged: bool,
    /// Whether an agent that describes the app now is shown it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
    /// States that are not the default; `hidden` among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<Word>,
    /// `[x, y, width, height]` in window points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<[f64; 4]>,
}

/// Result of `inspector.node`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeProperties {
    /// Its handle.
    pub node: u64,
    /// In the toolkit's order.
    pub properties: Vec<Property>,
}

/// One property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Property {
    /// The toolkit's name for it.
    pub name: String,
    /// The toolkit's name for its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it holds: `null` for nothing.
    pub value: Value,
    /// It is secret, and was not read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
}

/// Result of `inspector.highlight`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Highlighted {}

/// Result of `inspector.pick`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picked {
    /// The handle; none if the pointer is over no node, or over one that is excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u64>,
}

/// Result of `inspector.screenshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Screenshot {
    /// The picture, in base64.
    pub png: String,
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// Pixels in a point of the window.
    pub scale: f64,
    /// Where its left upper corner is, in points of the window.
    pub from: [f64; 2],
}

vocabulary! {
    /// Whether agents are shown a node, or why not.
    Exposure {
        /// They are.
        Shown = "shown",
        /// It has no tag.
        NoTag = "no_tag",
        /// Its tag has neither an id nor a key.
        TagWithoutId = "tag_without_id",
        /// It has a key, and nothing around it is exposed.
        KeyWithoutList = "key_without_list",
        /// Its tag says that it is not to be.
        SaidNotTo = "said_not_to",
        /// Its tag can't be what it says.
        Fault = "fault",
        /// It, or something around it, is hidden.
        Hidden = "hidden",
        /// Another node has its id: it is shown, and can't be addressed.
        Duplicate = "duplicate",
    }
}

vocabulary! {
    /// Where a node's id comes from.
    IdSource {
        /// It has none.
        None = "none",
        /// The developer's tag.
        Tag = "tag",
        /// A key from data.
        Key = "key",
    }
}

/// Whether agents are shown a node, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposed {
    /// In a word.
    pub why: Exposure,
    /// In a sentence that says what to do.
    pub text: String,
    /// The handle of the node that the reason is on, where that is another: what hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<u64>,
}

/// Result of `inspector.agent_view`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    /// Its handle.
    pub node: u64,
    /// Whether agents are shown it.
    pub exposed: Exposed,
    /// Its automatic id: its place, as a full description would name it.
    pub place: String,
    /// The id that it is exposed under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where that comes from.
    pub id_from: IdSource,
    /// The key, where the id comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The id of the node that the key stands below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The acting verbs that agents may ever use on it.
    pub ceiling: Vec<Word>,
    /// What took something from that, outermost first.
    pub narrowed: Vec<Narrowed>,
    /// Its marks, and where each begins.
    pub marks: Vec<Marked>,
    /// What each verb would be answered now.
    pub verbs: Vec<Verdict>,
}

/// A ceiling that took something away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Narrowed {
    /// The handle of the node whose tag it is.
    pub node: u64,
    /// What it took.
    pub took: Vec<Word>,
}

/// A mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// `secret`, `relayed` or `confirm`.
    pub mark: Word,
    /// The handle of the outermost node that has it.
    pub node: u64,
}

/// What a verb would be answered now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The verb.
    pub verb: Word,
    /// The outcome.
    pub outcome: Word,
    /// Why it is not actionable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Word>,
    /// The id of the modal that lies over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Result of `inspector.lint`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lints {
    /// What is likely wrong.
    pub findings: Vec<Finding>,
    /// False when more was found than these.
    pub complete: bool,
}

/// One likely mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which kind.
    pub lint: Word,
    /// The handles of the nodes.
    pub nodes: Vec<u64>,
    /// Their ids, as an agent would write them.
    pub ids: Vec<String>,
    /// What to do.
    pub advice: Word,
}

/// Result of `inspector.log`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// Oldest first.
    pub entries: Vec<LogEntry>,
    /// The number of the last one that there is: what `after` takes.
    pub last: u64,
    /// How many came after `after` and are no longer kept.
    pub dropped: u64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Counts up by one.
    pub entry: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// What it was.
    #[serde(flatten)]
    pub what: Heard,
}

/// What an entry tells of: never a text, nor a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Heard {
    /// An event, as an agent that listens would hear it.
    Event {
        /// What happened.
        verb: Word,
        /// The id of the node.
        source: String,
        /// What it is.
        role: Word,
    },
    /// Something that an agent asked, and what it was answered.
    Call {
        /// Its connection's number.
        connection: u64,
        /// What it calls itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The verb.
        verb: Word,
        /// The id that it named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// The outcome, or the error's reason.
        outcome: Word,
    },
}

vocabulary! {
    /// Who decides about agents.
    DecidedBy {
        /// The project's own consent, whose rules can be read.
        Consent = "consent",
        /// The app, by a policy of its own: there is nothing that could be read.
        App = "app",
    }
}

/// Result of `inspector.consent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// Who decides.
    pub by: DecidedBy,
    /// What becomes of agents about whom nothing is remembered: `ask`, `allow_all`, `deny_all`; or
    /// `lockdown`, in which nobody is let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Word>,
    /// What is remembered, by name.
    pub rules: Vec<ConsentRule>,
    /// False when there are more rules than these.
    pub complete: bool,
}

/// What was decided about one agent. Times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRule {
    /// Which rule, as `agent-surface consent` lists it.
    pub rule: String,
    /// What the program is called.
    pub name: String,
    /// What tells this agent from others.
    pub agent: String,
    /// The file of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// On what evidence it was taken for who it is.
    pub evidence: Vec<String>,
    /// To what: `surface`, `full`, `inspector`.
    pub scope: Word,
    /// Whether it was a yes.
    pub allow: bool,
    /// Whether it is on the disk; else it ends when the app quits.
    pub stored: bool,
    /// Since when.
    pub since_ms: u64,
    /// Until when; absent: until it is taken back, or the app quits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<u64>,
    /// When it was last made use of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_ms: Option<u64>,
    /// How many requests it has let in.
    pub uses: u64,
}
