//! Results of the verbs. Fields are written in the order in which they stand here, and
//! left out when there is nothing to say.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    message::RequestId,
    words::{Outcome, Why},
};

/// A word of a vocabulary that this crate does not own (roles, states, verbs): borrowed
/// where it is written, owned where it was read.
pub type Word = Cow<'static, str>;

/// Result of `describe_ui`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// The surface's revision that this shows.
    pub revision: u64,
    /// False when a bound cut the list.
    pub complete: bool,
    /// Pre-order; parents stand before their children.
    pub nodes: Vec<Node>,
}

/// One node as `describe_ui` shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The agent id; an automatic one if the node is not exposed.
    pub id: String,
    /// The ARIA role.
    pub role: Word,
    /// The accessible name, possibly cut.
    pub name: String,
    /// Whether an acting verb other than `scroll_to` and `focus` would be allowed now.
    pub actionable: bool,
    /// Its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// In what changed since a revision, for a node that is new among its neighbours or was
    /// moved: the one that it comes next after, `null` if it is the first below its parent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "even_null"
    )]
    pub after: Option<Option<String>>,
    /// Length of the whole name in graphemes, if it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_length: Option<usize>,
    /// What the node holds, possibly cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<NodeValue>,
    /// Length of the whole value in graphemes, if it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_length: Option<usize>,
    /// The text's version, to be sent as `base_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// States that are not the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<Word>,
    /// Verbs that would be allowed now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Word>,
    /// `[x, y, width, height]` in window points.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "short_frame"
    )]
    pub frame: Option<[f64; 4]>,
    /// Of a lazy list: how many rows it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Direct exposed children that were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// Full mode: the toolkit's name for the widget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Full mode: whether agents may address the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed: Option<bool>,
    /// Full mode: the widget's own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Which node is the parent of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parent {
    /// The one that stands there in the list.
    Index(usize),
    /// The one of this id: in what changed since a revision.
    Id(String),
}

/// What changed since a revision, as `describe_ui` tells it with `since`. The description of
/// that revision becomes that of this one: take out what was removed and what has `after`, put
/// the nodes in instead of those of their ids, and those with `after`, in their order, next
/// after what it names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The surface's revision now.
    pub revision: u64,
    /// The revision that was asked for.
    pub since: u64,
    /// False when a bound cut the list.
    pub complete: bool,
    /// The nodes that are new or differ, in pre-order.
    pub changed: Vec<Node>,
    /// The ids that are not shown any more.
    pub removed: Vec<String>,
}

/// The reply to `subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribed {
    /// To ask and to end it by.
    pub subscription: String,
    /// The revision that it begins with.
    pub revision: u64,
    /// Some of what should have been replayed is no longer kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
}

/// The reply to `poll_events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polled {
    /// Oldest first.
    pub events: Vec<Event>,
    /// How many were dropped since the last poll.
    pub dropped: u64,
    /// What `from` takes to go on, inclusive.
    pub next: u64,
}

/// The reply to `wait_for`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// Whether it came to be so.
    pub met: bool,
    /// The revision at the last look.
    pub revision: u64,
}

/// An event as it is pushed, in a notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pushed {
    /// Which subscription heard it.
    pub subscription: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// How many before it were dropped, because the client read too slowly.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The reply to `unsubscribe`: that it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsubscribed {}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum NodeValue {
    /// Of a slider, spin button or progress bar. Not finite: goes out as `null`.
    Number(f64),
    /// Of anything else.
    Text(String),
}

impl Serialize for NodeValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => Short(*number).serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Result of an acting verb, and of any verb that names a node which it can't reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Acted {
    /// What it came to.
    pub outcome: Outcome,
    /// With [`Outcome::NotActionable`]: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// With [`Why::BlockedByModal`]: the topmost modal, if that is exposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The text's version now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The text now, where it is not the one that was sent and may be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The surface's revision after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// What the action brought about. `Some` of an empty list is written: it says that
    /// nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
    /// There were more events than [`EVENTS_IN_REPLY`](crate::limits::EVENTS_IN_REPLY).
    #[serde(default, skip_serializing_if = "is_false")]
    pub more: bool,
}

impl Acted {
    /// An outcome and nothing beside it.
    pub fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            why: None,
            by: None,
            version: None,
            text: None,
            revision: None,
            events: None,
            more: false,
        }
    }

    /// [`Outcome::NotActionable`], for this reason.
    pub fn not_actionable(why: Why) -> Self {
        Self {
            why: Some(why),
            ..Self::new(Outcome::NotActionable)
        }
    }
}

/// Result of `get_text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The text or the part that was asked for; absent for a secret field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// To be sent as `base_version`.
    pub version: u64,
    /// Length of the whole text in Unicode scalar values; absent for a secret field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
    /// Where the part begins, in Unicode scalar values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// There is text behind this part.
    #[serde(default, skip_serializing_if = "is_false")]
    pub more: bool,
}

/// Result of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The app's id.
    pub app: String,
    /// The app's name, for people.
    pub name: String,
    /// The app's process id.
    pub pid: u32,
    /// [`PROTOCOL`](crate::PROTOCOL).
    pub protocol: u32,
    /// The verbs that this app answers.
    pub verbs: Vec<Word>,
    /// What the app has switched on beyond the default: `full`, `inspector`.
    pub armed: Vec<Word>,
}

/// Something that happened to a node. Never holds text of the UI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the surface's log; grows.
    pub seq: u64,
    /// The id of an exposed node.
    pub source: String,
    /// What happened: `clicked`, `changed`, ...
    pub verb: Word,
    /// The source's ARIA role.
    pub role: Word,
    /// The surface's revision that has it.
    pub revision: u64,
    /// The request of this connection that brought it about. Absent: it was somebody else, the
    /// app, another agent or a person; always absent in the reply to that request, and where its
    /// id has more than 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// What the verb alone does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Word>,
}

/// A number without the `.0` that a whole one would have: most are whole, and each
/// character is paid for.
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // 2^53: up to here each whole number has a float of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if self.0.fract() == 0.0 && self.0.abs() <= EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

fn short_frame<S: Serializer>(frame: &Option<[f64; 4]>, serializer: S) -> Result<S::Ok, S::Error> {
    frame.map(|sides| sides.map(Short)).serialize(serializer)
}

/// Tells what is `null` from what is not there.
fn even_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use std::fmt::Debug;

    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(result: &T, json: &str) {
        assert_eq!(serde_json::to_string(result).unwrap(), json);
        assert_eq!(&serde_json::from_str::<T>(json).unwrap(), result);
    }

    fn node() -> Node {
        Node {
            id: "save".into(),
            role: "button".into(),
            name: "Save".into(),
            actionable: true,
            ..Node::default()
        }
    }

    #[test]
    fn a_lean_node_has_its_five_keys_only() {
        check(
            &Described {
                revision: 3,
                complete: true,
                nodes: vec![Node {
                    parent: Some(Parent::Index(0)),
                    ..node()
                }],
            },
            r#"{"revision":3,"complete":true,"nodes":[{"id":"save","role":"button","name":"Save","actionable":true,"parent":0}]}"#,
        );
        check(
            &node(),
            r#"{"id":"save","role":"button","name":"Save","actionable":true}"#,
        );
    }

    #[test]
    fn a_node_with_everything_has_it_in_order() {
        check(
            &Node {
                parent: Some(Parent::Index(0)),
                name_length: Some(300),
                value: Some(NodeValue::Text(String::new())),
                value_length: Some(9),
                version: Some(u64::MAX),
                state: vec!["disabled".into()],
                actions: vec!["click".into()],
                frame: Some([0.0, -1.5, 120.0, 24.25]),
                size: Some(500),
                omitted: Some(1),
                class: Some("GtkButton".into()),
                exposed: Some(false),
                text: Some("Save".into()),
                ..node()
            },
            concat!(
                r#"{"id":"save","role":"button","name":"Save","actionable":true,"parent":0,"#,
                r#""name_length":300,"value":"","value_length":9,"version":18446744073709551615,"#,
                r#""state":["disabled"],"actions":["click"],"frame":[0,-1.5,120,24.25],"#,
                r#""size":500,"omitted":1,"class":"GtkButton","exposed":false,"text":"Save"}"#
            ),
        );
    }

    #[test]
    fn numbers_are_written_short() {
        let check = |number: f64, json: &str| {
            let value = NodeValue::Number(number);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        };
        check(40.0, "40");
        check(-0.0, "0");
        check(0.5, "0.5");
        check(1e300, "1e+300");
        check(f64::NAN, "null");
        check(f64::INFINITY, "null");
        assert_eq!(
            serde_json::from_str::<NodeValue>("40").unwrap(),
            NodeValue::Number(40.0)
        );
    }

    #[test]
    fn outcomes_say_what_there_is_to_say() {
        check(&Acted::new(Outcome::NotFound), r#"{"outcome":"not_found"}"#);
        check(
            &Acted {
                by: Some("sure".into()),
                ..Acted::not_actionable(Why::BlockedByModal)
            },
            r#"{"outcome":"not_actionable","why":"blocked_by_modal","by":"sure"}"#,
        );
        check(
            &Acted {
                version: Some(7),
                text: Some("Ada".into()),
                ..Acted::new(Outcome::VersionConflict)
            },
            r#"{"outcome":"version_conflict","version":7,"text":"Ada"}"#,
        );
        check(
            &Acted {
                revision: Some(4),
                events: Some(Vec::new()),
                ..Acted::new(Outcome::Allowed)
            },
            r#"{"outcome":"allowed","revision":4,"events":[]}"#,
        );
        let event = Event {
            seq: 1,
            source: "save".into(),
            verb: "clicked".into(),
            role: "button".into(),
            revision: 4,
            request: None,
            detail: None,
        };
        check(
            &Acted {
                revision: Some(4),
                events: Some(vec![event]),
                more: true,
                ..Acted::new(Outcome::Allowed)
            },
            r#"{"outcome":"allowed","revision":4,"events":[{"seq":1,"source":"save","verb":"clicked","role":"button","revision":4}],"more":true}"#,
        );
    }

    #[test]
    fn a_secret_text_is_a_version_only() {
        let secret = Text {
            text: None,
            version: 3,
            length: None,
            from: None,
            more: false,
        };
        check(&secret, r#"{"version":3}"#);
        check(
            &Text {
                text: Some("wör".into()),
                length: Some(11),
                from: Some(6),
                more: true,
                ..secret
            },
            r#"{"text":"wör","version":3,"length":11,"from":6,"more":true}"#,
        );
    }

    #[test]
    fn hello_tells_the_protocol() {
        check(
            &Hello {
                app: "org.example.demo".into(),
                name: "Demo".into(),
                pid: 12,
                protocol: crate::PROTOCOL,
                verbs: vec!["click".into()],
                armed: vec![],
            },
            r#"{"app":"org.example.demo","name":"Demo","pid":12,"protocol":1,"verbs":["click"],"armed":[]}"#,
        );
    }
}
