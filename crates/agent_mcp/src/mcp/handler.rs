//! The SDK's side of one client.

use std::{
    borrow::Cow,
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use agent_wire::{Failure, Reason};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
        InitializeRequestParams, InitializeResult, JsonObject, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, NumberOrString, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ResourceContents, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use tokio::task::JoinSet;

use super::{
    events::{self, Events, Following},
    say::Reply,
    session::{Cancelled, Pending},
};
use crate::sync::lock;

/// The revisions that are spoken: the last one without a handshake.
pub(super) const REVISIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// What a server tells of itself before anybody was asked for consent.
#[derive(Clone, Debug)]
pub struct About {
    /// What it is called.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a model should know of the tools.
    pub instructions: String,
}

/// A call of a tool that the [`Door`] offers.
#[derive(Debug)]
pub struct ToolCall {
    /// Which call of its [`Session`](super::Session) this is.
    pub serial: i64,
    /// The tool's name, as the door has it.
    pub tool: String,
    /// What it was called with.
    pub arguments: JsonObject,
    /// What the client calls itself: a claim.
    pub client: Option<String>,
    /// Becomes ready when the client no longer waits for the answer.
    pub cancelled: Cancelled,
}

/// What tools lead to. Its functions run on the thread of the SDK.
pub trait Door: Send + Sync + 'static {
    /// What it tells of itself.
    fn about(&self) -> About;

    /// The tools, the same for everyone.
    fn tools(&self) -> &[Tool];

    /// Performs a call. Refusals are results too, for the model to read.
    fn call(&self, call: ToolCall) -> impl Future<Output = CallToolResult> + Send;

    /// Whether it leads to several apps, of which a request may name one.
    fn has_apps(&self) -> bool;

    /// Which of the apps is meant by this, or by nothing. `None`: there is only ever one.
    fn which(&self, app: Option<&str>) -> Result<Option<Named>, Failure>;

    /// Asks a verb of the app, in the bare dialect. It is on its way when this returns; dropping
    /// what it returns is no longer waiting for it.
    fn ask(&self, ask: Ask) -> Replied;
}

/// One of several apps.
#[derive(Clone, Debug)]
pub struct Named {
    /// What stands for this one alone, whatever else runs by then.
    pub address: String,
    /// Its id, as a model is told it.
    pub name: String,
}

/// A request of the bare dialect.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Which app, where there may be several.
    pub app: Option<String>,
    /// The method.
    pub verb: &'static str,
    /// Its parameters.
    pub params: JsonObject,
    /// What the client calls itself: a claim. `None`: what it said last.
    pub client: Option<String>,
}

/// Its reply, when it is there.
pub type Replied = Pin<Box<dyn Future<Output = Reply> + Send>>;

pub(super) struct Handler<D: Door> {
    door: Arc<D>,
    pending: Arc<Pending>,
    events: Arc<Events<D>>,
    /// What `resources/subscribe` asked for, by address.
    subscribed: Mutex<HashMap<String, JoinSet<()>>>,
    /// For each `subscriptions/listen` whose turn comes next.
    accepted: Mutex<Vec<Accepted<D>>>,
}

/// What was accepted for a request to listen, and the addresses of that.
type Accepted<D> = (Vec<String>, Vec<Following<D>>);

impl<D: Door> Handler<D> {
    pub(super) fn new(door: Arc<D>, pending: Arc<Pending>) -> Self {
        Self {
            events: Arc::new(Events::new(door.clone())),
            door,
            pending,
            subscribed: Mutex::default(),
            accepted: Mutex::default(),
        }
    }

    /// What was accepted for a request to listen to these.
    fn accepted(&self, uris: &[String]) -> Vec<Following<D>> {
        let mut accepted = lock(&self.accepted);
        match accepted.iter().position(|(of, _)| of == uris) {
            Some(at) => accepted.swap_remove(at).1,
            None => Vec::new(),
        }
    }
}

impl<D: Door> ServerHandler for Handler<D> {
    fn get_info(&self) -> ServerConfig {
        let about = self.door.about();
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new(about.name, about.version))
            .with_instructions(about.instructions)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // What was agreed on decides the shape of later results, not what was asked for.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.door.tools().to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self
            .door
            .tools()
            .iter()
            .any(|tool| tool.name == request.name)
        {
            return Err(ErrorData::invalid_params(
                "there is no tool of this name; tools/list lists them",
                Some(serde_json::json!({"reason": "invalid_params"})),
            ));
        }
        let serial = serial(&context);
        let call = ToolCall {
            serial,
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            client: self.pending.client(),
            cancelled: self.pending.cancelled(serial),
        };
        Ok(self.door.call(call).await.into())
    }
    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(
            vec![events::resource()],
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = events::template(self.door.has_apps());
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.events.read(&request.uri, self.pending.client()).await;
        let text = read.map_err(|failure| events::error(&failure))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type(events::JSON);
        // What was read is gone from it: nothing of it may be kept.
        let result = ReadResourceResult::new(vec![contents]).with_ttl_ms(0);
        Ok(result.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri;
        if lock(&self.subscribed).contains_key(&uri) && self.events.is_live(&uri) {
            return Ok(());
        }
        let follow = self.events.follow(&uri, self.pending.client());
        let mut following = follow.map_err(|failure| events::error(&failure))?;
        following
            .begun()
            .await
            .map_err(|failure| events::error(&failure))?;
        let mut task = JoinSet::new();
        let peer = context.peer;
        task.spawn(async move {
            loop {
                let over = following.updated().await.is_err();
                let told = ResourceUpdatedNotificationParam::new(following.uri());
                // At its end too: whoever reads it then is told why.
                if peer.notify_resource_updated(told).await.is_err() || over {
                    // It can still be read, until its client no longer follows it.
                    std::future::pending::<()>().await;
                }
            }
        });
        lock(&self.subscribed).insert(uri, task);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The task and what it holds end with this.
        lock(&self.subscribed).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        // Followed from now on: the client hears next that it is.
        let following: Vec<Following<D>> = uris
            .filter_map(|uri| self.events.follow(uri, self.pending.client()).ok())
            .collect();
        let uris: Vec<String> = following.iter().map(|it| it.uri().to_owned()).collect();
        lock(&self.accepted).push((uris.clone(), following));
        Some(
            SubscriptionFilter::builder()
                .resource_subscriptions(uris)
                .build(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut cancelled = self.pending.cancelled(serial(context.request_context()));
        let accepted = context.accepted().resource_subscriptions.clone();
        let accepted = accepted.unwrap_or_default();
        let mut tasks = JoinSet::new();
        for mut following in self.accepted(&accepted) {
            let sink = context.sink().clone();
            tasks.spawn(async move {
                loop {
                    let updated = following.updated().await;
                    let uri = following.uri();
                    if sink.notify_resource_updated(uri).await.is_err() {
                        return None;
                    }
                    if let Err(failure) = updated {
                        return Some(failure);
                    }
                }
            });
        }
        let mut why = None;
        loop {
            tokio::select! {
                () = cancelled.wait() => return Ok(()),
                ended = tasks.join_next() => match ended {
                    Some(ended) => why = ended.ok().flatten().or(why),
                    None => break,
                },
            }
        }
        match why {
            Some(failure) => Err(events::error(&failure)),
            None => Err(events::error(&Failure::new(
                Reason::InvalidParams,
                "none of the notifications that were asked for can be had; \
                 resources/templates/list shows what can be listened to",
            ))),
        }
    }
}

/// Which request of its session this is.
fn serial(context: &RequestContext<RoleServer>) -> i64 {
    match context.id {
        NumberOrString::Number(serial) => serial,
        NumberOrString::String(_) => -1,
    }
}
