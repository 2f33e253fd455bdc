//! Linux: `SO_PEERCRED` and `/proc`.

use std::{
    io,
    os::{fd::AsFd, unix::fs::MetadataExt as _},
    path::PathBuf,
};

use super::Credentials;

/// Whether this platform tells who is at the other end.
pub(crate) const AVAILABLE: bool = true;

/// Who connected, as of when it did.
pub(crate) fn credentials(socket: impl AsFd) -> io::Result<Credentials> {
    let found = rustix::net::sockopt::socket_peercred(socket)?;
    // A process without a number here has 0, which the type is not made for: the compiler must
    // not conclude that it can't be.
    let pid = std::hint::black_box(found.pid.as_raw_pid());
    Ok(Credentials {
        uid: found.uid.as_raw(),
        pid: u32::try_from(pid).ok().filter(|pid| *pid != 0),
    })
}

/// When the process started, in ticks since boot.
pub(crate) fn started(pid: u32) -> Option<u64> {
    started_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The 22nd field. The second is the program's name between parentheses, and may hold anything.
fn started_in(stat: &str) -> Option<u64> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Whose it is.
pub(crate) fn owner(pid: u32) -> Option<u32> {
    Some(std::fs::metadata(format!("/proc/{pid}")).ok()?.uid())
}

/// The program that it runs.
pub(crate) fn executable(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_behind_any_name() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
        for name in ["sh", ") 1 2 (", "a b", ""] {
            assert_eq!(started_in(&format!("7 ({name}) {rest}\n")), Some(4711));
        }
        for broken in [
            "",
            "7 (sh",
            "7 (sh) S 1 2",
            "7 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x",
        ] {
            assert_eq!(started_in(broken), None, "{broken}");
        }
    }

    #[test]
    fn this_process_is_found() {
        let pid = std::process::id();
        assert!(started(pid).is_some());
        assert_eq!(executable(pid), std::env::current_exe().ok());
        assert_eq!(started(u32::MAX), None);
        assert_eq!(executable(u32::MAX), None);
    }
}
