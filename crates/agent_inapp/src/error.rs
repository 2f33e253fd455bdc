//! Why there is no result.

use std::{fmt, time::Duration};

use agent_core::{Fault, No, Refusal, Verb};

/// Why a request came to nothing, each with what to do next in its words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// It was judged on the node that it names, and not done.
    Refused(Refusal),
    /// The app's policy refuses the assistant, or the user has stopped this session.
    Denied,
    /// The UI thread didn't answer in time.
    Busy {
        /// How long it was waited for.
        waited: Duration,
        /// Whether the action had begun, and will complete; otherwise it was withdrawn.
        entered: bool,
    },
    /// The window that it names was there when it was asked, and is gone.
    WindowGone,
    /// A parameter is wrong.
    InvalidParams {
        /// Which one.
        name: &'static str,
        /// What it must be. Never repeats the value.
        why: String,
    },
    /// This toolkit has no way to do it.
    Unsupported(Verb),
    /// Too much at once.
    Limit {
        /// Of what.
        what: &'static str,
        /// How much there can be.
        most: usize,
    },
    /// The subscription has ended, or is another session's.
    NoSubscription,
    /// To wait here would be to wait for oneself. The request was withdrawn.
    OnUiThread,
    /// The app failed at it, and may have acted in part.
    Internal(String),
    /// The surface is no longer served.
    Closed,
}

impl Error {
    /// The wire's word for it: the outcome or the reason that a client outside would be told.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.word(),
            Self::Denied => "consent_denied",
            Self::Busy { .. } => "app_busy",
            Self::WindowGone => "window_gone",
            Self::InvalidParams { .. } | Self::NoSubscription => "invalid_params",
            Self::Unsupported(_) => "unsupported",
            Self::Limit { .. } => "limit",
            // A client outside can't come to this one.
            Self::OnUiThread => "on_ui_thread",
            Self::Internal(_) | Self::Closed => "internal",
        }
    }

    /// Of the answer to a request for `verb`.
    pub(crate) fn of(no: No, verb: Verb) -> Self {
        match no {
            No::Refused(refusal) => Self::Refused(refusal),
            No::Fault(Fault::WindowGone) => Self::WindowGone,
            No::Fault(Fault::InvalidParams { name, why }) => Self::InvalidParams { name, why },
            No::Fault(Fault::Unsupported) => Self::Unsupported(verb),
            No::Fault(Fault::Denied) => Self::Denied,
            No::Fault(Fault::Internal(why)) => Self::Internal(why),
            No::Fault(Fault::Closed) => Self::Closed,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => match refusal {
                Refusal::NotFound => f.write_str("not_found: no such id now; describe again"),
                Refusal::NotExposed => f.write_str(
                    "not_exposed: it is there, but the app keeps it from agents",
                ),
                Refusal::NotActionable { why, by } => {
                    write!(f, "not_actionable: {}", why.word())?;
                    match by {
                        Some(by) => write!(f, " by {by}"),
                        None => Ok(()),
                    }
                }
                Refusal::VersionConflict { version, .. } => write!(
                    f,
                    "version_conflict: the text has changed; its version is {version} now"
                ),
                Refusal::Ambiguous => {
                    f.write_str("ambiguous: two nodes claim this id; say in which window")
                }
                Refusal::NeedsConfirmation => {
                    f.write_str("needs_confirmation: the user has to say yes; try again then")
                }
            },
            Self::Denied => f.write_str(
                "consent_denied: the app's policy refuses the assistant, or the user stopped it",
            ),
            Self::Busy { waited, entered } => {
                let then = match entered {
                    true => "it had begun and will complete: look before trying again",
                    false => "it was withdrawn, and can be tried again",
                };
                let ms = waited.as_millis();
                write!(f, "app_busy: the UI thread didn't answer in {ms} ms; {then}")
            }
            Self::WindowGone => f.write_str("window_gone: the window closed; describe again"),
            Self::InvalidParams { name, why } => write!(f, "invalid_params: `{name}`: {why}"),
            Self::Unsupported(verb) => {
                let verb = verb.word();
                write!(f, "unsupported: this toolkit has no way to perform {verb}")
            }
            Self::Limit { what, most } => {
                write!(f, "limit: {most} {what} at a time; wait for one to end")
            }
            Self::NoSubscription => f.write_str(
                "invalid_params: this subscription has ended, or is another session's; subscribe again",
            ),
            Self::OnUiThread => f.write_str(
                "on_ui_thread: waiting here would wait for itself; use try_take, await it, or wait on another thread",
            ),
            // What it said is for the app, not for a model.
            Self::Internal(_) => f.write_str(
                "internal: the app failed at it, and may have acted in part; describe again",
            ),
            Self::Closed => f.write_str("internal: the surface is no longer served"),
        }
    }
}

impl std::error::Error for Error {}
