//! An agent outside and an assistant inside, of one app.

use std::time::Duration;

use agent_surface::{
    AuthGate, Channel, Decision, Surface,
    consent::{Consent, Notice},
    egui::{AgentUi as _, AgentWidget as _},
    headless::{Headless, Widget},
    inapp::{Acted, Error, Listen, Pending, Refusal, Session},
};
use agent_test_support::{Client, eventually, folder, reason};
use egui::Ui;
use serde_json::json;

use crate::windowless::Windowless;

fn app() -> Headless {
    Headless::start("ui", |tree| {
        tree.open_window(
            Widget::window("Form")
                .tag("main")
                .child(Widget::checkbox("Dark").tag("dark"))
                .child(Widget::button("Unexposed").named("no-tag")),
        );
    })
}

/// The app, for its own assistant alone, with that consent.
fn serve(app: &Headless, consent: &Consent) -> Surface {
    Surface::builder("org.example")
        .gate(consent.gate())
        .headless(app)
        .serve_in_app()
        .unwrap()
}

#[test]
fn an_agent_outside_and_an_assistant_inside_hear_of_each_other() {
    let app = app();
    let folder = folder();
    let surface = Surface::builder("org.example")
        .gate(AuthGate::serve(|_| Decision::Allow))
        .headless(&app)
        .at(folder.path().join("app.sock"))
        .serve()
        .unwrap();
    let mut client = Client::connect(surface.address().unwrap());
    let assistant = surface.session("Assistant");
    let heard = assistant.subscribe(Listen::default()).wait().unwrap();
    let theirs = client.get("subscribe", json!({}));
    let acted = client.get("set_checked", json!({"id": "dark", "checked": true}));
    let mine = assistant.set_checked("dark", false).wait().unwrap();
    let polled = assistant.poll_events(&heard, 100, Duration::ZERO);
    let told = client.get(
        "poll_events",
        json!({"subscription": theirs["subscription"]}),
    );
    let numbers: Vec<u64> = told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    let polled = polled.wait().unwrap();
    let same: Vec<u64> = polled.events.iter().map(|event| event.seq).collect();
    assert!(same.len() >= 3 && same == numbers, "{same:?} {numbers:?}");
    assert!(numbers.contains(&acted["events"][0]["seq"].as_u64().unwrap()));
    assert!(numbers.contains(&mine.events[0].seq));
    // Both are shown to the app, and both can be stopped.
    let names: Vec<_> = surface
        .clients()
        .into_iter()
        .map(|it| it.claimed_name)
        .collect();
    assert_eq!(names, [None, Some("Assistant".to_owned())]);
    surface.revoke();
    assert_eq!(reason(&client.ask("hello", json!({}))), "consent_denied");
    assert_eq!(assistant.hello().wait(), Err(Error::Denied));
    drop(surface);
    assert_eq!(assistant.hello().wait(), Err(Error::Closed));
}

#[test]
fn the_users_stop_and_what_is_told_of_agents_hold_for_the_assistant_too() {
    let app = app();
    let rules = folder();
    let log = rules.path().join("log");
    let consent = Consent::builder("org.example")
        .rules_dir(rules.path().join("rules"))
        .log(&log)
        .build();
    let surface = serve(&app, &consent);
    let assistant = surface.session("Assistant");
    let notices = consent.notices();
    // Nobody is asked, though nobody has said yes.
    assistant.set_checked("dark", true).wait().unwrap();
    let connected = consent.connected();
    assert_eq!(connected[0].who.channel, Channel::InApp);
    assert_eq!(connected[0].who.claimed.as_deref(), Some("Assistant"));
    let of_it = |notice: Notice| matches!(notice, Notice::Connected { who } if who.channel == Channel::InApp);
    assert!(notices.try_iter().any(of_it));
    // It is stopped, and stays so.
    assert!(consent.stop(connected[0].who.connection));
    assert_eq!(assistant.hello().wait(), Err(Error::Denied));
    let other = surface.session("Other");
    other.hello().wait().unwrap();
    // All are stopped, later ones too, until the user lets them go on.
    consent.stop_all();
    for session in [&other, &surface.session("Late")] {
        assert_eq!(session.describe_ui(true).wait(), Err(Error::Denied));
    }
    consent.resume();
    other.hello().wait().unwrap();
    drop((surface, assistant, other, consent));
    eventually("it is in the log", || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        log.contains("set_checked") && log.contains("dark")
    });
}

#[test]
fn stopping_all_ends_what_the_assistant_waits_for() {
    let app = app();
    let rules = folder();
    let consent = Consent::builder("org.example")
        .rules_dir(rules.path().join("rules"))
        .no_log()
        .build();
    let surface = serve(&app, &consent);
    let assistant = surface.session("Assistant");
    let heard = assistant.subscribe(Listen::default()).wait().unwrap();
    let mut waits = assistant.poll_events(&heard, 100, Duration::from_secs(30));
    assert!(waits.try_take().is_none());
    consent.stop_all();
    // At once, and not when its time is over.
    assert_eq!(waits.try_take(), Some(Err(Error::Denied)));
    consent.resume();
    let again = assistant.poll_events(&heard, 100, Duration::ZERO).wait();
    assert_eq!(again, Err(Error::NoSubscription));
}

/// An egui app that asks its own session, in the midst of drawing.
#[derive(Default)]
struct Drawn {
    session: Option<Session>,
    pending: Option<Pending<Acted>>,
    waited: Option<Error>,
    came: Option<bool>,
    clicks: usize,
}

fn draw(ui: &mut Ui, app: &mut Drawn) {
    ui.agent_window("main");
    if ui.add(egui::Button::new("Save").agent_id("save")).clicked() {
        app.clicks += 1;
    }
    if let Some(session) = &app.session
        && app.pending.is_none()
        && app.came.is_none()
    {
        app.waited = session.click("save").wait().err();
        app.pending = Some(session.click("save"));
    }
    if let Some(result) = app.pending.as_mut().and_then(Pending::try_take) {
        app.came = Some(result.is_ok());
    }
}

#[test]
fn an_egui_app_asks_from_its_own_frames_and_never_waits_for_itself() {
    let app = Windowless::start(Drawn::default(), draw);
    let builder = Surface::builder("org.example").egui(&app.ctx);
    let surface = builder.serve_in_app().unwrap();
    let session = surface.session("Assistant");
    let ctx = app.ctx.clone();
    session.on_news(move || ctx.request_repaint());
    app.change(move |app| app.session = Some(session));
    eventually("the answer came in a frame", || {
        app.look(|app| app.came.is_some())
    });
    app.change(|app| {
        assert_eq!(app.came, Some(true));
        assert_eq!(app.waited, Some(Error::OnUiThread));
        // What was refused was withdrawn.
        assert_eq!(app.clicks, 1);
    });
    // Off that thread, the same app answers one that waits.
    let other = surface.session("Other");
    other.click("save").wait().unwrap();
    assert_eq!(app.look(|app| app.clicks), 2);
}

#[test]
fn an_app_without_a_socket_has_its_assistant() {
    let app = app();
    let builder = Surface::builder("org.example")
        .name("Example")
        .headless(&app);
    let surface = builder.serve_in_app().unwrap();
    assert_eq!(surface.address(), None);
    let assistant = surface.session("Assistant");
    assert_eq!(assistant.hello().wait().unwrap().name, "Example");
    assistant.set_checked("dark", true).wait().unwrap();
    assert!(app.run(|tree| tree.props(tree.find("dark").unwrap()).unwrap().checked));
    // What it may see is no more than an agent may: this only is told apart.
    let whole = assistant.describe_ui(true).wait().unwrap();
    let unexposed = whole.nodes.iter().find(|node| node.name == "Unexposed");
    let id = unexposed.unwrap().id.to_string();
    assert_eq!(
        assistant.click(id).wait(),
        Err(Error::Refused(Refusal::NotExposed))
    );
    drop(surface);
    assert_eq!(assistant.hello().wait(), Err(Error::Closed));
    assert!(Surface::builder("not an id").serve_in_app().is_err());
}
