//! The error table, and errors as the wire has them.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quote::{listed, nearest, quoted};
use crate::verbs::VERBS;
use crate::words::vocabulary;

vocabulary! {
    /// Why a request got no result. The number of each is [`Reason::code`].
    Reason {
        /// The line is not JSON.
        ParseError = "parse_error",
        /// JSON, and not a request.
        InvalidRequest = "invalid_request",
        /// No such method, or a namespace that isn't armed.
        MethodNotFound = "method_not_found",
        /// A parameter is missing, misspelt, surplus, mistyped or out of range.
        InvalidParams = "invalid_params",
        /// The app's own handler failed; it may have acted in part.
        Internal = "internal",
        /// The gate said no.
        ConsentDenied = "consent_denied",
        /// The user is being asked; [`ErrorData::retry_after_ms`].
        ConsentPending = "consent_pending",
        /// `mode: "full"`, where the app has not armed it.
        NotArmed = "not_armed",
        /// The UI thread didn't answer in time; [`ErrorData::waited_ms`], [`ErrorData::entered`].
        AppBusy = "app_busy",
        /// The window was there when the request came in, and went away before its turn.
        WindowGone = "window_gone",
        /// A bound was hit; [`ErrorData::limit`].
        Limit = "limit",
        /// This toolkit cannot do this verb.
        Unsupported = "unsupported",
    }
}

impl Reason {
    /// The number in `error.code`.
    pub const fn code(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::ConsentDenied => -31001,
            Self::ConsentPending => -31002,
            Self::NotArmed => -31003,
            Self::AppBusy => -31004,
            Self::WindowGone => -31005,
            Self::Limit => -31006,
            Self::Unsupported => -31007,
        }
    }
}

/// An error as the wire has it: serialises to `{code, message, data: {reason, ...}}`.
///
/// The message is for a language model to read: it says what to do next. It never repeats
/// a value from the request, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of error; gives `code` and `data.reason`.
    pub reason: Reason,
    /// What went wrong and what to do next.
    pub message: String,
    /// What a program needs beside the reason.
    pub data: ErrorData,
}

/// The fields of `error.data` beside `reason`; each is left out when it has no value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorData {
    /// When to try again, in milliseconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// How long the request waited for the UI thread, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// True: the action had begun and will complete. False: it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered: Option<bool>,
    /// Which bound was hit: one of [`limits::names`](crate::limits::names).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Cow<'static, str>>,
}

impl Failure {
    /// A failure with a message of the caller's own and no further data.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            data: ErrorData::default(),
        }
    }

    /// No verb has this name. Names the nearest, if one is near, else all of them.
    pub fn unknown_method(method: &str) -> Self {
        let names = || VERBS.iter().map(|v| v.name);
        let hint = match nearest(method, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(names())),
        };
        Self::new(
            Reason::MethodNotFound,
            format!("unknown method {}; {hint}", quoted(method)),
        )
    }

    /// The app's own handler failed.
    pub fn internal() -> Self {
        Self::new(
            Reason::Internal,
            "the app failed while it did this, and may have done part of it; look at the UI \
             before trying again",
        )
    }

    /// The gate said no.
    pub fn consent_denied() -> Self {
        Self::new(
            Reason::ConsentDenied,
            "this app does not let you in, by its user's or its developer's choice; do not try \
             again unless the user says that this has changed",
        )
    }

    /// The user is being asked.
    pub fn consent_pending(retry_after_ms: u64) -> Self {
        let mut failure = Self::new(
            Reason::ConsentPending,
            "the user is being asked whether you may; nothing was done, send this again later",
        );
        failure.data.retry_after_ms = Some(retry_after_ms);
        failure
    }

    /// `mode: "full"` where the app has not armed it.
    pub fn not_armed() -> Self {
        Self::new(
            Reason::NotArmed,
            "this app has not armed mode `full`; use mode `exposed`",
        )
    }

    /// The UI thread didn't answer in time. `entered`: the action had begun and will
    /// complete; otherwise it was withdrawn.
    pub fn app_busy(waited_ms: u64, entered: bool) -> Self {
        let message = if entered {
            "the app is busy with this and will finish it; look at the UI before trying again"
        } else {
            "the app is busy; nothing was done, try again later or with a longer `timeout_ms`"
        };
        let mut failure = Self::new(Reason::AppBusy, message);
        failure.data.waited_ms = Some(waited_ms);
        failure.data.entered = Some(entered);
        failure
    }

    /// The window went away before the request had its turn.
    pub fn window_gone() -> Self {
        Self::new(
            Reason::WindowGone,
            "the window closed before this could be done; call `describe_ui` to see what is there",
        )
    }

    /// A bound was hit; `name` is one of [`limits::names`](crate::limits::names).
    /// `retry_after_ms` where waiting helps.
    pub fn limit(name: &'static str, retry_after_ms: Option<u64>) -> Self {
        let hint = match retry_after_ms {
            Some(_) => "wait, then send this again",
            None => "send less, or give some back",
        };
        let mut failure = Self::new(
            Reason::Limit,
            format!("the limit `{name}` was reached; {hint}"),
        );
        failure.data.limit = Some(name.into());
        failure.data.retry_after_ms = retry_after_ms;
        failure
    }

    /// This toolkit cannot do this verb.
    pub fn unsupported(verb: &'static str) -> Self {
        Self::new(
            Reason::Unsupported,
            format!("this app's toolkit cannot do `{verb}`; `hello` lists what it can"),
        )
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for Failure {}

/// The shape of a [`Failure`] on the wire.
#[derive(Serialize, Deserialize)]
struct ErrorObject<'a> {
    code: i32,
    message: Cow<'a, str>,
    data: ReasonAndData<'a>,
}

#[derive(Serialize, Deserialize)]
struct ReasonAndData<'a> {
    reason: Reason,
    #[serde(flatten)]
    data: Cow<'a, ErrorData>,
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ErrorObject {
            code: self.reason.code(),
            message: Cow::Borrowed(&self.message),
            data: ReasonAndData {
                reason: self.reason,
                data: Cow::Borrowed(&self.data),
            },
        }
        .serialize(serializer)
    }
}

/// Reads what [`Serialize`] wrote. `data.reason` decides; `code` is not looked at.
impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = ErrorObject::deserialize(deserializer)?;
        Ok(Self {
            reason: object.data.reason,
            message: object.message.into_owned(),
            data: object.data.data.into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::names;

    #[test]
    fn each_failure_has_its_place_in_the_table() {
        let check = |failure: Failure, json: &str| {
            let object = serde_json::to_string(&failure).unwrap();
            let (head, data) = object.split_once(",\"data\":").unwrap();
            let code = failure.reason.code();
            assert!(head.starts_with(&format!("{{\"code\":{code},\"message\":\"")));
            assert_eq!(data, format!("{json}}}"));
            assert_eq!(serde_json::from_str::<Failure>(&object).unwrap(), failure);
        };
        check(
            Failure::new(Reason::ParseError, "x"),
            r#"{"reason":"parse_error"}"#,
        );
        check(
            Failure::new(Reason::InvalidRequest, "x"),
            r#"{"reason":"invalid_request"}"#,
        );
        check(
            Failure::unknown_method("juggle"),
            r#"{"reason":"method_not_found"}"#,
        );
        check(
            Failure::new(Reason::InvalidParams, "x"),
            r#"{"reason":"invalid_params"}"#,
        );
        check(Failure::internal(), r#"{"reason":"internal"}"#);
        check(Failure::consent_denied(), r#"{"reason":"consent_denied"}"#);
        check(
            Failure::consent_pending(500),
            r#"{"reason":"consent_pending","retry_after_ms":500}"#,
        );
        check(Failure::not_armed(), r#"{"reason":"not_armed"}"#);
        check(
            Failure::app_busy(300, false),
            r#"{"reason":"app_busy","waited_ms":300,"entered":false}"#,
        );
        check(Failure::window_gone(), r#"{"reason":"window_gone"}"#);
        check(
            Failure::limit(names::SUBSCRIPTIONS, None),
            r#"{"reason":"limit","limit":"subscriptions"}"#,
        );
        check(
            Failure::limit(names::ACTIONS, Some(20)),
            r#"{"reason":"limit","retry_after_ms":20,"limit":"actions"}"#,
        );
        check(Failure::unsupported("click"), r#"{"reason":"unsupported"}"#);
    }

    #[test]
    fn no_two_reasons_share_a_code_or_a_word() {
        for (i, a) in Reason::ALL.iter().enumerate() {
            for b in &Reason::ALL[i + 1..] {
                assert_ne!(a.code(), b.code());
                assert_ne!(a.as_str(), b.as_str());
            }
        }
    }

    #[test]
    fn an_unknown_method_is_named_and_helped() {
        let check = |method: &str, message: &str| {
            assert!(
                Failure::unknown_method(method).message.starts_with(message),
                "{method}"
            );
        };
        check("clik", "unknown method `clik`; did you mean `click`?");
        check(
            "juggle",
            "unknown method `juggle`; there are `describe_ui`, ",
        );
        check("a\nb", "unknown method `a\\u{a}b`; ");
    }
}
