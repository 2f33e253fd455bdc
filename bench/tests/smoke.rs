//! That the benchmarks do what they are meant to time. Each is run once, with small windows, and
//! nothing is asserted of the time that it takes.

use std::path::Path;

use agent_bench::{
    egui_app, headless_app, instructions,
    measure::{Plan, measure},
    served::Ask,
    table::{Required, markdown},
};

#[path = "../benches/operations.rs"]
mod operations;

#[test]
fn every_benchmark_runs() {
    divan::Divan::default().test_benches();
}

#[test]
fn every_row_is_measured() {
    let rows = measure(&Plan::SMOKE, Path::new(FRAMES), |_| ()).unwrap();
    assert_eq!(rows.len(), 35 + 5, "{}", markdown(&rows));
    for row in &rows {
        if let Some(ratio) = row.ratio {
            assert!(ratio.is_finite() && ratio >= 0.0, "{row}");
            assert!(ratio > 0.0 || row.required == Required::Never, "{row}");
        }
    }
}

#[test]
fn what_is_timed_is_done() {
    for serve in [headless_app::serve, egui_app::serve] {
        let mut app = serve(40).unwrap();
        for ask in [
            Ask::SetText,
            Ask::Click,
            Ask::SetText,
            Ask::Describe,
            Ask::Click,
        ] {
            app.ask(ask).unwrap();
        }
        assert_eq!(app.clicks().unwrap(), 2);
    }
    for ping_pong in [headless_app::ping_pong, egui_app::ping_pong] {
        let mut app = ping_pong(40).unwrap();
        for _ in 0..3 {
            app.ask(Ask::Back).unwrap();
        }
    }
}

#[test]
fn frames_are_drawn_and_counted() {
    for mode in egui_app::Mode::ALL {
        let frames = std::process::Command::new(FRAMES)
            .args([mode.word(), "40", "2"])
            .status();
        assert!(frames.unwrap().success(), "{mode:?}");
    }
    if instructions::can_count() {
        let plain = egui_app::Mode::Plain;
        let counted = instructions::of_a_frame(Path::new(FRAMES), plain, 40).unwrap();
        assert!(counted > 0);
    }
}

const FRAMES: &str = env!("CARGO_BIN_EXE_egui_frames");
