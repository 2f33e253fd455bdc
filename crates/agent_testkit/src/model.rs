//! A user interface as plain data, for toolkits that draw one anew in each frame: the fixture
//! draws the model, and handlers and the app's own effects change it.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    case::{Effect, Held, Kind, Node, Property},
    control::Counters,
};

/// A node of a [`Model`], never given to another one.
pub type Key = u64;

/// Which handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the keys of a node in a case file, and called as they are"
)]
pub enum On {
    Click,
    Change,
    Submit,
}

/// One node, as it is now.
#[derive(Clone, Debug)]
pub struct Item {
    /// As the case describes it; what can change is kept beside it.
    pub node: Node,
    /// What is around it; `None` for a window.
    pub parent: Option<Key>,
    /// What is directly inside it.
    pub children: Vec<Key>,
    /// Its caption, its title, or what was typed into it.
    pub text: String,
    /// Its accessible name, where that is not its text.
    pub label: String,
    /// Its number.
    pub number: f64,
    /// Whether it is on.
    pub checked: bool,
    /// Whether it is the chosen one.
    pub selected: bool,
    /// Whether it takes input.
    pub enabled: bool,
    /// Whether it is shown.
    pub visible: bool,
    /// Of a lazy list: the number of the row that is selected.
    pub selected_row: Option<u64>,
    /// Of a dialog that blocks: the window that it was opened over.
    pub blocks: Option<Key>,
}

/// Windows, and what is in them.
#[derive(Debug, Default)]
pub struct Model {
    items: BTreeMap<Key, Item>,
    /// Those that block a window among them, in the order in which they opened.
    windows: Vec<Key>,
    last: Key,
    counters: Counters,
}

impl Model {
    /// With these windows open.
    pub fn new(windows: &[Node], counters: Counters) -> Self {
        let mut model = Self {
            counters,
            ..Self::default()
        };
        for window in windows {
            model.open(window, None);
        }
        model
    }

    /// The windows and dialogs that block nothing, in the order in which they opened.
    pub fn windows(&self) -> Vec<Key> {
        let blocks = |key: &Key| self.get(*key).is_some_and(|item| item.blocks.is_some());
        self.windows
            .iter()
            .copied()
            .filter(|it| !blocks(it))
            .collect()
    }

    /// The dialogs that block a window, the topmost last.
    pub fn modals_of(&self, window: Key) -> Vec<Key> {
        let of = |key: &Key| {
            self.get(*key)
                .is_some_and(|item| item.blocks == Some(window))
        };
        self.windows.iter().copied().filter(of).collect()
    }

    /// A node that is there.
    pub fn get(&self, key: Key) -> Option<&Item> {
        self.items.get(&key)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut Item> {
        self.items.get_mut(&key)
    }

    /// A node by its id or its `ref`: the first of several.
    ///
    /// # Errors
    /// If there is none now.
    pub fn find(&self, name: &str) -> Result<Key, String> {
        let is = |given: &Option<String>| given.as_deref() == Some(name);
        let found = self
            .items
            .iter()
            .find(|(_, item)| is(&item.node.reference) || is(&item.node.id));
        found
            .map(|(key, _)| *key)
            .ok_or_else(|| format!("there is no node {name:?} now"))
    }

    /// The window that a node is in; for what is in a dialog that blocks one, that one.
    pub fn window_of(&self, key: Key) -> Option<Key> {
        let mut at = key;
        while let Some(around) = self.get(at)?.parent.or(self.get(at)?.blocks) {
            at = around;
        }
        Some(at)
    }

    fn open(&mut self, node: &Node, blocks: Option<Key>) {
        let key = self.plant(node, None, 0);
        if let Some(item) = self.get_mut(key) {
            item.blocks = blocks;
        }
        self.windows.push(key);
    }

    fn plant(&mut self, node: &Node, parent: Option<Key>, at: usize) -> Key {
        self.last += 1;
        let key = self.last;
        let holds_text = node.kind.is_field();
        let item = Item {
            parent,
            children: Vec::new(),
            text: if holds_text {
                node.held_text()
            } else {
                node.caption().to_owned()
            },
            label: node.label.clone(),
            number: node.held_number(),
            checked: node.checked.unwrap_or(false),
            selected: node.selected,
            enabled: node.enabled,
            visible: node.visible,
            selected_row: None,
            blocks: None,
            node: Node {
                children: Vec::new(),
                ..node.clone()
            },
        };
        self.items.insert(key, item);
        if let Some(around) = parent.and_then(|parent| self.get_mut(parent)) {
            let at = at.min(around.children.len());
            around.children.insert(at, key);
        }
        for (n, child) in node.children.iter().enumerate() {
            self.plant(child, Some(key), n);
        }
        key
    }

    fn unlink(&mut self, key: Key) {
        self.windows.retain(|window| *window != key);
        let parent = self.get(key).and_then(|item| item.parent);
        if let Some(around) = parent.and_then(|parent| self.get_mut(parent)) {
            around.children.retain(|child| *child != key);
        }
    }

    /// Removes a node and everything inside it, or closes a window.
    pub fn remove(&mut self, key: Key) {
        self.unlink(key);
        let mut open = vec![key];
        while let Some(key) = open.pop() {
            if let Some(item) = self.items.remove(&key) {
                open.extend(item.children);
            }
            // What was opened over it goes with it.
            let over = self.modals_of(key);
            self.windows.retain(|window| !over.contains(window));
            open.extend(over);
        }
    }

    /// What `key` is chosen from: the list, tabs, combo box, tree or table around it, else
    /// what it is in.
    pub fn list_of(&self, key: Key) -> Option<Key> {
        let parent = self.get(key)?.parent;
        let mut at = parent;
        while let Some(around) = at {
            let item = self.get(around)?;
            if matches!(
                item.node.kind,
                Kind::List | Kind::Tabs | Kind::Combo | Kind::Tree | Kind::Table
            ) {
                return Some(around);
            }
            at = item.parent;
        }
        parent
    }

    /// Makes it the only one of its list that is selected; `false` if it is already.
    pub fn select(&mut self, key: Key) -> bool {
        if self.get(key).is_none_or(|item| item.selected) {
            return false;
        }
        let list = self.list_of(key);
        let others: Vec<Key> = self
            .items
            .keys()
            .copied()
            .filter(|other| self.get(*other).is_some_and(|item| item.selected))
            .filter(|other| self.list_of(*other) == list)
            .collect();
        for other in others {
            if let Some(item) = self.get_mut(other) {
                item.selected = false;
            }
        }
        if let Some(item) = self.get_mut(key) {
            item.selected = true;
        }
        true
    }

    /// Puts a radio button on, and the others of its parent off; `false` if it is already.
    pub fn light(&mut self, key: Key) -> bool {
        let Some(item) = self.get(key).filter(|item| !item.checked) else {
            return false;
        };
        let siblings = item
            .parent
            .and_then(|parent| self.get(parent))
            .map(|around| around.children.clone())
            .unwrap_or_default();
        for sibling in siblings {
            if let Some(item) = self.get_mut(sibling)
                && item.node.kind == Kind::Radio
            {
                item.checked = sibling == key;
            }
        }
        if let Some(item) = self.get_mut(key) {
            item.checked = true;
        }
        true
    }

    /// Runs a node's handler.
    pub fn run(&mut self, key: Key, on: On) {
        let effects = self.get(key).map(|item| match on {
            On::Click => item.node.on_click.clone(),
            On::Change => item.node.on_change.clone(),
            On::Submit => item.node.on_submit.clone(),
        });
        if let Err(why) = self.apply(&effects.unwrap_or_default(), Some(key)) {
            fail(&why);
        }
    }

    /// Runs effects; `from` is the node whose window a modal blocks, else the first window's.
    ///
    /// # Errors
    /// If a node that they name isn't there.
    pub fn apply(&mut self, effects: &[Effect], from: Option<Key>) -> Result<(), String> {
        for effect in effects {
            match effect {
                Effect::Set { node, to } => {
                    let key = self.find(node)?;
                    self.set(key, to);
                }
                Effect::Add { parent, at, nodes } => {
                    let parent = self.find(parent)?;
                    for (n, node) in nodes.iter().enumerate() {
                        let at = at.map_or(usize::MAX, |at| at + n);
                        self.plant(node, Some(parent), at);
                    }
                }
                Effect::Remove(node) | Effect::Close(node) => {
                    let key = self.find(node)?;
                    self.remove(key);
                }
                Effect::Move { node, parent, at } => {
                    let (key, parent) = (self.find(node)?, self.find(parent)?);
                    self.unlink(key);
                    if let Some(around) = self.get_mut(parent) {
                        let at = (*at).min(around.children.len());
                        around.children.insert(at, key);
                    }
                    if let Some(item) = self.get_mut(key) {
                        item.parent = Some(parent);
                    }
                }
                Effect::Open(window) => self.open(window, None),
                Effect::Modal(window) => {
                    let opener = match from {
                        Some(key) => self.window_of(key),
                        None => self.windows().first().copied(),
                    };
                    let opener = opener.ok_or("there is no window that a modal could block")?;
                    self.open(window, Some(opener));
                }
                Effect::Block(ms) => std::thread::sleep(Duration::from_millis(*ms)),
                Effect::Panic(text) => fail(text),
                Effect::Count(counter) => self.counters.add(counter),
            }
        }
        Ok(())
    }

    fn set(&mut self, key: Key, to: &Property) {
        if *to == Property::Checked(true)
            && self
                .get(key)
                .is_some_and(|item| item.node.kind == Kind::Radio)
        {
            self.light(key);
        }
        let Some(item) = self.get_mut(key) else {
            return;
        };
        match to {
            Property::Text(text) => item.text.clone_from(text),
            Property::Value(Held::Number(number)) if item.node.kind.is_number() => {
                item.number = *number;
            }
            Property::Value(Held::Number(number)) => item.text = number.to_string(),
            Property::Value(Held::Text(text)) if item.node.kind.is_number() => {
                item.number = text.trim().parse().unwrap_or(item.number);
            }
            Property::Value(Held::Text(text)) => item.text.clone_from(text),
            Property::Checked(to) => item.checked = *to,
            Property::Enabled(to) => item.enabled = *to,
            Property::Visible(to) => item.visible = *to,
            Property::Name(name) => item.label.clone_from(name),
        }
    }

    /// Everything, exposed or not, a line each; `more` adds what the fixture knows of a node.
    pub fn dump(&self, more: impl Fn(Key) -> String) -> String {
        let mut lines = String::new();
        let mut open: Vec<(usize, Key)> = self.windows.iter().map(|key| (0, *key)).collect();
        open.reverse();
        while let Some((depth, key)) = open.pop() {
            let Some(item) = self.get(key) else { continue };
            let node = &item.node;
            lines += &"  ".repeat(depth);
            lines += node.kind.word();
            match (&node.id, &node.key, &node.reference) {
                (Some(id), _, _) => lines += &format!(" [{id}]"),
                (_, Some(key), _) => lines += &format!(" [/{key}]"),
                (_, _, Some(reference)) => lines += &format!(" ({reference})"),
                _ => {}
            }
            if !item.label.is_empty() {
                lines += &format!(" {:?}", item.label);
            }
            if !item.text.is_empty() {
                lines += &format!(" ={:?}", crate::json::cut(&item.text, 80));
            }
            if node.kind.is_number() {
                lines += &format!(" ={}", item.number);
            }
            for (word, holds) in [
                ("checked", item.checked),
                ("selected", item.selected),
                ("disabled", !item.enabled),
                ("hidden", !item.visible),
                ("modal", item.blocks.is_some()),
            ] {
                if holds {
                    lines += " ";
                    lines += word;
                }
            }
            lines += &more(key);
            lines += "\n";
            open.extend(item.children.iter().rev().map(|child| (depth + 1, *child)));
        }
        lines
    }
}

#[allow(clippy::panic, reason = "a case asks for a handler that fails")]
fn fail(why: &str) -> ! {
    panic!("{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn model(windows: &str, effects: &str) -> Result<Model, String> {
        let text = format!(
            r#"{{"name":"n","from":"f","ui":{{"windows":{windows}}},"steps":[{{"app":{{"effects":{effects}}}}}]}}"#
        );
        let file = std::path::Path::new("act/a.case.json");
        let case: Case = crate::case::parse(file, &text).unwrap();
        let mut model = Model::new(&case.windows, Counters::default());
        for step in &case.steps {
            if let crate::case::What::App(app) = &step.what {
                model.apply(&app.effects, None)?;
            }
        }
        Ok(model)
    }

    const UI: &str = r#"[{"id":"main","children":[
        {"kind":"group","id":"g","children":[{"kind":"label","id":"a","text":"A"},{"kind":"label","id":"b","text":"B"}]},
        {"kind":"radio","id":"r","text":"R","checked":true},{"kind":"radio","id":"s","text":"S"}]}]"#;

    #[test]
    fn effects_change_what_they_name() {
        for (effects, expected) in [
            (
                r#"[{"remove":{"node":"a"}}]"#,
                "window [main]\n  group [g]\n    label [b] =\"B\"\n",
            ),
            (
                r#"[{"move":{"node":"b","parent":"g","at":0}}]"#,
                "window [main]\n  group [g]\n    label [b] =\"B\"\n    label [a] =\"A\"\n",
            ),
            (
                r#"[{"add":{"parent":"g","at":1,"node":{"kind":"button","id":"x{n}","text":"{n}","times":2}}}]"#,
                "window [main]\n  group [g]\n    label [a] =\"A\"\n    button [x1] =\"1\"\n    button [x2] =\"2\"\n",
            ),
            (
                r#"[{"set":{"node":"a","text":"Z"}},{"set":{"node":"b","visible":false}}]"#,
                "window [main]\n  group [g]\n    label [a] =\"Z\"\n    label [b] =\"B\" hidden\n",
            ),
        ] {
            let dump = model(UI, effects).unwrap().dump(|_| String::new());
            assert!(dump.starts_with(expected), "{effects}\n{dump}");
        }
        let dump = model(UI, r#"[{"set":{"node":"s","checked":true}}]"#).unwrap();
        let dump = dump.dump(|_| String::new());
        assert!(
            dump.ends_with("  radio [r] =\"R\"\n  radio [s] =\"S\" checked\n"),
            "{dump}"
        );
    }

    #[test]
    fn a_modal_goes_with_its_window_and_a_node_that_is_gone_is_an_error() {
        let effects = r#"[{"modal":{"kind":"dialog","id":"d"}},{"remove":{"node":"main"}}]"#;
        let model_after = model(UI, effects).unwrap();
        assert_eq!(model_after.windows().len(), 0);
        assert!(model_after.find("d").is_err());
        let twice = r#"[{"remove":{"node":"a"}},{"remove":{"node":"a"}}]"#;
        assert!(model(UI, twice).unwrap_err().contains("\"a\""));
    }
}
