//! What is marked to be confirmed: when the user is asked, what about, and what a yes is for.

use agent_core::{
    Action, AuthGate, Channel, Confirmed, No, Question, Refusal, Request, Role, Scope, States,
    Surface, Tag, Target, Verb, View, Why,
};
use agent_test_support::User;

use crate::tree::Tree;

const VIEW: View = View {
    names_unexposed: false,
    window_was_there: false,
};

pub(crate) fn request(id: &str) -> Request {
    Request {
        number: 1,
        channel: Channel::External,
        connection: 1,
        claimed_name: None,
        peer: None,
        verb: Verb::Click,
        scope: Scope::Surface,
        target: Some(id.into()),
    }
}

/// Tries it: `Ok` if it was authorised.
fn tried(
    surface: &mut Surface<usize>,
    tree: &Tree,
    gate: &AuthGate,
    id: &str,
    action: Action,
) -> Result<(), No> {
    let target = Target {
        id: id.into(),
        window: None,
    };
    let judged = surface.judge(tree, &target, action, VIEW)?;
    let leave = surface.authorise(tree, judged, gate, &request(id))?;
    drop(leave.perform());
    Ok(())
}

/// A window with a field, a button that is marked, and things that are not exposed.
fn account() -> (Tree, usize, usize) {
    let mut tree = Tree::new();
    tree.0[0].label = Some("Account".into());
    let field = tree.add(0, Role::Textbox, Tag::id("amount"), "10");
    let group = tree.add(0, Role::Group, Tag::new().confirm(), "");
    let button = tree.add(group, Role::Button, Tag::id("pay"), "Pay");
    (tree, field, button)
}

#[test]
fn rule_3_a_confirm_mark_asks_each_time_and_only_a_yes_goes_on() {
    let (tree, ..) = account();
    let mut surface = Surface::default();
    for (says, outcome, acting) in [
        (Confirmed::Yes, Ok(()), 2),
        (
            Confirmed::No,
            Err(No::Refused(Refusal::NeedsConfirmation)),
            0,
        ),
    ] {
        let (user, gate) = User::who_says(says);
        for _ in 0..2 {
            assert_eq!(
                tried(&mut surface, &tree, &gate, "pay", Action::Click),
                outcome
            );
        }
        let asked = user.asked();
        assert_eq!(asked.len(), 2);
        let expected = Question {
            request: request("pay"),
            window: "Account".into(),
            node: "pay".into(),
            name: "Pay".into(),
            action: Action::Click,
            seen: asked[0].seen,
        };
        assert_eq!(asked[0], expected);
        assert_eq!(user.acting(), acting);
    }
}

#[test]
fn rule_3_nobody_is_asked_about_what_is_not_possible_or_not_marked() {
    let (mut tree, _, button) = account();
    let mut surface = Surface::default();
    let (user, gate) = User::who_says(Confirmed::Yes);
    let show = Action::ScrollTo { key: None };
    assert_eq!(tried(&mut surface, &tree, &gate, "pay", show), Ok(()));
    let focus = tried(&mut surface, &tree, &gate, "amount", Action::Focus);
    assert_eq!(focus, Ok(()));
    assert_eq!(user.acting(), 2);
    tree.0[button].states = States::DISABLED;
    let refused = |why| Err(No::Refused(Refusal::NotActionable { why, by: None }));
    assert_eq!(
        tried(&mut surface, &tree, &gate, "pay", Action::Click),
        refused(Why::Disabled)
    );
    tree.0[button].states = States::empty();
    tree.0[button].tag = Some(Tag::id("pay").ceiling([]));
    assert_eq!(
        tried(&mut surface, &tree, &gate, "pay", Action::Click),
        refused(Why::Ceiling)
    );
    assert_eq!(user.asked(), []);
    assert_eq!(user.acting(), 2);
}

#[test]
fn rule_3_what_a_yes_is_for_changes_with_what_the_user_sees() {
    let (mut tree, field, button) = account();
    let other = tree.window(Tag::id("other"));
    let elsewhere = tree.add(other, Role::Text, Tag::id("elsewhere"), "a");
    let plain = tree.bare(0, Role::Text, "a");
    let hidden = tree.add(0, Role::Text, Tag::id("hidden"), "a");
    tree.0[hidden].states = States::HIDDEN;
    let secret = tree.add(0, Role::Textbox, Tag::id("pin").secret(), "1");
    let mut surface = Surface::default();
    let (user, gate) = User::who_says(Confirmed::Yes);
    let mut seen = |tree: &Tree| {
        tried(&mut surface, tree, &gate, "pay", Action::Click).unwrap();
        user.asked().last().unwrap().seen
    };
    let before = seen(&tree);
    type Change = fn(&mut Tree, usize);
    let rows: [(&str, usize, Change, bool); 9] = [
        ("nothing", 0, |_, _| (), false),
        (
            "its name",
            button,
            |it, at| it.0[at].text = Some("Give".into()),
            true,
        ),
        (
            "its state",
            button,
            |it, at| it.0[at].states = States::PRESSED,
            true,
        ),
        (
            "focus",
            button,
            |it, at| it.0[at].states = States::FOCUSED,
            false,
        ),
        (
            "a text",
            field,
            |it, at| it.0[at].text = Some("10000".into()),
            true,
        ),
        (
            "a label",
            field,
            |it, at| it.0[at].label = Some("Fee".into()),
            true,
        ),
        (
            "another window",
            elsewhere,
            |it, at| it.0[at].text = Some("b".into()),
            false,
        ),
        (
            "unexposed",
            plain,
            |it, at| it.0[at].text = Some("b".into()),
            false,
        ),
        (
            "hidden",
            hidden,
            |it, at| it.0[at].text = Some("b".into()),
            false,
        ),
    ];
    for (what, at, change, matters) in rows {
        let mut changed = tree.clone();
        change(&mut changed, at);
        assert_eq!(seen(&changed) != before, matters, "{what}");
    }
    // Nor is a secret looked at: the tree would panic.
    tree.0[secret].text = Some("2".into());
    assert_eq!(seen(&tree), before);
}

#[test]
fn rule_3_enter_is_judged_as_a_press_of_the_default_button() {
    let (mut tree, field, button) = account();
    tree.0[field].enter = Some(button);
    let mut surface = Surface::default();
    let (user, gate) = User::who_says(Confirmed::Yes);
    let mut enter = |tree: &Tree| tried(&mut surface, tree, &gate, "amount", Action::Submit);
    assert_eq!(enter(&tree), Ok(()));
    // It need not be exposed for that.
    tree.0[button].tag = None;
    assert_eq!(enter(&tree), Ok(()));
    let asked: Vec<_> = user
        .asked()
        .into_iter()
        .map(|it| (it.node, it.name, it.action))
        .collect();
    let expected = |node: &str| (node.to_owned(), "Pay".to_owned(), Action::Submit);
    assert_eq!(asked, [expected("pay"), expected("amount")]);
    for (tag, state, why) in [
        (Tag::new().ceiling([]), States::empty(), Why::Ceiling),
        (Tag::new().excluded(), States::empty(), Why::Ceiling),
        (Tag::new(), States::DISABLED, Why::Disabled),
        (Tag::new(), States::HIDDEN, Why::Hidden),
    ] {
        tree.0[button].tag = Some(tag);
        tree.0[button].states = state;
        let refusal = Refusal::NotActionable { why, by: None };
        assert_eq!(enter(&tree), Err(refusal.into()));
    }
    assert_eq!(user.asked().len(), 2);
}

#[test]
fn rule_4_a_yes_is_renewed_for_the_same_action_alone() {
    let (tree, ..) = account();
    let mut surface = Surface::default();
    let (user, gate) = User::who_says(Confirmed::Yes);
    let mut judged = |id: &str, action| {
        let target = Target {
            id: id.into(),
            window: None,
        };
        surface.judge(&tree, &target, action, VIEW).unwrap()
    };
    let first = judged("pay", Action::Click);
    let (again, focus) = (judged("pay", Action::Click), judged("pay", Action::Focus));
    let leave = |judged| Surface::default().authorise(&tree, judged, &gate, &request("pay"));
    let renewed = leave(first).unwrap().renew(again).unwrap();
    assert_eq!(renewed.verb(), Verb::Click);
    assert!(renewed.renew(focus).is_err());
    assert_eq!(user.asked().len(), 1);
}
