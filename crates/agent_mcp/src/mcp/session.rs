//! One client of the SDK: the stream in memory between its lines and the SDK's messages.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use agent_wire::{Failure, Reason, Request, RequestId, error_line, limits, result_line};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, NumberOrString,
        RequestMetaObject, ServerResult,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_directly},
    transport::Transport,
};
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use tokio::{
    runtime,
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
};

use super::{
    LISTEN,
    handler::{Door, Handler, REVISIONS},
};
use crate::sync::lock;

/// One client. Dropping it ends what the SDK does for it.
#[derive(Debug)]
pub struct Session {
    /// `None`: nothing more is taken.
    to_sdk: Mutex<Option<UnboundedSender<ClientJsonRpcMessage>>>,
    pending: Arc<Pending>,
}

/// Ends when nobody waits for a call any more.
#[derive(Debug)]
pub struct Cancelled(oneshot::Receiver<()>);

impl Cancelled {
    /// Waits for it.
    pub async fn wait(&mut self) {
        let _ = (&mut self.0).await;
    }
}

/// The requests that the SDK has and has not answered. It knows them by numbers of ours, so that
/// a client's id is echoed exactly, whatever the SDK can hold.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    last: i64,
    by_serial: HashMap<i64, Waiting>,
    client: Option<String>,
}

#[derive(Debug)]
struct Waiting {
    id: RequestId,
    /// It is answered when its client no longer listens, and not before.
    listens: bool,
    /// Dropped with this.
    _until: oneshot::Sender<()>,
    cancelled: Option<oneshot::Receiver<()>>,
}

impl Pending {
    fn add(&self, id: RequestId, listens: bool) -> i64 {
        let mut asked = lock(&self.0);
        asked.last = asked.last.wrapping_add(1).max(1);
        let serial = asked.last;
        let (until, cancelled) = oneshot::channel();
        asked.by_serial.insert(
            serial,
            Waiting {
                id,
                listens,
                _until: until,
                cancelled: Some(cancelled),
            },
        );
        serial
    }

    fn remove(&self, serial: i64) -> Option<RequestId> {
        let waiting = lock(&self.0).by_serial.remove(&serial)?;
        Some(waiting.id)
    }

    fn id_of(&self, serial: i64) -> Option<RequestId> {
        let asked = lock(&self.0);
        asked.by_serial.get(&serial).map(|it| it.id.clone())
    }

    /// What the client calls itself: a claim.
    pub(super) fn client(&self) -> Option<String> {
        lock(&self.0).client.clone()
    }

    /// For the call of this number, once.
    pub(super) fn cancelled(&self, serial: i64) -> Cancelled {
        let taken = lock(&self.0)
            .by_serial
            .get_mut(&serial)
            .and_then(|waiting| waiting.cancelled.take());
        // Gone already: its end has come.
        Cancelled(taken.unwrap_or_else(|| oneshot::channel().1))
    }
}

/// A request that is known to be MCP's and well-formed, and waits to be handed to the SDK.
#[derive(Debug)]
#[must_use = "the client waits for an answer"]
pub struct Message {
    message: ClientJsonRpcMessage,
    /// Its number in the session.
    pub serial: i64,
    /// Whether the SDK will let it through: it says of itself a revision that is spoken, and
    /// all that this revision asks for.
    pub fits: bool,
}

impl Session {
    /// Serves one client through `door`, on this runtime. Each line that it is to get goes to
    /// `out`, which must not wait, with `true` if it is the answer to a request.
    pub fn start<D: Door>(
        runtime: &runtime::Handle,
        door: Arc<D>,
        out: impl Fn(Vec<u8>, bool) + Send + Sync + 'static,
    ) -> Self {
        let (to_sdk, from_client) = unbounded_channel();
        let pending = Arc::<Pending>::default();
        let stream = Stream {
            from_client,
            pending: pending.clone(),
            out: Arc::new(out),
        };
        let handler = Handler::new(door, pending.clone());
        runtime.spawn(async move {
            // Without the SDK's state machine of lifecycles, which ends a connection at the
            // first message that it does not expect.
            let _ = serve_directly::<RoleServer, _, _, _, _>(handler, stream, None)
                .waiting()
                .await;
        });
        Self {
            to_sdk: Mutex::new(Some(to_sdk)),
            pending,
        }
    }

    /// How many requests have no answer yet.
    pub fn in_flight(&self) -> usize {
        lock(&self.pending.0).by_serial.len()
    }

    /// Whether a request of this id has no answer yet.
    pub fn holds(&self, id: &RequestId) -> bool {
        let asked = lock(&self.pending.0);
        asked.by_serial.values().any(|waiting| waiting.id == *id)
    }

    /// Takes a request on: from now on it is in flight.
    ///
    /// # Errors
    /// If its parameters are not what MCP asks for; it is not in flight then.
    pub fn take(&self, request: &Request) -> Result<Message, Failure> {
        let listens = request.method == LISTEN;
        let serial = self.pending.add(request.id.clone(), listens);
        if let Some(name) = client_name(request) {
            lock(&self.pending.0).client = Some(name.to_owned());
        }
        let mut message = json!({"jsonrpc": "2.0", "id": serial, "method": request.method});
        if let (Some(message), Some(params)) = (message.as_object_mut(), &request.params) {
            message.insert("params".to_owned(), params.clone());
        }
        match read(message) {
            Some(message) => Ok(Message {
                message,
                serial,
                fits: request.params.as_ref().is_none_or(meta_fits),
            }),
            None => {
                self.pending.remove(serial);
                Err(Failure::new(
                    Reason::InvalidParams,
                    "the params are not what MCP asks of this method",
                ))
            }
        }
    }

    /// Hands it to the SDK.
    pub fn send(&self, message: Message) {
        let gone = match &*lock(&self.to_sdk) {
            Some(to_sdk) => to_sdk.send(message.message).is_err(),
            None => true,
        };
        if gone {
            self.pending.remove(message.serial);
        }
    }

    /// Passes a notification on. What MCP doesn't know is ignored.
    pub fn notify(&self, method: &str, params: Option<&Value>) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let (Some(message), Some(params)) = (message.as_object_mut(), params) {
            message.insert("params".to_owned(), params.clone());
        }
        if let Ok(message) = serde_json::from_value::<ClientJsonRpcMessage>(message)
            && let JsonRpcMessage::Notification(it) = &message
            && !matches!(
                it.notification,
                // Seen to here, by the client's own id.
                ClientNotification::CancelledNotification(_)
                    | ClientNotification::CustomNotification(_)
            )
            && let Some(to_sdk) = &*lock(&self.to_sdk)
        {
            let _ = to_sdk.send(message);
        }
    }

    /// The client no longer waits for this answer, and won't get it. Answers which number it
    /// had.
    pub fn cancel(&self, id: &RequestId) -> Option<i64> {
        let mut asked = lock(&self.pending.0);
        let serial = asked
            .by_serial
            .iter()
            .find_map(|(serial, waiting)| (waiting.id == *id).then_some(*serial))?;
        asked.by_serial.remove(&serial);
        Some(serial)
    }

    /// What the client calls itself, by what it said last: a claim.
    pub fn client(&self) -> Option<String> {
        self.pending.client()
    }

    /// Takes nothing more. What is in flight is still answered, but for what only listens.
    pub fn end(&self) {
        lock(&self.to_sdk).take();
        let mut asked = lock(&self.pending.0);
        asked.by_serial.retain(|_, waiting| !waiting.listens);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
        lock(&self.pending.0).by_serial.clear();
    }
}

/// What a client calls itself: once, or on each request.
fn client_name(request: &Request) -> Option<&str> {
    let params = request.params.as_ref()?;
    let info = match request.method.as_str() {
        "initialize" => params.get("clientInfo")?,
        _ => params
            .get("_meta")?
            .get("io.modelcontextprotocol/clientInfo")?,
    };
    let name = info.get("name")?.as_str()?;
    name.get(..name.floor_char_boundary(limits::SHORT_TEXT_BYTES))
}

/// As the SDK judges what a request says of itself. What it refuses must not be begun.
fn meta_fits(params: &Value) -> bool {
    let Some(meta) = params.get("_meta") else {
        return true;
    };
    let Ok(meta) = RequestMetaObject::deserialize(meta) else {
        return false;
    };
    match meta.protocol_version() {
        None => !meta.contains_key("io.modelcontextprotocol/protocolVersion"),
        Some(version) => {
            REVISIONS.contains(&version) && meta.missing_required_keys(&version).is_empty()
        }
    }
}

/// A message of a method that the SDK knows, whose parameters fit.
fn read(message: Value) -> Option<ClientJsonRpcMessage> {
    let message = serde_json::from_value(message).ok()?;
    match &message {
        // What doesn't fit a method is taken for a custom one by the SDK.
        ClientJsonRpcMessage::Request(it)
            if !matches!(it.request, ClientRequest::CustomRequest(_)) =>
        {
            Some(message)
        }
        _ => None,
    }
}

/// The stream in memory, as the SDK has it.
struct Stream {
    from_client: UnboundedReceiver<ClientJsonRpcMessage>,
    pending: Arc<Pending>,
    out: Arc<dyn Fn(Vec<u8>, bool) + Send + Sync>,
}

impl Transport<RoleServer> for Stream {
    type Error = Infallible;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let serial = match &item {
            JsonRpcMessage::Response(it) => Some(&it.id),
            JsonRpcMessage::Error(it) => it.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        match serial {
            Some(NumberOrString::Number(serial)) => {
                // Not there: it was cancelled.
                if let Some(id) = self.pending.remove(*serial) {
                    (self.out)(line(&item, Some(&id)), true);
                }
            }
            Some(NumberOrString::String(_)) => {}
            None => {
                if let Some(note) = note(&item, &self.pending) {
                    (self.out)(note, false);
                }
            }
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.from_client.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.from_client.close();
        Ok(())
    }
}

/// A notification. One of a stream says which request opened it: by the client's own id. `None`:
/// its client has cancelled that, and hears no more of it.
fn note(item: &TxJsonRpcMessage<RoleServer>, pending: &Pending) -> Option<Vec<u8>> {
    let mut note = serde_json::to_value(item).unwrap_or_default();
    let meta = note.get_mut("params").and_then(|it| it.get_mut("_meta"));
    if let Some(meta) = meta
        && let Some(serial) = meta.get(STREAM).and_then(Value::as_i64)
    {
        name_stream(meta, &pending.id_of(serial)?);
    }
    let mut line = note.to_string().into_bytes();
    line.push(b'\n');
    Some(line)
}

/// Where a message says which stream it belongs to, in its `_meta`.
const STREAM: &str = "io.modelcontextprotocol/subscriptionId";

fn name_stream(meta: &mut Value, id: &RequestId) {
    if let (Some(meta), Ok(id)) = (meta.as_object_mut(), serde_json::to_value(id)) {
        meta.insert(STREAM.to_owned(), id);
    }
}

/// The line, with the client's own id in the place of ours.
fn line(item: &TxJsonRpcMessage<RoleServer>, id: Option<&RequestId>) -> Vec<u8> {
    #[derive(Serialize)]
    struct ErrorLine<'a> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        error: &'a ErrorData,
    }
    let line = match (item, id) {
        (JsonRpcMessage::Response(it), Some(id)) => {
            if let ServerResult::SubscriptionsListenResult(_) = &it.result {
                let mut result = serde_json::to_value(&it.result).unwrap_or_default();
                if let Some(meta) = result.get_mut("_meta") {
                    name_stream(meta, id);
                }
                return result_line(id, &result);
            }
            return result_line(id, &it.result);
        }
        (JsonRpcMessage::Error(it), Some(id)) => serde_json::to_vec(&ErrorLine {
            jsonrpc: "2.0",
            id,
            error: &it.error,
        }),
        _ => serde_json::to_vec(item),
    };
    match line {
        Ok(mut line) => {
            line.push(b'\n');
            line
        }
        Err(_) => error_line(id, &Failure::internal()),
    }
}
