//! The window by the keyboard alone.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use agent_inspector::{Inspector, Watch, Which};
use agent_surface::{
    Surface,
    headless::{Headless, Kind, Tree, Widget},
};
use agent_test_support::{TempDir, allow, eventually, folder};
use egui::{Context, Event, Key, Modifiers, RawInput, Rect, accesskit, vec2};

fn form(tree: &mut Tree) {
    tree.open_window(Widget::window("Form").tag("main").children([
        Widget::button("One").tag("one"),
        Widget::new(Kind::Group).child(Widget::button("Two")),
        Widget::button("Three").tag("three"),
    ]));
}

struct Window {
    ctx: Context,
    inspector: Inspector,
    _surface: Surface,
    _app: Headless,
    _folder: TempDir,
}

impl Window {
    fn open() -> Self {
        let folder = folder();
        let app = Headless::start("form", form);
        let at = folder.path().join("form.sock");
        let surface = Surface::builder("form")
            .gate(allow())
            .headless(&app)
            .arm_inspector()
            .at(&at)
            .serve()
            .unwrap();
        let watch = Watch::start(Which::At(at), || ()).unwrap();
        let ctx = Context::default();
        ctx.enable_accesskit();
        let mut window = Self {
            ctx,
            inspector: Inspector::new(watch),
            _surface: surface,
            _app: app,
            _folder: folder,
        };
        eventually("the tree", || window.frame(Vec::new()).contains("Three"));
        window
    }

    /// Draws a frame. Answers what it shows to a screen reader, line by line, a mark before what
    /// is selected.
    fn frame(&mut self, events: Vec<Event>) -> String {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, vec2(1_200.0, 800.0))),
            events,
            focused: true,
            ..RawInput::default()
        };
        let ctx = self.ctx.clone();
        let output = ctx.run_ui(input, |ui| self.inspector.ui(ui));
        let update = output.platform_output.accesskit_update.clone().unwrap();
        output.drop_without_applying_deltas();
        let mut lines = String::new();
        for (_, node) in &update.nodes {
            let said = node.label().or(node.value()).unwrap_or_default();
            let selected = node.toggled() == Some(accesskit::Toggled::True)
                || node.is_selected() == Some(true);
            lines += if selected { "> " } else { "  " };
            lines += said;
            lines.push('\n');
        }
        lines
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) -> String {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers,
        };
        self.frame(vec![event(true), event(false)]);
        self.frame(Vec::new())
    }

    /// Presses a key, and waits until this is the selected row.
    #[track_caller]
    fn selects(&mut self, key: Key, row: &str) {
        self.press(key, Modifiers::NONE);
        let row = format!("> {row}");
        eventually(&row.clone(), || self.frame(Vec::new()).contains(&row));
    }
}

#[test]
fn the_tree_is_walked_opened_and_closed() {
    let mut window = Window::open();
    window.selects(Key::ArrowDown, "window \"Form\" [main]");
    window.selects(Key::ArrowDown, "button \"One\" [one]");
    window.selects(Key::ArrowDown, "group");
    window.selects(Key::ArrowRight, "button \"Two\"");
    window.selects(Key::ArrowLeft, "group");
    let closed = window.press(Key::ArrowLeft, Modifiers::NONE);
    assert!(!closed.contains("button \"Two\""), "{closed}");
    let open = window.press(Key::ArrowRight, Modifiers::NONE);
    assert!(open.contains("button \"Two\""), "{open}");
    window.selects(Key::End, "button \"Three\" [three]");
    window.selects(Key::Home, "window \"Form\" [main]");
}

#[test]
fn it_is_filtered_and_searched() {
    let mut window = Window::open();
    let exposed = window.press(Key::Num2, Modifiers::COMMAND);
    assert!(
        exposed.contains("[one]") && !exposed.contains("Two"),
        "{exposed}"
    );
    let all = window.press(Key::Num1, Modifiers::COMMAND);
    assert!(all.contains("Two"), "{all}");
    window.press(Key::F, Modifiers::COMMAND);
    window.frame(vec![Event::Text("two".to_owned())]);
    let found = window.frame(Vec::new());
    assert!(
        found.contains("button \"Two\"") && !found.contains("[one]"),
        "{found}"
    );
    // What is typed walks no tree.
    window.press(Key::ArrowDown, Modifiers::NONE);
    let typed = window.frame(Vec::new());
    assert!(!typed.contains("> window"), "{typed}");
}
