//! Where nobody tells who is at the other end: nothing is served.

use std::{io, os::fd::AsFd, path::PathBuf};

use super::Credentials;

/// Whether this platform tells who is at the other end.
pub(crate) const AVAILABLE: bool = false;

/// Who connected, as of when it did.
pub(crate) fn credentials(_socket: impl AsFd) -> io::Result<Credentials> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A handle on the process that connected: this system has none, when it started has to do.
pub(crate) struct Held;

impl Held {
    pub(crate) fn at(_socket: impl AsFd, _pid: u32) -> Self {
        Self
    }

    pub(crate) fn has_ended(&self) -> bool {
        false
    }
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
