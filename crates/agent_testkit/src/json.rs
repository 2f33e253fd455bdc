//! JSON, read more strictly than usual: a key that stands twice in an object is an error, not
//! the last one's victory.

use std::{cell::RefCell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one JSON value.
///
/// # Errors
/// If it is none, or a key stands twice in an object. Says where.
pub fn parse(text: &str) -> Result<Value, String> {
    let path = RefCell::new(String::new());
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict(&path)
        .deserialize(&mut reader)
        .map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

struct Strict<'a>(&'a RefCell<String>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }

    fn visit_i64<E: Error>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_u64<E: Error>(self, it: u64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_f64<E: Error>(self, it: f64) -> Result<Value, E> {
        Ok(Number::from_f64(it).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, it: &str) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_string<E: Error>(self, it: String) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            let before = self.go(&format!("[{}]", array.len()));
            let next = seq.next_element_seed(Strict(self.0))?;
            self.0.borrow_mut().truncate(before);
            match next {
                Some(value) => array.push(value),
                None => return Ok(Value::Array(array)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                let at = self.0.borrow();
                let at = if at.is_empty() { "the root" } else { &at };
                return Err(A::Error::custom(format!(
                    "the key {key:?} stands twice in {at}"
                )));
            }
            let dot = if self.0.borrow().is_empty() { "" } else { "." };
            let before = self.go(&format!("{dot}{key}"));
            let value = map.next_value_seed(Strict(self.0))?;
            self.0.borrow_mut().truncate(before);
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

impl Strict<'_> {
    /// One step down the path; answers how long it was before.
    fn go(&self, step: &str) -> usize {
        let mut path = self.0.borrow_mut();
        let before = path.len();
        path.push_str(step);
        before
    }
}

/// A value in at most so many characters, for a message.
pub fn short(value: &Value, most: usize) -> String {
    cut(&value.to_string(), most)
}

/// A text in at most so many characters, for a message.
pub fn cut(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most).collect();
    format!("{start}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_come_as_they_are() {
        for text in [
            "null",
            "true",
            "-3",
            "9223372036854775807",
            "18446744073709551615",
            "1.5",
            "\"é\"",
            "[1,[],{}]",
            "{\"a\":{\"b\":[null]}}",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(parse("{}").unwrap(), json!({}));
    }

    #[test]
    fn twins_are_named_with_their_place() {
        let error = parse(r#"{"steps":[{"send":{"id":1,"id":2}}]}"#).unwrap_err();
        assert!(
            error.contains("\"id\" stands twice in steps[0].send"),
            "{error}"
        );
        let error = parse(r#"{"a":1,"a":1}"#).unwrap_err();
        assert!(error.contains("\"a\" stands twice in the root"), "{error}");
        assert!(parse("{} x").is_err());
        assert!(parse("{").is_err());
    }
}
