//! A person who is in the middle of something: composing by an input method, dragging.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

use agent_core::{Action, Answer, Call, Describe, Refusal};
use agent_egui::{AgentUi as _, AgentWidget as _};
use agent_test_support::{Random, job};
use egui::{Event, ImeEvent, Key, Modifiers, PointerButton, Pos2, Slider, TextEdit, Ui};

use crate::driver::{Driver, Host, set_text, target};

struct Form {
    name: String,
    volume: f64,
    slider: Pos2,
}

fn draw(ui: &mut Ui, form: &mut Form) {
    ui.agent_window("main");
    ui.add(TextEdit::singleline(&mut form.name).agent_id("name"));
    let volume = ui.add(Slider::new(&mut form.volume, 0.0..=100.0).agent_id("volume"));
    form.slider = volume.rect.left_center() + egui::vec2(20.0, 0.0);
}

fn form(host: Host, name: &str) -> Driver<Form> {
    let form = Form {
        name: name.to_owned(),
        volume: 0.0,
        slider: Pos2::ZERO,
    };
    let mut driver = Driver::on(host, form, draw);
    assert!(matches!(
        driver.act("name", Action::Focus),
        Answer::Acted(_)
    ));
    driver.frame(vec![key(Key::Home)]);
    driver
}

fn key(key: Key) -> Event {
    Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    }
}

/// As winit tells of what is being composed.
fn preedit(text: &str) -> Event {
    let end = text.chars().count();
    Event::Ime(ImeEvent::Preedit {
        text: text.to_owned(),
        active_range_chars: Some(end..end),
    })
}

fn commit(text: &str) -> Event {
    Event::Ime(ImeEvent::Commit(text.to_owned()))
}

fn button(at: Pos2, pressed: bool) -> Event {
    Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }
}

fn edit(driver: &mut Driver<Form>, value: &str, version: u64) -> mpsc::Receiver<Answer> {
    let action = set_text(value, version);
    let target = target("name");
    driver.send(Call::Act { target, action }).1
}

fn version(driver: &mut Driver<Form>) -> u64 {
    // Of another agent's: what one asks after an action that waits waits too.
    match other(
        driver,
        Call::GetText {
            target: target("name"),
            from: None,
            limit: None,
        },
    ) {
        Answer::Text(text) => text.version,
        other => panic!("{other:?}"),
    }
}

/// What another agent is answered.
fn other(driver: &mut Driver<Form>, call: Call) -> Answer {
    let (mut job, receiver) = job(call);
    job.request.connection = 2;
    driver.backend.submit(job);
    answer(driver, &receiver)
}

fn answer(driver: &mut Driver<Form>, receiver: &mpsc::Receiver<Answer>) -> Answer {
    for _ in 0..20 {
        if let Ok(answer) = receiver.try_recv() {
            return answer;
        }
        driver.frame(vec![]);
    }
    panic!("no answer after 20 frames")
}

const HOSTS: [Host; 3] = [Host::RunUi, Host::OnePass, Host::BeginEnd];

#[test]
fn an_edit_waits_until_what_is_being_composed_is_committed() {
    for host in HOSTS {
        let mut driver = form(host, "hello");
        driver.frame(vec![preedit("に")]);
        assert_eq!(driver.state.name, "にhello", "{host:?}");
        let version = version(&mut driver);
        let answered = edit(&mut driver, "world", version);
        for text in ["に", "にほ", "にほん"] {
            driver.frame(vec![preedit(text)]);
            assert_eq!(driver.state.name, format!("{text}hello"), "{host:?}");
        }
        driver.frame(vec![commit("日本")]);
        assert_eq!(driver.state.name, "日本hello", "{host:?}");
        let refused = answer(&mut driver, &answered);
        let Answer::Refused(Refusal::VersionConflict { version, text }) = refused else {
            panic!("{host:?}: {refused:?}");
        };
        assert_eq!(text.as_deref(), Some("日本hello"));
        let edited = driver.act("name", set_text("world", version));
        assert!(matches!(edited, Answer::Acted(_)), "{edited:?}");
        assert_eq!(driver.state.name, "world");
    }
}

#[test]
fn what_was_begun_before_the_first_client_came_is_waited_for_too() {
    let form = Form {
        name: "hello".to_owned(),
        volume: 0.0,
        slider: Pos2::ZERO,
    };
    let mut driver = Driver::unwatched(Host::RunUi, form, draw);
    driver.frame(vec![]);
    driver.frame(vec![key(Key::Tab)]);
    driver.frame(vec![key(Key::Home), preedit("に")]);
    assert_eq!(driver.state.name, "にhello");
    driver.backend.set_clients(1);
    driver.frame(vec![]);
    let version = version(&mut driver);
    let answered = edit(&mut driver, "world", version);
    driver.frame(vec![]);
    driver.frame(vec![commit("日本")]);
    let refused = answer(&mut driver, &answered);
    assert!(matches!(refused, Answer::Refused(_)), "{refused:?}");
    assert_eq!(driver.state.name, "日本hello");
}

#[test]
fn composing_is_over_when_it_is_given_up_or_the_field_is_left() {
    for leaves in [false, true] {
        let mut driver = form(Host::RunUi, "hello");
        driver.frame(vec![preedit("ni")]);
        let version = version(&mut driver);
        let answered = edit(&mut driver, "world", version);
        driver.frame(vec![]);
        driver.frame(vec![]);
        assert!(answered.try_recv().is_err());
        if leaves {
            // Not every system tells that the composition has ended with it.
            driver.ctx.memory_mut(|memory| {
                let focused = memory.focused().unwrap();
                memory.surrender_focus(focused);
            });
            assert!(matches!(answer(&mut driver, &answered), Answer::Acted(_)));
            assert_eq!(driver.state.name, "world");
        } else {
            driver.frame(vec![preedit("")]);
            let refused = answer(&mut driver, &answered);
            assert!(matches!(
                refused,
                Answer::Refused(Refusal::VersionConflict { .. })
            ));
            assert_eq!(driver.state.name, "hello");
        }
    }
}

#[test]
fn while_an_action_waits_for_a_person_others_are_served_and_nothing_spins() {
    let mut driver = form(Host::RunUi, "hello");
    driver.frame(vec![preedit("に")]);
    let version = version(&mut driver);
    let action = set_text("world", version);
    let target = target("name");
    let (ticket, answered) = driver.send(Call::Act { target, action });
    let described = other(&mut driver, Call::Describe(Describe::default()));
    assert!(matches!(described, Answer::Described(_)));
    let repaints = Arc::new(AtomicUsize::new(0));
    let counted = repaints.clone();
    driver.frame(vec![]);
    driver.ctx.set_request_repaint_callback(move |info| {
        counted.fetch_add(usize::from(info.delay.is_zero()), Ordering::SeqCst);
    });
    for _ in 0..5 {
        driver.frame(vec![]);
        assert_eq!(driver.passes, 1);
    }
    assert_eq!(repaints.load(Ordering::SeqCst), 0);
    // Its time is over, as whoever counts it says.
    assert!(ticket.withdraw(), "it had not begun");
    driver.backend.purge();
    driver.frame(vec![commit("日本")]);
    for _ in 0..5 {
        driver.frame(vec![]);
    }
    assert_eq!(driver.state.name, "日本hello");
    assert!(answered.try_recv().is_err());
}

#[test]
fn an_action_waits_until_a_drag_is_over() {
    for host in HOSTS {
        let mut driver = form(host, "hello");
        let at = driver.state.slider;
        let along = at + egui::vec2(40.0, 0.0);
        driver.frame(vec![Event::PointerMoved(at), button(at, true)]);
        let (_, answered) = driver.send(Call::Act {
            target: target("volume"),
            action: Action::SetValue(7.0),
        });
        let mut dragged = driver.state.volume;
        for step in [10.0, 20.0, 40.0] {
            driver.frame(vec![Event::PointerMoved(at + egui::vec2(step, 0.0))]);
            assert!(driver.state.volume > dragged, "{host:?}: the person's hand");
            dragged = driver.state.volume;
        }
        driver.frame(vec![]);
        assert!(answered.try_recv().is_err(), "{host:?}");
        assert_eq!(driver.state.volume, dragged, "{host:?}");
        driver.frame(vec![button(along, false)]);
        let acted = answer(&mut driver, &answered);
        assert!(matches!(acted, Answer::Acted(_)), "{host:?}: {acted:?}");
        assert_eq!(driver.state.volume, 7.0, "{host:?}");
    }
}

/// Compositions of any length, given up and committed, and an agent that writes all the while.
#[test]
fn rule_6_what_is_composed_is_never_garbled_by_an_agents_edit() {
    const TEXTS: [&str; 8] = [
        "n",
        "に",
        "日本語",
        "e\u{301}",
        "👩\u{200d}🔬",
        "a b",
        "ß",
        "한",
    ];
    let (mut edited, mut refused) = (0, 0);
    for seed in 0..40 {
        let mut dice = Random(seed);
        let mut driver = form(*dice.one_of(&HOSTS), "");
        // What was there before, and what is being composed after it.
        let (mut base, mut composed) = (String::new(), String::new());
        let mut waiting: Option<(String, mpsc::Receiver<Answer>)> = None;
        for _ in 0..30 {
            let text = *dice.one_of(&TEXTS);
            let begins = composed.is_empty();
            let events = match dice.below(6) {
                0 if !begins => {
                    base.push_str(text);
                    composed.clear();
                    vec![commit(text)]
                }
                1 if !begins => {
                    composed.clear();
                    vec![preedit("")]
                }
                0..=3 => vec![],
                _ => {
                    composed = text.to_owned();
                    let caret = begins.then(|| key(Key::End));
                    caret.into_iter().chain([preedit(text)]).collect()
                }
            };
            if waiting.is_none() && dice.once_in(2) {
                let version = version(&mut driver);
                let answer = edit(&mut driver, text, version);
                waiting = Some((text.to_owned(), answer));
            }
            driver.frame(events);
            if let Some((value, answer)) = waiting.take() {
                match answer.try_recv() {
                    Ok(Answer::Acted(_)) => {
                        // In a host of one pass a frame it is told of one that was performed in
                        // the frame before.
                        let before = composed.is_empty() || begins;
                        assert!(before, "seed {seed}: while it was composed");
                        base = value;
                        edited += 1;
                    }
                    Ok(Answer::Refused(_)) => refused += 1,
                    Ok(other) => panic!("seed {seed}: {other:?}"),
                    Err(_) => waiting = Some((value, answer)),
                }
            }
            if waiting.is_none() || !composed.is_empty() {
                let expected = format!("{base}{composed}");
                assert_eq!(driver.state.name, expected, "seed {seed}");
            }
        }
    }
    assert!(edited > 20 && refused > 20, "{edited} {refused}");
}
