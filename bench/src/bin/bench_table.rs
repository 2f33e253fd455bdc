//! `bench_table`: measures everything and prints the table. `cargo xtask bench` builds it and puts
//! the table where it belongs.

use agent_bench::table::{Plan, markdown, measure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let egui_frames = std::env::current_exe()?.with_file_name("egui_frames");
    let rows = measure(&Plan::FULL, &egui_frames, |what| {
        eprintln!("measuring: {what}");
    })?;
    print!("{}", markdown(&rows));
    Ok(())
}
