//! What is not exposed, and what an exposed node must not notice of it.

use agent_core::{Action, Answer, Call, Describe, Refusal, Tag, Why};
use agent_egui::{AgentResponse as _, AgentUi as _, AgentWidget as _};
use egui::Ui;

use crate::driver::{Driver, set_text, target};

#[derive(Default)]
struct App {
    name: String,
    /// Whether what is not exposed is there.
    more: bool,
    clicks: usize,
    others: usize,
}

/// That a button and a field are the same to an agent whether something unexposed is there or
/// not.
fn check(draw: fn(&mut Ui, &mut App), button: &str, field: &str) {
    let mut driver = Driver::new(App::default(), draw);
    let (outline, version) = (driver.outline(), driver.read(field).version);
    for more in [true, false, true] {
        driver.state.more = more;
        assert_eq!(driver.outline(), outline);
        assert_eq!(driver.read(field).version, version);
        let clicks = driver.state.clicks;
        let answer = driver.act(button, Action::Click);
        assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
        assert_eq!((driver.state.clicks, driver.state.others), (clicks + 1, 0));
    }
    let answer = driver.act(field, set_text("Ada", version));
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!(driver.state.name, "Ada");
}

fn exposed(ui: &mut Ui, app: &mut App) {
    ui.add(egui::TextEdit::singleline(&mut app.name).agent_id("name"));
    if ui.agent("save", |ui| ui.button("Save")).clicked() {
        app.clicks += 1;
    }
}

fn twins(ui: &mut Ui, app: &mut App) {
    for id in ["save", "name"] {
        if ui.button("Other").agent_id(id).clicked() {
            app.others += 1;
        }
    }
}

#[test]
fn rule_5_an_excluded_widget_claims_no_id() {
    fn draw(ui: &mut Ui, app: &mut App) {
        ui.agent_window("main");
        if app.more {
            ui.agent_tagged(Tag::new().excluded(), |ui| twins(ui, app));
        }
        exposed(ui, app);
        if app.more {
            ui.agent_tagged(Tag::new().excluded(), |ui| twins(ui, app));
        }
    }
    check(draw, "save", "name");
}

#[test]
fn rule_5_a_widget_that_is_kept_back_claims_no_id() {
    fn kept_back(ui: &mut Ui, app: &mut App) {
        for id in ["save", "name"] {
            let tag = Tag::id(id).exposed(false);
            if app.more && ui.add(egui::Button::new("Other").agent(tag)).clicked() {
                app.others += 1;
            }
        }
    }
    fn draw(ui: &mut Ui, app: &mut App) {
        ui.agent_window("main");
        kept_back(ui, app);
        exposed(ui, app);
        kept_back(ui, app);
    }
    check(draw, "save", "name");
}

#[test]
fn rule_1_a_key_does_not_depend_on_the_tags_before_it() {
    fn rows(ui: &mut Ui, app: &mut App) {
        if app.more {
            ui.agent_tagged(Tag::new().excluded(), |ui| ui.label("Other"));
        }
        // A part that is only marked, and around rows.
        ui.agent_tagged(Tag::new().relayed(), |ui| {
            ui.add(egui::TextEdit::singleline(&mut app.name).agent(Tag::key("name")));
            if ui.agent(Tag::key("save"), |ui| ui.button("Save")).clicked() {
                app.clicks += 1;
            }
        });
    }
    fn in_the_window(ui: &mut Ui, app: &mut App) {
        ui.agent_window("main");
        rows(ui, app);
    }
    fn in_a_list(ui: &mut Ui, app: &mut App) {
        ui.agent_window("main");
        ui.agent_group("list", |tag| tag, |ui| rows(ui, app));
    }
    check(in_the_window, "main/save", "main/name");
    check(in_a_list, "list/save", "list/name");
}

#[test]
fn rule_4_a_click_on_a_closure_reaches_nothing_else_in_it() {
    fn draw(ui: &mut Ui, app: &mut App) {
        ui.agent_window("main");
        ui.add(egui::TextEdit::singleline(&mut app.name).agent_id("name"));
        ui.agent("save", |ui| {
            if app.more && ui.button("Delete everything").clicked() {
                app.others += 1;
            }
            let save = ui.button("Save");
            if save.clicked() {
                app.clicks += 1;
            }
            save
        });
    }
    check(draw, "save", "name");
}

#[test]
fn rule_11_an_excluded_window_is_not_known() {
    let mut driver = Driver::new((), |ui, ()| {
        ui.agent_window(Tag::id("main").excluded());
        ui.add(egui::Button::new("Save").agent_id("save"));
    });
    driver.frame(vec![]);
    assert!(!driver.backend.has_window("main"));
    assert_eq!(driver.outline(), [""; 0]);
}

#[test]
fn rule_7_the_revision_stays_while_nothing_changes() {
    let mut driver = Driver::new(String::new(), |ui, text| {
        ui.agent_window("main");
        for _ in 0..3 {
            ui.add(egui::Button::new("Same").agent_id("same"));
        }
        for _ in 0..2 {
            ui.add(egui::TextEdit::singleline(text).agent_id("twice"));
        }
    });
    driver.outline();
    let mut revision = || driver.describe(Describe::default()).revision;
    assert_eq!(revision(), revision());
}

#[test]
fn a_widget_that_was_never_shown_is_hidden() {
    let mut driver = Driver::new(String::new(), |ui, text| {
        ui.agent_window("main");
        ui.add_visible(false, egui::Button::new("Save").agent_id("save"));
        ui.scope(|ui| {
            ui.set_invisible();
            ui.agent("closure", |ui| ui.button("Save"));
            ui.button("Save").agent_id("chained");
            ui.add(egui::TextEdit::singleline(text).agent_id("field"));
        });
    });
    let hidden = Refusal::NotActionable {
        why: Why::Hidden,
        by: None,
    };
    assert_eq!(driver.outline(), ["main \"\" !"]);
    for id in ["save", "closure", "chained"] {
        assert_eq!(driver.refused(id, Action::Click), hidden, "{id}");
    }
    assert_eq!(driver.refused("field", set_text("x", 1)), hidden);
    let read = driver.call(Call::GetText {
        target: target("field"),
        from: None,
        limit: None,
    });
    assert!(matches!(read, Answer::Refused(refusal) if refusal == hidden));
}

#[test]
fn a_group_is_not_what_had_its_id_before() {
    let mut driver = Driver::new(App::default(), |ui, app| {
        ui.agent_window("main");
        if app.more {
            ui.agent_group("part", |tag| tag, |ui| ui.label("x"));
        } else {
            ui.add(
                egui::TextEdit::singleline(&mut app.name)
                    .password(true)
                    .agent_id("part"),
            );
        }
    });
    driver.outline();
    driver.state.more = true;
    assert_eq!(driver.outline(), ["main \"\" !", "0<part \"\" !"]);
}
