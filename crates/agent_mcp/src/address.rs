//! Where the socket is: which folder, and what it is called in there.

use std::{
    ffi::OsString,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use crate::error::ServeError;

/// The folder's name, in the user's runtime folder or cache.
const FOLDER: &str = "agent-surface";

/// What a socket's file is called, after its stem.
pub(crate) const SOCKET: &str = ".sock";

/// What the description beside it is called, after the same stem.
pub(crate) const DESCRIPTOR: &str = ".json";

/// The most bytes that the path of a socket has: `sun_path` without its final zero.
pub(crate) const MAX_PATH: usize = if cfg!(any(target_os = "linux", target_os = "android")) {
    107
} else {
    103
};

/// The folder for this user's sockets: `$XDG_RUNTIME_DIR/agent-surface`, where that is a folder
/// of this user's and of nobody else's, else the same in the user's cache. It only says where:
/// nothing in the environment switches serving on.
pub(crate) fn folder() -> Result<PathBuf, ServeError> {
    let uid = rustix::process::geteuid().as_raw();
    let usable = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|found| {
            found.is_dir() && found.uid() == uid && found.permissions().mode() & 0o022 == 0
        })
    };
    let found = folder_from(|name| std::env::var_os(name), std::env::home_dir(), usable)?;
    if !fits(&found.folder) {
        return Err(ServeError::PathTooLong {
            path: found.folder,
            max: MAX_PATH,
        });
    }
    if let Some(parent) = &found.create {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(ServeError::io("create the user's cache folder"))?;
    }
    Ok(found.folder)
}

#[derive(Debug, PartialEq)]
struct Found {
    folder: PathBuf,
    /// The folder that it is in, if that may have to be made.
    create: Option<PathBuf>,
}

fn folder_from(
    env: impl Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
    usable: impl Fn(&Path) -> bool,
) -> Result<Found, ServeError> {
    // A relative path there is to be ignored, says the XDG specification.
    let absolute = |name| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(runtime) = absolute("XDG_RUNTIME_DIR")
        && usable(&runtime)
        && fits(&runtime.join(FOLDER))
    {
        return Ok(Found {
            folder: runtime.join(FOLDER),
            create: None,
        });
    }
    let home = home.filter(|home| home.is_absolute());
    let cache = if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| home.map(|home| home.join(".cache")))
    };
    let cache = cache.ok_or(ServeError::NoFolder)?;
    Ok(Found {
        folder: cache.join(FOLDER),
        create: Some(cache),
    })
}

/// Whether any socket of ours could have its path in there.
fn fits(folder: &Path) -> bool {
    stem(folder, "x", u32::MAX, 99).is_some()
}

/// What the files of one server are called, without their endings: `app-pid`, or `app-pid-2` for
/// a second one. Shortened where the socket's path would be too long: the beginning of the app's
/// id, and a hash of all of it. `None`: even that is too long in this folder.
pub(crate) fn stem(folder: &Path, app: &str, pid: u32, number: u32) -> Option<String> {
    let ending = match number {
        0 | 1 => format!("-{pid}"),
        n => format!("-{pid}-{n}"),
    };
    let room = MAX_PATH
        .checked_sub(folder.as_os_str().as_bytes().len() + 1)?
        .checked_sub(ending.len() + SOCKET.len())?;
    if app.len() <= room {
        return Some(format!("{app}{ending}"));
    }
    let hash = format!("-{:08x}", hash(app.as_bytes()));
    // The id is ASCII, by `check_id`; were it not, the cut moves to the border before.
    let kept = app.floor_char_boundary(room.checked_sub(hash.len())?);
    Some(format!("{}{hash}{ending}", app.get(..kept)?))
}

/// FNV-1a, folded to 32 bits: the same in every build and on every machine.
fn hash(bytes: &[u8]) -> u32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_only_says_where() {
        let check = |runtime: Option<&str>, cache: Option<&str>, home: Option<&str>, expected| {
            let env = |name: &str| match name {
                "XDG_RUNTIME_DIR" => runtime.map(OsString::from),
                "XDG_CACHE_HOME" => cache.map(OsString::from),
                _ => None,
            };
            let found = folder_from(env, home.map(PathBuf::from), |path| {
                path.starts_with("/run/user")
            });
            let found = found.ok().map(|found| found.folder.display().to_string());
            assert_eq!(found.as_deref(), expected, "{runtime:?} {cache:?} {home:?}");
        };
        check(
            Some("/run/user/7"),
            None,
            None,
            Some("/run/user/7/agent-surface"),
        );
        check(
            Some("/tmp"),
            None,
            Some("/home/a"),
            Some("/home/a/.cache/agent-surface"),
        );
        check(
            None,
            Some("/cache"),
            Some("/home/a"),
            Some("/cache/agent-surface"),
        );
        check(
            Some("run/user"),
            Some("cache"),
            Some("/home/a"),
            Some("/home/a/.cache/agent-surface"),
        );
        let long = format!("/run/user/{}", "x".repeat(100));
        check(
            Some(&long),
            Some("/cache"),
            None,
            Some("/cache/agent-surface"),
        );
        check(None, None, None, None);
        check(None, None, Some("home"), None);
    }

    #[test]
    fn rule_10_long_names_are_shortened_by_bytes() {
        let stem = |folder: &str, app: &str, number| stem(Path::new(folder), app, 4711, number);
        assert_eq!(stem("/run/user/1", "mail", 1).unwrap(), "mail-4711");
        assert_eq!(stem("/run/user/1", "mail", 2).unwrap(), "mail-4711-2");
        let long = "a".repeat(200);
        for folder in ["/run/user/1/agent-surface", "/r", &"/d".repeat(38)] {
            let name = stem(folder, &long, 12).unwrap();
            assert_eq!(
                folder.len() + 1 + name.len() + SOCKET.len(),
                MAX_PATH,
                "{name}"
            );
            assert!(name.ends_with("-4711-12"), "{name}");
            assert_ne!(name, stem(folder, &"a".repeat(199), 12).unwrap());
        }
        assert_eq!(stem(&"/d".repeat(52), "mail", 1), None);
        assert!(stem("/r", &"ä".repeat(90), 1).unwrap().contains("ä-"));
    }
}
