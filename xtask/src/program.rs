//! Running other programs: with what they print passed on, or with it kept; never with the
//! terminal's input, and never a failure to start taken for a failure of the program.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// How long a program's output is waited for once it has ended. Longer only if it left a child
/// behind that holds the pipe.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What a program printed, and how it ended.
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Says what is run, runs it and passes on what it prints. An error names what did not work.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| cannot_start(command, &error))?;
    succeeded(status)
}

/// The same, but each line of its standard output goes to `see` instead, as it comes.
pub(crate) fn run_reading(command: &mut Command, mut see: impl FnMut(&str)) -> Result<(), String> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(command, &error))?;
    if let Some(stdout) = child.stdout.take() {
        // By bytes: a test may print what is not UTF-8.
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            see(&String::from_utf8_lossy(&line));
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("could not wait for it: {error}"))?;
    succeeded(status)
}

/// Runs it and keeps what it prints. One that takes longer than `limit` is killed.
pub(crate) fn capture(command: &mut Command, limit: Duration) -> Result<Captured, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(command, &error))?;
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let until = Instant::now() + limit;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                // It may end by itself at this very moment; there is nothing to do about that.
                let _ = child.kill();
                let _ = child.wait();
                break Err(format!("did not end within {} s", limit.as_secs()));
            }
            Err(error) => break Err(format!("could not wait for it: {error}")),
        }
    };
    let stdout = last_words(stdout);
    let stderr = last_words(stderr);
    match ended {
        Ok(status) => Ok(Captured {
            status,
            stdout,
            stderr,
        }),
        Err(why) => Err(format!("{why}; it had printed:\n{stdout}{stderr}")),
    }
}

/// Whether a program of this name can be started: it is in a folder of `PATH`.
pub(crate) fn is_installed(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// By name: the path of a toolchain's cargo is of no use to the reader.
fn announce(command: &Command) {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or_default().to_os_string();
    for argument in command.get_args() {
        line.push(" ");
        line.push(argument);
    }
    println!("$ {}", line.display());
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!(
        "could not start `{}`: {error}",
        command.get_program().to_string_lossy()
    )
}

fn succeeded(status: ExitStatus) -> Result<(), String> {
    if status.success() {
        Ok(())
    } else {
        Err(format!("ended with {status}"))
    }
}

/// On a thread of its own: a program that fills one pipe must not wait for us to empty the other.
fn read_all(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a failure is still worth showing.
        let _ = from.read_to_end(&mut bytes);
        // Nobody listens any more if it took too long.
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

fn last_words(from: Option<Receiver<String>>) -> String {
    from.and_then(|receiver| receiver.recv_timeout(LAST_WORDS).ok())
        .unwrap_or_default()
}
