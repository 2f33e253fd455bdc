use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use agent_core::LiveTree as _;
use agent_surface::{
    EventVerb, Limits, Role, Surface, Tag,
    headless::{Headless, Kind as HeadlessKind, Node, Tree, Widget},
};

use super::{Change, Kind, LEAKS, Leak, Plan, Shown, UNEXPOSED, World, converse};
use agent_test_support::{Client, Random, allow, folder};

/// What a world knows of its own widgets.
struct Inner {
    dice: Random,
    window: Node,
    /// Where something unexposed may be put in.
    containers: Vec<Node>,
    /// What names an exposed node by its contents: only what is kept back may be put in.
    named_by_contents: Vec<Node>,
    /// What is not exposed, and has nothing exposed inside.
    noise: Vec<Node>,
    /// Containers around one exposed node.
    wrappers: Vec<Node>,
    exposed: Vec<Node>,
    secrets: Vec<Node>,
    windows: Vec<Node>,
    clicks: usize,
}

type Shared = Arc<Mutex<Inner>>;

struct HeadlessWorld {
    client: Client,
    surface: Surface,
    app: Headless,
    inner: Shared,
    dice: Random,
}

fn tag_of(shown: &Shown) -> Tag {
    let tag = match shown.kind {
        Kind::Row => Tag::key(shown.id.clone()),
        _ => Tag::id(shown.id.clone()),
    };
    let tag = if shown.observe { tag.ceiling([]) } else { tag };
    let tag = match shown.kind {
        Kind::List => tag.role(Role::List),
        _ => tag,
    };
    if shown.kind == Kind::Secret && shown.spelling > 0 {
        tag.secret()
    } else {
        tag
    }
}

fn put(tree: &mut Tree, parent: Node, shown: &Shown, inner: &mut Inner, shared: &Shared) {
    let widget = match shown.kind {
        // One whose contents name it: a part of them is kept back.
        Kind::Label if shown.labelled => Widget::heading("")
            .child(Widget::words(shown.text.clone()).named(format!("part of {}", shown.id))),
        Kind::Label => Widget::words(shown.text.clone()),
        Kind::Button => {
            let shared = shared.clone();
            Widget::button(shown.text.clone()).on_click(move |tree, _| clicked(tree, &shared))
        }
        Kind::Field if shown.spelling == 0 => Widget::text_area("").value(shown.text.clone()),
        Kind::Field => Widget::text_field("").value(shown.text.clone()),
        Kind::Secret if shown.spelling == 0 => Widget::password_field("").value("first"),
        Kind::Secret => Widget::text_field("").value("first"),
        Kind::Check => Widget::checkbox(shown.text.clone()).checked(shown.checked),
        Kind::Group => Widget::new(HeadlessKind::Group),
        // A `List` scrolls, and what is out of its sight would depend on what else is in it.
        Kind::List => Widget::new(HeadlessKind::Group),
        Kind::Row => Widget::list_item(shown.text.clone()),
    };
    let widget = widget
        .tag(tag_of(shown))
        .named(format!("x:{}", shown.id))
        .enabled(shown.enabled)
        .visible(shown.visible);
    let node = tree.add(parent, widget);
    inner.exposed.push(node);
    if shown.is_container() {
        inner.containers.push(node);
    }
    if shown.kind == Kind::Label && shown.labelled {
        inner.named_by_contents.push(node);
    }
    if shown.kind == Kind::Secret {
        inner.secrets.push(node);
    }
    if shown.kind == Kind::Field && shown.labelled {
        let named = tree.add(parent, Widget::words("Its name"));
        let word = inner.dice.next().to_string();
        let kept_back = tree.add(parent, Widget::words(word).tag(Tag::new().secret()));
        inner.noise.push(kept_back);
        tree.set_labelled_by(node, &[kept_back, named]);
    }
    for inside in &shown.inside {
        put(tree, node, inside, inner, shared);
    }
}

/// The handler of every exposed button: it tells so in what is exposed, and does something else
/// in each world to what is not.
fn clicked(tree: &mut Tree, shared: &Shared) {
    let mut inner = shared.lock().unwrap();
    inner.clicks += 1;
    let clicks = inner.clicks;
    if let Some(status) = tree.find("x:status") {
        tree.set_text(status, format!("clicked {clicks}"));
    }
    stir(tree, &mut inner);
}

fn hidden_tag(dice: &mut Random, plan_ids: &[Node], tree: &Tree) -> Option<Tag> {
    // Often the id of something exposed: only exposed nodes claim one.
    let id = match dice.below(2) {
        0 => (*dice.one_of(UNEXPOSED)).to_owned(),
        _ => plan_ids
            .get(dice.below(plan_ids.len()))
            .and_then(|node| tree.props(*node))
            .and_then(|props| props.tag.as_ref()?.get_id().map(str::to_owned))
            .unwrap_or_default(),
    };
    match dice.below(6) {
        0 => Some(Tag::id(id).exposed(false)),
        1 => Some(Tag::id(id).excluded()),
        2 => Some(Tag::new().secret()),
        3 => Some(Tag::new().ceiling([]).relayed()),
        4 => Some(Tag::id("not an id")),
        _ => None,
    }
}

fn noise(dice: &mut Random, inner: &[Node], tree: &Tree) -> Widget {
    let text = dice.next().to_string();
    let widget = match dice.below(7) {
        0 => Widget::words(text),
        1 => Widget::button(text),
        2 => Widget::text_field("").value(text),
        3 => Widget::checkbox(text).checked(dice.once_in(2)),
        4 => Widget::new(HeadlessKind::Group).child(Widget::words(text)),
        5 => Widget::new(HeadlessKind::List).child(Widget::list_item(text)),
        // With tags inside, which exposes nothing.
        _ => {
            return Widget::new(HeadlessKind::Group)
                .tag(Tag::new().excluded())
                .children([
                    Widget::button(text).tag("n1"),
                    Widget::list("")
                        .tag("n2")
                        .child(Widget::list_item("x").tag(Tag::key("row 3"))),
                ]);
        }
    };
    let widget = widget.enabled(!dice.once_in(4)).visible(!dice.once_in(4));
    match hidden_tag(dice, inner, tree) {
        Some(tag) => widget.tag(tag),
        None => widget,
    }
}

/// Changes what is not exposed.
fn stir(tree: &mut Tree, inner: &mut Inner) {
    for _ in 0..inner.dice.below(5) {
        let dice = &mut inner.dice;
        match dice.below(10) {
            0..=2 => {
                let parent = *dice.one_of(&inner.containers);
                let at = dice.below(tree.children(parent).len() + 1);
                let widget = noise(dice, &inner.exposed, tree);
                inner.noise.push(tree.insert(parent, at, widget));
            }
            3 if !inner.named_by_contents.is_empty() => {
                let parent = *dice.one_of(&inner.named_by_contents);
                let tag = match dice.below(3) {
                    0 => Tag::new().secret(),
                    1 => Tag::new().exposed(false),
                    _ => Tag::new().excluded(),
                };
                let at = dice.below(tree.children(parent).len() + 1);
                let kept_back = Widget::words(dice.next().to_string()).tag(tag);
                inner.noise.push(tree.insert(parent, at, kept_back));
            }
            4 if !inner.noise.is_empty() => {
                let at = dice.below(inner.noise.len());
                let node = inner.noise.swap_remove(at);
                tree.remove(node);
            }
            5 | 6 if !inner.noise.is_empty() => {
                let node = *dice.one_of(&inner.noise);
                match dice.below(5) {
                    0 | 1 => tree.set_text(node, dice.next().to_string()),
                    2 => tree.set_label(node, dice.next().to_string()),
                    3 => tree.set_enabled(node, dice.once_in(2)),
                    _ => tree.set_visible(node, dice.once_in(2)),
                }
            }
            7 => {
                // One more container around an exposed node.
                let node = *dice.one_of(&inner.exposed);
                let Some(parent) = tree.parent(node) else {
                    continue;
                };
                let at = tree
                    .children(parent)
                    .iter()
                    .position(|child| *child == node);
                let around = tree.insert(parent, at.unwrap(), Widget::new(HeadlessKind::Group));
                assert!(tree.move_to(node, around, 0));
                inner.wrappers.push(around);
                inner.containers.push(around);
            }
            8 if !inner.wrappers.is_empty() => {
                // And one less: what is inside takes its place.
                let at = dice.below(inner.wrappers.len());
                let around = inner.wrappers.swap_remove(at);
                inner.containers.retain(|node| *node != around);
                let parent = tree.parent(around).unwrap();
                let siblings = tree.children(parent);
                let at = siblings.iter().position(|child| *child == around).unwrap();
                for (n, child) in tree.children(around).into_iter().enumerate() {
                    assert!(tree.move_to(child, parent, at + n));
                }
                tree.remove(around);
            }
            9 => {
                if inner.windows.len() < 3 {
                    let tag = match dice.below(3) {
                        0 => Tag::id("veiled").excluded(),
                        1 => Tag::id("u0").exposed(false),
                        _ => Tag::new(),
                    };
                    let window = Widget::window(dice.next().to_string())
                        .tag(tag)
                        .child(Widget::button("Other"));
                    inner.windows.push(tree.open_window(window));
                } else {
                    let window = inner.windows.remove(0);
                    tree.close(window);
                }
            }
            _ => {}
        }
    }
}

impl HeadlessWorld {
    fn new(plan: &Plan, seed: u64, leak: Leak, path: PathBuf) -> Option<Self> {
        let mut shown = plan.shown.clone();
        if !leak.put_into(&mut shown) {
            return None;
        }
        let made: Arc<Mutex<Option<Shared>>> = Arc::default();
        let tell = made.clone();
        let app = Headless::start("world", move |tree| {
            let mut dice = Random(seed);
            let mut windows = Vec::new();
            for _ in 0..dice.below(3) {
                windows.push(tree.open_window(Widget::window(dice.next().to_string())));
            }
            let window = tree.open_window(Widget::window("Main").tag("main"));
            tree.user_resize(window, 1000.0, 100_000.0);
            let inner = Inner {
                dice,
                window,
                containers: vec![window],
                named_by_contents: Vec::new(),
                noise: Vec::new(),
                wrappers: Vec::new(),
                exposed: Vec::new(),
                secrets: Vec::new(),
                windows,
                clicks: 0,
            };
            let shared = Arc::new(Mutex::new(inner));
            let mut inner = shared.lock().unwrap();
            for shown in &shown {
                put(tree, window, shown, &mut inner, &shared);
            }
            let status = Widget::words("nothing").tag("status").named("x:status");
            let status = tree.add(window, status);
            inner.exposed.push(status);
            for _ in 0..5 {
                stir(tree, &mut inner);
            }
            let window = inner.window;
            assert!(tree.contains(window));
            drop(inner);
            *tell.lock().unwrap() = Some(shared);
        });
        let inner = made.lock().unwrap().take().unwrap();
        let surface = Surface::builder("org.example.world")
            .gate(allow())
            .headless(&app)
            .limits(Limits {
                actions: None,
                ..Limits::default()
            })
            .at(path)
            .serve()
            .unwrap();
        let client = Client::connect(surface.address().unwrap());
        Some(Self {
            client,
            surface,
            app,
            inner,
            dice: Random(seed ^ 1),
        })
    }
}

impl World for HeadlessWorld {
    fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    fn change(&mut self, change: &Change) {
        let (change, inner) = (change.clone(), self.inner.clone());
        self.app.run(move |tree| {
            let find = |tree: &Tree, id: &str| tree.find(&format!("x:{id}"));
            match change {
                Change::Text(id, text) => {
                    let part = tree.find(&format!("part of {id}"));
                    if let Some(node) = part.or_else(|| find(tree, &id)) {
                        tree.set_text(node, text);
                    }
                }
                Change::Enabled(id) => {
                    if let Some(node) = find(tree, &id) {
                        let enabled = tree.props(node).unwrap().enabled;
                        tree.set_enabled(node, !enabled);
                    }
                }
                Change::Visible(id) => {
                    if let Some(node) = find(tree, &id) {
                        let visible = tree.props(node).unwrap().visible;
                        tree.set_visible(node, !visible);
                    }
                }
                Change::Checked(id) => {
                    if let Some(node) = find(tree, &id) {
                        let checked = tree.props(node).unwrap().checked;
                        tree.set_checked(node, !checked);
                    }
                }
                // Neither what, nor how long, nor how often is the same.
                Change::Secrets => {
                    let mut inner = inner.lock().unwrap();
                    for secret in inner.secrets.clone() {
                        for _ in 0..=inner.dice.below(3) {
                            let length = inner.dice.below(9);
                            let mut text = inner.dice.next().to_string();
                            text.truncate(length + 8);
                            tree.set_text(secret, text);
                        }
                    }
                }
            }
        });
    }

    fn stir(&mut self) {
        let inner = self.inner.clone();
        self.app
            .run(move |tree| stir(tree, &mut inner.lock().unwrap()));
        for _ in 0..self.dice.below(3) {
            let id: &&str = self.dice.one_of(UNEXPOSED);
            self.surface.emit(id, EventVerb::Changed);
        }
    }
}

fn check(seed: u64, leak: Leak) -> Option<Result<usize, String>> {
    let plan = Plan::new(&mut Random(seed));
    let folder = folder();
    let mut one = HeadlessWorld::new(&plan, seed ^ 0xA, Leak::None, folder.path().join("a"))?;
    let mut other = HeadlessWorld::new(&plan, seed ^ 0xB00, leak, folder.path().join("b"))?;
    Some(converse(seed, &plan, true, &mut one, &mut other))
}

fn conversations(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        if let Some(Err(difference)) = check(seed, Leak::None) {
            panic!("{difference}");
        }
    }
}

#[test]
fn rule_1_replies_are_byte_identical_on_headless() {
    conversations(0..1500);
}

#[test]
#[ignore = "takes minutes: for the night"]
fn rule_1_replies_are_byte_identical_on_headless_at_length() {
    conversations(1_000_000..1_050_000);
}

#[test]
fn a_difference_that_is_exposed_is_found_on_headless() {
    for leak in LEAKS {
        let found = (0..30)
            .filter_map(|seed| check(seed, leak))
            .filter(Result::is_err);
        assert!(found.count() > 5, "{leak:?} is hardly ever found");
    }
}
