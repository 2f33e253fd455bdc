//! A person at a window, an agent beside it, and the real consent between them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use std::sync::{Arc, mpsc::Receiver};

use agent_consent::{Builder, Consent, Mode};
use agent_consent_egui::{ConsentUi, DEAD_FOR, Texts};
use agent_core::{
    Action, Answer, AuthGate, Backend, Call, Channel, Confirmed, Decision, Describe, Question,
    Request, Scope, Target, Verb,
};
use agent_egui::{AgentResponse as _, AgentUi as _, AgentWidget as _, Tag};
use agent_test_support::{eventually, folder, job};
use egui::{
    Context, Event, Key, KeyboardShortcut, Modifiers, PointerButton, Pos2, Rect, TextEdit, Ui,
    accesskit::Role, pos2, vec2,
};
use egui_kittest::{Harness, Node, kittest::NodeT as _, kittest::Queryable as _};

/// One step of a harness, in seconds.
const STEP: f32 = 0.1;

#[derive(Default)]
struct App {
    consent_ui: Option<ConsentUi>,
    saved: usize,
    name: String,
    shift: f32,
    modal: bool,
    shows_rules: bool,
    /// Presses Enter by itself, as a backend does beside a widget.
    puts_in: bool,
}

fn draw(ui: &mut Ui, app: &mut App) {
    ui.agent_window(Tag::id("main"));
    if let Some(consent_ui) = &mut app.consent_ui {
        consent_ui.indicator(ui);
    }
    if let Some(consent_ui) = app.consent_ui.as_mut().filter(|_| app.shows_rules) {
        consent_ui.rules(ui);
    }
    let label = ui.label("Name");
    ui.add(TextEdit::singleline(&mut app.name).agent_id("name"))
        .labelled_by(label.id);
    if ui.add(egui::Button::new("Save").agent_id("save")).clicked() {
        app.saved += 1;
    }
    // Where the panel would stand.
    let low = Rect::from_min_size(pos2(250.0, 500.0 + app.shift), vec2(100.0, 30.0));
    let low = ui.put(low, egui::Button::new("Pay"));
    if low.agent_id("pay").clicked() {
        app.saved += 100;
    }
    if std::mem::take(&mut app.puts_in) {
        let enter = Event::Key {
            key: Key::Enter,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        ui.input_mut(|input| input.events.push(enter));
    }
    if app.modal {
        egui::Modal::new(egui::Id::unique("sure")).show(ui.ctx(), |ui| ui.label("Sure?"));
    }
    if let Some(consent_ui) = &mut app.consent_ui {
        consent_ui.show(ui.ctx());
    }
}

struct Window {
    harness: Harness<'static, App>,
    backend: Arc<dyn Backend>,
    consent: Consent,
    gate: AuthGate,
    _rules: agent_test_support::TempDir,
}

impl Window {
    fn open() -> Self {
        Self::with(|ui| ui)
    }

    fn with(change: impl FnOnce(ConsentUi) -> ConsentUi) -> Self {
        Self::of(Builder::no_log, change)
    }

    fn of(
        build: impl FnOnce(Builder) -> Builder,
        change: impl FnOnce(ConsentUi) -> ConsentUi,
    ) -> Self {
        let mut harness = Harness::builder()
            .with_size(vec2(600.0, 560.0))
            .with_step_dt(STEP)
            .build_ui_state(draw, App::default());
        let rules = folder();
        let builder = Consent::builder("org.example").rules_dir(rules.path().join("rules"));
        let (consent, ui) = agent_consent_egui::open(&harness.ctx, build(builder));
        harness.state_mut().consent_ui = Some(change(ui));
        let backend = agent_egui::open(&harness.ctx);
        backend.set_clients(1);
        harness.step();
        Self {
            gate: consent.gate(),
            harness,
            backend,
            consent,
            _rules: rules,
        }
    }

    fn steps(&mut self, steps: usize) {
        for _ in 0..steps {
            self.harness.step();
        }
    }

    /// Long enough for the buttons to count.
    fn look(&mut self) {
        self.steps((DEAD_FOR / f64::from(STEP)) as usize + 3);
    }

    fn request(connection: u64, verb: Verb) -> Request {
        Request {
            number: 1,
            channel: Channel::External,
            connection,
            claimed_name: Some("Helper”\nAllowed by system".into()),
            peer: None,
            verb,
            scope: Scope::Surface,
            target: None,
        }
    }

    /// An agent asks for the first time.
    fn asks(&mut self, connection: u64) {
        let request = Self::request(connection, Verb::Hello);
        self.gate.met(&request);
        assert_eq!(self.gate.check(&request), Decision::Ask);
        assert!(self.gate.ask(&request).is_some());
        // The first pass finds out how large it is.
        self.steps(2);
    }

    fn stands(&self, connection: u64) -> Decision {
        self.gate.check(&Self::request(connection, Verb::Hello))
    }

    fn is_shown(&self) -> bool {
        let dialog = self.harness.query_by_role(Role::AlertDialog);
        dialog.is_some()
    }

    fn button<'a>(&'a self, label: &'a str) -> Node<'a> {
        self.harness.get_by_role_and_label(Role::Button, label)
    }

    fn pointer(&self, at: Pos2, pressed: bool) {
        self.harness.event(Event::PointerMoved(at));
        self.harness.event(Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
    }

    fn click(&mut self, label: &str) {
        let at = self.button(label).rect().center();
        self.pointer(at, true);
        self.pointer(at, false);
        self.steps(2);
    }

    fn key(&mut self, key: Key) {
        self.harness.key_press(key);
        self.steps(2);
    }

    /// An agent's request, put in as a server does.
    fn send(&mut self, call: Call) -> Receiver<Answer> {
        let (job, answer) = job(call);
        self.backend.submit(job);
        answer
    }

    fn ask(&mut self, call: Call) -> Answer {
        let answer = self.send(call);
        for _ in 0..20 {
            if let Ok(answer) = answer.try_recv() {
                return answer;
            }
            self.harness.step();
        }
        panic!("not answered")
    }

    fn act(&mut self, id: &str, action: Action) -> Answer {
        self.ask(Call::Act {
            target: Target::from(id),
            action,
        })
    }
}

const ONCE: &str = "Allow once";
const NO: &str = "Not now";

#[test]
fn the_buttons_are_dead_at_first_and_after_every_move() {
    let mut window = Window::open();
    window.asks(1);
    assert!(window.is_shown());
    window.click(ONCE);
    assert_eq!(window.stands(1), Decision::Ask);
    window.look();
    // A press that began too early ends too late.
    window.harness.set_size(vec2(560.0, 540.0));
    window.steps(3);
    let at = window.button(ONCE).rect().center();
    window.pointer(at, true);
    window.look();
    window.pointer(at, false);
    window.steps(2);
    assert_eq!(window.stands(1), Decision::Ask);
    window.click(ONCE);
    assert_eq!(window.stands(1), Decision::Allow);
    assert!(!window.is_shown());
}

#[test]
fn it_takes_no_focus_and_has_no_default_button() {
    let mut window = Window::open();
    window.harness.get_by_role(Role::TextInput).focus();
    window.steps(2);
    window.asks(1);
    window.look();
    // What the person types goes where it went before, Enter too.
    window.harness.get_by_role(Role::TextInput).type_text("Ada");
    window.steps(2);
    assert_eq!(window.harness.state().name, "Ada");
    for key in [Key::Enter, Key::Space, Key::Escape] {
        window.key(key);
    }
    assert_eq!(window.stands(1), Decision::Ask);
    assert!(window.is_shown());
}

#[test]
fn a_keyboard_is_enough() {
    let mut window = Window::open();
    window.harness.get_by_role(Role::TextInput).focus();
    window.steps(2);
    window.asks(1);
    let hint = window.harness.query_by_label_contains("F6");
    assert!(hint.is_some(), "the way there is shown");
    window.key(Key::F6);
    assert!(window.button(NO).is_focused());
    window.harness.key_down(Key::Enter);
    window.steps(2);
    assert_eq!(window.stands(1), Decision::Ask, "too early");
    window.look();
    // One that is only held was pressed for something else.
    window.harness.key_down(Key::Enter);
    window.steps(2);
    assert_eq!(window.stands(1), Decision::Ask, "held");
    window.harness.key_up(Key::Enter);
    for _ in 0..4 {
        if window.button(ONCE).is_focused() {
            break;
        }
        window.key(Key::Tab);
    }
    window.key(Key::Enter);
    assert_eq!(window.stands(1), Decision::Allow);
    // Back to where the person was.
    window.steps(2);
    let field = window.harness.get_by_role(Role::TextInput);
    assert!(field.is_focused());
}

#[test]
fn escape_decides_later_for_who_came_by_keyboard() {
    let mut window = Window::open();
    window.asks(1);
    window.look();
    window.key(Key::Escape);
    assert!(window.is_shown());
    window.key(Key::F6);
    window.key(Key::Escape);
    assert!(!window.is_shown());
    // Neither a yes nor a no.
    assert_eq!(window.stands(1), Decision::Ask);
}

#[test]
fn a_screen_reader_is_enough() {
    let mut window = Window::open();
    window.asks(1);
    {
        let dialog = window.harness.get_by_role(Role::AlertDialog);
        let node = dialog.accesskit_node();
        let name = node.label().unwrap();
        assert!(name.starts_with("May"), "{name}");
        let description = node.description().unwrap();
        assert!(description.contains("It calls itself"), "{description}");
        // No word of a stranger's can look like one of ours.
        assert!(!description.contains("Helper”"), "{description}");
        assert!(window.button(ONCE).accesskit_node().is_disabled());
    }
    window.look();
    assert!(!window.button(ONCE).accesskit_node().is_disabled());
    window.button(ONCE).click_accesskit();
    window.steps(2);
    assert_eq!(window.stands(1), Decision::Allow);
}

#[test]
fn rule_11_an_agent_neither_sees_nor_presses_the_question() {
    let mut window = Window::open();
    // Another is there already, and has been let in.
    window.consent.set_mode(Mode::AllowAll);
    window.gate.met(&Window::request(7, Verb::Hello));
    assert_eq!(window.stands(7), Decision::Allow);
    window.consent.set_mode(Mode::Ask);
    window.asks(1);
    window.look();
    for full in [false, true] {
        let describe = Describe {
            full,
            ..Describe::default()
        };
        let Answer::Described(seen) = window.ask(Call::Describe(describe)) else {
            panic!()
        };
        let seen = format!("{seen:?}");
        assert!(seen.contains("Save"), "{seen}");
        for ours in ["Allow", "Helper", "May", "F6", "later", "Stop", "connected"] {
            assert!(!seen.contains(ours), "{ours}: {seen}");
        }
    }
    // Nor is the app behind something modal.
    let acted = window.act("save", Action::Click);
    assert!(matches!(acted, Answer::Acted(_)), "{acted:?}");
    assert_eq!(window.harness.state().saved, 1);
    assert_eq!(window.stands(1), Decision::Ask);
}

#[test]
fn rule_11_what_an_agent_puts_in_never_answers() {
    let mut window = Window::open();
    window.asks(1);
    window.look();
    window.key(Key::F6);
    // The person is at the buttons, and an agent presses Enter in a field, and clicks.
    for _ in 0..3 {
        let acted = window.act("name", Action::Submit);
        assert!(matches!(acted, Answer::Acted(_)), "{acted:?}");
        window.key(Key::F6);
        let acted = window.act("save", Action::Click);
        assert!(matches!(acted, Answer::Acted(_)), "{acted:?}");
    }
    // Nor does a key that is in no window's input, though it presses any other button.
    window.harness.state_mut().puts_in = true;
    window.steps(2);
    assert!(!window.harness.state().puts_in);
    assert_eq!(window.stands(1), Decision::Ask);
    assert!(window.is_shown() && window.button(NO).is_focused());
    // The person's own key does.
    window.key(Key::Enter);
    assert!(matches!(window.stands(1), Decision::Deny(_)));
}

#[test]
fn it_is_above_the_apps_own_modal_dialogs_and_is_none() {
    let mut window = Window::open();
    window.harness.state_mut().modal = true;
    window.steps(3);
    window.asks(1);
    window.look();
    window.click(ONCE);
    assert_eq!(window.stands(1), Decision::Allow);
}

fn confirm(connection: u64, node: &str) -> Question {
    Question {
        request: Window::request(connection, Verb::Click),
        window: "Main".into(),
        node: node.into(),
        name: "Pay”".into(),
        action: Action::Click,
        seen: 1,
    }
}

#[test]
fn it_never_covers_what_it_asks_about() {
    let mut window = Window::open();
    window.gate.met(&Window::request(1, Verb::Click));
    assert_eq!(window.gate.confirm(&confirm(1, "pay")), Confirmed::No);
    window.steps(3);
    let at = |window: &Window| {
        let pay = window.button("Pay").rect();
        (window.harness.get_by_role(Role::AlertDialog).rect(), pay)
    };
    let (panel, pay) = at(&window);
    assert!(!panel.intersects(pay), "{panel:?} {pay:?}");
    window.look();
    // What it is about moves under it: it gives way, and its buttons are dead again.
    window.harness.state_mut().shift = -350.0;
    window.steps(2);
    let (panel, pay) = at(&window);
    assert!(!panel.intersects(pay), "{panel:?} {pay:?}");
    window.click("Do it");
    assert_eq!(window.gate.confirm(&confirm(1, "pay")), Confirmed::No);
    window.look();
    window.click("Do it");
    assert_eq!(window.gate.confirm(&confirm(1, "pay")), Confirmed::Yes);
}

#[test]
fn a_question_whose_agent_is_gone_goes_and_the_next_one_comes() {
    let mut window = Window::open();
    window.asks(1);
    window.asks(2);
    window.look();
    window.gate.gone(1);
    window.steps(2);
    assert!(window.is_shown());
    window.click(NO);
    assert_eq!(window.stands(2), Decision::Ask, "it has just appeared");
    window.look();
    window.click(NO);
    assert!(matches!(window.stands(2), Decision::Deny(_)));
    assert!(!window.is_shown());
    assert!(
        !window
            .harness
            .state()
            .consent_ui
            .as_ref()
            .unwrap()
            .is_asking()
    );
}

#[test]
fn who_is_connected_is_shown_and_can_be_stopped() {
    let shortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Period);
    let mut window = Window::with(|ui| ui.with_stop_shortcut(shortcut));
    let label = |window: &Window, label: &str| {
        let found = window.harness.query_by_label_contains(label);
        found.is_some()
    };
    assert!(label(&window, "No agent is connected"));
    window.consent.set_mode(Mode::AllowAll);
    for connection in [1, 2] {
        window.gate.met(&Window::request(connection, Verb::Hello));
        assert_eq!(window.stands(connection), Decision::Allow);
    }
    window.steps(2);
    assert!(label(&window, "2 agents are connected"));
    let request = Window::request(1, Verb::Click);
    window.gate.acting(&request);
    window.gate.done(&request, "allowed");
    window.steps(2);
    assert!(label(&window, "Acting: a program"));
    // One of them.
    window.steps(30);
    window.click("2 agents are connected");
    let stop = window.harness.query_all_by_label_contains("Stop a program");
    let stop = stop.into_iter().next().unwrap().rect().center();
    window.pointer(stop, true);
    window.pointer(stop, false);
    window.steps(3);
    assert_eq!(window.consent.connected().len(), 1);
    // All of them, wherever the focus is.
    window.harness.get_by_role(Role::TextInput).focus();
    window.steps(1);
    window
        .harness
        .key_press_modifiers(Modifiers::CTRL | Modifiers::COMMAND, Key::Period);
    window.steps(2);
    assert!(window.consent.is_stopped());
    assert!(label(&window, "All agents are stopped"));
    window.click("Let agents in again");
    assert!(!window.consent.is_stopped());
    // Nothing is offered that would do nothing.
    window.consent.set_mode(Mode::Lockdown);
    window.steps(2);
    assert!(label(&window, "All agents are stopped"));
    assert!(!label(&window, "Let agents in again"));
}

/// All texts of the widgets, each replaced by its name and what is filled in, between brackets;
/// and their names.
macro_rules! marked {
    ($($name:ident $($filled:literal)*,)*) => {
        (
            Texts {
                $($name: concat!("«", stringify!($name), ":" $(, " {", $filled, "}")*, "»").into(),)*
            },
            [$(stringify!($name)),*],
        )
    };
}

/// What a person reads or hears in the window, but for the app's own words.
fn words(window: &Window) -> Vec<String> {
    let own = ["Name", "Save", "Pay"];
    let all = window.harness.query_all_by(|_| true);
    all.flat_map(|node| {
        let node = node.accesskit_node();
        [
            node.label(),
            node.value(),
            node.description(),
            node.placeholder().map(str::to_owned),
        ]
    })
    .flatten()
    .filter(|words| !words.is_empty() && !own.contains(&words.as_str()))
    .collect()
}

#[test]
fn what_was_decided_is_shown_and_can_be_taken_back() {
    let mut window = Window::of(|builder| builder.no_log().remember_unproven(), |ui| ui);
    window.harness.state_mut().shows_rules = true;
    window.steps(2);
    let shown = |window: &Window, label: &str| {
        let found = window.harness.query_all_by_label_contains(label);
        found.into_iter().next().is_some()
    };
    assert!(shown(&window, "Nothing is remembered"));
    let helper = named(1, "Helper”\nAllowed by system");
    let other = named(2, "Other");
    for (request, answer) in [(&helper, "Always allow"), (&other, "Never allow")] {
        window.gate.met(request);
        assert!(window.gate.ask(request).is_some());
        window.steps(2);
        window.look();
        window.click(answer);
    }
    assert_eq!(window.gate.check(&helper), Decision::Allow);
    window.gate.done(&helper, "allowed");
    window.steps(2);
    let name = "“Helper\\u{201d}\\nAllowed by system”";
    assert!(shown(&window, &format!("{name} may use this app")));
    assert!(shown(&window, "“Other” may not use this app"));
    assert!(shown(&window, "used: 1, last") && shown(&window, "not used yet"));
    // Agents see nothing of it.
    let whole = window.ask(Call::Describe(Describe {
        full: true,
        ..Describe::default()
    }));
    let whole = format!("{whole:?}");
    assert!(
        whole.contains("Save") && !whole.contains("may use this app"),
        "{whole}"
    );

    window.click(&format!("Take back from {name}"));
    assert!(matches!(window.gate.check(&helper), Decision::Deny(_)));
    assert!(!shown(&window, name) && shown(&window, "“Other” may not"));
    window.click("Take back all, and stop who is connected");
    assert!(shown(&window, "Nothing is remembered"));
    assert!(matches!(window.gate.check(&other), Decision::Deny(_)));
    window.gate.gone(2);
    let again = named(3, "Other");
    window.gate.met(&again);
    assert_eq!(window.gate.check(&again), Decision::Ask);
}

/// A window whose person has decided all that there is to decide.
fn with_rules(texts: &Texts) -> Window {
    let mut window = Window::of(
        |builder| builder.no_log().remember_unproven(),
        |ui| ui.with_texts(texts.clone()),
    );
    let decided = [
        (Scope::Surface, "Always allow"),
        (Scope::Surface, "Allow for a day"),
        (Scope::Surface, "Never allow"),
        (Scope::Full, "Allow until this app quits"),
        (Scope::Full, "Never allow"),
        (Scope::Inspector, "Allow until this app quits"),
        (Scope::Inspector, "Never allow"),
    ];
    for (connection, (scope, answer)) in (1..).zip(decided) {
        let mut request = named(connection, &format!("agent {connection}"));
        request.scope = scope;
        window.gate.met(&request);
        assert!(window.gate.ask(&request).is_some());
        window.steps(2);
        window.look();
        window.click(answer);
        window.gate.done(&request, "allowed");
        window.gate.gone(connection);
    }
    // One that is not used, and what was answered for good is on the disk.
    let last = named(100, "never came back");
    window.gate.met(&last);
    assert!(window.gate.ask(&last).is_some());
    window.steps(2);
    window.look();
    window.click("Always allow");
    let consent = window.consent.clone();
    eventually("they are saved", || {
        let rules = consent.rules();
        let run = rules.iter().filter(|it| !it.stored);
        (rules.len(), run.count()) == (8, 2)
    });
    window.gate.gone(100);
    window.harness.state_mut().shows_rules = true;
    window.steps(2);
    window
}

/// One that the app vouches for: it has a name, and can be told from others.
fn named(connection: u64, name: &str) -> Request {
    Request {
        peer: Some(Arc::new(agent_core::Peer {
            uid: Some(rustix::process::geteuid().as_raw()),
            named: Some(name.into()),
            ..agent_core::Peer::default()
        })),
        ..Window::request(connection, Verb::Hello)
    }
}

#[test]
fn every_word_can_be_replaced() {
    let (texts, names) = marked! {
        answer_by_keyboard "shortcut",
        decide_later,
        show_all,
        show_less,
        understood,
        nobody,
        one "agent",
        asking "agent",
        several "count",
        acting "agent",
        stopped,
        acting_now,
        claims "claim",
        unidentified,
        assistant,
        stop "agent",
        stop_all,
        stop_all_by "shortcut",
        go_on,
        no_rules,
        may_use "agent",
        may_not_use "agent",
        may_see_all "agent",
        may_not_see_all "agent",
        may_inspect "agent",
        may_not_inspect "agent",
        since "time",
        until "time",
        until_taken_back,
        until_quit,
        used "count" "time",
        not_used,
        evidence,
        take_back "agent",
        take_back_all,
    };
    let long = "long".repeat(60);
    let folder = folder();
    let mut seen = String::new();
    for shortcut in [
        None,
        Some(KeyboardShortcut::new(Modifiers::COMMAND, Key::Period)),
    ] {
        // A folder is no log.
        let log = folder.path().to_owned();
        let questions = agent_consent::Texts {
            not_logged: "«»".into(),
            ask_surface: "«»".into(),
            claims: "«{claim}»".into(),
            unknown: "«»".into(),
            no: "«no»".into(),
            once: "«once»".into(),
            ..agent_consent::Texts::default()
        };
        let mut window = Window::of(
            |builder| builder.log(log).texts(questions),
            |ui| match shortcut {
                None => ui.with_texts(texts.clone()),
                Some(keys) => ui.with_texts(texts.clone()).with_stop_shortcut(keys),
            },
        );
        let mut look = |window: &Window| {
            for words in words(window) {
                let lines = words.lines();
                let ours = |line: &str| line.starts_with('«') && line.ends_with('»');
                assert!(lines.clone().all(ours), "not from a table: {words}");
                seen.extend(lines);
            }
        };
        look(&window);
        window.harness.state_mut().shows_rules = true;
        window.steps(1);
        look(&window);
        window.harness.state_mut().shows_rules = false;
        let mut request = Window::request(1, Verb::Click);
        request.claimed_name = Some(long.clone());
        window.gate.met(&request);
        assert!(window.gate.ask(&request).is_some());
        window.look();
        look(&window);
        window.click("«show_all:»");
        look(&window);
        window.look();
        window.click("«once»");
        assert_eq!(window.gate.check(&request), Decision::Allow);
        eventually("it is said that nothing is logged", || {
            window.steps(1);
            window.harness.query_by_label("«understood:»").is_some()
        });
        look(&window);
        window.click("«understood:»");
        look(&window);
        window.gate.acting(&request);
        window.steps(2);
        look(&window);
        window.consent.set_mode(Mode::AllowAll);
        for (connection, channel) in [(2, Channel::External), (3, Channel::InApp)] {
            let mut other = Window::request(connection, Verb::Hello);
            (other.channel, other.claimed_name) = (channel, None);
            window.gate.met(&other);
            assert_eq!(window.gate.check(&other), Decision::Allow);
        }
        window.gate.done(&request, "allowed");
        window.steps(30);
        look(&window);
        window.click("«several: 3»");
        window.gate.acting(&request);
        window.steps(2);
        look(&window);
        window.consent.stop_all();
        window.steps(2);
        look(&window);
    }
    for words in words(&with_rules(&texts)) {
        let mut lines = words.lines();
        let ours = |line: &str| line.starts_with('«') && line.ends_with('»');
        assert!(lines.all(ours), "not from a table: {words}");
        seen += &words;
    }
    let unseen = names
        .iter()
        .filter(|name| !seen.contains(&format!("«{name}:")));
    assert_eq!(unseen.collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn another_shortcut_leads_to_the_question() {
    let shortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F9);
    let mut window = Window::with(|ui| ui.with_answer_shortcut(shortcut));
    window.asks(1);
    let hint = window.harness.query_by_label_contains("F9");
    assert!(hint.is_some());
    window.look();
    window.key(Key::F9);
    assert!(window.button(NO).is_focused());
    window.click("Decide later");
    assert!(!window.is_shown());
}

#[test]
fn long_names_are_shown_whole_on_request_and_then_looked_at_anew() {
    let mut window = Window::open();
    let long = format!("{}end", "long".repeat(60));
    let mut request = Window::request(1, Verb::Hello);
    request.claimed_name = Some(long.clone());
    window.gate.met(&request);
    assert!(window.gate.ask(&request).is_some());
    window.steps(2);
    let whole = |window: &Window| {
        let found = window.harness.query_all_by_label_contains("longend");
        found
            .filter(|node| node.accesskit_node().role() == Role::Label)
            .count()
    };
    window.look();
    assert_eq!(whole(&window), 0);
    window.click("Show long names in full");
    assert_eq!(whole(&window), 1);
    window.click(ONCE);
    assert_eq!(window.stands(1), Decision::Ask, "the buttons have moved");
    window.look();
    window.click("Shorten long names");
    window.look();
    assert_eq!(whole(&window), 0);
    window.click(ONCE);
    assert_eq!(window.stands(1), Decision::Allow);
}

#[test]
fn a_window_of_any_size_asks() {
    let mut window = Window::open();
    window.asks(1);
    for (width, height) in [(30.0, 20.0), (200.0, 60.0), (90.0, 500.0), (500.0, 150.0)] {
        window.harness.set_size(vec2(width, height));
        window.look();
        let panel = window.harness.get_by_role(Role::AlertDialog).rect();
        let seen = Rect::from_min_size(Pos2::ZERO, vec2(width, height)).intersect(panel);
        assert!(
            seen.width() > 0.0 && seen.height() > 0.0,
            "{width} {height}: {panel:?}"
        );
    }
    // The last of these has room for the buttons, whatever the words take.
    window.click(ONCE);
    assert_eq!(window.stands(1), Decision::Allow);
}

#[test]
fn what_the_user_should_know_is_shown_until_it_was_read() {
    // A folder is no log.
    let folder = folder();
    let log = folder.path().to_owned();
    let mut window = Window::of(move |builder| builder.log(log), |ui| ui);
    let request = Window::request(1, Verb::Hello);
    window.gate.met(&request);
    window.consent.set_mode(Mode::AllowAll);
    assert_eq!(window.stands(1), Decision::Allow);
    eventually("it is shown", || {
        window.steps(1);
        window.harness.query_by_label("Understood").is_some()
    });
    let alert = window.harness.get_by_role(Role::Alert);
    let name = alert.accesskit_node().label().unwrap();
    assert!(name.contains("not being logged"), "{name}");
    window.click("Understood");
    assert!(window.harness.query_by_label("Understood").is_none());
}

#[test]
fn the_apps_layout_and_ids_are_the_same_with_and_without_a_question() {
    let mut window = Window::open();
    let places = |window: &Window| {
        let save = window.button("Save");
        (save.rect(), save.accesskit_node().id())
    };
    let before = places(&window);
    window.asks(1);
    assert_eq!(places(&window), before);
}

#[test]
fn what_is_acted_on_is_outlined_for_a_while() {
    let mut window = Window::open();
    window.consent.set_mode(Mode::AllowAll);
    let shapes = |ctx: &Context| {
        let color = ctx.global_style().visuals.warn_fg_color;
        move |output: &egui::FullOutput| {
            let of_color = |shape: &egui::epaint::ClippedShape| match &shape.shape {
                egui::Shape::Rect(rect) => {
                    rect.stroke.width > 1.0 && rect.stroke.color.r() > color.r() / 4
                }
                _ => false,
            };
            output.shapes.iter().filter(|it| of_color(it)).count()
        }
    };
    let count = shapes(&window.harness.ctx);
    let before = count(window.harness.output());
    let mut request = Window::request(1, Verb::Click);
    request.target = Some("save".into());
    window.gate.met(&request);
    window.gate.acting(&request);
    window.steps(1);
    assert_eq!(count(window.harness.output()), before + 1);
    window.steps(12);
    assert_eq!(count(window.harness.output()), before);
}
