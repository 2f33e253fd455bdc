//! Linux: `/proc`.

use std::{
    fs::File,
    io::Read as _,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::{Path, PathBuf},
};

/// The most of a process's arguments that is looked at.
const MAX_ARGUMENTS: u64 = 64 * 1024;

/// What a process says of itself, and when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) parent: u32,
    pub(crate) started: u64,
    pub(crate) session: u32,
}

/// `None`: there is no such process.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    stat_in(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The second field is the program's name between parentheses, and may hold anything.
fn stat_in(stat: &[u8]) -> Option<Stat> {
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let after = std::str::from_utf8(stat.get(after + 1..)?).ok()?;
    let mut fields = after.split_ascii_whitespace();
    Some(Stat {
        parent: fields.nth(1)?.parse().ok()?,
        session: fields.nth(1)?.parse().ok()?,
        started: fields.nth(15)?.parse().ok()?,
    })
}

/// A handle on the process. `None`: it is gone, or the kernel has none; then the start time has
/// to do.
pub(crate) fn hold(pid: u32) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// Whether it has ended: until then its number is nobody else's.
pub(crate) fn has_ended(held: &OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut waits = [PollFd::new(held, PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    !matches!(poll(&mut waits, Some(&at_once)), Ok(0))
}

/// The file that the process runs, opened: this very file, whatever its path leads to by now.
/// `None`: it can't be read, was deleted, or never had a name.
pub(crate) fn executable(pid: u32) -> Option<(PathBuf, File)> {
    let link = format!("/proc/{pid}/exe");
    let path = std::fs::read_link(&link).ok()?;
    let file = File::open(&link).ok()?;
    let found = rustix::fs::fstat(&file).ok()?;
    (path.is_absolute() && found.st_nlink > 0).then_some((path, file))
}

/// Its arguments, as far as they are looked at; empty if they can't be read.
pub(crate) fn arguments(pid: u32) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = File::open(format!("/proc/{pid}/cmdline"))
        .and_then(|file| file.take(MAX_ARGUMENTS).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    bytes
        .strip_suffix(&[0])
        .unwrap_or(&bytes)
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// A path that it spells, from its own working folder.
pub(crate) fn resolve(pid: u32, spelled: &str) -> Option<PathBuf> {
    let spelled = Path::new(std::ffi::OsStr::from_bytes(spelled.as_bytes()));
    if spelled.is_absolute() {
        return Some(spelled.to_owned());
    }
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    let folder = folder.into_os_string().into_vec();
    Some(Path::new(std::ffi::OsStr::from_bytes(&folder)).join(spelled))
}

/// A file to be read, if it is one: a pipe in its place must not hold up who looks.
pub(crate) fn open(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_and_start_are_found_behind_any_name() {
        let rest = "S 12 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        for name in ["sh", ") 1 2 (", "a b", "\u{fffd}"] {
            let found = stat_in(format!("7 ({name}) {rest}\n").as_bytes());
            let expected = Stat {
                parent: 12,
                started: 4711,
                session: 3,
            };
            assert_eq!(found, Some(expected));
        }
        for broken in ["", "7 (sh", "7 (sh) S 1 2", "7 (sh) S x 2 3 4"] {
            assert_eq!(stat_in(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn a_process_that_has_ended_is_known_for_that() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let held = hold(child.id());
        assert!(held.as_ref().is_none_or(|held| !has_ended(held)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(held.is_none_or(|held| has_ended(&held)));
    }

    #[test]
    fn this_process_is_found() {
        let pid = std::process::id();
        let (path, _) = executable(pid).unwrap();
        assert_eq!(Some(path), std::env::current_exe().ok());
        assert_eq!(
            stat(pid).unwrap().parent,
            std::os::unix::process::parent_id()
        );
        assert_eq!(arguments(pid), std::env::args().collect::<Vec<_>>());
        assert_eq!(
            resolve(pid, "x"),
            std::env::current_dir().ok().map(|it| it.join("x"))
        );
        assert!(hold(pid).is_none_or(|held| !has_ended(&held)));
        assert!(executable(u32::MAX).is_none() && stat(u32::MAX).is_none());
    }
}
