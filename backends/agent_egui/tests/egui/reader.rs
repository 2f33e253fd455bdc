//! A screen reader beside us: it switched AccessKit on, and must get an update in every pass.

use agent_core::Action;
use agent_egui::{AgentUi, AgentWidget};
use egui::Ui;

use crate::driver::{Driver, Host, set_text};

fn draw(ui: &mut Ui, text: &mut String) {
    ui.agent_window("main");
    ui.add(egui::TextEdit::singleline(text).agent_id("name"));
    let _ = ui.add(egui::Button::new("Save").agent_id("save")).clicked();
}

#[test]
fn a_screen_reader_is_never_silenced() {
    for host in [Host::RunUi, Host::OnePass, Host::BeginEnd] {
        let mut driver = Driver::on(host, String::new(), draw);
        driver.outline();
        // As eframe does when a reader comes.
        driver.ctx.enable_accesskit();
        driver.updates.clear();
        for round in 0..100 {
            match round % 5 {
                0 => drop(driver.outline()),
                1 => drop(driver.act("save", Action::Click)),
                2 => {
                    let version = driver.read("name").version;
                    driver.act("name", set_text(&format!("{round}"), version));
                }
                3 => driver.frame(vec![]),
                _ => drop(driver.refused("nowhere", Action::Click)),
            }
        }
        assert!(driver.updates.iter().all(|update| *update), "{host:?}");
    }
}

#[test]
fn without_a_reader_the_tree_is_made_only_for_what_needs_it() {
    let mut driver = Driver::new(String::new(), draw);
    driver.outline();
    driver.updates.clear();
    for _ in 0..10 {
        driver.frame(vec![]);
    }
    assert!(driver.updates.iter().all(|update| !update));
}
