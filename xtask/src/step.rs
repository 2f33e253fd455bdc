//! Steps: all are run, each with its time, and a table at the end says what became of each.

use std::time::{Duration, Instant};

/// Names the file in which `.ci/run` looks for what was skipped.
const SKIPPED: &str = "XTASK_SKIPPED";

/// How a step that did not fail ended.
pub(crate) enum Ended {
    /// Passed; with a word on what was done, or none.
    Passed(String),
    /// Not done, for this reason. Not a failure, but never silent.
    Skipped(String),
}

/// What has been run so far.
#[derive(Default)]
pub(crate) struct Steps {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    /// The error says what went wrong and, where it can, what to do.
    ended: Result<Ended, String>,
    took: Duration,
}

impl Steps {
    /// Runs one, whatever became of those before it.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<Ended, String>) {
        println!("\n== {name}");
        let start = Instant::now();
        let ended = step();
        match &ended {
            Ok(Ended::Passed(_)) => {}
            Ok(Ended::Skipped(why)) => println!("skipped: {why}"),
            Err(why) => println!("FAILED: {why}"),
        }
        self.rows.push(Row {
            name: name.to_owned(),
            ended,
            took: start.elapsed(),
        });
    }

    /// Tells whoever runs this what was skipped, in the file that it asked for, if it did: the
    /// status alone would pass for all done.
    fn leave_word(&self) -> Result<(), String> {
        let Some(file) = std::env::var_os(SKIPPED) else {
            return Ok(());
        };
        let lines: String = self
            .rows
            .iter()
            .filter_map(|row| match &row.ended {
                Ok(Ended::Skipped(why)) => Some(format!("{}: {why}\n", row.name)),
                _ => None,
            })
            .collect();
        std::fs::write(&file, lines)
            .map_err(|error| format!("could not write {}: {error}", file.display()))
    }

    /// Prints the table. An error if a step failed.
    pub(crate) fn finish(self) -> Result<(), String> {
        let width = self
            .rows
            .iter()
            .map(|row| row.name.chars().count())
            .max()
            .unwrap_or_default();
        println!("\n{:<width$}  result   seconds", "step");
        for row in &self.rows {
            let (result, note) = match &row.ended {
                Ok(Ended::Passed(note)) => ("ok", note.as_str()),
                Ok(Ended::Skipped(why)) => ("skipped", why.as_str()),
                Err(why) => ("FAILED", why.lines().next().unwrap_or_default()),
            };
            let seconds = row.took.as_secs_f64();
            let line = format!("{:<width$}  {result:<7}  {seconds:>7.1}  {note}", row.name);
            println!("{}", line.trim_end());
        }
        let failed = self.rows.iter().filter(|row| row.ended.is_err()).count();
        let skipped = self
            .rows
            .iter()
            .filter(|row| matches!(row.ended, Ok(Ended::Skipped(_))))
            .count();
        if skipped > 0 {
            println!(
                "{skipped} of {} steps skipped, as said above",
                self.rows.len()
            );
            self.leave_word()?;
        }
        if failed > 0 {
            return Err(format!(
                "{failed} of {} steps failed; each says why above, after `FAILED`",
                self.rows.len()
            ));
        }
        Ok(())
    }
}
