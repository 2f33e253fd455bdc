//! Several windows: each has passes and a tree of its own.

use agent_core::{Action, Answer, Call, Describe, Fault, Refusal, Target};
use agent_egui::{AgentUi, AgentWidget};
use egui::{Context, RawInput, Ui, ViewportBuilder, ViewportClass, ViewportId};

use crate::driver::Driver;

#[derive(Default)]
struct Windows {
    details: bool,
    main: usize,
    inner: usize,
    text: String,
}

fn draw(ui: &mut Ui, app: &mut Windows) {
    ui.agent_window("main");
    if ui.add(egui::Button::new("Ok").agent_id("ok")).clicked() {
        app.main += 1;
    }
    if ui.add(egui::Button::new("Shut").agent_id("shut")).clicked() {
        app.details = false;
    }
    if app.details {
        let id = ViewportId(egui::Id::unique("details"));
        ui.ctx()
            .clone()
            .show_viewport_immediate(id, ViewportBuilder::default(), |ui, class| {
                assert!(class == ViewportClass::Immediate);
                ui.agent_window("details");
                if ui.add(egui::Button::new("Ok").agent_id("ok")).clicked() {
                    app.inner += 1;
                }
                ui.add(egui::TextEdit::singleline(&mut app.text).agent_id("note"));
            });
    }
}

fn driver() -> Driver<Windows> {
    // As a windowing host would, and with as many passes as are asked for.
    Context::set_immediate_viewport_renderer(|ctx, mut viewport| {
        let raw = RawInput {
            viewport_id: viewport.ids.this,
            viewports: [(viewport.ids.this, Default::default())]
                .into_iter()
                .collect(),
            screen_rect: Some(egui::Rect::from_min_size(
                egui::Pos2::ZERO,
                egui::vec2(300.0, 200.0),
            )),
            ..RawInput::default()
        };
        let output = ctx.run_ui(raw, |ui| (viewport.viewport_ui_cb)(ui));
        output.drop_without_applying_deltas();
    });
    let mut driver = Driver::new(Windows::default(), draw);
    driver.ctx.set_embed_viewports(false);
    driver.state.details = true;
    driver.frame(vec![]);
    driver
}

fn within(id: &str, window: &str) -> Target {
    Target {
        id: id.into(),
        window: Some(window.into()),
    }
}

#[test]
fn both_windows_are_described_and_acted_in() {
    let mut driver = driver();
    let ids: Vec<String> = driver
        .describe(Describe::default())
        .nodes
        .iter()
        .map(|node| node.id.to_string())
        .collect();
    assert_eq!(ids, ["main", "ok", "shut", "details", "ok", "note"]);
    let one = driver.describe(Describe {
        window: Some("details".into()),
        ..Describe::default()
    });
    assert_eq!(one.nodes.len(), 3);
    let version = driver.read("note").version;
    assert!(matches!(
        driver.act("note", crate::driver::set_text("hello", version)),
        Answer::Acted(_)
    ));
    assert_eq!(driver.state.text, "hello");
}

#[test]
fn rule_5_an_id_in_two_windows_needs_the_window() {
    let mut driver = driver();
    assert_eq!(driver.refused("ok", Action::Click), Refusal::Ambiguous);
    for (window, counts) in [("details", (0, 1)), ("main", (1, 1)), ("details", (1, 2))] {
        let answer = driver.call(Call::Act {
            target: within("ok", window),
            action: Action::Click,
        });
        assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
        assert_eq!((driver.state.main, driver.state.inner), counts);
    }
}

#[test]
fn rule_4_a_window_that_closed_is_gone_and_the_rest_goes_on() {
    let mut driver = driver();
    driver.describe(Describe::default());
    assert!(driver.backend.has_window("details"));
    let Answer::Acted(acted) = driver.act("shut", Action::Click) else {
        panic!()
    };
    let closed = acted
        .events
        .iter()
        .any(|event| &*event.source == "details" && event.verb.word() == "window_closed");
    assert!(closed, "{:?}", acted.events);
    assert!(!driver.backend.has_window("details"));
    let answer = driver.call(Call::Act {
        target: within("ok", "details"),
        action: Action::Click,
    });
    // It was not there when this came in.
    assert!(
        matches!(answer, Answer::Refused(Refusal::NotFound)),
        "{answer:?}"
    );
    driver.window_was_there = true;
    let answer = driver.call(Call::Act {
        target: within("ok", "details"),
        action: Action::Click,
    });
    assert!(
        matches!(answer, Answer::Fault(Fault::WindowGone)),
        "{answer:?}"
    );
    assert!(matches!(driver.act("ok", Action::Click), Answer::Acted(_)));
    assert_eq!((driver.state.main, driver.state.inner), (1, 0));
    assert_eq!(driver.describe(Describe::default()).nodes.len(), 3);
}
