use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use agent_core::{
    Answer, AuthGate, Call, Channel, Decision, Describe, Fault, Inbox, Job, ReplyTo, Request,
    Scope, Ticket, Verb, View,
};

type Answers = Arc<Mutex<Vec<String>>>;

fn job(connection: u64, gate: &AuthGate, answers: &Answers) -> Job {
    let answers = answers.clone();
    Job {
        call: Call::Describe(Describe::default()),
        request: Request {
            number: 1,
            channel: Channel::External,
            connection,
            claimed_name: None,
            peer: None,
            verb: Verb::DescribeUi,
            scope: Scope::Surface,
            target: None,
        },
        name: None,
        gate: gate.clone(),
        view: View {
            names_unexposed: false,
            window_was_there: false,
        },
        deadline: Instant::now() + Duration::from_secs(60),
        ticket: Arc::new(Ticket::default()),
        reply: ReplyTo::new(move |answer| answers.lock().unwrap().push(format!("{answer:?}"))),
    }
}

fn open() -> AuthGate {
    AuthGate::serve(|_| Decision::Allow)
}

#[test]
fn rule_9_connections_take_turns_and_each_keeps_its_order() {
    let mut inbox = Inbox::default();
    let answers = Answers::default();
    for connection in [1, 1, 1, 2, 3] {
        inbox.push(job(connection, &open(), &answers));
    }
    let order: Vec<u64> = std::iter::from_fn(|| inbox.pop())
        .map(|job| job.request.connection)
        .collect();
    assert_eq!(order, [1, 2, 3, 1, 1]);
    assert!(inbox.is_empty());
}

#[test]
fn rule_9_one_that_has_to_wait_holds_up_its_own_connection_alone() {
    let mut inbox = Inbox::default();
    let answers = Answers::default();
    for (connection, verb) in [
        (1, Verb::Click),
        (1, Verb::DescribeUi),
        (2, Verb::DescribeUi),
        (3, Verb::Click),
        (2, Verb::GetText),
    ] {
        let mut job = job(connection, &open(), &answers);
        job.request.verb = verb;
        inbox.push(job);
    }
    let waits = |job: &Job| job.request.verb != Verb::Click;
    let order: Vec<Verb> = std::iter::from_fn(|| inbox.pop_ready(waits))
        .map(|job| job.request.verb)
        .collect();
    assert_eq!(order, [Verb::DescribeUi, Verb::GetText]);
    assert!(!inbox.has_ready(waits) && inbox.len() == 3);
    let order: Vec<u64> = std::iter::from_fn(|| inbox.pop_ready(|_| true))
        .map(|job| job.request.connection)
        .collect();
    assert_eq!(order, [1, 3, 1]);
    let withdrawn = job(4, &open(), &answers);
    withdrawn.ticket.withdraw();
    inbox.push(withdrawn);
    assert!(inbox.pop_ready(|_| true).is_none() && inbox.is_empty());
}

#[test]
fn rule_9_what_was_withdrawn_is_neither_performed_nor_answered() {
    let answers = Answers::default();
    let withdrawn = job(1, &open(), &answers);
    let ticket = withdrawn.ticket.clone();
    assert!(ticket.withdraw());
    assert!(!ticket.withdraw());
    assert!(withdrawn.enter(Instant::now()).is_none());
    let late = Job {
        deadline: Instant::now(),
        ..job(1, &open(), &answers)
    };
    assert!(late.enter(Instant::now()).is_none());
    let entered = job(1, &open(), &answers).enter(Instant::now()).unwrap();
    assert!(!entered.ticket.withdraw(), "what has entered completes");
    assert!(answers.lock().unwrap().is_empty());
    let mut inbox = Inbox::default();
    inbox.push(job(1, &open(), &answers));
    let second = job(1, &open(), &answers);
    second.ticket.withdraw();
    inbox.push(second);
    inbox.purge();
    assert_eq!(inbox.len(), 1);
}

#[test]
fn rule_2_the_gate_is_asked_again_on_entry() {
    let answers = Answers::default();
    let shut = Arc::new(AtomicBool::new(false));
    let door = shut.clone();
    let gate = AuthGate::serve(move |_| {
        if door.load(Ordering::Relaxed) {
            Decision::Ask
        } else {
            Decision::Allow
        }
    });
    let queued = job(1, &gate, &answers);
    shut.store(true, Ordering::Relaxed);
    assert!(queued.enter(Instant::now()).is_none());
    assert_eq!(
        *answers.lock().unwrap(),
        [format!("{:?}", Answer::Fault(Fault::Denied))]
    );
}

#[test]
fn a_job_that_is_dropped_is_answered() {
    let answers = Answers::default();
    drop(job(1, &open(), &answers));
    assert_eq!(
        *answers.lock().unwrap(),
        [format!("{:?}", Answer::Fault(Fault::Closed))]
    );
}
