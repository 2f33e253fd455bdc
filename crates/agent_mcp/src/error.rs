//! Why serving could not begin, for the app's developer.

use std::{io, path::PathBuf};

use agent_core::BadId;

/// Why serving could not begin. Each says what to do next.
#[derive(Debug)]
pub enum ServeError {
    /// The app's id is not one.
    App(BadId),
    /// There is neither a runtime folder nor a home folder to put the socket in.
    NoFolder,
    /// The folder belongs to another user.
    FolderNotOurs {
        /// Which folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Others may look into the folder.
    FolderOpen {
        /// Which folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Where the folder should be, there is a symbolic link or something else.
    NotAFolder {
        /// Where.
        path: PathBuf,
    },
    /// A socket of this path can't be had.
    PathTooLong {
        /// Which path.
        path: PathBuf,
        /// How many bytes it may have.
        max: usize,
    },
    /// Somebody serves there.
    InUse {
        /// Where.
        path: PathBuf,
    },
    /// Something that is not a stale socket of ours stands where the socket should be.
    Occupied {
        /// Where.
        path: PathBuf,
    },
    /// What was given to [`serve_fd`](crate::serve_fd) is not a connected stream socket.
    NotAStream,
    /// The process at the other end of what was given to [`serve_fd`](crate::serve_fd) belongs
    /// to another user.
    ForeignPeer {
        /// Whose it is.
        uid: u32,
    },
    /// On this platform nobody tells who is at the other end of a socket.
    Platform,
    /// The system refused.
    Io {
        /// What was tried, as "could not ...".
        what: &'static str,
        /// What it said.
        source: io::Error,
    },
}

impl ServeError {
    /// For `map_err`: the system refused what is described.
    pub(crate) fn io<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Io {
            what,
            source: source.into(),
        }
    }
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::App(why) => write!(f, "the app's id: {why}"),
            Self::NoFolder => f.write_str(
                "no folder for the socket: set XDG_RUNTIME_DIR, or HOME, to a folder of this user",
            ),
            Self::FolderNotOurs { path, owner } => write!(
                f,
                "{} belongs to user {owner}: remove it, or serve from a folder of your own",
                path.display()
            ),
            Self::FolderOpen { path, mode } => write!(
                f,
                "{} is open to others (mode {mode:03o}): run `chmod 700` on it, or choose a folder \
                 that is yours alone",
                path.display()
            ),
            Self::NotAFolder { path } => write!(
                f,
                "{} is a symbolic link, or no folder: remove it, or serve from a real folder",
                path.display()
            ),
            Self::PathTooLong { path, max } => write!(
                f,
                "{} is too long for a socket: choose a path of at most {max} bytes",
                path.display()
            ),
            Self::InUse { path } => write!(
                f,
                "somebody serves at {} already: stop that server, or choose another path",
                path.display()
            ),
            Self::Occupied { path } => write!(
                f,
                "{} exists, and is no stale socket of this user: remove it, or choose another path",
                path.display()
            ),
            Self::NotAStream => {
                f.write_str("not a connected stream socket: pass one half of a Unix socket pair")
            }
            Self::ForeignPeer { uid } => write!(
                f,
                "the process at the other end belongs to user {uid}: only this user's are served"
            ),
            Self::Platform => f.write_str(
                "serving agents over a socket is not built for this platform yet: on Linux it is",
            ),
            Self::Io { what, source } => write!(f, "could not {what}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::App(why) => Some(why),
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
