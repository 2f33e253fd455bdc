//! A hundred requests are in flight when a leave is taken back, of an agent that is a program of
//! its own and was let in for good; the UI thread is busy meanwhile.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc::Sender,
};

use agent_surface::{
    Builder, Limits, Surface,
    consent::{Answer, Consent, Scripted},
    headless::Headless,
};
use agent_test_support::{Apart, LONG, eventually, folder, reason};
use serde_json::json;

use crate::{
    app::{Block, Drawn, counting, draw, process},
    windowless::Windowless,
};

/// An app of one button, by either toolkit.
trait App {
    fn open(&self, surface: Builder) -> Builder;

    /// Its UI thread is busy from when this returns until that is told.
    fn block(&self) -> Sender<()>;

    /// How often the button was pressed when the UI thread has done all that there was to do.
    fn pressed(&self) -> usize;
}

impl App for (Headless, Arc<AtomicUsize>) {
    fn open(&self, surface: Builder) -> Builder {
        surface.headless(&self.0)
    }

    fn block(&self) -> Sender<()> {
        let (block, begun, go_on) = Block::new();
        self.0.post(|_| block.wait());
        begun.recv_timeout(LONG).unwrap();
        go_on
    }

    fn pressed(&self) -> usize {
        self.0.run(|_| ());
        self.1.load(Ordering::SeqCst)
    }
}

impl App for Windowless<Drawn> {
    fn open(&self, surface: Builder) -> Builder {
        surface.egui(&self.ctx)
    }

    fn block(&self) -> Sender<()> {
        let (block, begun, go_on) = Block::new();
        self.change_undrawn(|app| app.block = Some(block));
        self.ctx.request_repaint();
        begun.recv_timeout(LONG).unwrap();
        go_on
    }

    fn pressed(&self) -> usize {
        for _ in 0..5 {
            self.change(|_| ());
        }
        self.look(|app| app.clicks)
    }
}

/// What the user does, and what its agent is told when it comes again.
type TakesBack = (fn(&Consent), &'static str);

const WAYS: [TakesBack; 3] = [
    (revoke_the_rule, "consent_pending"),
    (Consent::revoke_all, "consent_pending"),
    (Consent::stop_all, "consent_denied"),
];

fn revoke_the_rule(consent: &Consent) {
    let rules = consent.rules();
    assert!(rules.len() == 1 && rules[0].stored, "{rules:?}");
    assert!(consent.revoke(&rules[0].id));
}

#[test]
fn rule_2_none_of_a_remembered_agents_hundred_is_performed_after_its_leave_is_taken_back() {
    for way in WAYS {
        in_flight_when(&counting(), way);
    }
}

#[test]
fn rule_2_an_egui_app_performs_none_of_a_remembered_agents_hundred_after_its_leave_is_taken_back() {
    for way in WAYS {
        in_flight_when(&Windowless::start(Drawn::default(), draw), way);
    }
}

fn in_flight_when(app: &impl App, (take_back, again): TakesBack) {
    let folder = folder();
    let user = Scripted::new();
    let consent = Consent::builder("org.example.consent")
        .prompt(user.clone())
        .rules_dir(folder.path().join("rules"))
        .no_log()
        .build();
    let limits = Limits {
        actions: None,
        ..Limits::default()
    };
    let surface = Surface::builder("org.example.consent")
        .gate(consent.gate())
        .limits(limits)
        .at(folder.path().join("s"));
    let surface = app.open(surface).serve().unwrap();
    let agent = || Apart::start(process("agent", surface.address().unwrap()));

    let mut agents: Vec<Apart> = (0..4).map(|_| agent()).collect();
    let first = agents[0].client.click("save");
    assert_eq!(reason(&first), "consent_pending");
    assert!(user.answer(Answer::Always));
    eventually("it is remembered", || {
        consent.rules().iter().any(|rule| rule.stored)
    });
    for agent in &mut agents {
        let reply = agent.client.click("save");
        assert_eq!(reply["result"]["outcome"], "allowed", "{reply}");
    }
    assert_eq!((user.shown(), app.pressed()), (1, 4));

    let go_on = app.block();
    for agent in &mut agents {
        for _ in 0..25 {
            agent.client.send("click", json!({"id": "save"}));
        }
        // Refused where it is read: those before it are on their way.
        let refused = agent.client.ask("juggle", json!({}));
        assert_eq!(reason(&refused), "method_not_found");
    }
    take_back(&consent);
    go_on.send(()).unwrap();
    assert_eq!(app.pressed(), 4);
    for agent in &mut agents {
        for _ in 0..25 {
            assert_eq!(reason(&agent.client.reply()), "consent_denied");
        }
        assert_eq!(reason(&agent.client.click("save")), "consent_denied");
    }
    assert_eq!(reason(&agent().client.click("save")), again);
    assert_eq!(app.pressed(), 4);
}
