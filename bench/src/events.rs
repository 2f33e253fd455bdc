//! Events: what it costs to tell a hundred who listen, beside a bare bounded channel.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    time::{Duration, Instant},
};

use agent_core::{Event, EventVerb, Filter, Hub, Role};

/// How many listen.
pub const SUBSCRIPTIONS: usize = 100;

/// What a subscription's queue holds by default, and the channel.
const QUEUE: usize = 256;

/// What is kept to be replayed by default.
const LOG: usize = 4_096;

/// How many events a turn of the UI thread tells.
const TURN: usize = 10;

/// What became of some events.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// How long the one who told them was at it.
    pub took: Duration,
    /// How many there were, for each that it was to reach.
    pub matched: u64,
    /// How many of those arrived.
    pub delivered: u64,
    /// How many did not, because a queue was full, and were counted.
    pub dropped: u64,
}

impl Told {
    fn checked(self) -> io::Result<Self> {
        match self.delivered + self.dropped == self.matched {
            true => Ok(self),
            false => Err(io::Error::other(format!("they don't add up: {self:?}"))),
        }
    }
}

/// Tells so many events to [`SUBSCRIPTIONS`], no two of which listen for the same, while another
/// thread fetches what they hear.
///
/// # Errors
/// If what was delivered and what was dropped are not what matched.
pub fn through_hub(count: usize) -> io::Result<Told> {
    let filters: Vec<Filter> = filters().collect();
    let mut hub = Hub::new(LOG);
    let ids: Vec<u64> = filters
        .iter()
        .map(|filter| hub.subscribe(1, filter.clone(), QUEUE, true, None).id)
        .collect();
    let hub = Mutex::new(hub);
    let over = AtomicBool::new(false);
    let fetch = || {
        let (mut delivered, mut dropped) = (0, 0);
        loop {
            // Looked at first: what is told before it is over is fetched after.
            let last = over.load(Ordering::Acquire);
            for id in &ids {
                // The lock is not held while what was fetched is used.
                let polled = lock(&hub).poll(1, *id, usize::MAX);
                if let Some(polled) = polled {
                    delivered += polled.events.len() as u64;
                    dropped += polled.dropped;
                }
            }
            if last {
                return (delivered, dropped);
            }
            std::thread::yield_now();
        }
    };
    let mut turns: Vec<Vec<Event>> = (0..SOURCES).map(turn).collect();
    let matches = |turn: &Vec<Event>| matches(&filters, turn);
    let matched: Vec<u64> = turns.iter().map(matches).collect();
    let (took, (delivered, dropped)) = std::thread::scope(|scope| {
        let fetching = scope.spawn(fetch);
        let begun = Instant::now();
        for n in 0..count / TURN {
            lock(&hub).emit(&mut turns[n % SOURCES]);
        }
        let took = begun.elapsed();
        over.store(true, Ordering::Release);
        fetching.join().map(|fetched| (took, fetched))
    })
    .map_err(|_| io::Error::other("the thread that fetches has failed"))?;
    let told = Told {
        took,
        matched: (0..count / TURN).map(|n| matched[n % SOURCES]).sum(),
        delivered,
        dropped,
    };
    told.checked()
}

/// The least that it can cost to tell one who listens: so many events through one bounded channel
/// of the standard library, until another thread has received them all. It waits where we drop.
///
/// # Errors
/// If not all were received.
pub fn through_channel(count: usize) -> io::Result<Told> {
    let event = turn(0).into_iter().next().map(Arc::new);
    let event = event.ok_or(io::ErrorKind::NotFound)?;
    let (sender, receiver) = sync_channel(QUEUE);
    let begun = Instant::now();
    let delivered = std::thread::scope(|scope| {
        let fetching = scope.spawn(move || receiver.iter().count() as u64);
        for _ in 0..count {
            // It would fail if the other thread had ended, whose count then says so.
            let _ = sender.send(Arc::clone(&event));
        }
        drop(sender);
        fetching.join()
    })
    .map_err(|_| io::Error::other("the thread that fetches has failed"))?;
    let told = Told {
        took: begun.elapsed(),
        matched: count as u64,
        delivered,
        dropped: 0,
    };
    told.checked()
}

/// How many nodes events come from; each is in one of ten groups.
const SOURCES: usize = 50;

const VERBS: [EventVerb; 4] = [
    EventVerb::Clicked,
    EventVerb::Changed,
    EventVerb::Toggled,
    EventVerb::Selected,
];

const ROLES: [Role; 3] = [Role::Button, Role::Textbox, Role::Checkbox];

/// One of each kind: everything; a group or a node; a verb; a role; and pairs of these.
fn filters() -> impl Iterator<Item = Filter> {
    (0..SUBSCRIPTIONS).map(|n| Filter {
        node: match n % 4 {
            0 => None,
            1 => Some(format!("group-{}", n / 4 % 10).into()),
            2 => Some(format!("node-{}", n / 2).into()),
            _ => Some("main".into()),
        },
        verb: VERBS.get(n / 4 % 5).copied(),
        role: ROLES.get(n / 20 % 4).copied(),
    })
}

/// The events of one turn, all in the group of this node.
fn turn(node: usize) -> Vec<Event> {
    let group: Arc<str> = format!("group-{}", node % 10).into();
    (0..TURN)
        .map(|n| Event {
            seq: 0,
            source: format!("node-{}", (node + 10 * n) % SOURCES).into(),
            around: Arc::from([Arc::from("main"), group.clone()]),
            verb: VERBS[(node + n) % VERBS.len()],
            role: ROLES[(node + n) % ROLES.len()],
            revision: 1,
            cause: None,
        })
        .collect()
}

/// How many deliveries these come to.
fn matches(filters: &[Filter], events: &[Event]) -> u64 {
    let is_heard = |filter: &Filter, event: &Event| {
        let path = || event.around.iter().chain([&event.source]);
        filter
            .node
            .as_ref()
            .is_none_or(|node| path().any(|id| id == node))
            && filter.verb.is_none_or(|verb| verb == event.verb)
            && filter.role.is_none_or(|role| role == event.role)
    };
    let of_event = |event| filters.iter().filter(|it| is_heard(it, event)).count() as u64;
    events.iter().map(of_event).sum()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
