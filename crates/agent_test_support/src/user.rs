use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_core::{AuthGate, Confirmed, Decision, Policy, Question, Request};

/// A policy that lets everybody in, and the user behind it, who is asked where a mark says so:
/// what they say, and all that they were asked.
#[derive(Debug)]
pub struct User {
    says: Mutex<Confirmed>,
    asked: Mutex<Vec<Question>>,
    acting: Mutex<usize>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl User {
    /// One who says this to every question, and the gate that asks.
    pub fn who_says(says: Confirmed) -> (Arc<Self>, AuthGate) {
        let user = Arc::new(Self {
            says: Mutex::new(says),
            asked: Mutex::default(),
            acting: Mutex::default(),
        });
        (user.clone(), AuthGate::of(user))
    }

    /// From now on they say this.
    pub fn say(&self, says: Confirmed) {
        *lock(&self.says) = says;
    }

    /// What they were asked so far.
    pub fn asked(&self) -> Vec<Question> {
        lock(&self.asked).clone()
    }

    /// How often something was about to be performed.
    pub fn acting(&self) -> usize {
        *lock(&self.acting)
    }
}

impl Policy for User {
    fn check(&self, _: &Request) -> Decision {
        Decision::Allow
    }

    fn confirm(&self, question: &Question) -> Confirmed {
        lock(&self.asked).push(question.clone());
        *lock(&self.says)
    }

    fn acting(&self, _: &Request) {
        *lock(&self.acting) += 1;
    }
}
