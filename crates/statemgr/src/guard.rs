//! A lock as a value that must be released.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_common::Timestamp;

use crate::error::{Error, ErrorKind, Result};
use crate::holder::LockGrant;
use crate::lock_info::{LockId, LockInfo};
use crate::traits::Locker;
use crate::wait::{Waiting, lock_with};

/// A held lock. [`release`](Self::release) it: dropping cannot, since that would have to wait for the store.
///
/// A guard that is dropped leaves the lock as it is and tells its [`OnAbandon`] how to free it.
#[must_use = "a lock that is not released keeps everybody out"]
pub struct LockGuard {
    locker: Arc<dyn Locker>,
    info: LockInfo,
    status: Status,
    on_abandon: Arc<dyn OnAbandon>,
}

enum Status {
    /// Asked for and not answered: it may be held.
    Asked,
    Held(LockGrant),
    /// Released, refused, or never there to be held.
    Free,
}

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

/// A lock that could not be released. Dropping it abandons the lock.
#[derive(Debug, thiserror::Error)]
#[error("cannot release the lock {} of {}, free it by force with that id if trying again does not help", guard.id(), guard.locker)]
pub struct ReleaseError {
    source: Error,
    guard: Box<LockGuard>,
}

impl LockGuard {
    /// Takes the lock, waiting as `waiting` says. Where nothing can be locked, the guard holds nothing.
    ///
    /// # Errors
    ///
    /// Those of [`lock_with`].
    pub async fn acquire(
        locker: Arc<dyn Locker>,
        info: LockInfo,
        waiting: Waiting<'_>,
        on_abandon: Arc<dyn OnAbandon>,
    ) -> Result<Self> {
        // The guard exists before the lock does, so that nobody who stops waiting leaves a lock behind unheard of.
        let mut guard = Self { locker, info, status: Status::Asked, on_abandon };
        let outcome = lock_with(&*guard.locker, &guard.info, waiting).await;
        match outcome {
            Ok(Some(grant)) => guard.status = Status::Held(grant),
            Ok(None) => guard.status = Status::Free,
            Err(error) => {
                if error.kind() != ErrorKind::Ambiguous {
                    guard.status = Status::Free;
                }
                return Err(error);
            }
        }
        Ok(guard)
    }

    /// What was granted; `None` where nothing can be locked.
    pub fn grant(&self) -> Option<&LockGrant> {
        match &self.status {
            Status::Held(grant) => Some(grant),
            _ => None,
        }
    }

    /// Prolongs a lock that ends by itself; does nothing to one that does not.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::renew`](crate::StateStore::renew).
    pub async fn renew(&mut self) -> Result<()> {
        if let Status::Held(grant) = &mut self.status
            && grant.expires.is_some()
        {
            *grant = self.locker.renew(&grant.id).await?;
        }
        Ok(())
    }

    /// Releases the lock.
    ///
    /// # Errors
    ///
    /// When the store does not release it. The error has the guard, for another attempt.
    pub async fn release(mut self) -> Result<(), ReleaseError> {
        let Status::Held(grant) = &self.status else { return Ok(()) };
        match self.locker.unlock(&grant.id).await {
            Ok(()) => {
                self.status = Status::Free;
                Ok(())
            }
            Err(source) => {
                // A lock that was lost or is not there is not held by this guard, so there is nothing to free.
                if matches!(source.kind(), ErrorKind::LockLost | ErrorKind::NotFound) {
                    self.status = Status::Free;
                }
                Err(ReleaseError { source, guard: Box::new(self) })
            }
        }
    }

    fn id(&self) -> &LockId {
        self.grant().map_or(&self.info.id, |grant| &grant.id)
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        let (certain, expires) = match &self.status {
            Status::Free => return,
            Status::Asked => (false, None),
            Status::Held(grant) => (true, grant.expires),
        };
        self.on_abandon.abandoned(AbandonedLock {
            target: self.locker.to_string(),
            id: self.id().clone(),
            info: self.info.clone(),
            expires,
            certain,
        });
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LockGuard");
        shown.field("target", &format_args!("{}", self.locker)).field("id", self.id()).finish_non_exhaustive()
    }
}

impl ReleaseError {
    /// Why it could not be released.
    pub fn error(&self) -> &Error {
        &self.source
    }

    /// The guard, for another attempt.
    pub fn into_guard(self) -> LockGuard {
        *self.guard
    }
}

impl fmt::Display for AbandonedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, id, info, expires, certain } = self;
        let held = if *certain { "was not released" } else { "was asked for and may be held" };
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
