//! `inspector.highlight`, as it shows on the screen.

use std::process::Command;

use agent_test_support::{Client, eventually};
use serde_json::{Value, json};

use crate::{
    app::{App, Program, click, named, own, tree},
    image::{HIGHLIGHT, Image},
};

const FEW: usize = 100;

/// Waits until it is drawn, or drawn no more, and answers what is on the screen.
#[track_caller]
fn shows(app: &App, highlight: bool) -> Image {
    let mut image = app.screen.shot(app.place);
    eventually(&format!("a highlight: {highlight}"), || {
        image = app.screen.shot(app.place);
        match highlight {
            true => image.count(HIGHLIGHT) > FEW,
            false => image.count(HIGHLIGHT) == 0,
        }
    });
    image
}

fn draw_over(inspector: &mut Client, node: &Value) {
    let params = json!({"node": node["node"], "timeout_ms": 30_000});
    inspector.get("inspector.highlight", params);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_highlight_is_drawn_and_changes_nothing_else() {
    for scale in [1.0, 2.0] {
        let app = App::open(scale);
        let (mut inspector, mut agent) = (app.client(), app.client());
        let before = tree(&mut inspector);
        let described = |agent: &mut Client| {
            agent.get(
                "describe_ui",
                json!({"include": ["frame", "state"], "timeout_ms": 30_000}),
            )
        };
        let described_before = described(&mut agent);
        agent.get("subscribe", json!({"timeout_ms": 30_000}));
        shows(&app, false);
        for name in ["Save", "Untagged", "What is covered"] {
            let node = named(&before, name).unwrap();
            draw_over(&mut inspector, &node);
            // Around that node and nowhere else, when it has moved there.
            let [x, y, width, height] = app.pixels(&node);
            let around = [x - 4.0, y - 4.0, width + 8.0, height + 8.0];
            eventually(&format!("{name} is drawn over"), || {
                let image = app.screen.shot(app.place);
                let there = image.inside(around, 0.0).count(HIGHLIGHT);
                there > FEW && there == image.count(HIGHLIGHT)
            });
        }
        assert_eq!(tree(&mut inspector), before);
        assert_eq!(described(&mut agent), described_before);
        let polled = agent.get("poll_events", json!({"subscription": "s1"}));
        assert_eq!(polled["events"], json!([]));

        // It lies over what is clicked, and can't be hit.
        let save = named(&before, "Save").unwrap();
        draw_over(&mut inspector, &save);
        shows(&app, true);
        app.point_at(&save, (0.5, 0.5));
        app.screen.click();
        app.counted(&mut agent, "saved 1,");
        let picked = inspector.get("inspector.pick", json!({"timeout_ms": 30_000}));
        assert_eq!(picked["node"], save["node"]);

        inspector.get("inspector.highlight", json!({"timeout_ms": 30_000}));
        shows(&app, false);
    }
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_highlight_goes_with_its_inspector() {
    let app = App::open(1.0);
    let mut inspector = app.client();
    let save = named(&tree(&mut inspector), "Save").unwrap();
    draw_over(&mut inspector, &save);
    shows(&app, true);
    drop(inspector);
    shows(&app, false);

    let mut command = Command::new(own());
    command.arg("--point").arg(&app.address).arg("Save");
    let mut inspector = Program::start(&mut command);
    inspector.says("points");
    shows(&app, true);
    inspector.kill();
    shows(&app, false);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_highlight_goes_with_its_inspector_though_another_stays() {
    let app = App::open(1.0);
    let mut stays = app.client();
    tree(&mut stays);
    let mut command = Command::new(own());
    command.arg("--point").arg(&app.address).arg("Save");
    let mut goes = Program::start(&mut command);
    goes.says("points");
    shows(&app, true);
    goes.kill();
    shows(&app, false);
    // What is drawn for the one who stays is.
    let save = named(&tree(&mut stays), "Save").unwrap();
    draw_over(&mut stays, &save);
    shows(&app, true);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_highlight_follows_its_node_and_goes_with_it() {
    let app = App::open(1.0);
    let (mut inspector, mut agent) = (app.client(), app.client());
    let nodes = tree(&mut inspector);
    click(&mut agent, "more");
    let mut popup = None;
    eventually("the popup", || {
        popup = named(&tree(&mut inspector), "In the popup");
        popup.is_some()
    });
    draw_over(&mut inspector, &popup.unwrap());
    shows(&app, true);
    // A click on what is in it closes it.
    app.point_at(
        &named(&tree(&mut inspector), "In the popup").unwrap(),
        (0.5, 0.5),
    );
    app.screen.click();
    app.counted(&mut agent, "popup 1,");
    shows(&app, false);
    // Nothing was forgotten: when it is there again it is drawn over again.
    click(&mut agent, "more");
    shows(&app, true);
    draw_over(&mut inspector, &named(&nodes, "Save").unwrap());
    shows(&app, true);
}
