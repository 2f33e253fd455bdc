//! What is served must equal what the app is.
//!
//! Random apps are drawn from a model and edited at random. What an agent must be told, and what
//! must become of its actions, is worked out from the model alone, from the protocol's text,
//! and shares nothing with the rules' code. Oracles with one rule broken are kept, to show that
//! the comparison would find it.

use std::collections::BTreeMap;

use agent_core::{Action, Answer, Call, Describe, Include, Refusal, Role, Tag, VerbSet};
use agent_egui::{AgentResponse as _, AgentUi as _, AgentWidget as _};
use egui::{Id, TextEdit, Ui};

use crate::driver::{Driver, target};

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Button,
    Field,
    Password,
    Check,
    Label,
    Group,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Named {
    Not,
    Id(usize),
    Key(usize),
}

/// One widget of the app.
#[derive(Clone, Debug)]
struct Spec {
    /// What its clicks are counted by.
    number: usize,
    kind: Kind,
    named: Named,
    kept_back: bool,
    /// Of `click`, `set_text`: what its own tag allows.
    ceiling: Option<[bool; 2]>,
    secret: bool,
    excluded: bool,
    /// Before it is added, round a closure, on the response.
    spelling: usize,
    text: String,
    checked: bool,
    enabled: bool,
    visible: bool,
    inside: Vec<Spec>,
}

#[derive(Default)]
struct Model {
    widgets: Vec<Spec>,
    /// Untagged labels before everything else, which shift all automatic ids.
    banner: usize,
    /// A dialog with one button, over everything else.
    modal: bool,
    clicks: BTreeMap<usize, usize>,
}

/// The button in the dialog.
const YES: usize = 1_000_000;

const WORDS: &[&str] = &["", "Save", "Ada Lovelace", "größe", "\u{202e}x"];

fn spec(dice: &mut Dice, depth: usize, next: &mut usize) -> Spec {
    *next += 1;
    let kind = match dice.below(if depth < 2 { 9 } else { 6 }) {
        0 | 1 => Kind::Button,
        2 => Kind::Field,
        3 => Kind::Password,
        4 => Kind::Check,
        5 => Kind::Label,
        _ => Kind::Group,
    };
    let named = match dice.below(8) {
        0 => Named::Not,
        1 | 2 => Named::Key(dice.below(4)),
        // Few enough for two of them to meet.
        _ => Named::Id(dice.below(20)),
    };
    let number = *next;
    let inside = match kind {
        Kind::Group => (0..dice.below(4))
            .map(|_| spec(dice, depth + 1, next))
            .collect(),
        _ => Vec::new(),
    };
    Spec {
        number,
        kind,
        named,
        kept_back: dice.once_in(8),
        ceiling: dice.once_in(4).then(|| [dice.once_in(2), dice.once_in(2)]),
        secret: dice.once_in(10),
        excluded: dice.once_in(12),
        spelling: dice.below(3),
        text: WORDS[dice.below(WORDS.len())].to_owned(),
        checked: dice.once_in(2),
        enabled: !dice.once_in(5),
        visible: !dice.once_in(6),
        inside,
    }
}

impl Spec {
    fn tag(&self) -> Tag {
        let mut tag = match self.named {
            Named::Not => Tag::new(),
            Named::Id(id) => Tag::id(format!("id{id}")),
            Named::Key(key) => Tag::key(format!("key {key}")),
        };
        if let Some([click, set_text]) = self.ceiling {
            let mut verbs = VerbSet::empty();
            verbs.set(VerbSet::Click, click);
            verbs.set(VerbSet::SetText, set_text);
            tag = tag.ceiling(verbs);
        }
        if self.kept_back {
            tag = tag.exposed(false);
        }
        if self.secret {
            tag = tag.secret();
        }
        if self.excluded {
            tag = tag.excluded();
        }
        tag
    }

    /// A tag on a response says an id and no more.
    fn is_chained(&self) -> bool {
        self.spelling == 2
            && matches!(self.kind, Kind::Button | Kind::Label)
            && matches!(self.named, Named::Id(_))
            && !(self.kept_back || self.secret || self.excluded || self.ceiling.is_some())
    }
}

fn draw(ui: &mut Ui, model: &mut Model) {
    ui.agent_window("main");
    for _ in 0..model.banner {
        ui.label("what shifts");
    }
    let mut widgets = std::mem::take(&mut model.widgets);
    for widget in &mut widgets {
        draw_one(ui, widget, &mut model.clicks);
    }
    model.widgets = widgets;
    if model.modal {
        let dialog = Tag::id("dialog").role(Role::Dialog).label("Sure?");
        ui.agent(dialog, |ui| {
            let shown = egui::Modal::new(Id::unique("modal")).show(ui.ctx(), |ui| {
                if ui.add(egui::Button::new("Yes").agent_id("yes")).clicked() {
                    *model.clicks.entry(YES).or_default() += 1;
                }
            });
            shown.response
        });
    }
}

fn draw_one(ui: &mut Ui, spec: &mut Spec, clicks: &mut BTreeMap<usize, usize>) {
    ui.scope(|ui| {
        if !spec.enabled {
            ui.disable();
        }
        if !spec.visible {
            ui.set_invisible();
        }
        let (tag, chained) = (spec.tag(), spec.is_chained());
        let clicked = match spec.kind {
            Kind::Button if chained => {
                let Named::Id(id) = spec.named else { return };
                ui.button(&spec.text).agent_id(format!("id{id}")).clicked()
            }
            Kind::Button if spec.spelling == 1 => {
                ui.agent(tag, |ui| ui.button(&spec.text)).clicked()
            }
            Kind::Button => ui.add(egui::Button::new(&spec.text).agent(tag)).clicked(),
            Kind::Label if chained => {
                let Named::Id(id) = spec.named else { return };
                ui.label(&spec.text).agent_id(format!("id{id}"));
                false
            }
            Kind::Label => {
                ui.agent(tag, |ui| ui.label(&spec.text));
                false
            }
            Kind::Check if spec.spelling == 1 => ui
                .agent(tag, |ui| ui.checkbox(&mut spec.checked, &spec.text))
                .clicked(),
            Kind::Check => ui
                .add(egui::Checkbox::new(&mut spec.checked, &spec.text).agent(tag))
                .clicked(),
            Kind::Field | Kind::Password => {
                let field = TextEdit::singleline(&mut spec.text);
                ui.add(field.password(spec.kind == Kind::Password).agent(tag));
                false
            }
            Kind::Group => {
                ui.agent_tagged(tag, |ui| {
                    for inside in &mut spec.inside {
                        draw_one(ui, inside, clicks);
                    }
                });
                false
            }
        };
        if clicked {
            *clicks.entry(spec.number).or_default() += 1;
        }
    });
}

/// What is broken in the oracle on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Broken {
    Nothing,
    CeilingsWiden,
    ExclusionStaysOutside,
    HiddenIsShown,
    FirstOfTwoWins,
    SecretIsTold,
    DisabledStaysOutside,
    KeptBackClaims,
    ModalBlocksNothing,
    RowsHangOnTheWindow,
}

const BROKEN: [Broken; 9] = [
    Broken::CeilingsWiden,
    Broken::ExclusionStaysOutside,
    Broken::HiddenIsShown,
    Broken::FirstOfTwoWins,
    Broken::SecretIsTold,
    Broken::DisabledStaysOutside,
    Broken::KeptBackClaims,
    Broken::ModalBlocksNothing,
    Broken::RowsHangOnTheWindow,
];

/// An exposed node, by the model.
#[derive(Clone, Debug)]
struct Seen {
    number: usize,
    id: String,
    role: &'static str,
    name: String,
    /// What `get_text` gives, where there is text and it is no secret.
    text: Option<String>,
    has_text: bool,
    is_field: bool,
    parent: String,
    /// Of `click`, `set_text`.
    offers: [bool; 2],
    ceiling: [bool; 2],
    hidden: bool,
    disabled: bool,
    secret: bool,
    checked: bool,
    duplicate: bool,
    blocked: bool,
}

#[derive(Clone)]
struct Above {
    around: String,
    ceiling: [bool; 2],
    secret: bool,
    excluded: bool,
    hidden: bool,
    disabled: bool,
}

fn seen(model: &Model, broken: Broken) -> Vec<Seen> {
    let mut all = Vec::new();
    let above = Above {
        around: "main".into(),
        ceiling: [true, true],
        secret: false,
        excluded: false,
        hidden: false,
        disabled: false,
    };
    for spec in &model.widgets {
        look(spec, &above, broken, &mut all);
    }
    let blocked = model.modal && broken != Broken::ModalBlocksNothing;
    for seen in &mut all {
        seen.blocked = blocked;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seen in &all {
        *counts.entry(seen.id.clone()).or_default() += 1;
    }
    let mut met = Vec::new();
    for seen in &mut all {
        let first = !met.contains(&seen.id);
        met.push(seen.id.clone());
        seen.duplicate = counts[&seen.id] > 1 && !(first && broken == Broken::FirstOfTwoWins);
    }
    all
}

fn look(spec: &Spec, above: &Above, broken: Broken, all: &mut Vec<Seen>) {
    let mut here = above.clone();
    if let Some(own) = spec.ceiling {
        here.ceiling = match broken {
            Broken::CeilingsWiden => own,
            _ => [above.ceiling[0] && own[0], above.ceiling[1] && own[1]],
        };
    }
    here.secret |= spec.secret;
    here.excluded |= spec.excluded;
    here.hidden |= !spec.visible;
    here.disabled |= !spec.enabled;
    let id = match spec.named {
        _ if spec.kept_back && broken != Broken::KeptBackClaims => None,
        _ if here.excluded => None,
        Named::Not => None,
        Named::Id(id) => Some(format!("id{id}")),
        Named::Key(key) if broken == Broken::RowsHangOnTheWindow => {
            Some(format!("main/key%20{key}"))
        }
        Named::Key(key) => Some(format!("{}/key%20{key}", above.around)),
    };
    let below = Above {
        around: id.clone().unwrap_or(above.around.clone()),
        excluded: here.excluded && broken != Broken::ExclusionStaysOutside,
        disabled: here.disabled && broken != Broken::DisabledStaysOutside,
        ..here.clone()
    };
    if let Some(id) = id {
        let is_field = matches!(spec.kind, Kind::Field | Kind::Password);
        let secret = here.secret || spec.kind == Kind::Password;
        let told = !secret || broken == Broken::SecretIsTold;
        let captioned = matches!(spec.kind, Kind::Button | Kind::Check | Kind::Label);
        all.push(Seen {
            number: spec.number,
            id,
            role: match spec.kind {
                Kind::Button => "button",
                Kind::Field | Kind::Password => "textbox",
                Kind::Check => "checkbox",
                Kind::Label => "text",
                Kind::Group => "group",
            },
            name: if captioned && told {
                spec.text.clone()
            } else {
                String::new()
            },
            // An empty caption is none to egui.
            has_text: is_field || captioned && !spec.text.is_empty(),
            text: told.then(|| spec.text.clone()),
            is_field,
            parent: above.around.clone(),
            offers: [matches!(spec.kind, Kind::Button | Kind::Check), is_field],
            ceiling: here.ceiling,
            hidden: here.hidden && broken != Broken::HiddenIsShown,
            disabled: here.disabled,
            secret,
            checked: spec.kind == Kind::Check && spec.checked,
            duplicate: false,
            blocked: false,
        });
    }
    for inside in &spec.inside {
        look(inside, &below, broken, all);
    }
}

impl Seen {
    fn line(&self) -> String {
        let may = |verb: usize| self.offers[verb] && self.ceiling[verb];
        let acts = (may(0) || may(1)) && !(self.disabled || self.blocked || self.duplicate);
        let mut line = format!(
            "{} < {} {} {:?}",
            self.id, self.parent, self.role, self.name
        );
        if let (true, Some(text)) = (self.is_field, &self.text) {
            line += &format!(" ={text:?}");
        }
        for (is, word) in [
            (acts, "actionable"),
            (self.disabled, "disabled"),
            (self.checked, "checked"),
            (self.secret, "secret"),
            (self.blocked, "blocked"),
            (self.duplicate, "duplicate"),
        ] {
            if is {
                line += " ";
                line += word;
            }
        }
        line
    }

    /// What becomes of a click on it.
    fn clicked(&self) -> &'static str {
        // What a widget that is not shown would offer is not asked.
        match () {
            () if self.hidden => "hidden",
            () if !self.offers[0] => "not_offered",
            () if !self.ceiling[0] => "ceiling",
            () if self.blocked => "blocked_by_modal",
            () if self.disabled => "disabled",
            () => "allowed",
        }
    }
}

fn described(driver: &mut Driver<Model>) -> Vec<String> {
    let include = Include {
        value: true,
        state: true,
        ..Include::default()
    };
    let description = driver.describe(Describe {
        include,
        ..Describe::default()
    });
    assert!(description.complete);
    let words = ["disabled", "checked", "secret", "blocked", "duplicate"];
    let nodes = &description.nodes;
    nodes
        .iter()
        .filter(|node| !["main", "dialog", "yes"].contains(&&*node.id))
        .map(|node| {
            let parent = node.parent.map_or("", |at| &*nodes[at].id);
            let (id, role, name) = (&node.id, node.role.word(), &node.name);
            let mut line = format!("{id} < {parent} {role} {name:?}");
            if let Some(value) = &node.value {
                line += &format!(" ={value:?}");
            }
            if node.actionable {
                line += " actionable";
            }
            let states: Vec<&str> = node.states.words().collect();
            for word in words {
                if states.contains(&word) {
                    line += " ";
                    line += word;
                }
            }
            line
        })
        .collect()
}

fn outcome(answer: &Answer) -> &'static str {
    match answer {
        Answer::Acted(_) => "allowed",
        Answer::Refused(Refusal::NotFound) => "not_found",
        Answer::Refused(Refusal::Ambiguous) => "ambiguous",
        Answer::Refused(Refusal::NotActionable { why, .. }) => why.word(),
        _ => "another answer",
    }
}

fn claimants<'a>(seen: &'a [Seen], id: &str) -> Vec<&'a Seen> {
    seen.iter().filter(|seen| seen.id == id).collect()
}

/// Compares everything that is served with the model.
fn compare(driver: &mut Driver<Model>, dice: &mut Dice, broken: Broken) -> Result<(), String> {
    let expected = seen(&driver.state, broken);
    let shown = expected.iter().filter(|seen| !seen.hidden);
    let expected_lines: Vec<String> = shown.map(Seen::line).collect();
    let told = described(driver);
    if told != expected_lines {
        return Err(format!(
            "described\n{told:#?}\nexpected\n{expected_lines:#?}"
        ));
    }
    let id = match dice.below(8) {
        0 => "yes".to_owned(),
        _ => match expected.get(dice.below(expected.len().max(1))) {
            Some(seen) if !dice.once_in(4) => seen.id.clone(),
            _ => format!("id{}", dice.below(20)),
        },
    };
    let before = driver.state.clicks.clone();
    let mut after = before.clone();
    let claim = claimants(&expected, &id);
    let (click, number) = match &claim[..] {
        _ if id == "yes" && driver.state.modal => ("allowed", YES),
        [] => ("not_found", 0),
        [only] => (only.clicked(), only.number),
        [first, ..] if !first.duplicate => (first.clicked(), first.number),
        _ => ("ambiguous", 0),
    };
    if click == "allowed" {
        *after.entry(number).or_default() += 1;
    }
    let answer = driver.act(&id, Action::Click);
    if outcome(&answer) != click || driver.state.clicks != after {
        let clicks = &driver.state.clicks;
        return Err(format!(
            "click {id}: {answer:?} {clicks:?}\nexpected {click} {after:?}\n{expected:#?}"
        ));
    }
    // What it brought about is in the model by now.
    let expected = seen(&driver.state, broken);
    let claim = claimants(&expected, &id);
    if id == "yes" {
        return Ok(());
    }
    let read = driver.call(Call::GetText {
        target: target(&id),
        from: None,
        limit: None,
    });
    let told = match &read {
        Answer::Text(text) => format!("{:?} {:?}", text.text, text.length),
        other => outcome(other).to_owned(),
    };
    let text = |seen: &Seen| {
        let length = seen.text.as_ref().map(|text| text.chars().count() as u64);
        match () {
            () if seen.hidden => "hidden".to_owned(),
            () if !seen.has_text => "not_offered".to_owned(),
            () => format!("{:?} {:?}", seen.text, length),
        }
    };
    let expected_text = match &claim[..] {
        [] => "not_found".to_owned(),
        [only] => text(only),
        [first, ..] if !first.duplicate => text(first),
        _ => "ambiguous".to_owned(),
    };
    if told != expected_text {
        return Err(format!("get_text {id}: {told}, expected {expected_text}"));
    }
    Ok(())
}

fn pick<'a>(dice: &mut Dice, level: &'a mut Vec<Spec>) -> &'a mut Vec<Spec> {
    let groups: Vec<usize> = level
        .iter()
        .enumerate()
        .filter(|(_, spec)| spec.kind == Kind::Group)
        .map(|(at, _)| at)
        .collect();
    if groups.is_empty() || dice.once_in(2) {
        return level;
    }
    let at = groups[dice.below(groups.len())];
    pick(dice, &mut level[at].inside)
}

fn edit(dice: &mut Dice, model: &mut Model, next: &mut usize) {
    match dice.below(8) {
        0 => model.banner = dice.below(4),
        1 => model.modal = !model.modal,
        _ => {}
    }
    let level = pick(dice, &mut model.widgets);
    let at = dice.below(level.len() + 1);
    match dice.below(8) {
        0 => level.insert(at, spec(dice, 1, next)),
        1 if at < level.len() => drop(level.remove(at)),
        2 if at < level.len() => {
            let to = dice.below(level.len());
            level.swap(at, to);
        }
        change if at < level.len() => {
            let spec = &mut level[at];
            match change {
                3 => spec.enabled ^= true,
                4 => spec.visible ^= true,
                5 => spec.text = WORDS[dice.below(WORDS.len())].to_owned(),
                6 => spec.excluded ^= true,
                _ => spec.kept_back ^= true,
            }
        }
        _ => {}
    }
}

/// One app and what becomes of it, in a context that has drawn others before.
fn case(driver: &mut Driver<Model>, seed: u64, broken: Broken) -> Result<(), String> {
    let mut dice = Dice(seed);
    let mut next = 0;
    let mut model = Model::default();
    for _ in 0..2 + dice.below(5) {
        model.widgets.push(spec(&mut dice, 0, &mut next));
    }
    model.modal = dice.once_in(5);
    driver.state = model;
    driver.frame(vec![]);
    for step in 0..6 {
        // A modal blocks from the frame after the one that opens it.
        if driver.state.modal || dice.once_in(2) {
            driver.frame(vec![]);
            driver.frame(vec![]);
        }
        compare(driver, &mut dice, broken)
            .map_err(|difference| format!("seed {seed} step {step} {difference}"))?;
        let modal = driver.state.modal;
        edit(&mut dice, &mut driver.state, &mut next);
        if driver.state.modal != modal {
            driver.frame(vec![]);
            driver.frame(vec![]);
        }
    }
    Ok(())
}

#[test]
fn what_is_served_equals_the_model() {
    let mut driver = Driver::new(Model::default(), draw);
    for seed in 0..300 {
        case(&mut driver, seed, Broken::Nothing)
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn a_broken_oracle_is_found() {
    for broken in BROKEN {
        let mut driver = Driver::new(Model::default(), draw);
        let found = (0..300).any(|seed| case(&mut driver, seed, broken).is_err());
        assert!(found, "{broken:?} is not found");
    }
}
