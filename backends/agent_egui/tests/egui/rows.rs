//! A list of many rows, of which few are drawn.

use agent_core::{Action, Answer, Describe, Include, Refusal, Role, States, Tag, Why};
use agent_egui::{AgentUi, Rows};
use egui::Ui;

use crate::driver::Driver;

#[derive(Default)]
struct App {
    selected: Option<usize>,
    hidden: bool,
}

fn draw(ui: &mut Ui, app: &mut App) {
    ui.agent_window("main");
    if app.hidden {
        return;
    }
    ui.set_max_height(200.0);
    let rows = Rows {
        area: egui::ScrollArea::vertical().auto_shrink(false),
        count: 500,
        height: 18.0,
        key: &|row| (row + 1).to_string(),
        find: &|key| {
            key.parse::<usize>()
                .ok()?
                .checked_sub(1)
                .filter(|row| *row < 500)
        },
    };
    ui.agent_rows(
        Tag::id("orders").role(Role::List).label("Orders"),
        rows,
        |ui, row| {
            let response =
                ui.selectable_label(app.selected == Some(row), format!("Order {}", row + 1));
            if response.clicked() {
                app.selected = Some(row);
            }
            response
        },
    );
}

fn shown(driver: &mut Driver<App>) -> Vec<(String, bool, Option<u64>)> {
    let include = Include {
        state: true,
        ..Include::default()
    };
    let all = driver.describe(Describe {
        include,
        ..Describe::default()
    });
    let nodes = all.nodes.iter();
    nodes
        .map(|node| {
            (
                node.id.to_string(),
                node.states.contains(States::OFFSCREEN),
                node.size,
            )
        })
        .collect()
}

#[test]
fn one_call_reaches_a_row_that_is_not_drawn() {
    let mut driver = Driver::new(App::default(), draw);
    let few = shown(&mut driver);
    assert!(few.len() < 30, "{few:?}");
    assert_eq!(few[1], ("orders".into(), false, Some(500)));
    let scroll = |key: Option<&str>| Action::ScrollTo {
        key: key.map(str::to_owned),
    };
    for (id, key, row) in [
        ("orders", Some("405"), "orders/405"),
        ("orders/2", None, "orders/2"),
        ("orders/500", None, "orders/500"),
    ] {
        let answer = driver.act(id, scroll(key));
        assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
        let now = shown(&mut driver);
        assert!(now.contains(&(row.into(), false, None)), "{row} {now:?}");
    }
    let answer = driver.act("orders/500", Action::Select);
    assert!(matches!(answer, Answer::Acted(_)), "{answer:?}");
    assert_eq!(driver.state.selected, Some(499));
    for (id, key) in [
        ("orders", Some("501")),
        ("orders/0", None),
        ("nowhere/1", None),
    ] {
        assert_eq!(driver.refused(id, scroll(key)), Refusal::NotFound, "{id}");
    }
    // Not drawn, and not scrolled to: not there.
    assert_eq!(
        driver.refused("orders/7", Action::Select),
        Refusal::NotFound
    );
    let not_offered = Refusal::NotActionable {
        why: Why::NotOffered,
        by: None,
    };
    assert_eq!(driver.refused("orders", Action::Click), not_offered);
}
