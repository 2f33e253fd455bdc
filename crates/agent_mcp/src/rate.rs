//! How often one agent may act: a bucket of tokens, filled at a steady rate.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use crate::{limits::ActionRate, sync::lock};

/// One agent's tokens, shared by its connections.
#[derive(Debug)]
pub(crate) struct Bucket {
    rate: ActionRate,
    level: Mutex<Level>,
}

#[derive(Debug)]
struct Level {
    tokens: f64,
    at: Instant,
}

/// Leave to perform one action. Given back when dropped, unless it was [spent](Self::spend):
/// what was refused or withdrawn doesn't count.
#[derive(Debug)]
pub(crate) struct Permit {
    /// `None` once it is spent.
    bucket: Option<Arc<Bucket>>,
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(rate: ActionRate, now: Instant) -> Self {
        let level = Mutex::new(Level {
            tokens: f64::from(rate.burst),
            at: now,
        });
        Self { rate, level }
    }

    /// Takes a token before the action is queued, so that no number of queued actions passes
    /// the bound. Otherwise says when there will be one.
    pub(crate) fn take(self: &Arc<Self>, now: Instant) -> Result<Permit, Duration> {
        let mut level = self.filled(now);
        if level.tokens >= 1.0 {
            level.tokens -= 1.0;
            return Ok(Permit {
                bucket: Some(self.clone()),
            });
        }
        let seconds = (1.0 - level.tokens) / f64::from(self.rate.per_second.max(1));
        Err(Duration::from_secs_f64(seconds.clamp(0.001, 60.0)))
    }

    /// Whether it tells nothing about the past any more, and may be forgotten.
    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.filled(now).tokens >= f64::from(self.rate.burst)
    }

    fn filled(&self, now: Instant) -> std::sync::MutexGuard<'_, Level> {
        let mut level = lock(&self.level);
        let passed = now.saturating_duration_since(level.at).as_secs_f64();
        let tokens = level.tokens + passed * f64::from(self.rate.per_second);
        level.tokens = tokens.min(f64::from(self.rate.burst));
        level.at = level.at.max(now);
        level
    }
}

impl Permit {
    /// The action was performed.
    pub(crate) fn spend(mut self) {
        self.bucket = None;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(bucket) = &self.bucket {
            let mut level = lock(&bucket.level);
            level.tokens = (level.tokens + 1.0).min(f64::from(bucket.rate.burst));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_10_only_what_was_performed_counts() {
        let start = Instant::now();
        let rate = ActionRate {
            per_second: 10,
            burst: 3,
        };
        let bucket = Arc::new(Bucket::new(rate, start));
        for _ in 0..50 {
            drop(bucket.take(start).unwrap());
        }
        assert!(bucket.is_full(start));
        for _ in 0..3 {
            bucket.take(start).unwrap().spend();
        }
        assert_eq!(bucket.take(start).unwrap_err(), Duration::from_millis(100));
        let later = start + Duration::from_millis(150);
        bucket.take(later).unwrap().spend();
        let wait = bucket.take(later).unwrap_err();
        assert!(
            wait > Duration::from_millis(40) && wait < Duration::from_millis(60),
            "{wait:?}"
        );
        // A clock that seems to run backwards fills nothing.
        assert!(!bucket.is_full(start));
        assert!(bucket.is_full(start + Duration::from_secs(1)));
    }
}
