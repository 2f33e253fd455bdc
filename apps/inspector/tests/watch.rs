//! What the inspector follows an app by.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use std::path::PathBuf;

use agent_inspector::{Watch, Which};
use agent_surface::{
    Surface,
    headless::{Headless, Widget},
};
use agent_test_support::{Client, TempDir, allow, eventually, folder};
use agent_wire::inspector::Heard;
use serde_json::json;

struct App {
    app: Headless,
    surface: Surface,
    at: PathBuf,
    _folder: TempDir,
}

impl App {
    fn start() -> Self {
        let folder = folder();
        let at = folder.path().join("form.sock");
        let app = Headless::start("form", |tree| {
            tree.open_window(
                Widget::window("Form")
                    .tag("main")
                    .named("window")
                    .child(Widget::button("Save").tag("save").named("save")),
            );
        });
        let surface = Surface::builder("form")
            .gate(allow())
            .headless(&app)
            .arm_inspector()
            .at(&at)
            .serve()
            .unwrap();
        Self {
            app,
            surface,
            at,
            _folder: folder,
        }
    }

    fn watch(&self) -> Watch {
        let watch = Watch::start(Which::At(self.at.clone()), || ()).unwrap();
        eventually("the tree", || !watch.seen().tree.is_empty());
        watch
    }

    fn click(&self, id: &str) {
        Client::connect(&self.at).ask("click", json!({ "id": id }));
    }
}

/// What agents asked for, as the log has it.
fn targets(watch: &Watch) -> Vec<String> {
    let seen = watch.seen();
    let calls = seen.log.iter().filter_map(|entry| match &entry.what {
        Heard::Call { target, .. } => target.clone(),
        Heard::Event { .. } => None,
    });
    calls.collect()
}

#[test]
fn whoever_connects_to_the_same_run_again_hears_nothing_twice() {
    let app = App::start();
    let watch = app.watch();
    let heard = |target: &str| {
        let what = format!("{target} in the log");
        eventually(&what, || targets(&watch).iter().any(|it| it == target));
    };
    app.click("first");
    heard("first");
    // The gate lets in who comes again.
    app.surface.revoke();
    app.click("second");
    heard("second");
    assert_eq!(targets(&watch), ["first", "second"]);
    let entries: Vec<u64> = watch.seen().log.iter().map(|it| it.entry).collect();
    assert!(entries.is_sorted_by(|one, two| one < two), "{entries:?}");
}

#[test]
fn a_change_right_after_a_lint_is_linted_too() {
    let app = App::start();
    let watch = app.watch();
    app.app.run(|tree| {
        let window = tree.find("window").unwrap();
        tree.add(window, Widget::button("Save too").tag("save"));
    });
    eventually("the two of one id", || {
        let seen = watch.seen();
        seen.findings.iter().any(|it| it.lint == "duplicate_id")
    });
}

#[test]
fn the_picture_is_taken_again_when_the_app_has_changed() {
    let app = App::start();
    let watch = app.watch();
    eventually("a picture", || watch.seen().pictures > 0);
    let before = watch.seen().pictures;
    app.app.run(|tree| {
        let window = tree.find("window").unwrap();
        tree.add(window, Widget::button("Another"));
    });
    eventually("the next", || watch.seen().pictures > before);
    assert!(matches!(watch.seen().picture, Some(Ok(_))));
}
