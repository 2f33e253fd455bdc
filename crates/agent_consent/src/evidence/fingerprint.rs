//! By what a file is known: its path, where its user can't write to it, else what is in it.

use std::{
    collections::HashMap,
    fs::File,
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::Proof;

/// The largest file that is looked at. A larger one is known by nothing.
const MAX_BYTES: u64 = 1 << 30;

/// Files whose hashes are kept; beyond this all are forgotten.
const MAX_KEPT: usize = 1_024;

/// A file that was changed less long ago may change again without its time telling so, as clocks
/// of file systems tick coarsely: what was read of it is not kept.
const SETTLED: Duration = Duration::from_secs(2);

/// Hashes of files, kept as long as a file is the same by device, number, size and time of
/// change. Used on the threads of connections, as reading a large program takes its time.
#[derive(Debug, Default)]
pub struct Fingerprints {
    kept: Mutex<HashMap<State, String>>,
}

/// What is different when a file was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl State {
    fn of(file: &File) -> Option<Self> {
        let found = file.metadata().ok()?;
        found.is_file().then(|| Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    fn is_settled(&self) -> bool {
        let changed = u64::try_from(self.changed.0).unwrap_or(u64::MAX);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        now.checked_sub(SETTLED)
            .is_some_and(|then| changed < then.as_secs())
    }
}

impl Fingerprints {
    /// By what this executable is known, which this path led to. `None`: it can't be read, is
    /// too large, or changes while it is looked at.
    pub(crate) fn prove(&self, path: &Path, file: &File) -> Option<Proof> {
        let user = rustix::process::geteuid().as_raw();
        if is_the_systems(path, file, user) {
            return Some(Proof::Path);
        }
        self.content(file).map(Proof::Content)
    }

    /// SHA-256 of what is in a file, in hexadecimal digits.
    pub(crate) fn content(&self, file: &File) -> Option<String> {
        let state = State::of(file)?;
        if state.size > MAX_BYTES {
            return None;
        }
        if let Some(known) = self.lock().get(&state) {
            return Some(known.clone());
        }
        let hash = hash_of(file)?;
        if State::of(file)? != state {
            return None;
        }
        if state.is_settled() {
            let mut kept = self.lock();
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.insert(state, hash.clone());
        }
        Some(hash)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<State, String>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash_of(mut file: &File) -> Option<String> {
    let mut hash = hmac_sha256::Hash::new();
    let mut part = vec![0; 256 * 1024];
    let mut total = 0u64;
    loop {
        match file.read(&mut part) {
            Ok(0) => return Some(hex(&hash.finalize())),
            Ok(read) => {
                total += read as u64;
                if total > MAX_BYTES {
                    return None;
                }
                hash.update(part.get(..read)?);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// SHA-256 of these bytes, in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&hmac_sha256::Hash::hash(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the file and every folder on its path are root's, and nobody else can write to them,
/// and the path leads to this very file: in another's view of the file system it may lead
/// elsewhere. Root itself can write to anything.
fn is_the_systems(path: &Path, file: &File, user: u32) -> bool {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let roots =
        |found: &std::fs::Metadata| found.uid() == 0 && found.mode() & WRITABLE_BY_OTHERS == 0;
    let (Ok(opened), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    user != 0
        && roots(&opened)
        && (opened.dev(), opened.ino()) == (named.dev(), named.ino())
        && path.ancestors().skip(1).all(|folder| {
            std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && roots(&found))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_content() {
        let folder = agent_test_support::folder();
        let path = folder.path().join("program");
        let prints = Fingerprints::default();
        let content = |text: &str| {
            std::fs::write(&path, text).unwrap();
            prints.content(&File::open(&path).unwrap()).unwrap()
        };
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content("abc"), abc);
        // The same size, within the same tick of the file system's clock.
        for _ in 0..100 {
            assert_ne!(content("abd"), abc);
            assert_eq!(content("abc"), abc);
        }
        assert_eq!(prints.content(&File::open(folder.path()).unwrap()), None);
    }

    #[test]
    fn what_was_read_once_is_not_read_again() {
        let prints = Fingerprints::default();
        let program = File::open(std::env::current_exe().unwrap()).unwrap();
        let state = State::of(&program).unwrap();
        prints.lock().insert(state, "known".into());
        assert_eq!(prints.content(&program).as_deref(), Some("known"));
    }

    #[test]
    fn only_what_its_user_cannot_write_to_is_known_by_its_path() {
        let check = |path: &str, user, expected| {
            let path = std::fs::canonicalize(path).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(
                is_the_systems(&path, &file, user),
                expected,
                "{path:?} {user}"
            );
        };
        check("/bin/sh", 1000, true);
        check("/bin/sh", 0, false);
        check(
            &std::env::current_exe().unwrap().to_string_lossy(),
            0,
            false,
        );
        let folder = agent_test_support::folder();
        let own = folder.path().join("program");
        std::fs::write(&own, "x").unwrap();
        // In /tmp, to which everybody can write.
        check(&own.to_string_lossy(), 1000, false);
        // The path leads to another file than the one that runs.
        let other = File::open("/bin/sh").unwrap();
        assert!(!is_the_systems(Path::new("/etc/passwd"), &other, 1000));
    }
}
