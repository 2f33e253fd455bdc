//! Everything that is measured without a display.

use std::{io, path::Path, time::Duration};

use crate::{
    blocks::{Blocks, Effort, in_turns, median, median_of},
    consent,
    egui_app::Mode,
    events::{self, SUBSCRIPTIONS, Told},
    headless_app, inspector, instructions,
    served::Ask,
    table::{Required, Row, cost, number_of, time},
    toolkit::{EGUI, Extent, HEADLESS},
};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Of the headless backend.
    pub headless: Extent,
    /// Of egui, whose windows of many widgets take long to draw.
    pub egui: Extent,
    /// How often a rule is removed from outside.
    pub revocations: usize,
    /// How many events are told to many, and how often over.
    pub events: (usize, usize),
    /// The numbers of widgets for which instructions are counted.
    pub counted: &'static [usize],
    /// The number of nodes that the inspector shows, and how many frames of each kind.
    pub inspected: (usize, usize),
}

impl Plan {
    /// What the documentation shows; takes some minutes.
    pub const FULL: Self = Self {
        headless: Extent::FULL,
        egui: Extent {
            effort: Effort {
                rounds: 7,
                ..Effort::FULL
            },
            ..Extent::FULL
        },
        revocations: 40,
        events: (1_000_000, 5),
        counted: &[1_000, 10_000],
        inspected: (50_000, 120),
    };
    /// To see that it works.
    pub const SMOKE: Self = Self {
        headless: Extent::SMOKE,
        egui: Extent::SMOKE,
        revocations: 1,
        events: (1_000, 1),
        counted: &[],
        inspected: (60, 6),
    };
}

/// Measures everything. `egui_frames` is where that program is; `said` hears what is being done.
///
/// # Errors
/// If something that was asked for was not carried out.
pub fn measure(plan: &Plan, egui_frames: &Path, said: impl Fn(&str)) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (toolkit, extent) in [(HEADLESS, &plan.headless), (EGUI, &plan.egui)] {
        said(toolkit.name);
        rows.extend(toolkit.measure(extent)?);
    }
    said("consent");
    rows.push(asked_of_consent(plan)?);
    rows.push(revoked(plan)?);
    said("events");
    rows.push(notice(plan)?);
    rows.extend(many_who_listen(plan)?);
    said("egui frames in instructions");
    rows.extend(frames(plan, egui_frames)?);
    said("the inspector");
    rows.extend(inspected(plan)?);
    Ok(rows)
}

/// How often the two are started anew: whether threads that wake one another come to lie on one
/// core is decided once in a while, and is worth more than what is measured.
const ANEW: usize = 6;

/// How long it takes from a change on the UI thread to the line on a subscriber's socket.
fn notice(plan: &Plan) -> io::Result<Row> {
    let n = plan.headless.few();
    let effort = plan.headless.effort;
    let effort = Effort {
        rounds: effort.rounds.div_ceil(ANEW),
        ..effort
    };
    let [mut back, mut told] = [Blocks::default(), Blocks::default()];
    for _ in 0..ANEW {
        let mut apps = [headless_app::ping_pong(n)?, headless_app::serve(n)?];
        let asks = [(0, Ask::Back), (1, Ask::Told)];
        for (all, more) in [&mut back, &mut told]
            .into_iter()
            .zip(in_turns(&mut apps, &asks, effort)?)
        {
            all.extend(more);
        }
    }
    Ok(Row {
        what: format!(
            "headless: a change of the app's, to the line on a subscriber's socket, among {}",
            number_of(n)
        ),
        cost: cost(&told),
        beside: "the ping-pong".to_owned(),
        its_cost: cost(&back),
        ratio: Some(told.ratio_to(&back)),
        required: Required::AtMost(2.0),
    })
}

/// What the app's policy costs: a click that `agent_consent` lets in, tells the app of and logs.
fn asked_of_consent(plan: &Plan) -> io::Result<Row> {
    let n = plan.headless.few();
    let mut apps = [
        headless_app::serve(n)?,
        headless_app::serve_with_consent(n)?,
    ];
    let asks = [(0, Ask::Click), (1, Ask::Click)];
    let all = in_turns(&mut apps, &asks, plan.headless.effort)?;
    let [plain, consent] = all.as_slice() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    Ok(Row {
        what: format!(
            "headless: `click` with `agent_consent` for a gate, among {}",
            number_of(n)
        ),
        cost: cost(consent),
        beside: "the same with a gate that lets everybody in".to_owned(),
        its_cost: cost(plain),
        ratio: Some(consent.ratio_to(plain)),
        required: Required::Nothing,
    })
}

/// How soon a rule's removal by another program is noticed, at the latest.
fn revoked(plan: &Plan) -> io::Result<Row> {
    let took = consent::revoked_from_outside(plan.revocations)?;
    let longest = took.iter().max().copied().unwrap_or_default();
    Ok(Row {
        what: format!(
            "a rule removed by another program, to its agent cut off: the longest of {}",
            plan.revocations
        ),
        cost: time(longest),
        beside: "what is promised".to_owned(),
        its_cost: time(consent::WITHIN),
        ratio: Some(longest.div_duration_f64(consent::WITHIN)),
        required: Required::AtMost(1.0),
    })
}

/// What it costs to tell many, an event and a delivery, beside what a channel costs.
fn many_who_listen(plan: &Plan) -> io::Result<[Row; 2]> {
    let (count, rounds) = plan.events;
    let mut hub = Vec::new();
    let mut channel = Vec::new();
    for _ in 0..rounds {
        hub.push(events::through_hub(count)?);
        channel.push(events::through_channel(count)?);
    }
    let each = |told: &Told, of: u64| told.took.div_f64(of.max(1) as f64);
    let of_event = |told: &Told| each(told, count as u64);
    let of_delivery = |told: &Told| each(told, told.matched);
    let row = |what: String, ours: &dyn Fn(&Told) -> Duration| {
        let its: Vec<Duration> = channel.iter().map(of_event).collect();
        let ours: Vec<Duration> = hub.iter().map(ours).collect();
        let ratio = |(ours, its): (&Duration, &Duration)| ours.div_duration_f64(*its);
        let ratios = ours.iter().zip(&its).map(ratio);
        Row {
            what,
            cost: rate(median(&ours).unwrap_or_default()),
            beside: "a message through a bounded channel".to_owned(),
            its_cost: rate(median(&its).unwrap_or_default()),
            ratio: median_of(ratios.collect()),
            required: Required::Nothing,
        }
    };
    let heard: u64 = hub.iter().map(|told| told.matched).sum();
    let heard = heard as f64 / (rounds * count).max(1) as f64;
    Ok([
        row(
            format!(
                "events: one of {} to {SUBSCRIPTIONS} subscriptions, {heard:.0} of which it is for",
                number_of(count)
            ),
            &of_event,
        ),
        row(
            "events: the same, for each that it is for".to_owned(),
            &of_delivery,
        ),
    ])
}

/// What one frame costs while nobody is there, and while it serves somebody.
fn frames(plan: &Plan, egui_frames: &Path) -> io::Result<Vec<Row>> {
    let can_count = instructions::can_count();
    let mut rows = Vec::new();
    for &n in plan.counted {
        let count = |mode| match can_count {
            true => instructions::of_a_frame(egui_frames, mode, n).map(Some),
            false => Ok(None),
        };
        let plain = count(Mode::Plain)?;
        let both = plain.zip(count(Mode::Tree)?).map(|(a, b)| a + b);
        const WITHOUT: &str = "the frame without us";
        const BOTH: &str = "a pass without AccessKit and one with";
        for (mode, what, beside, its_cost, required) in [
            (
                Mode::Nobody,
                "nobody connected",
                WITHOUT,
                plain,
                Required::Same,
            ),
            (
                Mode::Idle,
                "one client idle",
                WITHOUT,
                plain,
                Required::AtMost(1.02),
            ),
            (
                Mode::Describe,
                "serving `describe_ui`",
                BOTH,
                both,
                Required::AtMost(1.1),
            ),
            (
                Mode::Click,
                "serving `click`",
                BOTH,
                both,
                Required::AtMost(1.1),
            ),
        ] {
            let cost = count(mode)?;
            rows.push(Row {
                what: format!("egui: a frame of {} widgets, {what}", number_of(n)),
                cost: counted(cost),
                beside: beside.to_owned(),
                its_cost: counted(its_cost),
                ratio: cost.zip(its_cost).map(|(a, b)| a as f64 / b as f64),
                required,
            });
        }
    }
    Ok(rows)
}

/// The inspector's window, each of its frames beside one of sixty a second.
fn inspected(plan: &Plan) -> io::Result<[Row; 5]> {
    let (n, frames) = plan.inspected;
    let timed = inspector::measure(n, frames)?;
    let row = |what: &str, took: Duration| Row {
        what: format!("inspector: {what}, {} nodes", number_of(n)),
        cost: time(took),
        beside: "a frame of sixty a second".to_owned(),
        its_cost: time(FRAME),
        ratio: Some(took.div_duration_f64(FRAME)),
        required: Required::Nothing,
    };
    Ok([
        row("until they are shown", timed.opened),
        Row {
            required: Required::AtMost(1.0),
            ..row("a frame in which nothing moves", timed.still)
        },
        Row {
            required: Required::AtMost(1.0),
            ..row("a frame while scrolling", timed.scrolling)
        },
        Row {
            required: Required::AtMost(1.0),
            ..row("the frame after searching for other words", timed.searching)
        },
        row("the longest of these frames", timed.longest),
    ])
}

const FRAME: Duration = Duration::from_nanos(16_666_667);

fn counted(instructions: Option<u64>) -> String {
    match instructions {
        Some(count) => format!("{:.3} M instructions", count as f64 / 1e6),
        None => "valgrind is not installed".to_owned(),
    }
}

/// The time of each, and how many that is in a second.
fn rate(each: Duration) -> String {
    let in_a_second = 1e-6 / each.as_secs_f64().max(f64::MIN_POSITIVE);
    format!("{} ns; {in_a_second:.2} M/s", each.as_nanos())
}
