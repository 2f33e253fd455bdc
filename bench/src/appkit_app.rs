//! A window on AppKit, which wants the main thread: a process of its own, that the program which
//! measures starts from itself. `gnustep/bench` is that program, and has the window.

use std::{
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    served::{Folder, Served},
    thread_clock::ThreadClock,
};

/// What such a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The window, tagged and served.
    App,
    /// The same window untagged, with the ping-pong.
    PingPong,
}

impl Part {
    fn word(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::PingPong => "ping-pong",
        }
    }
}

/// What a process was started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What it is.
    pub part: Part,
    /// How many views its window has.
    pub n: usize,
    /// Where it serves.
    pub socket: PathBuf,
}

/// Not on the command line: GNUstep opens what stands there as a document.
const VARIABLE: &str = "APPKIT_BENCH_APP";

impl Order {
    /// What this process was started for. `None`: it is the one that measures.
    ///
    /// # Errors
    /// If it can't be understood.
    pub fn of_this_process() -> io::Result<Option<Self>> {
        let Ok(order) = env::var(VARIABLE) else {
            return Ok(None);
        };
        let read = || {
            let mut words = order.splitn(3, ' ');
            let word = words.next()?;
            Some(Self {
                part: [Part::App, Part::PingPong]
                    .into_iter()
                    .find(|part| part.word() == word)?,
                n: words.next()?.parse().ok()?,
                socket: words.next()?.into(),
            })
        };
        let wrong = || io::Error::other(format!("{VARIABLE} is not for people: {order:?}"));
        read().ok_or_else(wrong).map(Some)
    }

    fn start(&self) -> io::Result<Child> {
        let Self { part, n, socket } = self;
        let order = format!("{} {n} {}", part.word(), socket.display());
        Command::new(env::current_exe()?)
            .env(VARIABLE, order)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
    }
}

/// The window, served at a socket, for one client.
///
/// # Errors
/// If the process can't be started, or ends before its socket is there.
pub fn serve(n: usize) -> io::Result<Served> {
    start(Part::App, n)
}

/// The ping-pong with AppKit's main thread, which has the same window without anything of ours.
///
/// # Errors
/// If the process can't be started, or ends before its socket is there.
pub fn ping_pong(n: usize) -> io::Result<Served> {
    start(Part::PingPong, n)
}

fn start(part: Part, n: usize) -> io::Result<Served> {
    let folder = Folder::new()?;
    let order = Order {
        part,
        n,
        socket: folder.socket(),
    };
    let mut program = order.start()?;
    let clock = ThreadClock::of_main_thread(program.id());
    let asks = program.stdin.take();
    let says = program.stdout.take().map(BufReader::new);
    let mut process = Process {
        program,
        asks,
        says,
    };
    // It says how often it was clicked when it is ready, and then whenever it is sent a line.
    process.clicks()?;
    let clicks = move || {
        process.ask()?;
        process.clicks()
    };
    Ok(Served::new(folder, clock, Box::new(clicks), ()))
}

/// How long a process has to end by itself once nothing more can be asked.
const END: Duration = Duration::from_secs(5);

/// The app's process. It ends when this is dropped.
struct Process {
    program: Child,
    asks: Option<ChildStdin>,
    says: Option<BufReader<ChildStdout>>,
}

impl Process {
    fn ask(&mut self) -> io::Result<()> {
        let asks = self.asks.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        asks.write_all(b"\n")
    }

    fn clicks(&mut self) -> io::Result<usize> {
        let says = self.says.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        says.read_line(&mut line)?;
        line.trim()
            .parse()
            .map_err(|_| io::Error::other(format!("the app did not say how often: {line:?}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.asks = None;
        let begun = Instant::now();
        while begun.elapsed() < END {
            match self.program.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        // It may end by itself at this very moment.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
