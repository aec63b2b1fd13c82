//! A lock that also respects those who lock by another mechanism.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::LeaseId;
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use crate::scheme::LockScheme;

/// Takes one lock, and refuses every client while another one, which it does not take, is held.
///
/// Configurations of one state may differ: some lock by an object, some by a row of a table, and the original programs then
/// never see each other. The other lock is looked at before and after: of two who both look, at most one gets through. One
/// that does not look may still come in between the second look and the write.
#[derive(Clone, Debug)]
pub struct StrictLock {
    own: Arc<dyn LockScheme>,
    other: Arc<dyn LockScheme>,
}

impl StrictLock {
    /// Locks by `own` unless `other` is locked.
    pub fn new(own: Arc<dyn LockScheme>, other: Arc<dyn LockScheme>) -> Self {
        Self { own, other }
    }

    async fn other_is_free(&self) -> Result<()> {
        let Some(holder) = self.other.holder().await? else { return Ok(()) };
        let message = format!(
            "it is locked by another mechanism, {}, so configurations of this state differ in how they lock; it is held",
            self.other
        );
        Err(Error::locked(Op::Lock, &self.own, Some(holder)).because(message))
    }
}

impl fmt::Display for StrictLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.own, f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl LockScheme for StrictLock {
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        self.other_is_free().await?;
        let grant = self.own.lock(info).await?;
        let Err(error) = self.other_is_free().await else { return Ok(grant) };
        match self.own.unlock(&grant.id).await {
            Ok(()) => Err(error),
            Err(cleanup) if cleanup.kind() == ErrorKind::NotFound => Err(error),
            Err(cleanup) => {
                let message = format!(
                    "{error}; {} may be left behind, unlock it by force under the id {}",
                    self.own, grant.id
                );
                Err(Error::new(ErrorKind::Ambiguous, Op::Lock, self).because(message).with_source(cleanup))
            }
        }
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        match self.own.unlock(id).await {
            // What shows as the holder has to be free to be released too, also under the other mechanism.
            Err(error) if error.kind() == ErrorKind::NotFound => match self.other.unlock(id).await {
                Err(other) if other.kind() == ErrorKind::NotFound => Err(error),
                outcome => outcome,
            },
            outcome => outcome,
        }
    }

    async fn holder(&self) -> Result<Option<LockHolder>> {
        match self.own.holder().await? {
            Some(holder) => Ok(Some(holder)),
            None => self.other.holder().await,
        }
    }

    async fn verify(&self, id: &LockId) -> Result<()> {
        self.own.verify(id).await
    }

    fn lease(&self, id: &LockId) -> Option<LeaseId> {
        self.own.lease(id)
    }
}
