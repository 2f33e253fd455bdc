//! The tools, and the apps that they lead to.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use agent_mcp::{
    ConnectError, Running,
    mcp::{
        About, Ask, Asked, Door, INSTRUCTIONS, Named, Replied, Reply, Said, ToolCall, clean, tool,
    },
};
use agent_wire::{Failure, Reason, VERBS, Verb, limits};
use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::link::{Link, Lost, Question};
use crate::apps::{Apps, stem};

const LIST_APPS: &str = "list_apps";
const APP: &str = "app";

/// What a model is told of several apps behind one server.
const SEVERAL: &str = "\n\n\
These tools reach every app on this computer that lets agents in; list_apps names them. With one \
running, leave app out. Each answer begins with the id of the app that gave it.";

/// How much longer than the app itself an answer is waited for: an app that is stopped says
/// nothing at all.
const GRACE: Duration = Duration::from_secs(5);

/// The apps that run, by tools.
pub(super) struct Bridge {
    only: Option<String>,
    tools: Vec<Tool>,
    instructions: String,
    /// By socket and process: another process may take the socket's name.
    links: Mutex<HashMap<(PathBuf, u32), Link>>,
}

impl Bridge {
    pub(super) fn new(only: Option<String>, read_only: bool) -> Self {
        let mut tools = vec![list_apps()];
        let offered = VERBS.iter().filter(|verb| verb.read_only || !read_only);
        tools.extend(offered.map(|verb| with_app(tool(verb))));
        Self {
            only,
            tools,
            instructions: format!("{INSTRUCTIONS}{SEVERAL}"),
            links: Mutex::default(),
        }
    }

    async fn verb(&self, verb: &'static Verb, call: &mut ToolCall) -> Said {
        let app = match call.arguments.remove(APP) {
            None => None,
            Some(Value::String(app)) => Some(app),
            Some(_) => return Said::no("invalid_params: parameter `app`: must be a string"),
        };
        let asked = match Asked::new(verb, std::mem::take(&mut call.arguments)) {
            Ok(asked) => asked,
            Err(failure) => return Said::refused(&failure),
        };
        let client = call.client.take();
        // Once more where the app never got it: the connection had just been closed.
        for last in [false, true] {
            let apps = if last {
                Apps::look(self.only.as_deref())
            } else {
                self.apps_with(app.as_deref())
            };
            let apps = match apps {
                Ok(apps) => apps,
                Err(why) => return Said::no(why),
            };
            let running = match apps.choose(app.as_deref()) {
                Ok(running) => running,
                Err(why) => return Said::no(why),
            };
            let name = apps.name(running);
            match self.ask(running, &asked, client.clone(), call).await {
                Ok(reply) => return asked.said(&reply, Some(&name)),
                Err(Trouble::Lost(Lost::Unsent)) if !last => {}
                Err(trouble) => {
                    let now = Apps::look(self.only.as_deref())
                        .map_or_else(|why| why, |apps| apps.running());
                    return Said::no(format!("# {}\n{}; {now}", clean(&name), trouble.words()));
                }
            }
        }
        Said::no("the app could not be asked")
    }

    /// What runs. No app is disturbed as long as the descriptions alone say which is meant; a
    /// process may have stopped serving, or wait for its parent to notice its end.
    fn apps_with(&self, app: Option<&str>) -> Result<Apps, String> {
        let only = self.only.as_deref();
        let apps = Apps::glance(only)?;
        match apps.choose(app) {
            Ok(_) => Ok(apps),
            Err(_) => Apps::look(only),
        }
    }

    async fn ask(
        &self,
        app: &Running,
        asked: &Asked,
        client: Option<String>,
        call: &mut ToolCall,
    ) -> Result<Reply, Trouble> {
        let (reply, replied) = oneshot::channel();
        let (_cancel, cancelled) = oneshot::channel();
        let link = self.link(app).map_err(|why| match why {
            ConnectError::Gone => Trouble::Lost(Lost::Unsent),
            why => Trouble::No(why.to_string()),
        })?;
        let question = Question {
            verb: asked.verb().name,
            params: asked.params().clone(),
            client,
            reply,
            cancelled,
        };
        if link.ask(question).is_err() {
            return Err(Trouble::Lost(Lost::Unsent));
        }
        let patience = patience(asked);
        tokio::select! {
            replied = replied => match replied {
                Ok(reply) => reply.map_err(Trouble::Lost),
                Err(_) => Err(Trouble::Lost(Lost::Unanswered)),
            },
            () = call.cancelled.wait() => Err(Trouble::Cancelled),
            () = tokio::time::sleep(patience) => Err(Trouble::Silent(patience)),
        }
    }

    /// The app that a request of the bare dialect is for, and what it is called.
    fn meant(&self, app: Option<&str>) -> Result<(Running, String), Failure> {
        let no = |why: String| Failure::new(Reason::InvalidParams, why);
        let apps = self.apps_with(app).map_err(no)?;
        let running = apps.choose(app).map_err(no)?;
        Ok((running.clone(), apps.name(running)))
    }

    /// Sends a request of the bare dialect: to which app, where its reply comes, what to drop when
    /// it is no longer waited for, and how long it is.
    fn begin(&self, ask: Ask) -> Result<Begun, Failure> {
        let (running, name) = self.meant(ask.app.as_deref())?;
        let gone = |why: String| Failure::new(Reason::Internal, why);
        let link = self
            .link(&running)
            .map_err(|why| gone(Trouble::No(why.to_string()).words()))?;
        let waits = ask.params.get("wait_ms").and_then(Value::as_u64);
        let (reply, replied) = oneshot::channel();
        let (cancel, cancelled) = oneshot::channel();
        let question = Question {
            verb: ask.verb,
            params: ask.params,
            client: ask.client,
            reply,
            cancelled,
        };
        link.ask(question)
            .map_err(|_| gone(Trouble::Lost(Lost::Unsent).words()))?;
        let patience = waits.map_or(limits::UI_DEADLINE, Duration::from_millis) + GRACE;
        Ok((name, replied, cancel, patience))
    }

    /// The connection to this app, opened if there is none.
    fn link(&self, app: &Running) -> Result<Link, ConnectError> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, link| !link.is_closed());
        let key = (app.address.clone(), app.pid);
        if let Some(link) = links.get(&key) {
            return Ok(link.clone());
        }
        let link = Link::open(app)?;
        links.insert(key, link.clone());
        Ok(link)
    }
}

impl Door for Bridge {
    fn about(&self) -> About {
        About {
            name: "agent-surface".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: self.instructions.clone(),
        }
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn has_apps(&self) -> bool {
        true
    }

    fn which(&self, app: Option<&str>) -> Result<Option<Named>, Failure> {
        let (running, name) = self.meant(app)?;
        Ok(Some(Named {
            address: stem(&running),
            name: clean(&name),
        }))
    }

    fn ask(&self, ask: Ask) -> Replied {
        let asked = self.begin(ask);
        Box::pin(async move {
            let (app, reply, _cancel, patience) = asked?;
            let lost = |trouble: Trouble| {
                let why = format!("{}: {}", clean(&app), trouble.words());
                Failure::new(Reason::Internal, why)
            };
            tokio::select! {
                replied = reply => match replied {
                    Ok(reply) => reply.map_err(|why| lost(Trouble::Lost(why)))?,
                    Err(_) => Err(lost(Trouble::Lost(Lost::Unanswered))),
                },
                () = tokio::time::sleep(patience) => Err(lost(Trouble::Silent(patience))),
            }
        })
    }

    async fn call(&self, mut call: ToolCall) -> CallToolResult {
        let said = match Verb::named(&call.tool) {
            Some(verb) => self.verb(verb, &mut call).await,
            None if !call.arguments.is_empty() => {
                Said::no("invalid_params: list_apps takes no parameters")
            }
            None => match Apps::look(self.only.as_deref()) {
                Ok(apps) => Said::yes(apps.listed(false)),
                Err(why) => Said::no(why),
            },
        };
        said.into()
    }
}

type Begun = (
    String,
    oneshot::Receiver<Result<Reply, Lost>>,
    oneshot::Sender<()>,
    Duration,
);

/// Why an app gave no reply.
enum Trouble {
    No(String),
    Lost(Lost),
    Silent(Duration),
    Cancelled,
}

impl Trouble {
    fn words(&self) -> String {
        match self {
            Self::No(why) => format!("the app could not be reached: {why}; nothing was done"),
            Self::Lost(Lost::Unsent) => "the app quit; nothing was done".to_owned(),
            Self::Lost(Lost::Unanswered) => {
                "the app quit before it answered; whether this was done is not known".to_owned()
            }
            Self::Silent(patience) => format!(
                "app_busy: the app has not answered for {} s: it is stopped, or waits for its user, \
                 who may have a question to answer in it; whether this was done is not known",
                patience.as_secs()
            ),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }
}

fn list_apps() -> Tool {
    let schema = match json!({"type": "object", "properties": {}, "additionalProperties": false}) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    Tool::new(
        LIST_APPS,
        "Lists the running apps: id, the name that each claims, process, program.",
        schema,
    )
    .with_annotations(ToolAnnotations::new().read_only(true))
}

/// The tool, of one app or another.
fn with_app(mut tool: Tool) -> Tool {
    let mut schema = (*tool.input_schema).clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(APP.to_owned(), json!({"type": "string"}));
    }
    tool.input_schema = schema.into();
    tool
}

/// How long an answer is waited for: what was asked for, as long as that makes sense, and more.
fn patience(asked: &Asked) -> Duration {
    let asked_for = ["timeout_ms", "wait_ms"]
        .iter()
        .find_map(|name| asked.params().get(*name)?.as_u64());
    let longest = limits::LONGEST_WAIT;
    let wait = match asked_for {
        Some(ms) => Duration::from_millis(ms).min(longest),
        None => Duration::from_millis(asked.verb().timeout.default_ms),
    };
    wait + GRACE
}
