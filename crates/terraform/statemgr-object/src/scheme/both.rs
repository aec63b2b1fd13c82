//! Two locks for one state, taken and released together.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groundstate_blobs::LeaseId;
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use crate::scheme::LockScheme;

/// Takes the first lock and then the second, as Terraform does with `use_lockfile` and `dynamodb_table`.
///
/// If the second is refused, the first is released again. Releasing tries both, whatever becomes of either, and begins with
/// the second: another client that takes both then never gets one without the other.
#[derive(Clone, Debug)]
pub struct BothLocks {
    first: Arc<dyn LockScheme>,
    second: Arc<dyn LockScheme>,
    /// The id under which this client holds both.
    taken: Arc<Mutex<Option<LockId>>>,
}

impl BothLocks {
    /// These two, in this order.
    pub fn new(first: Arc<dyn LockScheme>, second: Arc<dyn LockScheme>) -> Self {
        Self { first, second, taken: Arc::default() }
    }

    fn remember(&self, id: Option<LockId>) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    fn has_taken(&self, id: &LockId) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(id)
    }

    /// Releases what was taken before the second lock failed, and that one too if it may have been taken.
    async fn roll_back(&self, id: &LockId, error: Error) -> Error {
        let mut left = Vec::new();
        if error.kind() == ErrorKind::Ambiguous
            && let Err(cleanup) = self.second.unlock(id).await
            && !says_it_is_not_ours(&cleanup)
        {
            left.push(self.second.to_string());
        }
        if let Err(cleanup) = self.first.unlock(id).await
            && !says_it_is_not_ours(&cleanup)
        {
            left.push(self.first.to_string());
        }
        if left.is_empty() {
            return error;
        }
        let left = left.join(" and ");
        let message = format!("{error}; {left} may be left behind, unlock it by force under the id {id}");
        Error::new(ErrorKind::Ambiguous, Op::Lock, self).because(message).with_source(error)
    }
}

/// Whether the release failed because there was nothing of ours to release.
fn says_it_is_not_ours(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Locked)
}

impl fmt::Display for BothLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {}", self.first, self.second)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl LockScheme for BothLocks {
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        let grant = self.first.lock(info).await?;
        match self.second.lock(info).await {
            Ok(_) => {
                self.remember(Some(grant.id.clone()));
                Ok(grant)
            }
            Err(error) => Err(self.roll_back(&grant.id, error).await),
        }
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        // In the other order a client could take the first lock, be refused by the second, and meanwhile be seen as holder.
        let second = self.second.unlock(id).await;
        let first = self.first.unlock(id).await;
        let is_ours = self.has_taken(id);
        if is_ours && !matches!((&first, &second), (Err(_), Err(_))) {
            self.remember(None);
        }
        match (first, second) {
            (Ok(()), Ok(())) => Ok(()),
            // Half a lock is what a crash between the two steps leaves; with the other half gone too it is free. A client
            // that took both and finds one gone has lost it: others were let in.
            (Ok(()), Err(error)) | (Err(error), Ok(()))
                if error.kind() == ErrorKind::NotFound && !is_ours =>
            {
                Ok(())
            }
            (Ok(()), Err(error)) => Err(half(&self.first, error)),
            (Err(error), Ok(())) => Err(half(&self.second, error)),
            (Err(first), Err(second)) => Err(worse(first, second)),
        }
    }

    async fn holder(&self) -> Result<Option<LockHolder>> {
        match self.first.holder().await? {
            Some(holder) => Ok(Some(holder)),
            None => self.second.holder().await,
        }
    }

    async fn verify(&self, id: &LockId) -> Result<()> {
        self.first.verify(id).await?;
        self.second.verify(id).await
    }

    fn lease(&self, id: &LockId) -> Option<LeaseId> {
        self.first.lease(id).or_else(|| self.second.lease(id))
    }
}

/// One of the two was released, the other one not.
fn half(released: &Arc<dyn LockScheme>, error: Error) -> Error {
    let message = format!("{released} was released, but {error}");
    let mut half = Error::new(error.kind(), Op::Unlock, error.target()).because(message);
    if let Some(holder) = error.holder() {
        half = Error::locked(Op::Unlock, error.target(), Some(holder.clone()))
            .because(format!("{released} was released, but the other is held"));
    }
    half.with_source(error)
}

/// Of two failures the one that says more: a held lock before a missing one, anything unknown before both.
fn worse(first: Error, second: Error) -> Error {
    let rank = |error: &Error| match error.kind() {
        ErrorKind::NotFound => 0,
        ErrorKind::Locked => 1,
        _ => 2,
    };
    let (counts, other) = if rank(&second) > rank(&first) { (second, first) } else { (first, second) };
    if rank(&other) < 2 {
        return counts;
    }
    let message = format!("{counts}, and {other}");
    Error::new(counts.kind(), Op::Unlock, counts.target()).because(message).with_source(other)
}
