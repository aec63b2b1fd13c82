//! Snapshots during a run that goes on: every so often, and at once when it is to stop.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groundstate_common::{Clock, Timestamp};
use groundstate_states::State;

use crate::error::Result;
use crate::traits::{Persisted, Storage};

/// The time between intermediate snapshots, and the least that can be asked for.
pub const DEFAULT_PERSIST_INTERVAL: Duration = Duration::from_secs(20);

/// What a manager knows when it decides about an intermediate snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PersistInfo {
    /// The time between snapshots that was asked for.
    pub requested_interval: Duration,
    /// The last intermediate snapshot; before the first one, the first change.
    pub last_persist: Timestamp,
    /// The present time.
    pub now: Timestamp,
    /// The run is to stop, and may be killed at any time.
    pub force: bool,
}

impl PersistInfo {
    /// What is known at `now`.
    pub fn new(requested_interval: Duration, last_persist: Timestamp, now: Timestamp) -> Self {
        Self { requested_interval, last_persist, now, force: false }
    }

    /// Sets whether the run is to stop.
    #[must_use]
    pub fn force(mut self, yes: bool) -> Self {
        self.force = yes;
        self
    }

    /// The rule of managers without one of their own: when forced, and when the interval is over.
    pub fn is_due(&self) -> bool {
        // A clock that was set back says nothing about the time that passed, so it does not put the snapshot off.
        let over = |passed| passed >= self.requested_interval;
        self.force || self.now.duration_since(self.last_persist).is_none_or(over)
    }
}

/// A value of `TF_STATE_PERSIST_INTERVAL` that is not an interval.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PersistIntervalError {
    /// It is not a whole number of seconds.
    #[error(
        "{0:?} is not an interval between state snapshots, set TF_STATE_PERSIST_INTERVAL to whole seconds"
    )]
    NotANumber(String),
    /// It is less than the default.
    #[error("{0} seconds between state snapshots are too few, set TF_STATE_PERSIST_INTERVAL to 20 or more")]
    TooShort(i64),
}

/// The interval that the text of `TF_STATE_PERSIST_INTERVAL` asks for, which is a number of seconds; the default when it is absent or empty.
///
/// # Errors
///
/// The text is not a whole number, or less than 20.
///
/// ```
/// use groundstate_statemgr::persist_interval;
///
/// assert_eq!(persist_interval(None)?.as_secs(), 20);
/// assert_eq!(persist_interval(Some("60"))?.as_secs(), 60);
/// assert!(persist_interval(Some("5")).is_err());
/// # Ok::<(), groundstate_statemgr::PersistIntervalError>(())
/// ```
pub fn persist_interval(text: Option<&str>) -> Result<Duration, PersistIntervalError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(DEFAULT_PERSIST_INTERVAL);
    };
    let seconds: i64 =
        text.parse().map_err(|_| PersistIntervalError::NotANumber(text.chars().take(60).collect()))?;
    match u64::try_from(seconds).map(Duration::from_secs) {
        Ok(interval) if interval >= DEFAULT_PERSIST_INTERVAL => Ok(interval),
        _ => Err(PersistIntervalError::TooShort(seconds)),
    }
}

/// Hands the changes of a run to a manager, and has it persist now and then.
///
/// The first change starts the time and persists nothing by itself. After [`stop`](Self::stop) every change persists.
pub struct IntermediateSnapshots {
    manager: Arc<dyn Storage>,
    clock: Arc<dyn Clock>,
    interval: Duration,
    progress: Mutex<Progress>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    last: Option<Timestamp>,
    force: bool,
}

impl fmt::Debug for IntermediateSnapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.progress();
        let mut shown = f.debug_struct("IntermediateSnapshots");
        shown.field("interval", &self.interval).field("progress", &progress).finish_non_exhaustive()
    }
}

impl IntermediateSnapshots {
    /// Persists every `interval`; with an interval of zero only when the run stops.
    pub fn new(manager: Arc<dyn Storage>, clock: Arc<dyn Clock>, interval: Duration) -> Self {
        Self { manager, clock, interval, progress: Mutex::default() }
    }

    /// Writes the state after a change, and persists it if it is time. Gives what a persist did.
    ///
    /// # Errors
    ///
    /// Those of writing and persisting: the run cannot go on.
    pub async fn write(&self, state: &State) -> Result<Option<Persisted>> {
        self.start();
        self.manager.write_state(state)?;
        self.persist_if_due().await
    }

    /// Changes the state in place, a new one if there is none, and persists it if it is time.
    ///
    /// # Errors
    ///
    /// Those of writing and persisting: the run cannot go on.
    pub async fn mutate(&self, mut change: impl FnMut(&mut State) + Send) -> Result<Option<Persisted>> {
        self.start();
        self.manager.mutate_state(&mut |state| change(state.get_or_insert_default()))?;
        self.persist_if_due().await
    }

    /// The run is to stop: persists what there is, and from now on every change.
    ///
    /// # Errors
    ///
    /// Those of persisting. The run stops anyway, so they are to be reported only.
    pub async fn stop(&self) -> Result<Option<Persisted>> {
        self.start();
        self.lock().force = true;
        self.ask_and_persist().await
    }

    fn start(&self) {
        let now = self.clock.now();
        self.lock().last.get_or_insert(now);
    }

    async fn persist_if_due(&self) -> Result<Option<Persisted>> {
        if self.interval.is_zero() { Ok(None) } else { self.ask_and_persist().await }
    }

    async fn ask_and_persist(&self) -> Result<Option<Persisted>> {
        let Progress { last, force } = self.progress();
        let now = self.clock.now();
        let info = PersistInfo::new(self.interval, last.unwrap_or(now), now).force(force);
        if !self.manager.should_persist_intermediate_state(&info) {
            return Ok(None);
        }
        let persisted = self.manager.persist_state().await?;
        self.lock().last = Some(self.clock.now());
        Ok(Some(persisted))
    }

    fn progress(&self) -> Progress {
        *self.lock()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
