//! Where the time comes from.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Timestamp;

/// A source of the present time, passed to the code that needs it.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present time.
    fn now(&self) -> Timestamp;
}

impl<T: Clock + ?Sized> Clock for &T {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

impl<T: Clock + ?Sized> Clock for Arc<T> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

impl<T: Clock + ?Sized> Clock for Box<T> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// A clock that stands still until it is moved; tests and reproducible output use it.
///
/// ```
/// use std::time::Duration;
/// use groundstate_common::{Clock, FixedClock, Timestamp};
///
/// let clock = FixedClock::new(Timestamp::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clock.now().to_string(), "1970-01-01T00:01:30Z");
/// ```
#[derive(Debug)]
pub struct FixedClock(Mutex<Timestamp>);

impl FixedClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Moves the clock to `now`, forward or back.
    pub fn set(&self, now: Timestamp) {
        // The guarded value is plain data, so a panic elsewhere cannot have left it half written.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Moves the clock forward by `duration`; it stops at [`Timestamp::MAX`].
    pub fn advance(&self, duration: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add(duration).unwrap_or(Timestamp::MAX);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
