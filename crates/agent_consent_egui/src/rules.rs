//! What the user has decided about agents, and how to take it back.

use agent_consent::{Consent, Remembered, Theirs, utc};
use agent_core::Scope;
use egui::{CollapsingHeader, RichText, Ui};

use crate::{agents::quoted, texts::Texts, ui::Wish};

/// Draws the list, and says what the user wants.
pub(crate) fn draw(ui: &mut Ui, consent: &Consent, texts: &Texts) -> Option<Wish> {
    let rules = consent.rules();
    if rules.is_empty() {
        ui.label(&texts.no_rules);
        return None;
    }
    let mut wish = None;
    for remembered in &rules {
        ui.push_id(remembered.id.as_str(), |ui| {
            ui.group(|ui| {
                if rule(ui, remembered, texts) {
                    wish = Some(Wish::Revoke(remembered.id.clone()));
                }
            });
        });
    }
    if ui.button(&texts.take_back_all).clicked() {
        wish = Some(Wish::RevokeAll);
    }
    wish
}

/// Whether it is to be taken back.
fn rule(ui: &mut Ui, remembered: &Remembered, texts: &Texts) -> bool {
    let rule = &remembered.rule;
    let decided = match (rule.scope, rule.allow) {
        (Scope::Surface, true) => &texts.may_use,
        (Scope::Surface, false) => &texts.may_not_use,
        (Scope::Full, true) => &texts.may_see_all,
        (Scope::Full, false) => &texts.may_not_see_all,
        (Scope::Inspector, true) => &texts.may_inspect,
        (Scope::Inspector, false) => &texts.may_not_inspect,
    };
    let agent = quoted(&rule.name);
    ui.strong(Texts::fill(decided, "agent", &agent));
    let until = match (rule.until, remembered.stored) {
        (Some(until), true) => Texts::fill(&texts.until, "time", &time(until)),
        (None, true) => texts.until_taken_back.clone(),
        (_, false) => texts.until_quit.clone(),
    };
    let used = match rule.last_used {
        None => texts.not_used.clone(),
        Some(last) => {
            let used = Texts::fill(&texts.used, "count", &rule.uses.to_string());
            Texts::fill(&used, "time", &time(last))
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(Texts::fill(&texts.since, "time", &time(rule.since)));
        ui.label(until);
        ui.label(used);
    });
    if !rule.evidence.is_empty() {
        CollapsingHeader::new(&texts.evidence).show(ui, |ui| {
            for line in &rule.evidence {
                ui.label(RichText::new(Theirs::new(line).short).monospace());
            }
        });
    }
    let label = Texts::fill(&texts.take_back, "agent", &agent);
    ui.button(label).clicked()
}

/// To the minute, as a person reads it.
fn time(unix: u64) -> String {
    let utc = utc(unix);
    let (day, time) = utc.split_once('T').unwrap_or((&utc, ""));
    format!("{day} {} UTC", time.get(..5).unwrap_or(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_minute() {
        assert_eq!(time(1_709_251_199), "2024-02-29 23:59 UTC");
    }
}
