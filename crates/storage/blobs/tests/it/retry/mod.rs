//! A store that is asked again: which errors are repeated, how long it waits, and what it makes of lost answers.

mod deletions;
mod leases;
mod waits;
mod writes;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs::{
    BlobStore, BlobVersion, Context, Key, LeaseId, MemoryBlobs, PutOptions, Retry, RetryPolicy,
};
use groundstate_common::{FixedClock, IdSource, IdSourceError, Sleeper, Timestamp};
use groundstate_conformance::{FaultyBlobs, block_on};

/// One random byte, repeated, or a generator that fails.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) Option<u8>);

impl IdSource for Dice {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), IdSourceError> {
        let byte = self.0.ok_or_else(|| IdSourceError::new("no entropy"))?;
        bytes.fill(byte);
        Ok(())
    }
}

/// A sleeper that writes down what it is asked for and wakes at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits(Arc<Mutex<Vec<Duration>>>);

impl Waits {
    pub(crate) fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Sleeper for Waits {
    async fn sleep(&self, duration: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(duration);
    }
}

/// The world of a store that is asked again, with waits that are written down and no luck in them.
pub(crate) fn context(waits: &Waits, dice: Option<u8>) -> Context {
    let clock = FixedClock::new(Timestamp::UNIX_EPOCH);
    Context::new(Arc::new(clock), Arc::new(waits.clone()), Arc::new(Dice(dice)))
}

/// A store with planned faults and the one that asks it again, three times at most.
pub(crate) fn stores(blobs: MemoryBlobs) -> (FaultyBlobs, Retry<FaultyBlobs>) {
    with_attempts(blobs, 3)
}

/// The same with so many attempts.
pub(crate) fn with_attempts(blobs: MemoryBlobs, attempts: u32) -> (FaultyBlobs, Retry<FaultyBlobs>) {
    let faulty = FaultyBlobs::new(blobs);
    let policy = RetryPolicy::default().attempts(attempts);
    (faulty.clone(), Retry::new(faulty, policy, context(&Waits::default(), Some(0))))
}

pub(crate) fn key() -> Key {
    Key::parse("a").expect("the name is short and plain")
}

pub(crate) fn lease(last: char) -> LeaseId {
    LeaseId::parse(&format!("681fbb37-7302-b5fd-bac8-6224f8cc518{last}")).expect("the id is a GUID")
}

/// Stores a content past all faults.
pub(crate) fn seed(faulty: &FaultyBlobs, text: &'static str) -> BlobVersion {
    block_on(faulty.inner().put(&key(), text.into(), &PutOptions::default())).expect("memory does not fail")
}
