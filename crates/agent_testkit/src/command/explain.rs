//! A case as a conversation that can be read.

use serde_json::Value;

use crate::{
    case::{Answer, AppStep, Case, Consent, Does, Effect, Node, Person, Property, Step, What},
    json::short,
};

/// How much of a line is shown.
const WIDTH: usize = 400;

pub(super) fn explain(case: &Case) -> String {
    let mut lines = format!("{}\n{}: {}\n\n", case.name, case.id, case.from);
    for window in &case.windows {
        lines += &tree(window, 0);
    }
    if case.app.consent != Consent::Allow {
        lines += &format!("the gate: {:?}\n", case.app.consent).to_lowercase();
    }
    if case.app.armed_full {
        lines += "the app has armed the whole tree\n";
    }
    lines += "\n";
    lines += &steps(&case.steps, 0);
    for secret in &case.never_on_the_wire {
        lines += &format!("never on the wire: {secret:?}\n");
    }
    for (backend, reason) in &case.skip {
        lines += &format!("not on {backend}: {reason}\n");
    }
    lines
}

fn tree(node: &Node, depth: usize) -> String {
    let mut line = "  ".repeat(depth) + node.kind.word();
    match (&node.id, &node.key, &node.reference) {
        (Some(id), _, _) => line += &format!(" [{id}]"),
        (_, Some(key), _) => line += &format!(" [/{key}]"),
        (_, _, Some(reference)) => line += &format!(" ({reference})"),
        _ => {}
    }
    for text in [node.caption(), &node.label] {
        if !text.is_empty() {
            line += &format!(" {:?}", crate::json::cut(text, 60));
        }
    }
    if node.value.is_some() {
        line += &format!(" = {:?}", crate::json::cut(&node.held_text(), 60));
    }
    for (word, holds) in [
        ("disabled", !node.enabled),
        ("hidden", !node.visible),
        ("read-only", node.read_only),
        ("secret", node.secret),
        ("excluded", node.excluded),
        ("relayed", node.relayed),
        ("confirmed each time", node.confirm),
        ("not exposed", node.exposed == Some(false)),
        ("with a ceiling", node.ceiling.is_some()),
    ] {
        if holds {
            line += &format!(", {word}");
        }
    }
    for (word, effects) in [
        ("pressed", &node.on_click),
        ("changed", &node.on_change),
        ("submitted", &node.on_submit),
    ] {
        if !effects.is_empty() {
            line += &format!("; when {word}: {}", self::effects(effects));
        }
    }
    line += "\n";
    for child in &node.children {
        line += &tree(child, depth + 1);
    }
    line
}

fn effects(effects: &[Effect]) -> String {
    let words: Vec<String> = effects.iter().map(effect).collect();
    words.join(", then ")
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Set { node, to } => match to {
            Property::Text(text) => format!("{node} says {text:?}"),
            Property::Value(value) => format!("{node} holds {value:?}"),
            Property::Name(name) => format!("{node} is called {name:?}"),
            Property::Checked(to) => format!("{node} is {}", if *to { "on" } else { "off" }),
            Property::Enabled(to) => {
                format!("{node} is {}", if *to { "enabled" } else { "disabled" })
            }
            Property::Visible(to) => format!("{node} is {}", if *to { "shown" } else { "hidden" }),
        },
        Effect::Add { parent, nodes, .. } => {
            let what: Vec<String> = nodes
                .iter()
                .map(|it| tree(it, 0).trim().to_owned())
                .collect();
            format!("into {parent} comes {}", what.join(", "))
        }
        Effect::Remove(node) => format!("{node} is removed"),
        Effect::Move { node, parent, at } => format!("{node} moves to place {at} of {parent}"),
        Effect::Open(window) => format!("there opens {}", tree(window, 0).trim()),
        Effect::Modal(window) => format!("there opens, and blocks, {}", tree(window, 0).trim()),
        Effect::Close(window) => format!("{window} closes"),
        Effect::Block(ms) => format!("the UI thread is busy for {ms} ms"),
        Effect::Panic(text) => format!("it fails: {text:?}"),
        Effect::Count(counter) => format!("{counter} is counted"),
    }
}

fn steps(steps: &[Step], depth: usize) -> String {
    steps.iter().map(|it| step(it, depth)).collect()
}

fn step(step: &Step, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let request = |message: &serde_json::Map<String, Value>| {
        let method = message.get("method").and_then(Value::as_str);
        let params = message.get("params").unwrap_or(&Value::Null);
        format!("{} {}", method.unwrap_or_default(), short(params, WIDTH))
    };
    let line = match &step.what {
        What::Send {
            on,
            message,
            expect,
        } => format!(
            "{on} -> {}\n{indent}{on} <- {}",
            request(message),
            short(expect, WIDTH)
        ),
        What::Later { on, message, name } => {
            format!(
                "{on} -> {}   (the reply later, as {name:?})",
                request(message)
            )
        }
        What::Await { name, expect } => format!("{name} <- {}", short(expect, WIDTH)),
        What::Raw {
            on, text, expect, ..
        } => {
            let reply = match expect {
                Some(expect) => format!("{on} <- {}", short(expect, WIDTH)),
                None => format!("{on} <- nothing"),
            };
            format!(
                "{on} -> as it is: {:?}\n{indent}{reply}",
                crate::json::cut(text, WIDTH)
            )
        }
        What::ExpectEvent { on, expect } => format!("{on} <- event {}", short(expect, WIDTH)),
        What::ExpectQuiet { on, ms } => format!("{on} <- no event for {ms} ms"),
        What::ExpectClosed(on) => format!("{on} is ended by the server"),
        What::User(person) => person_does(person),
        What::App(app) => app_does(app),
        What::Connect { name, claims } => match claims {
            Some(claims) => format!("{name} connects, and calls itself {claims:?}"),
            None => format!("{name} connects"),
        },
        What::Disconnect(name) => format!("{name} hangs up"),
        What::Sleep(ms) => format!("{ms} ms pass"),
        What::Repeat { times, steps } => {
            return format!("{indent}{times} times:\n{}", self::steps(steps, depth + 1));
        }
    };
    format!("{indent}{line}\n")
}

fn person_does(person: &Person) -> String {
    let node = &person.node;
    match &person.does {
        Does::Click => format!("the user clicks {node}"),
        Does::Type(text) => format!("the user types {text:?} into {node}"),
        Does::Clear => format!("the user clears {node}"),
        Does::Submit => format!("the user presses Enter in {node}"),
        Does::Undo => format!("the user presses the undo key in {node}"),
        Does::Check(true) => format!("the user switches {node} on"),
        Does::Check(false) => format!("the user switches {node} off"),
        Does::Select => format!("the user selects {node}"),
        Does::Scroll(to) => format!("the user scrolls {node} to {to}"),
        Does::CloseWindow => format!("the user closes the window {node}"),
        Does::Resize { width, height } => format!("the user resizes {node} to {width} by {height}"),
    }
}

fn app_does(app: &AppStep) -> String {
    let mut lines = Vec::new();
    if let Some(consent) = app.consent {
        lines.push(format!("the gate from now on: {consent:?}").to_lowercase());
    }
    if app.revoke {
        lines.push("all agents are revoked".to_owned());
    }
    match app.answer {
        Some(Answer::Allow) => lines.push("the user says yes".to_owned()),
        Some(Answer::Deny) => lines.push("the user says no".to_owned()),
        Some(Answer::Dismiss) => lines.push("the user waves the question away".to_owned()),
        None => {}
    }
    if !app.effects.is_empty() {
        lines.push(format!("the app: {}", effects(&app.effects)));
    }
    for (counter, times) in &app.counters {
        lines.push(format!("{counter} was counted {times} times"));
    }
    if let Some(prompts) = &app.prompts {
        lines.push(format!("questions: {prompts}"));
    }
    lines.join("; ")
}
