//! The window by the keyboard alone: every pane.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use std::path::PathBuf;

use agent_inspector::{Inspector, Watch, Which};
use agent_surface::{
    AuthGate, Scope, Surface,
    consent::{Consent, Mode, Rule, Store},
    headless::{Headless, Kind, Tree, Widget},
};
use agent_test_support::{Client, TempDir, allow, eventually, folder};
use egui::{Context, Event, Key, Modifiers, RawInput, Rect, accesskit, vec2};
use serde_json::json;

fn form(tree: &mut Tree) {
    tree.open_window(Widget::window("Form").tag("main").children([
        Widget::button("One").tag("one"),
        Widget::new(Kind::Group).child(Widget::button("Two")),
        Widget::button("Three").tag("three"),
    ]));
}

/// Something of everything that the panes tell of.
fn faulty(tree: &mut Tree) {
    let many = (0..60).map(|at| Widget::button(format!("Row {at}")));
    tree.open_window(
        Widget::window("Form")
            .tag("main")
            .children([
                Widget::new(Kind::Group)
                    .tag("drawer")
                    .visible(false)
                    .child(Widget::button("Inside").tag("inside")),
                Widget::button("Three").tag("twice"),
                Widget::button("Three again").tag("twice"),
            ])
            .children(many),
    );
}

struct Window {
    ctx: Context,
    inspector: Inspector,
    at: PathBuf,
    _surface: Surface,
    _app: Headless,
    _folder: TempDir,
}

impl Window {
    fn open() -> Self {
        Self::on(form, allow())
    }

    fn on(build: fn(&mut Tree), gate: AuthGate) -> Self {
        let folder = folder();
        let app = Headless::start("form", build);
        let at = folder.path().join("form.sock");
        let surface = Surface::builder("form")
            .gate(gate)
            .headless(&app)
            .arm_inspector()
            .at(&at)
            .serve()
            .unwrap();
        let watch = Watch::start(Which::At(at.clone()), || ()).unwrap();
        let ctx = Context::default();
        ctx.enable_accesskit();
        let mut window = Self {
            ctx,
            inspector: Inspector::new(watch),
            at,
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

    /// Presses a key until it is so.
    #[track_caller]
    fn press_until(&mut self, key: Key, what: &str, mut is_so: impl FnMut(&str) -> bool) {
        eventually(what, || {
            let shown = self.press(key, Modifiers::NONE);
            is_so(&shown)
        });
    }

    /// Waits until it shows this.
    #[track_caller]
    fn shows(&mut self, what: &str) {
        eventually(what, || self.frame(Vec::new()).contains(what));
    }

    /// Takes the keyboard to a pane by F6.
    #[track_caller]
    fn enter(&mut self, pane: &str) {
        let ctx = self.ctx.clone();
        let has_focus = || {
            let focused = ctx.memory(|memory| memory.focused());
            focused == Some(egui::Id::unique(("pane", pane)))
        };
        self.press_until(Key::F6, pane, |_| has_focus());
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

#[test]
fn enter_in_the_search_selects_what_was_found_and_the_tree_is_walked_from_there() {
    let mut window = Window::open();
    window.press(Key::F, Modifiers::COMMAND);
    window.frame(vec![Event::Text("three".to_owned())]);
    window.selects(Key::Enter, "button \"Three\" [three]");
    window.selects(Key::ArrowUp, "window \"Form\" [main]");
}

#[test]
fn the_details_are_scrolled_and_their_links_followed() {
    let mut window = Window::on(faulty, allow());
    window.press(Key::F, Modifiers::COMMAND);
    window.frame(vec![Event::Text("inside".to_owned())]);
    window.selects(Key::Enter, "button \"Inside\" [inside] hidden");
    window.shows("something around it is hidden");
    window.enter("Details");
    // The link to what is hidden comes first.
    window.press(Key::Tab, Modifiers::NONE);
    window.selects(Key::Enter, "group [drawer] hidden");

    window.press(Key::Num5, Modifiers::COMMAND);
    window.shows("visible: bool = false");
    window.enter("Details");
    let selected = "> group [drawer] hidden";
    window.press_until(Key::ArrowDown, "it is still selected", |shown| {
        shown.contains(selected)
    });
}

#[test]
fn a_finding_is_gone_to() {
    let mut window = Window::on(faulty, allow());
    window.press(Key::Num6, Modifiers::COMMAND);
    window.shows("duplicate id: twice");
    window.enter("Details");
    window.press(Key::Tab, Modifiers::NONE);
    window.selects(Key::Enter, "button \"Three\" [twice] duplicate");
}

#[test]
fn what_happens_is_scrolled() {
    let mut window = Window::on(faulty, allow());
    let mut client = Client::connect(&window.at);
    for at in 0..60 {
        client.ask("click", json!({ "id": format!("number-{at}") }));
    }
    window.shows("[number-59]");
    window.enter("What happens");
    window.press_until(Key::Home, "the first", |shown| shown.contains("[number-0]"));
    window.press_until(Key::PageDown, "the last", |shown| {
        shown.contains("[number-59]")
    });
    window.press_until(Key::ArrowUp, "the one before", |shown| {
        !shown.contains("[number-59]")
    });
    window.press_until(Key::End, "the last again", |shown| {
        shown.contains("[number-59]")
    });
    let shown = window.frame(Vec::new());
    assert!(!shown.contains("> window"), "the tree was walked: {shown}");
}

#[test]
fn whom_the_app_lets_in_is_read_and_scrolled() {
    let folder = folder();
    let rules = folder.path().join("rules");
    let store = Store::at(&rules);
    for at in 0..30 {
        let rule = Rule {
            app: "form".into(),
            scope: Scope::Surface,
            agent: format!("agent {at}"),
            name: format!("agent {at:02}"),
            program: None,
            content: None,
            evidence: vec![format!("/usr/bin/agent-{at}")],
            allow: at > 0,
            since: 1_700_000_000,
            until: None,
            last_used: Some(1_700_000_100),
            uses: 3,
        };
        store.save(&rule).unwrap();
    }
    let consent = Consent::builder("form")
        .mode(Mode::AllowAll)
        .rules_dir(&rules)
        .no_log()
        .build();
    let mut window = Window::on(form, consent.gate());
    window.press(Key::Num7, Modifiers::COMMAND);
    window.shows("Agents are let in where no rule says otherwise.");
    let shown = window.frame(Vec::new());
    for part in [
        "\"agent 00\" may not operate what is exposed",
        "since 2023-11-14T22:13:20Z",
        "always, until it is taken back",
        "used 3 times, last 2023-11-14T22:15:00Z",
        "seen: \"/usr/bin/agent-0\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    window.enter("Details");
    let before = window.frame(Vec::new());
    window.press_until(Key::PageDown, "it scrolls", |shown| shown != before);
}

#[test]
fn an_app_that_decides_by_itself_is_said_to() {
    let mut window = Window::open();
    window.press(Key::Num7, Modifiers::COMMAND);
    window.shows("This app decides by itself whom it lets in");
}

#[test]
fn the_bar_is_gone_through_by_tab() {
    let mut window = Window::open();
    window.press(Key::F, Modifiers::COMMAND);
    // Out of the field, and past the three ways to see the tree.
    for _ in 0..4 {
        window.press(Key::Tab, Modifiers::NONE);
    }
    let picking = window.press(Key::Space, Modifiers::NONE);
    assert!(picking.contains("> Pick in the app"), "{picking}");
    window.press(Key::Tab, Modifiers::NONE);
    let black = window.press(Key::Space, Modifiers::NONE);
    assert!(black.contains("> Black out unexposed"), "{black}");
}

#[test]
fn a_new_picture_is_taken() {
    let mut window = Window::open();
    window.shows("Picture of the app");
    let before = window.inspector.pictures();
    window.press(Key::F5, Modifiers::NONE);
    eventually("another picture", || {
        window.frame(Vec::new());
        window.inspector.pictures() > before
    });
}
