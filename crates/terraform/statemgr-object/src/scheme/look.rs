//! No lock of its own, but respect for those of others.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groundstate_blobs::LeaseId;
use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use crate::scheme::LockScheme;

/// Takes no lock, and refuses while another client holds one of these.
///
/// For places whose configuration names no lock, but whose other clients may use one. The locks are looked at when the lock is asked
/// for, before each write, and at the end: a client that locked in between is reported as [`ErrorKind::LockLost`]. Two clients that
/// only look do not keep each other out.
#[derive(Clone, Debug)]
pub struct LookLock {
    others: Vec<Arc<dyn LockScheme>>,
    /// The id that this client was granted, which no store knows.
    granted: Arc<Mutex<Option<LockId>>>,
}

impl LookLock {
    /// Respects these locks.
    pub fn new(others: Vec<Arc<dyn LockScheme>>) -> Self {
        Self { others, granted: Arc::default() }
    }

    fn is_granted(&self, id: &LockId) -> bool {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(id)
    }

    fn remember(&self, id: Option<LockId>) {
        *self.granted.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    /// Fails if another client has taken a lock since this one looked.
    async fn still_free(&self, op: Op) -> Result<()> {
        let Some(holder) = self.holder().await? else { return Ok(()) };
        let message = format!("no lock is configured here, and another client took one meanwhile: {holder}");
        Err(Error::new(ErrorKind::LockLost, op, self).because(message))
    }
}

impl fmt::Display for LookLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, other) in self.others.iter().enumerate() {
            write!(f, "{}{other}", if index == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl LockScheme for LookLock {
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        if let Some(holder) = self.holder().await? {
            return Err(Error::locked(Op::Lock, self, Some(holder)));
        }
        self.remember(Some(info.id.clone()));
        Ok(LockGrant::new(info.id.clone()))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        if self.is_granted(id) {
            self.still_free(Op::Unlock).await?;
            self.remember(None);
            return Ok(());
        }
        // A lock that shows as held can be released, whichever mechanism it is of.
        let mut refused = Error::new(ErrorKind::NotFound, Op::Unlock, self).because("it is not locked");
        for other in &self.others {
            match other.unlock(id).await {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if error.kind() == ErrorKind::Locked => refused = error,
                outcome => return outcome,
            }
        }
        Err(refused)
    }

    async fn holder(&self) -> Result<Option<LockHolder>> {
        for other in &self.others {
            if let Some(holder) = other.holder().await? {
                return Ok(Some(holder));
            }
        }
        Ok(None)
    }

    async fn verify(&self, _: &LockId) -> Result<()> {
        self.still_free(Op::Write).await
    }

    fn lease(&self, _: &LockId) -> Option<LeaseId> {
        None
    }
}
