//! MCP on the app's own socket. A tool call is judged where the bare verbs are, on the reader's
//! thread, in the order in which lines come in; the SDK only waits for what comes of it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use agent_wire::{Failure, Request, RequestId, Verb, error_line};
use rmcp::model::{CallToolResult, Tool};
use serde_json::Value;
use tokio::{runtime::Handle, sync::oneshot};

use super::{
    handler::{About, Ask, Door, Named, Replied, ToolCall},
    say::{Asked, Said, read_reply},
    session::Session,
    tools::{INSTRUCTIONS, tools},
};
use crate::sync::lock;

/// What of a connection speaks MCP.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) session: Session,
    calls: Arc<Calls>,
}

/// The tool calls whose reply is on its way.
struct Calls {
    app: String,
    /// Takes a request of ours as if its client had sent it.
    send: Box<dyn Fn(Request) + Send + Sync>,
    /// Counts these.
    sent: AtomicU64,
    by_id: Mutex<HashMap<RequestId, oneshot::Sender<Vec<u8>>>>,
    by_serial: Mutex<HashMap<i64, Expected>>,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").finish_non_exhaustive()
    }
}

/// What a call asked for, and where its reply line will come.
#[derive(Debug)]
struct Expected {
    asked: Asked,
    reply: oneshot::Receiver<Vec<u8>>,
}

impl Link {
    /// Serves a client of the app of this id; its lines go to `out`, `true` for answers, and what
    /// is asked in its name to `send`.
    pub(crate) fn start(
        runtime: &Handle,
        app: &str,
        out: impl Fn(Vec<u8>, bool) + Send + Sync + 'static,
        send: impl Fn(Request) + Send + Sync + 'static,
    ) -> Self {
        let calls = Arc::new(Calls {
            app: app.to_owned(),
            send: Box::new(send),
            sent: AtomicU64::new(0),
            by_id: Mutex::default(),
            by_serial: Mutex::default(),
        });
        Self {
            session: Session::start(runtime, calls.clone(), out),
            calls,
        }
    }

    /// The request of the bare dialect that a tool call comes to, if it is one of a verb, with
    /// well-formed arguments; its reply is waited for from now on.
    pub(crate) fn expect(
        &self,
        serial: i64,
        id: &RequestId,
        params: Option<&Value>,
    ) -> Option<Request> {
        let params = params?;
        let verb = Verb::named(params.get("name")?.as_str()?)?;
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => serde_json::Map::new(),
            Some(arguments) => arguments.as_object()?.clone(),
        };
        let (send, reply) = oneshot::channel();
        let expect = |asked| {
            lock(&self.calls.by_serial).insert(serial, Expected { asked, reply });
        };
        match Asked::new(verb, arguments) {
            Ok(mut asked) => {
                let request = Request {
                    id: id.clone(),
                    method: verb.name.to_owned(),
                    params: Some(Value::Object(asked.take_params())),
                };
                expect(asked);
                lock(&self.calls.by_id).insert(id.clone(), send);
                Some(request)
            }
            Err(failure) => {
                let _ = send.send(error_line(Some(id), &failure));
                expect(Asked::new(verb, serde_json::Map::new()).ok()?);
                None
            }
        }
    }

    /// A reply of the bare dialect is ready. Answers it back, unless a tool call waited for it.
    pub(crate) fn divert(&self, id: &RequestId, line: Vec<u8>) -> Option<Vec<u8>> {
        match lock(&self.calls.by_id).remove(id) {
            Some(waiting) => {
                // Not waited for any more: cancelled.
                let _ = waiting.send(line);
                None
            }
            None => Some(line),
        }
    }

    /// The client cancelled it. Whether a request of MCP's it was.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        // The session first: from then on it sends no answer, and the call ends without one when
        // the way of its reply is gone.
        let serial = self.session.cancel(id);
        lock(&self.calls.by_id).remove(id);
        if let Some(serial) = serial {
            lock(&self.calls.by_serial).remove(&serial);
        }
        serial.is_some()
    }
}

impl Door for Calls {
    fn about(&self) -> About {
        About {
            name: self.app.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: INSTRUCTIONS.to_owned(),
        }
    }

    fn tools(&self) -> &[Tool] {
        static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
        TOOLS.get_or_init(tools)
    }

    fn has_apps(&self) -> bool {
        false
    }

    fn which(&self, _: Option<&str>) -> Result<Option<Named>, Failure> {
        Ok(None)
    }

    fn ask(&self, ask: Ask) -> Replied {
        // No client has ids that begin like this by chance.
        let serial = self.sent.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::Str(format!("\u{1}agent-surface {serial}"));
        let (send, reply) = oneshot::channel();
        lock(&self.by_id).insert(id.clone(), send);
        (self.send)(Request {
            id,
            method: ask.verb.to_owned(),
            params: Some(Value::Object(ask.params)),
        });
        Box::pin(async move {
            let line = reply.await.ok();
            match line.and_then(|line| read_reply(&line)) {
                Some((_, reply)) => reply,
                // The connection has ended.
                None => Err(Failure::internal()),
            }
        })
    }

    async fn call(&self, mut call: ToolCall) -> CallToolResult {
        // The reader has passed them on already.
        call.arguments.clear();
        let waiting = lock(&self.by_serial).remove(&call.serial);
        let Some(Expected { asked, reply }) = waiting else {
            return Said::refused(&Failure::internal()).into();
        };
        let line = tokio::select! {
            line = reply => line.ok(),
            () = call.cancelled.wait() => None,
        };
        // Without a line it was cancelled, or the connection has ended: nobody reads this.
        match line.and_then(|line| read_reply(&line)) {
            Some((_, reply)) => asked.said(&reply, None).into(),
            None => Said::refused(&Failure::internal()).into(),
        }
    }
}
