//! What is told of the selected node.

use agent_surface::egui::{AgentUi as _, Role, Rows, Tag};
use agent_wire::inspector::{AgentView, Finding, Verdict};
use egui::{
    FontSelection, Link, RichText, ScrollArea, Sense, TextStyle, TextWrapMode, Ui, UiBuilder,
    text::{LayoutJob, TextWrapping},
    vec2,
};

use super::{Asks, list, pane::Pane};
use crate::watch::Seen;

/// Why agents see it or not, under which id, and what they may do.
pub(super) fn agents(ui: &mut Ui, seen: &Seen, asks: &mut Asks) {
    let area = Pane::Details.scroll(ui, ScrollArea::vertical().auto_shrink(false));
    let output = area.show(ui, |ui| answer(ui, seen, asks));
    Pane::Details.scrolled(ui, &output);
}

fn answer(ui: &mut Ui, seen: &Seen, asks: &mut Asks) {
    let node = seen.selected.and_then(|node| seen.tree.get(node));
    let caption = node.map_or_else(|| "Select a node.".to_owned(), list::caption);
    ui.agent(Tag::id("selected").relayed(), |ui| {
        ui.label(RichText::new(caption).strong())
    });
    let Some(view) = &seen.view else { return };
    ui.agent(Tag::id("answer").role(Role::Status), |ui| {
        ui.label(&view.exposed.text)
    });
    if let Some(by) = view.exposed.by {
        link(ui, seen, asks, "by", by);
    }
    ui.separator();
    ui.agent("id", |ui| ui.label(id(view)));
    ui.agent("place", |ui| ui.label(format!("place: {}", view.place)));
    ui.agent("ceiling", |ui| {
        let verbs: Vec<&str> = view.ceiling.iter().map(|verb| &**verb).collect();
        ui.label(match verbs.is_empty() {
            true => "ceiling: observe only".to_owned(),
            false => format!("ceiling: {}", verbs.join(", ")),
        })
    });
    for narrowed in &view.narrowed {
        let took: Vec<&str> = narrowed.took.iter().map(|verb| &**verb).collect();
        let words = format!("without {}, by", took.join(", "));
        link(ui, seen, asks, &words, narrowed.node);
    }
    for marked in &view.marks {
        link(ui, seen, asks, &format!("{}, by", marked.mark), marked.node);
    }
    ui.separator();
    ui.label("What a call would be answered now:");
    let verbs = Tag::id("verbs").role(Role::List).label("Verbs");
    ui.agent_tagged(verbs, |ui| {
        for verdict in &view.verbs {
            let tag = Tag::key(verdict.verb.to_string()).role(Role::ListItem);
            ui.agent(tag, |ui| ui.label(words(verdict)));
        }
    });
}

fn id(view: &AgentView) -> String {
    match (&view.id, &view.key, &view.within) {
        (Some(id), Some(key), Some(within)) => {
            format!("id: {id}, by the key {key:?} below {within}")
        }
        (Some(id), ..) => format!("id: {id}, by its tag"),
        (None, ..) => "id: none that an agent could use".to_owned(),
    }
}

fn words(verdict: &Verdict) -> String {
    let mut words = format!("{}: {}", verdict.verb, verdict.outcome);
    if let Some(why) = &verdict.why {
        words.push_str(&format!(", {why}"));
    }
    if let Some(by) = &verdict.by {
        words.push_str(&format!(" by {by}"));
    }
    words
}

/// A node that something comes from: a click goes there.
fn link(ui: &mut Ui, seen: &Seen, asks: &mut Asks, words: &str, node: u64) {
    ui.horizontal_wrapped(|ui| {
        ui.label(words);
        let known = seen.tree.get(node);
        let caption = known.map_or_else(|| node.to_string(), list::caption);
        if ui.link(caption).clicked() {
            asks.select = Some(node);
        }
    });
}

/// Every property, by name, type and value.
pub(super) fn properties(ui: &mut Ui, seen: &Seen) {
    let all = &seen.properties;
    let height = ui.text_style_height(&TextStyle::Body);
    let tag = Tag::id("properties")
        .role(Role::List)
        .label("Properties")
        .relayed();
    let rows = Rows {
        area: Pane::Details.scroll(ui, ScrollArea::both().auto_shrink(false)),
        count: all.len(),
        height,
        key: &|at| all.get(at).map_or_else(String::new, |it| it.name.clone()),
        find: &|key| all.iter().position(|property| property.name == key),
    };
    let output = ui.agent_rows(tag, rows, |ui, at| {
        let Some(property) = all.get(at) else {
            return ui.label("");
        };
        let value = match (&property.value, property.withheld) {
            (_, true) => "secret: not read".to_owned(),
            (serde_json::Value::Null, false) => "–".to_owned(),
            (serde_json::Value::String(text), false) => format!("{text:?}"),
            (value, false) => value.to_string(),
        };
        let line = format!("{}: {} = {value}", property.name, property.kind);
        let line = RichText::new(line).monospace();
        // What is set stands out.
        let is_empty = property.value.is_null() && !property.withheld;
        ui.label(if is_empty { line.weak() } else { line })
    });
    Pane::Details.scrolled(ui, &output);
}

/// What is likely wrong, each with what to do: three lines of it, all of it under the pointer.
pub(super) fn lint(ui: &mut Ui, seen: &Seen, asks: &mut Asks) {
    let all = &seen.findings;
    if all.is_empty() {
        ui.agent("findings", |ui| ui.label("Nothing found."));
        return;
    }
    let line = ui.text_style_height(&TextStyle::Body);
    let height = 4.0 * line + 2.0 * ui.spacing().item_spacing.y + 6.0;
    let tag = Tag::id("findings").role(Role::List).label("Findings");
    let rows = Rows {
        area: Pane::Details.scroll(ui, ScrollArea::vertical().auto_shrink(false)),
        count: all.len(),
        height,
        key: &|at| all.get(at).map_or_else(String::new, key),
        find: &|wanted| all.iter().position(|finding| key(finding) == wanted),
    };
    let output = ui.agent_rows(tag, rows, |ui, at| {
        let Some(finding) = all.get(at) else {
            return ui.label("");
        };
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
        let mut ui = ui.new_child(UiBuilder::new().max_rect(rect));
        ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
        let found = ui.add(Link::new(in_words(finding)));
        let found = found.on_hover_text("Show the first");
        ui.style_mut().wrap_mode = None;
        let advice = LayoutJob {
            wrap: TextWrapping {
                max_rows: 3,
                ..TextWrapping::wrap_at_width(rect.width())
            },
            ..LayoutJob::simple(
                finding.advice.to_string(),
                FontSelection::Default.resolve(ui.style()),
                ui.visuals().text_color(),
                rect.width(),
            )
        };
        ui.label(advice).on_hover_text(&*finding.advice);
        if found.clicked() {
            asks.select = finding.nodes.first().copied();
        }
        found
    });
    Pane::Details.scrolled(ui, &output);
}

/// What was found, and on which: the first of them.
fn in_words(finding: &Finding) -> String {
    const SOME: usize = 5;
    let some: Vec<&str> = finding.ids.iter().take(SOME).map(String::as_str).collect();
    let more = match finding.ids.len().saturating_sub(SOME) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let lint = finding.lint.replace('_', " ");
    format!("{lint}: {}{more}", some.join(", "))
}

/// Which finding: the same for as long as it is found.
fn key(finding: &Finding) -> String {
    let first = finding.nodes.first().copied().unwrap_or_default();
    format!("{}-{first}", finding.lint)
}
