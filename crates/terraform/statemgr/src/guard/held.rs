//! What a guard and its renewals share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use groundstate_common::Timestamp;

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::abandoned::AbandonedLock;
use crate::holder::LockGrant;
use crate::lock_info::{LockId, LockInfo};
use crate::traits::Locker;

pub(super) struct Held {
    pub(super) locker: Arc<dyn Locker>,
    pub(super) info: LockInfo,
    inner: Mutex<Inner>,
}

struct Inner {
    status: Status,
    /// The guard is being released or is gone, so that nothing is to be prolonged.
    closing: bool,
    /// The renewals that sleep.
    sleeping: Vec<Waker>,
}

pub(super) enum Status {
    /// Asked for and not answered: it may be held.
    Asked,
    Held(LockGrant),
    /// Free, or held by another client; the release has to be sent once more.
    Lost(LockGrant),
    /// Released, refused, or never there to be held.
    Free,
}

impl Held {
    pub(super) fn new(locker: Arc<dyn Locker>, info: LockInfo) -> Self {
        let inner = Inner { status: Status::Asked, closing: false, sleeping: Vec::new() };
        Self { locker, info, inner: Mutex::new(inner) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Only plain assignments run inside, so nothing can be left half done.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, status: Status) {
        self.inner().status = status;
    }

    pub(super) fn grant(&self) -> Option<LockGrant> {
        match &self.inner().status {
            Status::Held(grant) => Some(grant.clone()),
            _ => None,
        }
    }

    /// The id that releases the lock, as far as is known.
    pub(super) fn id(&self) -> LockId {
        match &self.inner().status {
            Status::Held(grant) | Status::Lost(grant) => grant.id.clone(),
            _ => self.info.id.clone(),
        }
    }

    /// Prolongs the lock if it ends by itself.
    pub(super) async fn renew(&self) -> Result<()> {
        let Some(before) = self.grant().filter(|grant| grant.expires.is_some()) else { return self.kept() };
        let outcome = self.locker.renew(&before.id).await;
        let mut inner = self.inner();
        // A lock that was released in the meantime cannot have been prolonged, and that is no loss.
        if inner.closing {
            return Ok(());
        }
        match outcome {
            Ok(grant) => inner.status = Status::Held(grant),
            Err(error) => {
                if is_loss(error.kind()) {
                    inner.status = Status::Lost(before);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether the time that was granted has passed.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.grant().and_then(|grant| grant.expires).is_some_and(|end| now >= end)
    }

    /// Says so if the lock was lost.
    pub(super) fn kept(&self) -> Result<()> {
        match &self.inner().status {
            Status::Lost(_) => Err(Error::new(ErrorKind::LockLost, Op::RenewLock, &self.locker)),
            _ => Ok(()),
        }
    }

    /// Ends the renewals, and gives the id to release if there is something to release.
    pub(super) fn begin_release(&self) -> Option<LockId> {
        self.close();
        match &self.inner().status {
            Status::Held(grant) | Status::Lost(grant) => Some(grant.id.clone()),
            Status::Asked | Status::Free => None,
        }
    }

    /// Ends the renewals, and tells of the lock if it may still be held.
    pub(super) fn abandon(&self) -> Option<AbandonedLock> {
        // A release that was cut off may have happened.
        let releasing = self.inner().closing;
        self.close();
        let (certain, expires) = match &self.inner().status {
            Status::Free | Status::Lost(_) => return None,
            Status::Asked => (false, None),
            Status::Held(grant) => (!releasing, grant.expires),
        };
        let (id, info) = (self.id(), self.info.clone());
        Some(AbandonedLock { target: self.locker.to_string(), id, info, expires, certain })
    }

    /// Whether there is nothing to prolong any more; if there is, `waker` hears of the end.
    pub(super) fn has_ended(&self, waker: &Waker) -> bool {
        let mut inner = self.inner();
        if inner.closing || !matches!(inner.status, Status::Held(_)) {
            return true;
        }
        if !inner.sleeping.iter().any(|known| known.will_wake(waker)) {
            inner.sleeping.push(waker.clone());
        }
        false
    }

    pub(super) fn woken(&self, waker: &Waker) {
        self.inner().sleeping.retain(|known| !known.will_wake(waker));
    }

    /// The release failed, so there is something to prolong again.
    pub(super) fn reopen(&self) {
        self.inner().closing = false;
    }

    fn close(&self) {
        let sleeping = {
            let mut inner = self.inner();
            inner.closing = true;
            std::mem::take(&mut inner.sleeping)
        };
        sleeping.into_iter().for_each(Waker::wake);
    }
}

/// Whether an error of a renewal or a release means that the lock is not held any more.
pub(crate) fn is_loss(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::LockLost | ErrorKind::NotFound | ErrorKind::Locked)
}
