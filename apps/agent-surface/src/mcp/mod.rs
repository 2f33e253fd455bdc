//! `agent-surface mcp`: an MCP server on standard input and output.
//!
//! One thread reads and one writes; what lies between runs on the main one. It ends at the end of
//! its input, or when nobody reads what it writes, and starts no other process.

mod door;
mod link;
mod stdio;

use std::{sync::Arc, time::Duration};

use agent_mcp::mcp::Session;
use tokio::runtime::Builder;

pub(crate) use link::MAX_REPLY;

/// How long calls that are on their way may take when the input has ended: a host that quits does
/// not wait for them, and a pipe does.
const LAST_CALLS: Duration = Duration::from_secs(2);

pub(crate) fn run(app: Option<String>, read_only: bool) -> Result<(), String> {
    let failed = |what: &'static str| move |why: std::io::Error| format!("could not {what}: {why}");
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed("start"))?;
    let door = Arc::new(door::Bridge::new(app, read_only));
    let (out, mut written) = stdio::writer().map_err(failed("start a thread"))?;
    let session = Arc::new(Session::start(runtime.handle(), door, {
        let out = out.clone();
        move |line, _| out.send(line)
    }));
    let read = stdio::reader(session.clone(), out).map_err(failed("start a thread"))?;
    runtime.block_on(async {
        tokio::select! {
            _ = read => {
                session.end();
                let answered = async {
                    while session.in_flight() > 0 {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                };
                let _ = tokio::time::timeout(LAST_CALLS, answered).await;
            }
            // Nobody reads any more.
            _ = &mut written.failed => {}
        }
    });
    drop(session);
    runtime.shutdown_background();
    written.wait();
    Ok(())
}
