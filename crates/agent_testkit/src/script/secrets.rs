//! What must be in no line that the product writes, however it is spelled there.

use serde_json::Value;

/// Texts, each with its spellings.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<(String, Vec<String>)>);

impl Secrets {
    pub(super) fn new(texts: &[String]) -> Self {
        let spelled = texts.iter().map(|text| {
            let quoted = Value::from(text.as_str()).to_string();
            let short = quoted.trim_matches('"').to_owned();
            let spellings = vec![
                text.clone(),
                short,
                escaped(text, true),
                escaped(text, false),
            ];
            (text.clone(), spellings)
        });
        Self(spelled.collect())
    }

    /// The first of them that is in a line: as it is written, or in one of its strings as it is
    /// meant, which may hold JSON itself.
    pub(super) fn found_in(&self, line: &str, value: Option<&Value>) -> Option<&str> {
        self.is_in(line)
            .or_else(|| value.and_then(|value| self.is_inside(value)))
    }

    fn is_in(&self, text: &str) -> Option<&str> {
        self.0.iter().find_map(|(secret, spellings)| {
            let found = spellings.iter().any(|spelling| text.contains(spelling));
            found.then_some(secret.as_str())
        })
    }

    fn is_inside(&self, value: &Value) -> Option<&str> {
        match value {
            Value::String(text) => self.is_in(text).or_else(|| {
                let nested = text.starts_with(['{', '[']);
                let value = nested.then(|| crate::json::parse(text).ok()).flatten()?;
                self.is_inside(&value)
            }),
            Value::Array(items) => items.iter().find_map(|item| self.is_inside(item)),
            Value::Object(map) => map
                .iter()
                .find_map(|(key, value)| self.is_in(key).or_else(|| self.is_inside(value))),
            _ => None,
        }
    }
}

/// With everything but ASCII as `\u....`, in capitals or not.
fn escaped(text: &str, capitals: bool) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped += &if capitals {
                format!("\\u{unit:04X}")
            } else {
                format!("\\u{unit:04x}")
            };
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn every_spelling_is_found() {
        let secrets = Secrets::new(&["tulip-é-\"7".to_owned()]);
        for line in [
            r#"{"text":"a tulip-é-\"7 b"}"#,
            r#"{"text":"tulip-\u00e9-\"7"}"#,
            r#"{"text":"tulip-\u00E9-\u0022\u0037"}"#,
            r#"{"tulip-é-\"7":1}"#,
            r#"{"content":[{"text":"{\"value\":\"tulip-\\u00e9-\\\"7\"}"}]}"#,
            "not json: tulip-é-\"7",
        ] {
            let value = crate::json::parse(line).ok();
            assert!(secrets.found_in(line, value.as_ref()).is_some(), "{line}");
        }
        for line in [r#"{"text":"tulip-e-7"}"#, "{}"] {
            let value = crate::json::parse(line).ok();
            assert!(secrets.found_in(line, value.as_ref()).is_none(), "{line}");
        }
    }
}
