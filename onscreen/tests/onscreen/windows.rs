//! An app of two windows.

use agent_test_support::{eventually, reason};
use serde_json::json;

use crate::{
    app::{App, click, named, tree},
    image::{EXPOSED, HIGHLIGHT, Image, SECRET},
    pick::picks,
};

#[test]
#[ignore = "needs a display: `cargo xtask test` gives it one"]
fn each_window_is_picked_from_drawn_over_and_pictured() {
    for kind in ["--immediate", "--deferred"] {
        let app = App::with(1.0, &[kind]);
        let second = app.screen.window("Second");
        let mut inspector = app.client();
        // Both are there from the first request on, whichever draws first.
        let nodes = tree(&mut inspector);
        let (save, there) = (
            named(&nodes, "Save").unwrap(),
            named(&nodes, "There").unwrap(),
        );
        let [x, y, width, height] = app.pixels(&there);

        app.point_at(&save, (0.5, 0.5));
        picks(&mut inspector, "Save", &save["node"]);
        let middle = (second.x + x + width / 2.0, second.y + y + height / 2.0);
        app.screen.point(middle);
        picks(&mut inspector, "There", &there["node"]);
        app.point_at(&save, (0.5, 0.5));
        picks(&mut inspector, "Save again", &save["node"]);

        for node in [&there, &save] {
            let params = json!({"node": node["node"], "timeout_ms": 30_000});
            inspector.get("inspector.highlight", params);
            eventually("it is drawn over its own window alone", || {
                let [first, second] = [app.place, second].map(|place| {
                    let image = app.screen.shot(place);
                    image.count(HIGHLIGHT) > 100
                });
                (first, second) == (*node == save, *node == there)
            });
        }
        inspector.get("inspector.highlight", json!({"timeout_ms": 30_000}));

        // Of one window, with what is secret there black.
        let window = named(&nodes, "Second").unwrap();
        let params = json!({"node": window["node"], "timeout_ms": 30_000});
        let reply = inspector.ask("inspector.screenshot", params);
        if kind == "--immediate" {
            // eframe takes none of such a window, and doesn't say so.
            assert_eq!(reason(&reply), "unsupported", "{reply}");
        } else {
            let picture = Image::of(&reply["result"]);
            let size = (usize::from(second.width), usize::from(second.height));
            assert_eq!((picture.width, picture.height), size, "{kind}");
            assert!(picture.count(EXPOSED) > 1_000);
            assert_eq!(picture.count(SECRET), 0);
            let params = json!({"node": there["node"], "timeout_ms": 30_000});
            let part = Image::of(&inspector.get("inspector.screenshot", params));
            assert_eq!(part.count(EXPOSED), picture.count(EXPOSED));
        }
        let first = inspector.get("inspector.screenshot", json!({"timeout_ms": 30_000}));
        let first = Image::of(&first);
        let size = (usize::from(app.place.width), usize::from(app.place.height));
        assert_eq!((first.width, first.height), size, "{kind}");
        assert_eq!(first.count(SECRET), 0);
        let mut agent = app.client();
        click(&mut agent, "there");
        click(&mut agent, "save");
    }
}
