//! Parameters, judged by the table.

use serde_json::{Map, Value};

use super::{Param, ParamKind, TIMEOUT_MS, Timeout, Verb};
use crate::error::{Failure, Reason};
use crate::limits;
use crate::quote::{listed, nearest, quoted};

/// Parameters that have been checked: what is there is of the declared kind, and what is
/// required is there. A getter for a name or type that the verb has not declared gives
/// nothing.
#[derive(Debug, Clone, Copy)]
pub struct Args<'a> {
    /// `None`: the request had no parameters.
    object: Option<&'a Map<String, Value>>,
    timeout: Timeout,
}

/// Why parameters were refused. Becomes a [`Failure`] with [`Reason::InvalidParams`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamError {
    parameter: Option<String>,
    message: String,
}

impl Verb {
    /// Judges the form of a request's parameters, `None` being none at all.
    ///
    /// # Errors
    ///
    /// Names the first parameter at fault: unknown ones, then missing, then mistyped or
    /// out of range. It repeats an unknown name (cut, and made harmless), never a value.
    pub fn check<'a>(&self, params: Option<&'a Value>) -> Result<Args<'a>, ParamError> {
        let object = match params {
            None => None,
            Some(Value::Object(object)) => Some(object),
            Some(_) => {
                return Err(ParamError {
                    parameter: None,
                    message: format!("the params of {} must be an object", self.name),
                });
            }
        };
        let args = Args {
            object,
            timeout: self.timeout,
        };
        for key in object.into_iter().flat_map(Map::keys) {
            if self.parameters().all(|p| p.name != key) {
                return Err(self.unknown(key));
            }
        }
        for param in self.parameters() {
            if param.required && args.get(param.name).is_none() {
                return Err(missing(param));
            }
        }
        for param in self.parameters() {
            if args.get(param.name).is_some_and(|v| !param.kind.admits(v)) {
                return Err(mistyped(param));
            }
        }
        for (first, last) in self.ranges {
            args.check_range(first, last)?;
        }
        Ok(args)
    }

    fn unknown(&self, key: &str) -> ParamError {
        let names = || self.parameters().map(|p| p.name);
        let hint = match nearest(key, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{} takes {}", self.name, listed(names())),
        };
        ParamError {
            parameter: Some(key.into()),
            message: format!("unknown parameter {}; {hint}", quoted(key)),
        }
    }
}

fn missing(param: Param) -> ParamError {
    ParamError {
        parameter: Some(param.name.into()),
        message: format!("missing parameter `{}`: {}", param.name, param.doc),
    }
}

fn mistyped(param: Param) -> ParamError {
    ParamError {
        parameter: Some(param.name.into()),
        message: format!(
            "parameter `{}` must be {}",
            param.name,
            param.kind.expected()
        ),
    }
}

impl ParamKind {
    fn admits(self, value: &Value) -> bool {
        match self {
            Self::Id => {
                let length = value.as_str().map(str::len);
                length.is_some_and(|bytes| (1..=limits::ID_BYTES).contains(&bytes))
            }
            Self::Text => value.is_string(),
            Self::ShortText => value
                .as_str()
                .is_some_and(|text| text.len() <= limits::SHORT_TEXT_BYTES),
            Self::Bool => value.is_boolean(),
            // `5.0` is no `u64` for serde_json, and neither is a number beyond 64 bits.
            Self::Integer { min, max } => value.as_u64().is_some_and(|n| (min..=max).contains(&n)),
            Self::Number => value.as_f64().is_some_and(f64::is_finite),
            Self::OneOf(words) => is_word(value, words),
            Self::ListOf(words) => value.as_array().is_some_and(|list| {
                // Bounded by the vocabulary before the comparison of all with all.
                list.len() <= words.len()
                    && list.iter().all(|word| is_word(word, words))
                    && (list.iter().enumerate())
                        .all(|(n, word)| !list.iter().take(n).any(|earlier| earlier == word))
            }),
            Self::UntilValue => value.is_string() || value.is_u64(),
        }
    }
}

fn is_word(value: &Value, words: &[&str]) -> bool {
    value.as_str().is_some_and(|word| words.contains(&word))
}

impl<'a> Args<'a> {
    /// The parameter `id`: the node that the request is about.
    pub fn id(&self) -> Option<&'a str> {
        self.text("id")
    }

    /// The parameter `window`.
    pub fn window(&self) -> Option<&'a str> {
        self.text("window")
    }

    /// The parameter `timeout_ms`, or what holds for the verb if it wasn't given.
    pub fn timeout_ms(&self) -> u64 {
        self.integer(TIMEOUT_MS).unwrap_or(self.timeout.default_ms)
    }

    /// A parameter that is text: an id, a word, a key.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    /// A parameter that is an integer.
    pub fn integer(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    /// A parameter that is any number. Finite.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// A parameter that is true or false.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    /// The words of a list parameter, in the order in which they were sent.
    pub fn words(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let list = self.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Both ends of a range, first and last, if it was given.
    pub fn range(&self, first: &str, last: &str) -> Option<(u64, u64)> {
        Some((self.integer(first)?, self.integer(last)?))
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.object?.get(name)
    }

    fn check_range(&self, first: &str, last: &str) -> Result<(), ParamError> {
        let error = |name: &str, what: String| ParamError {
            parameter: Some(name.into()),
            message: what,
        };
        match (self.integer(first), self.integer(last)) {
            (Some(_), None) => Err(error(
                last,
                format!("missing parameter `{last}`: it goes with `{first}`"),
            )),
            (None, Some(_)) => Err(error(
                first,
                format!("missing parameter `{first}`: it goes with `{last}`"),
            )),
            (Some(from), Some(to)) if from > to => Err(error(
                last,
                format!("parameter `{last}` must not be less than `{first}`"),
            )),
            _ => Ok(()),
        }
    }
}

impl ParamError {
    /// A fault that only the server could find, such as a range beyond the end of a text.
    /// `must` ends a sentence that begins with "parameter `name` must" and must not repeat
    /// a value.
    pub fn new(parameter: &str, must: &str) -> Self {
        Self {
            parameter: Some(parameter.into()),
            message: format!("parameter {} must {must}", quoted(parameter)),
        }
    }

    /// The parameter at fault, as it was sent; `None` if the params are no object.
    pub fn parameter(&self) -> Option<&str> {
        self.parameter.as_deref()
    }

    /// What is wrong and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl std::fmt::Display for ParamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParamError {}

impl From<ParamError> for Failure {
    fn from(error: ParamError) -> Self {
        Self::new(Reason::InvalidParams, error.message)
    }
}
