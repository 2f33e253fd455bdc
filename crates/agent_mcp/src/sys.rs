//! The few calls that differ between platforms.

use std::{io, os::fd::OwnedFd};

use rustix::{
    fs::Mode,
    net::{AddressFamily, SendFlags, SocketType},
};

/// A stream socket, not bound, that no call on it waits for and no child inherits.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn unix_socket() -> io::Result<OwnedFd> {
    use rustix::net::SocketFlags;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        flags,
        None,
    )?)
}

/// A stream socket, not bound, that no call on it waits for and no child inherits.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn unix_socket() -> io::Result<OwnedFd> {
    let fd = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(fd)
}

/// Before it is bound, so that its file is closed to others from its first instant: on Linux
/// `bind` takes the mode from the socket. Elsewhere the folder, which is closed, has to do until
/// the mode is set.
pub(crate) fn close_to_others(socket: &OwnedFd) -> io::Result<()> {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        rustix::fs::fchmod(socket, Mode::RUSR | Mode::WUSR)?;
    }
    Ok(())
}

/// Sends what the socket takes now: never waits, and never raises a signal.
pub(crate) fn send(socket: impl std::os::fd::AsFd, bytes: &[u8]) -> rustix::io::Result<usize> {
    #[cfg(target_vendor = "apple")]
    let flags = SendFlags::DONTWAIT;
    #[cfg(not(target_vendor = "apple"))]
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    rustix::io::retry_on_intr(|| rustix::net::send(&socket, bytes, flags))
}
