//! A session: the verbs, typed.

use std::{
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant, SystemTime},
};

use agent_core::{
    Acted, Action, Answer, Call, Channel, Condition, Decision, Describe, Description, EventVerb,
    Filter, Job, MAX_NAME, MAX_VALUE, Polled, ReplyTo, Request as Asked, Role, Scope, Target,
    TextRead, Until, Verb, VerbSet, View, connection_number, cut, request_number,
};

use crate::{
    error::Error,
    host::{Host, Member},
    in_flight::{Done, Kind, Reply, Request, Wake},
    limits::{
        LONGEST_WAIT, REQUESTS_IN_FLIGHT, SUBSCRIPTION_QUEUE, SUBSCRIPTIONS, TEXT_BYTES_IN,
        UI_DEADLINE,
    },
    pending::Pending,
    subscription::Subscription,
    sync::lock,
};

/// What the assistant of an app may see and do: the same verbs, rules and bounds as for an agent
/// outside, without a socket. It comes from the surface's handle, which only the app has.
///
/// Nobody is asked for consent: the app has let it in by making it. What it may do is bounded by
/// exposure and ceilings as for everybody, the app's policy can refuse it, and the user can stop
/// it like any agent. Two things it is told that others are not: an id that is there and not
/// exposed is told apart from none, and [`describe_ui`](Self::describe_ui) answers the whole
/// tree without being armed, though never what is secret or excluded.
///
/// Any thread, the UI thread too: every verb answers a [`Pending`] at once. Cheap to clone;
/// clones are the same session, which ends with the last of them.
#[derive(Clone, Debug)]
pub struct Session(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    host: Weak<Host>,
    pub(crate) connection: u64,
    name: String,
    since: SystemTime,
    pub(crate) wake: Arc<Wake>,
    /// Apart from the session, so that a request on its way doesn't keep that alive.
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    met: bool,
    admitted: bool,
    /// How often its leave was taken back.
    cuts: u64,
    /// Nothing more of it is let in, for this reason.
    over: Option<Error>,
    deadline: Duration,
}

/// A request on its way, and whose it is.
type Sent = (Arc<Request>, Arc<Host>);

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The app's id.
    pub app: String,
    /// Its name.
    pub name: String,
    /// The verbs that its toolkit can perform.
    pub verbs: VerbSet,
}

/// What a subscription hears: by default, everything from here on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listen {
    /// At this node or anywhere below it.
    pub node: Option<Target>,
    /// Of this verb.
    pub verb: Option<EventVerb>,
    /// At nodes of this role.
    pub role: Option<Role>,
    /// From the event of this number on, as far as it is kept.
    pub from: Option<u64>,
    /// How many events are kept until they are fetched: as many as there can be, if `None`.
    pub queue: Option<usize>,
}

/// Whether what was waited for is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// Whether it is.
    pub met: bool,
    /// At this revision.
    pub revision: u64,
}

impl Session {
    pub(crate) fn new(host: Weak<Host>, name: String) -> Self {
        Self(Arc::new(Inner {
            host,
            connection: connection_number(),
            name,
            since: SystemTime::now(),
            wake: Arc::default(),
            state: Arc::new(Mutex::new(State {
                met: false,
                admitted: false,
                cuts: 0,
                over: None,
                deadline: UI_DEADLINE,
            })),
        }))
    }

    /// How long requests wait for the UI thread from here on, up to 30 s; 2 s, if this is not
    /// set.
    pub fn set_deadline(&self, deadline: Duration) {
        lock(&self.0.state).deadline = deadline.clamp(Duration::from_millis(1), LONGEST_WAIT);
    }

    /// Calls `wake` whenever an answer or an event of this session is there to be taken, from any
    /// thread, the UI thread in the middle of its work among them: it must not wait, nor ask
    /// anything. In egui: `let ctx = ctx.clone(); session.on_news(move || ctx.request_repaint())`.
    pub fn on_news(&self, wake: impl Fn() + Send + Sync + 'static) {
        self.0.wake.set(Arc::new(wake));
    }

    /// Who answers.
    pub fn hello(&self) -> Pending<Hello> {
        let hello = self
            .0
            .enter(Verb::Hello, Scope::Surface, None)
            .map(|host| Hello {
                app: host.app.clone(),
                name: host.name.clone(),
                verbs: VerbSet::all() - host.backend.unsupported(),
            });
        Pending::there(Ok(Reply::News), move |_| hello)
    }

    /// What is there: the exposed nodes, or, if `full`, the whole tree with automatic ids, which
    /// can't be acted on.
    pub fn describe_ui(&self, full: bool) -> Pending<Description> {
        self.describe(Describe {
            full,
            ..Describe::default()
        })
    }

    /// What is there, by every parameter of `describe_ui`. Names and values are cut as on the
    /// wire; [`get_text`](Self::get_text) reads the whole.
    pub fn describe(&self, describe: Describe) -> Pending<Description> {
        if describe.full && describe.since.is_some() {
            return failed(Error::InvalidParams {
                name: "since",
                why: "must be left out of a full description: revisions move by what is exposed"
                    .to_owned(),
            });
        }
        let named = describe.root.clone().or_else(|| describe.window.clone());
        self.ask(Call::Describe(describe), named, |answer| match answer {
            Answer::Described(mut description) => {
                description.nodes.iter_mut().for_each(shorten);
                Ok(description)
            }
            other => Err(none(other, Verb::DescribeUi)),
        })
    }

    /// A node's text and its version.
    pub fn get_text(&self, node: impl Into<Target>) -> Pending<TextRead> {
        self.read(node.into(), None, None)
    }

    /// So many characters of a node's text, from this one on.
    pub fn get_text_part(
        &self,
        node: impl Into<Target>,
        from: u64,
        limit: u64,
    ) -> Pending<TextRead> {
        self.read(node.into(), Some(from), Some(limit))
    }

    /// Presses a button, link, menu item.
    pub fn click(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::Click)
    }

    /// Replaces a text, of which this version was read.
    pub fn set_text(
        &self,
        node: impl Into<Target>,
        value: impl Into<String>,
        base_version: u64,
    ) -> Pending<Acted> {
        self.write(node.into(), value.into(), base_version, None)
    }

    /// Replaces the characters `from..to` of a text, of which this version was read.
    pub fn set_text_part(
        &self,
        node: impl Into<Target>,
        (from, to): (u64, u64),
        value: impl Into<String>,
        base_version: u64,
    ) -> Pending<Acted> {
        self.write(node.into(), value.into(), base_version, Some((from, to)))
    }

    /// Brings a node into view.
    pub fn scroll_to(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::ScrollTo { key: None })
    }

    /// Brings the row of this key into view, in a list that makes its rows as they are needed.
    pub fn scroll_to_row(&self, list: impl Into<Target>, key: impl Into<String>) -> Pending<Acted> {
        let key = Some(key.into());
        self.act(list, Action::ScrollTo { key })
    }

    /// Gives a node the keyboard focus.
    pub fn focus(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::Focus)
    }

    /// Presses Enter in a field.
    pub fn submit(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::Submit)
    }

    /// Selects an option, row or tab.
    pub fn select(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::Select)
    }

    /// Sets a checkbox, switch or toggle button.
    pub fn set_checked(&self, node: impl Into<Target>, checked: bool) -> Pending<Acted> {
        self.act(node, Action::SetChecked(checked))
    }

    /// Sets a number.
    pub fn set_value(&self, node: impl Into<Target>, value: f64) -> Pending<Acted> {
        self.act(node, Action::SetValue(value))
    }

    /// Opens an expander, tree item, combo box.
    pub fn expand(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::Expand)
    }

    /// Closes one.
    pub fn collapse(&self, node: impl Into<Target>) -> Pending<Acted> {
        self.act(node, Action::Collapse)
    }

    /// Begins to listen. [`on_news`](Self::on_news) tells of events as they come.
    pub fn subscribe(&self, listen: Listen) -> Pending<Subscription> {
        let named = listen.node.as_ref().map(|node| node.id.clone());
        let call = Call::Subscribe {
            node: listen.node.clone(),
        };
        self.request(call, named, None, Some(listen), |reply| match reply {
            Reply::Subscribed(subscription) => Ok(subscription),
            Reply::Answer(answer) => Err(none(answer, Verb::Subscribe)),
            Reply::News => Err(Error::Closed),
        })
    }

    /// What a subscription has heard, at most `most` events of it, waiting up to `wait` (30 s at
    /// most) for the first. Nothing is lost by dropping this before its answer is taken.
    pub fn poll_events(
        &self,
        subscription: &Subscription,
        most: usize,
        wait: Duration,
    ) -> Pending<Polled> {
        let (session, id) = (self.clone(), subscription.id);
        let fetch = move |_: Reply| {
            let host = session.0.host.upgrade().ok_or(Error::Closed)?;
            // Who was stopped meanwhile hears nothing more.
            lock(&session.0.state).check()?;
            host.poll(session.0.connection, id, most)
        };
        match self.0.listen(subscription, wait) {
            Ok(Some((request, host))) => {
                Pending::asked(request, host.in_flight.clone(), &host.backend, fetch)
            }
            Ok(None) => Pending::there(Ok(Reply::News), fetch),
            Err(why) => failed(why),
        }
    }

    /// Stops listening; the same as dropping the subscription.
    ///
    /// # Errors
    /// If it is another session's, or the session has ended. It has ended in any case.
    pub fn unsubscribe(&self, subscription: Subscription) -> Result<(), Error> {
        self.0.enter(Verb::Unsubscribe, Scope::Surface, None)?;
        match subscription.connection == self.0.connection {
            true => Ok(()),
            false => Err(Error::NoSubscription),
        }
    }

    /// Waits until something is so of a node, up to `timeout` (30 s at most); looks once if that
    /// is zero. An id that is not there is no error: `exists` waits, `gone` is met.
    pub fn wait_for(
        &self,
        node: impl Into<Target>,
        until: Until,
        timeout: Duration,
    ) -> Pending<Waited> {
        self.wait_until(Some(node.into()), until, timeout)
    }

    /// Waits until the surface has a later revision than this.
    pub fn wait_for_revision(&self, after: u64, timeout: Duration) -> Pending<Waited> {
        self.wait_until(None, Until::RevisionAfter(after), timeout)
    }

    fn wait_until(
        &self,
        target: Option<Target>,
        until: Until,
        timeout: Duration,
    ) -> Pending<Waited> {
        let named = target.as_ref().map(|target| target.id.clone());
        let call = Call::Wait(Condition {
            target,
            until,
            once: timeout.is_zero(),
        });
        let take = |reply| match reply {
            Reply::Answer(Answer::Waited { met, revision }) => Ok(Waited { met, revision }),
            Reply::Answer(answer) => Err(none(answer, Verb::WaitFor)),
            _ => Err(Error::Closed),
        };
        self.request(call, named, Some(timeout.min(LONGEST_WAIT)), None, take)
    }

    fn read(&self, target: Target, from: Option<u64>, limit: Option<u64>) -> Pending<TextRead> {
        let named = Some(target.id.clone());
        let call = Call::GetText {
            target,
            from,
            limit,
        };
        self.ask(call, named, |answer| match answer {
            Answer::Text(text) => Ok(text),
            other => Err(none(other, Verb::GetText)),
        })
    }

    fn write(
        &self,
        target: Target,
        value: String,
        base_version: u64,
        range: Option<(u64, u64)>,
    ) -> Pending<Acted> {
        if value.len() > TEXT_BYTES_IN {
            return failed(Error::InvalidParams {
                name: "value",
                why: format!("must have at most {TEXT_BYTES_IN} bytes; write it in parts"),
            });
        }
        let action = Action::SetText {
            value,
            base_version,
            range,
        };
        self.act(target, action)
    }

    fn act(&self, target: impl Into<Target>, action: Action) -> Pending<Acted> {
        let target = target.into();
        let (named, verb) = (Some(target.id.clone()), action.verb());
        self.ask(
            Call::Act { target, action },
            named,
            move |answer| match answer {
                Answer::Acted(acted) => Ok(acted),
                other => Err(none(other, verb)),
            },
        )
    }

    fn ask<T>(
        &self,
        call: Call,
        named: Option<String>,
        take: impl FnOnce(Answer) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        self.request(call, named, None, None, |reply| match reply {
            Reply::Answer(answer) => take(answer),
            Reply::Subscribed(_) | Reply::News => Err(Error::Closed),
        })
    }

    fn request<T>(
        &self,
        call: Call,
        named: Option<String>,
        wait: Option<Duration>,
        listen: Option<Listen>,
        take: impl FnOnce(Reply) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        match self.0.send(call, named, wait, listen) {
            Ok((request, host)) => {
                Pending::asked(request, host.in_flight.clone(), &host.backend, take)
            }
            Err(why) => failed(why),
        }
    }
}

impl State {
    fn check(&self) -> Result<(), Error> {
        match &self.over {
            Some(why) => Err(why.clone()),
            None => Ok(()),
        }
    }
}

impl Inner {
    pub(crate) fn member(&self) -> Member {
        let state = lock(&self.state);
        Member {
            connection: self.connection,
            name: self.name.clone(),
            since: self.since,
            admitted: state.admitted && state.over.is_none(),
        }
    }

    /// Lets nothing of it in any more, for this reason: when this returns, nothing that had not
    /// begun on the UI thread will begin, and it hears nothing more.
    pub(crate) fn end(&self, why: Error) {
        lock(&self.state).over.get_or_insert(why.clone());
        self.cut(&why);
        self.wake.call();
    }

    /// The same with what it has begun; whether it may come again is for the gate to say.
    pub(crate) fn cut(&self, why: &Error) {
        let admitted = {
            let mut state = lock(&self.state);
            state.cuts += 1;
            std::mem::take(&mut state.admitted)
        };
        if let Some(host) = self.host.upgrade() {
            host.in_flight.refuse(self.connection, why);
            host.unsubscribe(self.connection, None);
            if admitted {
                host.count_admitted(false);
            }
        }
    }

    fn asked(&self, verb: Verb, scope: Scope, target: Option<String>) -> Asked {
        Asked {
            number: request_number(),
            channel: Channel::InApp,
            connection: self.connection,
            claimed_name: Some(self.name.clone()),
            peer: None,
            verb,
            scope,
            target,
        }
    }

    /// Passes the gate with what needs no UI thread.
    fn enter(&self, verb: Verb, scope: Scope, target: Option<String>) -> Result<Arc<Host>, Error> {
        let asked = self.asked(verb, scope, target);
        let host = self.pass_gate(&asked)?;
        host.gate.done(&asked, "allowed");
        Ok(host)
    }

    fn pass_gate(&self, asked: &Asked) -> Result<Arc<Host>, Error> {
        let host = self.host.upgrade().ok_or(Error::Closed)?;
        let first = {
            let mut state = lock(&self.state);
            state.check()?;
            !std::mem::replace(&mut state.met, true)
        };
        if first {
            host.gate.met(asked);
        }
        let refused = |why: Error| {
            host.gate.done(asked, why.word());
            Err(why)
        };
        loop {
            let cuts = lock(&self.state).cuts;
            if host.gate.check(asked) != Decision::Allow {
                return refused(Error::Denied);
            }
            let mut state = lock(&self.state);
            if let Err(why) = state.check() {
                drop(state);
                return refused(why);
            }
            // The leave was taken back while the gate was asked: it has to be asked again.
            if state.cuts != cuts {
                continue;
            }
            let admitted = std::mem::replace(&mut state.admitted, true);
            drop(state);
            if !admitted {
                host.count_admitted(true);
            }
            break;
        }
        Ok(host)
    }

    /// Takes a request on and keeps its time.
    fn take_on(
        &self,
        host: &Host,
        kind: Kind,
        wait: Option<Duration>,
        done: Option<Done>,
    ) -> Result<(Arc<Request>, Instant), Error> {
        let state = lock(&self.state);
        // Under the lock that a revocation takes: either it finds the request, or the request
        // finds here that it has been.
        state.check()?;
        if !state.admitted {
            return Err(Error::Denied);
        }
        if host.in_flight.count(self.connection) >= REQUESTS_IN_FLIGHT {
            return Err(Error::Limit {
                what: "requests",
                most: REQUESTS_IN_FLIGHT,
            });
        }
        let deadline = Instant::now() + wait.unwrap_or(state.deadline);
        let request = Request::new(self.connection, kind, self.wake.clone(), done);
        host.in_flight.add(&request, deadline)?;
        Ok((request, deadline))
    }

    fn send(
        self: &Arc<Self>,
        call: Call,
        named: Option<String>,
        wait: Option<Duration>,
        listen: Option<Listen>,
    ) -> Result<Sent, Error> {
        let verb = call.verb();
        let scope = match &call {
            Call::Describe(describe) if describe.full => Scope::Full,
            _ => Scope::Surface,
        };
        let named = named.or_else(|| call.window().map(str::to_owned));
        let asked = self.asked(verb, scope, named);
        let host = self.pass_gate(&asked)?;
        let sent = self.queue(&host, call, asked.clone(), wait, listen);
        if let Err(why) = &sent {
            host.gate.done(&asked, why.word());
        }
        Ok((sent?, host))
    }

    fn queue(
        &self,
        host: &Host,
        call: Call,
        asked: Asked,
        wait: Option<Duration>,
        listen: Option<Listen>,
    ) -> Result<Arc<Request>, Error> {
        let verb = asked.verb;
        if listen.is_some() && host.count_subscriptions(self.connection) >= SUBSCRIPTIONS {
            return Err(Error::Limit {
                what: "subscriptions",
                most: SUBSCRIPTIONS,
            });
        }
        if host.backend.unsupported().contains(verb.set()) {
            return Err(Error::Unsupported(verb));
        }
        let window_was_there = call
            .window()
            .is_some_and(|window| host.backend.has_window(window));
        let kind = match verb {
            Verb::WaitFor => Kind::Condition,
            _ => Kind::Ui,
        };
        let (gate, of) = (host.gate.clone(), asked.clone());
        let done = Done(Box::new(move |outcome| gate.done(&of, outcome)));
        let (request, deadline) = self.take_on(host, kind, wait, Some(done))?;
        // When the time for a condition is over is the clock's to say; a busy UI thread has the
        // usual time to look.
        let deadline = match kind {
            Kind::Condition => deadline + UI_DEADLINE,
            _ => deadline,
        };
        let answered = request.clone();
        // What is on its way to the UI thread keeps neither the session nor the app alive.
        let (home, state) = (self.host.clone(), self.state.clone());
        let connection = self.connection;
        host.backend.submit(Job {
            call,
            request: asked,
            name: Some(request.name.clone()),
            gate: host.gate.clone(),
            view: View {
                names_unexposed: true,
                window_was_there,
            },
            deadline,
            ticket: request.ticket.clone(),
            reply: ReplyTo::new(move |answer| {
                answered.tell(answer.word());
                let Some(host) = home.upgrade() else { return };
                let reply = match (answer, listen) {
                    (Answer::Heard { revision }, Some(it)) => {
                        let heard = host.listen_to(connection, it, revision);
                        // One that was stopped meanwhile hears nothing: it ends by being dropped.
                        let state = lock(&state);
                        match state.check() {
                            Ok(()) if state.admitted => Ok(Reply::Subscribed(heard)),
                            Ok(()) => Err(Error::Denied),
                            Err(why) => Err(why),
                        }
                    }
                    (answer, _) => Ok(Reply::Answer(answer)),
                };
                host.in_flight.end(&answered, reply);
            }),
        });
        Ok(request)
    }

    /// Begins to wait for a subscription's events; `None`: there is nothing to wait for.
    fn listen(&self, subscription: &Subscription, wait: Duration) -> Result<Option<Sent>, Error> {
        let host = self.enter(Verb::PollEvents, Scope::Surface, None)?;
        let (connection, id) = (self.connection, subscription.id);
        let has_news = || host.has_news(connection, id).ok_or(Error::NoSubscription);
        if has_news()? || wait.is_zero() {
            return Ok(None);
        }
        let wait = Some(wait.min(LONGEST_WAIT));
        let (request, _) = self.take_on(&host, Kind::Events(id), wait, None)?;
        // What came between the look and the waiting is there now.
        match has_news() {
            Ok(true) => host.in_flight.end(&request, Ok(Reply::News)),
            Ok(false) => {}
            Err(why) => {
                host.in_flight.end(&request, Err(why.clone()));
                return Err(why);
            }
        }
        Ok(Some((request, host)))
    }
}

impl Host {
    fn listen_to(&self, connection: u64, listen: Listen, revision: u64) -> Subscription {
        let filter = Filter {
            node: listen.node.map(|node| node.id.into()),
            verb: listen.verb,
            role: listen.role,
        };
        let most = listen.queue.unwrap_or(SUBSCRIPTION_QUEUE);
        let most = most.clamp(1, SUBSCRIPTION_QUEUE);
        self.subscribe(connection, filter, most, listen.from, revision)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end(Error::Closed);
        let Some(host) = self.host.upgrade() else {
            return;
        };
        host.forget(self.connection);
        if lock(&self.state).met {
            host.gate.gone(self.connection);
        }
    }
}

/// A request that came to nothing.
fn failed<T>(why: Error) -> Pending<T> {
    Pending::there(Err(why), |_| Err(Error::Closed))
}

/// Why an answer holds no result.
fn none(answer: Answer, verb: Verb) -> Error {
    match answer {
        Answer::Refused(refusal) => Error::of(refusal.into(), verb),
        Answer::Fault(fault) => Error::of(fault.into(), verb),
        _ => Error::Internal("the backend answered another question".to_owned()),
    }
}

/// Cuts what a description shows of a node as a reply on the wire does.
fn shorten(node: &mut agent_core::Described) {
    let short = |text: &mut String, most| {
        let whole = std::mem::take(text);
        *text = cut(whole, most).text;
    };
    short(&mut node.name, MAX_NAME);
    if let Some(value) = &mut node.value {
        short(value, MAX_VALUE);
    }
    if let Some(full) = &mut node.full {
        short(&mut full.class, MAX_NAME);
        if let Some(text) = &mut full.text {
            short(text, MAX_VALUE);
        }
    }
}
