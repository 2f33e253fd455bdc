//! An app's own tests by `egui_kittest`, which keeps AccessKit on for itself, beside an agent.

use agent_core::{Action, Answer, Call, Describe, EventVerb};
use agent_egui::{AgentResponse, AgentWidget};
use egui_kittest::{Harness, kittest::Queryable};

use crate::driver::target;
use agent_test_support::job;

#[test]
fn an_apps_harness_and_an_agent_go_together() {
    let mut harness = Harness::new_ui_state(
        |ui, clicks: &mut usize| {
            if ui.add(egui::Button::new("Save").agent_id("save")).clicked() {
                *clicks += 1;
            }
        },
        0,
    );
    let backend = agent_egui::open(&harness.ctx);
    backend.set_clients(1);
    let ask = |call: Call, harness: &mut Harness<'_, usize>| {
        let (job, answer) = job(call);
        backend.submit(job);
        for _ in 0..10 {
            harness.step();
            if let Ok(answer) = answer.try_recv() {
                return answer;
            }
        }
        panic!("not answered");
    };
    let click = Call::Act {
        target: target("save"),
        action: Action::Click,
    };
    assert!(matches!(ask(click.clone(), &mut harness), Answer::Acted(_)));
    assert_eq!(*harness.state(), 1);
    // The harness still sees the tree, and its own click still works.
    harness.get_by_label("Save").click();
    harness.run();
    assert_eq!(*harness.state(), 2);
    let Answer::Described(described) = ask(Call::Describe(Describe::default()), &mut harness)
    else {
        panic!()
    };
    assert_eq!(&*described.nodes[0].id, "save");
    assert!(matches!(ask(click, &mut harness), Answer::Acted(_)));
    assert_eq!(*harness.state(), 3);
}

#[test]
fn a_persons_click_on_a_response_that_was_tagged_is_heard_once() {
    let mut harness = Harness::new_ui(|ui| {
        ui.button("Save").agent_id("save");
        ui.add(egui::Button::new("Open").agent_id("open"));
    });
    let backend = agent_egui::open(&harness.ctx);
    let (send, heard) = std::sync::mpsc::channel();
    backend.listen(std::sync::Arc::new(move |events| {
        for event in events {
            drop(send.send((event.source.to_string(), event.verb)));
        }
    }));
    backend.set_clients(1);
    backend.set_listeners(1);
    harness.run();
    while heard.try_recv().is_ok() {}
    for label in ["Save", "Open"] {
        harness.get_by_label(label).click();
        harness.run();
    }
    let clicked: Vec<_> = heard
        .try_iter()
        .filter(|(_, verb)| *verb == EventVerb::Clicked)
        .map(|(source, _)| source)
        .collect();
    assert_eq!(clicked, ["save", "open"]);
}
