//! `nightly`: the long forms, which find what the short ones miss and take too long for a change to
//! wait for.

use crate::{
    Options, cases, onscreen, recipes,
    step::{Ended, Steps},
    test::cargo_test,
    tokens, workspace,
};

pub(crate) fn run(_: &Options) -> Result<(), String> {
    let root = workspace::root()?;
    let mut steps = Steps::default();
    steps.run("ignored tests", || {
        // Not the documentation's: an example there is ignored because it cannot be run.
        // Nor those that need a display, which every change waits for.
        let which = ["--lib", "--bins", "--tests", "--exclude", "onscreen"];
        cargo_test(&root, &[&which[..], &["--", "--ignored"]].concat())
    });
    steps.run("cases, shaken", || {
        cases::run(&["--shake".to_owned(), "20".to_owned()])?;
        Ok(Ended::Passed(String::new()))
    });
    steps.run("recipe by wgpu, with a bridge to screen readers", || {
        recipes::by_wgpu(&root)
    });
    steps.run("on a screen, by wgpu", || onscreen::by_wgpu(&root));
    steps.run("tokens, beside a peer", || tokens::count(&root, false));
    steps.finish()
}
