//! From JSON to a case, with the place of whatever is wrong.

use std::{collections::BTreeMap, path::Path};

use agent_core::{Verb, VerbSet};
use serde_json::{Map, Value};

use crate::json;

use super::{
    Answer, App, AppStep, Case, Consent, Does, Effect, Fault, Held, Kind, Node, Person, Property,
    Rows, Step, What,
    check::check,
    words::{BACKENDS, FOLDERS, verb_form},
};

/// The end of a case file's name.
pub(crate) const SUFFIX: &str = ".case.json";

/// How often something may stand for itself: a slip of the finger shall not fill the memory.
const MAX_TIMES: u64 = 100_000;

/// What is wrong, and where.
pub(super) type Wrong = (String, String);
pub(super) type Read<T> = Result<T, Wrong>;

pub(super) fn wrong<T>(at: &str, what: impl Into<String>) -> Read<T> {
    Err((at.to_owned(), what.into()))
}

/// Reads and checks the text of a case file.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(file: &Path, text: &str) -> Result<Case, Fault> {
    let fault = |(at, what): Wrong| Fault {
        file: file.to_owned(),
        at,
        what,
    };
    let root = json::parse(text).map_err(|what| fault((String::new(), what)))?;
    let case = case(file, &root).map_err(fault)?;
    check(&case).map_err(fault)?;
    Ok(case)
}

/// An object that is being read, and where it stands.
struct Object<'a> {
    at: String,
    map: &'a Map<String, Value>,
}

impl<'a> Object<'a> {
    /// An object with no keys but these.
    fn read(at: &str, value: &'a Value, keys: &[&str]) -> Read<Self> {
        let Value::Object(map) = value else {
            return wrong(
                at,
                format!("an object is expected, not {}", json::short(value, 80)),
            );
        };
        let object = Self {
            at: at.to_owned(),
            map,
        };
        match map.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(object),
            Some(unknown) => wrong(
                &object.place(unknown),
                format!("unknown key {unknown:?}; there is {}", keys.join(", ")),
            ),
        }
    }

    /// An object with exactly one of these keys: which, and what it holds.
    fn one_of(at: &str, value: &'a Value, keys: &[&str]) -> Read<(&'a str, &'a Value, String)> {
        let object = Self::read(at, value, keys)?;
        let mut entries = object.map.iter();
        match (entries.next(), entries.next()) {
            (Some((key, value)), None) => Ok((key, value, object.place(key))),
            _ => wrong(
                at,
                format!("one of {} by itself is expected", keys.join(", ")),
            ),
        }
    }

    fn place(&self, key: &str) -> String {
        if self.at.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.at)
        }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key)
    }

    fn need(&self, key: &str) -> Read<&'a Value> {
        match self.map.get(key) {
            Some(value) => Ok(value),
            None => wrong(&self.at, format!("the key {key:?} is missing")),
        }
    }

    fn with<T>(&self, key: &str, read: impl FnOnce(&str, &'a Value) -> Read<T>) -> Read<Option<T>> {
        let place = self.place(key);
        self.get(key).map(|value| read(&place, value)).transpose()
    }

    fn needed<T>(&self, key: &str, read: impl FnOnce(&str, &'a Value) -> Read<T>) -> Read<T> {
        read(&self.place(key), self.need(key)?)
    }
}

/// The string that `{"$repeat": [text, times]}` stands for, if it is one.
pub(crate) fn repeated(at: &str, value: &Value) -> Read<Option<String>> {
    let Some(inside) = value.get("$repeat") else {
        return Ok(None);
    };
    let parts = inside.as_array().map(Vec::as_slice).unwrap_or_default();
    match (parts, value.as_object().map_or(0, Map::len)) {
        ([Value::String(text), times], 1) => match times.as_u64() {
            Some(times) if times <= 10_000_000 => Ok(Some(text.repeat(times as usize))),
            _ => wrong(at, "a whole number of times, up to 10,000,000, is expected"),
        },
        _ => wrong(at, "{\"$repeat\": [text, times]} by itself is expected"),
    }
}

/// A text as it is meant: `$$` is a dollar sign.
pub(crate) fn plain(text: &str) -> String {
    text.replace("$$", "$")
}

fn text(at: &str, value: &Value) -> Read<String> {
    if let Some(text) = repeated(at, value)? {
        return Ok(text);
    }
    match value {
        Value::String(text) => Ok(plain(text)),
        other => wrong(
            at,
            format!("a text is expected, not {}", json::short(other, 80)),
        ),
    }
}

fn filled(at: &str, value: &Value) -> Read<String> {
    match text(at, value)? {
        empty if empty.is_empty() => wrong(at, "a text is expected that is not empty"),
        text => Ok(text),
    }
}

fn flag(at: &str, value: &Value) -> Read<bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        other => wrong(
            at,
            format!("true or false is expected, not {}", json::short(other, 80)),
        ),
    }
}

fn number(at: &str, value: &Value) -> Read<f64> {
    match value.as_f64() {
        Some(number) => Ok(number),
        None => wrong(
            at,
            format!("a number is expected, not {}", json::short(value, 80)),
        ),
    }
}

fn whole(at: &str, value: &Value) -> Read<u64> {
    match value.as_u64() {
        Some(number) => Ok(number),
        None => wrong(
            at,
            format!("a whole number is expected, not {}", json::short(value, 80)),
        ),
    }
}

fn list<'a, T>(
    at: &str,
    value: &'a Value,
    mut each: impl FnMut(&str, &'a Value) -> Read<T>,
) -> Read<Vec<T>> {
    match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(n, item)| each(&format!("{at}[{n}]"), item))
            .collect(),
        other => wrong(
            at,
            format!("a list is expected, not {}", json::short(other, 80)),
        ),
    }
}

fn case(file: &Path, root: &Value) -> Read<Case> {
    let id = case_id(file)?;
    let keys = [
        "name",
        "from",
        "ui",
        "app",
        "steps",
        "never_on_the_wire",
        "skip",
    ];
    let object = Object::read("", root, &keys)?;
    let windows = object.needed("ui", |at, ui| {
        let ui = Object::read(at, ui, &["windows"])?;
        ui.needed("windows", |at, windows| {
            nodes(at, windows, Some(Kind::Window))
        })
    })?;
    if let Some(odd) = windows
        .iter()
        .find(|window| !matches!(window.kind, Kind::Window | Kind::Dialog))
    {
        return wrong("ui.windows", format!("a {} is no window", odd.kind.word()));
    }
    if windows.is_empty() {
        return wrong("ui.windows", "there has to be one at least");
    }
    let skip = object.with("skip", |at, skip| {
        let skip = Object::read(at, skip, BACKENDS)?;
        skip.map
            .keys()
            .map(|backend| Ok((backend.clone(), skip.needed(backend, filled)?)))
            .collect()
    })?;
    Ok(Case {
        file: file.to_owned(),
        id,
        name: object.needed("name", filled)?,
        from: object.needed("from", filled)?,
        windows,
        app: object.with("app", app)?.unwrap_or(App {
            armed_full: false,
            armed_inspector: false,
            consent: Consent::Allow,
            unsupported: VerbSet::empty(),
        }),
        steps: object.needed("steps", steps)?,
        never_on_the_wire: object
            .with("never_on_the_wire", |at, texts| list(at, texts, filled))?
            .unwrap_or_default(),
        skip: skip.unwrap_or_default(),
    })
}

fn case_id(file: &Path) -> Read<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    let Some(stem) = name.and_then(|name| name.strip_suffix(SUFFIX)) else {
        return wrong("", format!("the name of a case file ends in {SUFFIX}"));
    };
    let kebab = stem.split('-').all(|word| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    });
    if !kebab {
        return wrong("", "the file's name is not in kebab-case");
    }
    let folder = file
        .parent()
        .and_then(Path::file_name)
        .and_then(|folder| folder.to_str())
        .unwrap_or_default();
    if !FOLDERS.contains(&folder) {
        return wrong(
            "",
            format!("its folder {folder:?} is none of {}", FOLDERS.join(", ")),
        );
    }
    Ok(format!("{folder}/{stem}"))
}

fn app(at: &str, value: &Value) -> Read<App> {
    let object = Object::read(at, value, &["armed", "consent", "unsupported"])?;
    let armed = object
        .with("armed", |at, armed| {
            list(at, armed, |at, word| match word.as_str() {
                Some(word @ ("full" | "inspector")) => Ok(word),
                _ => wrong(at, "\"full\" or \"inspector\" is expected"),
            })
        })?
        .unwrap_or_default();
    Ok(App {
        armed_full: armed.contains(&"full"),
        armed_inspector: armed.contains(&"inspector"),
        consent: object
            .with("consent", |at, word| match word.as_str() {
                Some("none") => Ok(Consent::None),
                _ => consent(at, word),
            })?
            .unwrap_or(Consent::Allow),
        unsupported: object
            .with("unsupported", verbs)?
            .unwrap_or(VerbSet::empty()),
    })
}

fn consent(at: &str, word: &Value) -> Read<Consent> {
    match word.as_str() {
        Some("allow") => Ok(Consent::Allow),
        Some("deny") => Ok(Consent::Deny),
        Some("ask") => Ok(Consent::Ask),
        _ => wrong(at, "allow, deny or ask is expected"),
    }
}

fn verbs(at: &str, value: &Value) -> Read<VerbSet> {
    let verbs = list(at, value, |at, word| {
        let known = word.as_str().filter(|word| verb_form(word).is_some());
        match known.and_then(Verb::from_word) {
            Some(verb) => Ok(verb),
            None => wrong(at, format!("there is no verb {word}")),
        }
    })?;
    Ok(verbs.into_iter().collect())
}

/// Nodes, each standing for as many as its `times` says.
fn nodes(at: &str, value: &Value, kind: Option<Kind>) -> Read<Vec<Node>> {
    let nodes = list(at, value, |at, value| several(at, value, kind))?;
    Ok(nodes.into_iter().flatten().collect())
}

fn several(at: &str, value: &Value, kind: Option<Kind>) -> Read<Vec<Node>> {
    let Some(times) = value.get("times") else {
        return Ok(vec![node(at, value, kind)?]);
    };
    let times = whole(&format!("{at}.times"), times)?;
    if times > MAX_TIMES {
        return wrong(at, format!("{MAX_TIMES} times at most"));
    }
    for key in ["id", "ref", "key"] {
        if let Some(name) = value.get(key).and_then(Value::as_str)
            && !name.contains("{n}")
        {
            return wrong(
                &format!("{at}.{key}"),
                format!("{name:?} of a node with times needs an {{n}} in it"),
            );
        }
    }
    (1..=times)
        .map(|n| node(at, &numbered(value, n, true), kind))
        .collect()
}

/// A node with `{n}` replaced in its texts and in those of what belongs to it, but for what has
/// an `{n}` of its own.
fn numbered(value: &Value, n: u64, outermost: bool) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{n}", &n.to_string())),
        Value::Array(items) => items.iter().map(|item| numbered(item, n, false)).collect(),
        Value::Object(map) if outermost || !map.contains_key("times") => map
            .iter()
            .filter(|(key, _)| !(outermost && *key == "times"))
            .map(|(key, value)| {
                let own = key == "rows";
                let value = if own {
                    value.clone()
                } else {
                    numbered(value, n, false)
                };
                (key.clone(), value)
            })
            .collect(),
        other => other.clone(),
    }
}

const NODE_KEYS: &[&str] = &[
    "kind",
    "id",
    "ref",
    "title",
    "text",
    "label",
    "value",
    "hint",
    "checked",
    "selected",
    "min",
    "max",
    "step",
    "max_length",
    "enabled",
    "visible",
    "read_only",
    "key",
    "ceiling",
    "exposed",
    "secret",
    "excluded",
    "relayed",
    "confirm",
    "children",
    "rows",
    "times",
    "on_click",
    "on_change",
    "on_submit",
];

fn node(at: &str, value: &Value, kind: Option<Kind>) -> Read<Node> {
    let object = Object::read(at, value, NODE_KEYS)?;
    let kind = match (object.with("kind", kind_of)?, kind) {
        (Some(kind), _) => kind,
        (None, Some(kind)) => kind,
        (None, None) => return wrong(at, "the key \"kind\" is missing"),
    };
    let texts = |key| Ok::<_, Wrong>(object.with(key, text)?.unwrap_or_default());
    let flags = |key, otherwise| Ok::<_, Wrong>(object.with(key, flag)?.unwrap_or(otherwise));
    let effects = |key| Ok::<_, Wrong>(object.with(key, effects)?.unwrap_or_default());
    let rows = object.with("rows", |at, rows| {
        let rows = Object::read(at, rows, &["count", "text", "id_keys"])?;
        Ok(Rows {
            count: rows.needed("count", whole)?,
            text: rows.needed("text", text)?,
            keyed: rows.with("id_keys", flag)?.unwrap_or(false),
        })
    })?;
    if rows.is_some() && !matches!(kind, Kind::List | Kind::Table) {
        return wrong(at, format!("a {} has no lazy rows", kind.word()));
    }
    if rows.as_ref().is_some_and(|rows| rows.keyed) && !object.map.contains_key("id") {
        return wrong(at, "a list whose rows have keys needs an id");
    }
    Ok(Node {
        kind,
        id: object.with("id", text)?,
        reference: object.with("ref", filled)?,
        title: texts("title")?,
        text: texts("text")?,
        label: texts("label")?,
        value: object.with("value", held)?,
        hint: texts("hint")?,
        checked: object.with("checked", flag)?,
        selected: flags("selected", false)?,
        min: object.with("min", number)?,
        max: object.with("max", number)?,
        step: object.with("step", number)?,
        max_length: object
            .with("max_length", whole)?
            .map(|length| length as usize),
        enabled: flags("enabled", true)?,
        visible: flags("visible", true)?,
        read_only: flags("read_only", false)?,
        key: object.with("key", text)?,
        ceiling: object.with("ceiling", |at, ceiling| match ceiling.as_str() {
            Some("observe") => Ok(VerbSet::empty()),
            Some(_) => wrong(at, "\"observe\" or a list of verbs is expected"),
            None => verbs(at, ceiling),
        })?,
        exposed: object.with("exposed", flag)?,
        secret: flags("secret", false)?,
        excluded: flags("excluded", false)?,
        relayed: flags("relayed", false)?,
        confirm: flags("confirm", false)?,
        children: object
            .with("children", |at, children| nodes(at, children, None))?
            .unwrap_or_default(),
        rows,
        on_click: effects("on_click")?,
        on_change: effects("on_change")?,
        on_submit: effects("on_submit")?,
    })
}

fn kind_of(at: &str, value: &Value) -> Read<Kind> {
    match value.as_str().and_then(Kind::from_word) {
        Some(kind) => Ok(kind),
        None => wrong(at, format!("unknown kind {value}")),
    }
}

fn held(at: &str, value: &Value) -> Read<Held> {
    match value.as_f64() {
        Some(number) => Ok(Held::Number(number)),
        None => Ok(Held::Text(text(at, value)?)),
    }
}

fn effects(at: &str, value: &Value) -> Read<Vec<Effect>> {
    list(at, value, effect)
}

fn effect(at: &str, value: &Value) -> Read<Effect> {
    let all = [
        "set", "add", "remove", "move", "open", "close", "block_ms", "modal", "panic", "count",
    ];
    let (key, inside, at) = Object::one_of(at, value, &all)?;
    let at = at.as_str();
    let of_node =
        || -> Read<String> { Object::read(at, inside, &["node"])?.needed("node", filled) };
    let window = || -> Read<Box<Node>> {
        let window = node(at, inside, None)?;
        if !matches!(window.kind, Kind::Window | Kind::Dialog) {
            return wrong(at, "a window or a dialog is expected");
        }
        Ok(Box::new(window))
    };
    Ok(match key {
        "set" => set(at, inside)?,
        "add" => {
            let object = Object::read(at, inside, &["parent", "at", "node"])?;
            Effect::Add {
                parent: object.needed("parent", filled)?,
                at: object.with("at", whole)?.map(|at| at as usize),
                nodes: object.needed("node", |at, node| several(at, node, None))?,
            }
        }
        "remove" => Effect::Remove(of_node()?),
        "close" => Effect::Close(of_node()?),
        "move" => {
            let object = Object::read(at, inside, &["node", "parent", "at"])?;
            Effect::Move {
                node: object.needed("node", filled)?,
                parent: object.needed("parent", filled)?,
                at: object.needed("at", whole)? as usize,
            }
        }
        "open" => Effect::Open(window()?),
        "modal" => Effect::Modal(window()?),
        "block_ms" => Effect::Block(whole(at, inside)?),
        "panic" => Effect::Panic(text(at, inside)?),
        _ => Effect::Count(filled(at, inside)?),
    })
}

fn set(at: &str, value: &Value) -> Read<Effect> {
    let keys = [
        "node", "text", "value", "checked", "enabled", "visible", "name",
    ];
    let object = Object::read(at, value, &keys)?;
    let node = object.needed("node", filled)?;
    let mut rest = object.map.iter().filter(|(key, _)| *key != "node");
    let (Some((key, value)), None) = (rest.next(), rest.next()) else {
        return wrong(at, "one property at a time is expected");
    };
    let at = &object.place(key);
    let to = match key.as_str() {
        "text" => Property::Text(text(at, value)?),
        "value" => Property::Value(held(at, value)?),
        "checked" => Property::Checked(flag(at, value)?),
        "enabled" => Property::Enabled(flag(at, value)?),
        "visible" => Property::Visible(flag(at, value)?),
        _ => Property::Name(text(at, value)?),
    };
    Ok(Effect::Set { node, to })
}

fn steps(at: &str, value: &Value) -> Read<Vec<Step>> {
    list(at, value, step)
}

const STEP_KINDS: &[&str] = &[
    "send",
    "raw",
    "await",
    "expect_event",
    "expect_quiet_ms",
    "expect_closed",
    "user",
    "app",
    "connect",
    "disconnect",
    "sleep_ms",
    "repeat",
];

fn step(at: &str, value: &Value) -> Read<Step> {
    let Value::Object(map) = value else {
        return wrong(at, "a step is an object");
    };
    let mut kinds = STEP_KINDS.iter().filter(|kind| map.contains_key(**kind));
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return wrong(
            at,
            format!("exactly one of {} is expected", STEP_KINDS.join(", ")),
        );
    };
    Ok(Step {
        at: at.to_owned(),
        json: value.clone(),
        what: what(kind, at, value)?,
    })
}

fn what(kind: &str, at: &str, value: &Value) -> Read<What> {
    let read = |keys: &[&str]| Object::read(at, value, keys);
    let on = |object: &Object<'_>| {
        Ok::<_, Wrong>(object.with("on", filled)?.unwrap_or_else(|| "a".to_owned()))
    };
    Ok(match kind {
        "send" => {
            let object = read(&["on", "send", "expect", "later"])?;
            let message = object.needed("send", message)?;
            let on = on(&object)?;
            match (object.with("later", filled)?, object.get("expect")) {
                (Some(name), None) => What::Later { on, message, name },
                (None, Some(expect)) => What::Send {
                    on,
                    message,
                    expect: expect.clone(),
                },
                (None, None) => return wrong(at, "either expect or later is missing"),
                (Some(_), Some(_)) => return wrong(at, "either later or expect, not both"),
            }
        }
        "await" => {
            let object = read(&["await", "expect"])?;
            What::Await {
                name: object.needed("await", filled)?,
                expect: object.need("expect")?.clone(),
            }
        }
        "raw" => {
            let object = read(&["on", "raw", "no_newline", "expect"])?;
            What::Raw {
                on: on(&object)?,
                // As it is: a dollar sign is one.
                text: object.needed("raw", |at, raw| match repeated(at, raw)? {
                    Some(text) => Ok(text),
                    None => match raw {
                        Value::String(text) => Ok(text.clone()),
                        _ => wrong(at, "a text is expected"),
                    },
                })?,
                newline: !object.with("no_newline", flag)?.unwrap_or(false),
                expect: object.get("expect").cloned(),
            }
        }
        "expect_event" => {
            let object = read(&["on", "expect_event"])?;
            What::ExpectEvent {
                on: on(&object)?,
                expect: object.need("expect_event")?.clone(),
            }
        }
        "expect_quiet_ms" => {
            let object = read(&["on", "expect_quiet_ms"])?;
            What::ExpectQuiet {
                on: on(&object)?,
                ms: object.needed("expect_quiet_ms", whole)?,
            }
        }
        "expect_closed" => {
            What::ExpectClosed(read(&["expect_closed"])?.needed("expect_closed", filled)?)
        }
        "user" => What::User(read(&["user"])?.needed("user", person)?),
        "app" => What::App(read(&["app"])?.needed("app", app_step)?),
        "connect" => {
            let object = read(&["connect", "as"])?;
            What::Connect {
                name: object.needed("connect", filled)?,
                claims: object.with("as", |at, claims| {
                    Object::read(at, claims, &["name"])?.needed("name", text)
                })?,
            }
        }
        "disconnect" => What::Disconnect(read(&["disconnect"])?.needed("disconnect", filled)?),
        "sleep_ms" => What::Sleep(read(&["sleep_ms"])?.needed("sleep_ms", whole)?),
        _ => {
            let object = read(&["repeat", "steps"])?;
            What::Repeat {
                times: object.needed("repeat", whole)?,
                steps: object.needed("steps", steps)?,
            }
        }
    })
}

fn message(at: &str, value: &Value) -> Read<Map<String, Value>> {
    let object = Object::read(at, value, &["jsonrpc", "id", "method", "params"])?;
    object.needed("method", |at, method| match method {
        Value::String(_) => Ok(()),
        _ => wrong(at, "a text is expected (raw sends anything)"),
    })?;
    object.with("id", |at, id| match id {
        Value::String(_) => Ok(()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(()),
        _ => wrong(
            at,
            "a text or a whole number is expected (raw sends anything)",
        ),
    })?;
    Ok(object.map.clone())
}

fn person(at: &str, value: &Value) -> Read<Person> {
    let all = [
        "click",
        "type",
        "clear",
        "submit",
        "undo",
        "check",
        "select",
        "scroll",
        "close_window",
        "resize",
    ];
    let (key, inside, at) = Object::one_of(at, value, &all)?;
    let more: &[&str] = match key {
        "type" => &["text"],
        "check" => &["checked"],
        "scroll" => &["to"],
        "resize" => &["width", "height"],
        _ => &[],
    };
    let keys: Vec<&str> = ["node"].iter().chain(more).copied().collect();
    let object = Object::read(&at, inside, &keys)?;
    let does = match key {
        "click" => Does::Click,
        "type" => Does::Type(object.needed("text", text)?),
        "clear" => Does::Clear,
        "submit" => Does::Submit,
        "undo" => Does::Undo,
        "check" => Does::Check(object.needed("checked", flag)?),
        "select" => Does::Select,
        "scroll" => Does::Scroll(object.needed("to", number)?),
        "close_window" => Does::CloseWindow,
        _ => Does::Resize {
            width: object.needed("width", number)?,
            height: object.needed("height", number)?,
        },
    };
    Ok(Person {
        node: object.needed("node", filled)?,
        does,
    })
}

fn app_step(at: &str, value: &Value) -> Read<AppStep> {
    let keys = [
        "effects", "consent", "answer", "revoke", "counter", "prompts",
    ];
    let object = Object::read(at, value, &keys)?;
    if object.map.is_empty() {
        return wrong(at, format!("one of {} is expected", keys.join(", ")));
    }
    let counters = object.with("counter", |at, counters| {
        let Value::Object(map) = counters else {
            return wrong(at, "an object of names and numbers is expected");
        };
        map.iter()
            .map(|(name, times)| Ok((name.clone(), whole(&format!("{at}.{name}"), times)?)))
            .collect::<Read<BTreeMap<_, _>>>()
    })?;
    let prompts = object.with("prompts", |at, prompts| {
        Object::read(at, prompts, &["open", "shown"])?;
        Ok(prompts.clone())
    })?;
    Ok(AppStep {
        consent: object.with("consent", consent)?,
        revoke: object
            .with("revoke", |at, revoke| match revoke {
                Value::Bool(true) => Ok(true),
                _ => wrong(at, "true is expected"),
            })?
            .unwrap_or(false),
        answer: object.with("answer", |at, answer| match answer.as_str() {
            Some("allow") => Ok(Answer::Allow),
            Some("deny") => Ok(Answer::Deny),
            Some("dismiss") => Ok(Answer::Dismiss),
            _ => wrong(at, "allow, deny or dismiss is expected"),
        })?,
        effects: object.with("effects", effects)?.unwrap_or_default(),
        counters: counters.unwrap_or_default(),
        prompts,
    })
}
