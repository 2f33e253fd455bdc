//! What is never in a picture.

#![allow(clippy::unwrap_used, reason = "a failed expectation is a failed test")]

use agent_core::{Frame, LiveTree as _, States, Tag};
use agent_headless::{Kind, Node, Tree, Widget};
use agent_inspect::{Hide, Layer, Look, Looker, Picture};

const WHITE: [u8; 4] = [255; 4];
const BLACK: [u8; 4] = [0, 0, 0, 255];

struct Window {
    tree: Tree,
    window: Node,
    look: Look,
}

fn window() -> Window {
    let mut tree = Tree::new();
    let window = tree.open_window(Widget::window("Main").tag("main"));
    for widget in [
        Widget::button("Save").tag("save"),
        Widget::button("Untagged"),
        Widget::text_field("Password").tag(Tag::id("password").secret()),
        Widget::new(Kind::Group)
            .tag(Tag::new().excluded())
            .child(Widget::button("Allow")),
    ] {
        tree.add(window, widget);
    }
    // It lies over nothing in a picture of the other.
    tree.open_window(Widget::window("Agents").tag(Tag::new().excluded()));
    let look = Looker::default().look(&tree);
    Window { tree, window, look }
}

/// Whether the middle of a frame is as it was.
fn shows(picture: &Picture, frame: Frame) -> bool {
    let x = (frame.x + frame.width / 2.0 - picture.from.0) * picture.scale;
    let y = (frame.y + frame.height / 2.0 - picture.from.1) * picture.scale;
    let pixel = picture.pixels[y as usize * picture.width + x as usize];
    assert!(pixel == WHITE || pixel == BLACK);
    pixel == WHITE
}

#[test]
fn rule_11_what_is_excluded_or_secret_is_black() {
    for scale in [1.0, 1.5, 2.0] {
        let Window { tree, window, look } = window();
        let whole = tree.frame(window).unwrap();
        let (width, height) = (whole.width * scale, whole.height * scale);
        let all = Picture::new(width as usize, height as usize, scale, WHITE);
        let frames: Vec<Frame> = tree
            .children(window)
            .iter()
            .map(|it| tree.frame(*it).unwrap())
            .collect();
        let handle = look.nodes[0].handle;
        let shown = |hide| {
            let mut picture = all.clone();
            picture.black_out(&look, handle, hide);
            frames
                .iter()
                .map(|frame| shows(&picture, *frame))
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(Hide::Secrets), [true, true, false, false]);
        assert_eq!(shown(Hide::Unexposed), [true, false, false, false]);
        let mut scrolled = look.clone();
        scrolled.nodes[1].states |= States::OFFSCREEN;
        let mut picture = all.clone();
        picture.black_out(&scrolled, handle, Hide::Unexposed);
        assert!(!shows(&picture, frames[0]), "something else is there");
        // Nothing is told of what is excluded, but for where it is.
        assert_eq!(look.excluded[0], (handle, frames[3]));
        assert!(look.nodes.iter().all(|node| node.name != "Allow"));
    }
}

#[test]
fn a_part_is_cut_out_and_knows_where_it_was() {
    let mut all = Picture::new(100, 80, 2.0, WHITE);
    let frame = Frame {
        x: 10.0,
        y: 20.0,
        width: 5.0,
        height: 5.0,
    };
    all.fill(frame, BLACK);
    let part = all.crop(frame);
    // With a pixel more on each side.
    assert_eq!((part.width, part.height), (12, 12));
    assert_eq!(part.from, (9.5, 19.5));
    assert!(part.pixels.iter().all(|pixel| *pixel == BLACK));
    let outside = Frame { x: 900.0, ..frame };
    assert_eq!(all.crop(outside).pixels, Vec::<[u8; 4]>::new());
    let half = all.halved();
    assert_eq!((half.width, half.height, half.scale), (50, 40, 1.0));
    assert!(!shows(&half, frame));
}

#[test]
fn a_layer_hides_what_is_exposed_below_it_and_shows_what_is_in_it() {
    let Window {
        tree,
        window,
        mut look,
    } = window();
    let whole = tree.frame(window).unwrap();
    let (width, height) = (whole.width as usize, whole.height as usize);
    let frame = |name: &str, look: &Look| {
        let node = look.nodes.iter().find(|node| node.name == name);
        node.unwrap().frame.unwrap()
    };
    let (save, untagged) = (frame("Save", &look), frame("Untagged", &look));
    let shown = |look: &Look, hide, frame| {
        let mut picture = Picture::new(width, height, 1.0, WHITE);
        picture.black_out(look, look.nodes[0].handle, hide);
        shows(&picture, frame)
    };
    assert!(shown(&look, Hide::Unexposed, save));
    // A popup over it, in which nothing is exposed.
    look.layers = vec![Layer {
        window: look.nodes[0].handle,
        frame: save,
    }];
    assert!(!shown(&look, Hide::Unexposed, save));
    assert!(shown(&look, Hide::Secrets, save));
    // It is itself in the popup.
    for node in look.nodes.iter_mut().filter(|node| node.name == "Save") {
        node.layer = Some(0);
    }
    assert!(shown(&look, Hide::Unexposed, save));
    // A layer of another window hides nothing here.
    look.layers[0].window = u64::MAX;
    for node in &mut look.nodes {
        node.layer = None;
    }
    assert!(shown(&look, Hide::Unexposed, save));

    // The ground of a layer that holds nothing but what is excluded.
    look.layers[0] = Layer {
        window: look.nodes[0].handle,
        frame: untagged,
    };
    assert!(shown(&look, Hide::Secrets, untagged));
    look.excluded_layers.insert(0);
    assert!(!shown(&look, Hide::Secrets, untagged));
    for node in look.nodes.iter_mut().filter(|node| node.name == "Untagged") {
        node.layer = Some(0);
    }
    assert!(shown(&look, Hide::Secrets, untagged));
}

#[test]
fn rule_13_of_a_look_that_is_cut_there_is_no_picture() {
    let Window {
        tree,
        window,
        mut look,
    } = window();
    look.complete = false;
    let whole = tree.frame(window).unwrap();
    let mut picture = Picture::new(whole.width as usize, whole.height as usize, 1.0, WHITE);
    picture.black_out(&look, look.nodes[0].handle, Hide::Secrets);
    assert!(picture.pixels.iter().all(|pixel| *pixel == BLACK));
}
