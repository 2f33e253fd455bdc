//! Who hears which events: numbers, filters, bounded queues, and what can be replayed. Plain
//! data; whoever shares it between threads keeps it behind a lock of his own.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use crate::{
    event::{Event, EventVerb},
    role::Role,
};

/// Which events a subscription hears: those that every filter lets through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// At this node, or anywhere below it.
    pub node: Option<Arc<str>>,
    /// Of this verb.
    pub verb: Option<EventVerb>,
    /// At nodes of this role.
    pub role: Option<Role>,
}

impl Filter {
    fn lets_through(&self, event: &Event) -> bool {
        self.verb.is_none_or(|verb| verb == event.verb)
            && self.role.is_none_or(|role| role == event.role)
            && self
                .node
                .as_ref()
                .is_none_or(|node| event.source == *node || event.around.contains(node))
    }
}

#[derive(Debug)]
struct Subscription {
    connection: u64,
    filter: Filter,
    queue: VecDeque<Arc<Event>>,
    /// What the queue holds, beside what it replays.
    most: usize,
    /// How many replayed events are still in the queue, at most.
    replayed: usize,
    /// The windows of which the queue says that something changed in them.
    changed: Vec<Arc<str>>,
    dropped: u64,
    push: bool,
    /// Its window is gone: it hears nothing more, and what it has heard can still be fetched.
    over: bool,
}

impl Subscription {
    /// Answers whether it has something new.
    fn hear(&mut self, event: &Arc<Event>) -> bool {
        if self.over || !self.filter.lets_through(event) {
            return false;
        }
        if event.verb == EventVerb::UiChanged {
            // That something changed is said once until it is heard.
            if self.changed.contains(&event.source) {
                return false;
            }
            self.changed.push(event.source.clone());
        }
        if self.queue.len() >= self.most + self.replayed {
            self.dropped += u64::from(self.take().is_some());
        }
        self.queue.push_back(event.clone());
        self.over = event.verb == EventVerb::WindowClosed
            && self.filter.node.as_ref() == Some(&event.source);
        true
    }

    /// The oldest event, which is not queued any more.
    fn take(&mut self) -> Option<Arc<Event>> {
        let oldest = self.queue.pop_front()?;
        if oldest.verb == EventVerb::UiChanged {
            self.changed.retain(|window| *window != oldest.source);
        }
        Some(oldest)
    }
}

/// A new subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// Its number, never given out again during the run.
    pub id: u64,
    /// Some of what it should have replayed is no longer kept.
    pub gap: bool,
}

/// What a subscription has heard since it was last asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// The events, oldest first.
    pub events: Vec<Arc<Event>>,
    /// How many were dropped, because the queue was full.
    pub dropped: u64,
    /// The number to go on from.
    pub next: u64,
}

/// A subscription that has something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Whose it is.
    pub connection: u64,
    /// Which one.
    pub id: u64,
    /// Whether it is told of events as they come.
    pub push: bool,
}

/// All subscriptions, and the last events.
#[derive(Debug)]
pub struct Hub {
    next: u64,
    log: VecDeque<Arc<Event>>,
    kept: usize,
    last_id: u64,
    subscriptions: BTreeMap<u64, Subscription>,
}

impl Hub {
    /// Keeps the last `kept` events to be replayed.
    pub fn new(kept: usize) -> Self {
        Self {
            next: 1,
            log: VecDeque::new(),
            kept,
            last_id: 0,
            subscriptions: BTreeMap::new(),
        }
    }

    /// Takes in the events of one turn, and numbers them. Costs, an event, a look at each
    /// subscription's filter; never waits for anybody who listens.
    pub fn emit(&mut self, events: &mut [Event]) -> Vec<Touched> {
        let number = |event: &mut Event| {
            event.seq = self.next;
            self.next += 1;
            Arc::new(event.clone())
        };
        let new: Vec<Arc<Event>> = events.iter_mut().map(number).collect();
        let mut touched = Vec::new();
        for (id, subscription) in &mut self.subscriptions {
            let heard = new.iter().filter(|event| subscription.hear(event));
            if heard.count() > 0 {
                touched.push(Touched {
                    connection: subscription.connection,
                    id: *id,
                    push: subscription.push,
                });
            }
        }
        for event in new {
            if self.log.len() == self.kept {
                self.log.pop_front();
            }
            self.log.push_back(event);
        }
        touched
    }

    /// Begins to listen, from the event numbered `from` on if that is given. The queue holds `most`
    /// events, beside those that are replayed.
    pub fn subscribe(
        &mut self,
        connection: u64,
        filter: Filter,
        most: usize,
        push: bool,
        from: Option<u64>,
    ) -> Subscribed {
        self.last_id += 1;
        let mut subscription = Subscription {
            connection,
            filter,
            queue: VecDeque::new(),
            most,
            replayed: 0,
            changed: Vec::new(),
            dropped: 0,
            push,
            over: false,
        };
        let mut gap = false;
        if let Some(from) = from {
            let oldest = self.log.front().map_or(self.next, |logged| logged.seq);
            // A number that was never given out is from another run, whose events are gone.
            gap = from.max(1) < oldest || from > self.next;
            // All that is kept, however much: what is lost is told by `gap` alone.
            subscription.replayed = self.log.len();
            for logged in self.log.iter().filter(|logged| logged.seq >= from) {
                subscription.hear(logged);
            }
            subscription.replayed = subscription.queue.len();
        }
        self.subscriptions.insert(self.last_id, subscription);
        Subscribed {
            id: self.last_id,
            gap,
        }
    }

    /// What a subscription of this connection has heard, at most `most` events of it. `None`: it
    /// has no such subscription.
    pub fn poll(&mut self, connection: u64, id: u64, most: usize) -> Option<Polled> {
        let next = self.next;
        let subscription = self.owned(connection, id)?;
        let count = most.min(subscription.queue.len());
        let events: Vec<Arc<Event>> = (0..count).map_while(|_| subscription.take()).collect();
        subscription.replayed = subscription.replayed.saturating_sub(count);
        let dropped = std::mem::take(&mut subscription.dropped);
        let next = subscription.queue.front().map_or(next, |logged| logged.seq);
        Some(Polled {
            events,
            dropped,
            next,
        })
    }

    /// Whether a subscription of this connection has something to fetch; `None` if it has no
    /// such subscription.
    pub fn has_news(&self, connection: u64, id: u64) -> Option<bool> {
        let subscription = self.subscriptions.get(&id)?;
        (subscription.connection == connection)
            .then_some(!subscription.queue.is_empty() || subscription.dropped > 0)
    }

    /// Ends a subscription of this connection. Answers whether it had it.
    pub fn unsubscribe(&mut self, connection: u64, id: u64) -> bool {
        self.owned(connection, id).is_some() && self.subscriptions.remove(&id).is_some()
    }

    /// Ends all subscriptions of a connection.
    pub fn end(&mut self, connection: u64) {
        self.subscriptions
            .retain(|_, subscription| subscription.connection != connection);
    }

    /// How many subscriptions a connection has.
    pub fn count(&self, connection: u64) -> usize {
        let all = self.subscriptions.values();
        all.filter(|subscription| subscription.connection == connection)
            .count()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.subscriptions.len()
    }

    /// Whether nobody listens.
    pub fn is_empty(&self) -> bool {
        self.subscriptions.is_empty()
    }

    fn owned(&mut self, connection: u64, id: u64) -> Option<&mut Subscription> {
        let subscription = self.subscriptions.get_mut(&id)?;
        (subscription.connection == connection).then_some(subscription)
    }
}
