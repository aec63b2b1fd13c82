//! Letting time pass.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::FixedClock;

/// Lets time pass; handed in, because a library does not choose the program's runtime.
///
/// The method is written as `#[async_trait]` would write it, so implementers may use that macro; this crate does without.
///
/// ```
/// use std::time::Duration;
/// use groundstate_common::{Clock, FixedClock, Sleeper, Timestamp};
///
/// # fn ready(future: impl Future) { std::pin::pin!(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready(); }
/// let clock = FixedClock::new(Timestamp::UNIX_EPOCH);
/// ready(clock.sleep(Duration::from_secs(5)));
/// assert_eq!(clock.now().to_string(), "1970-01-01T00:00:05Z");
/// ```
pub trait Sleeper: std::fmt::Debug + Send + Sync {
    /// Returns when `duration` has passed.
    fn sleep<'life0, 'async_trait>(
        &'life0 self,
        duration: Duration,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait;
}

impl<T: Sleeper + ?Sized> Sleeper for Arc<T> {
    fn sleep<'life0, 'async_trait>(
        &'life0 self,
        duration: Duration,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        (**self).sleep(duration)
    }
}

impl Sleeper for FixedClock {
    /// Moves the clock forward and returns at once: time passes only for those who wait for it.
    fn sleep<'life0, 'async_trait>(
        &'life0 self,
        duration: Duration,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        self.advance(duration);
        Box::pin(std::future::ready(()))
    }
}
