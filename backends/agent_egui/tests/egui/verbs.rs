//! What a person commonly does to a widget, asked for by its own word.

use agent_core::{Action, Answer, Refusal, Role, Tag, Why};
use agent_egui::{AgentResponse, AgentUi, AgentWidget};
use egui::Ui;

use crate::driver::{Driver, Host};

#[derive(Default)]
struct App {
    gift: bool,
    bold: bool,
    wifi: bool,
    size: u8,
    row: u8,
    volume: f32,
    query: String,
    body: String,
    searches: Vec<String>,
    changes: usize,
}

fn draw(ui: &mut Ui, app: &mut App) {
    ui.agent_window("main");
    let mut changed = |response: egui::Response| app.changes += usize::from(response.changed());
    changed(ui.add(egui::Checkbox::new(&mut app.gift, "Gift").agent_id("gift")));
    changed(ui.agent("bold", |ui| ui.toggle_value(&mut app.bold, "Bold")));
    changed(ui.agent(Tag::id("wifi").role(Role::Switch), |ui| {
        ui.checkbox(&mut app.wifi, "Wi-Fi")
    }));
    changed(ui.agent("small", |ui| ui.radio_value(&mut app.size, 0, "Small")));
    changed(ui.agent("large", |ui| ui.radio_value(&mut app.size, 1, "Large")));
    for row in 0..3 {
        let tag = Tag::id(format!("row-{row}")).role(Role::Option);
        changed(ui.agent(tag, |ui| {
            ui.selectable_value(&mut app.row, row, format!("Row {row}"))
        }));
    }
    changed(
        ui.add(
            egui::Slider::new(&mut app.volume, 0.0..=100.0)
                .step_by(10.0)
                .agent_id("volume"),
        ),
    );
    let query = ui.add(egui::TextEdit::singleline(&mut app.query).agent_id("query"));
    if query.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
        app.searches.push(app.query.clone());
    }
    ui.add(egui::TextEdit::multiline(&mut app.body).agent_id("body"));
    ui.agent("more", |ui| {
        egui::CollapsingHeader::new("More")
            .show(ui, |ui| ui.label("inside").agent_id("inside"))
            .header_response
    });
}

fn acted(driver: &mut Driver<App>, id: &str, action: Action) -> Vec<String> {
    match driver.act(id, action.clone()) {
        Answer::Acted(acted) => {
            let events = acted.events.iter();
            events
                .map(|event| format!("{} {}", event.source, event.verb.word()))
                .collect()
        }
        other => panic!("{id} {action:?}: {other:?}"),
    }
}

#[test]
fn switching_and_choosing_twice_does_no_harm() {
    let mut driver = Driver::new(App::default(), draw);
    for (id, action, told) in [
        ("gift", Action::SetChecked(true), "gift toggled"),
        ("bold", Action::SetChecked(true), "bold toggled"),
        ("wifi", Action::SetChecked(true), "wifi toggled"),
        ("large", Action::Select, "large toggled"),
        ("row-2", Action::Select, "row-2 selected"),
    ] {
        let first = acted(&mut driver, id, action.clone());
        assert!(first.contains(&told.to_owned()), "{first:?}");
        assert_eq!(acted(&mut driver, id, action), Vec::<String>::new(), "{id}");
    }
    let app = &driver.state;
    assert_eq!(
        (app.gift, app.bold, app.wifi, app.size, app.row, app.changes),
        (true, true, true, 1, 2, 5)
    );
    acted(&mut driver, "gift", Action::SetChecked(false));
    assert!(!driver.state.gift);
    let outline = driver.outline();
    assert!(
        outline
            .iter()
            .any(|line| line.contains("row-2") && line.contains("selected")),
        "{outline:?}"
    );
    assert!(
        outline
            .iter()
            .any(|line| line.contains("wifi") && line.contains("checked")),
        "{outline:?}"
    );
}

#[test]
fn a_number_is_set_within_its_bounds() {
    let mut driver = Driver::new(App::default(), draw);
    assert_eq!(
        acted(&mut driver, "volume", Action::SetValue(40.0)),
        ["volume changed"]
    );
    assert_eq!(
        acted(&mut driver, "volume", Action::SetValue(40.0)),
        Vec::<String>::new()
    );
    assert_eq!(driver.state.volume, 40.0);
    for wrong in [101.0, -1.0, f64::NAN] {
        let answer = driver.act("volume", Action::SetValue(wrong));
        assert!(
            matches!(
                answer,
                Answer::Fault(agent_core::Fault::InvalidParams { name: "value", .. })
            ),
            "{answer:?}"
        );
    }
    assert_eq!((driver.state.volume, driver.state.changes), (40.0, 1));
}

#[test]
fn rule_14_submit_is_the_enter_that_a_person_presses() {
    let mut driver = Driver::new(App::default(), draw);
    driver.state.query = "tea".into();
    assert_eq!(
        acted(&mut driver, "query", Action::Submit),
        ["query submitted"]
    );
    assert_eq!(driver.state.searches, ["tea"]);
    // With the focus already there.
    driver.act("query", Action::Focus);
    acted(&mut driver, "query", Action::Submit);
    assert_eq!(driver.state.searches, ["tea", "tea"]);
    assert_eq!(driver.state.query, "tea");
    let not_offered = Refusal::NotActionable {
        why: Why::NotOffered,
        by: None,
    };
    assert_eq!(driver.refused("body", Action::Submit), not_offered);
    assert_eq!(driver.refused("gift", Action::Submit), not_offered);
    for _ in 0..5 {
        driver.frame(vec![]);
    }
    assert_eq!(driver.state.searches.len(), 2);
}

#[test]
fn an_expander_opens_and_closes() {
    let mut driver = Driver::new(App::default(), draw);
    assert!(!driver.outline().iter().any(|line| line.contains("inside")));
    let opened = acted(&mut driver, "more", Action::Expand);
    assert!(opened.contains(&"more opened".to_owned()), "{opened:?}");
    assert_eq!(
        acted(&mut driver, "more", Action::Expand),
        Vec::<String>::new()
    );
    for _ in 0..10 {
        driver.frame(vec![]);
    }
    assert!(
        driver.outline().iter().any(|line| line.contains("inside")),
        "{:?}",
        driver.outline()
    );
    let closed = acted(&mut driver, "more", Action::Collapse);
    assert!(closed.contains(&"more closed".to_owned()), "{closed:?}");
}

/// What a click does at once is shown by a label that is drawn before the button; what it leaves
/// to be done is done when the app draws next.
#[derive(Default)]
struct Lagging {
    saved: u8,
    left: bool,
    done: u8,
}

#[test]
fn a_reply_tells_what_showed_in_the_frame_and_in_the_one_after() {
    for host in [Host::RunUi, Host::OnePass, Host::BeginEnd] {
        let mut driver = Driver::on(host, Lagging::default(), |ui, app: &mut Lagging| {
            ui.agent_window("main");
            app.done += u8::from(std::mem::take(&mut app.left));
            ui.label(format!("{} saved", app.saved)).agent_id("saved");
            ui.label(format!("{} done", app.done)).agent_id("done");
            if ui.button("Save").agent_id("save").clicked() {
                app.saved += 1;
                app.left = true;
            }
        });
        for _ in 0..2 {
            let Answer::Acted(acted) = driver.act("save", Action::Click) else {
                panic!("not acted");
            };
            let mut told: Vec<String> = acted
                .events
                .iter()
                .map(|event| format!("{} {:?}", event.source, event.verb))
                .collect();
            told.sort();
            let all = ["done Changed", "save Clicked", "saved Changed"];
            assert_eq!(told, all, "{host:?}");
        }
    }
}
