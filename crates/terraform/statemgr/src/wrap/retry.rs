//! A store that is asked again when it does not answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{Backoff, Sleeper};
use tracing::debug;

use crate::capabilities::Capabilities;
use crate::error::{ErrorKind, Result};
use crate::holder::{LockGrant, LockHolder};
use crate::lock_info::{LockId, LockInfo};
use crate::store::{StateStore, Stored, Version, WriteOptions};

/// How often to ask again, and how long to wait before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of attempts, the first included; zero counts as one.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles each time.
    pub first_delay: Duration,
    /// The longest wait.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    /// Five attempts in about eight seconds.
    fn default() -> Self {
        Self { attempts: 5, first_delay: Duration::from_millis(500), longest_delay: Duration::from_secs(8) }
    }
}

impl RetryPolicy {
    /// Sets the number of attempts.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the first and the longest wait.
    #[must_use]
    pub fn delays(mut self, first: Duration, longest: Duration) -> Self {
        self.first_delay = first;
        self.longest_delay = longest;
        self
    }
}

/// Repeats what fails because the store is `Unavailable`.
///
/// By the contract nothing has happened then, so every operation can be repeated. What is `Ambiguous` may have happened
/// and is passed on: the manager finds out by reading.
#[derive(Debug)]
pub struct Retry<S> {
    store: S,
    policy: RetryPolicy,
    sleeper: Arc<dyn Sleeper>,
}

impl<S: StateStore> Retry<S> {
    /// The store, asked again as the policy says.
    pub fn new(store: S, policy: RetryPolicy, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { store, policy, sleeper }
    }
}

impl<S: fmt::Display> fmt::Display for Retry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

/// Evaluates the call until it gives something other than `Unavailable`, or the attempts are used up.
macro_rules! again {
    ($self:ident, $call:expr) => {{
        let waits = Backoff::new($self.policy.first_delay, $self.policy.longest_delay);
        for (attempt, wait) in (2..=$self.policy.attempts).zip(waits) {
            match $call.await {
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    debug!(attempt, delay = wait.as_secs_f64(), error = ?error.kind(), "waiting before another attempt");
                    $self.sleeper.sleep(wait).await;
                }
                outcome => return outcome,
            }
        }
        $call.await
    }};
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: StateStore> StateStore for Retry<S> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn lock_name(&self) -> String {
        self.store.lock_name()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        again!(self, self.store.read())
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        again!(self, self.store.write(bytes.clone(), options))
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        again!(self, self.store.delete(options))
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        again!(self, self.store.lock(info))
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        again!(self, self.store.renew(id))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        again!(self, self.store.unlock(id))
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        again!(self, self.store.force_unlock(id))
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        again!(self, self.store.lock_holder())
    }
}
