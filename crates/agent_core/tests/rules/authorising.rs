use agent_core::{
    Action, AuthGate, Fault, No, Refusal, Role, States, Surface, Tag, Target, Verb, View, Why,
};

use crate::{confirming::request, tree::Tree};

const OUTSIDE: View = View {
    names_unexposed: false,
    window_was_there: false,
};
const INSIDE: View = View {
    names_unexposed: true,
    window_was_there: false,
};

fn target(id: &str) -> Target {
    Target {
        id: id.into(),
        window: None,
    }
}

fn refused(tree: &Tree, id: &str, action: Action) -> Option<Refusal> {
    seen(tree, id, action, OUTSIDE)
}

fn seen(tree: &Tree, id: &str, action: Action, view: View) -> Option<Refusal> {
    let mut surface = Surface::default();
    match surface.judge(tree, &target(id), action, view) {
        Ok(judged) => {
            // Nobody is there to ask.
            let gate = AuthGate::deny_all();
            let leave = surface.authorise(tree, judged, &gate, &request(id));
            leave.map(|leave| leave.perform()).err()
        }
        Err(No::Refused(refusal)) => Some(refusal),
        Err(No::Fault(fault)) => panic!("{fault:?}"),
    }
}

fn why(why: Why) -> Option<Refusal> {
    Some(Refusal::NotActionable { why, by: None })
}

#[test]
fn rule_3_the_ceiling_only_narrows() {
    let all = || Tag::new();
    // Around, own, verb, what comes of it.
    for (around, own, action, outcome) in [
        (all(), Tag::id("a"), Action::Click, None),
        (
            all(),
            Tag::id("a").ceiling([]),
            Action::Click,
            why(Why::Ceiling),
        ),
        (
            all().ceiling([]),
            Tag::id("a").ceiling([Verb::Click]),
            Action::Click,
            why(Why::Ceiling),
        ),
        (
            all().ceiling([Verb::Focus]),
            Tag::id("a").ceiling([Verb::Click]),
            Action::Focus,
            why(Why::Ceiling),
        ),
        (
            all().ceiling([Verb::Click]),
            Tag::id("a").ceiling([Verb::Click, Verb::Focus]),
            Action::Click,
            None,
        ),
        // A ceiling adds nothing that the widget does not offer.
        (
            all(),
            Tag::id("a").ceiling([Verb::SetChecked]),
            Action::SetChecked(true),
            why(Why::NotOffered),
        ),
        (
            all().ceiling([]),
            Tag::id("a").ceiling([]),
            Action::ScrollTo { key: None },
            None,
        ),
    ] {
        let mut tree = Tree::new();
        let group = tree.add(0, Role::Group, around, "");
        tree.add(group, Role::Button, own, "A");
        assert_eq!(refused(&tree, "a", action.clone()), outcome, "{action:?}");
    }
}

#[test]
fn rule_3_state_is_judged_with_what_is_around() {
    for (states, outcome) in [
        (States::empty(), None),
        (States::DISABLED, why(Why::Disabled)),
        (States::HIDDEN, why(Why::Hidden)),
        (States::HIDDEN | States::DISABLED, why(Why::Hidden)),
    ] {
        for on_group in [true, false] {
            let mut tree = Tree::new();
            let group = tree.bare(0, Role::Group, "");
            let button = tree.add(group, Role::Button, Tag::id("a"), "A");
            tree.0[if on_group { group } else { button }].states = states;
            assert_eq!(refused(&tree, "a", Action::Click), outcome, "{states:?}");
        }
    }
}

#[test]
fn rule_4_a_modal_is_named_only_if_it_is_exposed() {
    for (tag, by) in [
        (Tag::id("sure"), Some("sure".to_owned())),
        (Tag::id("sure").exposed(false), None),
        (Tag::id("sure").excluded(), None),
    ] {
        let mut tree = Tree::new();
        tree.add(0, Role::Button, Tag::id("a"), "A");
        let modal = tree.window(tag);
        tree.0[0].modal = Some(modal);
        assert_eq!(
            refused(&tree, "a", Action::Click),
            Some(Refusal::NotActionable {
                why: Why::BlockedByModal,
                by
            })
        );
    }
}

#[test]
fn rule_1_an_unexposed_id_gets_the_answer_that_a_made_up_one_gets() {
    let mut tree = Tree::new();
    tree.add(0, Role::Button, Tag::id("audit").exposed(false), "Audit");
    tree.add(0, Role::Button, Tag::id("panel").excluded(), "Panel");
    tree.bare(0, Role::Button, "Untagged");
    for id in ["audit", "panel", "app/window#0/button#2", "nowhere"] {
        assert_eq!(
            refused(&tree, id, Action::Click),
            Some(Refusal::NotFound),
            "{id}"
        );
    }
    for (id, inside) in [
        ("audit", Refusal::NotExposed),
        ("app/window#0/button#1", Refusal::NotExposed),
        ("panel", Refusal::NotFound),
        ("app/window#0/button#7", Refusal::NotFound),
        ("nowhere", Refusal::NotFound),
    ] {
        assert_eq!(seen(&tree, id, Action::Click, INSIDE), Some(inside), "{id}");
    }
}

#[test]
fn rule_5_duplicates_are_ambiguous_and_only_exposed_nodes_claim() {
    let mut tree = Tree::new();
    let first = tree.add(0, Role::Button, Tag::id("ok"), "Ok");
    let second = tree.add(0, Role::Button, Tag::id("ok"), "Ok");
    assert_eq!(
        refused(&tree, "ok", Action::Click),
        Some(Refusal::Ambiguous)
    );
    tree.0[second].tag = Some(Tag::id("ok").exposed(false));
    assert_eq!(refused(&tree, "ok", Action::Click), None);
    tree.0[first].tag = Some(Tag::id("ok").excluded());
    assert_eq!(refused(&tree, "ok", Action::Click), Some(Refusal::NotFound));
}

#[test]
fn rule_5_two_windows_may_hold_one_id_told_apart_by_window() {
    let mut tree = Tree::new();
    tree.0[0].tag = Some(Tag::id("main"));
    tree.add(0, Role::Button, Tag::id("ok"), "Ok");
    let other = tree.window(Tag::id("details"));
    tree.add(other, Role::Button, Tag::id("ok"), "Ok");
    assert_eq!(
        refused(&tree, "ok", Action::Click),
        Some(Refusal::Ambiguous)
    );
    let within = |window: &str| Target {
        id: "ok".into(),
        window: Some(window.into()),
    };
    let mut surface = Surface::default();
    let judged = surface
        .judge(&tree, &within("details"), Action::Click, OUTSIDE)
        .unwrap();
    let (node, _) = surface
        .authorise(&tree, judged, &AuthGate::deny_all(), &request("ok"))
        .unwrap()
        .perform();
    assert_eq!(tree.0[node].parent, Some(other));
    assert_eq!(
        surface.judge(&tree, &within("nowhere"), Action::Click, OUTSIDE),
        Err(Refusal::NotFound.into())
    );
    let was_there = View {
        window_was_there: true,
        ..OUTSIDE
    };
    assert_eq!(
        surface.judge(&tree, &within("gone"), Action::Click, was_there),
        Err(Fault::WindowGone.into())
    );
}

#[test]
fn rule_6_an_edit_needs_the_version_that_was_read() {
    let mut tree = Tree::new();
    let field = tree.add(0, Role::Textbox, Tag::id("name"), "Ada");
    let mut surface = Surface::default();
    let read = surface
        .read_text(&tree, &target("name"), None, None, OUTSIDE)
        .unwrap();
    let edit = |base_version, range| Action::SetText {
        value: "Bob".into(),
        base_version,
        range,
    };
    let mut judge = |tree: &Tree, action| {
        surface
            .judge(tree, &target("name"), action, OUTSIDE)
            .map(drop)
    };
    assert_eq!(judge(&tree, edit(read.version, None)), Ok(()));
    tree.0[field].text = Some("Eve".into());
    let conflict = Refusal::VersionConflict {
        version: read.version + 1,
        text: Some("Eve".into()),
    };
    assert_eq!(judge(&tree, edit(read.version, None)), Err(conflict.into()));
    assert_eq!(judge(&tree, edit(read.version + 1, Some((1, 3)))), Ok(()));
    for (range, name) in [((1, 4), "to"), ((3, 2), "from")] {
        match judge(&tree, edit(read.version + 1, Some(range))) {
            Err(No::Fault(Fault::InvalidParams { name: wrong, .. })) => assert_eq!(wrong, name),
            other => panic!("{other:?}"),
        }
    }
    tree.0[field].states = States::READ_ONLY;
    assert_eq!(
        judge(&tree, edit(0, None)),
        Err(why(Why::ReadOnly).unwrap().into())
    );
}

#[test]
fn rule_8_a_secret_is_written_without_being_read() {
    let mut tree = Tree::new();
    let around = tree.add(0, Role::Group, Tag::new().secret(), "");
    tree.add(around, Role::Textbox, Tag::id("pin").secret(), "hunter2");
    let mut surface = Surface::default();
    let read = surface
        .read_text(&tree, &target("pin"), None, None, OUTSIDE)
        .unwrap();
    assert_eq!((read.text, read.length), (None, None));
    let edit = |base_version| Action::SetText {
        value: "x".into(),
        base_version,
        range: None,
    };
    let judged = surface
        .judge(&tree, &target("pin"), edit(read.version), OUTSIDE)
        .unwrap();
    let done = surface
        .authorise(&tree, judged, &AuthGate::deny_all(), &request("pin"))
        .unwrap();
    assert!(done.is_secret());
    drop(done.perform());
    let conflict = Refusal::VersionConflict {
        version: read.version,
        text: None,
    };
    assert_eq!(
        surface.judge(&tree, &target("pin"), edit(99), OUTSIDE),
        Err(conflict.into())
    );
}

#[test]
fn what_is_marked_is_confirmed_after_everything_else_was_judged() {
    let mut tree = Tree::new();
    let group = tree.add(0, Role::Group, Tag::new().confirm(), "");
    let button = tree.add(group, Role::Button, Tag::id("erase"), "Erase");
    assert_eq!(
        refused(&tree, "erase", Action::Click),
        Some(Refusal::NeedsConfirmation)
    );
    assert_eq!(
        refused(&tree, "erase", Action::ScrollTo { key: None }),
        None
    );
    tree.0[button].states = States::DISABLED;
    assert_eq!(refused(&tree, "erase", Action::Click), why(Why::Disabled));
}

#[test]
fn rule_5_rows_are_addressed_by_keys_however_deep() {
    let mut tree = Tree::new();
    let list = tree.add(0, Role::List, Tag::id("orders"), "");
    let wrapper = tree.bare(list, Role::Group, "");
    let row = tree.add(wrapper, Role::ListItem, Tag::key("a b"), "Row");
    tree.add(row, Role::Button, Tag::key("drop"), "Drop");
    // Nothing exposed is around this one.
    tree.add(0, Role::Button, Tag::key("stray"), "Stray");
    assert_eq!(refused(&tree, "orders/a%20b/drop", Action::Click), None);
    for id in ["orders/a b/drop", "orders/drop", "stray", "app/stray"] {
        assert_eq!(
            refused(&tree, id, Action::Click),
            Some(Refusal::NotFound),
            "{id}"
        );
    }
}
