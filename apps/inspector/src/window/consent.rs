//! What the app's user has decided about agents: to read, not to change. A developer's tool is no
//! way around whom the user has let in or kept out.

use agent_surface::{
    consent::utc,
    egui::{AgentUi as _, Role, Tag},
};
use agent_wire::inspector::{Consent, ConsentRule, DecidedBy};
use egui::{FontSelection, ScrollArea, Ui, text::LayoutJob};

use super::pane::Pane;
use crate::watch::Seen;

pub(super) fn show(ui: &mut Ui, seen: &Seen) {
    let area = Pane::Details.scroll(ui, ScrollArea::vertical().auto_shrink(false));
    let output = area.show(ui, |ui| {
        let stands = seen.consent.as_ref().map_or(
            "This app's inspector does not tell whom it lets in.",
            in_words,
        );
        ui.agent(Tag::id("consent").role(Role::Status), |ui| ui.label(stands));
        let rules = match &seen.consent {
            Some(consent) if consent.by == DecidedBy::Consent => consent,
            _ => return,
        };
        ui.label("Rules are taken back in the app, or by: agent-surface consent");
        ui.separator();
        // Programs are called what they like.
        let tag = Tag::id("rules").role(Role::List).label("Rules").relayed();
        ui.agent_tagged(tag, |ui| {
            for rule in &rules.rules {
                let tag = Tag::key(rule.rule.clone()).role(Role::ListItem);
                let words = words(ui, rule);
                ui.agent(tag, |ui| ui.label(words));
                ui.add_space(6.0);
            }
        });
        if !rules.complete {
            ui.label("There are more rules than these.");
        }
    });
    Pane::Details.scrolled(ui, &output);
}

/// What becomes of agents about whom there is no rule.
fn in_words(consent: &Consent) -> &'static str {
    match (consent.by, consent.mode.as_deref()) {
        (DecidedBy::App, _) => {
            "This app decides by itself whom it lets in: its gate is a policy of its own, and has \
             no rules that could be shown."
        }
        (DecidedBy::Consent, Some("lockdown")) => "All agents are stopped, whatever the rules say.",
        (DecidedBy::Consent, Some("allow_all")) => {
            "Agents are let in where no rule says otherwise."
        }
        (DecidedBy::Consent, Some("deny_all")) => {
            "Agents are refused where no rule says otherwise."
        }
        (DecidedBy::Consent, _) => "The user is asked about agents that no rule is about.",
    }
}

/// A rule, a fact a line, its first line brighter.
fn words(ui: &Ui, rule: &ConsentRule) -> LayoutJob {
    let may = if rule.allow { "may" } else { "may not" };
    let scope = match &*rule.scope {
        "surface" => "operate what is exposed",
        "full" => "see the whole tree",
        _ => "inspect",
    };
    let time = |ms: u64| utc(ms / 1_000);
    let until = match (rule.until_ms, rule.stored) {
        (Some(until), _) => format!("until {}", time(until)),
        (None, true) => "always, until it is taken back".to_owned(),
        (None, false) => "this run, until the app quits".to_owned(),
    };
    let used = match rule.uses {
        0 => "never used".to_owned(),
        1 => "used once".to_owned(),
        uses => format!("used {uses} times"),
    };
    let last = rule
        .last_used_ms
        .map(|last| format!(", last {}", time(last)));
    let used = used + &last.unwrap_or_default();
    let mut lines = vec![format!("since {}", time(rule.since_ms)), until, used];
    if let Some(program) = &rule.program {
        lines.push(format!("program: {program:?}"));
    }
    lines.extend(rule.evidence.iter().map(|line| format!("seen: {line:?}")));
    let font = FontSelection::Default.resolve(ui.style());
    let mut job = LayoutJob::default();
    let format = |colour| egui::TextFormat::simple(font.clone(), colour);
    let head = format!("{:?} {may} {scope}", rule.name);
    job.append(&head, 0.0, format(ui.visuals().strong_text_color()));
    for line in lines {
        job.append(
            &format!("\n  {line}"),
            0.0,
            format(ui.visuals().text_color()),
        );
    }
    job
}
