//! How the conversation reaches the UI thread: it asks, the thread does it between two frames
//! of its own, and says when its frame is over.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};

use crate::{
    case::{Answer, Consent, Effect, Person},
    door::Door,
};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the UI thread is asked for.
#[derive(Clone, Debug)]
pub enum Ask {
    /// The app changes its own user interface.
    Effects(Vec<Effect>),
    /// A person does something, through the toolkit's own input.
    Person(Person),
    /// The whole user interface as text, for a report.
    WholeTree,
    /// Nothing for so long: what may come between two turns on a busy machine.
    Rest(Duration),
    /// The app ends.
    Quit,
}

/// One such request, to be answered when the frame that took it is over.
#[derive(Debug)]
#[must_use = "somebody waits for this: call done()"]
pub struct Asked {
    /// What is asked for.
    pub ask: Ask,
    reply: mpsc::Sender<Result<String, String>>,
}

impl Asked {
    /// It is done, frame included; for [`Ask::WholeTree`] with the text. An error says why it
    /// can't be.
    pub fn done(self, result: Result<String, String>) {
        // Whoever asked may have given up.
        let _ = self.reply.send(result);
    }
}

/// How often each of a case's counters was run. Any thread.
#[derive(Clone, Debug, Default)]
pub struct Counters(Arc<Mutex<BTreeMap<String, u64>>>);

impl Counters {
    /// One more.
    pub fn add(&self, name: &str) {
        *lock(&self.0).entry(name.to_owned()).or_default() += 1;
    }

    /// How often it was run.
    pub fn get(&self, name: &str) -> u64 {
        lock(&self.0).get(name).copied().unwrap_or(0)
    }
}

/// What wakes a UI thread that waits for something to do.
type Wake = Arc<dyn Fn() + Send + Sync>;

/// The conversation's hold on the app. Any thread but the UI thread.
#[derive(Clone)]
pub struct Control {
    asks: mpsc::Sender<Asked>,
    wake: Wake,
    revoke: Arc<dyn Fn() + Send + Sync>,
    door: Door,
    counters: Counters,
    patience: Duration,
}

impl Control {
    /// With where the UI thread hears of requests, what wakes it, and what revokes all agents.
    pub fn new(
        wake: impl Fn() + Send + Sync + 'static,
        revoke: impl Fn() + Send + Sync + 'static,
        door: Door,
        counters: Counters,
        patience: Duration,
    ) -> (Self, mpsc::Receiver<Asked>) {
        let (asks, asked) = mpsc::channel();
        let control = Self {
            asks,
            wake: Arc::new(wake),
            revoke: Arc::new(revoke),
            door,
            counters,
            patience,
        };
        (control, asked)
    }

    fn send(&self, ask: Ask) -> mpsc::Receiver<Result<String, String>> {
        let (reply, answer) = mpsc::channel();
        // A thread that is gone is noticed where the answer is waited for.
        let _ = self.asks.send(Asked { ask, reply });
        (self.wake)();
        answer
    }

    fn ask(&self, ask: Ask, patience: Duration) -> Result<String, String> {
        match self.send(ask).recv_timeout(patience) {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(format!("the UI thread has not done it within {patience:?}"))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("the UI thread is gone".into()),
        }
    }

    /// Has the app change its user interface, frame included.
    ///
    /// # Errors
    /// If a node isn't there, or the UI thread doesn't answer.
    pub fn effects(&self, effects: Vec<Effect>) -> Result<(), String> {
        self.ask(Ask::Effects(effects), self.patience).map(drop)
    }

    /// Has a person do something, frame included.
    ///
    /// # Errors
    /// If a person could not, or the UI thread doesn't answer.
    pub fn person(&self, person: Person) -> Result<(), String> {
        self.ask(Ask::Person(person), self.patience).map(drop)
    }

    /// The whole user interface as text.
    ///
    /// # Errors
    /// If the UI thread doesn't answer soon.
    pub fn whole_tree(&self) -> Result<String, String> {
        self.ask(Ask::WholeTree, self.patience.min(Duration::from_secs(2)))
    }

    /// Keeps the UI thread from its work for a moment, without waiting for that.
    pub fn rest(&self, time: Duration) {
        drop(self.send(Ask::Rest(time)));
    }

    /// Ends the app, without waiting for that.
    pub fn quit(&self) {
        drop(self.send(Ask::Quit));
    }

    /// The gate says this from now on.
    pub fn consent(&self, consent: Consent) {
        self.door.set(consent);
    }

    /// Takes the leave of all agents away: the gate first, so that none comes back.
    pub fn revoke(&self) {
        self.door.set(Consent::Deny);
        (self.revoke)();
    }

    /// Answers the oldest question that is open.
    ///
    /// # Errors
    /// If none is.
    pub fn answer(&self, answer: Answer) -> Result<(), String> {
        self.door.answer(answer)
    }

    /// How many questions are open, and how many were asked since the start.
    pub fn prompts(&self) -> (u64, u64) {
        self.door.prompts()
    }

    /// How often a counter was run.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name)
    }

    /// How long one step may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }
}
