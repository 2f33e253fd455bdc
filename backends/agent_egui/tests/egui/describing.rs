use agent_core::{Describe, Tag};
use agent_egui::{AgentResponse, AgentUi, AgentWidget};
use egui::Ui;

use crate::driver::{Driver, Host};

#[derive(Default)]
struct Form {
    name: String,
    dark: bool,
    pin: String,
}

fn form(ui: &mut Ui, form: &mut Form) {
    ui.agent_window(Tag::id("main").label("Form"));
    ui.label("a caption that nobody tagged");
    let label = ui.label("Your name");
    ui.add(egui::TextEdit::singleline(&mut form.name).agent_id("name"))
        .labelled_by(label.id);
    ui.agent("theme", |ui| ui.checkbox(&mut form.dark, "Dark"));
    ui.agent_group(
        "danger",
        |tag| tag.ceiling([]).label("Danger"),
        |ui| {
            if ui.button("Close account").agent_id("close").clicked() {
                form.name.clear();
            }
        },
    );
    ui.agent_tagged(Tag::new().excluded(), |ui| {
        ui.add(egui::Button::new("Approve").agent_id("approve"));
    });
    ui.add(
        egui::TextEdit::singleline(&mut form.pin)
            .password(true)
            .agent_id("pin"),
    );
    ui.add_enabled(false, egui::Button::new("Later").agent_id("later"));
}

#[test]
fn all_spellings_are_described_on_every_kind_of_host() {
    for host in [Host::RunUi, Host::OnePass, Host::BeginEnd] {
        let mut driver = Driver::on(host, Form::default(), form);
        driver.state.name = "Ada".into();
        driver.state.pin = "hunter2".into();
        assert_eq!(
            driver.outline(),
            [
                "main \"Form\" !",
                "0<name \"Your name\" =\"Ada\"",
                "0<theme \"Dark\"",
                "0<danger \"Danger\" !",
                "3<close \"Close account\" !",
                "0<pin \"\" secret",
                "0<later \"Later\" disabled !",
            ],
            "{host:?}"
        );
    }
}

#[test]
fn a_full_description_holds_what_is_not_tagged_and_nothing_excluded() {
    let mut driver = Driver::new(Form::default(), form);
    driver.state.pin = "hunter2".into();
    let full = driver.describe(Describe {
        full: true,
        ..Describe::default()
    });
    let lines: Vec<String> = full
        .nodes
        .iter()
        .map(|node| format!("{} {:?} {:?}", node.id, node.name, node.full))
        .collect();
    let all = lines.join("\n");
    assert!(all.contains("a caption that nobody tagged"), "{all}");
    assert!(
        !all.contains("Approve") && !all.contains("hunter2"),
        "{all}"
    );
    assert!(
        full.nodes.iter().any(|node| &*node.id == "close"
            && node
                .parent
                .is_some_and(|at| &*full.nodes[at].id == "danger")),
        "{all}"
    );
}
