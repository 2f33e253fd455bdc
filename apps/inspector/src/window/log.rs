//! What happens in the app, and what agents ask there and are answered: the newest below.

use agent_surface::egui::{AgentUi as _, Role, Rows, Tag};
use agent_wire::inspector::{Heard, LogEntry};
use egui::{RichText, ScrollArea, TextStyle, Ui};

use super::pane::Pane;
use crate::watch::Seen;

pub(super) fn show(ui: &mut Ui, seen: &Seen) {
    let log = &seen.log;
    if log.is_empty() {
        ui.weak("What happens in the app, and what agents ask and are answered, is listed here.");
    }
    let height = ui.text_style_height(&TextStyle::Monospace);
    let tag = Tag::id("log")
        .role(Role::List)
        .label("What happens")
        .relayed();
    let first = log.front().map_or(0, |entry| entry.entry);
    let rows = Rows {
        area: Pane::Log.scroll(
            ui,
            ScrollArea::vertical()
                .auto_shrink(false)
                .stick_to_bottom(true),
        ),
        count: log.len(),
        height,
        key: &|at| {
            log.get(at)
                .map_or_else(String::new, |it| it.entry.to_string())
        },
        find: &|key| {
            let entry: u64 = key.parse().ok()?;
            let at = usize::try_from(entry.checked_sub(first)?).ok()?;
            (at < log.len()).then_some(at)
        },
    };
    let output = ui.agent_rows(tag, rows, |ui, at| {
        let line = log.get(at).map_or_else(String::new, line);
        ui.label(RichText::new(line).monospace())
    });
    Pane::Log.scrolled(ui, &output);
}

/// An entry in a line, at the time of day in UTC.
fn line(entry: &LogEntry) -> String {
    let ms = entry.at_ms;
    let (hours, minutes) = (ms / 3_600_000 % 24, ms / 60_000 % 60);
    let (seconds, ms) = (ms / 1_000 % 60, ms % 1_000);
    let time = format!("{hours:02}:{minutes:02}:{seconds:02}.{ms:03}");
    match &entry.what {
        Heard::Event { verb, source, role } => format!("{time} event  {verb} {role} [{source}]"),
        Heard::Call {
            connection,
            client,
            verb,
            target,
            outcome,
        } => {
            let client = client.as_deref().unwrap_or("agent");
            let target = target
                .as_deref()
                .map(|target| format!(" [{target}]"))
                .unwrap_or_default();
            format!("{time} call   {client} #{connection}: {verb}{target} -> {outcome}")
        }
    }
}
