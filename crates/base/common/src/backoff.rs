//! Waits that grow.

use std::time::Duration;

/// The waits between attempts: the first one, then each twice as long as the one before, up to the longest. It has no end.
///
/// ```
/// use std::time::Duration;
/// use groundstate_common::Backoff;
///
/// let waits = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
/// assert_eq!(waits.take(5).map(|wait| wait.as_secs()).collect::<Vec<_>>(), [1, 2, 4, 5, 5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// Waits from `first` to `longest`.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// The next wait.
    pub fn wait(&mut self) -> Duration {
        let wait = self.next.min(self.longest);
        self.next = self.next.saturating_mul(2);
        wait
    }
}

/// From half of a wait to all of it, as a random `number` says, so that clients that failed together do not return together.
///
/// ```
/// use std::time::Duration;
/// use groundstate_common::jittered;
///
/// let wait = Duration::from_secs(4);
/// assert_eq!(jittered(wait, 0), Duration::from_secs(2));
/// assert_eq!(jittered(wait, u32::MAX), wait);
/// ```
pub fn jittered(wait: Duration, number: u32) -> Duration {
    let half = wait / 2;
    half + half.mul_f64(f64::from(number) / f64::from(u32::MAX))
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(self.wait())
    }
}
