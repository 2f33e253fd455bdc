//! The log of who did what to which node, and what came of it: lines of JSON, without texts.
//!
//! Lines go through a bounded queue to a thread of their own: a disk that is slow, full or gone
//! holds nothing up. What could not be written is counted, and the count is written when there
//! is room again.

use std::{
    fs::{DirBuilder, File},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::Duration,
};

use rustix::fs::{FlockOperation, Mode, OFlags};
use serde_json::{Map, Value, json};

use crate::{shown::escape, traffic::Traffic};

/// Lines that wait for the disk.
const QUEUE: usize = 1_024;

/// A file is put aside when it would grow beyond this.
const MAX_BYTES: u64 = 1024 * 1024;

/// Files that are kept, the one that is written to not counted.
const KEPT: usize = 4;

/// Bytes of a node's id that are logged: the agent can name any.
const MAX_WORD: usize = 200;

/// How long the end of the app waits for the last lines.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The log, to write to. Never waits.
pub(crate) struct Audit {
    queue: Option<SyncSender<Value>>,
    traffic: Arc<Traffic>,
    lost: Arc<AtomicU64>,
    ended: Receiver<()>,
}

/// Where lines end up.
pub(crate) trait Sink: Send + 'static {
    fn write(&mut self, line: &[u8]) -> io::Result<()>;
}

impl Audit {
    /// `failed` is told, on the log's thread, when lines begin to be lost. What is on its way is
    /// counted in `traffic`.
    pub(crate) fn to(
        mut sink: impl Sink,
        traffic: Arc<Traffic>,
        failed: impl Fn(String) + Send + 'static,
    ) -> io::Result<Self> {
        let (queue, lines) = sync_channel::<Value>(QUEUE);
        let (end, ended) = sync_channel::<()>(1);
        let lost = Arc::new(AtomicU64::new(0));
        let (counted, arrives) = (lost.clone(), traffic.clone());
        std::thread::Builder::new()
            .name("agent-audit".into())
            .spawn(move || {
                let mut fails = false;
                for line in lines {
                    let missing = counted.swap(0, Ordering::Relaxed);
                    let mut bytes = Vec::new();
                    if missing > 0 {
                        let event = json!({"at": line["at"], "event": "lost", "count": missing});
                        bytes = format!("{event}\n").into_bytes();
                    }
                    bytes.extend(format!("{line}\n").into_bytes());
                    match sink.write(&bytes) {
                        Ok(()) => fails = false,
                        Err(error) => {
                            counted.fetch_add(missing + 1, Ordering::Relaxed);
                            if !std::mem::replace(&mut fails, true) {
                                failed(error.to_string());
                            }
                        }
                    }
                    arrives.arrive();
                }
                drop(end);
            })?;
        Ok(Self {
            queue: Some(queue),
            traffic,
            lost,
            ended,
        })
    }

    /// Adds a line: what happened, and the rest of it. Never waits, never fails.
    pub(crate) fn line(&self, at: String, event: &str, rest: Map<String, Value>) {
        let mut line = rest;
        line.insert("at".into(), json!(at));
        line.insert("event".into(), json!(event));
        let sent = self
            .queue
            .as_ref()
            .map(|queue| queue.try_send(Value::Object(line)));
        match sent {
            Some(Ok(())) => self.traffic.send(),
            _ => drop(self.lost.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.queue = None;
        // The last lines are written, unless the disk hangs.
        if self.ended.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A word from outside, as it is logged: in a terminal it can neither reorder nor hide what stands
/// around it.
pub(crate) fn word(word: &str) -> String {
    let end = word.floor_char_boundary(MAX_WORD);
    let cut = escape(word.get(..end).unwrap_or_default());
    if end == word.len() {
        return cut;
    }
    format!("{cut}…")
}

/// A file that is appended to, and put aside when it is full: `log.jsonl`, `log.jsonl.1`, ...
/// Several programs may write to it.
#[derive(Debug)]
pub(crate) struct Rotating {
    path: PathBuf,
    open: Option<File>,
    max_bytes: u64,
    /// A write failed, perhaps in the middle of a line.
    torn: bool,
}

impl Rotating {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self {
            path,
            open: None,
            max_bytes: MAX_BYTES,
            torn: false,
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = match self.open.take() {
            Some(file) if self.is_current(&file) => file,
            _ => open(&self.path)?,
        };
        if file.metadata()?.len() + bytes.len() as u64 > self.max_bytes {
            file = self.rotate(file, bytes.len() as u64)?;
        }
        // In one call: lines of several programs don't mix. What is left of a line that failed
        // ends before the next one begins.
        let line = match std::mem::replace(&mut self.torn, true) {
            true => &[b"\n", bytes].concat(),
            false => bytes,
        };
        file.write_all(line)?;
        self.torn = false;
        self.open = Some(file);
        Ok(())
    }

    /// Whether it is still what the path leads to: another program may have put it aside.
    fn is_current(&self, file: &File) -> bool {
        let place = |found: std::fs::Metadata| (found.dev(), found.ino());
        match (file.metadata(), std::fs::symlink_metadata(&self.path)) {
            (Ok(opened), Ok(named)) => place(opened) == place(named),
            _ => false,
        }
    }

    fn rotate(&self, file: File, more: u64) -> io::Result<File> {
        // Where there are no locks, two programs may rotate at once, and a file is lost early.
        let _ = rustix::fs::flock(&file, FlockOperation::LockExclusive);
        if self.is_current(&file) && file.metadata()?.len() + more > self.max_bytes {
            for n in (1..KEPT).rev() {
                let (from, to) = (self.aside(n), self.aside(n + 1));
                match std::fs::rename(from, to) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            std::fs::rename(&self.path, self.aside(1))?;
        }
        open(&self.path)
    }

    fn aside(&self, n: usize) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(format!(".{n}"));
        path.into()
    }
}

impl Sink for Rotating {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.append(line)
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it is not a file of this user's"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc::channel};

    use super::*;

    fn fields(n: u64) -> Map<String, Value> {
        Map::from_iter([("n".to_owned(), json!(n))])
    }

    #[test]
    fn rule_10_the_log_is_rotated_and_its_size_bounded() {
        let folder = agent_test_support::folder();
        let path = folder.path().join("a/log.jsonl");
        let mut logs: Vec<Rotating> = (0..2).map(|_| Rotating::at(path.clone())).collect();
        for n in 0..500 {
            let log = &mut logs[n % 2];
            log.max_bytes = 1_000;
            log.append(format!("{{\"n\":{n:6}}}\n").as_bytes()).unwrap();
        }
        let mut names: Vec<_> = std::fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        assert_eq!(names.len(), KEPT + 1);
        for name in &names {
            let found = std::fs::metadata(name).unwrap();
            assert!(
                found.len() <= 1_000 && found.mode() & 0o777 == 0o600,
                "{name:?}"
            );
        }
        // The newest lines are all there, in order.
        names.reverse();
        let text: String = names
            .iter()
            .map(|name| std::fs::read_to_string(name).unwrap())
            .collect();
        let numbers: Vec<u64> = text
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["n"]
                    .as_u64()
                    .unwrap()
            })
            .collect();
        let last = numbers.len() as u64;
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (500 - last..500).collect::<Vec<_>>());
    }

    /// Hangs until it is let go, and fails as long as it is told to.
    struct Disk {
        go: Receiver<()>,
        fails: Arc<Mutex<bool>>,
        written: Arc<Mutex<String>>,
    }

    impl Sink for Disk {
        fn write(&mut self, line: &[u8]) -> io::Result<()> {
            let _ = self.go.recv();
            if *self.fails.lock().unwrap() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.written
                .lock()
                .unwrap()
                .push_str(&String::from_utf8_lossy(line));
            Ok(())
        }
    }

    #[test]
    fn rule_9_a_disk_that_hangs_or_is_full_holds_up_nobody_and_is_told() {
        let (go, wait) = channel();
        let (failed, failures) = channel();
        let fails = Arc::new(Mutex::new(true));
        let written = Arc::new(Mutex::new(String::new()));
        let disk = Disk {
            go: wait,
            fails: fails.clone(),
            written: written.clone(),
        };
        let audit = Audit::to(disk, Arc::default(), move |why| failed.send(why).unwrap()).unwrap();
        // The disk hangs: these return all the same, many more than there is room for.
        let lines = 3 * QUEUE as u64;
        for n in 0..lines {
            audit.line(String::new(), "acted", fields(n));
        }
        // Then it is full: that is told once.
        for _ in 0..2 {
            go.send(()).unwrap();
        }
        assert!(!failures.recv().unwrap().is_empty());
        // Then it is well: the count of what was lost comes first.
        *fails.lock().unwrap() = false;
        drop(go);
        drop(audit);
        let written = written.lock().unwrap();
        let values: Vec<Value> = written
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let lost: u64 = values
            .iter()
            .filter_map(|line| line["count"].as_u64())
            .sum();
        let kept = values
            .iter()
            .filter(|line| line["event"] == "acted")
            .count() as u64;
        assert_eq!(values[0]["event"], "lost");
        assert_eq!(lost + kept, lines);
        assert!(kept <= QUEUE as u64 + 1, "{kept}");
        assert!(failures.try_recv().is_err());
    }

    #[test]
    fn a_line_after_one_that_failed_begins_anew() {
        let folder = agent_test_support::folder();
        let path = folder.path().join("log.jsonl");
        // What a full disk leaves of a line.
        std::fs::write(&path, "{\"at\"").unwrap();
        let mut log = Rotating::at(path.clone());
        log.torn = true;
        log.append(b"{}\n").unwrap();
        log.append(b"{}\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"at\"\n{}\n{}\n");
    }

    #[test]
    fn what_cannot_be_a_log_is_told() {
        let folder = agent_test_support::folder();
        let check = |path: PathBuf| {
            assert!(
                Rotating::at(path.clone()).append(b"x\n").is_err(),
                "{path:?}"
            )
        };
        check(folder.path().to_owned());
        check("/dev/full".into());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).unwrap();
        check(link);
        check("/proc/nowhere/log".into());
    }

    #[test]
    fn rule_10_a_word_is_cut() {
        assert_eq!(word("save"), "save");
        assert_eq!(word("a\u{202e}b\n"), "a\\u{202e}b\\n");
        let long = word(&"ä".repeat(200));
        assert!(long.len() <= MAX_WORD + 3 && long.ends_with("ä…"));
    }
}
