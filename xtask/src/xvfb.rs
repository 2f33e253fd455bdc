//! A display of our own: an X server that draws into memory.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use crate::program;

/// How long it may take to start, on a slow machine with a cold disk.
const START: Duration = Duration::from_secs(20);

/// How long it may take to tidy up after itself.
const END: Duration = Duration::from_secs(3);

/// A running Xvfb, ours alone. Ends when this is dropped.
pub(crate) struct Xvfb {
    server: Child,
    display: String,
}

impl Xvfb {
    /// Starts one on a display number that it finds free itself.
    pub(crate) fn start() -> Result<Self, String> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24"])
            // Without the last one it starts anew when its last client goes, and the next one may
            // come in between.
            .args(["-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("could not start Xvfb: {error}"))?;
        let (send, number) = channel();
        if let Some(stdout) = server.stdout.take() {
            thread::spawn(move || {
                let mut line = String::new();
                // An empty line says that it ended without a display.
                let _ = BufReader::new(stdout).read_line(&mut line);
                let _ = send.send(line);
            });
        }
        let complaints = server.stderr.take().map(drain);
        // From here on it is ended whatever happens.
        let mut xvfb = Self {
            server,
            display: String::new(),
        };
        let line = number.recv_timeout(START).unwrap_or_default();
        if line.trim().parse::<u32>().is_err() {
            drop(xvfb);
            let complaints = complaints
                .and_then(|thread| thread.join().ok())
                .unwrap_or_default();
            return Err(format!(
                "Xvfb offered no display within {} s; it said:\n{complaints}",
                START.as_secs()
            ));
        }
        xvfb.display = format!(":{}", line.trim());
        Ok(xvfb)
    }

    /// What it is called.
    pub(crate) fn display(&self) -> &str {
        &self.display
    }

    /// Lets a program draw there, and in software, so that every machine draws alike.
    pub(crate) fn show(&self, command: &mut Command) {
        command
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET")
            .env("DISPLAY", &self.display)
            .env("LIBGL_ALWAYS_SOFTWARE", "1");
    }
}

impl Drop for Xvfb {
    /// By its pid, so that no other Xvfb is touched; asked first, so that it removes its lock file
    /// and socket, then forced.
    fn drop(&mut self) {
        let pid = self.server.id().to_string();
        // The shell's own `kill`: a small Debian has no other.
        let asked = Command::new("sh")
            .args(["-c", "kill -TERM \"$1\"", "sh", &pid])
            .stdin(Stdio::null())
            .status();
        let until = Instant::now() + END;
        while asked.is_ok() && Instant::now() < until {
            if !matches!(self.server.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Whether there is one to start.
pub(crate) fn is_installed() -> bool {
    program::is_installed("Xvfb")
}

/// Reads to the end, on a thread of its own: an Xvfb with a full pipe would stand still.
fn drain(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
