//! `egui_frames MODE N FRAMES`: draws that many frames and ends, to be counted from outside
//! (`valgrind --tool=callgrind`): instructions are the same whatever else the machine does.

use agent_bench::egui_app::{App, Mode};

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mode, n, frames] = &args[..] else {
        return Err("usage: egui_frames plain|tree|nobody|idle|describe|click N FRAMES".into());
    };
    let mode = Mode::from_word(mode).ok_or("no such mode")?;
    let number = |text: &str| text.parse::<usize>().map_err(|error| error.to_string());
    let mut app = App::new(mode, number(n)?);
    for _ in 0..number(frames)? {
        app.frame();
    }
    Ok(())
}
