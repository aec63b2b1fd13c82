//! A store that is slow, fails and loses answers as a seed decides, and the conditions that are made of it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result, Retry, RetryPolicy,
    Sleeper, StateStore, Stored, Version, WriteOptions,
};

use crate::executor::{BoxFuture, abandon_after, yield_now};
use crate::rng::Rng;

/// Under which conditions the cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Conditions {
    /// The store as it is.
    Calm,
    /// Every call lets others run before its effect and after it.
    Latency,
    /// Calls fail before their effect, answers to reads get lost, and clients ask again.
    Errors,
    /// Reads are given up half way, and asked again.
    Stops,
}

impl Conditions {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Calm, Self::Latency, Self::Errors, Self::Stops];

    /// The name: `calm`, `latency`, `errors` or `stops`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Latency => "latency",
            Self::Errors => "errors",
            Self::Stops => "stops",
        }
    }

    /// The conditions of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|conditions| conditions.name() == name)
    }

    /// The store under these conditions.
    pub(crate) fn over(self, store: Arc<dyn StateStore>, rng: Rng) -> Arc<dyn StateStore> {
        match self {
            Self::Calm => store,
            Self::Latency => Arc::new(Faulty::with(store, Faults::none().latency(3), rng)),
            Self::Stops => Arc::new(Faulty::with(store, Faults::none().latency(2).abandon(400), rng)),
            Self::Errors => {
                let faults = Faults::none().latency(1).refuse(250).lose_reads(150);
                let policy = RetryPolicy::default().attempts(40).delays(Duration::ZERO, Duration::ZERO);
                Arc::new(Retry::new(Faulty::with(store, faults, rng), policy, Arc::new(AtOnce)))
            }
        }
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Lets no time pass, only others run.
#[derive(Debug)]
struct AtOnce;

#[async_trait]
impl Sleeper for AtOnce {
    async fn sleep(&self, _: Duration) {
        yield_now().await;
    }
}

/// What goes wrong, and how often: numbers are calls in a thousand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// The most times that a call lets others run before its effect, and again after it.
    pub latency: u8,
    /// Calls that fail before their effect, with `Unavailable`.
    pub refuse: u16,
    /// Reads whose answer gets lost, which is `Unavailable` too.
    pub lose_reads: u16,
    /// Changes whose answer gets lost: they have happened, and the caller is told `Ambiguous`.
    pub lose_changes: u16,
    /// Reads that are dropped half way and asked again.
    pub abandon: u16,
}

impl Faults {
    /// Nothing goes wrong.
    pub const fn none() -> Self {
        Self { latency: 0, refuse: 0, lose_reads: 0, lose_changes: 0, abandon: 0 }
    }

    /// Sets how often a call lets others run.
    #[must_use]
    pub const fn latency(mut self, most: u8) -> Self {
        self.latency = most;
        self
    }

    /// Sets how many calls fail before their effect.
    #[must_use]
    pub const fn refuse(mut self, per_mille: u16) -> Self {
        self.refuse = per_mille;
        self
    }

    /// Sets how many answers to reads get lost.
    #[must_use]
    pub const fn lose_reads(mut self, per_mille: u16) -> Self {
        self.lose_reads = per_mille;
        self
    }

    /// Sets how many answers to changes get lost.
    #[must_use]
    pub const fn lose_changes(mut self, per_mille: u16) -> Self {
        self.lose_changes = per_mille;
        self
    }

    /// Sets how many reads are dropped half way.
    #[must_use]
    pub const fn abandon(mut self, per_mille: u16) -> Self {
        self.abandon = per_mille;
        self
    }
}

/// A store with faults. The same seed gives the same faults to the same calls.
///
/// ```
/// use groundstate_conformance::{Faults, Faulty, block_on};
/// use groundstate_statemgr::{ErrorKind, SharedMemory, StateStore, WriteOptions};
///
/// let place = SharedMemory::new("prod");
/// let store = Faulty::new(place.open(), Faults::none().lose_changes(1000), 7);
/// let error = block_on(store.write("{}".into(), &WriteOptions::any())).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Ambiguous);
/// assert!(block_on(place.open().read())?.is_some(), "it was written nevertheless");
/// # Ok::<(), groundstate_statemgr::Error>(())
/// ```
#[derive(Debug)]
pub struct Faulty<S> {
    store: S,
    faults: Faults,
    rng: Mutex<Rng>,
}

impl<S: StateStore> Faulty<S> {
    /// The store, with these faults at places that the seed decides.
    pub fn new(store: S, faults: Faults, seed: u64) -> Self {
        Self::with(store, faults, Rng::new(seed))
    }

    pub(crate) fn with(store: S, faults: Faults, rng: Rng) -> Self {
        Self { store, faults, rng: Mutex::new(rng) }
    }

    fn roll<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn wait(&self) {
        for _ in 0..self.roll(|rng| rng.below(usize::from(self.faults.latency) + 1)) {
            yield_now().await;
        }
    }

    async fn before(&self, op: Op) -> Result<()> {
        self.wait().await;
        if self.roll(|rng| rng.chance(self.faults.refuse)) {
            let message = "the request was refused, as the test wants it";
            return Err(Error::new(ErrorKind::Unavailable, op, &self.store).because(message));
        }
        Ok(())
    }

    /// Calls something that changes nothing, so that it can be given up and repeated.
    async fn look<'a, T>(
        &'a self,
        op: Op,
        call: impl Fn() -> BoxFuture<'a, Result<T>> + Send + Sync + 'a,
    ) -> Result<T>
    where
        T: Send + 'a,
    {
        self.before(op).await?;
        while self.roll(|rng| rng.chance(self.faults.abandon)) {
            let waits = 1 + self.roll(|rng| rng.below(4));
            let slow: BoxFuture<'_, Result<T>> = Box::pin(async {
                self.wait().await;
                call().await
            });
            if let Some(outcome) = abandon_after(slow, waits).await {
                return outcome;
            }
        }
        let outcome = call().await;
        self.wait().await;
        if outcome.is_ok() && self.roll(|rng| rng.chance(self.faults.lose_reads)) {
            let message = "the answer got lost, as the test wants it";
            return Err(Error::new(ErrorKind::Unavailable, op, &self.store).because(message));
        }
        outcome
    }

    async fn change<T: Send>(&self, op: Op, call: BoxFuture<'_, Result<T>>) -> Result<T> {
        self.before(op).await?;
        let outcome = call.await;
        self.wait().await;
        if outcome.is_ok() && self.roll(|rng| rng.chance(self.faults.lose_changes)) {
            let message = "the answer got lost, as the test wants it";
            return Err(Error::new(ErrorKind::Ambiguous, op, &self.store).because(message));
        }
        outcome
    }
}

impl<S: fmt::Display> fmt::Display for Faulty<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: StateStore> StateStore for Faulty<S> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn lock_name(&self) -> String {
        self.store.lock_name()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        self.look(Op::Read, || self.store.read()).await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.change(Op::Write, self.store.write(bytes, options)).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.change(Op::Delete, self.store.delete(options)).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        self.change(Op::Lock, self.store.lock(info)).await
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        self.change(Op::RenewLock, self.store.renew(id)).await
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.change(Op::Unlock, self.store.unlock(id)).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.change(Op::ForceUnlock, self.store.force_unlock(id)).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.look(Op::FindHolder, || self.store.lock_holder()).await
    }
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::{ErrorKind, SharedMemory, StateStore, WriteOptions};

    use super::{Conditions, Faults, Faulty};
    use crate::executor::block_on;
    use bytes::Bytes;

    fn kinds(faults: Faults, seed: u64) -> Vec<Option<ErrorKind>> {
        let store = Faulty::new(SharedMemory::new("a").open(), faults, seed);
        let mut kinds = Vec::new();
        for _ in 0..20 {
            kinds.push(
                block_on(store.write(Bytes::from_static(b"a"), &WriteOptions::any())).err().map(|e| e.kind()),
            );
            kinds.push(block_on(store.read()).err().map(|e| e.kind()));
        }
        kinds
    }

    #[test]
    fn a_seed_gives_the_same_faults_again() {
        let faults = Faults::none().latency(2).refuse(300).lose_reads(300).lose_changes(300);
        assert_eq!(kinds(faults, 5), kinds(faults, 5));
        assert_ne!(kinds(faults, 5), kinds(faults, 6));
        for kind in [None, Some(ErrorKind::Unavailable), Some(ErrorKind::Ambiguous)] {
            assert!(kinds(faults, 5).contains(&kind), "{kind:?}");
        }
    }

    #[test]
    fn a_refused_write_has_no_effect_and_one_whose_answer_is_lost_has() {
        for (faults, stored) in
            [(Faults::none().refuse(1000), false), (Faults::none().lose_changes(1000), true)]
        {
            let place = SharedMemory::new("a");
            let store = Faulty::new(place.open(), faults, 1);
            assert!(block_on(store.write(Bytes::from_static(b"a"), &WriteOptions::any())).is_err());
            assert_eq!(block_on(place.open().read()).unwrap().is_some(), stored);
        }
    }

    #[test]
    fn conditions_are_found_by_their_names() {
        for conditions in Conditions::ALL {
            assert_eq!(Conditions::find(conditions.name()), Some(conditions));
        }
        assert_eq!(Conditions::find("storm"), None);
    }
}
