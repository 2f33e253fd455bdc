use std::{
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::{Duration, Instant},
};

use agent_core::{
    Answer, AuthGate, Call, Channel, Decision, Job, ReplyTo, Request, Scope, Ticket, View,
    request_number,
};

/// A gate that lets everybody in.
pub fn allow() -> AuthGate {
    AuthGate::serve(|_| Decision::Allow)
}

/// A job of connection 1, to which everything is allowed and which has a minute, and where its
/// answer comes. What a test wants otherwise it sets in it.
pub fn job(call: Call) -> (Job, Receiver<Answer>) {
    let (sender, receiver) = channel();
    let job = Job {
        request: Request {
            number: request_number(),
            channel: Channel::External,
            connection: 1,
            claimed_name: None,
            peer: None,
            verb: call.verb(),
            scope: Scope::Surface,
            target: None,
        },
        name: None,
        call,
        gate: allow(),
        view: View {
            names_unexposed: false,
            window_was_there: false,
        },
        deadline: Instant::now() + Duration::from_secs(60),
        ticket: Arc::new(Ticket::default()),
        reply: ReplyTo::new(move |answer| drop(sender.send(answer))),
    };
    (job, receiver)
}
