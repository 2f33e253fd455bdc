//! The table: its rows, and what is required of each.

use std::{fmt, time::Duration};

use crate::blocks::Blocks;

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// What it cost.
    pub cost: String,
    /// What it is put beside.
    pub beside: String,
    /// What that cost.
    pub its_cost: String,
    /// The one by the other; or how often it happened, where it should not.
    pub ratio: Option<f64>,
    /// What is required of the ratio.
    pub required: Required,
}

/// What is required of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Required {
    /// Nothing: it is only shown.
    Nothing,
    /// That it is not above this.
    AtMost(f64),
    /// That it is 1.00, to two digits.
    Same,
    /// That it never happened.
    Never,
}

impl Row {
    /// Whether it is as required. `None`: nothing is, or it was not measured.
    pub fn holds(&self) -> Option<bool> {
        let ratio = self.ratio?;
        match self.required {
            Required::Nothing => None,
            Required::AtMost(most) => Some(ratio <= most),
            Required::Same => Some(ratio < 1.005),
            Required::Never => Some(ratio == 0.0),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = match (self.ratio, self.required) {
            (None, _) => "–".to_owned(),
            (Some(times), Required::Never) => times.to_string(),
            (Some(ratio), _) => format!("{ratio:.2}"),
        };
        let required = match self.required {
            Required::Nothing => "–".to_owned(),
            Required::AtMost(most) => format!("at most {most}"),
            Required::Same => "1.00".to_owned(),
            Required::Never => "0".to_owned(),
        };
        let holds = match (self.holds(), self.required) {
            (Some(true), _) => "yes",
            (Some(false), _) => "**no**",
            (None, Required::Nothing) => "–",
            (None, _) => "not measured",
        };
        let Self {
            what,
            cost,
            beside,
            its_cost,
            ..
        } = self;
        write!(
            f,
            "| {what} | {cost} | {beside} | {its_cost} | {ratio} | {required} | {holds} |"
        )
    }
}

/// The table, as Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut table = "| what | cost | beside | its cost | ratio | required | holds |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        table += &format!("{row}\n");
    }
    table
}

pub(crate) fn cost(blocks: &Blocks) -> String {
    let took = time(blocks.took());
    match blocks.on_ui() {
        Some(on_ui) => format!("{took}; UI thread {}", time(on_ui)),
        None => took,
    }
}

pub(crate) fn time(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    match us {
        10_000.0.. => format!("{:.0} ms", us / 1e3),
        1_000.0.. => format!("{:.1} ms", us / 1e3),
        100.0.. => format!("{us:.0} µs"),
        _ => format!("{us:.1} µs"),
    }
}

/// With its thousands set apart.
pub(crate) fn number_of(n: usize) -> String {
    match (n / 1_000, n % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", number_of(thousands)),
    }
}
