//! Removing the locks of a stack, of every holder.

use groundstate_blobs::{BlobStore, DeleteOptions, ErrorKind as BlobKind};

use super::found::{FoundLock, found_lease};
use super::lease;
use crate::{Backend, Error, ErrorKind, Layout, Op, Result, Stack, traced};

/// What [`Stack::cancel`] did.
#[derive(Debug, Default)]
#[non_exhaustive]
#[must_use = "a lock that could not be removed is named here only"]
pub struct Cancelled {
    /// The locks that were removed, as they were before. Empty if nothing locked the stack.
    pub removed: Vec<FoundLock>,
    /// The locks that are left, and why.
    pub failed: Vec<(FoundLock, Error)>,
}

impl Stack {
    /// Removes every lock of this stack, also what cannot be read, and frees the lease. The stack need not exist. Holders of this
    /// library notice before their next write; `pulumi` goes on to the end of its update.
    ///
    /// A lock that vanishes meanwhile is no error, and the others are removed nevertheless. A lock that cannot be removed is in
    /// [`Cancelled::failed`].
    ///
    /// # Errors
    ///
    /// Those of listing and reading the locks; then nothing was removed.
    pub async fn cancel(&self) -> Result<Cancelled> {
        traced::run("cancel", self, self.remove_locks()).await
    }

    /// Removes the lease of a stack that does not exist any more, unless a process holds it. `true` if it was removed.
    ///
    /// The tokens of a new lease begin at the time, which is above all that were granted before.
    ///
    /// # Errors
    ///
    /// Errors of requests.
    pub async fn forget_lease(&self) -> Result<bool> {
        let work = async {
            if !self.backend().store().capabilities().conditional_put || self.exists().await? {
                return Ok(false);
            }
            let key =
                self.backend().key(Op::Lock, &self.backend().layout().lease(self.checked(Op::Lock)?))?;
            lease::remove_free(self.backend(), &key).await
        };
        traced::run("forget the lease of", self, work).await
    }

    async fn remove_locks(&self) -> Result<Cancelled> {
        let mut cancelled = Cancelled::default();
        for lock in self.locks().await? {
            match remove(self.backend(), &lock).await {
                Ok(()) => cancelled.removed.push(lock),
                Err(error) => cancelled.failed.push((lock, error)),
            }
        }
        Ok(cancelled)
    }
}

async fn remove(backend: &Backend, lock: &FoundLock) -> Result<()> {
    let key = backend.key(Op::Lock, &lock.key)?;
    if lock.key.starts_with(Layout::LEASES) {
        return free(backend, lock, &key).await;
    }
    match backend.store().delete(&key, &DeleteOptions::default()).await {
        Err(error) if error.kind() != BlobKind::NotFound => {
            Err(Error::from_store(Op::Lock, &lock.place, error))
        }
        _ => Ok(()),
    }
}

/// A holder may renew the lease at the same time; the second attempt then finds what it wrote.
async fn free(backend: &Backend, lock: &FoundLock, key: &groundstate_blobs::Key) -> Result<()> {
    for _ in 0..3 {
        if lease::clear(backend, key).await? || found_lease(backend, key).await?.is_none() {
            return Ok(());
        }
    }
    let error = Error::new(ErrorKind::Changed, Op::Lock, &lock.place);
    Err(error.because("its holder renewed it at the same time").next_step("cancel again"))
}
