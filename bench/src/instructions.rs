//! What an egui frame costs in instructions, which are the same whatever else the machine does:
//! `egui_frames` under callgrind, with few frames and with more, and the difference of the two.

use std::{
    io,
    path::Path,
    process::{Command, Stdio},
};

use crate::egui_app::Mode;

const FEW: u64 = 2;
const MORE: u64 = 12;

/// Whether there is a callgrind to count with.
pub fn can_count() -> bool {
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--version").stdout(Stdio::null());
    valgrind.status().is_ok_and(|status| status.success())
}

/// Those of one frame of this mode with `n` widgets. `program` is `egui_frames`.
///
/// # Errors
/// If it can't be run, or callgrind says nothing.
pub fn of_a_frame(program: &Path, mode: Mode, n: usize) -> io::Result<u64> {
    let (few, more) = std::thread::scope(|scope| {
        let few = scope.spawn(|| count(program, mode, n, FEW));
        let more = count(program, mode, n, MORE);
        let few = few.join().unwrap_or(Err(io::ErrorKind::Other.into()));
        (few, more)
    });
    Ok(more?.saturating_sub(few?) / (MORE - FEW))
}

fn count(program: &Path, mode: Mode, n: usize, frames: u64) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([mode.word(), &n.to_string(), &frames.to_string()])
        .stdin(Stdio::null())
        .output()?;
    // `==123== Collected : 4567`
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match collected {
        Some(collected) if output.status.success() => Ok(collected),
        _ => Err(io::Error::other(format!("callgrind failed:\n{said}"))),
    }
}
