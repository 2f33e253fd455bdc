//! Lines from anywhere: whatever comes in, something answerable comes out; whatever goes
//! out can be read back.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests, as in tests")]

use agent_wire::{
    Acted, Described, Event, Failure, Line, Node, NodeValue, Outcome, Reason, RequestId, Text,
    Verb, error_line, notification_line, parse_line, result_line,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The bytes of one line out, as JSON. Fails if it is not one line.
fn read_back(line: &[u8]) -> Value {
    let (last, body) = line.split_last().unwrap();
    assert_eq!(*last, b'\n');
    assert!(!body.contains(&b'\n'));
    serde_json::from_slice(body).unwrap()
}

/// Answers a line as a server without a UI would. `None`: no answer is due.
fn serve(line: &[u8]) -> Option<Value> {
    let (id, failure) = match parse_line(line) {
        Line::Blank | Line::Notification { .. } => return None,
        Line::Bad { id, failure } => {
            assert!(matches!(
                failure.reason,
                Reason::ParseError | Reason::InvalidRequest
            ));
            (id, failure)
        }
        Line::Request(request) => match Verb::named(&request.method) {
            None => (Some(request.id), Failure::unknown_method(&request.method)),
            Some(verb) => match verb.check(request.params.as_ref()) {
                Err(error) => (Some(request.id), error.into()),
                Ok(args) => {
                    assert_eq!(
                        args.id().is_some(),
                        verb.params.iter().any(|p| p.name == "id")
                    );
                    let result = Acted::new(Outcome::NotFound);
                    return Some(read_back(&result_line(&request.id, &result)));
                }
            },
        },
    };
    Some(read_back(&error_line(id.as_ref(), &failure)))
}

/// Every answer is one of the two shapes of JSON-RPC.
fn check_answer(answer: &Value) {
    let object = answer.as_object().unwrap();
    assert_eq!(object.len(), 3);
    assert_eq!(object["jsonrpc"], "2.0");
    let id = &object["id"];
    assert!(id.is_null() || RequestId::from_value(id).is_some());
    if let Some(error) = object.get("error") {
        let reason = error["data"]["reason"].as_str().unwrap();
        let reason = Reason::ALL.iter().find(|r| r.as_str() == reason).unwrap();
        assert_eq!(error["code"], reason.code());
        assert!(error["message"].as_str().unwrap().len() < 2_000);
    } else {
        assert!(object["result"].is_object() && !id.is_null());
    }
}

const VALID: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"describe_ui","params":{"include":["value","state"],"limit":3}}"#,
    r#"{"jsonrpc":"2.0","id":"ключ 🔑","method":"click","params":{"id":"save","timeout_ms":100}}"#,
    r#"{"jsonrpc":"2.0","id":-9223372036854775808,"method":"hello"}"#,
    r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"set_text","params":{"id":"n","value":"\ud83d\ude00\u202e","base_version":7,"from":0,"to":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c2"}}"#,
];

/// Pieces of which hostile lines are made.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    const FRAGMENTS: &[&[u8]] = &[
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\"",
        b"\\",
        b"\r",
        b"\0",
        b"\xff",
        b"\xEF\xBB\xBF",
        b"null",
        b"1e999",
        b"-0",
        b"\\ud800",
        b"\"id\":",
        b"\"method\":",
        b"\"params\":",
        b"\"jsonrpc\":\"2.0\",",
        b"\"click\"",
        "\u{2028}".as_bytes(),
    ];
    prop::sample::select(FRAGMENTS).prop_map(<[u8]>::to_vec)
}

/// Any text, with what troubles readers more often than chance would have it.
fn text() -> impl Strategy<Value = String> {
    let troublesome = prop::sample::select(vec![
        '"',
        '\\',
        '\n',
        '\r',
        '\0',
        '\u{7f}',
        '\u{85}',
        '\u{2028}',
        '\u{2029}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{1f511}',
        '\u{301}',
        '{',
        '`',
    ]);
    prop::collection::vec(prop_oneof![troublesome, any::<char>()], 0..20)
        .prop_map(String::from_iter)
}

fn id() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        text().prop_map(RequestId::Str),
        any::<i64>().prop_map(RequestId::Int),
        any::<u64>().prop_map(RequestId::Uint),
    ]
}

#[test]
fn valid_lines_are_served() {
    for line in VALID {
        let answer = serve(line.as_bytes());
        let due = line.contains("\"id\":") && !line.contains("notifications/");
        assert_eq!(answer.is_some(), due, "{line}");
        if let Some(answer) = answer {
            check_answer(&answer);
            assert!(answer.get("result").is_some(), "{line} {answer}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn rule_13_any_bytes_are_answerable(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        serve(&bytes).iter().for_each(check_answer);
    }

    #[test]
    fn rule_13_any_json_like_line_is_answerable(
        parts in prop::collection::vec(fragment(), 0..40),
    ) {
        serve(&parts.concat()).iter().for_each(check_answer);
    }

    #[test]
    fn rule_13_mutated_requests_are_answerable(
        line in prop::sample::select(VALID),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..3, fragment()), 0..4),
    ) {
        let mut bytes = line.as_bytes().to_vec();
        for (place, kind, piece) in edits {
            let at = place.index(bytes.len() + 1);
            match kind {
                0 => drop(bytes.splice(at..at, piece)),
                1 => drop(bytes.splice(at..(at + piece.len()).min(bytes.len()), piece)),
                _ => drop(bytes.drain(at..(at + 1).min(bytes.len()))),
            }
        }
        serve(&bytes).iter().for_each(check_answer);
    }

    #[test]
    fn rule_13_any_parameters_are_answerable(
        verb in prop::sample::select(agent_wire::VERBS),
        key in prop_oneof![text(), "id|value|mode|include|from|to|limit|timeout_ms|window"],
        value in prop_oneof![
            text().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop::collection::vec(text(), 0..6).prop_map(Value::from),
        ],
    ) {
        let line = json!({
            "jsonrpc": "2.0", "id": 1, "method": verb.name,
            "params": {"id": "x", key: value},
        });
        check_answer(&serve(line.to_string().as_bytes()).unwrap());
    }

    #[test]
    fn a_request_comes_through_unchanged(id in id(), method in text(), value in text()) {
        let params = json!({"value": value});
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        match parse_line(line.to_string().as_bytes()) {
            Line::Request(request) => {
                prop_assert_eq!(request.id, id);
                prop_assert_eq!(request.method, method);
                prop_assert_eq!(request.params, Some(params));
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn replies_can_be_read_back(id in id(), text in text(), number in any::<u64>()) {
        let read = |result: &Value| read_back(&result_line(&id, result))["result"].clone();

        let described = Described {
            revision: number,
            complete: false,
            nodes: vec![Node {
                id: text.clone(),
                role: text.clone().into(),
                name: text.clone(),
                value: Some(NodeValue::Text(text.clone())),
                state: vec![text.clone().into()],
                ..Node::default()
            }],
        };
        let back = read(&serde_json::to_value(&described).unwrap());
        prop_assert_eq!(serde_json::from_value::<Described>(back).unwrap(), described);

        let event = Event {
            seq: number,
            source: text.clone(),
            verb: "changed".into(),
            role: "textbox".into(),
            revision: number,
            request: Some(RequestId::Str(text.clone())),
            detail: Some(text.clone().into()),
        };
        let note = read_back(&notification_line(&text, &event));
        prop_assert_eq!(note["method"].as_str(), Some(text.as_str()));
        prop_assert_eq!(serde_json::from_value::<Event>(note["params"].clone()).unwrap(), event);

        let part = Text {
            text: Some(text.clone()),
            version: number,
            length: None,
            from: None,
            more: true,
        };
        let answer = read_back(&result_line(&id, &part));
        prop_assert_eq!(serde_json::from_value::<Text>(answer["result"].clone()).unwrap(), part);
        prop_assert_eq!(RequestId::from_value(&answer["id"]), Some(id.clone()));

        let failure = Failure::new(Reason::Internal, text);
        let answer = read_back(&error_line(Some(&id), &failure));
        prop_assert_eq!(serde_json::from_value::<Failure>(answer["error"].clone()).unwrap(), failure);
        prop_assert_eq!(RequestId::from_value(&answer["id"]), Some(id));
    }
}
