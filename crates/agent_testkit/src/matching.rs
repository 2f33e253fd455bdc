//! Expectations against what came. Objects match as a subset, arrays exactly, unless a wrapper
//! (`$contains` and the like) says otherwise; a variable binds where it is first met and is
//! compared afterwards.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};

use crate::{
    case::{plain, repeated, variable},
    json,
};

/// What variables stand for, by name without the dollar sign.
pub type Variables = BTreeMap<String, Value>;

/// Where what came is not what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Where, as `result.nodes[2].name`.
    pub at: String,
    /// What was expected there.
    pub expected: String,
    /// What came; `None`: nothing did.
    pub received: Option<Value>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() {
            "the whole"
        } else {
            &self.at
        };
        writeln!(f, "at {at}")?;
        writeln!(f, "  expected {}", json::cut(&self.expected, 2000))?;
        match &self.received {
            Some(value) => write!(f, "  received {}", json::short(value, 2000)),
            None => write!(f, "  received nothing: there is no such key"),
        }
    }
}

/// Whether `received` is what `expected` says; variables that are met first here are bound if
/// it is.
///
/// # Errors
/// Where it is not.
pub fn matches(
    expected: &Value,
    received: &Value,
    variables: &mut Variables,
) -> Result<(), Box<Mismatch>> {
    let mut bound = variables.clone();
    Matching(&mut bound).value("", expected, Some(received))?;
    *variables = bound;
    Ok(())
}

/// What is to be sent, with the values of its variables. A variable without one stays as it is.
pub fn substitute(value: &Value, variables: &Variables) -> Value {
    match value {
        Value::String(text) => match variable(text).and_then(|name| variables.get(name)) {
            Some(value) => value.clone(),
            None => Value::String(plain(text)),
        },
        Value::Array(items) => items.iter().map(|it| substitute(it, variables)).collect(),
        Value::Object(map) => match repeated("", value) {
            Ok(Some(text)) => Value::String(text),
            _ => map
                .iter()
                .map(|(key, value)| (key.clone(), substitute(value, variables)))
                .collect(),
        },
        other => other.clone(),
    }
}

/// Whether two values are the same: numbers by what they say, so that `1` is `1.0`.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let exact = |n: &serde_json::Number| {
                n.as_i64()
                    .map(i128::from)
                    .or_else(|| n.as_u64().map(i128::from))
            };
            match (exact(one), exact(other)) {
                (Some(one), Some(other)) => one == other,
                _ => one.as_f64() == other.as_f64(),
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

type Matched = Result<(), Box<Mismatch>>;

struct Matching<'a>(&'a mut Variables);

fn mismatch(at: &str, expected: impl Into<String>, received: Option<&Value>) -> Matched {
    Err(Box::new(Mismatch {
        at: at.to_owned(),
        expected: expected.into(),
        received: received.cloned(),
    }))
}

fn holds(holds: bool, at: &str, expected: impl FnOnce() -> String, received: &Value) -> Matched {
    if holds {
        Ok(())
    } else {
        mismatch(at, expected(), Some(received))
    }
}

impl Matching<'_> {
    /// Tries without leaving bindings behind if it fails.
    fn tries(&mut self, at: &str, expected: &Value, received: Option<&Value>) -> Matched {
        let before = self.0.clone();
        let matched = self.value(at, expected, received);
        if matched.is_err() {
            *self.0 = before;
        }
        matched
    }

    fn value(&mut self, at: &str, expected: &Value, received: Option<&Value>) -> Matched {
        if let Some((key, inside)) = wrapper(expected) {
            return self.wrapped(at, expected, key, inside, received);
        }
        let Some(received) = received else {
            return mismatch(at, json::short(expected, 2000), None);
        };
        match (expected, received) {
            (Value::String(text), _) => match variable(text) {
                Some(name) => match self.0.get(name) {
                    Some(bound) => holds(
                        same(bound, received),
                        at,
                        || format!("{} (${name})", json::short(bound, 2000)),
                        received,
                    ),
                    None => {
                        self.0.insert(name.to_owned(), received.clone());
                        Ok(())
                    }
                },
                None => {
                    let text = Value::String(plain(text));
                    holds(text == *received, at, || text.to_string(), received)
                }
            },
            (Value::Array(expected), Value::Array(items)) => {
                if expected.len() != items.len() {
                    return mismatch(
                        at,
                        format!(
                            "{} elements, not {}: {}",
                            expected.len(),
                            items.len(),
                            Value::from(expected.clone())
                        ),
                        Some(received),
                    );
                }
                expected
                    .iter()
                    .zip(items)
                    .enumerate()
                    .try_for_each(|(n, (expected, item))| {
                        self.value(&format!("{at}[{n}]"), expected, Some(item))
                    })
            }
            (Value::Object(expected), Value::Object(received)) => {
                self.subset(at, expected, received)
            }
            _ => holds(
                same(expected, received),
                at,
                || json::short(expected, 2000),
                received,
            ),
        }
    }

    fn subset(
        &mut self,
        at: &str,
        expected: &Map<String, Value>,
        received: &Map<String, Value>,
    ) -> Matched {
        expected.iter().try_for_each(|(key, expected)| {
            let dot = if at.is_empty() { "" } else { "." };
            self.value(&format!("{at}{dot}{key}"), expected, received.get(key))
        })
    }

    fn wrapped(
        &mut self,
        at: &str,
        whole: &Value,
        key: &str,
        inside: &Value,
        received: Option<&Value>,
    ) -> Matched {
        match key {
            "$absent" => {
                return match received {
                    None => Ok(()),
                    Some(_) => mismatch(at, "no such key", received),
                };
            }
            "$not" => {
                let before = self.0.clone();
                let matched = self.value(at, inside, received);
                *self.0 = before;
                return match matched {
                    Err(_) => Ok(()),
                    Ok(()) => mismatch(at, format!("not {inside}"), received),
                };
            }
            "$one_of" => {
                let matched = inside
                    .as_array()
                    .is_some_and(|any| any.iter().any(|it| self.tries(at, it, received).is_ok()));
                return if matched {
                    Ok(())
                } else {
                    mismatch(at, format!("one of {inside}"), received)
                };
            }
            _ => {}
        }
        let Some(received) = received else {
            return mismatch(at, json::short(whole, 2000), None);
        };
        match key {
            "$any" => Ok(()),
            "$repeat" => match repeated(at, whole) {
                Ok(Some(text)) => holds(
                    received.as_str() == Some(&text),
                    at,
                    || json::short(whole, 2000),
                    received,
                ),
                _ => mismatch(at, json::short(whole, 2000), Some(received)),
            },
            "$contains" => self.contains(at, inside, received),
            "$exactly" => {
                self.value(at, inside, Some(received))?;
                let extra = match (inside, received) {
                    (Value::Object(inside), Value::Object(map)) => {
                        map.keys().find(|key| !inside.contains_key(*key))
                    }
                    _ => None,
                };
                match extra {
                    None => Ok(()),
                    Some(extra) => mismatch(
                        at,
                        format!("no key {extra:?}, and no other than in {inside}"),
                        Some(received),
                    ),
                }
            }
            "$type" => {
                let is = type_of(received);
                let one = std::slice::from_ref(inside);
                let types = inside.as_array().map_or(one, Vec::as_slice);
                holds(
                    types.iter().any(|it| it == is),
                    at,
                    || format!("a value of type {inside}"),
                    received,
                )
            }
            "$len" => {
                let length = match received {
                    Value::Array(items) => Some(items.len()),
                    Value::Object(map) => Some(map.len()),
                    Value::String(text) => Some(text.chars().count()),
                    _ => None,
                };
                holds(
                    length.map(|length| length as u64) == inside.as_u64(),
                    at,
                    || format!("a length of {inside}, not of {}", length.unwrap_or(0)),
                    received,
                )
            }
            "$gt" => {
                let than = substitute(inside, self.0);
                let greater = match (received.as_i64(), than.as_i64()) {
                    (Some(received), Some(than)) => received > than,
                    _ => received
                        .as_f64()
                        .zip(than.as_f64())
                        .is_some_and(|(received, than)| received > than),
                };
                holds(greater, at, || format!("more than {than}"), received)
            }
            "$each" => match received {
                Value::Array(items) => items.iter().enumerate().try_for_each(|(n, item)| {
                    self.value(&format!("{at}[{n}]"), inside, Some(item))
                }),
                _ => mismatch(at, "an array", Some(received)),
            },
            "$includes" => {
                let part = match substitute(inside, self.0) {
                    Value::String(part) => part,
                    other => other.to_string(),
                };
                holds(
                    received.as_str().is_some_and(|text| text.contains(&part)),
                    at,
                    || format!("a text that includes {part:?}"),
                    received,
                )
            }
            _ => mismatch(at, format!("a known wrapper, not {key}"), Some(received)),
        }
    }

    fn contains(&mut self, at: &str, inside: &Value, received: &Value) -> Matched {
        let (Value::Array(each), Value::Array(items)) = (inside, received) else {
            return mismatch(
                at,
                format!("an array that contains {inside}"),
                Some(received),
            );
        };
        for expected in each {
            let found = items.iter().enumerate().any(|(n, item)| {
                self.tries(&format!("{at}[{n}]"), expected, Some(item))
                    .is_ok()
            });
            if !found {
                return mismatch(
                    at,
                    format!("an array in which one element matches {expected}"),
                    Some(received),
                );
            }
        }
        Ok(())
    }
}

fn wrapper(expected: &Value) -> Option<(&str, &Value)> {
    let map = expected.as_object()?;
    let (key, inside) = map.iter().next()?;
    (map.len() == 1 && key.starts_with('$')).then_some((key, inside))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(expected: &Value, received: &Value) -> Result<Variables, Box<Mismatch>> {
        let mut variables = Variables::from([("v".to_owned(), json!(3))]);
        matches(expected, received, &mut variables)?;
        Ok(variables)
    }

    #[test]
    fn what_matches_and_what_does_not() {
        let yes: &[(Value, Value)] = &[
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!({}), json!({"b": 2})),
            (json!([1, {"a": 1}]), json!([1, {"a": 1, "b": 1}])),
            (json!({"$contains": [{"a": 2}, 1]}), json!([1, {"a": 2}, 3])),
            (
                json!({"$exactly": {"a": {"b": 1}}}),
                json!({"a": {"b": 1, "c": 1}}),
            ),
            (json!({"a": {"$absent": true}}), json!({})),
            (json!({"a": {"$any": true}}), json!({"a": null})),
            (json!({"$type": "string"}), json!("x")),
            (json!({"$type": ["null", "number"]}), json!(1.5)),
            (json!({"$len": 2}), json!("éß")),
            (json!({"$len": 1}), json!([[]])),
            (json!({"a": {"$not": 1}}), json!({})),
            (
                json!({"a": {"$not": {"$contains": ["x"]}}}),
                json!({"a": ["y"]}),
            ),
            (json!({"$gt": 2}), json!(3)),
            (json!({"$gt": "$v"}), json!(3.5)),
            (json!({"$not": {"$gt": "$v"}}), json!(3)),
            (json!({"$one_of": [1, {"$absent": true}]}), json!(1)),
            (json!({"a": {"$one_of": [1, {"$absent": true}]}}), json!({})),
            (
                json!({"$each": {"a": 1}}),
                json!([{"a": 1, "b": 2}, {"a": 1}]),
            ),
            (json!({"$each": 1}), json!([])),
            (json!({"$includes": "b"}), json!("abc")),
            (json!({"$repeat": ["ab", 3]}), json!("ababab")),
            (json!("$v"), json!(3)),
            (json!("$$v"), json!("$v")),
            (json!("a$$b"), json!("a$b")),
            (json!(40), json!(40.0)),
        ];
        for (expected, received) in yes {
            assert!(check(expected, received).is_ok(), "{expected} {received}");
        }
        // Each with the place that is named.
        let no: &[(Value, Value, &str)] = &[
            (json!({"a": {"b": 1}}), json!({"a": {"b": 2}}), "a.b"),
            (json!({"a": 1}), json!({}), "a"),
            (json!([1]), json!([1, 2]), ""),
            (
                json!([1, {"a": [0, 1]}]),
                json!([1, {"a": [0, 2]}]),
                "[1].a[1]",
            ),
            (json!({"$contains": [4]}), json!([1, 2]), ""),
            (json!({"$contains": [4]}), json!("4"), ""),
            (
                json!({"n": {"$exactly": {"a": 1}}}),
                json!({"n": {"a": 1, "b": 1}}),
                "n",
            ),
            (json!({"a": {"$absent": true}}), json!({"a": null}), "a"),
            (json!({"a": {"$any": true}}), json!({}), "a"),
            (json!({"$type": "string"}), json!(1), ""),
            (json!({"$len": 2}), json!(2), ""),
            (json!({"a": {"$not": 1}}), json!({"a": 1}), "a"),
            (json!({"$gt": 3}), json!(3), ""),
            (json!({"$gt": 3}), json!("4"), ""),
            (json!({"$one_of": [1, 2]}), json!(3), ""),
            (
                json!({"$each": {"a": 1}}),
                json!([{"a": 1}, {"a": 2}]),
                "[1].a",
            ),
            (json!({"$includes": "x"}), json!("abc"), ""),
            (json!({"$repeat": ["ab", 3]}), json!("abab"), ""),
            (json!("$v"), json!(4), ""),
            (json!("$$v"), json!(3), ""),
            (json!(1), json!("1"), ""),
            (json!(9007199254740993_u64), json!(9007199254740992_u64), ""),
            (json!({"result": {}}), json!({"result": []}), "result"),
        ];
        for (expected, received, at) in no {
            match check(expected, received) {
                Err(mismatch) => assert_eq!(mismatch.at, *at, "{expected} {received}"),
                Ok(_) => panic!("{expected} matched {received}"),
            }
        }
    }

    #[test]
    fn variables_bind_once_and_only_where_all_matched() {
        let bound = check(
            &json!({"$contains": [{"id": "b", "version": "$w"}]}),
            &json!([{"id": "a", "version": 1}, {"id": "b", "version": 2}]),
        )
        .unwrap();
        assert_eq!(bound["w"], json!(2));
        assert!(check(&json!(["$w", "$w"]), &json!([1, 2])).is_err());
        let mut variables = Variables::new();
        let _ = matches(&json!(["$x", 1]), &json!([1, 2]), &mut variables);
        assert!(variables.is_empty());
        // `$not` binds nothing.
        let bound = check(&json!({"$not": ["$x"]}), &json!(1)).unwrap();
        assert!(!bound.contains_key("x"));
    }

    #[test]
    fn what_is_sent_has_its_values() {
        let variables = Variables::from([("v".to_owned(), json!(3))]);
        let sent = substitute(
            &json!({"a": "$v", "b": ["$$v"], "c": {"$repeat": ["x", 2]}, "d": "$unknown"}),
            &variables,
        );
        assert_eq!(
            sent,
            json!({"a": 3, "b": ["$v"], "c": "xx", "d": "$unknown"})
        );
    }

    #[test]
    fn a_mismatch_says_where_what_and_what_instead() {
        let mismatch = check(
            &json!({"result": {"nodes": [{"name": "Save"}]}}),
            &json!({"result": {"nodes": [{"name": "Sell"}]}}),
        )
        .unwrap_err();
        assert_eq!(
            mismatch.to_string(),
            "at result.nodes[0].name\n  expected \"Save\"\n  received \"Sell\""
        );
    }
}
