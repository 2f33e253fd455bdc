//! Events as resources: `agent-surface://events?node=...&verb=...&role=...` stands for what a
//! subscription with these filters hears. Who follows one is told that it was updated, and reads
//! from it what happened since it was last read.
//!
//! Each resource that is followed has one subscription, fetched by a `poll_events` that waits:
//! so it takes the way of every other request, past the gate, and ends when the user revokes.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_wire::{Failure, Reason, limits, words};
use percent_encoding::percent_decode_str;
use rmcp::model::{ErrorCode, ErrorData, JsonObject, Resource, ResourceTemplate};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::{
    handler::{Ask, Door, Named},
    say::{Reply, json_text, mark_own},
};
use crate::{sync::lock, to_wire::milliseconds};

/// What all these resources begin with.
pub(super) const EVENTS: &str = "agent-surface://events";

/// How many resources one client follows at a time: each is a request of its that waits.
const MOST: usize = 8;

/// One poll waits as long as it may.
const WAIT: Duration = limits::LONGEST_WAIT;

/// The filters that a resource's address may hold.
const FILTERS: &[&str] = &["node", "verb", "role", "window", "from"];

const APP: &str = "app";

/// What one client follows.
#[derive(Debug)]
pub(super) struct Events<D> {
    door: Arc<D>,
    topics: Mutex<HashMap<String, Topic>>,
}

#[derive(Debug)]
struct Topic {
    /// The app that was meant when it was followed first: others may run by now.
    app: Option<Named>,
    heard: Arc<Heard>,
    followers: usize,
}

/// What was heard of one resource and not read yet.
#[derive(Debug)]
struct Heard {
    queue: Mutex<Queue>,
    stage: watch::Sender<Stage>,
    /// Nobody follows it any more.
    left: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<Value>,
    dropped: u64,
    next: Option<u64>,
    gap: bool,
}

#[derive(Clone, Debug)]
enum Stage {
    /// The app has not answered yet.
    Asked,
    /// It is heard; so often there was something new.
    Heard(u64),
    /// Nothing more will come, for this reason.
    Ended(Failure),
}

impl<D: Door> Events<D> {
    pub(super) fn new(door: Arc<D>) -> Self {
        Self {
            door,
            topics: Mutex::default(),
        }
    }

    /// Follows a resource. What happens from the return of this on is heard, if the app and its
    /// user agree: see [`Following::begun`]. On the SDK's thread.
    pub(super) fn follow(
        self: &Arc<Self>,
        uri: &str,
        client: Option<String>,
    ) -> Result<Following<D>, Failure> {
        let mut topics = lock(&self.topics);
        let heard = match topics.get_mut(uri) {
            Some(topic) if topic.heard.is_live() => {
                topic.followers += 1;
                topic.heard.clone()
            }
            _ => {
                let (app, filters) = read_uri(uri, self.door.has_apps())?;
                let app = self.door.which(app.as_deref())?;
                let address = app.as_ref().map(|app| app.address.clone());
                if topics.len() >= MOST && !topics.contains_key(uri) {
                    return Err(Failure::limit(limits::names::SUBSCRIPTIONS, None));
                }
                let heard = Arc::new(Heard {
                    queue: Mutex::default(),
                    stage: watch::Sender::new(Stage::Asked),
                    left: Notify::new(),
                });
                let ask = Ask {
                    app: address.clone(),
                    verb: "subscribe",
                    params: filters,
                    client,
                };
                // Asked now, and not when the task runs: a request that comes after this is
                // judged after it.
                let subscribed = self.door.ask(ask);
                let hear = hear(self.door.clone(), address, subscribed, heard.clone());
                tokio::spawn(hear);
                let topic = Topic {
                    app,
                    heard: heard.clone(),
                    followers: 1,
                };
                topics.insert(uri.to_owned(), topic);
                heard
            }
        };
        Ok(Following {
            stage: heard.stage.subscribe(),
            heard,
            of: self.clone(),
            uri: uri.to_owned(),
        })
    }

    /// Whether something may still come of it.
    pub(super) fn is_live(&self, uri: &str) -> bool {
        let topics = lock(&self.topics);
        topics.get(uri).is_some_and(|topic| topic.heard.is_live())
    }

    /// What a resource holds: what happened since it was last read, as JSON, with the app that it
    /// comes from where there may be several. Whether the user
    /// still lets this client listen is asked first.
    pub(super) async fn read(&self, uri: &str, client: Option<String>) -> Result<String, Failure> {
        read_uri(uri, self.door.has_apps())?;
        let (app, heard) = lock(&self.topics)
            .get(uri)
            .map(|topic| (topic.app.clone(), topic.heard.clone()))
            .ok_or_else(|| {
                let why = "it is not followed: subscribe to it, then read what happened since";
                Failure::new(Reason::InvalidParams, why)
            })?;
        let ask = Ask {
            app: app.as_ref().map(|app| app.address.clone()),
            verb: "hello",
            params: JsonObject::new(),
            client,
        };
        self.door.ask(ask).await?;
        let ended = match &*heard.stage.borrow() {
            Stage::Ended(failure) => Some(failure.clone()),
            Stage::Asked | Stage::Heard(_) => None,
        };
        let queue = {
            let mut queue = lock(&heard.queue);
            let read = std::mem::take(&mut *queue);
            // Where to go on from stays known, though nothing comes meanwhile.
            queue.next = read.next;
            read
        };
        if let Some(failure) = ended
            && queue.events.is_empty()
        {
            return Err(failure);
        }
        let mut read = json!({"events": queue.events, "dropped": queue.dropped});
        if let Some(app) = app {
            read["app"] = app.name.into();
        }
        if let Some(next) = queue.next {
            read["next"] = next.into();
        }
        if queue.gap {
            read["gap"] = true.into();
        }
        Ok(json_text(&read))
    }
}

/// One follower of a resource. Dropping it ends that.
#[derive(Debug)]
pub(super) struct Following<D: Door> {
    heard: Arc<Heard>,
    stage: watch::Receiver<Stage>,
    of: Arc<Events<D>>,
    uri: String,
}

impl<D: Door> Following<D> {
    pub(super) fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits until the app listens, or has refused to.
    pub(super) async fn begun(&self) -> Result<(), Failure> {
        let asked = |stage: &Stage| !matches!(stage, Stage::Asked);
        // Not on the receiver itself: what came with the beginning would count as told.
        match self.stage.clone().wait_for(asked).await.as_deref() {
            Ok(Stage::Ended(failure)) => Err(failure.clone()),
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::internal()),
        }
    }

    /// Waits until there is something that this follower was not told of. `Err`: nothing more
    /// will come.
    pub(super) async fn updated(&mut self) -> Result<(), Failure> {
        loop {
            if self.stage.changed().await.is_err() {
                return Err(Failure::internal());
            }
            match &*self.stage.borrow_and_update() {
                // That it begins is no news.
                Stage::Asked | Stage::Heard(0) => {}
                Stage::Heard(_) => return Ok(()),
                Stage::Ended(failure) => return Err(failure.clone()),
            }
        }
    }
}

impl<D: Door> Drop for Following<D> {
    fn drop(&mut self) {
        let mut topics = lock(&self.of.topics);
        let Some(topic) = topics.get_mut(&self.uri) else {
            return;
        };
        // Not another one that took its place.
        if Arc::ptr_eq(&topic.heard, &self.heard) {
            topic.followers -= 1;
            if topic.followers == 0 {
                topics.remove(&self.uri);
                self.heard.left.notify_one();
            }
        }
    }
}

/// Hears what there is to hear of one resource, until nobody follows it.
async fn hear<D: Door>(
    door: Arc<D>,
    app: Option<String>,
    subscribed: impl Future<Output = Reply>,
    heard: Arc<Heard>,
) {
    let ask = |verb, params: Value| {
        let params = match params {
            Value::Object(params) => params,
            _ => JsonObject::new(),
        };
        door.ask(Ask {
            app: app.clone(),
            verb,
            params,
            client: None,
        })
    };
    let subscribed = match subscribed.await {
        Ok(subscribed) => subscribed,
        Err(failure) => return heard.end(failure),
    };
    let Some(id) = subscribed.get("subscription").and_then(Value::as_str) else {
        // The reply of a verb that has outcomes: its node is not there.
        let why = "the node is not there, or this app does not offer it";
        return heard.end(Failure::new(Reason::InvalidParams, why));
    };
    lock(&heard.queue).gap = subscribed.get("gap") == Some(&Value::Bool(true));
    heard.stage.send_replace(Stage::Heard(0));
    let mut times = 0;
    loop {
        let poll = ask(
            "poll_events",
            json!({"subscription": id, "wait_ms": milliseconds(WAIT)}),
        );
        let polled = tokio::select! {
            polled = poll => polled,
            () = heard.left.notified() => break,
        };
        match polled {
            Err(failure) => {
                heard.end(failure);
                break;
            }
            Ok(polled) => {
                if heard.take(polled) {
                    times += 1;
                    heard.stage.send_replace(Stage::Heard(times));
                }
            }
        }
    }
    // Also after a failure: the app may have kept it.
    let _ = ask("unsubscribe", json!({"subscription": id})).await;
}

impl Heard {
    fn is_live(&self) -> bool {
        !matches!(*self.stage.borrow(), Stage::Ended(_))
    }

    /// Nothing more will come. Of what the user has taken back, nothing is left to be read.
    fn end(&self, failure: Failure) {
        if matches!(
            failure.reason,
            Reason::ConsentDenied | Reason::ConsentPending
        ) {
            *lock(&self.queue) = Queue::default();
        }
        self.stage.send_replace(Stage::Ended(failure));
    }

    /// Takes in what a poll brought. Answers whether there was anything.
    fn take(&self, mut polled: Value) -> bool {
        mark_own(&mut polled);
        let dropped = polled.get("dropped").and_then(Value::as_u64).unwrap_or(0);
        let next = polled.get("next").and_then(Value::as_u64);
        let events = match polled.get_mut("events").map(Value::take) {
            Some(Value::Array(events)) => events,
            _ => Vec::new(),
        };
        let new = dropped > 0 || !events.is_empty();
        let mut queue = lock(&self.queue);
        queue.dropped = queue.dropped.saturating_add(dropped);
        queue.next = next.or(queue.next);
        for event in events {
            // That something changed is said once until it is read.
            let changed = |event: &Value| event.get("verb") == Some(&json!("ui_changed"));
            let same = |queued: &Value| changed(queued) && queued["source"] == event["source"];
            if changed(&event) && queue.events.iter().any(same) {
                continue;
            }
            if queue.events.len() >= limits::SUBSCRIPTION_QUEUE {
                queue.events.pop_front();
                queue.dropped = queue.dropped.saturating_add(1);
            }
            queue.events.push_back(event);
        }
        new
    }
}

/// The app and the filters that a resource's address holds.
fn read_uri(uri: &str, has_apps: bool) -> Result<(Option<String>, JsonObject), Failure> {
    let bad = |why: &str| Failure::new(Reason::InvalidParams, why);
    let query = match uri.strip_prefix(EVENTS) {
        Some("") => "",
        Some(rest) => rest
            .strip_prefix('?')
            .ok_or_else(|| bad("no such resource; resources/templates/list shows their form"))?,
        None => {
            return Err(bad(
                "no such resource; resources/templates/list shows their form",
            ));
        }
    };
    let mut app = None;
    let mut filters = JsonObject::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| bad("the address is not UTF-8 once it is percent-decoded"))?;
        let known = match name {
            APP if has_apps => app.replace(value.into_owned()).is_none(),
            "from" => {
                let from: u64 = value
                    .parse()
                    .map_err(|_| bad("`from` in the address must be an integer of at least 0"))?;
                filters.insert(name.to_owned(), from.into()).is_none()
            }
            _ if FILTERS.contains(&name) => filters
                .insert(name.to_owned(), value.into_owned().into())
                .is_none(),
            _ => false,
        };
        if !known {
            return Err(bad(
                "the address may hold node, verb, role, window and from, each once",
            ));
        }
    }
    Ok((app, filters))
}

/// The resource that needs no filter.
pub(super) fn resource() -> Resource {
    Resource::new(EVENTS, "events")
        .with_description("What happens in the app's user interface. Subscribe, then read it.")
        .with_mime_type(JSON)
}

/// The form of the others.
pub(super) fn template(has_apps: bool) -> ResourceTemplate {
    let app = if has_apps { ",app" } else { "" };
    let form = format!("{EVENTS}{{?node,verb,role,window,from{app}}}");
    let about = format!(
        "Events at and below a node, of a verb ({}), at nodes of a role. `from`: replay from this \
         number on.",
        words::EVENTS.join(", ")
    );
    ResourceTemplate::new(form, "events")
        .with_description(about)
        .with_mime_type(JSON)
}

/// What a resource of events is made of.
pub(super) const JSON: &str = "application/json";

/// A failure, as an error of the protocol.
pub(super) fn error(failure: &Failure) -> ErrorData {
    let mut data = serde_json::to_value(&failure.data).unwrap_or_default();
    if let Value::Object(data) = &mut data {
        data.insert("reason".to_owned(), failure.reason.as_str().into());
    }
    let code = ErrorCode(failure.reason.code());
    ErrorData::new(code, failure.message.clone(), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_filters() {
        let read =
            |uri: &str| read_uri(uri, true).map(|(app, filters)| (app, Value::Object(filters)));
        assert_eq!(read("agent-surface://events"), Ok((None, json!({}))));
        assert_eq!(read("agent-surface://events?"), Ok((None, json!({}))));
        assert_eq!(
            read(
                "agent-surface://events?node=orders/a%2520b&verb=clicked&from=7&app=org.example.a"
            ),
            Ok((
                Some("org.example.a".to_owned()),
                json!({"node": "orders/a%20b", "verb": "clicked", "from": 7})
            ))
        );
        for bad in [
            "agent-surface://event",
            "agent-surface://events/",
            "agent-surface://events?nod=save",
            "agent-surface://events?node=a&node=b",
            "agent-surface://events?from=-1",
            "agent-surface://events?node=%ff",
            "file:///etc/passwd",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read_uri("agent-surface://events?app=a", false).is_err());
    }
}
