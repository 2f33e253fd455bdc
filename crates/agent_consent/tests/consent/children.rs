//! This program, as one that is started by the tests: it runs one of the tests of this file,
//! which do nothing unless they are told to by the environment.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use agent_consent::{Agent, Fingerprints};
use agent_core::Peer;
use agent_test_support::eventually;

/// Where a child says its number.
const SAYS: &str = "AGENT_CONSENT_SAYS";

/// What a child starts in its turn.
const STARTS: &str = "AGENT_CONSENT_STARTS";

/// The test that waits. An interpreter takes this for the name of its script.
pub(crate) const WAITS: &str = "a_child_waits";

/// Says its number, starts what it is told to, and waits until its input ends.
#[test]
fn a_child_waits() {
    let Some(says) = std::env::var_os(SAYS) else {
        return;
    };
    let mut child = None;
    match std::env::var_os(STARTS) {
        Some(program) => {
            child = Some(start(Command::new(program).arg(WAITS).env_remove(STARTS)));
        }
        None => say(Path::new(&says)),
    }
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    if let Some(mut child) = child {
        let _ = child.wait();
    }
}

fn say(path: &Path) {
    let whole = path.with_extension("part");
    fs::write(&whole, std::process::id().to_string()).unwrap();
    fs::rename(whole, path).unwrap();
}

/// A file that was just written may still be open in a child of another thread's that has not
/// become its program yet: then it can't be run for a moment.
pub(crate) fn start(command: &mut Command) -> Child {
    let mut child = None;
    eventually("the program starts", || match command.spawn() {
        Ok(started) => {
            child = Some(started);
            true
        }
        Err(error) => {
            assert_eq!(
                error.kind(),
                std::io::ErrorKind::ExecutableFileBusy,
                "{command:?}"
            );
            false
        }
    });
    child.unwrap()
}

/// This program, copied to there.
pub(crate) fn copy(to: &Path) -> PathBuf {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(std::env::current_exe().unwrap(), to).unwrap();
    to.to_owned()
}

/// A program that runs until this is dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) pid: u32,
}

impl Running {
    /// Starts it; `folder` is a place for notes.
    pub(crate) fn new(folder: &Path, command: &mut Command) -> Self {
        let says = folder.join("says");
        let _ = fs::remove_file(&says);
        command.env(SAYS, &says).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = start(command);
        eventually("it says its number", || says.exists());
        let pid = fs::read_to_string(&says).unwrap().parse().unwrap();
        Self { child, pid }
    }

    /// Runs it by a copy of this program in between.
    pub(crate) fn by(folder: &Path, parent: &Path, program: &Path) -> Self {
        Self::new(folder, Command::new(parent).arg(WAITS).env(STARTS, program))
    }

    /// What the kernel says of it.
    pub(crate) fn peer(&self) -> Peer {
        Peer {
            uid: Some(rustix::process::geteuid().as_raw()),
            pid: Some(self.pid),
            started: Some(started(self.pid)),
            executable: fs::read_link(format!("/proc/{}/exe", self.pid)).ok(),
            named: None,
        }
    }

    pub(crate) fn agent(&self) -> Agent {
        Agent::behind(Some(&Arc::new(self.peer())), &Fingerprints::default())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its input ends, and so does it, and whatever it has started.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        let proc = format!("/proc/{}", self.pid);
        eventually("it has ended", || {
            let stat = fs::read_to_string(format!("{proc}/stat")).unwrap_or_default();
            !Path::new(&proc).exists() || stat.contains(") Z ")
        });
    }
}

/// When a process started, in the kernel's ticks.
pub(crate) fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, after) = stat.rsplit_once(')').unwrap();
    after.split_whitespace().nth(19).unwrap().parse().unwrap()
}
