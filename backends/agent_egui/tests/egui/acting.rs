use agent_core::{Action, Answer, Refusal, Tag, Verb, Why};
use agent_egui::{AgentResponse, AgentUi, AgentWidget};
use egui::Ui;

use crate::driver::{Driver, Host, set_text};

#[derive(Default)]
struct App {
    name: String,
    saves: usize,
    archived: Vec<&'static str>,
    rows: Vec<&'static str>,
    chained: usize,
    modal: bool,
    enabled: bool,
    behind: usize,
    banner: bool,
    /// Left by everybody when something is saved.
    left: Option<std::sync::Arc<dyn agent_core::Backend>>,
}

fn app(ui: &mut Ui, app: &mut App) {
    ui.agent_window("main");
    if app.banner {
        ui.label("a line that shifts every automatic id");
    }
    ui.add(egui::TextEdit::singleline(&mut app.name).agent_id("name"));
    if ui.add(egui::Button::new("Save").agent_id("save")).clicked() {
        app.saves += 1;
        if let Some(backend) = &app.left {
            backend.set_clients(0);
        }
    }
    for row in app.rows.clone() {
        if ui.add(egui::Button::new(row).agent_id(row)).clicked() {
            app.archived.push(row);
        }
    }
    if ui.button("Chained").agent_id("chained").clicked() {
        app.chained += 1;
    }
    if ui
        .add_enabled(app.enabled, egui::Button::new("Behind").agent_id("behind"))
        .clicked()
    {
        app.behind += 1;
    }
    ui.label("words").agent_id("words");
    if app.modal {
        ui.agent(
            Tag::id("sure")
                .role(agent_core::Role::Dialog)
                .label("Sure?"),
            |ui| {
                egui::Modal::new(egui::Id::unique("sure"))
                    .show(ui.ctx(), |ui| {
                        if ui.add(egui::Button::new("Yes").agent_id("yes")).clicked() {
                            app.modal = false;
                        }
                    })
                    .response
            },
        );
    }
}

fn driver() -> Driver<App> {
    Driver::new(
        App {
            enabled: true,
            rows: vec!["archive", "delete", "keep"],
            ..App::default()
        },
        app,
    )
}

fn why(why: Why) -> Refusal {
    Refusal::NotActionable { why, by: None }
}

#[test]
fn rule_7_what_has_begun_says_so_though_everybody_is_revoked_meanwhile() {
    let mut driver = driver();
    driver.state.left = Some(driver.backend.clone());
    let answer = driver.act("save", Action::Click);
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!(driver.state.saves, 1);
}

#[test]
fn rule_7_a_click_runs_the_handler_once_on_every_kind_of_host() {
    for host in [Host::RunUi, Host::OnePass, Host::BeginEnd] {
        let mut driver = Driver::on(
            host,
            App {
                enabled: true,
                ..App::default()
            },
            app,
        );
        for clicks in 1..=3 {
            let answer = driver.act("save", Action::Click);
            assert!(matches!(answer, Answer::Acted(_)), "{host:?} {answer:?}");
            assert_eq!(driver.state.saves, clicks, "{host:?}");
        }
        for clicks in 1..=2 {
            driver.act("chained", Action::Click);
            assert_eq!(driver.state.chained, clicks, "{host:?}");
        }
        for _ in 0..5 {
            driver.frame(vec![]);
        }
        assert_eq!((driver.state.saves, driver.state.chained), (3, 2));
    }
}

#[test]
fn a_click_is_served_by_one_frame_of_two_passes() {
    let mut driver = driver();
    driver.outline();
    let (_, answer) = driver.send(agent_core::Call::Act {
        target: crate::driver::target("save"),
        action: Action::Click,
    });
    driver.frame(vec![]);
    assert!(answer.try_recv().is_ok());
    assert_eq!(driver.passes, 2);
}

#[test]
fn rule_6_a_stale_edit_changes_nothing_whoever_made_it_stale() {
    let mut driver = driver();
    let read = driver.read("name");
    driver.state.name = "typed by the app".into();
    let conflict = driver.refused("name", set_text("Bob", read.version));
    let Refusal::VersionConflict { version, text } = conflict else {
        panic!("{conflict:?}")
    };
    assert_eq!(text.as_deref(), Some("typed by the app"));
    let Answer::Acted(acted) = driver.act("name", set_text("Bob", version)) else {
        panic!()
    };
    assert_eq!(driver.state.name, "Bob");
    assert_eq!(
        (acted.version, acted.text),
        (Some(driver.read("name").version), None)
    );
    assert!(matches!(
        driver.refused("name", set_text("Cy", version)),
        Refusal::VersionConflict { .. }
    ));
    assert_eq!(driver.state.name, "Bob");
}

#[test]
fn rule_6_a_text_that_goes_away_and_comes_back_has_a_new_version() {
    let mut driver = driver();
    let before = driver.read("name").version;
    driver.act("name", Action::Focus);
    driver.frame(vec![egui::Event::Text("x".into())]);
    assert_eq!(driver.state.name, "x");
    let backspace = egui::Event::Key {
        key: egui::Key::Backspace,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Default::default(),
    };
    driver.frame(vec![backspace]);
    assert_eq!(driver.state.name, "");
    assert_ne!(driver.read("name").version, before);
}

#[test]
fn rule_14_an_edit_is_one_step_of_the_users_undo() {
    let mut driver = driver();
    driver.state.name = "mine".into();
    let read = driver.read("name");
    driver.act("name", set_text("theirs", read.version));
    driver.act("name", Action::Focus);
    driver.frame(vec![]);
    let undo = egui::Event::Key {
        key: egui::Key::Z,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::COMMAND,
    };
    driver.frame(vec![undo]);
    assert_eq!(driver.state.name, "mine");
}

#[test]
fn a_range_is_replaced() {
    let mut driver = driver();
    driver.state.name = "héllo wörld".into();
    let base_version = driver.read("name").version;
    let edit = Action::SetText {
        value: "Erde".into(),
        base_version,
        range: Some((6, 11)),
    };
    assert!(matches!(driver.act("name", edit), Answer::Acted(_)));
    assert_eq!(driver.state.name, "héllo Erde");
}

#[test]
fn rule_4_a_click_aimed_at_a_row_that_went_never_lands_on_its_neighbour() {
    let mut driver = driver();
    driver.outline();
    driver.state.rows.remove(0);
    assert_eq!(driver.refused("archive", Action::Click), Refusal::NotFound);
    assert_eq!(driver.state.archived, Vec::<&str>::new());
    driver.act("delete", Action::Click);
    assert_eq!(driver.state.archived, ["delete"]);
}

#[test]
fn rule_4_ids_that_shift_in_the_acting_frame_are_followed() {
    let mut driver = driver();
    driver.outline();
    driver.state.banner = true;
    driver.act("chained", Action::Click);
    driver.state.banner = false;
    let answer = driver.act("save", Action::Click);
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!((driver.state.saves, driver.state.chained), (1, 1));
}

#[test]
fn rule_3_refusals_say_why_and_run_nothing() {
    let mut driver = driver();
    driver.state.enabled = false;
    assert_eq!(driver.refused("behind", Action::Click), why(Why::Disabled));
    assert_eq!(driver.refused("words", Action::Click), why(Why::NotOffered));
    assert_eq!(
        driver.refused("chained", set_text("x", 1)),
        why(Why::NotOffered)
    );
    assert_eq!(driver.refused("nowhere", Action::Click), Refusal::NotFound);
    driver.state.enabled = true;
    assert!(matches!(
        driver.act("behind", Action::Click),
        Answer::Acted(_)
    ));
    assert_eq!(driver.state.behind, 1);
}

#[test]
fn rule_4_a_modal_blocks_what_is_behind_it_by_name() {
    let mut driver = driver();
    driver.state.modal = true;
    driver.frame(vec![]);
    driver.frame(vec![]);
    let outline = driver.outline();
    assert!(
        outline
            .iter()
            .any(|line| line.contains("sure") && line.contains("modal")),
        "{outline:?}"
    );
    assert!(
        outline
            .iter()
            .any(|line| line.contains("behind") && line.contains("blocked")),
        "{outline:?}"
    );
    let blocked = Refusal::NotActionable {
        why: Why::BlockedByModal,
        by: Some("sure".into()),
    };
    assert_eq!(driver.refused("behind", Action::Click), blocked);
    assert_eq!(driver.state.behind, 0);
    let yes = driver.act("yes", Action::Click);
    assert!(matches!(yes, Answer::Acted(_)), "{yes:?}");
    driver.frame(vec![]);
    assert!(matches!(
        driver.act("behind", Action::Click),
        Answer::Acted(_)
    ));
}

#[test]
fn rule_5_two_widgets_of_one_id_are_out_of_reach() {
    let mut driver = driver();
    driver.state.rows = vec!["same", "same"];
    let outline = driver.outline();
    assert_eq!(
        outline
            .iter()
            .filter(|line| line.contains("duplicate"))
            .count(),
        2,
        "{outline:?}"
    );
    assert_eq!(driver.refused("same", Action::Click), Refusal::Ambiguous);
    assert!(driver.state.archived.is_empty());
}

#[test]
fn rule_9_what_was_withdrawn_never_happens() {
    let mut driver = driver();
    driver.outline();
    let (ticket, answer) = driver.send(agent_core::Call::Act {
        target: crate::driver::target("save"),
        action: Action::Click,
    });
    assert!(ticket.withdraw());
    for _ in 0..5 {
        driver.frame(vec![]);
    }
    assert_eq!(driver.state.saves, 0);
    assert!(answer.try_recv().is_err());
    driver.act("save", Action::Click);
    assert_eq!(driver.state.saves, 1);
}

#[test]
fn rule_2_the_gate_is_asked_again_beside_the_widget() {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };
    let mut driver = driver();
    driver.outline();
    let open = Arc::new(AtomicBool::new(true));
    let seen = open.clone();
    driver.gate = agent_core::AuthGate::serve(move |_| {
        if seen.load(Ordering::Relaxed) {
            agent_core::Decision::Allow
        } else {
            agent_core::Decision::deny("revoked")
        }
    });
    let (_, answer) = driver.send(agent_core::Call::Act {
        target: crate::driver::target("save"),
        action: Action::Click,
    });
    open.store(false, Ordering::Relaxed);
    driver.frame(vec![]);
    driver.frame(vec![]);
    assert!(matches!(
        answer.try_recv(),
        Ok(Answer::Fault(agent_core::Fault::Denied))
    ));
    assert_eq!(driver.state.saves, 0);
}

#[test]
fn focus_and_scrolling() {
    let mut driver = driver();
    let whole = Action::ScrollTo { key: None };
    assert!(matches!(driver.act("main", whole), Answer::Acted(_)));
    assert_eq!(driver.refused("main", Action::Click), why(Why::NotOffered));
    assert!(matches!(
        driver.act("name", Action::Focus),
        Answer::Acted(_)
    ));
    let outline = driver.outline();
    assert!(
        outline
            .iter()
            .any(|line| line.contains("name") && line.contains("focused")),
        "{outline:?}"
    );
    assert!(matches!(
        driver.act("words", Action::ScrollTo { key: None }),
        Answer::Acted(_)
    ));
}

#[test]
fn the_tags_own_ceiling_holds_beside_the_widget() {
    fn draw(ui: &mut Ui, clicks: &mut usize) {
        ui.agent_window("main");
        ui.agent_group(
            "danger",
            |tag| tag.ceiling([Verb::Focus]),
            |ui| {
                if ui
                    .add(egui::Button::new("Erase").agent(Tag::id("erase").ceiling([Verb::Click])))
                    .clicked()
                {
                    *clicks += 1;
                }
            },
        );
    }
    let mut driver = Driver::new(0, draw);
    assert_eq!(driver.refused("erase", Action::Click), why(Why::Ceiling));
    assert_eq!(driver.state, 0);
}
