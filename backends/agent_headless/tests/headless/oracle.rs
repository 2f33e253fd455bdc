//! What is served must equal what a walk of the whole tree at that moment would have served.
//!
//! The walk here is written from the protocol's text and shares nothing with the rules' own
//! projection: it goes from the windows down through the widgets' own data and works out ids,
//! exposure, names, states and actions by itself. Random trees are edited at random, and after
//! each edit everything that is served is compared with it. Walks with one rule broken, and
//! changes that are lost on the way, are kept to show that the comparison would find them.

use std::collections::{BTreeMap, BTreeSet};

use agent_core::{
    Action, AuthGate, Changes, Channel, Describe, Description, Include, LiveTree, Marks, No,
    Refusal, Request, Scope, States, Surface, Tag, Target, Verb, VerbSet, View, Why, locate,
};
use agent_headless::{Kind, Node, Props, Rows, Tree, Widget};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};

/// What is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Nothing,
    // The walk's rules.
    CeilingsWiden,
    HiddenIsShown,
    FirstOfTwoWins,
    SecretNames,
    ExclusionStaysOutside,
    DisabledStaysOutside,
    KeyNeedsNothingAround,
    ModalBlocksNothing,
    LabelIsNoName,
    RevisionAlwaysMoves,
    // What is told of changes.
    ChangesAreLost,
    ExactChangesAreLost,
    StructureIsLost,
}

const BROKEN: [Broken; 13] = [
    Broken::CeilingsWiden,
    Broken::HiddenIsShown,
    Broken::FirstOfTwoWins,
    Broken::SecretNames,
    Broken::ExclusionStaysOutside,
    Broken::DisabledStaysOutside,
    Broken::KeyNeedsNothingAround,
    Broken::ModalBlocksNothing,
    Broken::LabelIsNoName,
    Broken::RevisionAlwaysMoves,
    Broken::ChangesAreLost,
    Broken::ExactChangesAreLost,
    Broken::StructureIsLost,
];

/// One exposed node, by the walk.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    node: Node,
    window: Node,
    id: String,
    role: String,
    name: String,
    value: Option<String>,
    is_field: bool,
    states: BTreeSet<&'static str>,
    hidden: bool,
    actions: BTreeSet<&'static str>,
    offers: BTreeSet<&'static str>,
    ceiling: VerbSet,
    confirm: bool,
    frame: (f64, f64, f64, f64),
    size: Option<u64>,
    /// The index of the exposed node around it.
    around: Option<usize>,
    blocked_by: Option<Node>,
}

/// A line of a description: the node, its parent's line, and how many below it are left out.
type Line<'a> = (&'a Seen, Option<usize>, u64);

/// What comes down to a node from what is around it.
#[derive(Clone)]
struct Above {
    window: Node,
    around: Option<usize>,
    ceiling: VerbSet,
    secret: bool,
    excluded: bool,
    relayed: bool,
    confirm: bool,
    hidden: bool,
    disabled: bool,
    // The left and top of what is inside, and the strips that it is seen through.
    x: f64,
    y: f64,
    seen_through: Vec<(f64, f64)>,
}

struct Walk<'a> {
    tree: &'a Tree,
    modals: &'a Modals,
    broken: Broken,
    seen: Vec<Seen>,
    /// The ids of what is kept from agents though it has one.
    kept_back: BTreeSet<String>,
}

/// Which modals are open over which windows: each chain begins with a window.
#[derive(Default)]
struct Modals(Vec<Vec<Node>>);

impl Modals {
    fn open(&mut self, over: Node, modal: Node) {
        match self.0.iter_mut().find(|chain| chain.contains(&over)) {
            Some(chain) => chain.push(modal),
            None => self.0.push(vec![over, modal]),
        }
    }

    fn over(&self, tree: &Tree, window: Node) -> Option<Node> {
        let chain = self.0.iter().find(|chain| chain.contains(&window))?;
        let above = chain.iter().skip_while(|other| **other != window).skip(1);
        above
            .copied()
            .filter(|modal| tree.props(*modal).is_some_and(|props| props.visible))
            .last()
    }

    fn forget_closed(&mut self, tree: &Tree) {
        for chain in &mut self.0 {
            chain.retain(|window| tree.contains(*window));
        }
    }

    fn is_modal(&self, node: Node, opened: &BTreeSet<Node>) -> bool {
        opened.contains(&node)
    }
}

fn role_of(props: &Props) -> String {
    let own = match props.kind.word() {
        "text_field" | "password_field" | "text_area" => "textbox",
        "search_field" => "searchbox",
        "list_item" => "listitem",
        "label" => "text",
        "image" | "canvas" => "img",
        "scroll" => "group",
        "toggle" => "button",
        "spin" => "spinbutton",
        "progress" => "progressbar",
        "combo" => "combobox",
        "tabs" => "tablist",
        "tree_item" => "treeitem",
        "menu_bar" => "menubar",
        "menu_item" if props.checkable => "menuitemcheckbox",
        "menu_item" => "menuitem",
        same => same,
    };
    let given = props.tag.as_ref().and_then(Tag::get_role);
    given.map_or(own, |role| role.word()).to_owned()
}

fn has_value(role: &str) -> bool {
    matches!(
        role,
        "textbox" | "searchbox" | "combobox" | "slider" | "spinbutton" | "progressbar"
    )
}

fn named_from_content(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "link"
            | "checkbox"
            | "radio"
            | "switch"
            | "tab"
            | "menuitem"
            | "menuitemcheckbox"
            | "option"
            | "treeitem"
            | "heading"
    )
}

fn marks(props: &Props) -> Marks {
    props.tag.as_ref().map_or(Marks::empty(), Tag::get_marks)
}

fn kept_back(props: &Props) -> bool {
    props.tag.as_ref().and_then(Tag::get_exposed) == Some(false)
}

/// `list/key` as the protocol spells it.
fn key_id(around: &str, key: &str) -> String {
    let mut id = format!("{around}/");
    for c in key.chars() {
        if c.is_ascii_alphanumeric() || "-_.:".contains(c) || (!c.is_ascii() && c.is_alphanumeric())
        {
            id.push(c);
        } else {
            for byte in c.to_string().bytes() {
                id += &format!("%{byte:02X}");
            }
        }
    }
    id
}

fn good_id(id: &str) -> bool {
    !id.is_empty()
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

impl<'a> Walk<'a> {
    fn of(tree: &'a Tree, modals: &'a Modals, opened: &BTreeSet<Node>, broken: Broken) -> Self {
        let mut walk = Self {
            tree,
            modals,
            broken,
            seen: Vec::new(),
            kept_back: BTreeSet::new(),
        };
        for window in tree.windows() {
            walk.node(
                window,
                0.0,
                &Above {
                    window,
                    around: None,
                    ceiling: VerbSet::all(),
                    secret: false,
                    excluded: false,
                    relayed: false,
                    confirm: false,
                    hidden: false,
                    disabled: false,
                    x: 0.0,
                    y: 0.0,
                    seen_through: Vec::new(),
                },
                opened,
            );
        }
        let mut counts: BTreeMap<(Node, String), usize> = BTreeMap::new();
        for seen in &walk.seen {
            *counts.entry((seen.window, seen.id.clone())).or_default() += 1;
        }
        let mut met = BTreeSet::new();
        for seen in &mut walk.seen {
            let key = (seen.window, seen.id.clone());
            let first = met.insert(key.clone()) && broken == Broken::FirstOfTwoWins;
            if counts[&key] > 1 && !first {
                seen.states.insert("duplicate");
                seen.actions.clear();
            }
        }
        walk
    }

    fn props(&self, node: Node) -> &'a Props {
        self.tree.props(node).expect("a node of the tree")
    }

    fn node(&mut self, node: Node, place: f64, above: &Above, opened: &BTreeSet<Node>) {
        let props = self.props(node);
        let children = self.tree.children(node);
        let is_window = above.window == node;
        let mut here = above.clone();
        if let Some(tag) = &props.tag {
            if self.broken == Broken::CeilingsWiden && tag.get_ceiling() != VerbSet::all() {
                here.ceiling = tag.get_ceiling();
            } else {
                here.ceiling &= tag.get_ceiling();
            }
        }
        let marks = marks(props);
        here.secret |= marks.contains(Marks::SECRET);
        here.excluded |= marks.contains(Marks::EXCLUDED);
        here.relayed |= marks.contains(Marks::RELAYED);
        here.confirm |= marks.contains(Marks::CONFIRM);
        let folded = props.kind == Kind::TreeItem
            && self.tree.parent(node).is_some_and(|parent| {
                let parent = self.props(parent);
                parent.kind == Kind::TreeItem && !parent.expanded
            });
        here.hidden |= !props.visible || folded;
        here.disabled |= !props.enabled;

        // Where it is: a row below what is before it, as what it is in is scrolled.
        let scrolls = ["window", "scroll", "list", "tree", "table"].contains(&props.kind.word());
        let height = match (is_window, scrolls) {
            (true, _) => 480.0,
            (false, true) => 240.0,
            (false, false) => 24.0 * (children.len() as f64 + 1.0),
        };
        let (x, y) = if is_window {
            (0.0, 0.0)
        } else {
            (above.x, above.y + place)
        };
        let frame = (x, y, 640.0 - 2.0 * x, height);
        let offscreen = above
            .seen_through
            .iter()
            .any(|(top, bottom)| y + height <= *top || y >= *bottom);
        here.x = x + 8.0;
        here.y = y + 24.0 - self.tree.scrolled(node);
        if scrolls {
            here.seen_through.push((y, y + height));
        }

        let parts_of = |index: Option<usize>| index.map(|index| self.seen[index].id.clone());
        let mut around = parts_of(above.around);
        if self.broken == Broken::KeyNeedsNothingAround {
            around = around.or(Some("app".into()));
        }
        let mut id = None;
        if let Some(tag) = &props.tag {
            id = match (tag.get_id(), tag.get_key(), around) {
                (Some(id), _, _) if good_id(id) => Some(id.to_owned()),
                (None, Some(key), Some(around)) if !key.is_empty() => Some(key_id(&around, key)),
                _ => None,
            };
        }
        if let Some(kept) = id.clone().filter(|_| kept_back(props) && !here.excluded) {
            self.kept_back.insert(kept);
        }
        id = id.filter(|_| !kept_back(props) && !here.excluded);
        if let Some(id) = id {
            let seen = self.see(node, id, &here, frame, offscreen, opened);
            here.around = Some(self.seen.len());
            self.seen.push(seen);
        }
        if self.broken == Broken::ExclusionStaysOutside {
            here.excluded = above.excluded;
        }
        if self.broken == Broken::DisabledStaysOutside {
            here.disabled = above.disabled;
        }
        for (at, child) in children.into_iter().enumerate() {
            let place = self
                .tree
                .row_number(child)
                .map_or(at as f64, |row| row as f64 - 1.0);
            self.node(child, place * 24.0, &here, opened);
        }
    }

    fn see(
        &self,
        node: Node,
        id: String,
        here: &Above,
        frame: (f64, f64, f64, f64),
        offscreen: bool,
        opened: &BTreeSet<Node>,
    ) -> Seen {
        let props = self.props(node);
        let kind = props.kind.word();
        let role = role_of(props);
        let secret = here.secret || kind == "password_field";
        let (listens_click, listens_submit) = self.tree.listens(node);
        let items = self
            .tree
            .children(node)
            .into_iter()
            .filter(|child| self.props(*child).kind == Kind::TreeItem)
            .count();
        let opens = matches!(kind, "combo" | "menu") || (kind == "tree_item" && items > 0);

        let mut offers: BTreeSet<&'static str> = match kind {
            "button" | "link" | "menu_item" => &["click", "focus"][..],
            "toggle" | "checkbox" | "switch" => &["click", "focus", "set_checked"],
            "radio" => &["click", "focus", "select"],
            "text_field" | "password_field" | "search_field" => &["set_text", "focus", "submit"],
            "text_area" => &["set_text", "focus"],
            "slider" | "spin" => &["set_value", "focus"],
            "combo" => &["focus"],
            "tab" => &["focus", "select"],
            "option" | "row" | "list_item" | "tree_item" => &["select"],
            _ => &[],
        }
        .iter()
        .copied()
        .collect();
        if props.checkable {
            offers.insert("set_checked");
        }
        if opens {
            offers.extend(["expand", "collapse"]);
        }
        if kind == "text_area" && listens_submit {
            offers.insert("submit");
        }
        if ["row", "list_item", "tree_item", "cell", "image", "canvas"].contains(&kind)
            && listens_click
        {
            offers.insert("click");
        }

        let mut states = BTreeSet::new();
        let mut mark = |word, holds: bool| {
            if holds {
                states.insert(word);
            }
        };
        let blocked_by = self
            .modals
            .over(self.tree, here.window)
            .filter(|_| self.broken != Broken::ModalBlocksNothing);
        mark("disabled", here.disabled);
        mark("blocked", blocked_by.is_some());
        mark("relayed", here.relayed);
        mark("secret", secret);
        let switch = ["checkbox", "switch", "toggle", "radio"].contains(&kind) || props.checkable;
        mark("mixed", switch && props.mixed);
        let on = switch && props.checked && !props.mixed;
        mark(
            if kind == "toggle" {
                "pressed"
            } else {
                "checked"
            },
            on,
        );
        let choice = ["option", "tab", "row", "list_item", "tree_item"].contains(&kind);
        mark("selected", choice && props.selected);
        mark(
            if props.expanded {
                "expanded"
            } else {
                "collapsed"
            },
            opens,
        );
        mark("focused", self.tree.focused() == Some(node));
        mark("offscreen", offscreen);
        let edited = [
            "text_field",
            "password_field",
            "text_area",
            "search_field",
            "slider",
            "spin",
        ]
        .contains(&kind);
        mark("read_only", edited && props.read_only);
        mark("busy", props.busy);
        mark("modal", self.modals.is_modal(node, opened));

        let mut actions = BTreeSet::new();
        if !here.disabled && blocked_by.is_none() && !here.hidden {
            for verb in &offers {
                let editing = ["set_text", "set_value"].contains(verb);
                let allowed =
                    Verb::from_word(verb).is_some_and(|verb| here.ceiling.contains(verb.set()));
                if allowed && !(editing && edited && props.read_only) {
                    actions.insert(*verb);
                }
            }
        }
        if !here.hidden {
            actions.insert("scroll_to");
        }
        let lazy = self.tree.rows(node).filter(|(_, keyed)| *keyed);
        Seen {
            node,
            window: here.window,
            name: self.name(node, here, secret, &role),
            value: (has_value(&role) && !secret).then(|| self.value(node)),
            is_field: matches!(role.as_str(), "textbox" | "searchbox"),
            id,
            role,
            states,
            hidden: here.hidden && self.broken != Broken::HiddenIsShown,
            actions,
            offers,
            ceiling: here.ceiling,
            confirm: here.confirm,
            frame,
            size: lazy.map(|(count, _)| count),
            around: here.around,
            blocked_by,
        }
    }

    /// Whether something inside, or elsewhere, may name: by what is around it.
    fn may_name(&self, part: Node) -> bool {
        let mut at = Some(part);
        let own = self.props(part);
        if kept_back(own) || own.kind == Kind::PasswordField || has_value(&role_of(own)) {
            return false;
        }
        while let Some(node) = at {
            let props = self.props(node);
            let marks = marks(props);
            let parent = self.tree.parent(node);
            let folded = props.kind == Kind::TreeItem
                && parent.is_some_and(|parent| {
                    let parent = self.props(parent);
                    parent.kind == Kind::TreeItem && !parent.expanded
                });
            let secret = marks.contains(Marks::SECRET) && self.broken != Broken::SecretNames;
            if secret || marks.contains(Marks::EXCLUDED) || !props.visible || folded {
                return false;
            }
            at = parent;
        }
        true
    }

    fn name(&self, node: Node, here: &Above, secret: bool, role: &str) -> String {
        let props = self.props(node);
        let tagged = props
            .tag
            .as_ref()
            .and_then(Tag::get_label)
            .unwrap_or_default();
        if secret && !has_value(role) && self.broken != Broken::SecretNames {
            return tagged.to_owned();
        }
        let _ = here;
        if !props.label.is_empty() && self.broken != Broken::LabelIsNoName {
            return props.label.clone();
        }
        let by: Vec<&str> = self
            .tree
            .labelled_by(node)
            .iter()
            .filter(|by| self.may_name(**by))
            .map(|by| self.props(*by).text.as_str())
            .filter(|text| !text.is_empty())
            .collect();
        if props.label.is_empty() && !by.is_empty() {
            return by.join(" ");
        }
        if !tagged.is_empty() {
            return tagged.to_owned();
        }
        if has_value(role) {
            return String::new();
        }
        if !props.text.is_empty() || !named_from_content(role) {
            return match props.kind {
                Kind::Combo | Kind::Slider | Kind::Spin | Kind::Progress => self.value(node),
                _ => props.text.clone(),
            };
        }
        let mut words = Vec::new();
        self.content(node, &mut words);
        words.join(" ")
    }

    fn content(&self, node: Node, words: &mut Vec<String>) {
        for part in self.tree.children(node) {
            if self.may_name(part) {
                let text = &self.props(part).text;
                if !text.is_empty() {
                    words.push(text.clone());
                }
                self.content(part, words);
            }
        }
    }

    fn value(&self, node: Node) -> String {
        let props = self.props(node);
        match props.kind {
            Kind::Slider | Kind::Spin | Kind::Progress => format!("{}", props.number),
            Kind::Combo => {
                let mut inside = Vec::new();
                self.options(node, false, &mut inside);
                let chosen = inside
                    .into_iter()
                    .find(|(option, _)| self.props(*option).selected);
                match chosen {
                    None => props.text.clone(),
                    Some((_, true)) => String::new(),
                    Some((option, false)) => self.props(option).text.clone(),
                }
            }
            _ => props.text.clone(),
        }
    }

    /// The options that are chosen from in this combo, and whether each is kept from agents.
    fn options(&self, node: Node, secret: bool, all: &mut Vec<(Node, bool)>) {
        for part in self.tree.children(node) {
            let props = self.props(part);
            let marks = marks(props);
            let secret =
                secret || kept_back(props) || marks.intersects(Marks::SECRET | Marks::EXCLUDED);
            // What has no list of its own kind around it is chosen from what it is in.
            let elsewhere = match props.kind {
                Kind::Tab => self.within(part, &[Kind::Tabs]),
                Kind::Row | Kind::ListItem => self.within(part, &[Kind::List, Kind::Table]),
                Kind::TreeItem => self.within(part, &[Kind::Tree]),
                _ => false,
            };
            let direct =
                self.tree.parent(part) == Some(node) && self.props(node).kind == Kind::Combo;
            let is_choice = props.kind == Kind::Option
                || (direct
                    && !elsewhere
                    && matches!(
                        props.kind,
                        Kind::Tab | Kind::Row | Kind::ListItem | Kind::TreeItem
                    ));
            if is_choice {
                all.push((part, secret));
            }
            if !matches!(props.kind, Kind::Combo | Kind::List) {
                self.options(part, secret, all);
            }
        }
    }

    fn within(&self, node: Node, kinds: &[Kind]) -> bool {
        let mut at = self.tree.parent(node);
        while let Some(node) = at {
            if kinds.contains(&self.props(node).kind) {
                return true;
            }
            at = self.tree.parent(node);
        }
        false
    }

    /// What a call that names this id would find.
    fn find(&self, id: &str, names_unexposed: bool) -> Result<&Seen, Refusal> {
        let mut found = self.seen.iter().filter(|seen| seen.id == id);
        match (found.next(), found.next()) {
            (Some(seen), None) => Ok(seen),
            (Some(seen), Some(_)) if self.broken == Broken::FirstOfTwoWins => Ok(seen),
            (Some(_), Some(_)) => Err(Refusal::Ambiguous),
            (None, _) if names_unexposed && self.kept_back.contains(id) => Err(Refusal::NotExposed),
            (None, _) => Err(Refusal::NotFound),
        }
    }

    /// What an action would come to, as far as it is judged by what the walk knows.
    fn judge(&self, id: &str, verb: Verb) -> Result<Node, Refusal> {
        let seen = self.find(id, false)?;
        let no = |why| Err(Refusal::NotActionable { why, by: None });
        if verb == Verb::ScrollTo {
            return if seen.hidden {
                no(Why::Hidden)
            } else {
                Ok(seen.node)
            };
        }
        if seen.hidden {
            return no(Why::Hidden);
        }
        if !seen.offers.contains(verb.word()) {
            return no(Why::NotOffered);
        }
        if !seen.ceiling.contains(verb.set()) {
            return no(Why::Ceiling);
        }
        if let Some(modal) = seen.blocked_by {
            let exposed = self.seen.iter().find(|seen| seen.node == modal);
            return Err(Refusal::NotActionable {
                why: Why::BlockedByModal,
                by: exposed.map(|modal| modal.id.clone()),
            });
        }
        if seen.states.contains("disabled") {
            return no(Why::Disabled);
        }
        if seen.states.contains("read_only") && verb == Verb::SetValue {
            return no(Why::ReadOnly);
        }
        if seen.confirm {
            return Err(Refusal::NeedsConfirmation);
        }
        Ok(seen.node)
    }

    /// A description, and whether no limit cut it.
    fn describe(
        &self,
        root: Option<Node>,
        window: Option<Node>,
        depth: Option<usize>,
        limit: Option<usize>,
    ) -> (Vec<Line<'_>>, bool) {
        let mut shown: Vec<(&Seen, Option<usize>, usize)> = Vec::new();
        let mut index = BTreeMap::new();
        for (at, seen) in self.seen.iter().enumerate() {
            if seen.hidden || window.is_some_and(|window| seen.window != window) {
                continue;
            }
            let is_root = root == Some(seen.node);
            let parent = seen
                .around
                .and_then(|around| index.get(&around).copied())
                .filter(|_| !is_root);
            if root.is_some() && !is_root && parent.is_none() {
                continue;
            }
            let level = parent.map_or(0, |parent: usize| shown[parent].2 + 1);
            index.insert(at, shown.len());
            shown.push((seen, parent, level));
        }
        let depth = depth.unwrap_or(usize::MAX);
        let mut order: Vec<usize> = (0..shown.len())
            .filter(|at| shown[*at].2 <= depth)
            .collect();
        order.sort_by_key(|at| (shown[*at].2, *at));
        let complete = order.len() <= limit.unwrap_or(500);
        let chosen: BTreeSet<usize> = order.into_iter().take(limit.unwrap_or(500)).collect();
        let mut out: Vec<Line<'_>> = Vec::new();
        let mut place = BTreeMap::new();
        for (at, (seen, parent, _)) in shown.iter().enumerate() {
            let parent = parent.and_then(|parent| place.get(&parent).copied());
            if chosen.contains(&at) {
                place.insert(at, out.len());
                out.push((seen, parent, 0));
            } else if let Some(parent) = parent {
                out[parent].2 += 1;
            }
        }
        (out, complete)
    }
}

const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const KEYS: [&str; 4] = ["7", "a b", "é", "x/\u{202e}"];
const TEXTS: [&str; 7] = [
    "",
    "one",
    "two",
    "three",
    "é👨\u{200d}👩",
    "\"quote\" [a]",
    "40",
];
const VIEW: View = View {
    names_unexposed: false,
    window_was_there: false,
};

/// One random edit: which, and three numbers that it makes its choices by.
type Step = (u8, u16, u16, u16);

struct World {
    tree: Tree,
    surface: Surface<Node>,
    modals: Modals,
    opened: BTreeSet<Node>,
    /// What was last served, frame and `offscreen` apart, in no order; and the texts' versions.
    picture: Vec<String>,
    versions: BTreeMap<Node, (u64, String)>,
    revision: u64,
}

fn random_tag(n: u16, m: u16) -> Option<Tag> {
    let mut tag = match n % 8 {
        0 | 1 => return None,
        2 => Tag::new(),
        3 => Tag::key(KEYS[usize::from(m) % KEYS.len()]),
        4 if m.is_multiple_of(16) => Tag::id("not an id"),
        _ => Tag::id(IDS[usize::from(m) % IDS.len()]),
    };
    let bit = |n: u16, one_in: u16| n.is_multiple_of(one_in);
    let (n, m) = (n / 8, m / 8);
    if bit(n, 3) {
        let ceilings = [
            VerbSet::empty(),
            VerbSet::Click,
            VerbSet::Click | VerbSet::SetText | VerbSet::Focus,
            VerbSet::Select | VerbSet::Expand | VerbSet::Click,
        ];
        tag = tag.ceiling(ceilings[usize::from(m) % 4]);
    }
    if bit(m, 7) {
        tag = tag.exposed(!bit(m, 2));
    }
    if bit(m, 9) {
        tag = tag.secret();
    }
    if bit(n, 11) {
        tag = tag.excluded();
    }
    if bit(n, 5) {
        tag = tag.relayed();
    }
    if bit(m, 5) {
        tag = tag.confirm();
    }
    if bit(n, 4) {
        tag = tag.label("named by its tag");
    }
    Some(tag)
}

fn random_widget(n: u16, a: u16, b: u16) -> Widget {
    let text = |n: u16| TEXTS[usize::from(n) % TEXTS.len()];
    let kind = Kind::ALL[1 + usize::from(n) % (Kind::ALL.len() - 1)];
    let mut widget = Widget::new(kind)
        .text(text(a))
        .enabled(!b.is_multiple_of(9))
        .visible(!b.is_multiple_of(8));
    widget.tagged(random_tag(a, b));
    if a.is_multiple_of(3) {
        widget = widget.label(text(b));
    }
    if b.is_multiple_of(2) {
        widget = widget.on_click(|tree, node| tree.set_text(node, "clicked"));
    }
    if b.is_multiple_of(3) {
        widget = widget.checked(true).selected(true).expanded(true);
    }
    if b.is_multiple_of(5) {
        widget = widget.on_submit(|tree, node| tree.set_enabled(node, false));
    }
    if matches!(kind, Kind::List | Kind::Table) && b.is_multiple_of(2) {
        let rows = Rows::new(u64::from(a % 40), |n| format!("row {n}"));
        widget = widget.rows(if b.is_multiple_of(4) {
            rows
        } else {
            rows.keyed()
        });
    }
    widget
}

trait Tagged {
    fn tagged(&mut self, tag: Option<Tag>);
}

impl Tagged for Widget {
    fn tagged(&mut self, tag: Option<Tag>) {
        if let Some(tag) = tag {
            let widget = std::mem::replace(self, Widget::new(Kind::Group));
            *self = widget.tag(tag);
        }
    }
}

impl World {
    fn new() -> Self {
        let mut tree = Tree::new();
        tree.open_window(
            Widget::window("Main").tag("main").children([
                Widget::list("List").tag("a").child(
                    Widget::list_item("seven")
                        .tag(Tag::key("7"))
                        .child(Widget::words("12").tag(Tag::key("a b"))),
                ),
                Widget::combo("Size").tag("b").children([
                    Widget::option("S").tag("c").selected(true),
                    Widget::option("L"),
                ]),
                Widget::tree("Tree").child(
                    Widget::tree_item("docs")
                        .tag("d")
                        .expanded(true)
                        .child(Widget::tree_item("letter").tag("e")),
                ),
                Widget::text_field("Name").tag("f"),
            ]),
        );
        Self {
            tree,
            surface: Surface::default(),
            modals: Modals::default(),
            opened: BTreeSet::new(),
            picture: Vec::new(),
            versions: BTreeMap::new(),
            revision: 0,
        }
    }

    /// Some node, of all that are there.
    fn pick(&self, n: u16) -> Option<Node> {
        let mut all = self.tree.windows();
        let mut at = 0;
        while let Some(node) = all.get(at).copied() {
            all.extend(self.tree.children(node));
            at += 1;
        }
        (!all.is_empty()).then(|| all[usize::from(n) % all.len()])
    }

    fn edit(&mut self, (what, a, b, c): Step) {
        let Some(node) = self.pick(a) else {
            self.tree.open_window(random_widget(0, b, c));
            return;
        };
        let is_window = self.tree.is_window(node);
        let text = TEXTS[usize::from(b) % TEXTS.len()];
        let on = b.is_multiple_of(2);
        let tree = &mut self.tree;
        match what % 37 {
            0..=5 => {
                tree.insert(node, usize::from(c % 4), random_widget(b, c, a ^ c));
            }
            6 if !is_window => tree.remove(node),
            7 | 8 => {
                if let Some(to) = self.pick(b) {
                    self.tree.move_to(node, to, usize::from(c % 3));
                }
            }
            9 | 10 => tree.set_tag(node, random_tag(b, c)),
            11 => tree.set_enabled(node, on),
            12 => tree.set_visible(node, on),
            13 | 14 => tree.set_text(node, text),
            15 => tree.set_label(node, text),
            16 => tree.set_checked(node, on),
            17 => tree.set_selected(node, on),
            18 => tree.set_expanded(node, on),
            19 => {
                let window = tree.open_window(random_widget(b, c, b));
                tree.add(window, random_widget(c, b, c));
            }
            20 | 34 => {
                let mut window = node;
                while let Some(parent) = tree.parent(window) {
                    window = parent;
                }
                let modal =
                    tree.open_modal(node, Widget::dialog("Modal").child(random_widget(b, c, a)));
                tree.set_tag(modal, random_tag(c, b));
                self.modals.open(window, modal);
                self.opened.insert(modal);
            }
            21 | 35 | 36 => {
                let windows = tree.windows();
                if let Some(window) = windows.get(usize::from(b) % windows.len().max(4)) {
                    tree.close(*window);
                }
            }
            22 => {
                tree.user_scroll(node, f64::from(b % 5) / 4.0);
            }
            23 => tree.scroll_to(node),
            24 => {
                tree.scroll_to_row(node, u64::from(b % 50));
            }
            25 => tree.focus(on.then_some(node)),
            26 => {
                tree.user_type(node, text);
            }
            27 => {
                tree.user_click(node);
            }
            28 => {
                tree.user_submit(node);
                tree.user_undo(node);
            }
            29 => {
                tree.user_select(node);
            }
            30 => {
                if let (Some(x), Some(y)) = (self.pick(b), self.pick(c)) {
                    self.tree.set_labelled_by(node, &[x, y]);
                }
            }
            31 => {
                tree.set_read_only(node, on);
                tree.set_busy(node, b.is_multiple_of(3));
            }
            32 => {
                tree.set_number(node, f64::from(b % 90));
                tree.set_mixed(node, on);
            }
            33 => {
                let rows = Rows::new(u64::from(b % 30), |n| format!("other {n}"));
                if matches!(
                    tree.props(node).map(|props| props.kind),
                    Some(Kind::List | Kind::Table)
                ) {
                    tree.set_rows(
                        node,
                        (c % 3 > 0).then(|| if on { rows.keyed() } else { rows }),
                    );
                }
            }
            _ => {}
        }
        self.modals.forget_closed(&self.tree);
    }

    /// Looks as the app's own loop does, and compares.
    fn check(&mut self, step: Step, broken: Broken) -> Result<(), TestCaseError> {
        let changes = self.tree.take_changes();
        let changes = match (broken, changes) {
            (Broken::ChangesAreLost, _)
            | (Broken::ExactChangesAreLost, Changes::Nodes(_))
            | (Broken::StructureIsLost, Changes::Everything) => Changes::None,
            (_, changes) => changes,
        };
        let acted = self.tree.take_acted();
        let events = self.surface.settle(&self.tree, changes, &acted);
        let walk = Walk::of(&self.tree, &self.modals, &self.opened, broken);

        let served = self
            .surface
            .describe(&self.tree, &everything(), VIEW)
            .map_err(|no| TestCaseError::fail(format!("{no:?}")))?;
        compare(&walk, &served, None, None, None, None)?;

        // The revision moves if and only if an agent can see that something changed.
        let picture: Vec<String> = served
            .nodes
            .iter()
            .map(|node| {
                let states = node.states - States::SILENT;
                let parent = node.parent.map(|parent| &served.nodes[parent].id);
                format!(
                    "{} {:?} {:?} {parent:?} {:?} {:?} {states:?} {:?} {:?}",
                    node.id,
                    node.role,
                    node.name,
                    node.value,
                    node.version,
                    node.actions,
                    node.size
                )
            })
            .collect();
        let moved =
            self.surface.revision() != self.revision || broken == Broken::RevisionAlwaysMoves;
        prop_assert_eq!(
            moved,
            self.picture != picture,
            "the revision, after {:?}\nbefore {:#?}\nafter {:#?}\nevents {:?}",
            step,
            self.picture,
            picture,
            events
        );
        self.picture = picture;
        self.revision = self.surface.revision();

        // A text that differs has another version.
        for (node, seen) in served
            .nodes
            .iter()
            .zip(walk.describe(None, None, None, None).0)
        {
            if let (Some(version), Some(value)) = (node.version, &node.value)
                && let Some((old, text)) =
                    self.versions.insert(seen.0.node, (version, value.clone()))
            {
                prop_assert!(
                    text == *value || old != version,
                    "the version of {}",
                    node.id
                );
            }
        }
        Self::check_asked_for(&mut self.surface, &walk, step)
    }
}

impl World {
    /// Asks for parts, by numbers that the step had, and compares those.
    fn check_asked_for(
        surface: &mut Surface<Node>,
        walk: &Walk<'_>,
        (_, a, b, c): Step,
    ) -> Result<(), TestCaseError> {
        let tree = walk.tree;
        let pick = |n: u16| walk.seen.get(usize::from(n) % walk.seen.len().max(1));
        let (depth, limit) = (
            (b % 3 == 0).then_some(usize::from(c % 3)),
            (c % 3 == 0).then_some(1 + usize::from(b % 6)),
        );
        let root = pick(a)
            .filter(|_| a.is_multiple_of(2))
            .map(|seen| seen.id.clone());
        let describe = Describe {
            root: root.clone(),
            depth,
            limit,
            ..everything()
        };
        let served = surface.describe(tree, &describe, VIEW);
        let expected = root.map(|root| walk.find(&root, false)).transpose();
        match (expected, served) {
            (Ok(root), Ok(served)) if root.is_none_or(|root| !root.hidden) => {
                compare(
                    walk,
                    &served,
                    root.map(|root| root.node),
                    None,
                    depth,
                    limit,
                )?;
            }
            (
                Ok(Some(root)),
                Err(No::Refused(Refusal::NotActionable {
                    why: Why::Hidden, ..
                })),
            ) => prop_assert!(root.hidden),
            (Err(expected), Err(No::Refused(refusal))) => prop_assert_eq!(expected, refusal),
            (expected, served) => {
                return Err(TestCaseError::fail(format!("{expected:?} but {served:?}")));
            }
        }

        // Every id that is or might be: exposed, kept back, of a key in a list, or none.
        let mut ids: BTreeSet<String> = IDS.iter().map(|id| (*id).to_owned()).collect();
        ids.extend(walk.seen.iter().map(|seen| seen.id.clone()));
        ids.extend(walk.kept_back.iter().cloned());
        ids.extend(
            [
                "a/7",
                "b/7/7",
                "7",
                "/7",
                "main/%C3%A9",
                "main/é",
                "nowhere",
            ]
            .map(str::to_owned),
        );
        let verbs = [
            Action::Click,
            Action::Focus,
            Action::Submit,
            Action::Select,
            Action::Expand,
            Action::Collapse,
            Action::SetChecked(true),
            Action::SetValue(1.0),
            Action::ScrollTo { key: None },
        ];
        let (gate, request) = (AuthGate::deny_all(), request());
        for (at, id) in ids.iter().enumerate() {
            let target = Target {
                id: id.clone(),
                window: None,
            };
            for names_unexposed in [false, true] {
                let view = View {
                    names_unexposed,
                    ..VIEW
                };
                let located = locate(tree, &target, view);
                let expected = walk
                    .find(id, names_unexposed)
                    .map(|seen| seen.node)
                    .map_err(No::from);
                prop_assert_eq!(located, expected, "finding {}", id);
            }
            let action = verbs[(at + usize::from(c)) % verbs.len()].clone();
            let verb = action.verb();
            let lazy = walk.find(id, false).is_err() && verb == Verb::ScrollTo;
            if !lazy {
                let judged = surface.judge(tree, &target, action, VIEW);
                let judged = judged.and_then(|judged| {
                    // Nobody is there to ask.
                    let leave = surface.authorise(tree, judged, &gate, &request);
                    leave.map(|leave| leave.perform().0).map_err(No::from)
                });
                prop_assert_eq!(
                    judged,
                    walk.judge(id, verb).map_err(No::from),
                    "{:?} on {}",
                    verb,
                    id
                );
            }
        }
        Ok(())
    }
}

fn request() -> Request {
    Request {
        number: 1,
        channel: Channel::InApp,
        connection: 0,
        claimed_name: None,
        peer: None,
        verb: Verb::Click,
        scope: Scope::Surface,
        target: None,
    }
}

fn everything() -> Describe {
    Describe {
        include: Include {
            value: true,
            state: true,
            actions: true,
            frame: true,
        },
        ..Describe::default()
    }
}

fn compare(
    walk: &Walk<'_>,
    served: &Description,
    root: Option<Node>,
    window: Option<Node>,
    depth: Option<usize>,
    limit: Option<usize>,
) -> Result<(), TestCaseError> {
    let (expected, complete) = walk.describe(root, window, depth, limit);
    let ids = |description: &Description| {
        description
            .nodes
            .iter()
            .map(|node| node.id.to_string())
            .collect::<Vec<_>>()
    };
    let wanted: Vec<String> = expected
        .iter()
        .map(|(seen, _, _)| seen.id.clone())
        .collect();
    prop_assert_eq!(ids(served), wanted);
    prop_assert_eq!(served.complete, complete);
    for (node, (seen, parent, omitted)) in served.nodes.iter().zip(expected) {
        let states: BTreeSet<&str> = node.states.words().collect();
        let actions: BTreeSet<&str> = node.actions.verbs().map(Verb::word).collect();
        let frame = node
            .frame
            .map(|frame| (frame.x, frame.y, frame.width, frame.height));
        let actionable = seen
            .actions
            .iter()
            .any(|verb| !["scroll_to", "focus"].contains(verb));
        prop_assert_eq!(node.role.word(), &seen.role, "the role of {}", seen.id);
        prop_assert_eq!(&node.name, &seen.name, "the name of {}", seen.id);
        prop_assert_eq!(&node.value, &seen.value, "the value of {}", seen.id);
        prop_assert_eq!(
            node.version.is_some(),
            seen.is_field,
            "the version of {}",
            seen.id
        );
        prop_assert_eq!(states, seen.states.clone(), "the states of {}", seen.id);
        prop_assert_eq!(actions, seen.actions.clone(), "the actions of {}", seen.id);
        prop_assert_eq!(
            node.actionable,
            actionable,
            "whether {} is actionable",
            seen.id
        );
        prop_assert_eq!(node.parent, parent, "the parent of {}", seen.id);
        prop_assert_eq!(node.omitted, omitted, "what is left out below {}", seen.id);
        prop_assert_eq!(node.size, seen.size, "the size of {}", seen.id);
        let (x, y, width, height) = seen.frame;
        prop_assert_eq!(
            frame,
            Some((x, y, width.max(0.0), height)),
            "the frame of {}",
            seen.id
        );
    }
    Ok(())
}

fn run(cases: u32, broken: Broken, shrink: u32) -> Result<(), TestError<Vec<Step>>> {
    let config = Config {
        cases,
        max_shrink_iters: shrink,
        failure_persistence: None,
        ..Config::default()
    };
    // The same trees in every run: a failure that comes and goes helps nobody.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let steps = proptest::collection::vec(any::<Step>(), 1..16);
    TestRunner::new_with_rng(config, rng).run(&steps, |steps| {
        let mut world = World::new();
        world.check(
            (0, 0, 0, 0),
            if broken == Broken::RevisionAlwaysMoves {
                Broken::Nothing
            } else {
                broken
            },
        )?;
        for step in steps {
            world.edit(step);
            world.check(step, broken)?;
        }
        Ok(())
    })
}

#[test]
fn what_is_served_equals_a_full_walk() {
    if let Err(failure) = run(1_000, Broken::Nothing, 4_000) {
        panic!("{failure}");
    }
}

#[test]
fn the_comparison_finds_each_broken_rule() {
    for broken in BROKEN {
        let found = run(400, broken, 0);
        assert!(
            matches!(found, Err(TestError::Fail(..))),
            "{broken:?} was not found"
        );
    }
}
