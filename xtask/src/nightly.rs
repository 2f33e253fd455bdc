//! `nightly`: the long forms, which find what the short ones miss and take too long for a change to
//! wait for.

use crate::{Options, program, step::Ended, step::Steps, test::cargo_test, tokens, workspace};

/// What else takes long: what it is called in the table, and the arguments to cargo.
const LONG: &[(&str, &[&str])] = &[
    (
        "cases, shaken",
        &[
            "run",
            "--quiet",
            "--locked",
            "-p",
            "agent_testkit",
            "--bin",
            "agent_cases",
            "--",
            "run",
            "--shake",
            "20",
        ],
    ),
    (
        "recipe by wgpu, with a bridge to screen readers",
        &[
            "run",
            "--locked",
            "-p",
            "egui_agent",
            "--features",
            "wgpu,accesskit",
        ],
    ),
];

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let mut steps = Steps::default();
    steps.run("ignored tests", || {
        // Not the documentation's: an example there is ignored because it cannot be run.
        cargo_test(&root, &["--lib", "--bins", "--tests", "--", "--ignored"])
    });
    for (name, arguments) in LONG {
        steps.run(name, || {
            program::run(workspace::cargo(&root).args(*arguments))?;
            Ok(Ended::Passed(String::new()))
        });
    }
    steps.run("tokens, beside a peer", || tokens::count(&root, false));
    steps.finish()
}
