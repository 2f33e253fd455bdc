//! What questions cost, counted and not timed: the looks at the tree must not depend on how
//! much the window holds.

use std::cell::RefCell;
use std::collections::BTreeMap;

use agent_core::{
    Action, Changes, Describe, Facts, Frame, Include, Label, LiveTree, Surface, Tag, Target, View,
};
use agent_headless::{Node, Tree, Widget};

const VIEW: View = View {
    names_unexposed: false,
    window_was_there: false,
};

/// Counts the looks at a tree, by method. What a method lists counts by its length.
struct Counting<'a> {
    tree: &'a Tree,
    looks: RefCell<BTreeMap<&'static str, usize>>,
}

impl Counting<'_> {
    fn count(&self, method: &'static str, cost: usize) {
        *self.looks.borrow_mut().entry(method).or_default() += cost;
    }
}

macro_rules! counted {
    ($($method:ident($($arg:ident: $type:ty),*) -> $back:ty;)*) => {
        impl<'t> LiveTree for Counting<'t> {
            type Key = Node;
            $(fn $method(&self, $($arg: $type),*) -> $back {
                self.count(stringify!($method), 1);
                LiveTree::$method(self.tree, $($arg),*)
            })*
            fn tag(&self, node: Node) -> Option<&Tag> {
                self.count("tag", 1);
                LiveTree::tag(self.tree, node)
            }
            fn children(&self, node: Node) -> Vec<Node> {
                let children = LiveTree::children(self.tree, node);
                self.count("children", 1 + children.len());
                children
            }
            fn tagged(&self) -> Vec<Node> {
                let tagged = self.tree.tagged();
                self.count("tagged", 1 + tagged.len());
                tagged
            }
        }
    };
}

counted! {
    windows() -> Vec<Node>;
    is_window(node: Node) -> bool;
    parent(node: Node) -> Option<Node>;
    position(node: Node) -> usize;
    facts(node: Node) -> Facts;
    class(node: Node) -> String;
    label(node: Node) -> Label<Node>;
    text(node: Node) -> Option<String>;
    has_text(node: Node) -> bool;
    text_stamp(node: Node) -> u64;
    frame(node: Node) -> Option<Frame>;
    claimants(id: &str) -> Vec<Node>;
    blocked_by(node: Node) -> Option<Node>;
    has_row(list: Node, key: &str) -> bool;
}

/// A window of so many widgets, 30 of them exposed, evenly among the others and five deep.
fn window(widgets: usize) -> Tree {
    let mut tree = Tree::new();
    let mut parent = tree.open_window(Widget::window("Many").tag("main"));
    for _ in 0..4 {
        parent = tree.add(parent, Widget::group(""));
    }
    for n in 0..widgets {
        let mut widget = Widget::button("Press");
        if n % (widgets / 29) == 0 && tree.tagged().len() < 30 {
            widget = widget.tag(format!("b{}", tree.tagged().len()));
            widget = widget.on_click(|tree, node| tree.set_text(node, "Pressed"));
        }
        tree.add(parent, widget);
    }
    assert_eq!(tree.tagged().len(), 30);
    tree
}

type Looks = Vec<(&'static str, BTreeMap<&'static str, usize>)>;

fn looks(widgets: usize) -> Looks {
    let mut tree = window(widgets);
    let mut surface = Surface::default();
    surface.settle(&tree, Changes::Everything, &[]);
    tree.take_changes();
    let mut all = Vec::new();
    let mut counted = |name, tree: &Tree, f: &mut dyn FnMut(&Counting<'_>)| {
        let counting = Counting {
            tree,
            looks: RefCell::default(),
        };
        f(&counting);
        all.push((name, counting.looks.into_inner()));
    };
    let target = Target {
        id: "b17".into(),
        window: None,
    };
    counted("read", &tree, &mut |live| {
        let read = surface.read_text(live, &target, None, None, VIEW);
        assert_eq!(read.expect("a text").text.as_deref(), Some("Press"));
    });
    counted("describe", &tree, &mut |live| {
        let include = Include {
            value: true,
            state: true,
            actions: true,
            frame: true,
        };
        let describe = Describe {
            include,
            ..Describe::default()
        };
        let described = surface
            .describe(live, &describe, VIEW)
            .expect("a description");
        assert_eq!(described.nodes.len(), 30);
    });
    counted("judge", &tree, &mut |live| {
        let judged = surface.judge(live, &target, Action::Click, VIEW);
        drop(judged.expect("allowed"));
    });
    let button = tree.find("b17").expect("a button");
    assert!(tree.user_click(button));
    let changes = tree.take_changes();
    let acted = tree.take_acted();
    assert_eq!(changes, Changes::Nodes(vec![button]));
    counted("settle", &tree, &mut |live| {
        let events = surface.settle(live, changes.clone(), &acted);
        assert_eq!(events.len(), 3);
    });
    counted("changes", &tree, &mut |live| {
        let describe = Describe {
            since: Some(surface.revision() - 1),
            ..Describe::default()
        };
        let described = surface
            .describe(live, &describe, VIEW)
            .expect("a description");
        assert_eq!(described.nodes.len(), 1);
    });
    // Something unexposed comes and goes.
    let parent = LiveTree::parent(&tree, button).expect("a parent");
    let new = tree.add(parent, Widget::words("new"));
    tree.remove(new);
    let changes = tree.take_changes();
    counted("settle everything", &tree, &mut |live| {
        assert!(surface.settle(live, changes.clone(), &[]).is_empty());
    });
    all
}

#[test]
fn a_question_costs_what_it_asks_for_and_not_what_the_window_holds() {
    let (few, many) = (looks(1_000), looks(100_000));
    assert_eq!(few, many);
    let total = |looks: &Looks, name: &str| -> usize {
        let (_, looks) = looks
            .iter()
            .find(|(other, _)| *other == name)
            .expect("counted");
        looks.values().sum()
    };
    // Depth is what one node costs: a handful of looks at each that is around it.
    assert!(total(&few, "judge") < 100, "{few:?}");
    assert!(total(&few, "settle") < 300, "{few:?}");
    assert!(total(&few, "changes") < 100, "{few:?}");
    assert!(total(&few, "describe") < 2_000, "{few:?}");
}

#[test]
fn changes_are_told_as_exactly_as_they_are_known() {
    let mut tree = Tree::new();
    let window = tree.open_window(Widget::window("Main").tag("main"));
    let label = tree.add(window, Widget::words("one").tag("label"));
    let gift = tree.add(window, Widget::checkbox("Gift"));
    let combo = tree.add(window, Widget::combo("Size"));
    let small = tree.add(combo, Widget::option("S"));
    assert_eq!(tree.take_changes(), Changes::Everything);
    assert_eq!(tree.take_changes(), Changes::None);
    tree.set_text(label, "two");
    tree.set_text(label, "three");
    tree.set_checked(gift, true);
    assert_eq!(tree.take_changes(), Changes::Nodes(vec![label, gift]));
    tree.set_text(label, "three");
    tree.set_checked(gift, true);
    tree.set_enabled(label, true);
    tree.set_tag(label, Some("label".into()));
    assert_eq!(tree.take_changes(), Changes::None);
    tree.set_selected(small, true);
    assert_eq!(tree.take_changes(), Changes::Nodes(vec![small, combo]));
    tree.set_expanded(combo, true);
    assert_eq!(tree.take_changes(), Changes::Nodes(vec![combo]));
    tree.focus(Some(gift));
    assert_eq!(tree.take_changes(), Changes::Nodes(vec![gift]));
    tree.set_text(label, "four");
    tree.set_visible(gift, false);
    assert_eq!(tree.take_changes(), Changes::Everything);
    for n in 0..1_000 {
        tree.add(window, Widget::words(n.to_string()));
    }
    tree.take_changes();
    for node in LiveTree::children(&tree, window) {
        tree.set_text(node, "more than is exposed");
    }
    assert_eq!(tree.take_changes(), Changes::Everything);
}
