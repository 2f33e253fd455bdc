//! The SDK's side of one client.

use std::{borrow::Cow, future::Future, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
        InitializeRequestParams, InitializeResult, JsonObject, ListToolsResult, NumberOrString,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::session::{Cancelled, Pending};

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
    fn tools(&self) -> Vec<Tool>;

    /// Performs a call. Refusals are results too, for the model to read.
    fn call(&self, call: ToolCall) -> impl Future<Output = CallToolResult> + Send;
}

pub(super) struct Handler<D> {
    pub(super) door: Arc<D>,
    pub(super) pending: Arc<Pending>,
}

impl<D: Door> ServerHandler for Handler<D> {
    fn get_info(&self) -> ServerConfig {
        let about = self.door.about();
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
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
        Ok(ListToolsResult::with_all_items(self.door.tools()))
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
        let client = context.client_info().map(|client| client.name);
        let serial = match context.id {
            NumberOrString::Number(serial) => serial,
            NumberOrString::String(_) => -1,
        };
        let call = ToolCall {
            serial,
            tool: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            client,
            cancelled: self.pending.cancelled(serial),
        };
        Ok(self.door.call(call).await.into())
    }
}
