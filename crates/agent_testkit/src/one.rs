//! One case on one backend, in this process: the app on this thread, the conversation on
//! another.

use std::{
    os::unix::fs::PermissionsExt,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    case::Case,
    fixture::{Fixture, Options, Session},
    script,
};

/// How long an app may take to end once it is asked to, at least; else as long as a step.
const QUIT: Duration = Duration::from_secs(3);

/// What became of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every step was as expected.
    Passed,
    /// One was not.
    Failed {
        /// Which.
        step: String,
        /// Everything there is to say about it.
        report: String,
    },
    /// This backend can't run it.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// One run, and how long it took.
#[derive(Clone, Debug)]
pub struct Result {
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

impl Result {
    /// As the line that the parent process reads.
    pub fn line(&self) -> String {
        let (word, step, text) = match &self.outcome {
            Outcome::Passed => ("passed", "", ""),
            Outcome::Failed { step, report } => ("failed", step.as_str(), report.as_str()),
            Outcome::Skipped { reason } => ("skipped", "", reason.as_str()),
        };
        let ms = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        json!({"outcome": word, "step": step, "text": text, "ms": ms}).to_string()
    }

    /// From such a line.
    pub fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let word = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let outcome = match word("outcome")?.as_str() {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed {
                step: word("step")?,
                report: word("text")?,
            },
            "skipped" => Outcome::Skipped {
                reason: word("text")?,
            },
            _ => return None,
        };
        let took = Duration::from_millis(value.get("ms")?.as_u64()?);
        Some(Self { outcome, took })
    }
}

/// Why a case isn't run on a backend: because it says so, or the backend does.
pub fn skipped(fixture: &dyn Fixture, case: &Case) -> Option<String> {
    case.skip
        .get(fixture.name())
        .cloned()
        .or_else(|| fixture.lacks(case))
}

/// How the app ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    AsAsked,
    Crashed,
}

/// Tells the conversation's thread how the app ended, also when it is unwinding.
struct TellsEnd(mpsc::Sender<End>);

impl Drop for TellsEnd {
    fn drop(&mut self) {
        let end = if std::thread::panicking() {
            End::Crashed
        } else {
            End::AsAsked
        };
        let _ = self.0.send(end);
    }
}

/// Called once, on any thread, with what became of the run.
type Finish = Arc<Mutex<Option<Box<dyn FnOnce(Result) + Send>>>>;

/// Runs a case, with the app on this thread, which should be the main thread. `finish` is
/// called when it is over: on another thread, and maybe while this one still hangs in the
/// app, so a process that only runs one case ends there.
pub fn run(
    fixture: &dyn Fixture,
    case: Case,
    options: Options,
    finish: impl FnOnce(Result) + Send + 'static,
) {
    let begun = Instant::now();
    let finish: Finish = Arc::new(Mutex::new(Some(Box::new(finish))));
    let over = move |finish: &Finish, outcome: Outcome| {
        let finish = finish.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(finish) = finish {
            finish(Result {
                outcome,
                took: begun.elapsed(),
            });
        }
    };
    let failed = |step: &str, report: String| Outcome::Failed {
        step: step.to_owned(),
        report,
    };
    if let Some(reason) = skipped(fixture, &case) {
        return over(&finish, Outcome::Skipped { reason });
    }
    let mine = std::fs::Permissions::from_mode(0o700);
    let place = match tempfile::Builder::new()
        .prefix("agent-case-")
        .permissions(mine)
        .tempdir()
    {
        Ok(place) => place,
        Err(error) => {
            let why = format!("no folder for the socket: {error}");
            return over(&finish, failed("before the start", why));
        }
    };
    let case = Arc::new(case);
    let (ended, when_ended) = mpsc::channel();
    let (case_of_script, finish_of_script) = (case.clone(), finish.clone());
    let patience = options.step;
    let quit = patience.max(QUIT);
    let (joins, joined) = mpsc::channel();
    let session = Session::new(
        case,
        place.path().join("app.sock"),
        patience,
        move |address, control| {
            let script = std::thread::spawn(move || {
                let played = script::play(&case_of_script, &address, &control, &options);
                control.quit();
                let end = when_ended.recv_timeout(quit);
                if end == Ok(End::Crashed) {
                    // The process ends by that, and says so itself.
                    return;
                }
                let outcome = match (played, end) {
                    (Err(failure), _) => Outcome::Failed {
                        step: failure.step.clone(),
                        report: failure.to_string(),
                    },
                    (Ok(()), Err(_)) => Outcome::Failed {
                        step: "the end".into(),
                        report: format!("the app did not end within {quit:?}\n"),
                    },
                    (Ok(()), Ok(_)) => Outcome::Passed,
                };
                over(&finish_of_script, outcome);
            });
            let _ = joins.send(script);
        },
    );
    let telling = TellsEnd(ended);
    let ran = fixture.run(session);
    drop(telling);
    if let Err(why) = ran {
        over(&finish, failed("before the start", why + "\n"));
    }
    if let Ok(script) = joined.try_recv() {
        // What it had to say it has said.
        let _ = script.join();
    }
    drop(place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_back_as_it_was() {
        for outcome in [
            Outcome::Passed,
            Outcome::Failed {
                step: "steps[1]".into(),
                report: "two\nlines".into(),
            },
            Outcome::Skipped {
                reason: "no \"trees\"".into(),
            },
        ] {
            let result = Result {
                outcome,
                took: Duration::from_millis(12),
            };
            let read = Result::from_line(&result.line()).unwrap();
            assert_eq!((read.outcome, read.took), (result.outcome, result.took));
        }
        assert!(Result::from_line("nonsense").is_none());
    }
}
