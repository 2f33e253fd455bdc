//! The window: a tree, what agents see of what is selected in it, its properties, whom the app lets
//! in, a picture of the app, and what happens there.

mod consent;
mod details;
mod list;
mod log;
mod pane;
mod view;

use std::{collections::HashSet, sync::Arc};

use agent_surface::{
    AuthGate, ServeError, Surface,
    egui::{AgentUi as _, AgentWidget as _, Context, Role, Tag},
};
use egui::{CentralPanel, Key, KeyboardShortcut, Modifiers, Panel, RichText, TextEdit, Ui};

use pane::Pane;

use crate::{
    tree::{Filter, Row, Told},
    watch::{Seen, Watch},
};

/// The inspector's window. Its widgets have tags as any app's do.
pub struct Inspector {
    watch: Arc<Watch>,
    filter: Filter,
    search: String,
    closed: HashSet<u64>,
    rows: Vec<Row>,
    /// What the rows were made from.
    made_from: Option<(u64, Filter, String, usize)>,
    closings: usize,
    /// Brings the selected row into view.
    follow: bool,
    /// Under the pointer, in the tree or in the picture.
    hovered: Option<u64>,
    /// Where the keys have come to in the tree, until the pointer points at something.
    walked: Option<u64>,
    /// What the app was asked to draw over.
    highlighted: Option<u64>,
    unexposed: bool,
    picking: bool,
    picked: Option<u64>,
    tab: Tab,
    shown: view::Shown,
}

/// What the details show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    Agents,
    Properties,
    Lint,
    Consent,
}

const SEARCH: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::F);
const PICTURE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F5);
const FILTERS: [(Filter, Key, &str, &str); 3] = [
    (Filter::All, Key::Num1, "filter-all", "All"),
    (Filter::Exposed, Key::Num2, "filter-exposed", "Exposed"),
    (Filter::Agent, Key::Num3, "filter-agent", "Agent's view"),
];

const TABS: [(Tab, Key, &str, &str); 4] = [
    (Tab::Agents, Key::Num4, "tab-agents", "Agents see"),
    (Tab::Properties, Key::Num5, "tab-properties", "Properties"),
    (Tab::Lint, Key::Num6, "tab-lint", "Lint"),
    (Tab::Consent, Key::Num7, "tab-consent", "Consent"),
];

impl Inspector {
    /// Shows what `watch` follows.
    pub fn new(watch: Watch) -> Self {
        Self {
            watch: Arc::new(watch),
            filter: Filter::All,
            search: String::new(),
            closed: HashSet::new(),
            rows: Vec::new(),
            made_from: None,
            closings: 0,
            follow: false,
            hovered: None,
            walked: None,
            highlighted: None,
            unexposed: false,
            picking: false,
            picked: None,
            tab: Tab::Agents,
            shown: view::Shown::default(),
        }
    }

    /// Searches the tree for these words.
    pub fn search(&mut self, words: impl Into<String>) {
        self.search = words.into();
    }

    /// How many rows the tree has.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many pictures of the app were taken.
    pub fn pictures(&self) -> u64 {
        self.watch.seen().pictures
    }

    /// Draws it. On the UI thread, once a pass.
    pub fn ui(&mut self, ui: &mut Ui) {
        ui.agent_window(Tag::id("inspector").label("Inspector"));
        pane::turn(ui.ctx());
        let watch = self.watch.clone();
        // Only while this is drawn: the thread that follows the app never holds it for long.
        let seen = watch.seen();
        let mut asks = Asks::default();
        let hovered = self.hovered.take();
        if seen.picked != self.picked {
            self.picked = seen.picked;
            if self.picking && seen.picked.is_some() {
                asks.select = seen.picked;
            }
        }
        refresh(
            &seen,
            (self.filter, &self.search, &self.closed, self.closings),
            &mut self.made_from,
            &mut self.rows,
        );
        let mut parts = Parts {
            seen: &seen,
            hovered,
            now: None,
        };
        Panel::top("bar").show(ui, |ui| self.bar(ui, &seen, &mut asks));
        Panel::bottom("log")
            .resizable(true)
            .default_size(120.0)
            .show(ui, |ui| {
                Pane::Log.begin(ui);
                log::show(ui, &seen);
            });
        Panel::left("tree")
            .resizable(true)
            .default_size(360.0)
            .show(ui, |ui| self.tree(ui, &mut parts, &mut asks));
        Panel::right("details")
            .resizable(true)
            .default_size(330.0)
            .show(ui, |ui| self.details(ui, &seen, &mut asks));
        CentralPanel::default().show(ui, |ui| {
            view::show(ui, &mut self.shown, &mut parts, &mut asks);
        });
        let now = parts.now;
        drop(seen);
        self.do_asks(asks, now);
    }

    fn bar(&mut self, ui: &mut Ui, seen: &Seen, asks: &mut Asks) {
        ui.horizontal_wrapped(|ui| {
            let search = TextEdit::singleline(&mut self.search)
                .id(Pane::Search.id())
                .hint_text("Search: name, id, role, class (Ctrl+F)")
                .desired_width(230.0);
            let search = ui.add(search.agent(Tag::id("search").label("Search")));
            if ui.input_mut(|input| input.consume_shortcut(&SEARCH)) {
                search.request_focus();
            }
            if search.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
                asks.select = self.rows.iter().find(|row| row.found).map(|row| row.node);
                self.walked = asks.select;
                Pane::Tree.enter(ui.ctx());
            }
            for (filter, key, id, name) in FILTERS {
                let shortcut = KeyboardShortcut::new(Modifiers::COMMAND, key);
                let pressed = ui.input_mut(|input| input.consume_shortcut(&shortcut));
                let radio = egui::RadioButton::new(self.filter == filter, name);
                if ui.add(radio.agent_id(id)).clicked() || pressed {
                    self.filter = filter;
                }
            }
            ui.separator();
            let pick = egui::Checkbox::new(&mut self.picking, "Pick in the app");
            if ui.add(pick.agent_id("pick")).changed() {
                asks.pick = Some(self.picking);
            }
            let unexposed = egui::Checkbox::new(&mut self.unexposed, "Black out unexposed");
            let changed = ui.add(unexposed.agent_id("black-out")).changed();
            let again = egui::Button::new("New picture (F5)").agent_id("take-picture");
            let pressed = ui.input_mut(|input| input.consume_shortcut(&PICTURE));
            if ui.add(again).clicked() || pressed || changed {
                asks.picture = Some(self.unexposed);
            }
            ui.separator();
            let nodes = seen.tree.len();
            let status = match (seen.connected, seen.tree.told()) {
                (false, _) => seen.status.clone(),
                (true, Told::Whole) => format!("{}: {nodes} nodes", seen.status),
                (true, Told::Part) => format!("{}: {nodes} nodes, more to come", seen.status),
                (true, Told::Cut) => format!(
                    "{}: the first {nodes} nodes; there are more than can be shown",
                    seen.status
                ),
            };
            ui.agent(Tag::id("status").role(Role::Status), |ui| ui.label(status));
        });
    }

    fn tree(&mut self, ui: &mut Ui, parts: &mut Parts<'_>, asks: &mut Asks) {
        Pane::Tree.begin(ui);
        let moved = list::keys(ui, &self.rows, parts.seen);
        if let Some(turned) = moved.turned {
            self.turn(turned);
        }
        if moved.select.is_some() {
            asks.select = moved.select;
            self.walked = moved.select;
        }
        let follow = std::mem::take(&mut self.follow);
        if let Some(turned) = list::show(ui, &self.rows, parts, asks, follow) {
            self.turn(turned);
        }
    }

    /// Opens a node, or closes it.
    fn turn(&mut self, node: u64) {
        if !self.closed.remove(&node) {
            self.closed.insert(node);
        }
        self.closings += 1;
    }

    fn details(&mut self, ui: &mut Ui, seen: &Seen, asks: &mut Asks) {
        ui.horizontal_wrapped(|ui| {
            for (tab, key, id, name) in TABS {
                let name = match tab {
                    Tab::Lint if !seen.findings.is_empty() => {
                        let more = if seen.more_findings { "+" } else { "" };
                        format!("{name} ({}{more})", seen.findings.len())
                    }
                    _ => name.to_owned(),
                };
                let shortcut = KeyboardShortcut::new(Modifiers::COMMAND, key);
                let pressed = ui.input_mut(|input| input.consume_shortcut(&shortcut));
                let button = egui::Button::selectable(self.tab == tab, RichText::new(name));
                let clicked = ui.add(button.agent(Tag::id(id).role(Role::Tab))).clicked();
                if clicked || pressed {
                    self.tab = tab;
                }
            }
        });
        ui.separator();
        Pane::Details.begin(ui);
        match self.tab {
            Tab::Agents => details::agents(ui, seen, asks),
            Tab::Properties => details::properties(ui, seen),
            Tab::Lint => details::lint(ui, seen, asks),
            Tab::Consent => consent::show(ui, seen),
        }
    }

    fn do_asks(&mut self, asks: Asks, hovered: Option<u64>) {
        if let Some(node) = asks.select {
            self.watch.select(Some(node));
            self.open_to(node);
            self.follow = true;
        }
        if let Some(unexposed) = asks.picture {
            self.watch.take_picture(unexposed);
        }
        if let Some(picking) = asks.pick {
            self.watch.pick(picking);
        }
        self.hovered = hovered;
        if hovered.is_some() {
            self.walked = None;
        }
        let marked = hovered.or(self.walked);
        if self.highlighted != marked {
            self.highlighted = marked;
            self.watch.highlight(marked);
        }
    }

    /// Opens what a node is in, so that it has a row.
    fn open_to(&mut self, node: u64) {
        let seen = self.watch.seen();
        let around: Vec<u64> = seen.tree.around(node).map(|node| node.node).collect();
        drop(seen);
        for node in around {
            if self.closed.remove(&node) {
                self.closings += 1;
            }
        }
    }
}

/// What the window asks for in a pass.
#[derive(Default)]
struct Asks {
    select: Option<u64>,
    picture: Option<bool>,
    pick: Option<bool>,
}

/// What the tree and the picture have in common.
struct Parts<'a> {
    seen: &'a Seen,
    /// Under the pointer in the last pass.
    hovered: Option<u64>,
    /// And in this one.
    now: Option<u64>,
}

/// Makes the rows anew, if anything that they are made from has moved.
fn refresh(
    seen: &Seen,
    (filter, search, closed, closings): (Filter, &str, &HashSet<u64>, usize),
    made_from: &mut Option<(u64, Filter, String, usize)>,
    rows: &mut Vec<Row>,
) {
    let now = (seen.tree.changes(), filter, search.to_owned(), closings);
    if made_from.as_ref() != Some(&now) {
        *rows = seen.tree.rows(filter, search, closed);
        *made_from = Some(now);
    }
}

/// Lets agents look at the inspector's own window, as far as `gate` does.
///
/// # Errors
/// If there is no place to serve it at.
pub fn serve(ctx: &Context, gate: AuthGate) -> Result<Surface, ServeError> {
    Surface::builder("agent-inspector")
        .name("Inspector")
        .gate(gate)
        .egui(ctx)
        .serve()
}
