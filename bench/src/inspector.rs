//! The inspector's window on an app of many nodes: how long until it shows them, and its frames
//! while it is scrolled and searched. Drawn nowhere, frame by frame on the calling thread: what is
//! timed is the making of a frame, not the graphics card.

use std::{
    io,
    time::{Duration, Instant},
};

use agent_headless::Headless;
use agent_inspector::{Inspector, Watch, Which};
use agent_surface::Surface;
use egui::{
    Context, Event, Modifiers, MouseWheelSource, MouseWheelUnit, RawInput, Rect, TouchPhase, Vec2,
};

use crate::{
    headless_app,
    served::{Folder, open_to_all},
};

const SIZE: Vec2 = egui::vec2(1_280.0, 800.0);

/// Longer than opening takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What was timed.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// From the connection to the first frame that shows every node.
    pub opened: Duration,
    /// A frame in which nothing moves; the median.
    pub still: Duration,
    /// A frame while the tree is scrolled; the median.
    pub scrolling: Duration,
    /// The first frame after other words were searched for; the median.
    pub searching: Duration,
    /// The longest of these frames.
    pub longest: Duration,
}

/// Opens the inspector on an app of `n` nodes, and draws so many frames of each kind.
///
/// # Errors
/// If the app can't be served, or is not shown.
pub fn measure(n: usize, frames: usize) -> io::Result<Timed> {
    let folder = Folder::new()?;
    let app = Headless::start("ui", move |tree| {
        headless_app::open_window(tree, n, &Default::default());
    });
    let _surface = open_to_all(Surface::builder("org.example.bench").headless(&app))
        .arm_inspector()
        .at(folder.socket())
        .serve()
        .map_err(io::Error::other)?;
    let begun = Instant::now();
    let watch = Watch::start(Which::At(folder.socket()), || ())?;
    let mut window = Window {
        ctx: Context::default(),
        inspector: Inspector::new(watch),
    };
    loop {
        window.frame(Vec::new());
        if window.inspector.rows() >= n {
            break;
        }
        if begun.elapsed() > PATIENCE {
            return Err(io::Error::other("the inspector shows no nodes"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let opened = begun.elapsed();
    let still = window.times(frames, |_, _| Vec::new());
    let scrolling = window.times(frames, |_, _| wheel());
    let words = ["row", "row 1", "row 12", "button", "row 499", ""];
    let searching = window.times(frames, |inspector, frame| {
        inspector.search(words[frame % words.len()]);
        Vec::new()
    });
    let longest = [&still, &scrolling, &searching].into_iter().flatten().max();
    Ok(Timed {
        opened,
        longest: longest.copied().unwrap_or_default(),
        still: median(still),
        scrolling: median(scrolling),
        searching: median(searching),
    })
}

struct Window {
    ctx: Context,
    inspector: Inspector,
}

impl Window {
    fn frame(&mut self, events: Vec<Event>) -> Duration {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, SIZE)),
            events,
            ..RawInput::default()
        };
        let begun = Instant::now();
        let ctx = self.ctx.clone();
        let output = ctx.run_ui(input, |ui| self.inspector.ui(ui));
        let took = begun.elapsed();
        output.drop_without_applying_deltas();
        took
    }

    fn times(
        &mut self,
        frames: usize,
        mut before: impl FnMut(&mut Inspector, usize) -> Vec<Event>,
    ) -> Vec<Duration> {
        let draw = |frame| {
            let events = before(&mut self.inspector, frame);
            self.frame(events)
        };
        (0..frames).map(draw).collect()
    }
}

/// The wheel is turned over the tree.
fn wheel() -> Vec<Event> {
    let turned = Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -400.0),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    };
    vec![Event::PointerMoved(egui::pos2(100.0, 300.0)), turned]
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
