//! How long one thread has run, and how often, by the kernel's own account.

use std::{path::PathBuf, time::Duration};

/// The account of one thread. Any thread may read it, of another process too.
#[derive(Clone, Debug)]
pub struct ThreadClock {
    /// `None`: this system keeps no such account (it is Linux that does).
    file: Option<PathBuf>,
}

/// What a thread has taken up so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// How long it has run on a processor.
    pub ran: Duration,
    /// How often it was given one.
    pub turns: u64,
}

impl ThreadClock {
    /// That of the calling thread.
    pub fn of_this_thread() -> Self {
        // `<process>/task/<thread>`
        match std::fs::read_link("/proc/thread-self") {
            Ok(thread) => Self::of(thread),
            Err(_) => Self { file: None },
        }
    }

    /// That of the main thread of this process.
    pub fn of_main_thread(process: u32) -> Self {
        Self::of(format!("{process}/task/{process}").into())
    }

    fn of(thread: PathBuf) -> Self {
        let file = PathBuf::from("/proc").join(thread).join("schedstat");
        Self {
            file: file.exists().then_some(file),
        }
    }

    /// What it has taken up so far; exact while the thread waits.
    pub fn spent(&self) -> Option<Spent> {
        let account = std::fs::read_to_string(self.file.as_ref()?).ok()?;
        // Nanoseconds run, nanoseconds waited for a processor, turns.
        let mut numbers = account.split_whitespace().map(str::parse::<u64>);
        let ran = Duration::from_nanos(numbers.next()?.ok()?);
        let turns = numbers.nth(1)?.ok()?;
        Some(Spent { ran, turns })
    }
}
