//! Which apps of this user's serve agents, for whoever wants to connect to one.

use std::{
    ffi::OsString,
    fmt, io,
    os::{
        fd::OwnedFd,
        unix::{
            ffi::{OsStrExt as _, OsStringExt as _},
            fs::{MetadataExt as _, PermissionsExt as _},
            net::UnixStream,
        },
    },
    path::{Path, PathBuf},
};

use agent_core::{check_id, cut};
use rustix::{io::Errno, net::SocketAddrUnix};

use crate::{
    address::{self, DESCRIPTOR, SOCKET},
    descriptor::Described,
    error::ServeError,
    peer, sys,
};

/// How many files of the folder are looked at.
const MAX_FILES: usize = 4_096;

/// How long a description may be; one of ours has some hundred bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Graphemes of a name that are shown.
const MAX_NAME: usize = 100;

/// What was found in the folder.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The apps that listen, by their ids, then their process numbers.
    pub apps: Vec<Running>,
    /// What stands there and is not what it says it is: never to be connected to.
    pub odd: Vec<Odd>,
}

/// An app that serves agents. What it calls itself is its own word; its process is the kernel's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its id: what a node's id may be made of.
    pub app: String,
    /// What it calls itself to people; cut where it is long.
    pub name: String,
    /// Its process, which is the one behind the socket.
    pub pid: u32,
    /// When that process started, in the kernel's ticks since boot.
    pub started: Option<u64>,
    /// The program that the process runs, as the kernel has it.
    pub executable: Option<PathBuf>,
    /// The socket.
    pub address: PathBuf,
}

/// A description that nothing can be made of, or that the process behind its socket contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The description's file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// Why an app can't be connected to.
#[derive(Debug)]
pub enum ConnectError {
    /// Nobody listens there any more.
    Gone,
    /// It has more connections waiting than it takes.
    Busy,
    /// Another process listens there than the description says, or another user's.
    Impostor {
        /// Which process listens.
        pid: Option<u32>,
        /// What that runs.
        executable: Option<PathBuf>,
    },
    /// The system refused.
    Io(io::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("nobody listens there any more"),
            Self::Busy => f.write_str("it has too many connections waiting; try again"),
            Self::Impostor { pid, executable } => {
                f.write_str("another process listens there than its description says")?;
                if let Some(pid) = pid {
                    write!(f, ": process {pid}")?;
                }
                if let Some(executable) = executable {
                    write!(f, ", {}", executable.display())?;
                }
                Ok(())
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConnectError {}

/// Looks for the apps of this user's that serve agents at the default address. Each one's socket
/// is connected to for a moment, to ask the kernel who is behind it; nothing is said there, so
/// nobody is asked for consent. Any thread; it waits for no app.
///
/// # Errors
/// If the folder is not this user's alone: what is in it can't be trusted then. A folder that
/// isn't there holds no apps.
pub fn discover() -> Result<Found, ServeError> {
    discover_in(&address::folder()?)
}

/// The same without connecting to any: an app is in it if the process that its description names
/// runs, by its number and start. Whether that process is the one that listens is asked by
/// [`Running::connect`].
///
/// # Errors
/// As with [`discover`].
pub fn described() -> Result<Found, ServeError> {
    look_in(&address::folder()?, false)
}

/// Looks in another folder than the default, as [`discover`] does.
///
/// # Errors
/// As with [`discover`].
pub fn discover_in(folder: &Path) -> Result<Found, ServeError> {
    look_in(folder, true)
}

fn look_in(folder: &Path, connect: bool) -> Result<Found, ServeError> {
    let mut found = Found::default();
    let stat = match std::fs::symlink_metadata(folder) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(ServeError::io("look at the sockets' folder")(error)),
    };
    let path = || folder.to_owned();
    if !stat.is_dir() {
        return Err(ServeError::NotAFolder { path: path() });
    }
    if stat.uid() != rustix::process::geteuid().as_raw() {
        return Err(ServeError::FolderNotOurs {
            path: path(),
            owner: stat.uid(),
        });
    }
    let mode = stat.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(ServeError::FolderOpen { path: path(), mode });
    }
    let files = std::fs::read_dir(folder).map_err(ServeError::io("list the sockets' folder"))?;
    for file in files.flatten().take(MAX_FILES) {
        let name = file.file_name();
        let Some(stem) = name.as_bytes().strip_suffix(DESCRIPTOR.as_bytes()) else {
            continue;
        };
        let socket = OsString::from_vec([stem, SOCKET.as_bytes()].concat());
        match look(&file.path(), folder.join(socket), connect) {
            Ok(Some(app)) => found.apps.push(app),
            Ok(None) => {}
            Err(why) => found.odd.push(Odd {
                file: file.path(),
                why,
            }),
        }
    }
    found
        .apps
        .sort_by(|a, b| (&a.app, a.pid, &a.address).cmp(&(&b.app, b.pid, &b.address)));
    found.odd.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

/// The app of this description. `None`: it has quit.
fn look(file: &Path, address: PathBuf, connect: bool) -> Result<Option<Running>, String> {
    let json = match read(file) {
        Ok(json) => json,
        // It quit while we looked.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let described: Described =
        serde_json::from_slice(&json).map_err(|_| "it is no description of an app".to_owned())?;
    check_id(&described.app).map_err(|why| format!("its app id is none: {why}"))?;
    let mut running = Running {
        app: described.app,
        name: cut(described.name, MAX_NAME).text,
        pid: described.pid,
        started: described.started,
        executable: None,
        address,
    };
    let there = if connect {
        running.connect().map(drop)
    } else if running.started.is_some() && peer::started(running.pid) == running.started {
        Ok(())
    } else {
        Err(ConnectError::Gone)
    };
    match there {
        Ok(()) => {}
        Err(ConnectError::Gone) => return Ok(None),
        // It is there; who it is shows when it is connected to.
        Err(ConnectError::Busy) => {}
        Err(why) => return Err(why.to_string()),
    }
    running.executable = peer::executable(running.pid);
    Ok(Some(running))
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let stat = std::fs::symlink_metadata(file)?;
    if !stat.is_file() || stat.len() > MAX_BYTES {
        return Err(io::Error::other("it is no description of an app"));
    }
    std::fs::read(file)
}

impl Running {
    /// Connects, and checks that the process behind the socket is the one that the description
    /// names: the same number, started at the same time, this user's. Never waits.
    ///
    /// # Errors
    /// If it has quit, or is not who it says it is.
    pub fn connect(&self) -> Result<UnixStream, ConnectError> {
        let io = |error: Errno| ConnectError::Io(error.into());
        let address = SocketAddrUnix::new(&self.address).map_err(io)?;
        let socket = sys::unix_socket().map_err(ConnectError::Io)?;
        match rustix::io::retry_on_intr(|| rustix::net::connect(&socket, &address)) {
            Ok(()) => {}
            Err(Errno::CONNREFUSED | Errno::NOENT) => return Err(ConnectError::Gone),
            Err(Errno::AGAIN) => return Err(ConnectError::Busy),
            Err(error) => return Err(io(error)),
        }
        self.check(&socket)?;
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false).map_err(ConnectError::Io)?;
        Ok(stream)
    }

    fn check(&self, socket: &OwnedFd) -> Result<(), ConnectError> {
        let behind = peer::credentials(socket).map_err(ConnectError::Io)?;
        let is_the_one = behind.uid == rustix::process::geteuid().as_raw()
            && behind.pid == Some(self.pid)
            // Another process may have the number of one that is gone.
            && peer::started(self.pid) == self.started;
        if is_the_one {
            return Ok(());
        }
        Err(ConnectError::Impostor {
            pid: behind.pid,
            executable: behind.pid.and_then(peer::executable),
        })
    }
}
