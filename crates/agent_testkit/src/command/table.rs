//! What became of it all: cases by backend.

use crate::case::Case;

use super::run::{Verdict, Verdicts};

fn verdict<'a>(verdicts: &'a Verdicts, case: &Case, backend: &str) -> Option<&'a Verdict> {
    verdicts.get(&(case.id.clone(), backend.to_owned()))
}

/// For the terminal.
pub(super) fn plain(cases: &[&Case], backends: &[String], verdicts: &Verdicts) -> String {
    let width = cases.iter().map(|case| case.id.len()).max().unwrap_or(0);
    let line = |first: &str, rest: Vec<&str>| {
        let mut line = format!("{first:<width$}");
        for (word, backend) in rest.iter().zip(backends) {
            let column = backend.len().max(5);
            line += &format!("  {word:<column$}");
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut table = line("case", backends.iter().map(String::as_str).collect());
    for case in cases {
        let words = backends
            .iter()
            .map(|backend| verdict(verdicts, case, backend).map_or("", Verdict::word));
        table += &line(&case.id, words.collect());
    }
    table
}

/// As Markdown, with the reasons.
pub(super) fn markdown(cases: &[&Case], backends: &[String], verdicts: &Verdicts) -> String {
    let mut table = format!(
        "| case | {} |\n|---|{}\n",
        backends.join(" | "),
        "---|".repeat(backends.len())
    );
    for case in cases {
        let cells = backends.iter().map(|backend| {
            verdict(verdicts, case, backend).map_or(String::new(), |verdict| {
                verdict.to_string().replace('|', "\\|")
            })
        });
        let cells: Vec<String> = cells.collect();
        table += &format!("| {} | {} |\n", case.id, cells.join(" | "));
    }
    table
}
