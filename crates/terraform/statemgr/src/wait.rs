//! Waiting for a lock until a deadline.

use std::fmt;
use std::time::Duration;

#[cfg(feature = "tokio")]
use async_trait::async_trait;
use groundstate_common::{Backoff, Clock, Sleeper, Timestamp};
use tracing::debug;

use crate::error::{Error, ErrorKind, Result};
use crate::holder::LockGrant;
use crate::lock_info::LockInfo;
use crate::traits::Locker;

/// The waits for a lock that another process holds: 1, 2, 4, 8, 16, 16 seconds between attempts.
pub const LOCK_WAITS: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(16));
/// After so many races in a row the next one is waited for like any other refusal.
const MOST_RACES: u32 = 8;

/// Sleeps on tokio's timer. It needs a tokio runtime with time enabled around it.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioSleeper;

#[cfg(feature = "tokio")]
#[async_trait]
impl Sleeper for TokioSleeper {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// How long to wait for a lock that another process holds.
#[derive(Clone, Copy)]
pub struct Waiting<'a> {
    until: Option<Until<'a>>,
    refused: Option<&'a (dyn Fn(&Error) + Sync)>,
}

#[derive(Clone, Copy)]
struct Until<'a> {
    deadline: Timestamp,
    clock: &'a dyn Clock,
    sleeper: &'a dyn Sleeper,
}

impl<'a> Waiting<'a> {
    /// One attempt.
    pub fn not_at_all() -> Self {
        Self { until: None, refused: None }
    }

    /// Attempts until the deadline; the first is made even if that has passed.
    pub fn until(deadline: Timestamp, clock: &'a dyn Clock, sleeper: &'a dyn Sleeper) -> Self {
        Self { until: Some(Until { deadline, clock, sleeper }), refused: None }
    }

    /// Attempts for so long.
    pub fn up_to(timeout: Duration, clock: &'a dyn Clock, sleeper: &'a dyn Sleeper) -> Self {
        let deadline = clock.now().checked_add(timeout).unwrap_or(Timestamp::MAX);
        Self::until(deadline, clock, sleeper)
    }

    /// Tells `observer` of each attempt that was refused and is to be repeated, to show who is waited for.
    #[must_use]
    pub fn on_refusal(mut self, observer: &'a (dyn Fn(&Error) + Sync)) -> Self {
        self.refused = Some(observer);
        self
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("deadline", &self.until.map(|until| until.deadline)).finish()
    }
}

/// Takes the lock, waiting for others as `waiting` says, with [`LOCK_WAITS`] between attempts.
///
/// A refusal because of a race with a holder who has just released is repeated at once. The same `info` is used for every
/// attempt, and an attempt is never cut off by the deadline.
///
/// # Errors
///
/// The last refusal when the deadline has come; any error that waiting does not mend, at once.
pub async fn lock_with(
    locker: &(impl Locker + ?Sized),
    info: &LockInfo,
    waiting: Waiting<'_>,
) -> Result<Option<LockGrant>> {
    let mut waits = LOCK_WAITS;
    let mut races = 0;
    loop {
        let error = match locker.lock(info).await {
            Ok(grant) => return Ok(grant),
            Err(error) => error,
        };
        let Some((refusal, until)) = refusal(&error).zip(waiting.until) else { return Err(error) };
        let left = until.deadline.duration_since(until.clock.now()).unwrap_or_default();
        if left.is_zero() {
            return Err(error);
        }
        if let Some(observer) = waiting.refused {
            observer(&error);
        }
        races = if refusal.retriable_at_once() { races + 1 } else { 0 };
        if (1..=MOST_RACES).contains(&races) {
            continue;
        }
        let holder = refusal.holder().map(|holder| holder.id.as_str());
        let wait = waits.wait();
        let delay = wait.min(left);
        debug!(lock = info.id.as_str(), holder, delay = delay.as_secs_f64(), "waiting for the lock");
        until.sleeper.sleep(delay).await;
        if wait >= left {
            return Err(error);
        }
    }
}

/// The refusal of a lock that is worth waiting for, which other errors may be wrapped around.
fn refusal(error: &Error) -> Option<&Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.kind() == ErrorKind::Locked {
            return Some(error).filter(|error| error.retriable());
        }
        next = std::error::Error::source(error).and_then(Error::find);
    }
    None
}
