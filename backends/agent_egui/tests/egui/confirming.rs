//! What is marked to be confirmed, however it is tagged and however the host runs its passes:
//! one question an attempt, about what the user sees.

use agent_core::{Action, Answer, Confirmed, Refusal, Tag};
use agent_egui::{AgentResponse, AgentUi, AgentWidget};
use agent_test_support::User;
use egui::Ui;

use crate::driver::{Driver, Host, set_text};

#[derive(Default)]
struct App {
    note: String,
    button: usize,
    chained: usize,
    closure: usize,
    inside: usize,
    amount: String,
    sent: usize,
    plain: usize,
}

fn app(ui: &mut Ui, app: &mut App) {
    ui.agent_window("main");
    ui.label(&app.note).agent_id("note");
    let marked = |id: &'static str| Tag::id(id).confirm();
    let button = egui::Button::new("Button").agent(marked("button"));
    app.button += usize::from(ui.add(button).clicked());
    let closure = ui.agent(marked("closure"), |ui| ui.button("Closure"));
    app.closure += usize::from(closure.clicked());
    ui.agent_tagged(Tag::new().confirm(), |ui| {
        let inside = egui::Button::new("Inside").agent_id("inside");
        app.inside += usize::from(ui.add(inside).clicked());
        let chained = ui.button("Chained").agent_id("chained");
        app.chained += usize::from(chained.clicked());
    });
    let field = egui::TextEdit::singleline(&mut app.amount).agent(marked("amount"));
    let field = ui.add(field);
    if field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
        app.sent += 1;
    }
    let plain = egui::Button::new("Plain").agent_id("plain");
    app.plain += usize::from(ui.add(plain).clicked());
}

fn done(app: &App, id: &str) -> usize {
    match id {
        "button" => app.button,
        "chained" => app.chained,
        "closure" => app.closure,
        "inside" => app.inside,
        _ => app.sent,
    }
}

#[test]
fn rule_3_one_question_an_attempt_on_every_kind_of_widget_and_host() {
    for host in [Host::RunUi, Host::OnePass, Host::BeginEnd] {
        for (id, action, name) in [
            ("button", Action::Click, "Button"),
            ("chained", Action::Click, "Chained"),
            ("closure", Action::Click, "Closure"),
            ("inside", Action::Click, "Inside"),
            ("amount", Action::Submit, ""),
        ] {
            let mut driver = Driver::on(host, App::default(), app);
            let (user, gate) = User::who_says(Confirmed::No);
            driver.gate = gate;
            let no = driver.refused(id, action.clone());
            assert_eq!(no, Refusal::NeedsConfirmation, "{host:?} {id}");
            assert_eq!(
                (done(&driver.state, id), user.acting()),
                (0, 0),
                "{host:?} {id}"
            );
            user.say(Confirmed::Yes);
            let answer = driver.act(id, action.clone());
            assert!(
                matches!(answer, Answer::Acted(_)),
                "{host:?} {id}: {answer:?}"
            );
            assert_eq!(
                (done(&driver.state, id), user.acting()),
                (1, 1),
                "{host:?} {id}"
            );
            driver.state.note = "another".into();
            driver.act(id, action.clone());
            let asked = user.asked();
            assert_eq!(asked.len(), 3, "{host:?} {id}");
            assert!(
                asked
                    .iter()
                    .all(|it| it.node == id && it.name == name && it.action == action)
            );
            assert_eq!(asked[0].seen, asked[1].seen, "{host:?} {id}");
            assert_ne!(asked[1].seen, asked[2].seen, "{host:?} {id}");
        }
    }
}

#[test]
fn rule_3_a_marked_field_is_written_with_a_yes_alone_and_what_is_not_marked_asks_nobody() {
    let mut driver = Driver::new(App::default(), app);
    let (user, gate) = User::who_says(Confirmed::No);
    driver.gate = gate;
    driver.act("plain", Action::Click);
    assert_eq!((driver.state.plain, user.asked().len()), (1, 0));
    let version = driver.read("amount").version;
    let write = || set_text("10", version);
    assert_eq!(
        driver.refused("amount", write()),
        Refusal::NeedsConfirmation
    );
    assert_eq!(driver.state.amount, "");
    user.say(Confirmed::Yes);
    driver.act("amount", write());
    assert_eq!(driver.state.amount, "10");
    assert!(user.asked().iter().all(|asked| asked.action == write()));
    assert_eq!(user.asked().len(), 2);
}
