//! The thread that writes to one client, keeps the time for it, and goes on with what was held
//! back.

use std::{os::fd::AsFd as _, sync::Arc, time::Instant};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use crate::{
    connection::Connection,
    judge::Judge,
    outbox::{Batch, Reply},
    server::Shared,
    sync::lock,
    sys, to_wire,
};

/// Writes what becomes ready, until the connection ends.
pub(crate) fn run(connection: &Arc<Connection>, shared: &Arc<Shared>) {
    let _end = EndOnDrop(connection);
    let judge = Judge { connection, shared };
    while let Some(mut batch) = connection.outbox.next(shared.limits.idle_before_gate) {
        if batch.withdrawn {
            shared.backend.purge();
        }
        for (tell, outcome) in batch.over.drain(..) {
            tell.done(outcome);
        }
        if batch.look_again {
            judge.held_back();
        }
        let lines = lines(connection, shared, batch);
        connection.outbox.writing(lines.len());
        if !write(connection, shared, &lines) {
            break;
        }
    }
}

/// However the writer ends, the reader sees it.
struct EndOnDrop<'a>(&'a Connection);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// One buffer of all the lines, to be sent at once: mostly there is one line, and it is the
/// buffer.
fn lines(connection: &Connection, shared: &Shared, batch: Batch) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut replies = batch.replies;
    if !batch.news.is_empty() {
        // The name of a subscription is told before its events.
        let (made, others) = replies
            .into_iter()
            .partition(|reply| matches!(reply, Reply::Subscribed(..)));
        add(connection, shared, made, &mut lines);
        replies = others;
    }
    for subscription in batch.news {
        // At most what its queue holds: what comes meanwhile is news again.
        let polled = lock(&shared.hub).poll(connection.id, subscription, usize::MAX);
        if let Some(polled) = polled {
            lines.extend(to_wire::pushed(connection.id, subscription, &polled));
        }
    }
    add(connection, shared, replies, &mut lines);
    lines
}

fn add(connection: &Connection, shared: &Shared, replies: Vec<Reply>, lines: &mut Vec<u8>) {
    for reply in replies {
        let line = match reply {
            Reply::Line(line) => Some(line),
            Reply::Failed(id, line) => connection.divert(&id, line),
            Reply::Answer(id, verb, answer) => {
                connection.divert(&id, to_wire::line(&id, verb, answer))
            }
            Reply::Subscribed(id, made, revision) => {
                connection.divert(&id, to_wire::subscribed(&id, made, revision))
            }
            Reply::Poll(id, subscription, most) => {
                let line = shared.poll(connection, &id, subscription, most);
                connection.divert(&id, line)
            }
            Reply::Unheard(made) => {
                shared.unsubscribe(connection.id, Some(made.id));
                None
            }
            Reply::Late(_) => None,
        };
        let Some(line) = line else { continue };
        if lines.is_empty() {
            *lines = line;
        } else {
            lines.extend_from_slice(&line);
        }
    }
}

/// `false`: the client is gone, or has read nothing for too long.
fn write(connection: &Connection, shared: &Shared, bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut give_up = None;
    while !rest.is_empty() {
        match sys::send(&connection.stream, rest) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(Errno::AGAIN) => {
                let now = Instant::now();
                let give_up = *give_up.get_or_insert(now + shared.limits.unread_for);
                let Some((deadline, withdrawn)) = connection.outbox.tick(now) else {
                    return false;
                };
                if withdrawn {
                    shared.backend.purge();
                }
                if now >= give_up {
                    return false;
                }
                let until = deadline.map_or(give_up, |deadline| deadline.min(give_up));
                let timeout = Timespec::try_from(until.saturating_duration_since(now)).ok();
                let mut fds = [PollFd::from_borrowed_fd(
                    connection.stream.as_fd(),
                    PollFlags::OUT,
                )];
                match poll(&mut fds, timeout.as_ref()) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(_) => return false,
                }
            }
            Err(_) => return false,
        }
    }
    true
}
