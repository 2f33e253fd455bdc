//! One line in, judged in the order: parse, id, the rest of the envelope.
//!
//! What comes after (the method's name, the form of its parameters, the gate) is for the
//! server: [`Verb::named`](crate::Verb::named), [`Verb::check`](crate::Verb::check).

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::error::{Failure, Reason};
use crate::limits;

/// What one line is.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Nothing but white space: to be ignored.
    Blank,
    /// Asks for exactly one answer.
    Request(Request),
    /// Has no id: never answered, and if it names a verb, not performed.
    Notification {
        /// What it is about; of any length.
        method: String,
        /// As sent, of any type.
        params: Option<Value>,
    },
    /// Not a request, to be answered with `failure`.
    Bad {
        /// The id to answer with; `None` is `null`.
        id: Option<RequestId>,
        /// [`Reason::ParseError`] or [`Reason::InvalidRequest`].
        failure: Failure,
    },
}

/// A well-formed request. Its method need not exist, and its parameters are not yet judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// To be echoed in the answer.
    pub id: RequestId,
    /// The method's name as sent, of any length.
    pub method: String,
    /// As sent, of any type; `Some(Value::Null)` is not the same as `None`.
    pub params: Option<Value>,
}

/// The id of a request: a string or an integer, exact to 64 bits.
///
/// `"1"` and `1` differ. An integer is the same id in either variant that can hold it.
#[derive(Debug, Clone)]
pub enum RequestId {
    /// A string, the empty one included.
    Str(String),
    /// An integer from `i64::MIN` to `i64::MAX`.
    Int(i64),
    /// An integer; from the wire, only one above `i64::MAX`.
    Uint(u64),
}

impl RequestId {
    /// Reads an id from a JSON value, such as the `requestId` of `notifications/cancelled`.
    /// `None` if it is neither a string nor an integer of 64 bits.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Str(text.clone())),
            Value::Number(number) => number
                .as_i64()
                .map(Self::Int)
                .or_else(|| number.as_u64().map(Self::Uint)),
            _ => None,
        }
    }

    /// The one form in which ids are compared.
    fn canonical(&self) -> Result<i128, &str> {
        match self {
            Self::Str(text) => Err(text),
            Self::Int(number) => Ok(i128::from(*number)),
            Self::Uint(number) => Ok(i128::from(*number)),
        }
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical().hash(state);
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Str(text) => serializer.serialize_str(text),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Uint(number) => serializer.serialize_u64(*number),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(&value).ok_or_else(|| de::Error::custom("neither a string nor an integer"))
    }
}

/// Judges one line, without its newline. Never panics, whatever the bytes.
///
/// Memory: a JSON value takes up to some twenty times the bytes it was written with, so
/// the line's length should be bounded first, as [`LineSplitter`](crate::LineSplitter) does.
pub fn parse_line(bytes: &[u8]) -> Line {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return not_json("the line is not UTF-8".into());
    };
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return Line::Blank;
    }
    if nested_too_deep(text) {
        let deepest = limits::NESTING;
        return not_json(format!("the line is nested deeper than {deepest}"));
    }
    match serde_json::from_str(text) {
        Ok(Top::Object(members)) => judge(members),
        Ok(Top::Array) => invalid(None, "batches are not served; send one object a line"),
        Ok(Top::Scalar) => invalid(None, "a request is a JSON object"),
        // Only the place: the parser's own words could repeat a value.
        Err(e) => not_json(format!("not JSON, at column {}", e.column())),
    }
}

fn judge(members: Members) -> Line {
    let id = match members.id {
        Member::Absent => None,
        Member::Once(value) => match RequestId::from_value(&value) {
            Some(id) => Some(id),
            None => {
                return invalid(
                    None,
                    "`id` must be a string or an integer of at most 64 bits",
                );
            }
        },
        // Which of the two would be answered? Neither.
        Member::Twice => return invalid(None, "`id` stands twice in the request"),
    };
    match members.jsonrpc {
        Member::Once(Value::String(version)) if version == "2.0" => {}
        Member::Twice => return invalid(id, "`jsonrpc` stands twice in the request"),
        _ => return invalid(id, "`jsonrpc` must be \"2.0\""),
    }
    let method = match members.method {
        Member::Once(Value::String(method)) => method,
        Member::Once(_) => return invalid(id, "`method` must be a string"),
        Member::Twice => return invalid(id, "`method` stands twice in the request"),
        Member::Absent if members.response => {
            return invalid(id, "this is a response, and nothing was asked");
        }
        Member::Absent => return invalid(id, "`method` is missing"),
    };
    let params = match members.params {
        Member::Absent => None,
        Member::Once(params) => Some(params),
        Member::Twice => return invalid(id, "`params` stands twice in the request"),
    };
    match id {
        Some(id) => Line::Request(Request { id, method, params }),
        None => Line::Notification { method, params },
    }
}

fn not_json(what: String) -> Line {
    Line::Bad {
        id: None,
        failure: Failure::new(
            Reason::ParseError,
            format!("{what}; send one JSON object a line"),
        ),
    }
}

fn invalid(id: Option<RequestId>, what: &str) -> Line {
    Line::Bad {
        id,
        failure: Failure::new(Reason::InvalidRequest, what),
    }
}

/// Whether brackets outside strings are nested deeper than [`limits::NESTING`]. Looks at
/// the bytes, so that no parser recurses before the answer is known.
fn nested_too_deep(text: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > limits::NESTING {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// A whole line of JSON, as far as a request is concerned.
enum Top {
    Object(Members),
    Array,
    Scalar,
}

/// The members of a request object; what else stands in it is ignored.
#[derive(Default)]
struct Members {
    jsonrpc: Member,
    id: Member,
    method: Member,
    params: Member,
    response: bool,
}

/// A member that must not stand twice: two readers could each take another one for the
/// true one. (`serde_json::Value` would silently take the last.)
#[derive(Default)]
enum Member {
    #[default]
    Absent,
    Once(Value),
    Twice,
}

impl Member {
    fn add(&mut self, value: Value) {
        *self = match self {
            Self::Absent => Self::Once(value),
            Self::Once(_) | Self::Twice => Self::Twice,
        };
    }
}

impl<'de> Deserialize<'de> for Top {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top, A::Error> {
        let mut members = Members::default();
        while let Some(key) = map.next_key::<String>()? {
            // Read even where it is not looked at: what is not JSON must not pass.
            let value = map.next_value::<Value>()?;
            match key.as_str() {
                "jsonrpc" => members.jsonrpc.add(value),
                "id" => members.id.add(value),
                "method" => members.method.add(value),
                "params" => members.params.add(value),
                "result" | "error" => members.response = true,
                _ => {}
            }
        }
        Ok(Top::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Top, A::Error> {
        while seq.next_element::<Value>()?.is_some() {}
        Ok(Top::Array)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Top, E> {
        Ok(Top::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Top, E> {
        Ok(Top::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Top, E> {
        Ok(Top::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Top, E> {
        Ok(Top::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Top, E> {
        Ok(Top::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Top, E> {
        Ok(Top::Scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line came to, in one string.
    fn verdict(line: &[u8]) -> String {
        let id = |id: &Option<RequestId>| match id {
            Some(id) => serde_json::to_string(id).unwrap(),
            None => "null".into(),
        };
        match parse_line(line) {
            Line::Blank => "blank".into(),
            Line::Request(r) => format!("request {} {}", id(&Some(r.id)), r.method),
            Line::Notification { method, .. } => format!("notification {method}"),
            Line::Bad { id: i, failure } => format!("{} {}", failure.reason, id(&i)),
        }
    }

    #[track_caller]
    fn check(line: impl AsRef<[u8]>, expected: &str) {
        let line = line.as_ref();
        assert_eq!(verdict(line), expected, "{}", String::from_utf8_lossy(line));
    }

    #[test]
    fn lines_are_told_apart() {
        check("", "blank");
        check(" \t \r", "blank");
        check("\u{feff}\r", "blank");
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"click"}"#,
            "request 1 click",
        );
        check(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"click\"}\r",
            "request 1 click",
        );
        check(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"click\"}",
            "request 1 click",
        );
        check(
            r#" {"method":"a","jsonrpc":"2.0","id":1,"_x":[{}]} "#,
            "request 1 a",
        );
        check(
            r#"{"jsonrpc":"2.0","method":"click","params":{}}"#,
            "notification click",
        );
        check(
            r#"{"jsonrpc":"2.0","method":"click","params":null}"#,
            "notification click",
        );
        check(
            r#"{"jsonrpc":"2.0","id":5,"method":"a","params":[1]}"#,
            "request 5 a",
        );
        check(
            r#"{"jsonrpc":"2.0","id":5,"method":"a","params":7}"#,
            "request 5 a",
        );
        // A surplus member doesn't make a request a response.
        check(
            r#"{"jsonrpc":"2.0","id":5,"method":"a","result":7}"#,
            "request 5 a",
        );
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        check("not json", "parse_error null");
        check("\u{feff}\u{feff}{}", "parse_error null");
        check("\u{a0}", "parse_error null");
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"click""#,
            "parse_error null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"click"} {}"#,
            "parse_error null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a",}"#,
            "parse_error null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":01,"method":"a"}"#,
            "parse_error null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":NaN,"method":"a"}"#,
            "parse_error null",
        );
        check(
            b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"a\"}",
            "parse_error null",
        );
        check(b"\xff\xfe{\0}\0", "parse_error null");
        check("\0", "parse_error null");
        // A lone surrogate is no text, wherever it stands.
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"\ud83d"}"#,
            "parse_error null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","x":"\ude00"}"#,
            "parse_error null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"a"}"#,
            "request \"😀\" a",
        );
        check(
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\",\"method\":\"a\"}",
            "parse_error null",
        );
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id() {
        check("[]", "invalid_request null");
        check(
            r#"[{"jsonrpc":"2.0","id":1,"method":"click"}]"#,
            "invalid_request null",
        );
        for scalar in ["42", "-1", "1.5", "true", "null", "\"text\"", "\"{}\""] {
            check(scalar, "invalid_request null");
        }
        check("{}", "invalid_request null");
        check(r#"{"id":1,"method":"a"}"#, "invalid_request 1");
        check(
            r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#,
            "invalid_request 1",
        );
        check(
            r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#,
            "invalid_request 1",
        );
        check(r#"{"jsonrpc":"1.0","method":"a"}"#, "invalid_request null");
        check(r#"{"jsonrpc":"2.0","id":2}"#, "invalid_request 2");
        check(
            r#"{"jsonrpc":"2.0","id":"b","method":7}"#,
            "invalid_request \"b\"",
        );
        check(
            r#"{"jsonrpc":"2.0","id":3,"method":null}"#,
            "invalid_request 3",
        );
        check(
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
            "invalid_request 3",
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
            "invalid_request null",
        );
    }

    #[test]
    fn ids_are_strings_or_exact_integers() {
        let id = |json: &str, expected: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{json},"method":"a"}}"#);
            check(line, expected);
        };
        for echoed in [
            "0",
            "1",
            "-1",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "-9223372036854775808",
            "\"1\"",
            "\"\"",
            "\"ключ 🔑\"",
        ] {
            id(echoed, &format!("request {echoed} a"));
        }
        for odd in [
            "18446744073709551616",
            "-9223372036854775809",
            "1.0",
            "1.5",
            "1e3",
            "1E3",
            "-0.0",
            "true",
            "null",
            "[]",
            "{}",
            "[1]",
        ] {
            id(odd, "invalid_request null");
        }
    }

    #[test]
    fn no_member_of_a_request_may_stand_twice() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#,
            "invalid_request null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"a"}"#,
            "invalid_request null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            "invalid_request 1",
        );
        check(
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#,
            "invalid_request 1",
        );
        check(
            r#"{"jsonrpc":"2.0","params":{},"id":1,"method":"a","params":{}}"#,
            "invalid_request 1",
        );
        check(
            r#"{"jsonrpc":"2.0","method":"a","method":"a"}"#,
            "invalid_request null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":2}"#,
            "request 1 a",
        );
    }

    #[test]
    fn nesting_is_bounded_before_anything_recurses() {
        let nested = |depth: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}{}}}"#,
                "[".repeat(depth - 1),
                "]".repeat(depth - 1)
            )
        };
        check(nested(limits::NESTING), "request 1 a");
        check(nested(limits::NESTING + 1), "parse_error null");
        check("[".repeat(1_000_000), "parse_error null");
        check("{\"a\":".repeat(1_000_000), "parse_error null");
        check("]".repeat(1_000_000), "parse_error null");
        // Brackets in a string are text, also behind an escaped quote.
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"\"{}\\"}}"#,
            "[".repeat(1000)
        );
        check(&text, &format!("request 1 \"{}\\", "[".repeat(1000)));
    }

    #[test]
    fn one_integer_is_one_id() {
        use std::collections::HashSet;
        let mut ids = HashSet::from([RequestId::Int(5), RequestId::Str("5".into())]);
        assert!(!ids.insert(RequestId::Uint(5)));
        assert!(ids.insert(RequestId::Uint(u64::MAX)));
        assert!(ids.insert(RequestId::Int(-1)));
        assert_eq!(
            serde_json::from_str::<RequestId>("5").unwrap(),
            RequestId::Uint(5)
        );
        assert!(serde_json::from_str::<RequestId>("5.0").is_err());
    }

    #[test]
    fn messages_repeat_nothing_of_the_line() {
        for line in [
            r#"{"jsonrpc":"hunter2","id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":["hunter2"],"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":{"hunter2":1}}"#,
            r#"{"hunter2" hunter2"#,
            r#"["hunter2"]"#,
        ] {
            let Line::Bad { failure, .. } = parse_line(line.as_bytes()) else {
                panic!("{line}");
            };
            assert!(!failure.message.contains("hunter2"), "{failure}");
        }
    }
}
