//! Tests that walk the table. A new row is under all of them as soon as it stands there.

use serde_json::{Map, Value, json};

use super::*;
use crate::error::Failure;

/// The order in which every client is told of the tools.
const ORDER: &[&str] = &[
    "describe_ui",
    "get_text",
    "click",
    "set_text",
    "scroll_to",
    "focus",
    "submit",
    "select",
    "set_checked",
    "set_value",
    "expand",
    "collapse",
    "subscribe",
    "poll_events",
    "unsubscribe",
    "wait_for",
    "hello",
];

/// What a parameter of this kind takes at its bounds, and what it must not take.
fn samples(kind: ParamKind) -> (Vec<Value>, Vec<Value>) {
    let text = |bytes: usize| Value::from("x".repeat(bytes));
    let mut good = Vec::new();
    let mut bad = vec![json!(null), json!({}), json!([[]]), json!({"id": "x"})];
    match kind {
        ParamKind::Id => {
            good.extend([json!("x"), json!("a/b%20c"), text(limits::ID_BYTES)]);
            bad.extend([
                json!(""),
                text(limits::ID_BYTES + 1),
                "ü".repeat(101).into(),
            ]);
        }
        ParamKind::Text => good.extend([json!(""), json!("\0\u{202e}\"\n"), text(100_000)]),
        ParamKind::ShortText => {
            good.extend([json!(""), text(limits::SHORT_TEXT_BYTES)]);
            bad.push(text(limits::SHORT_TEXT_BYTES + 1));
        }
        ParamKind::Bool => {
            good.extend([json!(true), json!(false)]);
            bad.extend([json!("true"), json!(1)]);
        }
        ParamKind::Integer { min, max } => {
            good.extend([json!(min), json!(max)]);
            bad.extend([json!("5"), json!(5.0), json!(5.5), json!(-1), json!(1e30)]);
            bad.extend(min.checked_sub(1).map(Value::from));
            bad.extend(max.checked_add(1).map(Value::from));
        }
        ParamKind::Number => {
            good.extend([json!(0), json!(-1), json!(0.5), json!(u64::MAX)]);
            bad.push(json!("1"));
        }
        ParamKind::OneOf(words) => {
            good.extend(words.iter().map(|w| json!(w)));
            bad.extend([json!("hunter2"), json!([words[0]]), json!("")]);
        }
        ParamKind::ListOf(words) => {
            good.extend([json!([]), json!(words)]);
            bad.extend([
                json!(words[0]),
                json!([words[0], words[0]]),
                json!(["hunter2"]),
            ]);
        }
        ParamKind::UntilValue => {
            good.extend([json!(""), json!("x"), json!(0), json!(u64::MAX)]);
            bad.extend([json!(-1), json!(1.5), json!(true)]);
        }
    }
    if !matches!(kind, ParamKind::Bool) {
        bad.push(json!(true));
    }
    if !matches!(
        kind,
        ParamKind::Integer { .. } | ParamKind::Number | ParamKind::UntilValue
    ) {
        bad.push(json!(7));
    }
    (good, bad)
}

/// A value of each required parameter and of no other.
fn minimal(verb: &Verb) -> Map<String, Value> {
    let required = verb.parameters().filter(|p| p.required);
    required
        .map(|p| (p.name.to_owned(), samples(p.kind).0.remove(0)))
        .collect()
}

/// Whether `value` is valid by `schema`, as far as our schemas go. An unknown keyword
/// fails, so that this stays as complete as they are.
fn valid(schema: &Value, value: &Value) -> bool {
    schema
        .as_object()
        .unwrap()
        .iter()
        .all(|(keyword, rule)| match keyword.as_str() {
            "description" => true,
            "type" => match rule {
                Value::Array(types) => types.iter().any(|t| valid(&json!({"type": t}), value)),
                _ => match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    other => panic!("type {other}"),
                },
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|v| v >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|v| v <= rule.as_f64().unwrap()),
            "items" => value
                .as_array()
                .is_none_or(|l| l.iter().all(|v| valid(rule, v))),
            "uniqueItems" => value.as_array().is_none_or(|list| {
                let texts: std::collections::BTreeSet<_> =
                    list.iter().map(Value::to_string).collect();
                texts.len() == list.len()
            }),
            "properties" => value.as_object().is_none_or(|object| {
                object
                    .iter()
                    .all(|(k, v)| rule.get(k).is_none_or(|rule| valid(rule, v)))
            }),
            "required" => {
                let names = rule.as_array().unwrap();
                names
                    .iter()
                    .all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "additionalProperties" => {
                assert_eq!(rule, &json!(false));
                let known = &schema["properties"];
                value
                    .as_object()
                    .is_none_or(|o| o.keys().all(|k| known.get(k).is_some()))
            }
            other => panic!("keyword {other}"),
        })
}

#[track_caller]
fn admitted(verb: &Verb, params: &Value) {
    let refused = verb.check(Some(params)).err();
    assert_eq!(refused, None, "{} {params}", verb.name);
    assert!(valid(&verb.json_schema(), params), "{} {params}", verb.name);
}

/// `check` refuses and names the parameter, both as data and in words.
#[track_caller]
fn refused(verb: &Verb, params: &Value, parameter: &str) -> String {
    let error = verb.check(Some(params)).expect_err(verb.name);
    assert_eq!(error.parameter(), Some(parameter), "{} {params}", verb.name);
    assert!(error.message().contains(parameter), "{error}");
    assert!(!error.message().contains("hunter2"), "{error}");
    error.message().to_owned()
}

#[test]
fn rows_are_well_formed() {
    let mut places = VERBS
        .iter()
        .map(|v| ORDER.iter().position(|name| *name == v.name));
    let mut last = None;
    assert!(places.all(|place| {
        let later = place.is_some() && place > last;
        last = place;
        later
    }));
    for (n, verb) in VERBS.iter().enumerate() {
        assert!(
            VERBS
                .iter()
                .skip(n + 1)
                .all(|other| other.name != verb.name),
            "{}",
            verb.name
        );
        assert!(
            !verb.summary.is_empty() && verb.summary.ends_with('.'),
            "{}",
            verb.name
        );
        assert!(
            verb.summary.matches(". ").count() <= 1,
            "{}: one or two sentences",
            verb.name
        );
        assert!(verb.result.starts_with("`{"), "{}", verb.name);
        assert!(
            !(verb.read_only && (verb.acting || verb.destructive)),
            "{}",
            verb.name
        );

        let params: Vec<Param> = verb.parameters().collect();
        assert!(
            params.is_sorted_by_key(|p| !p.required),
            "{}: required first",
            verb.name
        );
        for (n, param) in params.iter().enumerate() {
            assert!(params[n + 1..].iter().all(|other| other.name != param.name));
            assert!(
                !param.doc.is_empty() && !param.doc.contains('|'),
                "{}",
                param.name
            );
        }
        for (first, last) in verb.ranges {
            for end in [first, last] {
                let end = params.iter().find(|p| p.name == *end).unwrap();
                assert!(matches!(end.kind, ParamKind::Integer { .. }) && !end.required);
            }
        }
        let default = verb.timeout.default_ms.to_string();
        assert!(verb.timeout.doc.contains(&default), "{}", verb.timeout.doc);
    }
}

#[test]
fn rule_12_check_and_schema_agree() {
    for verb in VERBS.iter() {
        let schema = verb.json_schema();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        let minimal = minimal(verb);
        admitted(verb, &minimal.clone().into());

        for param in verb.parameters() {
            let with = |value: Value| {
                let mut params = minimal.clone();
                for (first, last) in verb.ranges {
                    if [first, last].contains(&&param.name) {
                        params.insert((*first).into(), value.clone());
                        params.insert((*last).into(), value.clone());
                    }
                }
                params.insert(param.name.into(), value);
                Value::Object(params)
            };
            let (good, bad) = samples(param.kind);
            for value in good {
                admitted(verb, &with(value));
            }
            for value in bad {
                // Of a range, both ends are wrong here and the first is told.
                let told = verb.ranges.iter().find(|r| r.1 == param.name);
                refused(verb, &with(value), told.map_or(param.name, |r| r.0));
            }
            if param.required {
                let mut without = minimal.clone();
                without.remove(param.name);
                refused(verb, &without.clone().into(), param.name);
                assert!(!valid(&schema, &without.into()));
            }
        }

        let mut surplus = minimal.clone();
        surplus.insert("zzzzzz".into(), json!("hunter2"));
        refused(verb, &surplus.clone().into(), "zzzzzz");
        assert!(!valid(&schema, &surplus.into()));
    }
}

#[test]
fn params_must_be_an_object() {
    for verb in VERBS.iter() {
        for params in [
            json!(null),
            json!([]),
            json!(["x"]),
            json!(5),
            json!("x"),
            json!(false),
        ] {
            let error = verb.check(Some(&params)).unwrap_err();
            assert_eq!(error.parameter(), None);
            assert!(error.message().contains("params"), "{error}");
        }
        let none = verb.check(None).err();
        assert_eq!(none, verb.check(Some(&json!({}))).err());
    }
}

#[test]
fn faults_are_named_with_what_would_be_right() {
    let check = |verb: &str, params: Value, parameter: &str, message: &str| {
        let verb = VERBS.iter().find(|v| v.name == verb).unwrap();
        assert_eq!(refused(verb, &params, parameter), message);
    };
    check(
        "describe_ui",
        json!({"inclde": ["value"]}),
        "inclde",
        "unknown parameter `inclde`; did you mean `include`?",
    );
    check(
        "set_text",
        json!({"id": "a", "value": "hunter2", "base_version": 1, "force": true}),
        "force",
        "unknown parameter `force`; set_text takes `id`, `value`, `base_version`, `from`, `to`, \
         `window`, `timeout_ms`",
    );
    check(
        "set_text",
        json!({"id": "name", "value": "hunter2"}),
        "base_version",
        "missing parameter `base_version`: the version that you read",
    );
    check(
        "set_text",
        json!({"id": "name", "value": 5, "base_version": 1}),
        "value",
        "parameter `value` must be a string",
    );
    check(
        "get_text",
        json!({}),
        "id",
        "missing parameter `id`: the node's id",
    );
    check(
        "get_text",
        json!({"id": ""}),
        "id",
        "parameter `id` must be a string of 1 to 200 bytes",
    );
    check(
        "set_checked",
        json!({"id": "gift", "checked": "yes"}),
        "checked",
        "parameter `checked` must be true or false",
    );
    check(
        "describe_ui",
        json!({"mode": "fullest"}),
        "mode",
        "parameter `mode` must be one of `exposed`, `full`",
    );
    check(
        "describe_ui",
        json!({"include": ["colour"]}),
        "include",
        "parameter `include` must be a list of any of `value`, `state`, `actions`, `frame`, each \
         at most once",
    );
    check(
        "describe_ui",
        json!({"limit": 501}),
        "limit",
        "parameter `limit` must be an integer from 1 to 500",
    );
    check(
        "click",
        json!({"id": "a", "timeout_ms": 0}),
        "timeout_ms",
        "parameter `timeout_ms` must be an integer from 1 to 30000",
    );
    check(
        "wait_for",
        json!({"until": "gone", "timeout_ms": 30_001}),
        "timeout_ms",
        "parameter `timeout_ms` must be an integer from 0 to 30000",
    );
    let set_text = |mut params: Value, parameter: &str, message: &str| {
        let object = params.as_object_mut().unwrap();
        object.extend(minimal(Verb::named("set_text").unwrap()));
        check("set_text", params, parameter, message);
    };
    set_text(
        json!({"from": 3}),
        "to",
        "missing parameter `to`: it goes with `from`",
    );
    set_text(
        json!({"to": 3}),
        "from",
        "missing parameter `from`: it goes with `to`",
    );
    set_text(
        json!({"from": 4, "to": 3}),
        "to",
        "parameter `to` must not be less than `from`",
    );
}

#[test]
fn an_unknown_name_is_cut_and_made_harmless() {
    let click = Verb::named("click").unwrap();
    let long = "k".repeat(1_000_000);
    let error = click.check(Some(&json!({ long: 1 }))).unwrap_err();
    assert!(error.message().len() < 200, "{error}");
    let error = click.check(Some(&json!({"a\n\u{202e}`b": 1}))).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("unknown parameter `a\\u{a}\\u{202e}\\u{60}b`; ")
    );
    let error = ParamError::new("to", "not be above 10, the length of the text");
    assert_eq!(
        Failure::from(error).to_string(),
        "invalid_params: parameter `to` must not be above 10, the length of the text"
    );
}

#[test]
fn checked_parameters_are_read_by_name() {
    let params = json!({
        "id": "body", "value": "x", "base_version": u64::MAX, "from": 6, "to": 11,
        "window": "main", "timeout_ms": 300,
    });
    let args = Verb::named("set_text")
        .unwrap()
        .check(Some(&params))
        .unwrap();
    assert_eq!(args.id(), Some("body"));
    assert_eq!(args.window(), Some("main"));
    assert_eq!(args.text("value"), Some("x"));
    assert_eq!(args.integer("base_version"), Some(u64::MAX));
    assert_eq!(args.range("from", "to"), Some((6, 11)));
    assert_eq!(args.timeout_ms(), 300);
    // Asked for what isn't there, or isn't of that type.
    assert_eq!(args.integer("value"), None);
    assert_eq!(args.number("id"), None);
    assert_eq!(args.boolean("value"), None);
    assert_eq!(args.text("nonsense"), None);
    assert_eq!(args.range("to", "nonsense"), None);
    assert_eq!(args.words("value").count(), 0);

    let params = json!({"include": ["frame", "value"]});
    let args = Verb::named("describe_ui")
        .unwrap()
        .check(Some(&params))
        .unwrap();
    assert!(args.words("include").eq(["frame", "value"]));
    assert_eq!(args.timeout_ms(), 2_000);
    assert_eq!(args.id(), None);

    let wait_for = VERBS.iter().find(|v| v.name == "wait_for").unwrap();
    let params = json!({"until": "revision_after", "value": 3});
    let args = wait_for.check(Some(&params)).unwrap();
    assert_eq!(args.timeout_ms(), 5_000);
    assert_eq!(args.integer("value"), Some(3));

    let args = Verb::named("hello").unwrap().check(None).unwrap();
    assert_eq!((args.text("name"), args.timeout_ms()), (None, 2_000));
}

#[test]
fn all_tools_together_stay_within_two_thousand_tokens() {
    // The tokenizer o200k_base makes a token of 4.2 characters of this text; 4 is on the safe
    // side.
    let tools: Vec<Value> = VERBS
        .iter()
        .map(|verb| {
            let annotations = match verb.read_only {
                true => json!({"readOnlyHint": true}),
                false => json!({
                    "readOnlyHint": false,
                    "idempotentHint": verb.idempotent,
                    "destructiveHint": verb.destructive,
                }),
            };
            json!({
                "name": verb.name,
                "description": verb.summary,
                "inputSchema": verb.json_schema(),
                "annotations": annotations,
            })
        })
        .collect();
    assert_eq!(tools.len(), ORDER.len());
    let characters = json!({ "tools": tools }).to_string().chars().count();
    assert!(characters / 4 < 2_000, "{characters} characters");
}

#[test]
fn the_docs_page_has_every_verb_and_parameter() {
    let page = crate::verbs_markdown();
    assert_eq!(page, crate::verbs_markdown());
    let mut sections = page.split("\n## ").skip(1);
    for verb in VERBS {
        let section = sections.next().unwrap();
        assert!(section.starts_with(&format!("`{}`\n\n{}\n", verb.name, verb.summary)));
        assert!(section.contains(verb.result));
        for param in verb.parameters() {
            assert!(
                section.contains(&format!("\n| `{}`", param.name)),
                "{section}"
            );
        }
        // A table of three columns, and no row broken by what stands in it.
        for line in section.lines().filter(|line| line.starts_with('|')) {
            assert_eq!(line.matches('|').count(), 4, "{line}");
        }
    }
    assert_eq!(sections.next(), None);
}
