//! The table as JSON schemas, for clients that list tools.
//!
//! Each client pays for them in tokens at each start, so they say as little as is useful:
//! what `id`, `window` and `timeout_ms` are for is told once elsewhere, and lengths in
//! bytes cannot be told at all.

use serde_json::{Map, Value, json};

use super::{Param, ParamKind, Verb};

/// Parameters that many verbs have, and that explain themselves.
const TOLD_ELSEWHERE: &[&str] = &["id", "window", super::TIMEOUT_MS];

impl Verb {
    /// The JSON schema of the verb's parameters, all properties included. Whatever
    /// [`check`](Self::check) admits is valid by it. The reverse holds but for lengths in
    /// bytes, pairs that go together, the bounds of `timeout_ms`, and `5.0`, which is an
    /// integer for JSON schema.
    pub fn json_schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters()
            .map(|param| (param.name.into(), param.schema()))
            .collect();
        let required: Vec<&str> = self
            .parameters()
            .filter(|param| param.required)
            .map(|param| param.name)
            .collect();
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        if let (false, Some(schema)) = (required.is_empty(), schema.as_object_mut()) {
            schema.insert("required".into(), json!(required));
        }
        schema
    }
}

impl Param {
    fn schema(&self) -> Value {
        if self.name == super::TIMEOUT_MS {
            return json!({"type": "integer"});
        }
        let mut schema = self.kind.schema();
        if !TOLD_ELSEWHERE.contains(&self.name)
            && let Some(schema) = schema.as_object_mut()
        {
            schema.insert("description".into(), self.doc.into());
        }
        schema
    }
}

impl ParamKind {
    fn schema(self) -> Value {
        match self {
            Self::Id | Self::Text | Self::ShortText => json!({"type": "string"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Integer { min, max: u64::MAX } => json!({"type": "integer", "minimum": min}),
            Self::Integer { min, max } => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            Self::Number => json!({"type": "number"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::ListOf(words) => json!({
                "type": "array",
                "items": {"type": "string", "enum": words},
                "uniqueItems": true,
            }),
            Self::UntilValue => json!({"type": ["string", "integer"]}),
        }
    }
}
