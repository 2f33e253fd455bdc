use agent_core::{Changes, Describe, Description, Include, Role, States, Surface, Tag, Verb, View};

use crate::tree::Tree;

const OUTSIDE: View = View {
    names_unexposed: false,
    window_was_there: false,
};

fn describe(tree: &Tree, describe: &Describe) -> Description {
    let mut surface = Surface::default();
    surface.settle(tree, Changes::Everything, &[]);
    surface.describe(tree, describe, OUTSIDE).unwrap()
}

fn lines(description: &Description) -> Vec<String> {
    let nodes = description.nodes.iter();
    nodes
        .map(|node| {
            let parent = node.parent.map_or("-".into(), |parent| parent.to_string());
            let omitted = if node.omitted > 0 {
                format!(" +{}", node.omitted)
            } else {
                String::new()
            };
            format!(
                "{parent} {} {} {:?}{omitted}",
                node.id,
                node.role.word(),
                node.name
            )
        })
        .collect()
}

#[test]
fn rule_1_exposed_nodes_stand_under_their_nearest_exposed_ancestor() {
    let mut tree = Tree::new();
    tree.0[0].tag = Some(Tag::id("main"));
    tree.0[0].label = Some("Orders".into());
    let frame = tree.bare(0, Role::Group, "");
    tree.bare(frame, Role::Text, "Welcome back");
    let lines_group = tree.add(frame, Role::Group, Tag::id("lines").label("Lines"), "");
    let inner = tree.bare(lines_group, Role::Group, "");
    tree.add(inner, Role::Button, Tag::id("add"), "Add");
    tree.add(frame, Role::Checkbox, Tag::id("gift"), "Gift wrap");
    assert_eq!(
        lines(&describe(&tree, &Describe::default())),
        [
            "- main window \"Orders\"",
            "0 lines group \"Lines\"",
            "1 add button \"Add\"",
            "0 gift checkbox \"Gift wrap\""
        ]
    );
    tree.0[0].tag = None;
    assert_eq!(
        lines(&describe(&tree, &Describe::default()))[0],
        "- lines group \"Lines\""
    );
}

#[test]
fn rule_1_a_name_comes_from_no_part_that_is_kept_back() {
    for (tag, name) in [
        (None, "Pay 100"),
        (Some(Tag::new()), "Pay 100"),
        (Some(Tag::id("part").exposed(false)), "Pay"),
        (Some(Tag::new().secret()), "Pay"),
        (Some(Tag::new().excluded()), "Pay"),
    ] {
        let mut tree = Tree::new();
        let pay = tree.add(0, Role::Button, Tag::id("pay"), "");
        tree.bare(pay, Role::Text, "Pay");
        let amount = tree.bare(pay, Role::Text, "100");
        tree.0[amount].tag = tag.clone();
        let description = describe(&tree, &Describe::default());
        assert_eq!(description.nodes[0].name, name, "{tag:?}");
    }
    // A row is never named from its contents.
    let mut tree = Tree::new();
    let row = tree.add(0, Role::Row, Tag::id("row"), "");
    tree.bare(row, Role::Text, "unexposed");
    assert_eq!(describe(&tree, &Describe::default()).nodes[0].name, "");
}

#[test]
fn rule_10_a_description_is_cut_breadth_first_and_says_so() {
    let mut tree = Tree::new();
    tree.0[0].tag = Some(Tag::id("main"));
    for (group, members) in [("fruit", 3), ("grain", 2)] {
        let at = tree.add(0, Role::Group, Tag::id(group), "");
        for n in 0..members {
            tree.add(at, Role::Button, Tag::id(format!("{group}-{n}")), "");
        }
    }
    let limited = |limit| {
        describe(
            &tree,
            &Describe {
                limit: Some(limit),
                ..Describe::default()
            },
        )
    };
    let cut = limited(3);
    assert!(!cut.complete);
    assert_eq!(
        lines(&cut),
        [
            "- main window \"\"",
            "0 fruit group \"\" +3",
            "0 grain group \"\" +2"
        ]
    );
    assert!(limited(8).complete && !limited(7).complete);
    let shallow = describe(
        &tree,
        &Describe {
            depth: Some(1),
            ..Describe::default()
        },
    );
    assert!(shallow.complete);
    assert_eq!(lines(&shallow)[1], "0 fruit group \"\" +3");
    let root = describe(
        &tree,
        &Describe {
            root: Some("grain".into()),
            ..Describe::default()
        },
    );
    assert_eq!(
        lines(&root),
        [
            "- grain group \"\"",
            "0 grain-0 button \"\"",
            "0 grain-1 button \"\""
        ]
    );
}

#[test]
fn rule_11_what_is_excluded_is_in_no_description() {
    let mut tree = Tree::new();
    let panel = tree.add(0, Role::Group, Tag::id("panel").excluded(), "");
    tree.add(panel, Role::Button, Tag::id("approve"), "Approve");
    for full in [false, true] {
        let all = lines(&describe(
            &tree,
            &Describe {
                full,
                ..Describe::default()
            },
        ));
        assert!(
            !all.iter()
                .any(|line| line.contains("pprove") || line.contains("panel")),
            "{all:?}"
        );
    }
}

#[test]
fn a_full_description_has_automatic_ids_for_what_is_not_tagged() {
    let mut tree = Tree::new();
    let group = tree.bare(0, Role::Group, "");
    tree.bare(group, Role::Text, "one");
    tree.bare(group, Role::Button, "two");
    tree.bare(group, Role::Text, "three");
    tree.add(
        group,
        Role::Button,
        Tag::id("audit").exposed(false),
        "Audit",
    );
    let full = describe(
        &tree,
        &Describe {
            full: true,
            ..Describe::default()
        },
    );
    let ids: Vec<&str> = full.nodes.iter().map(|node| &*node.id).collect();
    let group = "app/window#0/group#0";
    assert_eq!(
        ids,
        [
            "app/window#0",
            group,
            &format!("{group}/text#0"),
            &format!("{group}/button#0"),
            &format!("{group}/text#1"),
            "audit"
        ]
    );
    assert!(
        full.nodes
            .iter()
            .all(|node| !node.full.as_ref().unwrap().exposed && !node.actionable)
    );
}

#[test]
fn parts_come_only_when_asked_for() {
    let mut tree = Tree::new();
    tree.add(0, Role::Textbox, Tag::id("name"), "Ada");
    tree.add(0, Role::Textbox, Tag::id("pin").secret(), "hunter2");
    let bare = describe(&tree, &Describe::default());
    assert_eq!(
        (
            &bare.nodes[0].value,
            bare.nodes[0].version,
            bare.nodes[0].states
        ),
        (&None, None, States::empty())
    );
    let include = Include {
        value: true,
        state: true,
        actions: true,
        frame: true,
    };
    let full = describe(
        &tree,
        &Describe {
            include,
            ..Describe::default()
        },
    );
    assert_eq!(full.nodes[0].value.as_deref(), Some("Ada"));
    assert_eq!(
        full.nodes[0].actions,
        Verb::SetText.set() | Verb::Focus.set() | Verb::ScrollTo.set()
    );
    assert_eq!(
        (&full.nodes[1].value, full.nodes[1].states),
        (&None, States::SECRET)
    );
    assert!(full.nodes[1].version.is_some());
}
