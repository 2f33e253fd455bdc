//! Linux: `SO_PEERCRED`, `SO_PEERPIDFD` and `/proc`.

#![expect(
    unsafe_code,
    reason = "neither the standard library nor rustix has SO_PEERPIDFD"
)]

use std::{
    ffi::{c_int, c_void},
    io,
    mem::size_of,
    os::{
        fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
        unix::fs::MetadataExt as _,
    },
    path::PathBuf,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::Credentials;

/// socket(7), since Linux 6.5; the same number wherever Rust apps run but on SPARC and PA-RISC.
const SO_PEERPIDFD: c_int = 77;

/// A handle on the process that connected: its number may be another's at any time.
pub(crate) enum Held {
    Handle(OwnedFd),
    /// It is gone already.
    Ended,
    /// This kernel has no handles; when it started has to do.
    None,
}

impl Held {
    /// On the process at the other end of `socket`, whose number is `pid`.
    pub(crate) fn at(socket: impl AsFd, pid: u32) -> Self {
        match handle(socket) {
            Ok(handle) => Self::Handle(handle),
            Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Self::of(pid),
            Err(_) => Self::Ended,
        }
    }

    /// The same on a kernel that has handles, but not of who connected.
    fn of(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        handle.map_or(Self::None, Self::Handle)
    }

    /// Whether it has ended by now: until then its number is nobody else's.
    pub(crate) fn has_ended(&self) -> bool {
        let handle = match self {
            Self::Handle(handle) => handle,
            Self::Ended => return true,
            Self::None => return false,
        };
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut waits = [PollFd::new(handle, PollFlags::IN)];
        !matches!(poll(&mut waits, Some(&at_once)), Ok(0))
    }
}

fn handle(socket: impl AsFd) -> io::Result<OwnedFd> {
    let mut handle: RawFd = -1;
    let mut size = libc::socklen_t::try_from(size_of::<RawFd>()).map_err(io::Error::other)?;
    // SAFETY: `handle` has room for the `size` bytes that the kernel is told of, and both places
    // outlive the call. The socket is borrowed, and so open.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut handle).cast::<c_void>(),
            &raw mut size,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    if handle < 0 {
        return Err(io::ErrorKind::NotFound.into());
    }
    // SAFETY: the kernel has just opened it for this process, and nobody else here knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(handle) })
}

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
    use std::{
        io::Read as _,
        os::unix::net::{UnixListener, UnixStream},
        process::{Command, Stdio},
    };

    use super::*;

    /// Where a child connects to.
    const ADDRESS: &str = "AGENT_MCP_PEER_ADDRESS";

    /// Run as a program of its own, it connects, and stays until its input ends.
    #[test]
    fn a_child_connects() {
        let Some(address) = std::env::var_os(ADDRESS) else {
            return;
        };
        let _connected = UnixStream::connect(address).unwrap();
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }

    #[test]
    fn who_is_gone_is_not_looked_for_by_its_number() {
        let folder = agent_test_support::folder();
        let address = folder.path().join("s");
        let listener = UnixListener::bind(&address).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["peer::platform::tests::a_child_connects", "--exact"])
            .env(ADDRESS, &address)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        let found = credentials(&stream).unwrap();
        assert_eq!(found.pid, Some(child.id()));
        let held = Held::at(&stream, child.id());
        assert!(!held.has_ended());
        let peer = crate::peer::connected(&stream, found).unwrap();
        assert_eq!(peer.pid, Some(child.id()));
        assert_eq!(peer.executable, std::env::current_exe().ok());

        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(held.has_ended());
        assert!(Held::at(&stream, child.id()).has_ended());
        // The number may be anybody's: here it is that of a process which runs.
        let another = Credentials {
            pid: Some(std::os::unix::process::parent_id()),
            ..found
        };
        let peer = crate::peer::connected(&stream, another).unwrap();
        assert_eq!(
            (peer.pid, peer.started, &peer.executable),
            (None, None, &None)
        );
        assert_eq!(peer.uid, Some(found.uid));
    }

    #[test]
    fn where_the_socket_tells_of_no_handle_the_number_gives_one() {
        assert!(!Held::of(std::process::id()).has_ended());
        assert!(!Held::None.has_ended());
    }

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
