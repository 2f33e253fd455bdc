//! All that is measured in one table, with what is required of it.

use std::{fmt, io, path::Path, time::Duration};

use crate::{
    blocks::{Blocks, Effort, in_turns, median, median_of},
    egui_app::{self, Mode},
    events::{self, SUBSCRIPTIONS, Told},
    headless_app, inspector, instructions,
    served::{Ask, Served},
};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The numbers of widgets, of which agents see 30.
    pub sizes: [usize; 4],
    /// How long the headless backend is timed.
    pub headless: Effort,
    /// The same for egui, whose windows of many widgets take long to draw.
    pub egui: Effort,
    /// How long it is watched whether an idle app's UI thread wakes.
    pub idle: Duration,
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
        sizes: [100, 1_000, 10_000, 100_000],
        headless: Effort::FULL,
        egui: Effort {
            rounds: 7,
            ..Effort::FULL
        },
        idle: Duration::from_secs(3),
        events: (1_000_000, 5),
        counted: &[1_000, 10_000],
        inspected: (50_000, 120),
    };
    /// To see that it works.
    pub const SMOKE: Self = Self {
        sizes: [40, 50, 60, 70],
        headless: Effort::SMOKE,
        egui: Effort::SMOKE,
        idle: Duration::from_millis(1),
        events: (1_000, 1),
        counted: &[],
        inspected: (60, 6),
    };
}

/// Which of the sizes a growth is measured between.
const SMALL: usize = 1;
const LARGE: usize = 3;

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

/// Measures everything. `egui_frames` is where that program is; `said` hears what is being done.
///
/// # Errors
/// If something that was asked for was not carried out.
pub fn measure(plan: &Plan, egui_frames: &Path, said: impl Fn(&str)) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for toolkit in [HEADLESS, EGUI] {
        said(toolkit.name);
        rows.extend(toolkit.idle(plan)?);
        rows.extend(toolkit.requests(plan)?);
    }
    said("events");
    rows.push(notice(plan)?);
    rows.extend(many_who_listen(plan)?);
    said("egui frames in instructions");
    rows.extend(frames(plan, egui_frames)?);
    said("the inspector");
    rows.extend(inspected(plan)?);
    Ok(rows)
}

/// A backend, and what is required of it.
struct Toolkit {
    name: &'static str,
    serve: fn(usize) -> io::Result<Served>,
    ping_pong: fn(usize) -> io::Result<Served>,
    effort: fn(&Plan) -> Effort,
    /// Of a click beside the ping-pong.
    click: Required,
    /// Of what it costs among many beside what it costs among few.
    growth: Required,
}

const HEADLESS: Toolkit = Toolkit {
    name: "headless",
    serve: headless_app::serve,
    ping_pong: headless_app::ping_pong,
    effort: |plan| plan.headless,
    click: Required::AtMost(2.0),
    growth: Required::AtMost(1.2),
};

const EGUI: Toolkit = Toolkit {
    name: "egui",
    serve: egui_app::serve,
    ping_pong: egui_app::ping_pong,
    effort: |plan| plan.egui,
    // Its own passes grow with what is in the window, and a click has more than one of them.
    click: Required::Nothing,
    growth: Required::Nothing,
};

impl Toolkit {
    /// Whether the UI thread is left alone while nobody asks.
    fn idle(&self, plan: &Plan) -> io::Result<[Row; 2]> {
        let [_, n, ..] = plan.sizes;
        let mut app = (self.serve)(n)?;
        // What the start brings with it comes first.
        let settle = plan.idle / 3;
        let row = |who: &str, turns: Option<u64>| Row {
            what: format!(
                "{}: UI thread woken in {:.0} s, {who}",
                self.name,
                plan.idle.as_secs_f64()
            ),
            cost: turns.map_or("–".to_owned(), |turns| format!("{turns} times")),
            beside: "–".to_owned(),
            its_cost: "–".to_owned(),
            ratio: turns.map(|turns| turns as f64),
            required: Required::Never,
        };
        std::thread::sleep(settle);
        let nobody = row("nobody connected", app.turns_in(plan.idle));
        app.ask(Ask::Describe)?;
        std::thread::sleep(settle);
        let idle = row("one client idle", app.turns_in(plan.idle));
        Ok([nobody, idle])
    }

    /// What requests cost over the socket.
    fn requests(&self, plan: &Plan) -> io::Result<Vec<Row>> {
        let mut apps = Vec::new();
        let mut asks = Vec::new();
        for n in plan.sizes {
            let app = apps.len();
            apps.push((self.ping_pong)(n)?);
            apps.push((self.serve)(n)?);
            asks.push((app, Ask::Back));
            asks.extend(ASKS.map(|ask| (app + 1, ask)));
        }
        let all = in_turns(&mut apps, &asks, (self.effort)(plan))?;
        let sizes: Vec<Measured<'_>> = plan
            .sizes
            .iter()
            .zip(all.chunks_exact(1 + ASKS.len()))
            .filter_map(|(n, blocks)| {
                let [back, describe, click, set_text] = blocks else {
                    return None;
                };
                let asked = [describe, click, set_text];
                Some(Measured { n: *n, back, asked })
            })
            .collect();
        let mut rows = Vec::new();
        for (ask, number) in ASKS.into_iter().zip(0..) {
            for (size, measured) in sizes.iter().enumerate() {
                // Actions are shown between two sizes, descriptions for all.
                if ask == Ask::Describe || [SMALL, LARGE].contains(&size) {
                    rows.push(self.beside_ping_pong(ask, measured, number));
                }
            }
        }
        if let (Some(few), Some(many)) = (sizes.get(SMALL), sizes.get(LARGE)) {
            for (ask, number) in ASKS.into_iter().zip(0..) {
                rows.push(self.growth(ask, many, few, number));
            }
            rows.push(self.growth_of_ping_pong(many, few));
        }
        Ok(rows)
    }

    fn beside_ping_pong(&self, ask: Ask, measured: &Measured<'_>, number: usize) -> Row {
        let blocks = measured.asked[number];
        Row {
            what: format!(
                "{}: {}, among {}",
                self.name,
                name(ask),
                number_of(measured.n)
            ),
            cost: cost(blocks),
            beside: "the ping-pong".to_owned(),
            its_cost: cost(measured.back),
            ratio: Some(blocks.ratio_to(measured.back)),
            required: match ask {
                Ask::Click => self.click,
                _ => Required::Nothing,
            },
        }
    }

    fn growth(&self, ask: Ask, many: &Measured<'_>, few: &Measured<'_>, number: usize) -> Row {
        let (blocks, beside) = (many.asked[number], few.asked[number]);
        Row {
            what: format!("{}: {}, among {}", self.name, name(ask), number_of(many.n)),
            cost: cost(blocks),
            beside: format!("the same among {}", number_of(few.n)),
            its_cost: cost(beside),
            ratio: Some(blocks.ratio_to(beside)),
            required: match ask {
                Ask::Click | Ask::Describe => self.growth,
                _ => Required::Nothing,
            },
        }
    }

    fn growth_of_ping_pong(&self, many: &Measured<'_>, few: &Measured<'_>) -> Row {
        Row {
            what: format!("{}: the ping-pong, among {}", self.name, number_of(many.n)),
            cost: cost(many.back),
            beside: format!("the same among {}", number_of(few.n)),
            its_cost: cost(few.back),
            ratio: Some(many.back.ratio_to(few.back)),
            required: Required::Nothing,
        }
    }
}

const ASKS: [Ask; 3] = [Ask::Describe, Ask::Click, Ask::SetText];

/// What was timed with one number of widgets.
struct Measured<'a> {
    n: usize,
    back: &'a Blocks,
    /// In the order of [`ASKS`].
    asked: [&'a Blocks; ASKS.len()],
}

fn name(ask: Ask) -> &'static str {
    match ask {
        Ask::Back => "the ping-pong",
        Ask::Describe => "`describe_ui`",
        Ask::Click => "`click`",
        Ask::SetText => "`set_text`",
        Ask::Told => "the app's change, to the line",
    }
}

/// How often the two are started anew: whether threads that wake one another come to lie on one
/// core is decided once in a while, and is worth more than what is measured.
const ANEW: usize = 6;

/// How long it takes from a change on the UI thread to the line on a subscriber's socket.
fn notice(plan: &Plan) -> io::Result<Row> {
    let n = plan.sizes[SMALL];
    let effort = Effort {
        rounds: plan.headless.rounds.div_ceil(ANEW),
        ..plan.headless
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

fn cost(blocks: &Blocks) -> String {
    let took = time(blocks.took());
    match blocks.on_ui() {
        Some(on_ui) => format!("{took}; UI thread {}", time(on_ui)),
        None => took,
    }
}

/// The time of each, and how many that is in a second.
fn rate(each: Duration) -> String {
    let in_a_second = 1e-6 / each.as_secs_f64().max(f64::MIN_POSITIVE);
    format!("{} ns; {in_a_second:.2} M/s", each.as_nanos())
}

fn time(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    match us {
        10_000.0.. => format!("{:.0} ms", us / 1e3),
        1_000.0.. => format!("{:.1} ms", us / 1e3),
        100.0.. => format!("{us:.0} µs"),
        _ => format!("{us:.1} µs"),
    }
}

/// With its thousands set apart.
fn number_of(n: usize) -> String {
    match (n / 1_000, n % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", number_of(thousands)),
    }
}
