//! The store's lock, and the token that writes carry while it is held.

use async_trait::async_trait;
use groundstate_common::Clock;

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::holder::{LockGrant, LockHolder};
use crate::lock_info::{LockId, LockInfo};
use crate::manager::Manager;
use crate::traits::Locker;

#[async_trait]
impl Locker for Manager {
    fn is_locking_enabled(&self) -> bool {
        self.options.locking && self.store.capabilities().locking
    }

    async fn lock(&self, info: &LockInfo) -> Result<Option<LockGrant>> {
        if !self.is_locking_enabled() {
            return Ok(None);
        }
        let grant = self.store.lock(info).await?;
        self.memory().grant = Some(grant.clone());
        Ok(Some(grant))
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        let renewed = self.store.renew(id).await?;
        // A lock that was released in the meantime stays released.
        if let Some(grant) = self.memory().grant.as_mut().filter(|grant| grant.id == *id) {
            *grant = renewed.clone();
        }
        Ok(renewed)
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        if !self.is_locking_enabled() {
            return Ok(());
        }
        // After any failure the token stays, so that writes that still believe in a lost lock are refused.
        self.store.unlock(id).await?;
        self.forget(id);
        Ok(())
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::ForceUnlock;
        if !self.options.locking {
            return Err(Error::unsupported(OP, self).because("locking is off"));
        }
        self.store.force_unlock(id).await?;
        self.forget(id);
        Ok(())
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.store.lock_holder().await
    }
}

impl Manager {
    /// The lock was let go on purpose, so writes are made without its token.
    fn forget(&self, id: &LockId) {
        self.memory().grant.take_if(|grant| grant.id == *id);
    }

    /// Prolongs the lock before a write if its time is over: a holder that was paused finds out here at the latest.
    pub(super) async fn hold_on(&self) -> Result<()> {
        let Some(grant) = self.memory().grant.clone() else { return Ok(()) };
        if grant.expires.is_none_or(|end| self.clock.now() < end) {
            return Ok(());
        }
        let Err(error) = self.renew(&grant.id).await else { return Ok(()) };
        Err(match error.kind() {
            ErrorKind::NotFound | ErrorKind::Locked => {
                Error::new(ErrorKind::LockLost, Op::Write, self).with_source(error)
            }
            _ => error,
        })
    }
}
