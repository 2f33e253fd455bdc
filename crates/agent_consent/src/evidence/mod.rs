//! Who is behind a connection, on the evidence of the kernel: the process that connected, the
//! parents all the way up, and which of them is the one that asks.

mod fingerprint;
mod names;
#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android")),
    path = "other.rs"
)]
mod platform;
mod principal;

use std::path::PathBuf;

pub use fingerprint::Fingerprints;
pub(crate) use fingerprint::hash;
pub use principal::Agent;

/// One process of the chain from the one that connected up to the first of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number, as of when it was looked at.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot: with the pid it names one process.
    pub started: u64,
    /// Whether it leads a session of its own, as what `setsid` starts does.
    pub leads_session: bool,
    /// The file that it runs. `None`: that can't be read (another user's, or not dumpable), or
    /// is no file any more (deleted, or only in memory).
    pub executable: Option<PathBuf>,
    /// By what the file is known. `None`: it can't be read, or is above who asks and not looked
    /// at.
    pub proof: Option<Proof>,
    /// Where it is an interpreter or a shell, what it runs: a claim, as a process can say what
    /// it likes of its arguments.
    pub script: Option<Script>,
}

/// By what an executable is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By its path: it and the folders that it lies in are the system's, and the user can't
    /// write to them.
    Path,
    /// By what is in it, as SHA-256 in hexadecimal digits: its user can write to it.
    Content(String),
}

/// What an interpreter says that it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file.
    pub path: PathBuf,
    /// What was in it when it was looked at, as SHA-256 in hexadecimal digits. `None`: it is a
    /// folder, or can't be read.
    pub content: Option<String>,
}
