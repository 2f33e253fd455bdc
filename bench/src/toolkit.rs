//! What is measured of each toolkit: whether it idles, and what requests cost.

use std::{io, time::Duration};

use crate::{
    appkit_app,
    blocks::{Blocks, Effort, in_turns},
    headless_app,
    served::{Ask, Served},
    table::{Required, Row, cost, number_of},
};

/// How much of a toolkit is measured.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The numbers of widgets, of which agents see 30.
    pub sizes: &'static [usize],
    /// Which of them a growth is measured between.
    pub growth: [usize; 2],
    /// How long requests are timed.
    pub effort: Effort,
    /// How long it is watched whether an idle app's UI thread wakes.
    pub idle: Duration,
}

impl Extent {
    /// What the documentation shows of headless and egui, but for the effort.
    pub const FULL: Self = Self {
        sizes: &[100, 1_000, 10_000, 100_000],
        growth: [1_000, 100_000],
        effort: Effort::FULL,
        idle: Duration::from_secs(3),
    };
    /// The same for AppKit, where each widget is an object and a large window has some thousands.
    pub const VIEWS: Self = Self {
        sizes: &[100, 5_000],
        growth: [100, 5_000],
        ..Self::FULL
    };
    /// To see that it works.
    pub const SMOKE: Self = Self {
        sizes: &[40, 50, 60, 70],
        growth: [50, 70],
        effort: Effort::SMOKE,
        idle: Duration::from_millis(1),
    };

    /// That of the smaller window of a growth.
    pub(crate) fn few(&self) -> usize {
        self.growth[0]
    }
}

/// A backend, and what is required of it.
pub struct Toolkit {
    /// What the table calls it.
    pub name: &'static str,
    serve: fn(usize) -> io::Result<Served>,
    ping_pong: fn(usize) -> io::Result<Served>,
    /// Of a UI thread that nobody asks anything.
    idle: Required,
    /// Of one for whose changes agents wait, while nothing changes.
    waiting: Required,
    /// Of a click beside the ping-pong.
    click: Required,
    /// Of what it costs among many beside what it costs among few.
    growth: Required,
}

/// The backend without a toolkit.
pub const HEADLESS: Toolkit = Toolkit {
    name: "headless",
    serve: headless_app::serve,
    ping_pong: headless_app::ping_pong,
    idle: Required::Never,
    waiting: Required::Never,
    click: Required::AtMost(2.0),
    growth: Required::AtMost(1.2),
};

/// A context without a window of the system's.
#[cfg(feature = "egui")]
pub const EGUI: Toolkit = Toolkit {
    name: "egui",
    serve: crate::egui_app::serve,
    ping_pong: crate::egui_app::ping_pong,
    idle: Required::Never,
    waiting: Required::Never,
    // Its own passes grow with what is in the window, and a click has more than one of them.
    click: Required::Nothing,
    growth: Required::Nothing,
};

/// A window on a display, in a process of its own: see [`appkit_app`].
pub const APPKIT: Toolkit = Toolkit {
    name: "AppKit",
    serve: appkit_app::serve,
    ping_pong: appkit_app::ping_pong,
    idle: Required::Never,
    // It looks twenty times a second for what AppKit does not tell of.
    waiting: Required::Nothing,
    click: Required::Nothing,
    growth: Required::AtMost(1.2),
};

/// How many requests of one client wait at a time.
const WAITS: usize = 30;

impl Toolkit {
    /// Measures all of it.
    ///
    /// # Errors
    /// If something that was asked for was not carried out.
    pub fn measure(&self, extent: &Extent) -> io::Result<Vec<Row>> {
        let mut rows = Vec::from(self.idle(extent)?);
        rows.extend(self.requests(extent)?);
        Ok(rows)
    }

    /// Whether the UI thread is left alone while nobody asks.
    fn idle(&self, extent: &Extent) -> io::Result<[Row; 3]> {
        let mut app = (self.serve)(extent.few())?;
        // What the start brings with it comes first.
        let settle = extent.idle / 3;
        let row = |who: &str, turns: Option<u64>, required| Row {
            what: format!(
                "{}: UI thread woken in {:.0} s, {who}",
                self.name,
                extent.idle.as_secs_f64()
            ),
            cost: turns.map_or("–".to_owned(), |turns| format!("{turns} times")),
            beside: "–".to_owned(),
            its_cost: "–".to_owned(),
            ratio: turns.map(|turns| turns as f64),
            required,
        };
        std::thread::sleep(settle);
        let nobody = row("nobody connected", app.turns_in(extent.idle), self.idle);
        app.ask(Ask::Describe)?;
        std::thread::sleep(settle);
        let idle = row("one client idle", app.turns_in(extent.idle), self.idle);
        app.wait(WAITS)?;
        std::thread::sleep(settle);
        let waiting = format!("one client listens and waits {WAITS} times");
        let waiting = row(&waiting, app.turns_in(extent.idle), self.waiting);
        Ok([nobody, idle, waiting])
    }

    /// What requests cost over the socket.
    fn requests(&self, extent: &Extent) -> io::Result<Vec<Row>> {
        let mut apps = Vec::new();
        let mut asks = Vec::new();
        for &n in extent.sizes {
            let app = apps.len();
            apps.push((self.ping_pong)(n)?);
            apps.push((self.serve)(n)?);
            asks.push((app, Ask::Back));
            asks.extend(ASKS.map(|ask| (app + 1, ask)));
        }
        let all = in_turns(&mut apps, &asks, extent.effort)?;
        let sizes: Vec<Measured<'_>> = extent
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
            for measured in &sizes {
                // Actions are shown between two sizes, descriptions for all.
                if ask == Ask::Describe || extent.growth.contains(&measured.n) {
                    rows.push(self.beside_ping_pong(ask, measured, number));
                }
            }
        }
        let [few, many] = extent
            .growth
            .map(|n| sizes.iter().find(|measured| measured.n == n));
        if let (Some(few), Some(many)) = (few, many) {
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
