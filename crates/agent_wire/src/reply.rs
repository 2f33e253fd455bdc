//! Lines out. Each ends in a newline and holds no other.

use serde::Serialize;

use crate::error::Failure;
use crate::message::RequestId;

const JSONRPC: &str = "2.0";

/// What goes out if even an error cannot be written as JSON, which no type of ours does.
const LAST_RESORT: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\
      \"the answer could not be written\",\"data\":{\"reason\":\"internal\"}}}\n";

#[derive(Serialize)]
struct ResultLine<'a, T> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a T,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RequestId>,
    error: &'a Failure,
}

#[derive(Serialize)]
struct NotificationLine<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: &'a T,
}

/// The answer to a request that worked. A result that cannot be written as JSON (a map
/// with keys that are no strings, say) becomes an error, so that there is always an answer.
pub fn result_line(id: &RequestId, result: &impl Serialize) -> Vec<u8> {
    line(&ResultLine {
        jsonrpc: JSONRPC,
        id,
        result,
    })
    .unwrap_or_else(|| error_line(Some(id), &Failure::internal()))
}

/// The answer to a request that did not work; without an `id` it goes out as `null`.
pub fn error_line(id: Option<&RequestId>, error: &Failure) -> Vec<u8> {
    line(&ErrorLine {
        jsonrpc: JSONRPC,
        id,
        error,
    })
    .unwrap_or_else(|| LAST_RESORT.to_vec())
}

/// Something told without being asked; empty, so nothing is sent, if `params` cannot be
/// written as JSON.
pub fn notification_line(method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&NotificationLine {
        jsonrpc: JSONRPC,
        method,
        params,
    })
    .unwrap_or_default()
}

fn line(message: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message).ok()?;
    // In a string a newline is always escaped, so that one can only come from white space
    // in ready-made JSON (`serde_json::value::RawValue`). Any other white space is as good.
    for byte in &mut bytes {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    bytes.push(b'\n');
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;
    use serde_json::json;

    fn check(line: Vec<u8>, expected: &str) {
        assert_eq!(String::from_utf8(line).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn replies_have_their_keys_in_order() {
        check(
            result_line(&RequestId::Int(1), &json!({})),
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        );
        check(
            result_line(
                &RequestId::Str("a\n\"".into()),
                &json!("\n\u{2028}\u{202e}"),
            ),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\n\\\"\",\"result\":\"\\n\u{2028}\u{202e}\"}",
        );
        check(
            error_line(None, &Failure::new(Reason::ParseError, "no\njson")),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no\njson","data":{"reason":"parse_error"}}}"#,
        );
        check(
            notification_line("event", &json!({"seq": 1})),
            r#"{"jsonrpc":"2.0","method":"event","params":{"seq":1}}"#,
        );
    }

    #[test]
    fn there_is_always_an_answer() {
        let no_json = std::collections::HashMap::from([(vec![1], 2)]);
        let id = RequestId::Uint(u64::MAX);
        let reply = String::from_utf8(result_line(&id, &no_json)).unwrap();
        assert!(reply.contains("18446744073709551615") && reply.contains("-32603"));
        assert!(notification_line("event", &no_json).is_empty());
        serde_json::from_slice::<serde_json::Value>(LAST_RESORT).unwrap();
    }
}
