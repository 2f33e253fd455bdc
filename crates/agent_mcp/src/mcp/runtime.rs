//! The thread that the SDK runs on inside an app: one for all of a server's connections, started
//! when the first MCP message comes in.

use std::{io, sync::Mutex};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

use crate::{server::Threads, sync::lock};

#[derive(Debug, Default)]
pub(crate) struct Runtime(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Running {
        handle: Handle,
        /// Dropped to end it.
        _until: oneshot::Sender<()>,
    },
    Stopped,
}

impl Runtime {
    /// The runtime, started if it has to be.
    pub(crate) fn handle(&self, threads: &Threads) -> io::Result<Handle> {
        let mut state = lock(&self.0);
        match &*state {
            State::Running { handle, .. } => Ok(handle.clone()),
            State::Stopped => Err(io::Error::other("the server has stopped")),
            State::Idle => {
                let runtime = Builder::new_current_thread().enable_time().build()?;
                let handle = runtime.handle().clone();
                let (until, ended) = oneshot::channel::<()>();
                threads.spawn("agent:mcp".into(), move || {
                    let _ = runtime.block_on(ended);
                    // What is left of the sessions is dropped with the runtime.
                })?;
                *state = State::Running {
                    handle: handle.clone(),
                    _until: until,
                };
                Ok(handle)
            }
        }
    }

    /// Ends it for good.
    pub(crate) fn stop(&self) {
        *lock(&self.0) = State::Stopped;
    }
}
