//! A lock as a value that must be released.

mod abandoned;
mod catch;
mod held;
mod renewal;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use groundstate_common::{Clock, Sleeper};

pub use abandoned::{AbandonedLock, AbandonedLocks, OnAbandon};
pub use catch::catch_panic;
pub(crate) use held::is_loss;
pub use renewal::Renewal;

use crate::error::{Error, ErrorKind, Result};
use crate::guard::held::{Held, Status};
use crate::holder::LockGrant;
use crate::lock_info::{LockId, LockInfo};
use crate::traits::Locker;
use crate::wait::{Waiting, lock_with};

/// A held lock. [`release`](Self::release) it: dropping cannot, since that would have to wait for the store.
///
/// A guard that is dropped leaves the lock as it is and tells its [`OnAbandon`] how to free it. A lock with a lease ends
/// unless it is renewed: [`renewal`](Self::renewal) does that in the background, [`hold_during`](Self::hold_during)
/// for as long as some work takes.
///
/// ```
/// use std::sync::Arc;
/// use groundstate_common::{FixedClock, SequenceIds, Timestamp};
/// use groundstate_statemgr::{AbandonedLocks, LockGuard, Manager, ManagerOptions, SharedMemory, Waiting, write_and_persist};
/// use groundstate_states::State;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
/// let store = Arc::new(SharedMemory::new("prod").open());
/// let ids = Arc::new(SequenceIds::new());
/// let manager = Arc::new(Manager::new(store, clock.clone(), ids, ManagerOptions::default()));
///
/// let abandoned = Arc::new(AbandonedLocks::new());
/// let info = manager.lock_info("OperationTypeApply")?;
/// let guard = LockGuard::acquire(manager.clone(), info, Waiting::not_at_all(), abandoned.clone()).await?;
/// let (written, kept) = guard.hold_during(write_and_persist(&*manager, &State::new()), &*clock, &*clock).await;
/// written?;
/// kept?;
/// guard.release().await?;
/// assert!(abandoned.take().is_empty());
/// # Ok(())
/// # }
/// ```
#[must_use = "a lock that is not released keeps every other client out"]
pub struct LockGuard {
    held: Arc<Held>,
    on_abandon: Arc<dyn OnAbandon>,
}

/// A lock that could not be released, or was lost before. Dropping it abandons a lock that is still held.
#[derive(Debug)]
pub struct ReleaseError {
    source: Error,
    guard: Box<LockGuard>,
    /// The id of the lock that was held, which the guard forgets when the lock is lost.
    id: LockId,
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
        // The guard exists before the lock does, so that a caller who stops waiting leaves no lock behind unnoticed.
        let guard = Self { held: Arc::new(Held::new(locker, info)), on_abandon };
        match lock_with(&*guard.held.locker, &guard.held.info, waiting).await {
            Ok(Some(grant)) => guard.held.set(Status::Held(grant)),
            Ok(None) => guard.held.set(Status::Free),
            Err(error) => {
                if error.kind() != ErrorKind::Ambiguous {
                    guard.held.set(Status::Free);
                }
                return Err(error);
            }
        }
        Ok(guard)
    }

    /// What was granted, and prolonged since; `None` where nothing can be locked, and after the lock was lost.
    pub fn grant(&self) -> Option<LockGrant> {
        self.held.grant()
    }

    /// Prolongs a lock that ends by itself, now; does nothing to one that does not.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::renew`](crate::StateStore::renew). After `LockLost` the guard holds nothing any more.
    pub async fn renew(&self) -> Result<()> {
        self.held.renew().await
    }

    /// A task that prolongs the lock whenever a third of its time is over, for as long as the guard lives.
    ///
    /// Give [`Renewal::run`] to the program's runtime, in a task of its own.
    pub fn renewal(&self, clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>) -> Renewal {
        Renewal::new(Arc::clone(&self.held), clock, sleeper)
    }

    /// Does `work`, prolonging the lock meanwhile as [`renewal`](Self::renewal) does.
    ///
    /// Gives the work's result, and whether the lock was kept to its end. Losing the lock does not cut the work off: half of
    /// it may be done. Its writes are refused from then on where the store has fencing tokens.
    pub async fn hold_during<T>(
        &self,
        work: impl Future<Output = T>,
        clock: &dyn Clock,
        sleeper: &dyn Sleeper,
    ) -> (T, Result<()>) {
        let (mut work, mut renewal) = (pin!(work), pin!(renewal::keep(&self.held, clock, sleeper)));
        let mut kept = None;
        let done = std::future::poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            if kept.is_none()
                && let Poll::Ready(outcome) = renewal.as_mut().poll(context)
            {
                kept = Some(outcome);
            }
            Poll::Pending
        })
        .await;
        let kept = match kept {
            Some(kept) => kept,
            // The whole process was paused, so the lock could not be renewed.
            None if self.held.is_over(clock.now()) => self.renew().await,
            None => Ok(()),
        };
        (done, kept)
    }

    /// Releases the lock, and ends its renewals.
    ///
    /// # Errors
    ///
    /// When the store does not release it. The error has the guard, for another attempt.
    pub async fn release(self) -> Result<(), ReleaseError> {
        let Some(id) = self.held.begin_release() else { return Ok(()) };
        match self.held.locker.unlock(&id).await {
            Ok(()) => {
                self.held.set(Status::Free);
                Ok(())
            }
            Err(source) => {
                // A lock that was lost or is not there is not held by this guard, so there is nothing to free.
                if is_loss(source.kind()) {
                    self.held.set(Status::Free);
                } else {
                    self.held.reopen();
                }
                Err(ReleaseError { source, guard: Box::new(self), id })
            }
        }
    }

    fn id(&self) -> LockId {
        self.held.id()
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        if let Some(lock) = self.held.abandon() {
            self.on_abandon.abandoned(lock);
        }
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (target, id) = (&self.held.locker, self.id());
        let mut shown = f.debug_struct("LockGuard");
        shown.field("target", &format_args!("{target}")).field("id", &id).finish_non_exhaustive()
    }
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, target) = (&self.id, &self.guard.held.locker);
        if self.is_lost() {
            return write!(f, "the lock {id} of {target} was lost while it was held");
        }
        write!(f, "cannot release the lock {id} of {target}")?;
        f.write_str(", free it by force with that id if trying again does not help")
    }
}

impl std::error::Error for ReleaseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl ReleaseError {
    /// Whether the lock was lost before: there is nothing to free, and a lock that is in force belongs to another holder.
    pub fn is_lost(&self) -> bool {
        is_loss(self.source.kind())
    }

    /// The id that frees the lock, if it is still held.
    pub fn id(&self) -> &LockId {
        &self.id
    }

    /// Why it could not be released.
    pub fn error(&self) -> &Error {
        &self.source
    }

    /// The guard, for another attempt.
    pub fn into_guard(self) -> LockGuard {
        *self.guard
    }
}
