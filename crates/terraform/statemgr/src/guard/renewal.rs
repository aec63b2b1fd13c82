//! Prolonging a lock while its guard lives.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use groundstate_common::{Clock, Sleeper};

use crate::error::Result;
use crate::guard::held::{Held, is_loss};

/// The shortest wait between two attempts, for leases that are nearly over.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);

/// Prolongs the lock of a [`LockGuard`](crate::LockGuard), for as long as that lives.
#[must_use = "nothing is prolonged until it runs"]
pub struct Renewal {
    held: Arc<Held>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
}

impl std::fmt::Debug for Renewal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Renewal");
        shown.field("target", &format_args!("{}", self.held.locker)).finish_non_exhaustive()
    }
}

impl Renewal {
    pub(super) fn new(held: Arc<Held>, clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { held, clock, sleeper }
    }

    /// Runs until the guard is released or dropped; ends at once if the lock does not end by itself.
    ///
    /// # Errors
    ///
    /// `LockLost` as soon as the lock is known to be lost, and whatever kept the store from prolonging it until its time was
    /// over. Stop the work that needed the lock, or let its next write find out.
    pub async fn run(self) -> Result<()> {
        keep(&self.held, &*self.clock, &*self.sleeper).await
    }
}

/// Prolongs the lock whenever a third of the time that is left has passed, so that two attempts may fail.
pub(super) async fn keep(held: &Held, clock: &dyn Clock, sleeper: &dyn Sleeper) -> Result<()> {
    while let Some(end) = held.grant().and_then(|grant| grant.expires) {
        let left = end.duration_since(clock.now()).unwrap_or_default();
        if !sleep_unless_ended(held, sleeper, (left / 3).max(SHORTEST_PAUSE)).await {
            break;
        }
        if let Err(error) = held.renew().await
            && (is_loss(error.kind()) || clock.now() >= end)
        {
            return Err(error);
        }
        // Sleepers of tests return at once; whatever else the task does has its turn nevertheless.
        yield_once().await;
    }
    held.kept()
}

/// Whether the guard is still there after the pause.
async fn sleep_unless_ended(held: &Held, sleeper: &dyn Sleeper, pause: Duration) -> bool {
    let mut sleep = sleeper.sleep(pause);
    poll_fn(|context| {
        if held.has_ended(context.waker()) {
            return Poll::Ready(false);
        }
        sleep.as_mut().poll(context).map(|()| {
            held.woken(context.waker());
            true
        })
    })
    .await
}

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
