//! The store's lock, and the token that writes carry while it is held.

use async_trait::async_trait;

use crate::error::{ErrorKind, Result};
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
        let grant = self.store.renew(id).await?;
        self.memory().grant = Some(grant.clone());
        Ok(grant)
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        if !self.is_locking_enabled() {
            return Ok(());
        }
        let outcome = self.store.unlock(id).await;
        // After a lock was lost its token stays, so that writes that still believe in it are refused.
        let let_go = match &outcome {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if let_go {
            self.memory().grant.take_if(|grant| grant.id == *id);
        }
        outcome
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.store.force_unlock(id).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.store.lock_holder().await
    }
}
