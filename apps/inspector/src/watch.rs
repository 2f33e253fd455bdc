//! The thread that follows the inspected app: it connects, asks what changed, connects again when
//! the app was started anew, and hands what it hears to the window.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use agent_wire::inspector::{
    AgentView, Consent, Finding, Highlighted, Lints, Log, LogEntry, NodeProperties, Picked,
    Property, Screenshot,
};
use serde_json::json;

use crate::{
    link::{Link, No, Which},
    picture::Picture,
    tree::{Page, Place, Told, Tree},
};

/// How often the app is asked what changed.
const EVERY: Duration = Duration::from_millis(300);
/// How often it is asked for what takes it longer.
const SELDOM: Duration = Duration::from_secs(3);
/// How often it is asked whom it lets in.
const CONSENT: Duration = Duration::from_secs(1);
/// How often somebody who isn't there is looked for.
const AGAIN: Duration = Duration::from_millis(500);
/// How long a picture may take, in milliseconds: the app may not be drawn at all.
const PICTURE_MS: u64 = 3_000;
/// How many entries of the log are kept.
const LOG: usize = 2_000;

/// What the window shows.
#[derive(Default)]
pub struct Seen {
    /// How it stands with the app, in a sentence.
    pub status: String,
    /// Whether it is there.
    pub connected: bool,
    /// Its tree.
    pub tree: Tree,
    /// The node that is looked at.
    pub selected: Option<u64>,
    /// Where that is, for the next run of the app.
    place: Option<Place>,
    /// Every property of it.
    pub properties: Vec<Property>,
    /// What agents see of it.
    pub view: Option<AgentView>,
    /// What is likely wrong.
    pub findings: Vec<Finding>,
    /// Whether there is more of that.
    pub more_findings: bool,
    /// Whom the app lets in; `None` where its inspector can't be asked that.
    pub consent: Option<Consent>,
    /// What happened.
    pub log: VecDeque<LogEntry>,
    /// The window, or why there is no picture of it.
    pub picture: Option<Result<Arc<Picture>, String>>,
    /// Counts the pictures.
    pub pictures: u64,
    /// Where picking has come to.
    pub picked: Option<u64>,
}

/// What the window asks for.
enum Ask {
    Select(Option<u64>),
    Highlight(Option<u64>),
    Picture { unexposed: bool },
    Pick(bool),
    Quit,
}

/// The thread. Dropping it ends it.
pub struct Watch {
    seen: Arc<Mutex<Seen>>,
    asks: Sender<Ask>,
    thread: Option<JoinHandle<()>>,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    /// Follows this app. `wake` is called, on that thread, whenever there is something new to
    /// show.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(which: Which, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let seen = Arc::new(Mutex::new(Seen {
            status: "looking for the app".to_owned(),
            ..Seen::default()
        }));
        let (asks, asked) = channel();
        let follower = Follower {
            which,
            seen: seen.clone(),
            asked,
            wake: Box::new(wake),
            picking: false,
            picture: Some(false),
            unexposed: false,
            highlighted: None,
        };
        let thread = std::thread::Builder::new()
            .name("inspector:watch".into())
            .spawn(move || follower.run())?;
        Ok(Self {
            seen,
            asks,
            thread: Some(thread),
        })
    }

    /// What is known now. Held for as long as a frame is drawn: the thread never holds it while
    /// it waits for the app.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    fn ask(&self, ask: Ask) {
        // A thread that has ended shows in the status.
        let _ = self.asks.send(ask);
    }

    /// Looks at this node.
    pub fn select(&self, node: Option<u64>) {
        self.ask(Ask::Select(node));
    }

    /// Has the app draw over this node, or over none.
    pub fn highlight(&self, node: Option<u64>) {
        self.ask(Ask::Highlight(node));
    }

    /// Has a new picture taken, `unexposed` parts blacked out or not.
    pub fn take_picture(&self, unexposed: bool) {
        self.ask(Ask::Picture { unexposed });
    }

    /// Follows the pointer in the app, or no more.
    pub fn pick(&self, picking: bool) {
        self.ask(Ask::Pick(picking));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ask(Ask::Quit);
        // It may be waiting for an app that is busy: then it ends when that answers.
        drop(self.thread.take());
    }
}

struct Follower {
    which: Which,
    seen: Arc<Mutex<Seen>>,
    asked: Receiver<Ask>,
    wake: Box<dyn Fn() + Send>,
    picking: bool,
    /// A picture is wanted.
    picture: Option<bool>,
    /// Of which kind the last one was.
    unexposed: bool,
    /// What the app draws over.
    highlighted: Option<u64>,
}

/// Nobody looks any more.
struct Over;

/// How far one run of the app was followed.
#[derive(Default)]
struct Followed {
    /// The last entry of the log.
    entry: u64,
    /// When it was last linted.
    linted: Option<Instant>,
    /// Whether the tree has changed since.
    to_lint: bool,
    /// When the last picture was taken.
    pictured: Option<Instant>,
    /// Whether the tree has changed since.
    to_picture: bool,
    /// When it was last asked whom it lets in.
    consent: Option<Instant>,
}

impl Follower {
    fn run(mut self) {
        loop {
            let met = match Link::to(&self.which) {
                Ok(link) => self.follow(link),
                Err(no) => Ok(no),
            };
            let Ok(no) = met else { return };
            {
                let mut seen = lock(&self.seen);
                seen.connected = false;
                seen.status = format!("{no}; looking again");
            }
            (self.wake)();
            if self.wait(AGAIN, None).is_err() {
                return;
            }
        }
    }

    /// Follows one run of the app, until it is gone or refuses.
    fn follow(&mut self, mut link: Link) -> Result<No, Over> {
        // Another run has other handles; what was selected is found by its place.
        {
            let mut seen = lock(&self.seen);
            seen.tree.clear();
            seen.selected = None;
        }
        self.highlighted = None;
        let mut followed = Followed::default();
        match self.find_in_log(&mut link) {
            Ok(entry) => followed.entry = entry,
            Err(no) => return Ok(no),
        }
        loop {
            let rest = match self.look(&mut link, &mut followed) {
                // The rest of a large tree, as soon as what the window asked is seen to.
                Ok(Told::Part) => Duration::ZERO,
                Ok(Told::Whole | Told::Cut) => EVERY,
                Err(no) => return Ok(no),
            };
            if let Some(no) = self.wait(rest, Some(&mut link))? {
                return Ok(no);
            }
        }
    }

    /// Where the log goes on: behind what was heard before, if it is still the same run of the app.
    fn find_in_log(&mut self, link: &mut Link) -> Result<u64, No> {
        let Some(last) = lock(&self.seen).log.back().cloned() else {
            return Ok(0);
        };
        let params = json!({ "after": last.entry.saturating_sub(1), "limit": 1 });
        let there: Log = link.ask("log", params)?;
        if there.entries.first() == Some(&last) {
            return Ok(last.entry);
        }
        lock(&self.seen).log.clear();
        Ok(0)
    }

    fn look(&mut self, link: &mut Link, followed: &mut Followed) -> Result<Told, No> {
        let asks = lock(&self.seen).tree.asks();
        let page: Page = link.ask("tree", asks)?;
        let (mut news, told) = {
            let mut seen = lock(&self.seen);
            let seen = &mut *seen;
            let first = !std::mem::replace(&mut seen.connected, true);
            seen.status.clone_from(&link.app);
            let moved = seen.tree.take(page);
            if moved {
                seen.keep_selection();
            }
            followed.to_lint |= moved;
            followed.to_picture |= moved;
            let told = match seen.tree.goes_on() {
                true => Told::Part,
                false => seen.tree.told(),
            };
            (first || moved, told)
        };
        if told == Told::Part {
            (self.wake)();
            return Ok(told);
        }
        let log: Log = link.ask("log", json!({ "after": followed.entry }))?;
        followed.entry = log.last;
        if !log.entries.is_empty() {
            let mut seen = lock(&self.seen);
            seen.log.extend(log.entries);
            let over = seen.log.len().saturating_sub(LOG);
            seen.log.drain(..over);
            news = true;
        }
        if news {
            self.look_at_selected(link)?;
        }
        let rested = |last: Option<Instant>| last.is_none_or(|at| at.elapsed() > SELDOM);
        if followed.to_lint && rested(followed.linted) {
            followed.to_lint = false;
            followed.linted = Some(Instant::now());
            let lints: Lints = link.ask("lint", json!({}))?;
            let mut seen = lock(&self.seen);
            news |= seen.findings != lints.findings;
            seen.findings = lints.findings;
            seen.more_findings = !lints.complete;
        }
        if followed.consent.is_none_or(|at| at.elapsed() > CONSENT) {
            followed.consent = Some(Instant::now());
            news |= self.look_at_consent(link)?;
        }
        if followed.to_picture && rested(followed.pictured) {
            self.picture.get_or_insert(self.unexposed);
        }
        if let Some(unexposed) = self.picture.take() {
            followed.to_picture = false;
            followed.pictured = Some(Instant::now());
            self.take_picture(link, unexposed)?;
            news = true;
        }
        if self.picking {
            match link.ask::<Picked>("pick", json!({})) {
                Ok(Picked { node }) => {
                    let mut seen = lock(&self.seen);
                    news |= seen.picked != node;
                    seen.picked = node;
                }
                Err(No::Refused { .. }) => self.picking = false,
                Err(no) => return Err(no),
            }
        }
        if news {
            (self.wake)();
        }
        Ok(told)
    }

    fn look_at_selected(&mut self, link: &mut Link) -> Result<(), No> {
        let Some(node) = lock(&self.seen).selected else {
            let mut seen = lock(&self.seen);
            seen.view = None;
            seen.properties.clear();
            return Ok(());
        };
        // It may be gone by now.
        let view = optional(link.ask::<AgentView>("agent_view", json!({ "node": node })))?;
        let told = optional(link.ask::<NodeProperties>("node", json!({ "node": node })))?;
        let mut seen = lock(&self.seen);
        seen.view = view;
        seen.properties = told.map_or_else(Vec::new, |told| told.properties);
        Ok(())
    }

    /// Answers whether anything has changed.
    fn look_at_consent(&mut self, link: &mut Link) -> Result<bool, No> {
        let consent = match link.ask::<Consent>("consent", json!({})) {
            Ok(consent) => Some(consent),
            // An app of an earlier release.
            Err(No::Refused { .. }) => None,
            Err(no) => return Err(no),
        };
        let mut seen = lock(&self.seen);
        let news = seen.consent != consent;
        seen.consent = consent;
        Ok(news)
    }

    fn take_picture(&mut self, link: &mut Link, unexposed: bool) -> Result<(), No> {
        self.unexposed = unexposed;
        // What is drawn over the window would be in the picture.
        let highlighted = self.highlighted;
        self.highlight(link, None)?;
        let taken = self.picture_of(link, unexposed);
        self.highlight(link, highlighted)?;
        let taken = taken?;
        let mut seen = lock(&self.seen);
        seen.picture = Some(taken);
        seen.pictures += 1;
        Ok(())
    }

    /// Has the app draw over this node, and over no other any more.
    fn highlight(&mut self, link: &mut Link, node: Option<u64>) -> Result<(), No> {
        if self.highlighted == node {
            return Ok(());
        }
        let params = node.map_or(json!({}), |node| json!({ "node": node }));
        let done = optional(link.ask::<Highlighted>("highlight", params))?;
        self.highlighted = node.filter(|_| done.is_some());
        Ok(())
    }

    /// A picture, or why there is none.
    fn picture_of(
        &mut self,
        link: &mut Link,
        unexposed: bool,
    ) -> Result<Result<Arc<Picture>, String>, No> {
        let hide = match unexposed {
            true => "unexposed",
            false => "secrets",
        };
        let params = json!({ "hide": hide, "timeout_ms": PICTURE_MS });
        match link.ask::<Screenshot>("screenshot", params) {
            Ok(screenshot) => Ok(Picture::read(&screenshot).map(Arc::new)),
            // A window that is not on any screen is not drawn; it may be there the next time.
            Err(No::Refused { reason, message }) if reason == "app_busy" => {
                self.picture = Some(unexposed);
                Ok(Err(message))
            }
            Err(No::Refused { message, .. }) => Ok(Err(message)),
            Err(no) => Err(no),
        }
    }

    /// Waits so long, and sees to what the window asks meanwhile. With a link the first thing
    /// asked ends the wait, as what it brings is wanted now.
    fn wait(&mut self, longest: Duration, mut link: Option<&mut Link>) -> Result<Option<No>, Over> {
        let until = Instant::now() + longest;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let ask = match self.asked.recv_timeout(left) {
                Ok(ask) => ask,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(Over),
            };
            let done = match (ask, &mut link) {
                (Ask::Quit, _) => return Err(Over),
                (Ask::Select(node), link) => {
                    lock(&self.seen).select(node);
                    match link {
                        Some(link) => self.look_at_selected(link).map(|()| (self.wake)()),
                        None => Ok(()),
                    }
                }
                (Ask::Highlight(node), Some(link)) => self.highlight(link, node),
                (Ask::Highlight(_), None) => Ok(()),
                (Ask::Picture { unexposed }, Some(link)) => {
                    self.take_picture(link, unexposed).map(|()| (self.wake)())
                }
                (Ask::Picture { unexposed }, None) => {
                    self.picture = Some(unexposed);
                    Ok(())
                }
                (Ask::Pick(picking), _) => {
                    self.picking = picking;
                    Ok(())
                }
            };
            if let Err(no) = done {
                return Ok(Some(no));
            }
        }
    }
}

/// What was refused for what it names, or because this toolkit can't, is nothing, and no reason to
/// connect again.
fn optional<T>(told: Result<T, No>) -> Result<Option<T>, No> {
    match told {
        Ok(told) => Ok(Some(told)),
        Err(No::Refused { reason, .. })
            if ["invalid_params", "unsupported"].contains(&&*reason) =>
        {
            Ok(None)
        }
        Err(no) => Err(no),
    }
}

impl Seen {
    fn select(&mut self, node: Option<u64>) {
        self.selected = node;
        self.place = node.and_then(|node| self.tree.place(node));
        self.view = None;
        self.properties.clear();
    }

    /// After the tree has changed: the same node, or the one in its place if that is gone.
    fn keep_selection(&mut self) {
        let Some(place) = &self.place else { return };
        let there = self.selected.filter(|node| self.tree.get(*node).is_some());
        self.selected = there.or_else(|| self.tree.find(place));
        if let Some(node) = self.selected {
            // Where it has moved to.
            self.place = self.tree.place(node);
        }
    }
}
