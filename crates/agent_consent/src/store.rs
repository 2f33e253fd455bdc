//! The folder of remembered answers: a file a rule, safe for many apps and threads at once.

use std::{
    ffi::CStr,
    fs::{DirBuilder, File},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::DirBuilderExt as _,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use serde_json::{Map, Value};

use crate::{
    place,
    rule::{Bad, Rule, RuleId},
};

/// The largest file that can be a rule.
const MAX_BYTES: u64 = 64 * 1024;

/// Rules that are looked at in one folder.
const MAX_RULES: usize = 20_000;

/// Files that are looked at in one folder.
const MAX_FILES: usize = 100_000;

/// What a rule's file is called, after its key.
const ENDING: &str = ".json";

/// How long a rule waits for other programs that are writing theirs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The same, of what can be done later, or left.
const SHORT_PATIENCE: Duration = Duration::from_millis(50);

/// A temporary this old was left by a program that was killed.
const LEFT_BEHIND: Duration = Duration::from_secs(3_600);

/// A folder of rules. Every call reads or writes files: not for the UI thread.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What was found in a folder.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Loaded {
    /// The rules, in no order.
    pub rules: Vec<Rule>,
    /// What was found in place of others. Nobody is allowed by these.
    pub problems: Vec<Problem>,
}

/// A file that should be a rule and counts for nothing, or a folder that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
    /// Whether it is the folder, with all that is in it.
    pub is_folder: bool,
    /// Where it was moved, so that it is out of the way and there to be looked at.
    pub set_aside: Option<PathBuf>,
}

/// What was found in place of a rule.
enum Odd {
    /// Nothing.
    Absent,
    /// Something that is none and never will be.
    Broken(String),
    /// Something that may be one: it could not be read now, or a later release wrote it.
    Unread(String),
}

/// A file that is a rule.
struct Found {
    rule: Rule,
    fields: Map<String, Value>,
    bytes: Vec<u8>,
}

impl Store {
    /// The rules in this folder, which is made when the first is saved.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The rules of every app that keeps them where they are if it doesn't say, by the names of
    /// their folders. None, if the user has no home.
    ///
    /// # Errors
    /// If the folder that these lie in can't be read.
    pub fn of_user() -> io::Result<Vec<Self>> {
        let Some(state) = place::state_folder() else {
            return Ok(Vec::new());
        };
        let folders = match std::fs::read_dir(place::all_rules(&state)) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut folders: Vec<PathBuf> = folders
            .flatten()
            .filter(|it| it.file_type().is_ok_and(|is| is.is_dir()))
            .map(|it| it.path())
            .collect();
        folders.sort();
        Ok(folders.into_iter().map(Self::at).collect())
    }

    /// Where the rules are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All rules. What is none is set aside and reported.
    pub fn load(&self) -> Loaded {
        let mut loaded = Loaded::default();
        let folder = match self.open() {
            Ok(Some(folder)) => folder,
            Ok(None) => return loaded,
            Err(error) => {
                loaded.problems.push(self.unusable(&error));
                return loaded;
            }
        };
        let names = match names(&folder) {
            Ok(names) => names,
            Err(error) => {
                loaded.problems.push(self.unusable(&error.into()));
                return loaded;
            }
        };
        for name in names {
            if is_temporary(&name) {
                remove_if_left_behind(&folder, &name);
            }
            if !name.ends_with(ENDING) || name.starts_with('.') {
                continue;
            }
            if loaded.rules.len() >= MAX_RULES {
                loaded.problems.push(Problem {
                    path: self.folder.clone(),
                    why: format!(
                        "there are more than {MAX_RULES} rules in it: the rest counts for nothing"
                    ),
                    is_folder: true,
                    set_aside: None,
                });
                break;
            }
            match read(&folder, &name) {
                Ok(found) => loaded.rules.push(found.rule),
                Err(Odd::Absent) => {}
                Err(odd) => loaded.problems.push(self.report(&folder, &name, odd)),
            }
        }
        loaded
    }

    /// The rule of this key. `None`: there is none, or what is there counts for nothing, and is
    /// set aside.
    pub fn find(&self, id: &RuleId) -> Result<Option<Rule>, Problem> {
        let name = file_name(id);
        let folder = match self.open() {
            Ok(Some(folder)) => folder,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.unusable(&error)),
        };
        match read(&folder, &name) {
            Ok(found) => Ok(Some(found.rule)),
            Err(Odd::Absent) => Ok(None),
            Err(odd) => Err(self.report(&folder, &name, odd)),
        }
    }

    /// Writes a rule, in place of the one of the same key. When this returns it is there to
    /// stay, and whole; whoever looks meanwhile sees the one before or this one.
    ///
    /// # Errors
    /// If it could not be written; then what was there before is there still.
    pub fn save(&self, rule: &Rule) -> io::Result<()> {
        self.save_within(rule, PATIENCE)
    }

    /// The same, for who has other things to do than to wait for other programs.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), if another is writing: later it may go.
    pub(crate) fn save_soon(&self, rule: &Rule) -> io::Result<()> {
        self.save_within(rule, SHORT_PATIENCE)
    }

    fn save_within(&self, rule: &Rule, patience: Duration) -> io::Result<()> {
        let folder = self.open_or_make()?;
        lock(&folder, patience)?;
        let name = file_name(&rule.id());
        let before = match read(&folder, &name) {
            Ok(found) => Some(found.fields),
            Err(Odd::Absent) => None,
            Err(Odd::Unread(why)) => return Err(io::Error::other(why)),
            Err(Odd::Broken(_)) => {
                set_aside(&folder, &name);
                None
            }
        };
        let bytes = rule.write(before);
        if bytes.len() as u64 > MAX_BYTES {
            return Err(io::Error::other("it is too large for a rule"));
        }
        let temporary = Temporary::write(&folder, &bytes)?;
        rustix::fs::renameat(&folder, &temporary.name, &folder, &name)?;
        rustix::fs::fsync(&folder)?;
        Ok(())
    }

    /// Removes a rule; one that isn't there is removed already.
    ///
    /// # Errors
    /// If it is there still.
    pub fn remove(&self, id: &RuleId) -> io::Result<()> {
        let Some(folder) = self.open()? else {
            return Ok(());
        };
        match rustix::fs::unlinkat(&folder, file_name(id), AtFlags::empty()) {
            Ok(()) => Ok(rustix::fs::fsync(&folder)?),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes in a rule's file that it was used, if it is still there: one that was revoked
    /// meanwhile is not brought back, and one that was changed stays as it is.
    ///
    /// # Errors
    /// If it could not be noted; [`WouldBlock`](io::ErrorKind::WouldBlock), if another program is
    /// writing. The rule is as good as before.
    pub(crate) fn note_use(&self, id: &RuleId, uses: u64, last: u64) -> io::Result<()> {
        let Some(folder) = self.open()? else {
            return Ok(());
        };
        lock(&folder, SHORT_PATIENCE)?;
        let name = file_name(id);
        let Ok(found) = read(&folder, &name) else {
            return Ok(());
        };
        let mut rule = found.rule;
        rule.uses = rule.uses.saturating_add(uses);
        rule.last_used = rule.last_used.max(Some(last));
        let temporary = Temporary::write(&folder, &rule.write(Some(found.fields)))?;
        // An exchange needs both to be there: a plain rename would bring back what is gone.
        if exchange(&folder, &temporary.name, &name)? {
            let replaced = read(&folder, &temporary.name);
            if replaced.is_ok_and(|replaced| replaced.bytes != found.bytes) {
                exchange(&folder, &temporary.name, &name)?;
            }
        }
        Ok(())
    }

    /// Stands for what is in the folder: another number, another content.
    pub(crate) fn state(&self) -> u64 {
        let Ok(Some(folder)) = self.open() else {
            return 0;
        };
        let mut state = 1u64;
        for name in names(&folder).unwrap_or_default() {
            if name.starts_with('.') || !name.ends_with(ENDING) {
                continue;
            }
            let Ok(found) = rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let mut hasher = DefaultHasher::new();
            let changed = (found.st_ctime, found.st_ctime_nsec);
            (name, found.st_ino, found.st_size, changed).hash(&mut hasher);
            state = state.wrapping_add(hasher.finish());
        }
        state
    }

    /// `None`: it isn't there.
    fn open(&self) -> io::Result<Option<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(&self.folder, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = rustix::fs::fstat(&folder)?;
        if found.st_uid != own_user() {
            return Err(io::Error::other("it belongs to another user"));
        }
        if found.st_mode & 0o022 != 0 {
            return Err(io::Error::other(
                "others can write to it: close it to them (chmod 700)",
            ));
        }
        Ok(Some(folder))
    }

    fn open_or_make(&self) -> io::Result<OwnedFd> {
        if let Some(folder) = self.open()? {
            // Nobody else needs to see what is in it.
            if rustix::fs::fstat(&folder)?.st_mode & 0o077 != 0 {
                rustix::fs::fchmod(&folder, Mode::RWXU)?;
            }
            return Ok(folder);
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        self.open()?
            .ok_or_else(|| io::Error::other("it was removed as soon as it was made"))
    }

    fn unusable(&self, error: &io::Error) -> Problem {
        Problem {
            path: self.folder.clone(),
            why: error.to_string(),
            is_folder: true,
            set_aside: None,
        }
    }

    fn report(&self, folder: &OwnedFd, name: &str, odd: Odd) -> Problem {
        let (why, moved) = match odd {
            Odd::Absent => ("it is gone".to_owned(), None),
            Odd::Broken(why) => (why, set_aside_if_broken(folder, name)),
            Odd::Unread(why) => (why, None),
        };
        Problem {
            path: self.folder.join(name),
            why,
            is_folder: false,
            set_aside: moved.map(|name| self.folder.join(name)),
        }
    }
}

/// Keeps other programs of ours from writing to the folder until this handle on it is closed. A
/// removal doesn't wait for it. Where there are no locks it goes without: files are whole anyway.
fn lock(folder: &OwnedFd, patience: Duration) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    let begun = Instant::now();
    loop {
        match flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if begun.elapsed() >= patience => {
                return Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    "another program doesn't let go of the folder",
                ));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(Duration::from_millis(1)),
            Ok(()) | Err(_) => return Ok(()),
        }
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn file_name(id: &RuleId) -> String {
    format!("{}{ENDING}", id.as_str())
}

fn names(folder: impl AsFd) -> rustix::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)?.take(MAX_FILES) {
        // A name that is no text is none of ours, and can't be a rule's.
        if let Ok(name) = CStr::to_str(entry?.file_name())
            && ![".", ".."].contains(&name)
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// What is to be thought of a file that can't be opened. One that its own user is kept from is as
/// good as broken, and would be in the way of a rule of its name.
fn unopened(error: Errno) -> Odd {
    match error {
        Errno::ACCESS | Errno::PERM => Odd::Broken("it can't be read".to_owned()),
        error => Odd::Unread(error.to_string()),
    }
}

fn read(folder: &OwnedFd, name: &str) -> Result<Found, Odd> {
    let broken = |why: &str| Odd::Broken(why.to_owned());
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Err(Odd::Absent),
        Err(Errno::LOOP) => return Err(broken("it is a link")),
        Err(Errno::NXIO) => return Err(broken("it is not a file")),
        Err(error) => return Err(unopened(error)),
    };
    let found = rustix::fs::fstat(&file).map_err(|error| Odd::Unread(error.to_string()))?;
    check(&found).map_err(broken)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Odd::Unread(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(broken("it is too large"));
    }
    let (rule, fields) = Rule::read(&bytes).map_err(|bad| match bad {
        Bad::Form(why) => broken(why),
        Bad::Newer => Odd::Unread("a later release wrote it".to_owned()),
    })?;
    // Else a copy under another name would be a rule for whoever that name is for.
    if file_name(&rule.id()) != name && !is_temporary(name) {
        return Err(broken("its name is not that of its key"));
    }
    Ok(Found {
        rule,
        fields,
        bytes,
    })
}

fn check(found: &Stat) -> Result<(), &'static str> {
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err("it is not a file");
    }
    if found.st_uid != own_user() {
        return Err("it belongs to another user");
    }
    if found.st_mode & 0o077 != 0 {
        return Err("it is open to others");
    }
    if u64::try_from(found.st_size).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err("it is too large");
    }
    Ok(())
}

/// Moves it out of the way, under a name that is no rule's. The new name, if that could be done.
fn set_aside(folder: &OwnedFd, name: &str) -> Option<String> {
    (0..100).find_map(|n| {
        let aside = format!("{name}.bad{n}");
        let free = rustix::fs::statat(folder, &aside, AtFlags::SYMLINK_NOFOLLOW);
        (free.err() == Some(Errno::NOENT)
            && rustix::fs::renameat(folder, name, folder, &aside).is_ok())
        .then_some(aside)
    })
}

/// The same, unless another program has put a good one in its place meanwhile.
fn set_aside_if_broken(folder: &OwnedFd, name: &str) -> Option<String> {
    lock(folder, SHORT_PATIENCE).ok()?;
    let still = matches!(read(folder, name), Err(Odd::Broken(_)));
    still.then(|| set_aside(folder, name)).flatten()
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(".new-")
}

fn remove_if_left_behind(folder: &OwnedFd, name: &str) {
    let Ok(found) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
        return;
    };
    let written = Duration::from_secs(u64::try_from(found.st_mtime).unwrap_or(0));
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    if now.saturating_sub(written) > LEFT_BEHIND {
        // If it stays it does no harm: it is no rule.
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
}

/// Whether the two have changed places. `false`: one of them is gone, or this system can't.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(folder: &OwnedFd, a: &str, b: &str) -> io::Result<bool> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(folder, a, folder, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether the two have changed places: this system can't.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &OwnedFd, _: &str, _: &str) -> io::Result<bool> {
    Ok(false)
}

/// A whole file under a name of its own, on the disk. Removed when this is dropped, if it still
/// has that name.
struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: String,
}

impl<'a> Temporary<'a> {
    fn write(folder: &'a OwnedFd, bytes: &[u8]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let name = format!(
            ".new-{}-{}-{}",
            std::process::id(),
            now.as_nanos(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(rustix::fs::openat(folder, &name, flags, mode)?);
        let temporary = Self { folder, name };
        // Whatever the umask has taken away.
        rustix::fs::fchmod(&file, mode)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(temporary)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;
    use crate::rule::tests::rule;

    fn place() -> (agent_test_support::TempDir, Store) {
        let folder = agent_test_support::folder();
        let store = Store::at(folder.path().join("a/b/rules"));
        (folder, store)
    }

    fn file(store: &Store, rule: &Rule) -> PathBuf {
        store.folder().join(file_name(&rule.id()))
    }

    #[test]
    fn a_rule_is_saved_found_replaced_and_removed() {
        let (_folder, store) = place();
        assert!(store.load().rules.is_empty());
        let mut first = rule("a");
        store.save(&first).unwrap();
        store.save(&rule("b")).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(store.folder()), 0o700);
        assert_eq!(mode(&file(&store, &first)), 0o600);
        first.allow = false;
        store.save(&first).unwrap();
        assert_eq!(store.find(&first.id()).unwrap(), Some(first.clone()));
        assert_eq!(store.load().rules.len(), 2);
        store.remove(&first.id()).unwrap();
        store.remove(&first.id()).unwrap();
        assert_eq!(store.find(&first.id()).unwrap(), None);
        assert_eq!(std::fs::read_dir(store.folder()).unwrap().count(), 1);
    }

    #[test]
    fn a_saved_rule_keeps_what_the_file_had_besides() {
        let (_folder, store) = place();
        let rule = rule("a");
        store.save(&rule).unwrap();
        let path = file(&store, &rule);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen('{', "{\"note\": \"mine\",", 1)).unwrap();
        store.save(&rule).unwrap();
        store.note_use(&rule.id(), 3, rule.since + 5).unwrap();
        assert!(
            std::fs::read_to_string(&path)
                .unwrap()
                .contains("\"note\": \"mine\"")
        );
        let used = store.find(&rule.id()).unwrap().unwrap();
        assert_eq!((used.uses, used.last_used), (3, Some(rule.since + 5)));
    }

    #[test]
    fn rule_13_whatever_stands_in_place_of_a_rule_allows_nobody() {
        type Spoil = fn(&Path);
        let spoil: &[(&str, Spoil)] = &[
            ("half written", |path| {
                let text = std::fs::read(path).unwrap();
                std::fs::write(path, &text[..text.len() / 2]).unwrap();
            }),
            ("empty", |path| std::fs::write(path, "").unwrap()),
            ("not UTF-8", |path| {
                std::fs::write(path, b"\xff\xfe{}").unwrap()
            }),
            ("open to others", |path| {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
            }),
            ("a link to a good rule", |path| {
                std::fs::rename(path, path.with_extension("good")).unwrap();
                symlink(path.with_extension("good"), path).unwrap();
            }),
            ("a link to nothing", |path| {
                std::fs::remove_file(path).unwrap();
                symlink("/nowhere", path).unwrap();
            }),
            ("a folder", |path| {
                std::fs::remove_file(path).unwrap();
                std::fs::create_dir(path).unwrap();
                std::fs::write(path.join("x"), "x").unwrap();
            }),
            ("100 MB", |path| {
                let file = File::options().write(true).open(path).unwrap();
                file.set_len(100_000_000).unwrap();
            }),
            ("a copy of another's rule", |path| {
                std::fs::write(path, rule("another").write(None)).unwrap();
            }),
            ("a pipe", |path| {
                std::fs::remove_file(path).unwrap();
                let mode = Mode::RUSR | Mode::WUSR;
                rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, mode, 0).unwrap();
            }),
            ("a socket", |path| {
                std::fs::remove_file(path).unwrap();
                drop(std::os::unix::net::UnixListener::bind(path).unwrap());
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
            }),
        ];
        for (what, spoil) in spoil {
            for find in [true, false] {
                // A short path: a socket's must be.
                let folder = agent_test_support::folder();
                let store = Store::at(folder.path());
                let (good, bad) = (rule("good"), rule("bad"));
                store.save(&good).unwrap();
                store.save(&bad).unwrap();
                spoil(&file(&store, &bad));
                let problem = if find {
                    store.find(&bad.id()).expect_err(what)
                } else {
                    let loaded = store.load();
                    assert_eq!(loaded.rules, std::slice::from_ref(&good), "{what}");
                    assert_eq!(loaded.problems.len(), 1, "{what}");
                    loaded.problems[0].clone()
                };
                assert_eq!(problem.path, file(&store, &bad), "{what}");
                let aside = problem.set_aside.expect(what);
                assert!(std::fs::symlink_metadata(aside).is_ok(), "{what}");
                assert!(
                    std::fs::symlink_metadata(file(&store, &bad)).is_err(),
                    "{what}"
                );
                // From then on it is as if it had never been there.
                assert!(store.load().problems.is_empty(), "{what}");
                store.save(&bad).unwrap();
                assert_eq!(store.load().rules.len(), 2, "{what}");
            }
        }
    }

    #[test]
    fn rule_13_a_file_of_another_user_is_none() {
        let (_folder, store) = place();
        let rule = rule("a");
        store.save(&rule).unwrap();
        let path = file(&store, &rule);
        // Only root can give files away; others can show it on what stands for such a file.
        if std::os::unix::fs::chown(&path, Some(4711), None).is_ok() {
            let problem = store.find(&rule.id()).expect_err("it is another's");
            assert_eq!(problem.why, "it belongs to another user");
        }
        let mut found = rustix::fs::stat(store.folder().parent().unwrap()).unwrap();
        found.st_mode = 0o100_600;
        found.st_uid = 4711;
        assert_eq!(check(&found), Err("it belongs to another user"));
        found.st_uid = own_user();
        found.st_size = 0;
        assert_eq!(check(&found), Ok(()));
    }

    #[test]
    fn rule_13_a_folder_that_others_can_write_to_holds_no_rules() {
        let (_folder, store) = place();
        store.save(&rule("a")).unwrap();
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(store.folder(), open).unwrap();
        let loaded = store.load();
        assert!(loaded.rules.is_empty());
        assert_eq!(loaded.problems[0].path, store.folder());
        assert!(store.save(&rule("b")).is_err());
        assert!(store.find(&rule("a").id()).is_err());
    }

    #[test]
    fn a_folder_that_others_can_read_is_closed_to_them() {
        let (_folder, store) = place();
        store.save(&rule("a")).unwrap();
        let readable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(store.folder(), readable).unwrap();
        assert_eq!(store.load().rules.len(), 1);
        store.save(&rule("b")).unwrap();
        assert_eq!(
            std::fs::metadata(store.folder()).unwrap().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn rule_10_a_rule_has_a_size() {
        let (_folder, store) = place();
        let mut large = rule("a");
        large.evidence = vec!["x".repeat(MAX_BYTES as usize)];
        assert!(store.save(&large).is_err());
        assert_eq!(store.load().rules, []);
        assert_eq!(store.load().problems, []);
    }

    #[test]
    fn a_later_releases_rule_counts_for_nothing_and_is_left_alone() {
        let (_folder, store) = place();
        let rule = rule("a");
        store.save(&rule).unwrap();
        let path = file(&store, &rule);
        let text = std::fs::read_to_string(&path).unwrap();
        let later = text.replace("\"version\": 1", "\"version\": 2");
        assert_ne!(text, later);
        std::fs::write(&path, &later).unwrap();
        let problem = store.find(&rule.id()).expect_err("it can't be understood");
        assert_eq!(problem.set_aside, None);
        assert!(store.save(&rule).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), later);
    }

    #[test]
    fn noting_a_use_never_brings_back_what_was_revoked() {
        let (_folder, store) = place();
        let rule = rule("a");
        store.save(&rule).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        match store.note_use(&rule.id(), 1, rule.since) {
                            // Another has held the lock all the while.
                            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                            noted => noted.unwrap(),
                        }
                    }
                });
            }
            for _ in 0..100 {
                store.remove(&rule.id()).unwrap();
                std::thread::sleep(Duration::from_millis(1));
                assert_eq!(store.find(&rule.id()).ok().flatten(), None);
                store.save(&rule).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn what_a_killed_program_left_is_cleared_away_later() {
        let (_folder, store) = place();
        store.save(&rule("a")).unwrap();
        let left = |name: &str| {
            let path = store.folder().join(name);
            std::fs::write(&path, "half").unwrap();
            path
        };
        let (old, fresh) = (left(".new-1-1-1"), left(".new-1-1-2"));
        let long_ago = SystemTime::now() - 2 * LEFT_BEHIND;
        File::options()
            .write(true)
            .open(&old)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        assert!(store.load().problems.is_empty());
        assert!(!old.exists() && fresh.exists());
    }

    #[test]
    fn a_file_that_may_not_be_read_is_broken_and_a_failing_disk_is_not() {
        // A test as root is kept from no file.
        for (error, is_broken) in [
            (Errno::ACCESS, true),
            (Errno::PERM, true),
            (Errno::IO, false),
            (Errno::MFILE, false),
        ] {
            let found = unopened(error);
            assert_eq!(matches!(found, Odd::Broken(_)), is_broken, "{error}");
        }
    }

    #[test]
    fn any_change_in_the_folder_is_another_state() {
        let (_folder, store) = place();
        let mut states = vec![store.state()];
        let mut check = |what: &str, store: &Store| {
            let state = store.state();
            assert!(!states.contains(&state), "{what}");
            assert_eq!(state, store.state());
            states.push(state);
        };
        store.save(&rule("a")).unwrap();
        check("saved", &store);
        let path = file(&store, &rule("a"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("true", "true ")).unwrap();
        check("changed in place", &store);
        store.save(&rule("b")).unwrap();
        check("another", &store);
        store.remove(&rule("a").id()).unwrap();
        check("removed", &store);
    }
}
