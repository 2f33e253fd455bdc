use std::{
    io::{self, ErrorKind},
    net::Shutdown,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::Path,
    process::{Child, Command},
};

use crate::{Client, eventually};

/// A client in a process of its own, so that the kernel names a program behind its requests: what
/// is said here, that process says. Killed when dropped.
#[derive(Debug)]
pub struct Apart {
    /// Speaks for it.
    pub client: Client,
    child: Child,
}

impl Apart {
    /// Starts it: a program that does nothing but [`pass_on`].
    pub fn start(mut command: Command) -> Self {
        let (here, there) = UnixStream::pair().unwrap();
        command.stdin(OwnedFd::from(there));
        let mut child = None;
        eventually("it starts", || match command.spawn() {
            Ok(started) => {
                child = Some(started);
                true
            }
            // A file that was just written is still open in a child of another thread's that has
            // not become its program yet.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => false,
            Err(error) => panic!("{command:?}: {error}"),
        });
        Self {
            client: Client::over(here),
            child: child.unwrap(),
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Is the program of an [`Apart`]: connects to the socket at this path, and passes on what comes
/// from there and from its standard input, until either ends.
pub fn pass_on(address: &Path) {
    let here = io::stdin().as_fd().try_clone_to_owned().unwrap();
    let (here, app) = (
        UnixStream::from(here),
        UnixStream::connect(address).unwrap(),
    );
    let pass = |mut from: &UnixStream, mut to: &UnixStream| {
        let _ = io::copy(&mut from, &mut to);
        for end in [from, to] {
            let _ = end.shutdown(Shutdown::Both);
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(|| pass(&here, &app));
        pass(&app, &here);
    });
}
