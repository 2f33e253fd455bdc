//! Who is at the other end of a socket, as the kernel has it.

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android", target_os = "macos")),
    path = "other.rs"
)]
mod platform;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod unheld;

use std::{os::fd::AsFd, sync::Arc};

use agent_core::Peer;
use platform::Held;

pub(crate) use platform::{AVAILABLE, credentials, executable, started};

/// Who is at the other end of what is given to [`serve_fd`](crate::serve_fd).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum FdPeer {
    /// Whoever the kernel says; nobody known, if it says that it is the app itself, as of one
    /// half of a pair that the app made.
    #[default]
    Unknown,
    /// This process. The app's own is never taken for an agent's.
    Pid(u32),
    /// Whoever the app calls so: it vouches for the name, and no `hello` changes it. A policy
    /// finds it in [`Peer::named`]; with `agent_consent` all of one name are one agent, of which
    /// nothing is proven.
    Named(String),
}

/// What the kernel keeps of the process that connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) uid: u32,
    /// `None`: a process that has no number here, in another container.
    pub(crate) pid: Option<u32>,
}

/// The facts for the gate of who connected. `None`: it can't be identified, or it is the app
/// itself.
pub(crate) fn connected(socket: impl AsFd, credentials: Credentials) -> Option<Arc<Peer>> {
    let pid = credentials.pid?;
    // From before its facts are read to after: what has its number by now is another.
    let held = Held::at(socket, pid);
    let peer = process(pid, Some(credentials.uid))?;
    if held.has_ended() {
        return Some(Arc::new(Peer {
            uid: Some(credentials.uid),
            ..Peer::default()
        }));
    }
    Some(peer)
}

/// The facts for the gate of a process that the app named. `None`: it is the app itself.
pub(crate) fn named(pid: u32) -> Option<Arc<Peer>> {
    process(pid, platform::owner(pid))
}

fn process(pid: u32, uid: Option<u32>) -> Option<Arc<Peer>> {
    if pid == std::process::id() {
        return None;
    }
    Some(Arc::new(Peer {
        uid,
        pid: Some(pid),
        started: started(pid),
        executable: executable(pid),
        named: None,
    }))
}
