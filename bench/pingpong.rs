//! The least that a request can cost: a line over a Unix socket, one hop onto the UI thread, and
//! a line back. What is measured of an agent surface is put beside it.
//!
//! The standard library only, and nothing of this workspace. Whoever serves brings the UI thread:
//! [`Hop::run`] is one without a toolkit, woken through a mutex and a condition variable as the
//! headless backend's is; a toolkit's own calls [`Hop::answer`] when it has been woken.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::net::UnixListener,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

/// Lines on their way onto the UI thread and back. Cheap to clone; any thread.
#[derive(Clone, Default)]
pub struct Hop(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    asked: Condvar,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    asked: VecDeque<Vec<u8>>,
    answered: VecDeque<Vec<u8>>,
    closed: bool,
}

impl Hop {
    /// On the UI thread: answers what was asked, and never waits.
    pub fn answer(&self) {
        let mut state = self.lock();
        let asked = std::mem::take(&mut state.asked);
        let any = !asked.is_empty();
        state.answered.extend(asked);
        drop(state);
        if any {
            self.0.answered.notify_one();
        }
    }

    /// Makes the calling thread a UI thread without a toolkit, until the connection is over.
    pub fn run(&self) {
        loop {
            let mut state = self.lock();
            while state.asked.is_empty() && !state.closed {
                state = wait(&self.0.asked, state);
            }
            let closed = state.closed;
            drop(state);
            if closed {
                return;
            }
            self.answer();
        }
    }

    /// On the connection's thread: there and back. `wake` wakes the UI thread, if it is not in
    /// [`Hop::run`].
    fn cross(&self, line: Vec<u8>, wake: &impl Fn()) -> Vec<u8> {
        self.lock().asked.push_back(line);
        self.0.asked.notify_one();
        wake();
        let mut state = self.lock();
        loop {
            if let Some(line) = state.answered.pop_front() {
                return line;
            }
            state = wait(&self.0.answered, state);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.0.asked.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait<'a>(condvar: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    condvar.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// Binds `path` and serves one client from a thread of its own: each line comes back as it is,
/// by way of the UI thread. When the client hangs up, [`Hop::run`] returns and `wake` is called.
///
/// # Errors
/// If the system refuses the socket or the thread.
pub fn serve(
    path: &Path,
    hop: Hop,
    wake: impl Fn() + Send + 'static,
) -> io::Result<JoinHandle<io::Result<()>>> {
    let listener = UnixListener::bind(path)?;
    std::thread::Builder::new()
        .name("pingpong".to_owned())
        .spawn(move || {
            let served = serve_one(&listener, &hop, &wake);
            hop.close();
            wake();
            served
        })
}

fn serve_one(listener: &UnixListener, hop: &Hop, wake: &impl Fn()) -> io::Result<()> {
    let (stream, _) = listener.accept()?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        writer.write_all(&hop.cross(line, wake))?;
    }
}
