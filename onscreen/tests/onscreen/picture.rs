//! `inspector.screenshot` of a real window.

use std::time::{Duration, Instant};

use agent_test_support::{Client, LONG, eventually, reason};
use serde_json::{Value, json};

use crate::{
    app::{App, click, named, tree},
    image::{BLACK, EXCLUDED, EXPOSED, GROUND, IN_POPUP, Image, QUESTION, SECRET, UNTAGGED},
};

fn screenshot(inspector: &mut Client, mut params: Value) -> Value {
    params["timeout_ms"] = 30_000.into();
    inspector.get("inspector.screenshot", params)
}

/// More pixels than letters and edges have.
const MANY: usize = 1_000;

fn pictures(scale: f64) {
    let app = App::open(scale);
    let mut inspector = app.client();
    let nodes = tree(&mut inspector);
    let pixels = |name: &str| app.pixels(&named(&nodes, name).unwrap());

    // On the screen there is all of it.
    let mut seen = app.screen.shot(app.place);
    eventually("all is drawn", || {
        seen = app.screen.shot(app.place);
        seen.count(EXCLUDED) > MANY && seen.count(EXPOSED) > MANY
    });
    assert!(seen.count(SECRET) > MANY && seen.count(UNTAGGED) > MANY);

    let reply = screenshot(&mut inspector, json!({}));
    let picture = Image::of(&reply);
    let size = (usize::from(app.place.width), usize::from(app.place.height));
    assert_eq!((picture.width, picture.height), size);
    assert_eq!(
        (&reply["scale"], &reply["from"]),
        (&json!(scale), &json!([0.0, 0.0]))
    );
    assert_eq!(picture.count(EXPOSED), seen.count(EXPOSED));
    assert_eq!(picture.count(UNTAGGED), seen.count(UNTAGGED));
    assert!(picture.count(GROUND) > MANY);
    assert_eq!((picture.count(SECRET), picture.count(EXCLUDED)), (0, 0));
    assert!(picture.inside(pixels("Password"), 0.0).is_all(BLACK));
    // What is excluded lies above this one, as high as the others.
    let [x, y, ..] = pixels("More");
    let excluded = [x, y - 33.0 * scale, 150.0 * scale, 30.0 * scale];
    assert!(picture.inside(excluded, 0.0).is_all(BLACK));

    let unexposed = Image::of(&screenshot(&mut inspector, json!({"hide": "unexposed"})));
    assert_eq!((unexposed.width, unexposed.height), size);
    assert_eq!(unexposed.count(EXPOSED), seen.count(EXPOSED));
    for hidden in [UNTAGGED, SECRET, EXCLUDED] {
        assert_eq!(unexposed.count(hidden), 0, "{hidden:?}");
    }
    for name in ["Caption", "Untagged", "Password"] {
        assert!(
            unexposed.inside(pixels(name), 1.5 * scale).is_all(BLACK),
            "{name}"
        );
    }
    assert!(!unexposed.inside(pixels("Save"), 0.0).is_all(BLACK));

    for (name, colour) in [("Save", EXPOSED), ("Untagged", UNTAGGED)] {
        let node = named(&nodes, name).unwrap();
        let part = screenshot(&mut inspector, json!({"node": node["node"]}));
        let image = Image::of(&part);
        // Of the size of its frame, and a bit more on each side.
        let [left, top, width, height] = pixels(name);
        let more = |size: usize, of: f64| {
            let more = size as f64 - of;
            (0.0..=4.0 + 2.0 * scale).contains(&more)
        };
        assert!(
            more(image.width, width) && more(image.height, height),
            "{image:?}"
        );
        assert_eq!(
            image.count(colour),
            seen.count_in([left, top, width, height], colour)
        );
        let from = part["from"].as_array().unwrap();
        let (x, y) = (from[0].as_f64().unwrap(), from[1].as_f64().unwrap());
        assert!((x * scale - left).abs() <= 2.0 + scale, "{part:?}");
        assert!((y * scale - top).abs() <= 2.0 + scale, "{part:?}");
    }
    let secret = named(&nodes, "Password").unwrap();
    let part = screenshot(&mut inspector, json!({"node": secret["node"]}));
    assert!(
        Image::of(&part)
            .inside([0.0, 0.0, 1e6, 1e6], 2.0)
            .count(SECRET)
            == 0
    );
    let hidden = named(&nodes, "Untagged").unwrap();
    let params = json!({"node": hidden["node"], "hide": "unexposed"});
    let part = Image::of(&screenshot(&mut inspector, params));
    assert_eq!((part.count(UNTAGGED), part.count(EXPOSED)), (0, 0));
}

impl Image {
    fn count_in(&self, frame: [f64; 4], colour: [u8; 3]) -> usize {
        self.inside(frame, 0.0).count(colour)
    }
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_picture_shows_the_window_without_what_is_secret_or_excluded() {
    pictures(1.0);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_picture_of_a_scaled_window_hides_the_same() {
    pictures(2.0);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn an_unexposed_popup_is_black_though_it_lies_over_what_is_exposed() {
    for scale in [1.0, 2.0] {
        let app = App::open(scale);
        let mut inspector = app.client();
        let more = named(&tree(&mut inspector), "More").unwrap();
        app.point_at(&more, (0.5, 0.5));
        app.screen.click();
        let mut nodes = Vec::new();
        eventually("the popup", || {
            nodes = tree(&mut inspector);
            named(&nodes, "In the popup").is_some()
        });
        let all = Image::of(&screenshot(&mut inspector, json!({})));
        assert!(all.count(IN_POPUP) > MANY);
        let exposed = Image::of(&screenshot(&mut inspector, json!({"hide": "unexposed"})));
        assert_eq!(exposed.count(IN_POPUP), 0);
        let popup = app.pixels(&named(&nodes, "In the popup").unwrap());
        assert!(exposed.inside(popup, 0.0).is_all(BLACK));
        // What it doesn't cover of what is exposed is still shown.
        let save = app.pixels(&named(&nodes, "Save").unwrap());
        assert_eq!(exposed.count_in(save, EXPOSED), all.count_in(save, EXPOSED));
        assert!(exposed.count_in(save, EXPOSED) > MANY);
    }
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn a_minimised_window_has_a_picture_or_says_in_time_that_it_has_none() {
    let app = App::open(1.0);
    let mut inspector = app.client();
    screenshot(&mut inspector, json!({}));
    app.screen.minimise(app.place);
    eventually("it is gone from the screen", || {
        app.screen.find("Onscreen").is_none()
    });
    let begun = Instant::now();
    for _ in 0..3 {
        let reply = inspector.ask("inspector.screenshot", json!({"timeout_ms": 4_000}));
        match reason(&reply) {
            "none" => {
                let picture = Image::of(&reply["result"]);
                assert_eq!((picture.count(SECRET), picture.count(EXCLUDED)), (0, 0));
            }
            why => assert!(["app_busy", "unsupported"].contains(&why), "{reply}"),
        }
    }
    assert!(begun.elapsed() < LONG);
    // Nothing else suffers from it.
    assert!(named(&tree(&mut inspector), "Save").is_some());
    let mut agent = app.client();
    click(&mut agent, "save");
    app.counted(&mut agent, "saved 1,");
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn an_app_that_hangs_is_said_to_be_busy_and_answers_again_when_it_goes_on() {
    let mut app = App::open(1.0);
    let mut inspector = app.client();
    let nodes = tree(&mut inspector);
    app.point_at(&named(&nodes, "Hang").unwrap(), (0.5, 0.5));
    app.screen.click();
    app.program.says("hangs");
    let save = named(&nodes, "Save").unwrap()["node"].clone();
    for (method, mut params) in [
        ("screenshot", json!({})),
        ("screenshot", json!({"node": save})),
        ("tree", json!({})),
        ("node", json!({"node": save})),
        ("agent_view", json!({"node": save})),
        ("highlight", json!({"node": save})),
        ("pick", json!({})),
        ("lint", json!({})),
    ] {
        params["timeout_ms"] = 300.into();
        let begun = Instant::now();
        let reply = inspector.ask(&format!("inspector.{method}"), params);
        assert_eq!(reason(&reply), "app_busy", "{reply}");
        assert!(begun.elapsed() >= Duration::from_millis(300));
    }
    // What happened is told without it.
    inspector.get("inspector.log", json!({}));
    app.program.tell();
    assert!(named(&tree(&mut inspector), "Save").is_some());
    let picture = Image::of(&screenshot(&mut inspector, json!({})));
    assert!(picture.count(EXPOSED) > MANY);
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn rule_8_what_moves_while_a_picture_is_taken_is_black_all_the_same() {
    // What is in a picture of a window four times as large takes four times as long to write down.
    for (scale, pictures) in [(1.0, 20), (2.0, 5)] {
        let app = App::with(scale, &["--moves"]);
        let mut inspector = app.client();
        for _ in 0..pictures {
            let picture = Image::of(&screenshot(&mut inspector, json!({})));
            assert!(picture.count(EXPOSED) > 0, "something is shown");
            assert_eq!((picture.count(SECRET), picture.count(EXCLUDED)), (0, 0));
            let params = json!({"hide": "unexposed"});
            let picture = Image::of(&screenshot(&mut inspector, params));
            for hidden in [UNTAGGED, SECRET, EXCLUDED] {
                assert_eq!(picture.count(hidden), 0, "{hidden:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn rule_11_a_window_that_was_opened_in_what_is_excluded_is_black() {
    for scale in [1.0, 2.0] {
        let app = App::open(scale);
        let (mut inspector, mut agent) = (app.client(), app.client());
        let nodes = tree(&mut inspector);
        let [left, top, ..] = app.pixels(&named(&nodes, "More").unwrap());
        let (x, y) = (left + 40.0 * scale, top - 18.0 * scale);
        app.screen.point((app.place.x + x, app.place.y + y));
        app.screen.click();
        app.counted(&mut agent, "other 1");
        eventually("the question", || {
            app.screen.shot(app.place).count(QUESTION) > MANY
        });
        for hide in ["secrets", "unexposed"] {
            let picture = Image::of(&screenshot(&mut inspector, json!({ "hide": hide })));
            let shown = [EXCLUDED, QUESTION].map(|colour| picture.count(colour));
            assert_eq!(shown, [0, 0], "{hide}");
            assert!(picture.count(EXPOSED) > MANY);
        }
        let nodes = json!(tree(&mut inspector)).to_string();
        assert!(
            !nodes.contains("Question") && !nodes.contains("Yes"),
            "{nodes}"
        );
    }
}
