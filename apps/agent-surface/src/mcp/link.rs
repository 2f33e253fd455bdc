//! A connection to one app: held while it is used, and a little longer.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use agent_mcp::{
    Running,
    mcp::{Reply, read_reply},
};
use agent_wire::{LineSplitter, Piece, Reason, RequestId, limits};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};

/// A reply of any verb is far below this: 1 MiB of text, six bytes a character at most.
pub(crate) const MAX_REPLY: usize = 16 * 1024 * 1024;

/// How long a connection is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(30);

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The app never got the request.
    Unsent,
    /// The app got it, and has quit.
    Unanswered,
}

/// What is asked of an app.
pub(super) struct Question {
    pub(super) verb: &'static str,
    pub(super) params: Map<String, Value>,
    /// Who asks, by its own word.
    pub(super) client: Option<String>,
    pub(super) reply: oneshot::Sender<Result<Reply, Lost>>,
    /// Dropped or sent to when nobody waits any more.
    pub(super) cancelled: oneshot::Receiver<()>,
}

/// The way to one app. Cheap to clone.
#[derive(Clone)]
pub(super) struct Link(mpsc::UnboundedSender<Question>);

impl Link {
    /// Connects, and serves what is asked until nobody asks for a while, or the app quits.
    pub(super) fn open(app: &Running) -> Result<Self, agent_mcp::ConnectError> {
        let io = agent_mcp::ConnectError::Io;
        let stream = app.connect()?;
        stream.set_nonblocking(true).map_err(io)?;
        let stream = UnixStream::from_std(stream).map_err(io)?;
        let (send, questions) = mpsc::unbounded_channel();
        tokio::spawn(run(stream, questions, IDLE));
        Ok(Self(send))
    }

    /// Asks. `Err`: it is closed, and the question comes back.
    pub(super) fn ask(&self, question: Question) -> Result<(), Box<Question>> {
        self.0.send(question).map_err(|error| Box::new(error.0))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

struct Waiting {
    verb: &'static str,
    /// Which subscription it names.
    subscription: Option<String>,
    reply: oneshot::Sender<Result<Reply, Lost>>,
    /// How many bytes have to be written for all of it to be.
    ends_at: u64,
}

struct State {
    out: Vec<u8>,
    /// Bytes that were ever put into `out`, and that were ever taken.
    queued: u64,
    written: u64,
    next: i64,
    waiting: HashMap<i64, Waiting>,
    client: Option<String>,
    /// What lives on this connection, and ends with it.
    subscriptions: HashSet<String>,
    /// Requests to listen that nobody waits for any more. The answer may be on its way already.
    unheard: VecDeque<i64>,
    cancel: mpsc::UnboundedSender<i64>,
}

async fn run(stream: UnixStream, mut questions: mpsc::UnboundedReceiver<Question>, idle: Duration) {
    let (mut read, mut write) = stream.into_split();
    let (cancel, mut cancelled) = mpsc::unbounded_channel();
    let mut state = State {
        out: Vec::new(),
        queued: 0,
        written: 0,
        next: 1,
        waiting: HashMap::new(),
        client: None,
        subscriptions: HashSet::new(),
        unheard: VecDeque::new(),
        cancel,
    };
    let mut splitter = LineSplitter::new(MAX_REPLY);
    let mut chunk = vec![0; 64 * 1024];
    let mut idle_at = Instant::now() + idle;
    loop {
        tokio::select! {
            got = read.read(&mut chunk) => {
                let Ok(got @ 1..) = got else { break };
                let mut too_long = false;
                splitter.push(chunk.get(..got).unwrap_or_default(), &mut |piece| match piece {
                    Piece::Line(line) => state.hear(line),
                    Piece::TooLong => too_long = true,
                });
                // No reply of ours is that long: there is nothing to be had from it.
                if too_long { break }
                idle_at = Instant::now() + idle;
            }
            wrote = write.write(&state.out), if !state.out.is_empty() => {
                let Ok(wrote @ 1..) = wrote else { break };
                state.out.drain(..wrote);
                state.written += wrote as u64;
            }
            question = questions.recv() => match question {
                Some(question) => {
                    state.ask(question);
                    idle_at = Instant::now() + idle;
                }
                None => break,
            },
            Some(id) = cancelled.recv() => state.cancel(id),
            () = sleep_until(idle_at), if state.is_idle() => break,
        }
    }
    // From here on a question comes back to whoever asks it.
    questions.close();
    while let Ok(question) = questions.try_recv() {
        let _ = question.reply.send(Err(Lost::Unsent));
    }
    for waiting in state.waiting.into_values() {
        let lost = if waiting.ends_at <= state.written {
            Lost::Unanswered
        } else {
            Lost::Unsent
        };
        let _ = waiting.reply.send(Err(lost));
    }
}

impl State {
    fn ask(&mut self, question: Question) {
        if question.client.is_some() && question.client != self.client {
            // Its answer is of no use: what the app thinks of it, it says to what follows too.
            let name = question.client.clone();
            self.request("hello", &json!({ "name": name }));
            self.client = question.client;
        }
        let named = question.params.get("subscription").and_then(Value::as_str);
        let subscription = named.map(str::to_owned);
        let id = self.request(question.verb, &Value::Object(question.params));
        let waiting = Waiting {
            verb: question.verb,
            subscription,
            reply: question.reply,
            ends_at: self.queued,
        };
        self.waiting.insert(id, waiting);
        let cancel = self.cancel.clone();
        tokio::spawn(async move {
            let _ = question.cancelled.await;
            let _ = cancel.send(id);
        });
    }

    fn request(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.put(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Nobody waits for it any more. If it was answered, that is all.
    fn cancel(&mut self, id: i64) {
        if let Some(waiting) = self.waiting.remove(&id) {
            if waiting.verb == "subscribe" {
                if self.unheard.len() >= limits::REQUESTS_IN_FLIGHT {
                    self.unheard.pop_front();
                }
                self.unheard.push_back(id);
            }
            self.put(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": id}}),
            );
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.out.is_empty() && self.subscriptions.is_empty()
    }

    /// Which subscriptions there are, by what the app says of them.
    fn keep_count(&mut self, waiting: &Waiting, reply: &Reply) {
        match (waiting.verb, &waiting.subscription, reply) {
            ("subscribe", _, Ok(made)) => {
                let id = made.get("subscription").and_then(Value::as_str);
                self.subscriptions.extend(id.map(str::to_owned));
            }
            ("unsubscribe", Some(id), Ok(_)) => {
                self.subscriptions.remove(id);
            }
            // It is not there any more, or the user has taken the leave to listen back.
            ("poll_events" | "unsubscribe", Some(id), Err(failure))
                if matches!(
                    failure.reason,
                    Reason::InvalidParams | Reason::ConsentDenied | Reason::ConsentPending
                ) =>
            {
                self.subscriptions.remove(id);
            }
            _ => {}
        }
    }

    fn put(&mut self, message: &Value) {
        let before = self.out.len();
        self.out.extend_from_slice(message.to_string().as_bytes());
        self.out.push(b'\n');
        self.queued += (self.out.len() - before) as u64;
    }

    fn hear(&mut self, line: &[u8]) {
        let Some((Some(RequestId::Int(id)), reply)) = read_reply(line) else {
            return;
        };
        if let Some(waiting) = self.waiting.remove(&id) {
            self.keep_count(&waiting, &reply);
            let _ = waiting.reply.send(Ok(reply));
            return;
        }
        let unheard = self.unheard.iter().position(|it| *it == id);
        if unheard.and_then(|at| self.unheard.remove(at)).is_some()
            && let Ok(made) = reply
            && let Some(made) = made.get("subscription")
        {
            // Its answer is of no use: there it is, or it is gone.
            self.request("unsubscribe", &json!({"subscription": made}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    fn question(
        client: &str,
    ) -> (
        Question,
        oneshot::Receiver<Result<Reply, Lost>>,
        oneshot::Sender<()>,
    ) {
        let (reply, replied) = oneshot::channel();
        let (cancel, cancelled) = oneshot::channel();
        let question = Question {
            verb: "click",
            params: Map::new(),
            client: Some(client.to_owned()),
            reply,
            cancelled,
        };
        (question, replied, cancel)
    }

    fn on_a_runtime(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(test);
    }

    #[test]
    fn a_connection_is_held_while_it_is_used_and_then_closed() {
        on_a_runtime(async {
            let (ours, app) = UnixStream::pair().unwrap();
            let (send, questions) = mpsc::unbounded_channel();
            let ran = tokio::spawn(run(ours, questions, Duration::from_millis(50)));
            let link = Link(send);
            let (asked, replied, _cancel) = question("host");
            assert!(link.ask(asked).is_ok());
            let (read, mut write) = app.into_split();
            let mut lines = BufReader::new(read).lines();
            let hello = lines.next_line().await.unwrap().unwrap();
            assert!(
                hello.contains("\"hello\"") && hello.contains("\"host\""),
                "{hello}"
            );
            assert!(
                lines
                    .next_line()
                    .await
                    .unwrap()
                    .unwrap()
                    .contains("\"click\"")
            );
            // An answer may take longer than idling is allowed.
            tokio::time::sleep(Duration::from_millis(150)).await;
            let reply = b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"outcome\":\"allowed\"}}\n";
            write.write_all(reply).await.unwrap();
            assert_eq!(
                replied.await.unwrap().unwrap().unwrap()["outcome"],
                "allowed"
            );
            // Nobody asks any more.
            assert_eq!(lines.next_line().await.unwrap(), None);
            ran.await.unwrap();
            assert!(link.is_closed());
            assert!(link.ask(question("host").0).is_err());
        });
    }

    #[test]
    fn who_waits_is_told_whether_the_app_got_it_and_cancelling_is_passed_on() {
        on_a_runtime(async {
            let (ours, app) = UnixStream::pair().unwrap();
            let (send, questions) = mpsc::unbounded_channel();
            tokio::spawn(run(ours, questions, Duration::from_secs(60)));
            let link = Link(send);
            let (first, replied, _first) = question("host");
            let (second, dropped, cancel) = question("host");
            assert!(link.ask(first).is_ok() && link.ask(second).is_ok());
            let (read, write) = app.into_split();
            let mut lines = BufReader::new(read).lines();
            for _ in 0..3 {
                lines.next_line().await.unwrap();
            }
            drop(cancel);
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(
                line.contains("notifications/cancelled") && line.contains("{\"requestId\":3}"),
                "{line}"
            );
            assert!(dropped.await.is_err());
            drop((lines, write));
            assert_eq!(replied.await.unwrap().unwrap_err(), Lost::Unanswered);
        });
    }

    #[test]
    fn a_subscription_that_nobody_waits_for_any_more_is_ended() {
        on_a_runtime(async {
            let (ours, app) = UnixStream::pair().unwrap();
            let (send, questions) = mpsc::unbounded_channel();
            tokio::spawn(run(ours, questions, Duration::from_secs(60)));
            let link = Link(send);
            let (read, mut write) = app.into_split();
            let mut lines = BufReader::new(read).lines();
            let (mut asked, replied, cancel) = question("host");
            asked.verb = "subscribe";
            asked.client = None;
            assert!(link.ask(asked).is_ok());
            lines.next_line().await.unwrap();
            // The answer and this cross on the way.
            drop(cancel);
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(line.contains("notifications/cancelled"), "{line}");
            let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {"subscription": "s1"}});
            write
                .write_all(format!("{reply}\n").as_bytes())
                .await
                .unwrap();
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(
                line.contains("\"unsubscribe\"") && line.contains("{\"subscription\":\"s1\"}"),
                "{line}"
            );
            assert!(replied.await.is_err());
        });
    }

    #[test]
    fn a_subscription_keeps_its_connection_until_it_is_over() {
        on_a_runtime(async {
            let (ours, app) = UnixStream::pair().unwrap();
            let (send, questions) = mpsc::unbounded_channel();
            let ran = tokio::spawn(run(ours, questions, Duration::from_millis(50)));
            let link = Link(send);
            let (read, mut write) = app.into_split();
            let mut lines = BufReader::new(read).lines();
            let mut cancels = Vec::new();
            let mut id = 0;
            for (verb, result) in [
                ("subscribe", json!({"subscription": "s1", "revision": 1})),
                ("unsubscribe", json!({})),
            ] {
                let (mut asked, replied, cancel) = question("host");
                asked.verb = verb;
                asked.client = None;
                if verb == "unsubscribe" {
                    asked.params.insert("subscription".into(), "s1".into());
                }
                cancels.push(cancel);
                assert!(link.ask(asked).is_ok());
                lines.next_line().await.unwrap();
                id += 1;
                let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
                write
                    .write_all(format!("{reply}\n").as_bytes())
                    .await
                    .unwrap();
                assert!(replied.await.unwrap().unwrap().is_ok());
                if verb == "subscribe" {
                    // Longer than idling is allowed.
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    assert!(!link.is_closed());
                }
            }
            assert_eq!(lines.next_line().await.unwrap(), None);
            ran.await.unwrap();
        });
    }
}
