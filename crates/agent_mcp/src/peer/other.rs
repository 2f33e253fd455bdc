//! Where nobody tells who is at the other end: nothing is served.

use std::{io, os::fd::AsFd, path::PathBuf};

pub(crate) use super::unheld::Held;

use super::Credentials;

/// Whether this platform tells who is at the other end.
pub(crate) const AVAILABLE: bool = false;

/// Who connected, as of when it did.
pub(crate) fn credentials(_socket: impl AsFd) -> io::Result<Credentials> {
    Err(io::ErrorKind::Unsupported.into())
}

/// When the process started.
pub(crate) fn started(_pid: u32) -> Option<u64> {
    None
}

/// Whose it is.
pub(crate) fn owner(_pid: u32) -> Option<u32> {
    None
}

/// The program that it runs.
pub(crate) fn executable(_pid: u32) -> Option<PathBuf> {
    None
}
