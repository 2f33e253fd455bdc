//! `bench_table`: measures everything that needs no display and prints the table. `cargo xtask bench`
//! builds it and puts the table where it belongs.

use agent_bench::{
    measure::{Plan, measure},
    table::markdown,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let egui_frames = std::env::current_exe()?.with_file_name("egui_frames");
    let rows = measure(&Plan::FULL, &egui_frames, |what| {
        eprintln!("measuring: {what}");
    })?;
    print!("{}", markdown(&rows));
    Ok(())
}
