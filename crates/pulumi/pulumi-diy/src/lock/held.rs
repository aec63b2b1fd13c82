//! A lock that is held.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs::{
    BlobStore, DeleteOptions, ErrorKind as BlobKind, GetOptions, Key, Precondition, PutOptions, Role,
};
use groundstate_common::{Clock, Timestamp};

use super::lease::Lease;
use super::objects::{LockObject, bytes};
use crate::{Error, ErrorKind, Guard, Op, Result, Stack, traced};

/// The lock of a stack that this process holds. Dropping it releases nothing: call [`release`](Self::release).
#[derive(Debug)]
#[must_use = "the lock stays until it is released"]
pub struct HeldLock {
    stack: Stack,
    key: Key,
    duration: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
struct State {
    object: LockObject,
    lease: Option<Lease>,
}

impl HeldLock {
    pub(super) fn new(
        stack: Stack,
        key: Key,
        object: LockObject,
        lease: Option<Lease>,
        duration: Duration,
    ) -> Self {
        Self { stack, key, duration, state: Mutex::new(State { object, lease }) }
    }

    /// The key of the object that `pulumi` sees.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The stack that is locked.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The fencing token: greater than that of every holder before. None in a store without conditional writes, where only the
    /// protocol of `pulumi` protects the stack.
    pub fn token(&self) -> Option<u64> {
        self.state().lease.as_ref().map(|lease| lease.object.token)
    }

    /// When the lease ends, if there is one.
    pub fn expires(&self) -> Option<Timestamp> {
        self.state().lease.as_ref().map(Lease::expires)
    }

    pub(super) fn object(&self) -> LockObject {
        self.state().object.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is replaced as a whole, so a panic elsewhere cannot have left it half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> State {
        self.state().clone()
    }

    /// Runs an operation on the lock in a span that names it.
    async fn traced<T>(&self, op: &'static str, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let named = async {
            traced::lock(&self.key);
            work.await
        };
        traced::run(op, &self.stack, named).await
    }

    fn place(&self) -> String {
        self.stack.backend().place(self.key.as_str())
    }

    fn lost(&self) -> Error {
        Error::new(ErrorKind::LockLost, Op::Lock, self.place())
            .because("the lock was removed, as `pulumi cancel` does")
            .next_step("look at what the other process has done, then lock again")
    }

    /// Makes the lease last again from now, and tells other processes so in the lock. Does nothing in a store without conditional
    /// writes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LockLost`] if the lock or the lease is no longer this one; those of requests.
    pub async fn renew(&self) -> Result<()> {
        self.traced("renew", self.renewed()).await
    }

    async fn renewed(&self) -> Result<()> {
        let backend = self.stack.backend();
        let State { mut object, lease } = self.snapshot();
        let Some(lease) = lease else { return self.still_there().await };
        let now = backend.context().clock.now();
        let expires = now.checked_add(self.duration).unwrap_or(now);
        let lease = lease.renew(backend, expires).await?;
        if let Some(heartbeat) = &mut object.groundstate {
            (heartbeat.renewed, heartbeat.expires) = (now, expires);
        }
        // A lock that was removed is not brought back: what was read is the condition.
        let failed = |error| Error::from_store(Op::Lock, self.place(), error);
        let stored = backend.store().get(&self.key, &GetOptions::default().role(Role::Lock)).await;
        let stored = stored.map_err(failed)?.ok_or_else(|| self.lost())?;
        let content = bytes(&object)
            .map_err(|error| Error::new(ErrorKind::Internal, Op::Lock, self.place()).with_source(error))?;
        let options = PutOptions::expecting(Precondition::Version(stored.version().clone())).role(Role::Lock);
        match backend.store().put(&self.key, content, &options).await {
            Ok(_) => {}
            Err(error) if error.kind() == BlobKind::PreconditionFailed => self.still_there().await?,
            Err(error) => return Err(failed(error)),
        }
        *self.state() = State { object, lease: Some(lease) };
        Ok(())
    }

    async fn still_there(&self) -> Result<()> {
        let stored = self.stack.backend().store().head(&self.key).await;
        let stored = stored.map_err(|error| Error::from_store(Op::Lock, self.place(), error))?;
        stored.map(drop).ok_or_else(|| self.lost())
    }

    /// Whether less than half of the lease is left.
    fn is_due(&self, lease: &Lease) -> bool {
        let now = self.stack.backend().context().clock.now();
        lease.expires().duration_since(now).is_none_or(|left| left < self.duration / 2)
    }

    /// Fails if the lock was lost. Ask before [`release`](Self::release), which does not tell.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LockLost`] if another process removed the lock or took the lease; those of requests.
    pub async fn kept(&self) -> Result<()> {
        let work = async {
            self.still_there().await?;
            match self.snapshot().lease {
                Some(lease) => lease.check(self.stack.backend()).await,
                None => Ok(()),
            }
        };
        self.traced("look at", work).await
    }

    /// Gives the lock back. A lock that another process removed is given back already; [`kept`](Self::kept) tells.
    ///
    /// # Errors
    ///
    /// Those of requests, with the key of what is left. Both objects are tried, and the lock may be released again.
    pub async fn release(&self) -> Result<()> {
        self.traced("release", self.released()).await
    }

    async fn released(&self) -> Result<()> {
        let backend = self.stack.backend();
        let removed = backend.store().delete(&self.key, &DeleteOptions::default()).await;
        let removed = match removed {
            Err(error) if error.kind() != BlobKind::NotFound => {
                let why = format!(
                    "there was a problem deleting the lock, manual clean up may be required: {}",
                    error.message()
                );
                Err(Error::from_store(Op::Lock, self.place(), error).because(why))
            }
            _ => Ok(()),
        };
        let lease = self.snapshot().lease;
        let freed = match lease {
            Some(lease) => lease.release(backend).await,
            None => Ok(()),
        };
        removed.and(freed)
    }
}

#[async_trait]
impl Guard for HeldLock {
    /// Looks for the lock and the lease, and renews the lease in its second half.
    async fn check(&self) -> Result<()> {
        let lease = self.snapshot().lease;
        self.still_there().await?;
        match lease {
            Some(lease) if self.is_due(&lease) => self.renew().await,
            Some(lease) => lease.check(self.stack.backend()).await,
            None => Ok(()),
        }
    }
}
