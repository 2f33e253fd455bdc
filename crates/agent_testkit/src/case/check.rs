//! What the form alone doesn't show: names, variables and words of the wire that can't be
//! meant. A slip in an expectation must not pass for a promise that was kept.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::json;

use super::{
    AppStep, Case, Effect, Node, Step, What,
    read::{Read, repeated, wrong},
    words::{
        ERRORS, EVENTS, INCLUDE, MATCHERS, OTHER_METHODS, OUTCOMES, STATES, TYPES, UNTIL, WHY,
        verb_form,
    },
};

/// The variable that a string is, if it is one: a dollar sign, a small letter, then small
/// letters, digits and `_`.
pub(crate) fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    let goes_on = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (begins && goes_on).then_some(name)
}

pub(super) fn check(case: &Case) -> Read<()> {
    let mut check = Check::default();
    for window in &case.windows {
        check.collect(window);
    }
    check.collect_steps(&case.steps);
    for window in &case.windows {
        check.handlers(window)?;
    }
    check.steps(&case.steps)
}

#[derive(Default)]
struct Check {
    /// Ids and refs.
    names: HashSet<String>,
    ids: HashSet<String>,
    /// Ids of what has keyed rows.
    lists: HashSet<String>,
    counters: HashSet<String>,
    bound: HashSet<String>,
    /// What was sent to be waited for later.
    open: HashMap<String, Map<String, Value>>,
}

/// What is looked at: a reply to this method, or something else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Verb,
    Event,
    /// Raw lines and methods that are no verbs: their ids are the message's, and MCP's words
    /// are not ours.
    Other,
}

impl Check {
    fn collect(&mut self, node: &Node) {
        for node in node.all() {
            if let Some(id) = &node.id {
                self.names.insert(id.clone());
                self.ids.insert(id.clone());
                let keyed = node.rows.as_ref().is_some_and(|rows| rows.keyed);
                // A key addresses its node below the nearest exposed node around it.
                if keyed || node.all().iter().skip(1).any(|inside| inside.key.is_some()) {
                    self.lists.insert(id.clone());
                }
            }
            self.names.extend(node.reference.clone());
            for effect in effects_of(node) {
                self.collect_effect(effect);
            }
        }
    }

    fn collect_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Add { nodes, parent, .. } => {
                let keyed = nodes
                    .iter()
                    .any(|node| node.all().iter().any(|node| node.key.is_some()));
                if keyed {
                    self.lists.insert(parent.clone());
                }
                nodes.iter().for_each(|node| self.collect(node));
            }
            Effect::Open(window) | Effect::Modal(window) => self.collect(window),
            Effect::Count(counter) => {
                self.counters.insert(counter.clone());
            }
            _ => {}
        }
    }

    fn collect_steps(&mut self, steps: &[Step]) {
        for step in steps {
            match &step.what {
                What::App(app) => app.effects.iter().for_each(|it| self.collect_effect(it)),
                What::Repeat { steps, .. } => self.collect_steps(steps),
                _ => {}
            }
        }
    }

    /// A node that the case itself names.
    fn known(&self, at: &str, name: &str) -> Read<()> {
        if self.names.contains(name) || self.is_row(name) {
            return Ok(());
        }
        wrong(at, format!("there is no node {name:?} in this case"))
    }

    fn is_row(&self, name: &str) -> bool {
        name.split_once('/')
            .is_some_and(|(list, _)| self.lists.contains(list))
    }

    /// A node that an agent names, or is told of.
    fn known_to_agents(&self, at: &str, name: &Value) -> Read<()> {
        let Some(name) = name.as_str() else {
            return Ok(());
        };
        let free = variable(name).is_some()
            || name.starts_with("nowhere")
            || name.starts_with('$')
            || name.contains('#');
        if free || self.ids.contains(name) || self.is_row(name) {
            return Ok(());
        }
        wrong(
            at,
            format!(
                "there is no id {name:?} in this case (one that must not exist begins with \"nowhere\")"
            ),
        )
    }

    fn handlers(&self, node: &Node) -> Read<()> {
        for node in node.all() {
            for effect in effects_of(node) {
                self.effect("ui", effect)?;
            }
        }
        Ok(())
    }

    fn effect(&self, at: &str, effect: &Effect) -> Read<()> {
        match effect {
            Effect::Set { node, .. } | Effect::Remove(node) | Effect::Close(node) => {
                self.known(at, node)
            }
            Effect::Add { parent, nodes, .. } => {
                self.known(at, parent)?;
                nodes.iter().try_for_each(|node| self.handlers(node))
            }
            Effect::Move { node, parent, .. } => {
                self.known(at, node)?;
                self.known(at, parent)
            }
            Effect::Open(window) | Effect::Modal(window) => self.handlers(window),
            Effect::Block(_) | Effect::Panic(_) | Effect::Count(_) => Ok(()),
        }
    }

    fn steps(&mut self, steps: &[Step]) -> Read<()> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Read<()> {
        let at = step.at.as_str();
        match &step.what {
            What::Send {
                message, expect, ..
            } => {
                self.sent(&format!("{at}.send"), &Value::Object(message.clone()))?;
                self.request(at, message, expect)?;
                self.reply(at, message, expect)
            }
            What::Later { message, name, .. } => {
                self.sent(&format!("{at}.send"), &Value::Object(message.clone()))?;
                self.open.insert(name.clone(), message.clone());
                Ok(())
            }
            What::Await { name, expect } => {
                let Some(message) = self.open.remove(name) else {
                    return wrong(at, format!("nothing was sent to be awaited as {name:?}"));
                };
                self.request(at, &message, expect)?;
                self.reply(at, &message, expect)
            }
            What::Raw { expect, .. } => match expect {
                Some(expect) => self.expectation(&format!("{at}.expect"), expect, false, Of::Other),
                None => Ok(()),
            },
            What::ExpectEvent { expect, .. } => {
                let at = format!("{at}.expect_event");
                self.expectation(&at, expect, false, Of::Event)
            }
            What::User(person) => self.known(&format!("{at}.user"), &person.node),
            What::App(app) => self.app(&format!("{at}.app"), app),
            What::Repeat { steps, .. } => self.steps(steps),
            What::ExpectQuiet { .. }
            | What::ExpectClosed(_)
            | What::Connect { .. }
            | What::Disconnect(_)
            | What::Sleep(_) => Ok(()),
        }
    }

    fn app(&mut self, at: &str, app: &AppStep) -> Read<()> {
        for effect in &app.effects {
            self.effect(&format!("{at}.effects"), effect)?;
        }
        if let Some(counter) = app.counters.keys().find(|it| !self.counters.contains(*it)) {
            return wrong(
                &format!("{at}.counter"),
                format!("{counter:?} is counted nowhere"),
            );
        }
        match &app.prompts {
            Some(prompts) => self.expectation(&format!("{at}.prompts"), prompts, false, Of::Other),
            None => Ok(()),
        }
    }

    /// What is sent: a variable in it has a value by then.
    fn sent(&self, at: &str, value: &Value) -> Read<()> {
        match value {
            Value::String(text) => match variable(text) {
                Some(name) if !self.bound.contains(name) => {
                    wrong(at, format!("${name} has no value yet"))
                }
                _ => Ok(()),
            },
            Value::Array(items) => items.iter().try_for_each(|item| self.sent(at, item)),
            Value::Object(map) => {
                if repeated(at, value)?.is_some() {
                    return Ok(());
                }
                map.iter()
                    .try_for_each(|(key, value)| self.sent(&format!("{at}.{key}"), value))
            }
            _ => Ok(()),
        }
    }

    fn request(&self, at: &str, message: &Map<String, Value>, expect: &Value) -> Read<()> {
        let at = format!("{at}.send");
        let method = message.get("method").and_then(Value::as_str);
        let method = method.unwrap_or_default();
        let params = message.get("params").and_then(Value::as_object);
        if method == "tools/call" {
            // Its arguments are a verb's parameters, as they go over the wire.
            let arguments = params.and_then(|params| params.get("arguments")?.as_object());
            return match arguments {
                Some(arguments) => self.ids_in(&format!("{at}.params.arguments"), arguments),
                None => Ok(()),
            };
        }
        if OTHER_METHODS.contains(&method) || method.starts_with("inspector.") {
            return Ok(());
        }
        let code = expect.pointer("/error/code").and_then(Value::as_i64);
        let Some(form) = verb_form(method) else {
            return match code {
                Some(-32601) => Ok(()),
                _ => wrong(
                    &format!("{at}.method"),
                    format!("there is no verb {method:?}, and no error -32601 is expected"),
                ),
            };
        };
        let nothing = Map::new();
        let params = params.unwrap_or(&nothing);
        let at = format!("{at}.params");
        if code != Some(-32602) {
            let unknown = params.keys().find(|key| {
                !form.takes.contains(&key.as_str())
                    && !["window", "timeout_ms"].contains(&key.as_str())
            });
            if let Some(key) = unknown {
                return wrong(&format!("{at}.{key}"), format!("{method} takes no {key:?}"));
            }
            if let Some(key) = form.needs.iter().find(|key| !params.contains_key(**key)) {
                return wrong(&at, format!("{method} needs {key:?}"));
            }
            let words: [(&str, &[&str]); 4] = [
                ("until", UNTIL),
                ("include", INCLUDE),
                ("mode", &["exposed", "full"]),
                ("verb", EVENTS),
            ];
            for (key, words) in words {
                if let Some(value) = params.get(key) {
                    known_words(&format!("{at}.{key}"), value, words)?;
                }
            }
        }
        self.ids_in(&at, params)
    }

    fn ids_in(&self, at: &str, params: &Map<String, Value>) -> Read<()> {
        for key in ["id", "node", "root", "window"] {
            if let Some(id) = params.get(key) {
                self.known_to_agents(&format!("{at}.{key}"), id)?;
            }
        }
        Ok(())
    }

    fn reply(&mut self, at: &str, message: &Map<String, Value>, expect: &Value) -> Read<()> {
        let method = message.get("method").and_then(Value::as_str);
        let of = match method.and_then(verb_form) {
            Some(_) => Of::Verb,
            None => Of::Other,
        };
        self.expectation(&format!("{at}.expect"), expect, false, of)
    }

    /// `comparing`: inside what is compared and binds nothing.
    fn expectation(&mut self, at: &str, expect: &Value, comparing: bool, of: Of) -> Read<()> {
        match expect {
            Value::String(text) => match variable(text) {
                Some(name) => {
                    if comparing && !self.bound.contains(name) {
                        return wrong(at, format!("${name} is compared before it has a value"));
                    }
                    self.bound.insert(name.to_owned());
                    Ok(())
                }
                None if text.starts_with('$') && !text.starts_with("$$") => wrong(
                    at,
                    format!(
                        "{text:?} is neither a variable nor begins with an escaped dollar sign"
                    ),
                ),
                None => Ok(()),
            },
            Value::Array(items) => items.iter().enumerate().try_for_each(|(n, item)| {
                self.expectation(&format!("{at}[{n}]"), item, comparing, of)
            }),
            Value::Object(map) => self.object(at, expect, map, comparing, of),
            _ => Ok(()),
        }
    }

    fn object(
        &mut self,
        at: &str,
        expect: &Value,
        map: &Map<String, Value>,
        comparing: bool,
        of: Of,
    ) -> Read<()> {
        if let Some(key) = map.keys().find(|key| key.starts_with('$')) {
            if map.len() != 1 || !MATCHERS.contains(&key.as_str()) {
                return wrong(
                    at,
                    format!(
                        "one of {} by itself is expected, not {}",
                        MATCHERS.join(" "),
                        json::short(expect, 120)
                    ),
                );
            }
            if let Some(inside) = map.get(key) {
                matcher(&format!("{at}.{key}"), key, inside)?;
            }
        }
        if repeated(at, expect)?.is_some() {
            return Ok(());
        }
        for (key, inside) in map {
            let comparing = comparing || ["$not", "$gt"].contains(&key.as_str());
            self.expectation(&format!("{at}.{key}"), inside, comparing, of)?;
        }
        self.vocabulary(at, map, of)
    }

    /// The words of the wire, wherever an expectation spells one.
    fn vocabulary(&self, at: &str, map: &Map<String, Value>, of: Of) -> Read<()> {
        let words: [(&str, &[&str]); 4] = [
            ("outcome", OUTCOMES),
            ("why", WHY),
            ("state", STATES),
            ("verb", EVENTS),
        ];
        for (key, words) in words {
            let at = format!("{at}.{key}");
            for word in map.get(key).map(literals).unwrap_or_default() {
                known_words(&at, word, words)?;
            }
        }
        let reason = map
            .get("data")
            .and_then(|data| data.get("reason")?.as_str());
        for code in map.get("code").map(literals).unwrap_or_default() {
            let Some(code) = code.as_i64() else { continue };
            match ERRORS.iter().find(|(known, _)| *known == code) {
                None => return wrong(at, format!("there is no error {code}")),
                Some((_, right)) if reason.is_some_and(|reason| reason != *right) => {
                    return wrong(at, format!("the reason of {code} is {right:?}"));
                }
                Some(_) => {}
            }
        }
        let is_reply = map.contains_key("result") || map.contains_key("error");
        for key in ["id", "source", "by", "removed"] {
            if key == "id" && (of == Of::Other || is_reply) {
                // The id of a message.
                continue;
            }
            for id in map.get(key).map(literals).unwrap_or_default() {
                self.known_to_agents(&format!("{at}.{key}"), id)?;
            }
        }
        Ok(())
    }
}

fn effects_of(node: &Node) -> impl Iterator<Item = &Effect> {
    [&node.on_click, &node.on_change, &node.on_submit]
        .into_iter()
        .flatten()
}

fn matcher(at: &str, key: &str, inside: &Value) -> Read<()> {
    let (holds, what) = match key {
        "$contains" | "$one_of" => (inside.is_array(), "a list"),
        "$exactly" => (inside.is_object(), "an object"),
        "$absent" | "$any" => (*inside == Value::Bool(true), "true"),
        "$len" => (inside.is_u64(), "a whole number"),
        "$includes" => (
            inside.is_string() || inside.get("$repeat").is_some(),
            "a text",
        ),
        "$gt" => (
            inside.is_number() || inside.as_str().is_some_and(|text| variable(text).is_some()),
            "a number or a variable",
        ),
        "$type" => return known_words(at, inside, TYPES),
        _ => return Ok(()),
    };
    if holds {
        Ok(())
    } else {
        wrong(at, format!("{key} takes {what}"))
    }
}

fn known_words(at: &str, value: &Value, words: &[&str]) -> Read<()> {
    let one = std::slice::from_ref(value);
    let values = value.as_array().map_or(one, Vec::as_slice);
    for word in values.iter().filter_map(Value::as_str) {
        if variable(word).is_none() && !words.contains(&word) {
            return wrong(at, format!("{word:?} is none of {}", words.join(", ")));
        }
    }
    Ok(())
}

/// What an expectation spells out, through `$one_of`, `$contains` and `$not`.
fn literals(value: &Value) -> Vec<&Value> {
    match value {
        Value::String(text) if text.starts_with('$') => vec![],
        Value::String(_) | Value::Number(_) => vec![value],
        Value::Array(items) => items.iter().flat_map(literals).collect(),
        Value::Object(map) => ["$one_of", "$contains", "$not"]
            .iter()
            .filter_map(|key| map.get(*key))
            .flat_map(literals)
            .collect(),
        _ => vec![],
    }
}
