//! `inspector.pick`, with a real pointer.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

use agent_test_support::{Client, LONG, eventually};
use serde_json::{Value, json};

use crate::app::{App, Over, named, tree};

fn pick(inspector: &mut Client) -> Value {
    let picked = inspector.get("inspector.pick", json!({"timeout_ms": 30_000}));
    picked["node"].clone()
}

/// Waits until this is what the pointer is over: the app hears of it when it comes to that.
#[track_caller]
pub(crate) fn picks(inspector: &mut Client, what: &str, expected: &Value) {
    let begun = Instant::now();
    loop {
        let picked = pick(inspector);
        if picked == *expected {
            return;
        }
        assert!(begun.elapsed() < LONG, "{what}: {picked} is picked");
    }
}

fn the_node_under_the_pointer(scale: f64) {
    let app = App::open(scale);
    let mut inspector = app.client();
    let nodes = tree(&mut inspector);
    for name in ["Caption", "Save", "Untagged", "Password", "More", "Under"] {
        let node = named(&nodes, name).unwrap();
        for at in [(0.5, 0.5), (0.1, 0.2), (0.9, 0.8)] {
            app.point_at(&node, at);
            picks(&mut inspector, name, &node["node"]);
        }
    }
    // What is excluded lies between these two.
    let [left, top, ..] = app.pixels(&named(&nodes, "More").unwrap());
    let (x, y) = (left + 40.0 * scale, top - 18.0 * scale);
    app.screen.point((app.place.x + x, app.place.y + y));
    picks(&mut inspector, "nothing of what is excluded", &Value::Null);
    app.point_at(&named(&nodes, "Save").unwrap(), (0.5, 0.5));
    picks(
        &mut inspector,
        "Save",
        &named(&nodes, "Save").unwrap()["node"],
    );
    let beside = f64::from(app.place.width) + 50.0;
    app.screen.point((app.place.x + beside, app.place.y + y));
    picks(&mut inspector, "nothing beside the window", &Value::Null);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_pick_is_the_node_under_the_pointer() {
    the_node_under_the_pointer(1.0);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_pick_is_the_node_under_the_pointer_in_a_scaled_window() {
    the_node_under_the_pointer(2.0);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_pick_never_swallows_a_click() {
    let app = App::open(1.0);
    let (mut inspector, mut agent) = (app.client(), app.client());
    let nodes = tree(&mut inspector);
    let (save, other) = (
        named(&nodes, "Save").unwrap(),
        named(&nodes, "Untagged").unwrap(),
    );
    let (over, met) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let _over = Over(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if pick(&mut inspector) == save["node"] {
                    met.store(true, Ordering::Relaxed);
                }
            }
        });
        for clicks in 1..=10 {
            app.point_at(&save, (0.5, 0.5));
            app.screen.click();
            app.counted(&mut agent, &format!("saved {clicks},"));
            app.point_at(&other, (0.5, 0.5));
            app.screen.click();
            app.counted(&mut agent, &format!("other {clicks}"));
        }
        app.point_at(&save, (0.5, 0.5));
        eventually("it was picked", || met.load(Ordering::Relaxed));
    });
    app.counted(&mut agent, "saved 10, under 0, popup 0, other 10");
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_popup_is_picked_before_what_it_covers() {
    for scale in [1.0, 2.0] {
        let app = App::open(scale);
        let (mut inspector, mut agent) = (app.client(), app.client());
        let nodes = tree(&mut inspector);
        let (more, under) = (
            named(&nodes, "More").unwrap(),
            named(&nodes, "Under").unwrap(),
        );
        app.point_at(&under, (0.5, 0.5));
        picks(&mut inspector, "Under", &under["node"]);
        app.point_at(&more, (0.5, 0.5));
        app.screen.click();
        let mut popup = None;
        eventually("the popup", || {
            popup = named(&tree(&mut inspector), "In the popup");
            popup.is_some()
        });
        let popup = popup.unwrap();
        let ([_, top, _, height], [_, y, _, _]) = (app.pixels(&under), app.pixels(&popup));
        assert!(y >= top && y < top + height, "it lies over it");
        app.point_at(&popup, (0.5, 0.3));
        picks(&mut inspector, "what is in the popup", &popup["node"]);
        // Its margin covers, too.
        let [left, y, _, height] = app.pixels(&popup);
        let margin = (left - 3.0 * scale, y + height * 0.3);
        app.screen
            .point((app.place.x + margin.0, app.place.y + margin.1));
        picks(&mut inspector, "nothing through its margin", &Value::Null);
        app.point_at(&popup, (0.5, 0.3));
        app.screen.click();
        app.counted(&mut agent, "under 0, popup 1,");
        // It has closed.
        app.point_at(&under, (0.5, 0.5));
        picks(&mut inspector, "Under again", &under["node"]);
        app.screen.click();
        app.counted(&mut agent, "under 1, popup 1,");
    }
}
