//! Non-interference: two worlds in which everything exposed has the same history, and nothing
//! else need be the same, answer every conversation byte for byte alike.
//!
//! The same conversation is held with both over their sockets. Between two requests, and inside
//! the handlers that an agent's click runs, what is exposed changes alike in both, and what is
//! not changes in each as its own dice say. The reply lines are compared as they came.

mod egui;
mod headless;

use std::fmt::Write as _;

use agent_test_support::{Client, Random};
use serde_json::{Value, json};

/// What kind of widget an exposed node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Button,
    Field,
    /// A field whose text differs from world to world.
    Secret,
    Check,
    Label,
    Group,
    List,
    /// Inside a list, with a key.
    Row,
}

/// An exposed node, which both worlds have.
#[derive(Clone, Debug)]
struct Shown {
    /// Its id or, for a row, its key.
    id: String,
    kind: Kind,
    text: String,
    checked: bool,
    enabled: bool,
    visible: bool,
    /// Nothing may be done to it.
    observe: bool,
    /// One of the ways that a toolkit has of writing the tag down.
    spelling: usize,
    /// Named by a label beside it that is kept back in part.
    labelled: bool,
    inside: Vec<Shown>,
}

impl Shown {
    fn is_container(&self) -> bool {
        matches!(self.kind, Kind::Group | Kind::List | Kind::Row)
    }
}

/// What is exposed, and a difference between the worlds that must be found.
#[derive(Clone, Debug)]
struct Plan {
    shown: Vec<Shown>,
    /// The ids as an agent writes them.
    ids: Vec<String>,
}

const WORDS: &[&str] = &[
    "Save",
    "Ada",
    "",
    "a b",
    "größe",
    "\u{202e}x",
    "1",
    "two\nlines",
];

/// The ids of the nodes that are exposed nowhere.
const UNEXPOSED: &[&str] = &["u0", "u1", "u2"];

impl Plan {
    fn new(dice: &mut Random) -> Self {
        let mut next = 0;
        let shown = level(dice, 0, &mut next);
        let mut ids = vec!["main".to_owned()];
        collect(&shown, "main", &mut ids);
        Self { shown, ids }
    }
}

fn level(dice: &mut Random, depth: usize, next: &mut usize) -> Vec<Shown> {
    let count = if depth == 0 {
        2 + dice.below(4)
    } else {
        dice.below(4)
    };
    (0..count).map(|_| one(dice, depth, next, false)).collect()
}

fn one(dice: &mut Random, depth: usize, next: &mut usize, row: bool) -> Shown {
    let kind = match dice.below(if depth < 2 { 10 } else { 7 }) {
        _ if row => Kind::Row,
        0 | 1 => Kind::Button,
        2 | 3 => Kind::Field,
        4 => Kind::Secret,
        5 => Kind::Check,
        6 => Kind::Label,
        7 | 8 => Kind::Group,
        _ => Kind::List,
    };
    *next += 1;
    let id = match kind {
        Kind::Row => format!("row {next}"),
        _ => format!("n{next}"),
    };
    let inside = match kind {
        Kind::Group | Kind::Row => level(dice, depth + 1, next),
        Kind::List => (0..dice.below(4))
            .map(|_| one(dice, depth + 1, next, true))
            .collect(),
        _ => Vec::new(),
    };
    Shown {
        id,
        kind,
        text: dice.one_of(WORDS).to_string(),
        checked: dice.once_in(2),
        enabled: !dice.once_in(6),
        visible: !dice.once_in(8),
        observe: dice.once_in(8),
        spelling: dice.below(3),
        labelled: dice.once_in(3),
        inside,
    }
}

fn collect(level: &[Shown], around: &str, ids: &mut Vec<String>) {
    for shown in level {
        let id = match shown.kind {
            Kind::Row => format!("{around}/{}", shown.id.replace(' ', "%20")),
            _ => shown.id.clone(),
        };
        collect(&shown.inside, &id, ids);
        ids.push(id);
    }
}

/// A change of what is exposed, made alike in both worlds.
#[derive(Clone, Debug)]
enum Change {
    Text(String, String),
    Enabled(String),
    Visible(String),
    Checked(String),
    /// The secret fields get other texts, each world its own.
    Secrets,
}

fn flatten<'a>(level: &'a [Shown], all: &mut Vec<&'a Shown>) {
    for shown in level {
        all.push(shown);
        flatten(&shown.inside, all);
    }
}

fn change(dice: &mut Random, plan: &Plan) -> Change {
    let mut all = Vec::new();
    flatten(&plan.shown, &mut all);
    let node = all[dice.below(all.len())];
    let id = node.id.clone();
    match dice.below(6) {
        0 | 1
            if matches!(
                node.kind,
                Kind::Button | Kind::Field | Kind::Label | Kind::Check
            ) =>
        {
            Change::Text(id, dice.one_of(WORDS).to_string())
        }
        2 => Change::Enabled(id),
        3 => Change::Visible(id),
        4 if node.kind == Kind::Check => Change::Checked(id),
        _ => Change::Secrets,
    }
}

/// Something that one of the worlds does differently where it may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leak {
    None,
    /// The first label or button has another text.
    Text,
    /// The first exposed node is disabled.
    Disabled,
    /// A node more is exposed.
    Exposed,
    /// The first two are in the other order.
    Order,
}

const LEAKS: [Leak; 4] = [Leak::Text, Leak::Disabled, Leak::Exposed, Leak::Order];

impl Leak {
    /// Changes what is exposed in one world.
    fn put_into(self, shown: &mut Vec<Shown>) -> bool {
        match self {
            Leak::None => {}
            Leak::Text => {
                let Some(first) = shown.iter_mut().find(|shown| {
                    shown.visible && matches!(shown.kind, Kind::Label | Kind::Button)
                }) else {
                    return false;
                };
                first.text.push('!');
            }
            Leak::Disabled => {
                let Some(first) = shown
                    .iter_mut()
                    .find(|shown| shown.enabled && shown.visible)
                else {
                    return false;
                };
                first.enabled = false;
            }
            Leak::Exposed => shown.push(Shown {
                id: "leak".into(),
                kind: Kind::Label,
                text: String::new(),
                checked: false,
                enabled: true,
                visible: true,
                observe: false,
                spelling: 0,
                labelled: false,
                inside: Vec::new(),
            }),
            Leak::Order => {
                if !shown[0].visible || !shown[1].visible {
                    return false;
                }
                shown.swap(0, 1);
            }
        }
        true
    }
}

/// One of the two worlds, served.
trait World {
    fn client(&mut self) -> &mut Client;
    /// Changes what is exposed.
    fn change(&mut self, change: &Change);
    /// Changes what is not, as this world's own dice say.
    fn stir(&mut self);
}

/// What an agent asks next. `versions`: those that it was given so far.
fn request(dice: &mut Random, plan: &Plan, number: usize, versions: &[u64], focus: bool) -> String {
    let id = match dice.below(12) {
        0 => (*dice.one_of(UNEXPOSED)).to_owned(),
        1 => (*dice.one_of(&[
            "nonsense",
            "main/button#0",
            "main/text#1",
            "app/window#0",
            "app/window#1",
            "n1/group#0",
            "n1/row%201",
            "veiled",
            "",
        ]))
        .to_owned(),
        _ => dice.one_of(&plan.ids).clone(),
    };
    let (method, mut params) = match dice.below(20) {
        0..=4 => {
            let mut params = json!({});
            let words = ["value", "state", "actions"];
            let include: Vec<&str> = words.into_iter().filter(|_| !dice.once_in(3)).collect();
            params["include"] = json!(include);
            if dice.once_in(3) {
                params["root"] = json!(id);
            }
            if dice.once_in(4) {
                params["depth"] = json!(dice.below(3));
            }
            if dice.once_in(4) {
                params["limit"] = json!(1 + dice.below(5));
            }
            ("describe_ui", params)
        }
        5 | 6 => {
            let mut params = json!({ "id": id });
            if dice.once_in(4) {
                params["from"] = json!(dice.below(4));
            }
            ("get_text", params)
        }
        7..=9 => ("click", json!({ "id": id })),
        10..=12 => {
            let version = match versions {
                [.., last] if !dice.once_in(4) => *last,
                _ => dice.below(12) as u64,
            };
            let value = dice.one_of(WORDS);
            let mut params = json!({"id": id, "value": value, "base_version": version});
            if dice.once_in(4) {
                params["from"] = json!(0);
                params["to"] = json!(dice.below(4));
            }
            ("set_text", params)
        }
        13 => ("scroll_to", json!({ "id": id })),
        14 if focus => ("focus", json!({ "id": id })),
        14 => ("get_text", json!({ "id": id })),
        15 => ("hello", json!({})),
        16 | 17 => {
            let checked = dice.once_in(2);
            ("set_checked", json!({"id": id, "checked": checked}))
        }
        18 => ("submit", json!({ "id": id })),
        _ => ("select", json!({ "id": id })),
    };
    if method != "hello" && dice.once_in(6) {
        let windows = ["main", "veiled", "u0", "nonsense"];
        params["window"] = json!(dice.one_of(&windows));
    }
    json!({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).to_string()
}

/// A conversation with both worlds. What differed, if anything did.
fn converse(
    seed: u64,
    plan: &Plan,
    focus: bool,
    one: &mut dyn World,
    other: &mut dyn World,
) -> Result<usize, String> {
    let mut dice = Random(seed ^ 0x5EED);
    let mut said = String::new();
    let mut versions = Vec::new();
    let requests = 6 + dice.below(12);
    for number in 0..requests {
        if dice.once_in(3) {
            let change = change(&mut dice, plan);
            writeln!(said, "   {change:?}").unwrap();
            one.change(&change);
            other.change(&change);
        }
        one.stir();
        other.stir();
        let line = request(&mut dice, plan, number, &versions, focus);
        writeln!(said, "-> {line}").unwrap();
        one.client().raw(&line);
        other.client().raw(&line);
        let reply = one.client().line();
        let too = other.client().line();
        if reply != too || reply.is_empty() {
            return Err(format!("seed {seed}\n{said}<- {reply}<- {too}"));
        }
        write!(said, "<- {reply}").unwrap();
        let reply: Value = serde_json::from_str(&reply).unwrap();
        if reply["error"]["data"]["reason"] == "app_busy" {
            return Err(format!("seed {seed}: the machine is too slow\n{said}"));
        }
        learn(&reply["result"], &mut versions);
    }
    Ok(requests)
}

/// Remembers the versions that an agent was given.
fn learn(result: &Value, versions: &mut Vec<u64>) {
    versions.extend(result["version"].as_u64());
    for node in result["nodes"].as_array().into_iter().flatten() {
        versions.extend(node["version"].as_u64());
    }
}
