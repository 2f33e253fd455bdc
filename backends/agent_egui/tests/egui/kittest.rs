//! An app's own tests by `egui_kittest`, which keeps AccessKit on for itself, beside an agent.

use agent_core::{Action, Answer, Call, Describe};
use agent_egui::AgentWidget;
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
