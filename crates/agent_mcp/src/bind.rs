//! Binding a socket so that nobody else can take its place, read it before its time, or lose
//! theirs to it; and taking it away again.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketType},
};

use crate::{
    address::{DESCRIPTOR, MAX_PATH, SOCKET, stem},
    descriptor::Descriptor,
    error::ServeError,
    sys,
};

/// How long the folder's lock is waited for. It is held for milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// The same, where the app is about to exit and not much depends on it.
const LOCK_WAIT_AT_EXIT: Duration = Duration::from_millis(200);

/// How many servers of one process, or of processes in containers that have the same number,
/// are told apart by name.
const MAX_NUMBER: u32 = 99;

/// How many of the folder's files a sweep looks at.
const MAX_SWEPT: usize = 4_096;

/// The connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// A bound socket that listens, and the files that belong to it.
#[derive(Debug)]
pub(crate) struct Bound {
    folder: Folder,
    /// The process that bound it: a fork of it must not remove its files.
    pid: u32,
    socket: Owned,
    descriptor: Option<Owned>,
    pub(crate) path: PathBuf,
}

/// A file of ours: what it is called in the folder, and which one it was when we made it.
#[derive(Debug)]
struct Owned {
    name: OsString,
    identity: Identity,
}

/// Names one file for as long as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        reason = "the width of these differs between platforms"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
        }
    }
}

/// Binds the first free name of this app in its folder, after sweeping what killed apps left.
/// On the calling thread; waits a second at most.
pub(crate) fn publish(
    folder: &Path,
    describe: impl Fn(&Path) -> Descriptor,
    app: &str,
) -> Result<(Bound, OwnedFd), ServeError> {
    let folder = Folder::open(folder)?;
    let lock = folder.lock(LOCK_WAIT);
    if lock.is_some() {
        folder.sweep();
    }
    let pid = std::process::id();
    let mut in_use = PathBuf::new();
    for number in 1..=MAX_NUMBER {
        let stem =
            stem(&folder.path, app, pid, number).ok_or_else(|| too_long(&folder.path.join(app)))?;
        let name = format!("{stem}{SOCKET}");
        let path = folder.path.join(&name);
        let (socket, listener) = match folder.bind(name.as_ref(), lock.is_some()) {
            Ok(bound) => bound,
            Err(ServeError::InUse { path } | ServeError::Occupied { path }) => {
                in_use = path;
                continue;
            }
            Err(error) => return Err(error),
        };
        let json = describe(&path).to_json();
        let descriptor = match folder.write(&format!("{stem}{DESCRIPTOR}"), &json) {
            Ok(descriptor) => Some(descriptor),
            Err(error) => {
                folder.remove(&socket);
                return Err(ServeError::io("describe the app beside its socket")(error));
            }
        };
        drop(lock);
        let bound = Bound {
            folder,
            pid,
            socket,
            descriptor,
            path,
        };
        return Ok((bound, listener));
    }
    Err(ServeError::InUse { path: in_use })
}

/// Binds a path of the caller's choosing, with the same care and without a description beside
/// it. On the calling thread; waits a second at most.
pub(crate) fn bind(path: &Path) -> Result<(Bound, OwnedFd), ServeError> {
    let occupied = || ServeError::Occupied {
        path: path.to_owned(),
    };
    let name = path.file_name().ok_or_else(occupied)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = Folder::open(folder)?;
    let lock = folder.lock(LOCK_WAIT);
    let (socket, listener) = folder.bind(name, lock.is_some())?;
    drop(lock);
    let bound = Bound {
        folder,
        pid: std::process::id(),
        socket,
        descriptor: None,
        path: path.to_owned(),
    };
    Ok((bound, listener))
}

impl Bound {
    /// Removes the files, each only if it is still the one that was made.
    pub(crate) fn remove(&self) {
        if self.pid != std::process::id() {
            return;
        }
        // Without the lock, too: nobody replaces a socket that listens, and this one still does.
        let _lock = self.folder.lock(LOCK_WAIT_AT_EXIT);
        // The description first: while it is there, the socket is.
        if let Some(descriptor) = &self.descriptor {
            self.folder.remove(descriptor);
        }
        self.folder.remove(&self.socket);
    }
}

/// A folder that is ours alone, held open so that it stays the one that was checked.
#[derive(Debug)]
struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

/// Keeps other starting and ending servers away from the folder.
struct Lock<'a>(&'a Folder);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Not left to closing: a fork has the same lock.
        let _ = rustix::fs::flock(&self.0.fd, FlockOperation::Unlock);
    }
}

/// What stands where a socket should be.
#[derive(Debug, PartialEq)]
enum There {
    Nothing,
    /// A socket of ours that nobody listens at.
    Stale,
    /// Somebody listens, or nobody can tell.
    Live,
    /// Something else, or somebody else's.
    Other,
}

impl Folder {
    /// Opens it, made if it is missing: a real directory, ours, and closed to all others.
    fn open(path: &Path) -> Result<Self, ServeError> {
        match rustix::fs::mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(ServeError::io("create the socket's folder")(error)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR | Errno::MLINK => ServeError::NotAFolder {
                path: path.to_owned(),
            },
            error => ServeError::io("open the socket's folder")(error),
        })?;
        let stat = rustix::fs::fstat(&fd).map_err(ServeError::io("look at the socket's folder"))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(ServeError::FolderNotOurs {
                path: path.to_owned(),
                owner: stat.st_uid,
            });
        }
        let mode = Mode::from_raw_mode(stat.st_mode);
        if mode.intersects(Mode::RWXG | Mode::RWXO) {
            #[allow(clippy::useless_conversion, reason = "on macOS it has sixteen bits")]
            let mode = u32::from(mode.bits()) & 0o777;
            return Err(ServeError::FolderOpen {
                path: path.to_owned(),
                mode,
            });
        }
        Ok(Self {
            fd,
            path: path.to_owned(),
        })
    }

    /// `None`: it could not be had in time, or the file system has no locks.
    fn lock(&self, wait: Duration) -> Option<Lock<'_>> {
        let until = Instant::now() + wait;
        loop {
            match rustix::fs::flock(&self.fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(Lock(self)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(3));
                }
                Err(_) => return None,
            }
        }
    }

    /// Binds `name` and listens. `locked`: nobody else starts or ends here meanwhile.
    fn bind(&self, name: &OsStr, locked: bool) -> Result<(Owned, OwnedFd), ServeError> {
        let path = self.path.join(name);
        let address = SocketAddrUnix::new(&path)
            .ok()
            .filter(|_| path.as_os_str().as_bytes().len() <= MAX_PATH)
            .ok_or_else(|| too_long(&path))?;
        // More than once only where there is no lock.
        for _ in 0..5 {
            match self.look(name) {
                There::Nothing => {}
                There::Stale if locked => {
                    let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
                }
                There::Stale | There::Live => return Err(ServeError::InUse { path }),
                There::Other => return Err(ServeError::Occupied { path }),
            }
            let listener = sys::unix_socket().map_err(ServeError::io("make a socket"))?;
            sys::close_to_others(&listener)
                .map_err(ServeError::io("close the socket to others"))?;
            match rustix::net::bind(&listener, &address) {
                Ok(()) => {}
                Err(Errno::ADDRINUSE) => return Err(ServeError::InUse { path }),
                Err(error) => return Err(ServeError::io("bind the socket")(error)),
            }
            let Some(made) = self.stat(name) else {
                continue;
            };
            let socket = Owned {
                name: name.to_owned(),
                identity: Identity::of(&made),
            };
            let listens = rustix::net::listen(&listener, BACKLOG);
            let closed = listens
                .map_err(ServeError::io("listen"))
                .and_then(|()| self.check(name, &made));
            if let Err(error) = closed {
                self.remove(&socket);
                return Err(error);
            }
            if !locked {
                // Who sweeps may have looked between `bind` and `listen`, and thinks it stale.
                std::thread::sleep(Duration::from_millis(50));
                if !self.is_there(&socket) {
                    continue;
                }
            }
            return Ok((socket, listener));
        }
        Err(ServeError::InUse { path })
    }

    /// That what we bound is a socket, ours, and closed to others; a `umask` may have closed it
    /// to us as well.
    fn check(&self, name: &OsStr, stat: &Stat) -> Result<(), ServeError> {
        let path = || self.path.join(name);
        if !is_socket(stat) || stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(ServeError::Occupied { path: path() });
        }
        let ours = Mode::RUSR | Mode::WUSR;
        if Mode::from_raw_mode(stat.st_mode) == ours {
            return Ok(());
        }
        rustix::fs::chmodat(&self.fd, name, ours, AtFlags::empty())
            .map_err(ServeError::io("close the socket to others"))
    }

    fn stat(&self, name: &OsStr) -> Option<Stat> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    fn look(&self, name: &OsStr) -> There {
        let Some(stat) = self.stat(name) else {
            return There::Nothing;
        };
        if !is_socket(&stat) || stat.st_uid != rustix::process::geteuid().as_raw() {
            return There::Other;
        }
        let refused = SocketAddrUnix::new(self.path.join(name)).is_ok_and(|address| {
            sys::unix_socket()
                // It does not block: a live server with a full backlog must not hold us up.
                .map(|socket| rustix::net::connect(socket, &address))
                .is_ok_and(|connected| connected == Err(Errno::CONNREFUSED))
        });
        if refused { There::Stale } else { There::Live }
    }

    /// Removes what killed apps left: sockets of ours that refuse, with the description beside
    /// them, and descriptions without a socket. Only under the lock.
    fn sweep(&self) {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.fd) else {
            return;
        };
        let names: Vec<OsString> = entries
            .flatten()
            .take(MAX_SWEPT)
            .map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned())
            .collect();
        for name in &names {
            if name.as_bytes().ends_with(SOCKET.as_bytes()) && self.look(name) == There::Stale {
                let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
            }
        }
        for name in &names {
            let stem = [DESCRIPTOR, UNFINISHED]
                .iter()
                .find_map(|ending| name.as_bytes().strip_suffix(ending.as_bytes()));
            let Some(stem) = stem else { continue };
            let socket = OsString::from_vec([stem, SOCKET.as_bytes()].concat());
            let is_ours = |stat: Stat| {
                FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                    && stat.st_uid == rustix::process::geteuid().as_raw()
            };
            if self.stat(&socket).is_none() && self.stat(name).is_some_and(is_ours) {
                let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
            }
        }
    }

    /// Writes a file whole: it has its name only when it has its contents.
    fn write(&self, name: &str, contents: &[u8]) -> io::Result<Owned> {
        let stem = name.strip_suffix(DESCRIPTOR).unwrap_or(name);
        let unfinished = format!("{stem}{UNFINISHED}");
        match rustix::fs::unlinkat(&self.fd, &unfinished, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let ours = Mode::RUSR | Mode::WUSR;
        let fd = rustix::fs::openat(&self.fd, &unfinished, flags | OFlags::NOFOLLOW, ours)?;
        let written = (|| {
            rustix::fs::fchmod(&fd, ours)?;
            let identity = Identity::of(&rustix::fs::fstat(&fd)?);
            io::Write::write_all(&mut std::fs::File::from(fd), contents)?;
            rustix::fs::renameat(&self.fd, &unfinished, &self.fd, name)?;
            Ok(Owned {
                name: name.into(),
                identity,
            })
        })();
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&self.fd, &unfinished, AtFlags::empty());
        }
        written
    }

    fn remove(&self, owned: &Owned) {
        if self.is_there(owned) {
            let _ = rustix::fs::unlinkat(&self.fd, &owned.name, AtFlags::empty());
        }
    }

    fn is_there(&self, owned: &Owned) -> bool {
        self.stat(&owned.name)
            .is_some_and(|stat| Identity::of(&stat) == owned.identity)
    }
}

fn too_long(path: &Path) -> ServeError {
    ServeError::PathTooLong {
        path: path.to_owned(),
        max: MAX_PATH,
    }
}

/// What a description is called until it is whole.
const UNFINISHED: &str = ".json.new";

fn is_socket(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Socket
}

/// Whether it is a Unix stream socket that is connected.
pub(crate) fn is_connected_stream(fd: &OwnedFd) -> bool {
    rustix::net::sockopt::socket_type(fd) == Ok(SocketType::STREAM)
        && rustix::net::getsockname(fd)
            .is_ok_and(|name| name.address_family() == AddressFamily::UNIX)
        && rustix::net::getpeername(fd).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_socket_is_closed_to_others_when_it_appears() {
        let path = std::env::temp_dir().join(format!("agent-mcp-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let socket = sys::unix_socket().unwrap();
        sys::close_to_others(&socket).unwrap();
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(mode & 0o777, 0o600);
    }
}
