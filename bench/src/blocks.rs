//! Several things timed in turns. Each round gives every one of them a block of requests, so that
//! what else the machine does falls on all of them alike, and ratios are made within a round.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::served::{Ask, Served};

/// How long it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How many rounds.
    pub rounds: usize,
    /// How many requests a block has at most.
    pub requests: usize,
    /// A block that takes longer ends early, with one request at least.
    pub block: Duration,
}

impl Effort {
    /// What the table is made with.
    pub const FULL: Self = Self {
        rounds: 30,
        requests: 60,
        block: Duration::from_millis(400),
    };
    /// To see that it works.
    pub const SMOKE: Self = Self {
        rounds: 1,
        requests: 2,
        block: Duration::ZERO,
    };
}

/// One thing that was timed: the median of each round's block.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    took: Vec<Duration>,
    on_ui: Vec<Duration>,
}

impl Blocks {
    /// The median time from the request to the whole reply.
    pub fn took(&self) -> Duration {
        median(&self.took).unwrap_or_default()
    }

    /// How long the UI thread ran for one request, all of its work between two requests
    /// included. `None`: the system doesn't tell.
    pub fn on_ui(&self) -> Option<Duration> {
        median(&self.on_ui)
    }

    /// More rounds of the same thing.
    pub fn extend(&mut self, more: Self) {
        self.took.extend(more.took);
        self.on_ui.extend(more.on_ui);
    }

    /// How many times as long it took as the other did in the same round: the median over the
    /// rounds.
    pub fn ratio_to(&self, other: &Self) -> f64 {
        let of_round = |(ours, theirs): (&Duration, &Duration)| ours.div_duration_f64(*theirs);
        let ratios = self.took.iter().zip(&other.took).map(of_round);
        median_of(ratios.collect()).unwrap_or(f64::NAN)
    }
}

pub(crate) fn median(times: &[Duration]) -> Option<Duration> {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).copied()
}

pub(crate) fn median_of(mut ratios: Vec<f64>) -> Option<f64> {
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}

/// Times each `(app, ask)`, `app` being an index of `apps`; answers them in the same order.
///
/// # Errors
/// If a request was not carried out.
pub fn in_turns(
    apps: &mut [Served],
    asks: &[(usize, Ask)],
    effort: Effort,
) -> io::Result<Vec<Blocks>> {
    let mut all = vec![Blocks::default(); asks.len()];
    for round in 0..=effort.rounds {
        for turn in 0..asks.len() {
            // Everyone comes after everyone else at some time.
            let turn = (turn + round) % asks.len();
            let (Some(&(app, ask)), Some(blocks)) = (asks.get(turn), all.get_mut(turn)) else {
                continue;
            };
            let app = apps.get_mut(app).ok_or(io::ErrorKind::NotFound)?;
            let (took, on_ui) = block(app, ask, effort)?;
            // The first round only warms up.
            if round > 0 {
                blocks.took.extend(took);
                blocks.on_ui.extend(on_ui);
            }
        }
    }
    Ok(all)
}

/// One block: the median time, and the UI thread's time for one request.
fn block(
    app: &mut Served,
    ask: Ask,
    effort: Effort,
) -> io::Result<(Option<Duration>, Option<Duration>)> {
    // Who has just been idle needs a request or two until its threads are warm.
    app.ask(ask)?;
    let mut took = Vec::with_capacity(effort.requests);
    let before = app.ui().spent();
    let begun = Instant::now();
    while took.is_empty() || (took.len() < effort.requests && begun.elapsed() < effort.block) {
        took.push(app.ask(ask)?);
    }
    let requests = u32::try_from(took.len()).unwrap_or(u32::MAX);
    let on_ui = before
        .zip(app.ui().spent())
        .map(|(before, after)| after.ran.saturating_sub(before.ran) / requests);
    Ok((median(&took), on_ui))
}
