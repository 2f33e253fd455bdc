//! Standard input and output, one line a message. What is no message is answered here, so that
//! the client is told of it and the next line is served.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use agent_mcp::mcp::{Session, is_method};
use agent_wire::{
    Failure, Line, LineSplitter, Piece, Reason, Request, RequestId, error_line,
    limits::{self, names},
    parse_line,
};
use tokio::sync::oneshot;

/// Requests that a host may have in flight: each can be a call that an app takes its time for.
const IN_FLIGHT: usize = 64;

/// How long what is written last may take: the host may be gone, or stopped.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Where lines to the host go.
#[derive(Clone)]
pub(super) struct Out(Sender<Vec<u8>>);

impl Out {
    /// Never waits.
    pub(super) fn send(&self, line: Vec<u8>) {
        let _ = self.0.send(line);
    }
}

/// The thread that writes.
pub(super) struct Written {
    /// Ready when nobody reads any more.
    pub(super) failed: oneshot::Receiver<()>,
    done: Receiver<()>,
    _thread: JoinHandle<()>,
}

impl Written {
    /// Waits until all is written, for a while.
    pub(super) fn wait(self) {
        let _ = self.done.recv_timeout(LAST_WORDS);
    }
}

pub(super) fn writer() -> io::Result<(Out, Written)> {
    let (out, lines) = channel::<Vec<u8>>();
    let (fail, failed) = oneshot::channel();
    let (finish, done) = channel();
    let thread = std::thread::Builder::new()
        .name("stdout".into())
        .spawn(move || {
            let mut stdout = io::stdout().lock();
            for line in lines {
                if stdout
                    .write_all(&line)
                    .and_then(|()| stdout.flush())
                    .is_err()
                {
                    let _ = fail.send(());
                    return;
                }
            }
            let _ = finish.send(());
        })?;
    let written = Written {
        failed,
        done,
        _thread: thread,
    };
    Ok((Out(out), written))
}

/// The thread that reads. What it answers is ready at the end of the input.
pub(super) fn reader(session: Arc<Session>, out: Out) -> io::Result<oneshot::Receiver<()>> {
    let (end, ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("stdin".into())
        .spawn(move || {
            read(&session, &out);
            let _ = end.send(());
        })?;
    Ok(ended)
}

fn read(session: &Session, out: &Out) {
    let mut stdin = io::stdin().lock();
    let mut chunk = vec![0; 64 * 1024];
    let mut splitter = LineSplitter::new(limits::LINE_BYTES);
    loop {
        match stdin.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => splitter.push(chunk.get(..read).unwrap_or_default(), &mut |piece| {
                judge(session, out, piece);
            }),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}

fn judge(session: &Session, out: &Out, piece: Piece<'_>) {
    let refuse = |id: Option<&RequestId>, failure: &Failure| out.send(error_line(id, failure));
    let line = match piece {
        Piece::Line(line) => parse_line(line),
        Piece::TooLong => return refuse(None, &Failure::limit(names::LINE, None)),
    };
    match line {
        Line::Blank => {}
        Line::Bad { id, failure } => refuse(id.as_ref(), &failure),
        Line::Notification { method, params } => {
            if method == "notifications/cancelled"
                && let Some(id) = params.as_ref().and_then(|it| it.get("requestId"))
                && let Some(id) = RequestId::from_value(id)
            {
                session.cancel(&id);
            }
            session.notify(&method, params.as_ref());
        }
        Line::Request(it) => match take(session, &it) {
            Ok(message) => session.send(message),
            Err(failure) => refuse(Some(&it.id), &failure),
        },
    }
}

fn take(session: &Session, request: &Request) -> Result<agent_mcp::mcp::Message, Failure> {
    if !is_method(&request.method) {
        return Err(Failure::new(
            Reason::MethodNotFound,
            "this server has no such method; it has tools",
        ));
    }
    if session.holds(&request.id) {
        return Err(Failure::new(
            Reason::InvalidRequest,
            "a request with this `id` is in flight already; give each its own",
        ));
    }
    if session.in_flight() >= IN_FLIGHT {
        return Err(Failure::limit(names::REQUESTS, None));
    }
    session.take(request)
}
