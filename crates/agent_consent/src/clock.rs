//! What time it is, so that a test can say.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Tells the time. Any thread; never waits.
pub trait Clock: Send + Sync + 'static {
    /// Since some moment of this run: never goes back.
    fn elapsed(&self) -> Duration;

    /// Seconds since 1970, as the user's clock has it, which may be set at any time.
    fn unix(&self) -> u64;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }

    fn unix(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs()
    }
}

/// Stands still until it is told to go on: for tests.
#[derive(Debug)]
pub struct TestClock {
    elapsed_ms: AtomicU64,
    began: u64,
}

impl TestClock {
    /// Begins at these seconds since 1970.
    pub fn at(unix: u64) -> Self {
        Self {
            elapsed_ms: AtomicU64::new(0),
            began: unix,
        }
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.elapsed_ms.fetch_add(time, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed_ms.load(Ordering::SeqCst))
    }

    fn unix(&self) -> u64 {
        self.began.saturating_add(self.elapsed().as_secs())
    }
}

/// `2026-03-01T12:00:00Z`, from seconds since 1970: for people who read a rule or the log.
pub fn utc(unix: u64) -> String {
    let (days, rest) = (unix / 86_400, unix % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The other way round. `None`: it is not of exactly that form.
pub(crate) fn unix(utc: &str) -> Option<u64> {
    let number = |from: usize, to: usize| utc.get(from..to)?.parse::<u64>().ok();
    let [year, month, day] = [number(0, 4)?, number(5, 7)?, number(8, 10)?];
    let [hour, minute, second] = [number(11, 13)?, number(14, 16)?, number(17, 19)?];
    // Years differ by 366 days at most: from there it is a short way.
    let mut days = year.checked_sub(1970)?.checked_mul(365)?;
    while civil(days) < (year, month, day) {
        days += 1;
    }
    let unix = days * 86_400 + hour * 3_600 + minute * 60 + second;
    (self::utc(unix) == utc).then_some(unix)
}

/// Year, month and day of so many days after the first of 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from the first of March of the year 0, so that a leap day ends its year.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_and_read() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(seconds), written);
            assert_eq!(unix(written), Some(seconds), "{written}");
        }
        for odd in [
            "",
            "2026-02-30T00:00:00Z",
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "2026-01-01T00:00:00+",
            "ä".repeat(10).as_str(),
            "1969-12-31T00:00:00Z",
        ] {
            assert_eq!(unix(odd), None, "{odd}");
        }
    }
}
