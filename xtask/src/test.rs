//! `test`: everything a change must pass, from a fresh Debian machine with Rust on it.

use std::path::Path;

use crate::{
    Options, cases, debian, onscreen, program, recipes,
    step::{Ended, Steps},
    workspace,
};

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let mut steps = Steps::default();
    steps.run("packages for windows", || {
        debian::prepare_for_windows(!options.has("--no-install"))
    });
    steps.run("cargo test", || cargo_test(&root, &[]));
    steps.run("cases", || {
        cases::run(&[])?;
        Ok(Ended::Passed(String::new()))
    });
    recipes::add_steps(&mut steps)?;
    onscreen::add_step(&mut steps)?;
    steps.finish()
}

/// The tests of all members, those in the documentation included unless `arguments` narrow it.
pub(crate) fn cargo_test(root: &Path, arguments: &[&str]) -> Result<Ended, String> {
    let mut cargo = workspace::cargo(root);
    cargo
        .args(["test", "--workspace", "--locked", "--no-fail-fast"])
        .args(arguments);
    let mut counts = Counts::default();
    program::run_reading(&mut cargo, |line| {
        println!("{line}");
        counts.add(line);
    })?;
    // A filter gone wrong, or a crate that lost its tests, shows in the number.
    Ok(Ended::Passed(format!(
        "{} passed, {} ignored",
        counts.passed, counts.ignored
    )))
}

/// How many tests the harnesses said they ran.
#[derive(Default, Debug, PartialEq)]
struct Counts {
    passed: u64,
    ignored: u64,
}

impl Counts {
    /// `test result: ok. 12 passed; 0 failed; 1 ignored; ...`
    fn add(&mut self, line: &str) {
        let Some(counts) = line.trim().strip_prefix("test result: ") else {
            return;
        };
        let words: Vec<&str> = counts
            .split([' ', ';'])
            .filter(|word| !word.is_empty())
            .collect();
        for pair in words.windows(2) {
            match (pair[0].parse::<u64>(), pair[1]) {
                (Ok(count), "passed") => self.passed += count,
                (Ok(count), "ignored") => self.ignored += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn counts_are_summed_over_harnesses() {
        let mut counts = Counts::default();
        for line in [
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test gate::asks ... ok",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        ] {
            counts.add(line);
        }
        let expected = Counts {
            passed: 15,
            ignored: 1,
        };
        assert_eq!(counts, expected);
    }
}
