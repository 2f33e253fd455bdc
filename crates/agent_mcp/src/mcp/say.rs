//! Replies in words that a model reads: outcomes, reasons, and what to do next.

use std::fmt::Write as _;

use agent_wire::{
    Acted, Described, Failure, Outcome, Reason, RequestId, Text, Verb,
    words::{INCLUDE_STATE, INCLUDE_VALUE},
};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    outline::{Shown, clean, deceives, outline, quote},
    tools::{DESCRIBE, STRUCTURED, is_left_out},
};

/// What came back for a request: its result, or why there is none.
pub type Reply = Result<Value, Failure>;

/// Reads a reply line of the bare dialect. `None`: it is none.
pub fn read_reply(line: &[u8]) -> Option<(Option<RequestId>, Reply)> {
    let Value::Object(mut line) = serde_json::from_slice(line).ok()? else {
        return None;
    };
    let id = line.get("id").and_then(RequestId::from_value);
    if let Some(result) = line.remove("result") {
        return Some((id, Ok(result)));
    }
    let error = line.remove("error")?;
    let failure = serde_json::from_value(error)
        .unwrap_or_else(|_| Failure::new(Reason::Internal, "the app's error could not be read"));
    Some((id, Err(failure)))
}

/// A tool call, as a request of the bare dialect and with how its reply is to be told.
#[derive(Debug)]
pub struct Asked {
    verb: &'static Verb,
    params: JsonObject,
    structured: bool,
    /// States were asked for by name.
    states: bool,
}

impl Asked {
    /// What this call of a verb asks for.
    ///
    /// # Errors
    /// If an argument that is MCP's alone is mistyped. All others are judged by the app.
    pub fn new(verb: &'static Verb, mut params: JsonObject) -> Result<Self, Failure> {
        if let Some(name) = params.keys().find(|name| is_left_out(verb, name)) {
            return Err(Failure::new(
                Reason::InvalidParams,
                format!(
                    "parameter `{name}`: this tool does not take it; to be told of events follow \
                     the resource agent-surface://events"
                ),
            ));
        }
        let mut structured = false;
        let includes = params.get("include").and_then(Value::as_array);
        let states = includes.is_some_and(|it| it.iter().any(|word| word == INCLUDE_STATE));
        if verb.name == DESCRIBE {
            match params.remove(STRUCTURED) {
                None => {}
                Some(Value::Bool(asked)) => structured = asked,
                Some(_) => {
                    return Err(Failure::new(
                        Reason::InvalidParams,
                        format!("parameter `{STRUCTURED}`: must be true or false"),
                    ));
                }
            }
            if !structured {
                include_what_an_outline_shows(&mut params);
            }
        }
        Ok(Self {
            verb,
            params,
            structured,
            states,
        })
    }

    /// The verb.
    pub fn verb(&self) -> &'static Verb {
        self.verb
    }

    /// The parameters of the bare request.
    pub fn params(&self) -> &JsonObject {
        &self.params
    }

    /// The same, taken out: a long text is held once while its reply is waited for.
    pub(super) fn take_params(&mut self) -> JsonObject {
        std::mem::take(&mut self.params)
    }

    /// The reply in words. `app` is named at its beginning, where several apps speak through one
    /// server.
    pub fn said(&self, reply: &Reply, app: Option<&str>) -> Said {
        let said = match reply {
            Ok(result) => self.result(result, app),
            Err(failure) => Said::refused(failure),
        };
        match app {
            // An outline's first line names it already.
            Some(app) if !said.text.starts_with('#') => Said {
                text: format!("# {}\n{}", clean(app), said.text),
                ..said
            },
            _ => said,
        }
    }

    fn result(&self, result: &Value, app: Option<&str>) -> Said {
        let as_json = || Said::yes(json_text(result));
        if result.get("outcome").is_some() {
            return match Acted::deserialize(result) {
                Ok(acted) => self.acted(&acted),
                Err(_) => Said::no(json_text(result)),
            };
        }
        if self.structured {
            return as_json();
        }
        match self.verb.name {
            DESCRIBE if result.get("nodes").is_some() => Described::deserialize(result)
                .map_or_else(
                    |_| as_json(),
                    |described| {
                        let offscreen = self.states;
                        Said::yes(outline(&described, Shown { app, offscreen }))
                    },
                ),
            "get_text" => Text::deserialize(result)
                .map_or_else(|_| as_json(), |text| Said::yes(text_read(&text))),
            "poll_events" => {
                let mut polled = result.clone();
                mark_own(&mut polled);
                Said::yes(json_text(&polled))
            }
            _ => as_json(),
        }
    }

    fn acted(&self, acted: &Acted) -> Said {
        let mut text = acted.outcome.as_str().to_owned();
        if let Some(why) = acted.why {
            let _ = write!(text, ": {why}");
        }
        if let Some(by) = &acted.by {
            let _ = write!(text, " by [{}]", clean(by));
        }
        if let Some(version) = acted.version {
            let _ = write!(text, ", the text is at v{version}");
        }
        if let Some(now) = &acted.text {
            let _ = write!(text, " and holds ~{}", quote(now));
        }
        if let Some(revision) = acted.revision {
            let _ = write!(text, ", revision {revision}");
        }
        if let Some(events) = &acted.events {
            let told: Vec<String> = events
                .iter()
                .map(|it| {
                    format!(
                        "{} {} [{}]",
                        clean(&it.verb),
                        clean(&it.role),
                        clean(&it.source)
                    )
                })
                .collect();
            if !told.is_empty() {
                let _ = write!(text, ": {}", told.join(", "));
            }
            if acted.more {
                text.push_str(", and more");
            } else if events.iter().all(|event| event.verb == "clicked") {
                text.push_str("; nothing else that you can see came of it");
            }
        }
        match acted.outcome {
            Outcome::Allowed => Said::yes(text),
            refused => {
                let _ = write!(text, "; {}", self.hint(refused));
                Said::no(text)
            }
        }
    }

    /// What to do about it.
    fn hint(&self, outcome: Outcome) -> &'static str {
        match outcome {
            Outcome::Allowed => "it is done",
            Outcome::NotFound => {
                "no such id is there now, describe_ui lists those that are; nothing was done"
            }
            Outcome::NotExposed => "the app does not offer this node; nothing was done",
            Outcome::NotActionable => "nothing was done",
            Outcome::VersionConflict => {
                "it changed since the version that you passed; nothing was written"
            }
            Outcome::Ambiguous => {
                "more than one node has this id: pass window if they are in several windows; \
                 nothing was done"
            }
            Outcome::NeedsConfirmation => {
                "the app asks its user before this, each time; nothing was done. Call it again \
                 unchanged when they may have answered, and do nothing else in the app before, \
                 which would void their yes; if it stays so, they said no"
            }
        }
    }
}

/// The outline has values, versions and states; a caller may want more, and can't want less.
fn include_what_an_outline_shows(params: &mut JsonObject) {
    let include = params
        .entry("include")
        .or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(include) = include else {
        return; // The app says what is wrong with it.
    };
    for word in [INCLUDE_VALUE, INCLUDE_STATE] {
        if !include.iter().any(|included| included == word) {
            include.push(json!(word));
        }
    }
}

/// What a text holds is for the most part not the app's own words: always marked.
fn text_read(read: &Text) -> String {
    let mut out = format!("v{}", read.version);
    match (&read.text, read.length) {
        (Some(text), length) => {
            if let Some(length) = length {
                let _ = write!(out, ", {length} characters");
            }
            if let Some(from) = read.from {
                let _ = write!(out, ", from {from}");
            }
            if read.more {
                out.push_str(", more follows");
            }
            let _ = write!(out, "\n~{}", quote(text));
        }
        (None, _) => out.push_str(", secret"),
    }
    out
}

/// Says of events whether this client's own requests brought them about: ids of requests are
/// nothing that a model sees.
pub(super) fn mark_own(polled: &mut Value) {
    let events = polled.get_mut("events").and_then(Value::as_array_mut);
    for event in events.into_iter().flatten() {
        if let Some(event) = event.as_object_mut()
            && event.remove("request").is_some()
        {
            event.insert("own".to_owned(), true.into());
        }
    }
}

/// JSON on one line, in which nothing breaks or reorders what stands around it.
pub(super) fn json_text(value: &Value) -> String {
    let json = value.to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if deceives(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// What a tool call came to, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// For the model.
    pub text: String,
    /// Whether it is a refusal or a failure.
    pub is_error: bool,
}

impl Said {
    /// It worked.
    pub fn yes(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
        }
    }

    /// It did not.
    pub fn no(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
        }
    }

    /// It did not, for this reason.
    pub fn refused(failure: &Failure) -> Self {
        let mut text = failure.to_string();
        if let Some(ms) = failure.data.retry_after_ms {
            let _ = write!(text, " (retry_after_ms {ms})");
        }
        if failure.reason == Reason::ConsentPending {
            text.push_str(
                "; if it goes on, tell the user that the app waits for their answer in its window",
            );
        }
        Self::no(json_free(&text))
    }
}

/// An app's message can hold anything: one line of it, without what deceives.
fn json_free(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().take(2_000) {
        if deceives(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

impl From<Said> for CallToolResult {
    fn from(said: Said) -> Self {
        let content = vec![ContentBlock::text(said.text)];
        if said.is_error {
            Self::error(content)
        } else {
            Self::success(content)
        }
    }
}
