//! What changed since a revision, put into the description of that revision as its documentation
//! says, is the description of now: whatever happens to a tree, and for whichever part is asked.

use std::collections::HashSet;

use agent_core::{
    Describe, Described, Description, Include, LiveTree, Place, States, Surface, Tag, View,
};
use agent_headless::{Node, Tree, Widget};
use agent_test_support::Random;

const VIEW: View = View {
    names_unexposed: false,
    window_was_there: false,
};

/// A description as an agent keeps it: parents by id instead of by index.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    node: Described,
    parent: Option<String>,
}

/// What an agent asks for.
#[derive(Clone, Debug, Default)]
struct Part {
    window: Option<&'static str>,
    root: Option<&'static str>,
    depth: Option<usize>,
}

fn describe(
    surface: &mut Surface<Node>,
    tree: &Tree,
    part: &Part,
    since: Option<u64>,
) -> Description {
    let describe = Describe {
        window: part.window.map(str::to_owned),
        root: part.root.map(str::to_owned),
        depth: part.depth,
        include: Include {
            value: true,
            state: true,
            actions: true,
            frame: false,
        },
        since,
        ..Describe::default()
    };
    surface
        .describe(tree, &describe, VIEW)
        .expect("what is always there")
}

/// A node by itself, without its place and without what moves no revision.
fn bare(mut node: Described, parent: Option<String>) -> Kept {
    node.states -= States::SILENT;
    (node.parent, node.parent_id, node.place) = (None, None, None);
    // A number of children that were cut is not told with changes.
    node.omitted = 0;
    Kept { node, parent }
}

fn kept(whole: Description) -> Vec<Kept> {
    assert!(whole.complete && whole.since.is_none());
    let ids: Vec<String> = whole.nodes.iter().map(|it| it.id.to_string()).collect();
    let parent = |node: &Described| node.parent.map(|at| ids[at].clone());
    let nodes = whole.nodes.into_iter();
    nodes
        .map(|node| {
            let parent = parent(&node);
            bare(node, parent)
        })
        .collect()
}

/// The number of nodes from `at` on that lie in the one there, itself included.
fn subtree(base: &[Kept], at: usize) -> usize {
    let mut inside = HashSet::from([base[at].node.id.to_string()]);
    let below = base[at + 1..].iter().take_while(|it| {
        let is_inside = it.parent.as_ref().is_some_and(|id| inside.contains(id));
        is_inside && inside.insert(it.node.id.to_string())
    });
    1 + below.count()
}

/// Puts what changed into what was there, in the way that `Since` tells of.
fn apply(base: &mut Vec<Kept>, changes: Description) {
    assert!(changes.complete);
    let since = changes.since.expect("changes");
    let at = |base: &[Kept], id: &str| base.iter().position(|it| &*it.node.id == id);
    base.retain(|it| !since.removed.contains(&it.node.id));
    // What is moved takes along what lies in it, and is put back with it.
    let mut taken: Vec<Vec<Kept>> = Vec::new();
    for node in changes.nodes.iter().filter(|node| node.place.is_some()) {
        if let Some(at) = at(base, &node.id) {
            let until = at + subtree(base, at);
            taken.push(base.drain(at..until).collect());
        } else {
            // Perhaps in another that was taken out.
            for part in &mut taken {
                if let Some(at) = at(part, &node.id) {
                    let until = at + subtree(part, at);
                    let inner = part.drain(at..until).collect();
                    taken.push(inner);
                    break;
                }
            }
        }
    }
    for node in changes.nodes {
        let id = node.id.to_string();
        let parent = node.parent_id.as_ref().map(ToString::to_string);
        let place = node.place.clone();
        let new = bare(node, parent.clone());
        let Some(place) = place else {
            let at = at(base, &id).expect("what has no place is there");
            base[at] = new;
            continue;
        };
        let was = taken.iter().position(|part| at(part, &id) == Some(0));
        let mut part = was.map_or_else(|| vec![new.clone()], |was| taken.swap_remove(was));
        part[0] = new;
        let to = match (place, parent) {
            (Place::After(id), _) => {
                let at = at(base, &id).expect("what it comes after");
                at + subtree(base, at)
            }
            (Place::First, None) => 0,
            (Place::First, Some(parent)) => at(base, &parent).map_or(0, |at| at + 1),
        };
        base.splice(to..to, part);
    }
    assert!(taken.is_empty(), "taken out and not put back: {taken:?}");
}

fn widget(dice: &mut Random) -> Widget {
    match dice.below(6) {
        0 => Widget::button("Press"),
        1 => Widget::text_field("Name").value("x"),
        2 => Widget::checkbox("On"),
        3 => Widget::words("Words"),
        4 => Widget::password_field("Secret"),
        _ => Widget::group("Group"),
    }
}

fn tag(dice: &mut Random, next: &mut usize) -> Option<Tag> {
    *next += 1;
    match dice.below(6) {
        0 => None,
        1 => Some(Tag::key(format!("k{next}"))),
        // One that was there before, perhaps.
        2 => Some(Tag::id(format!("n{}", dice.below(*next)))),
        _ => Some(Tag::id(format!("n{next}"))),
    }
}

/// Does something to the tree that an agent may or may not see.
fn happen(dice: &mut Random, tree: &mut Tree, nodes: &mut Vec<Node>, next: &mut usize) {
    let node = *dice.one_of(nodes);
    // The windows, the first two, are always there.
    let removable = nodes.len() > 2;
    match dice.below(16) {
        0..=3 => {
            let mut new = widget(dice);
            if let Some(tag) = tag(dice, next) {
                new = new.tag(tag);
            }
            nodes.push(tree.insert(node, dice.below(4), new));
        }
        4 if removable => {
            let at = 2 + dice.below(nodes.len() - 2);
            tree.remove(nodes[at]);
        }
        5..=6 if removable => {
            let at = 2 + dice.below(nodes.len() - 2);
            let to = match LiveTree::parent(&*tree, nodes[at]) {
                Some(parent) if dice.once_in(2) => parent,
                _ => node,
            };
            tree.move_to(nodes[at], to, dice.below(3));
            if dice.once_in(2) {
                tree.set_label(nodes[at], format!("moved {}", dice.below(9)));
            }
        }
        7 if removable => {
            let at = 2 + dice.below(nodes.len() - 2);
            tree.set_tag(nodes[at], tag(dice, next));
        }
        8 if removable => {
            // Built again, under its id, elsewhere.
            let at = 2 + dice.below(nodes.len() - 2);
            let tag = LiveTree::tag(&*tree, nodes[at]).cloned();
            tree.remove(nodes[at]);
            if let Some(tag) = tag
                && tree.contains(node)
            {
                nodes.push(tree.insert(node, dice.below(3), widget(dice).tag(tag)));
            }
        }
        9 => tree.set_text(node, format!("text {}", dice.below(9))),
        10 => tree.set_enabled(node, dice.once_in(2)),
        11 if removable => {
            let at = 2 + dice.below(nodes.len() - 2);
            tree.set_visible(nodes[at], dice.once_in(2));
        }
        12 => tree.set_checked(node, dice.once_in(2)),
        13 => tree.focus(Some(node)),
        14 => tree.set_label(node, format!("label {}", dice.below(9))),
        _ => tree.set_read_only(node, dice.once_in(2)),
    }
    nodes.retain(|node| tree.contains(*node));
}

/// Whether no id stands for two nodes: which of them an agent holds cannot be told then.
fn is_clear(whole: &Description) -> bool {
    let mut ids = HashSet::new();
    whole.nodes.iter().all(|node| ids.insert(node.id.clone()))
}

fn converse(seed: u64) -> usize {
    let mut dice = Random(seed);
    let mut tree = Tree::new();
    let mut surface = Surface::default();
    let main = tree.open_window(Widget::window("Main").tag("main"));
    let side = tree.open_window(Widget::window("Side").tag("side"));
    let mut nodes = vec![main, side];
    let mut next = 0;
    let settle = |tree: &mut Tree, surface: &mut Surface<Node>| {
        let (changes, acted) = (tree.take_changes(), tree.take_acted());
        surface.settle(tree, changes, &acted);
    };
    settle(&mut tree, &mut surface);
    let parts = [
        Part::default(),
        Part {
            window: Some("main"),
            ..Part::default()
        },
        Part {
            root: Some("side"),
            ..Part::default()
        },
        Part {
            depth: Some(1),
            ..Part::default()
        },
        Part {
            root: Some("main"),
            depth: Some(2),
            ..Part::default()
        },
    ];
    let mut bases: Vec<Option<(u64, Vec<Kept>)>> = vec![None; parts.len()];
    let mut applied = 0;
    for turn in 0..60 {
        for _ in 0..1 + dice.below(3) {
            happen(&mut dice, &mut tree, &mut nodes, &mut next);
            if dice.once_in(2) {
                settle(&mut tree, &mut surface);
            }
        }
        settle(&mut tree, &mut surface);
        let clear = is_clear(&describe(&mut surface, &tree, &Part::default(), None));
        for (part, base) in parts.iter().zip(&mut bases) {
            // Not each time: what happened at several revisions is told at once.
            if base.is_some() && dice.once_in(2) {
                continue;
            }
            let now = describe(&mut surface, &tree, part, None);
            let revision = now.revision;
            if let Some((since, mut base)) = base.take()
                && clear
            {
                let changes = describe(&mut surface, &tree, part, Some(since));
                let told = format!("{changes:#?}");
                apply(&mut base, changes);
                assert_eq!(
                    base,
                    kept(now.clone()),
                    "seed {seed}, turn {turn}, {part:?}, since {since}: {told}"
                );
                applied += 1;
            }
            *base = clear.then(|| (revision, kept(now)));
        }
    }
    applied
}

#[test]
fn a_description_and_what_changed_since_make_the_new_description() {
    let applied: usize = (0..100).map(converse).sum();
    assert!(applied > 4_000, "only {applied} times was there a change");
}
