use agent_core::{Changes, Emitted, EventVerb, Role, States, Surface, Tag, TagFault, Warning};

use crate::tree::Tree;

/// What a change to the tree is told as, and whether it moved the revision.
fn told(surface: &mut Surface<usize>, tree: &Tree, changes: Changes<usize>) -> Vec<String> {
    let before = surface.revision();
    let events = surface.settle(tree, changes, &[]);
    if before > 0 {
        assert_eq!(surface.revision() > before, !events.is_empty());
    }
    let events = events
        .iter()
        .filter(|event| event.verb != EventVerb::UiChanged);
    events
        .map(|event| format!("{} {}", event.source, event.verb.word()))
        .collect()
}

fn form() -> (Tree, usize, usize) {
    let mut tree = Tree::new();
    tree.0[0].tag = Some(Tag::id("main"));
    let group = tree.bare(0, Role::Group, "");
    let save = tree.add(group, Role::Button, Tag::id("save"), "Save");
    let caption = tree.bare(group, Role::Text, "a caption");
    (tree, save, caption)
}

#[test]
fn changes_are_told_as_what_happened() {
    let (mut tree, save, _) = form();
    let mut surface = Surface::default();
    told(&mut surface, &tree, Changes::Everything);
    assert!(told(&mut surface, &tree, Changes::Everything).is_empty());
    tree.0[save].text = Some("Store".into());
    assert_eq!(
        told(&mut surface, &tree, Changes::Nodes(vec![save])),
        ["save changed"]
    );
    tree.0[save].states = States::CHECKED;
    assert_eq!(
        told(&mut surface, &tree, Changes::Nodes(vec![save])),
        ["save toggled"]
    );
    tree.0[1].states = States::DISABLED;
    assert_eq!(
        told(&mut surface, &tree, Changes::Everything),
        ["save disabled"]
    );
    tree.0[1].states = States::HIDDEN;
    assert_eq!(
        told(&mut surface, &tree, Changes::Everything),
        ["save disappeared"]
    );
    tree.0[1].states = States::empty();
    assert_eq!(
        told(&mut surface, &tree, Changes::Everything),
        ["save appeared"]
    );
    tree.0[save].gone = true;
    assert_eq!(
        told(&mut surface, &tree, Changes::Everything),
        ["save removed"]
    );
    let again = tree.add(1, Role::Button, Tag::id("save"), "Save");
    assert_eq!(
        told(&mut surface, &tree, Changes::Everything),
        ["save added"]
    );
    // Built again under its id, with the same looks: nothing that an agent can see.
    tree.0[again].gone = true;
    tree.add(1, Role::Button, Tag::id("save"), "Save");
    assert!(told(&mut surface, &tree, Changes::Everything).is_empty());
}

#[test]
fn rule_1_what_is_not_exposed_moves_nothing() {
    let (mut tree, _, caption) = form();
    let mut surface = Surface::default();
    told(&mut surface, &tree, Changes::Everything);
    let revision = surface.revision();
    tree.0[caption].text = Some("another".into());
    told(&mut surface, &tree, Changes::Nodes(vec![caption]));
    tree.0[caption].states = States::HIDDEN;
    tree.bare(1, Role::Button, "new");
    tree.add(1, Role::Button, Tag::id("audit").exposed(false), "new");
    told(&mut surface, &tree, Changes::Everything);
    assert_eq!(surface.revision(), revision);
}

#[test]
fn rule_1_a_part_that_names_its_button_is_the_buttons_own() {
    let mut tree = Tree::new();
    let pay = tree.add(0, Role::Button, Tag::id("pay"), "");
    let amount = tree.bare(pay, Role::Text, "100");
    let mut surface = Surface::default();
    told(&mut surface, &tree, Changes::Everything);
    tree.0[amount].text = Some("200".into());
    assert_eq!(
        told(&mut surface, &tree, Changes::Nodes(vec![amount])),
        ["pay changed"]
    );
}

#[test]
fn rule_6_a_field_built_again_has_a_new_version_and_says_so() {
    let mut tree = Tree::new();
    let field = tree.add(0, Role::Textbox, Tag::id("name"), "Ada");
    let mut surface = Surface::default();
    told(&mut surface, &tree, Changes::Everything);
    tree.0[field].gone = true;
    tree.add(0, Role::Textbox, Tag::id("name"), "Ada");
    assert_eq!(
        told(&mut surface, &tree, Changes::Everything),
        ["name changed"]
    );
}

#[test]
fn a_widgets_own_word_is_not_told_twice() {
    let mut tree = Tree::new();
    let field = tree.add(0, Role::Textbox, Tag::id("name"), "Ada");
    let mut surface = Surface::default();
    told(&mut surface, &tree, Changes::Everything);
    tree.0[field].text = Some("Bob".into());
    let events = surface.settle(
        &tree,
        Changes::Nodes(vec![field]),
        &[(field, EventVerb::Changed)],
    );
    assert_eq!(
        events
            .iter()
            .filter(|event| event.verb == EventVerb::Changed)
            .count(),
        1
    );
}

#[test]
fn rule_5_the_developer_is_told_once_of_tags_that_do_nothing() {
    let mut tree = Tree::new();
    tree.add(0, Role::Button, Tag::id("not an id"), "");
    tree.add(0, Role::Button, Tag::new().exposed(true), "");
    tree.add(0, Role::Button, Tag::id("twice"), "");
    tree.add(0, Role::Button, Tag::id("twice"), "");
    let mut surface = Surface::default();
    surface.settle(&tree, Changes::Everything, &[]);
    let warnings = surface.take_warnings();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(
        matches!(&warnings[0], Warning::Tag { given, fault: TagFault::Id(_) } if given == "not an id")
    );
    assert!(matches!(
        &warnings[1],
        Warning::Tag {
            fault: TagFault::Nameless,
            ..
        }
    ));
    assert_eq!(warnings[2], Warning::Duplicate { id: "twice".into() });
    surface.settle(&tree, Changes::Everything, &[]);
    assert!(surface.take_warnings().is_empty());
}

#[test]
fn rule_1_what_an_app_raises_on_what_is_not_exposed_displaces_nothing() {
    let (tree, save, _) = form();
    let mut emitted = Emitted::default();
    emitted.push("save", EventVerb::Opened);
    for n in 0..1_000 {
        emitted.push("nowhere", EventVerb::Opened);
        emitted.push(&format!("nowhere-{n}"), EventVerb::Opened);
        emitted.push("save", EventVerb::Opened);
    }
    emitted.push("save", EventVerb::Closed);
    let raised = [(save, EventVerb::Opened), (save, EventVerb::Closed)];
    assert_eq!(emitted.take(&tree), raised);
    assert_eq!(emitted.take(&tree), []);
}

#[test]
fn rule_10_what_an_app_raises_is_bounded() {
    let (tree, save, _) = form();
    let mut emitted = Emitted::default();
    emitted.push("save", EventVerb::Opened);
    // No id is that long.
    emitted.push(&"x".repeat(1 << 20), EventVerb::Opened);
    for n in 1..Emitted::MOST {
        emitted.push(&format!("nowhere-{n}"), EventVerb::Opened);
    }
    emitted.push("save", EventVerb::Closed);
    assert_eq!(emitted.take(&tree), [(save, EventVerb::Opened)]);
}
