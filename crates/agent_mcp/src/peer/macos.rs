//! macOS: `LOCAL_PEERCRED`, `LOCAL_PEERPID` and `libproc`. Checked for its types; not run yet.

#![expect(
    unsafe_code,
    reason = "neither the standard library nor rustix has these calls"
)]

use std::{
    ffi::{OsString, c_int, c_void},
    io,
    mem::{MaybeUninit, size_of},
    os::{
        fd::{AsFd, AsRawFd as _},
        unix::ffi::OsStringExt as _,
    },
    path::PathBuf,
};

pub(crate) use super::unheld::Held;

use super::Credentials;

/// Whether this platform tells who is at the other end.
pub(crate) const AVAILABLE: bool = true;

/// Who connected, as of when it did.
pub(crate) fn credentials(socket: impl AsFd) -> io::Result<Credentials> {
    let found: libc::xucred = option(&socket, libc::LOCAL_PEERCRED)?;
    if found.cr_version != libc::XUCRED_VERSION {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let pid: libc::pid_t = option(&socket, libc::LOCAL_PEERPID)?;
    Ok(Credentials {
        uid: found.cr_uid,
        pid: u32::try_from(pid).ok().filter(|pid| *pid != 0),
    })
}

/// What the kernel keeps of a Unix socket under this name: plain numbers, all of them or none.
fn option<T: Copy>(socket: impl AsFd, name: c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let size = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    let mut filled = size;
    // SAFETY: `value` has room for `size` bytes, which is what the kernel is told, and both
    // places outlive the call. The descriptor is borrowed, and so open.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_LOCAL,
            name,
            value.as_mut_ptr().cast::<c_void>(),
            &raw mut filled,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    if filled != size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // SAFETY: it was zeroed, and the kernel has filled all of it; both types that are asked for
    // are numbers, of which any bits are one.
    Ok(unsafe { value.assume_init() })
}

/// When the process started, in microseconds since 1970.
pub(crate) fn started(pid: u32) -> Option<u64> {
    let info = info(pid)?;
    let seconds = info.pbi_start_tvsec.checked_mul(1_000_000)?;
    seconds.checked_add(info.pbi_start_tvusec)
}

/// Whose it is.
pub(crate) fn owner(pid: u32) -> Option<u32> {
    Some(info(pid)?.pbi_uid)
}

fn info(pid: u32) -> Option<libc::proc_bsdinfo> {
    let pid = c_int::try_from(pid).ok()?;
    let size = c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    // SAFETY: `info` has room for `size` bytes, which is what the call is told, and outlives it.
    let filled = unsafe {
        libc::proc_pidinfo(
            pid,
            libc::PROC_PIDTBSDINFO,
            0,
            info.as_mut_ptr().cast::<c_void>(),
            size,
        )
    };
    // SAFETY: it was zeroed, and is filled where the call says so; the type is numbers, of which
    // any bits are one.
    (filled == size).then(|| unsafe { info.assume_init() })
}

/// The program that it runs.
pub(crate) fn executable(pid: u32) -> Option<PathBuf> {
    let pid = c_int::try_from(pid).ok()?;
    let mut path = vec![0_u8; usize::try_from(libc::PROC_PIDPATHINFO_MAXSIZE).ok()?];
    let room = u32::try_from(path.len()).ok()?;
    // SAFETY: `path` has room for as many bytes as the call is told, and outlives it.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast::<c_void>(), room) };
    let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
    path.truncate(length);
    Some(PathBuf::from(OsString::from_vec(path)))
}
