//! Single operations, timed by divan: `cargo bench -p agent_bench`. To compare two of them on a
//! noisy machine use the table of `cargo xtask bench`, which takes turns.

#![allow(
    clippy::expect_used,
    reason = "a benchmark whose request is not carried out has to stop"
)]

use agent_bench::{
    egui_app::{self, App, Mode},
    headless_app,
    served::{Ask, Served},
};
use agent_core::{Call, Describe, Surface, View};
use agent_headless::Tree;
use divan::Bencher;

/// Only as a bench target; the smoke test has a harness of its own.
#[allow(dead_code, reason = "the smoke test takes this file as a module")]
fn main() {
    divan::main();
}

/// The numbers of widgets; small ones where it is only tried whether the benchmarks work.
fn sizes() -> &'static [usize] {
    match std::env::args().any(|arg| arg == "--bench") {
        true => &[100, 1_000, 10_000, 100_000],
        false => &[40],
    }
}

fn time(bencher: Bencher<'_, '_>, served: std::io::Result<Served>, ask: Ask) {
    let mut served = served.expect("a place for the socket");
    bencher.bench_local(|| served.ask(ask).expect("it is carried out"));
}

/// Over the socket: 30 exposed widgets among so many, a client on another thread.
mod headless {
    use super::*;

    #[divan::bench]
    fn ping_pong(bencher: Bencher<'_, '_>) {
        time(bencher, headless_app::ping_pong(0), Ask::Back);
    }

    #[divan::bench(args = sizes())]
    fn describe_ui(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, headless_app::serve(n), Ask::Describe);
    }

    #[divan::bench(args = sizes())]
    fn click(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, headless_app::serve(n), Ask::Click);
    }

    #[divan::bench(args = sizes())]
    fn set_text(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, headless_app::serve(n), Ask::SetText);
    }

    /// From a change of the app's to the line on a subscriber's socket, and what it takes to make
    /// one.
    #[divan::bench(args = sizes())]
    fn told(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, headless_app::serve(n), Ask::Told);
    }

    /// The part of `describe_ui` that is done on the UI thread, alone.
    #[divan::bench(args = sizes())]
    fn describe_on_ui_thread(bencher: Bencher<'_, '_>, n: usize) {
        let mut tree = Tree::new();
        headless_app::open_window(&mut tree, n, &Default::default());
        let mut surface = Surface::default();
        let changes = tree.take_changes();
        surface.settle(&tree, changes, &[]);
        let call = Call::Describe(Describe::default());
        let view = View {
            names_unexposed: false,
            window_was_there: false,
        };
        bencher.bench_local(|| surface.read(&tree, &call, view));
    }
}

/// The same on an egui window that nobody sees.
mod egui_windowless {
    use super::*;

    /// The largest windows take most of a second to draw.
    fn sizes() -> &'static [usize] {
        let sizes = super::sizes();
        sizes.get(..3).unwrap_or(sizes)
    }

    #[divan::bench(args = sizes())]
    fn ping_pong(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, egui_app::ping_pong(n), Ask::Back);
    }

    #[divan::bench(args = sizes())]
    fn describe_ui(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, egui_app::serve(n), Ask::Describe);
    }

    #[divan::bench(args = sizes())]
    fn click(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, egui_app::serve(n), Ask::Click);
    }

    #[divan::bench(args = sizes())]
    fn set_text(bencher: Bencher<'_, '_>, n: usize) {
        time(bencher, egui_app::serve(n), Ask::SetText);
    }

    /// One frame on the UI thread, with what it serves.
    #[divan::bench(args = Mode::ALL, consts = [1_000])]
    fn frame<const N: usize>(bencher: Bencher<'_, '_>, mode: Mode) {
        let mut app = App::new(mode, N);
        bencher.bench_local(|| app.frame());
    }
}
