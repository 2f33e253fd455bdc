//! Non-interference: two worlds in which everything exposed has the same history, and nothing
//! else need be the same, answer every conversation byte for byte alike.
//!
//! The same conversation is held with both over their sockets. Between two requests, inside the
//! handlers that an agent's click runs, and while an agent waits, what is exposed changes alike in
//! both, and what is not changes in each as its own dice say. The reply lines are compared as they
//! came, and so are the events that were pushed, of each subscription.

mod egui;
mod headless;

use std::{collections::BTreeMap, fmt::Write as _};

use agent_surface::EventVerb;
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
    /// A label that is always shown says so many.
    Status(usize),
    /// The app raises an event of its own.
    Emit(String, EventVerb),
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
    match dice.below(7) {
        6 => {
            let verbs = [EventVerb::Clicked, EventVerb::Changed, EventVerb::Opened];
            Change::Emit(dice.one_of(&plan.ids).clone(), *dice.one_of(&verbs))
        }
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
    /// Something is told of that did not happen in the other world.
    Event,
}

const LEAKS: [Leak; 5] = [
    Leak::Text,
    Leak::Disabled,
    Leak::Exposed,
    Leak::Order,
    Leak::Event,
];

impl Leak {
    /// Changes what is exposed in one world.
    fn put_into(self, shown: &mut Vec<Shown>) -> bool {
        match self {
            Leak::None | Leak::Event => {}
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
    /// Has the app see to all that was changed so far.
    fn catch_up(&mut self);
}

/// What an agent was given so far, to use again.
#[derive(Default)]
struct Known {
    versions: Vec<u64>,
    revisions: Vec<u64>,
    /// Numbers of events to go on from.
    events: Vec<u64>,
    /// The subscriptions that it has to ask.
    polled: Vec<Value>,
    /// Those whose events it is sent.
    pushed: Vec<Value>,
}

impl Known {
    fn listens(&self) -> bool {
        !self.polled.is_empty() || !self.pushed.is_empty()
    }

    fn learn(&mut self, method: &str, params: &Value, result: &Value) {
        self.versions.extend(result["version"].as_u64());
        self.revisions.extend(result["revision"].as_u64());
        self.events.extend(result["next"].as_u64());
        for list in ["nodes", "changed", "events"] {
            for one in result[list].as_array().into_iter().flatten() {
                self.versions.extend(one["version"].as_u64());
                self.events.extend(one["seq"].as_u64());
            }
        }
        let subscription = &result["subscription"];
        match method {
            "subscribe" if subscription.is_string() => match params["push"] == true {
                true => self.pushed.push(subscription.clone()),
                false => self.polled.push(subscription.clone()),
            },
            "unsubscribe" if result.is_object() => {
                for all in [&mut self.polled, &mut self.pushed] {
                    all.retain(|it| *it != params["subscription"]);
                }
            }
            _ => {}
        }
    }
}

/// The events that an agent subscribes to. One that is pushed is not told that something changed:
/// whether two turns are told of at once depends on how soon the first is sent.
fn subscribe(dice: &mut Random, id: String, known: &Known) -> Value {
    let verbs = ["changed", "clicked", "enabled", "appeared", "toggled"];
    let mut params = json!({"push": dice.once_in(3)});
    if params["push"] == true || dice.once_in(3) {
        params["verb"] = json!(dice.one_of(&verbs));
    } else if dice.once_in(3) {
        params["queue"] = json!(1 + dice.below(6));
    }
    if dice.once_in(2) {
        params["node"] = json!(id);
    }
    if dice.once_in(4) {
        params["role"] = json!(dice.one_of(&["button", "textbox", "window", "group"]));
    }
    if dice.once_in(2) {
        params["from"] = json!(some(dice, &known.events));
    }
    params
}

/// What an agent waits for, and doesn't wait long.
fn wait_for(dice: &mut Random, id: String, known: &Known) -> Value {
    let mut params = json!({"timeout_ms": 0, "id": id});
    params["until"] = json!(match dice.below(7) {
        0 => "exists",
        1 => "gone",
        2 => "actionable",
        n @ (3 | 4) => {
            params["value"] = json!(dice.one_of(WORDS));
            if n == 3 { "text_is" } else { "text_contains" }
        }
        5 => {
            let states = ["disabled", "checked", "focused", "secret", "blocked"];
            params["value"] = json!(dice.one_of(&states));
            "state"
        }
        _ => {
            params = json!({"timeout_ms": 0, "value": some(dice, &known.revisions)});
            "revision_after"
        }
    });
    params
}

/// One of these numbers, as a rule; else a small one.
fn some(dice: &mut Random, known: &[u64]) -> u64 {
    match known.get(dice.below(known.len())) {
        Some(number) if !dice.once_in(4) => *number,
        _ => dice.below(12) as u64,
    }
}

/// What an agent asks next.
fn request(dice: &mut Random, plan: &Plan, known: &Known, focus: bool) -> (&'static str, Value) {
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
    let (method, mut params) = match dice.below(30) {
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
            if dice.once_in(2) {
                params["since"] = json!(some(dice, &known.revisions));
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
            let version = match known.versions.as_slice() {
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
        19 => ("select", json!({ "id": id })),
        20..=22 => ("subscribe", subscribe(dice, id, known)),
        23..=26 => {
            let nonsense = [json!("s0"), json!("nonsense")];
            let of = match known.polled.as_slice() {
                all @ [_, ..] if !dice.once_in(8) => all,
                _ => &nonsense,
            };
            let mut params = json!({"subscription": dice.one_of(of)});
            if dice.once_in(3) {
                params["max"] = json!(1 + dice.below(3));
            }
            ("poll_events", params)
        }
        27 => {
            let all: Vec<&Value> = known.polled.iter().chain(&known.pushed).collect();
            match all.get(dice.below(all.len())) {
                Some(of) => ("unsubscribe", json!({"subscription": of})),
                None => ("subscribe", subscribe(dice, id, known)),
            }
        }
        _ => ("wait_for", wait_for(dice, id, known)),
    };
    let windowless = ["hello", "subscribe", "poll_events", "unsubscribe"];
    if !windowless.contains(&method) && params["until"] != "revision_after" && dice.once_in(6) {
        let windows = ["main", "veiled", "u0", "nonsense"];
        params["window"] = json!(dice.one_of(&windows));
    }
    (method, params)
}

fn line(number: usize, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).to_string()
}

/// The events that were sent unasked, by their subscription.
type Pushed = BTreeMap<String, Vec<String>>;

/// How much was heard in a conversation, so that none of it is compared for nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    polled: usize,
    pushed: usize,
    deltas: usize,
    waits: usize,
}

impl Heard {
    fn learn(&mut self, result: &Value) {
        self.polled +=
            result["events"].as_array().map_or(0, Vec::len) * usize::from(result["next"].is_u64());
        self.deltas += usize::from(result["since"].is_u64());
        self.waits += usize::from(result["met"] == true);
    }

    fn add(&mut self, more: Self) {
        self.polled += more.polled;
        self.pushed += more.pushed;
        self.deltas += more.deltas;
        self.waits += more.waits;
    }

    fn is_enough(self) -> bool {
        let Self {
            polled,
            pushed,
            deltas,
            waits,
        } = self;
        [polled, pushed, deltas, waits]
            .iter()
            .all(|count| *count >= 10)
    }
}

/// The next reply as it came; events that come before it are put aside.
fn reply(client: &mut Client, pushed: &mut Pushed) -> String {
    loop {
        let line = client.line();
        let told: Value = serde_json::from_str(&line).unwrap_or_default();
        if told["method"] != "event" {
            return line;
        }
        let of = told["params"]["subscription"].as_str().unwrap().to_owned();
        pushed.entry(of).or_default().push(line);
    }
}

/// Two worlds, and what was said to both.
struct Conversation<'a> {
    one: &'a mut dyn World,
    other: &'a mut dyn World,
    pushed: [Pushed; 2],
    said: String,
    number: usize,
}

impl Conversation<'_> {
    fn catch_up(&mut self) {
        self.one.catch_up();
        self.other.catch_up();
    }

    fn stir(&mut self) {
        self.one.stir();
        self.other.stir();
    }

    /// The same change in both. Who listens hears of one change at a time.
    fn change(&mut self, change: &Change, listens: bool) {
        writeln!(self.said, "   {change:?}").unwrap();
        if listens {
            self.catch_up();
        }
        self.one.change(change);
        self.other.change(change);
        if listens {
            self.catch_up();
        }
    }

    fn send(&mut self, method: &str, params: &Value) {
        self.number += 1;
        // A machine that is busy is no difference between the two.
        let mut params = params.clone();
        if let Some(params) = params.as_object_mut() {
            params.entry("timeout_ms").or_insert(json!(30_000));
        }
        let line = line(self.number, method, &params);
        writeln!(self.said, "-> {line}").unwrap();
        self.one.client().raw(&line);
        self.other.client().raw(&line);
    }

    /// What both replied, if it is the same.
    fn reply(&mut self) -> Result<Value, String> {
        let [of_one, of_other] = &mut self.pushed;
        let one = reply(self.one.client(), of_one);
        let other = reply(self.other.client(), of_other);
        if one != other || one.is_empty() {
            return Err(format!("{}<- {one}<- {other}", self.said));
        }
        self.said.push_str(&format!("<- {one}"));
        let reply: Value = serde_json::from_str(&one).unwrap();
        if reply["error"]["data"]["reason"] == "app_busy" {
            return Err(format!("the machine is too slow\n{}", self.said));
        }
        Ok(reply)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.send(method, params);
        self.reply()
    }

    /// Has all events sent that there are: they come before the reply.
    fn hear_all(&mut self) -> Result<Value, String> {
        self.catch_up();
        self.ask("describe_ui", &json!({}))
    }

    /// That both were sent the same events, now that all are there.
    fn compare_pushed(&mut self) -> Result<(), String> {
        self.hear_all()?;
        match &self.pushed {
            [one, other] if one == other => Ok(()),
            [one, other] => Err(format!("{}pushed\n{one:#?}\nand\n{other:#?}", self.said)),
        }
    }
}

/// A conversation with both worlds. What was heard, or what differed.
fn converse(
    seed: u64,
    plan: &Plan,
    focus: bool,
    one: &mut dyn World,
    other: &mut dyn World,
) -> Result<Heard, String> {
    let mut conversation = Conversation {
        one,
        other,
        pushed: Default::default(),
        said: format!("seed {seed}\n"),
        number: 0,
    };
    let mut dice = Random(seed ^ 0x5EED);
    let mut known = Known::default();
    let mut heard = Heard::default();
    let mut waited = 0;
    let requests = 6 + dice.below(14);
    for _ in 0..requests {
        if dice.once_in(2) {
            let change = change(&mut dice, plan);
            conversation.change(&change, known.listens());
        }
        conversation.stir();
        if dice.once_in(12) {
            // An agent waits while things change: it is told of what is exposed alone.
            conversation.catch_up();
            let described = conversation.ask("describe_ui", &json!({}))?;
            let revision = &described["result"]["revision"];
            let wait = json!({"until": "revision_after", "value": revision, "timeout_ms": 20_000});
            conversation.send("wait_for", &wait);
            conversation.stir();
            conversation.stir();
            waited += 1;
            conversation.change(&Change::Status(waited), true);
            let met = conversation.reply()?;
            known.learn("wait_for", &wait, &met["result"]);
            heard.learn(&met["result"]);
        }
        let (method, params) = request(&mut dice, plan, &known, focus);
        match method {
            // It looks at nothing itself.
            "poll_events" => conversation.catch_up(),
            // What was not sent yet is dropped, and how much that is depends on time.
            "unsubscribe" => drop(conversation.hear_all()?),
            _ => {}
        }
        let reply = conversation.ask(method, &params)?;
        known.learn(method, &params, &reply["result"]);
        heard.learn(&reply["result"]);
    }
    conversation.compare_pushed()?;
    heard.pushed = conversation.pushed[0].values().map(Vec::len).sum();
    for subscription in known.polled.iter().chain(&known.pushed) {
        conversation.ask("unsubscribe", &json!({"subscription": subscription}))?;
    }
    Ok(heard)
}
