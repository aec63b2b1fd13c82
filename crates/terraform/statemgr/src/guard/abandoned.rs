//! Locks that were not released, and who is told of them.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use groundstate_common::Timestamp;

use crate::lock_info::{LockId, LockInfo};

/// Hears of locks that were not released.
pub trait OnAbandon: Send + Sync {
    /// A guard was dropped without being released. This runs inside `drop`, so it neither waits nor panics.
    fn abandoned(&self, lock: AbandonedLock);
}

/// A lock that its guard did not release; `Display` says how to free it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AbandonedLock {
    /// The place that is locked.
    pub target: String,
    /// The id that frees it.
    pub id: LockId,
    /// What it was taken with.
    pub info: LockInfo,
    /// When it ends by itself.
    pub expires: Option<Timestamp>,
    /// Whether it is known to be held; otherwise the store's answer is missing.
    pub certain: bool,
}

/// Collects abandoned locks, to be reported later.
#[derive(Debug, Default)]
pub struct AbandonedLocks(Mutex<Vec<AbandonedLock>>);

impl fmt::Display for AbandonedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, id, info, expires, certain } = self;
        let held = if *certain { "was not released" } else { "may still be held" };
        write!(f, "the lock of {target}, taken at {} for {:?}, {held}: ", info.created, info.operation)?;
        write!(f, "free it by force with the lock id {id}")?;
        match expires {
            Some(end) => write!(f, ", or wait until {end}"),
            None => Ok(()),
        }
    }
}

impl AbandonedLocks {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes out what was collected.
    pub fn take(&self) -> Vec<AbandonedLock> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OnAbandon for AbandonedLocks {
    fn abandoned(&self, lock: AbandonedLock) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(lock);
    }
}

impl<F: Fn(AbandonedLock) + Send + Sync> OnAbandon for F {
    fn abandoned(&self, lock: AbandonedLock) {
        self(lock);
    }
}
