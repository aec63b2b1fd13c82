//! A manager whose lock is not used.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_states::State;

use crate::Op;
use crate::error::{Error, Result};
use crate::holder::{LockGrant, LockHolder};
use crate::intermediate::PersistInfo;
use crate::lock_info::{LockId, LockInfo};
use crate::traits::{
    Extensions, Full, Locker, Migrator, OutputReader, OutputValues, Persisted, PersistentMeta, Persister,
    Reader, Refresher, Writer,
};

/// Forwards everything but locks, metadata included. No other client is excluded; that is up to the user.
pub struct LockDisabled(Arc<dyn Full>);

impl LockDisabled {
    /// The manager without its lock.
    pub fn new(inner: Arc<dyn Full>) -> Self {
        Self(inner)
    }
}

impl fmt::Debug for LockDisabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LockDisabled").field(&format_args!("{}", self.0)).finish()
    }
}

impl fmt::Display for LockDisabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[deny(clippy::missing_trait_methods)]
impl Reader for LockDisabled {
    fn state(&self) -> Option<State> {
        self.0.state()
    }
}

#[deny(clippy::missing_trait_methods)]
impl Writer for LockDisabled {
    fn write_state(&self, state: &State) -> Result<()> {
        self.0.write_state(state)
    }

    fn mutate_state(&self, change: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()> {
        self.0.mutate_state(change)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Refresher for LockDisabled {
    async fn refresh_state(&self) -> Result<()> {
        self.0.refresh_state().await
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Persister for LockDisabled {
    async fn persist_state(&self) -> Result<Persisted> {
        self.0.persist_state().await
    }

    fn should_persist_intermediate_state(&self, info: &PersistInfo) -> bool {
        self.0.should_persist_intermediate_state(info)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl OutputReader for LockDisabled {
    async fn root_output_values(&self) -> Result<OutputValues> {
        self.0.root_output_values().await
    }
}

#[deny(clippy::missing_trait_methods)]
impl Extensions for LockDisabled {
    fn as_persistent_meta(&self) -> Option<&dyn PersistentMeta> {
        self.0.as_persistent_meta()
    }

    fn as_migrator(&self) -> Option<&dyn Migrator> {
        self.0.as_migrator()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Locker for LockDisabled {
    fn is_locking_enabled(&self) -> bool {
        false
    }

    async fn lock(&self, _: &LockInfo) -> Result<Option<LockGrant>> {
        Ok(None)
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self).because("locking is off"))
    }

    async fn unlock(&self, _: &LockId) -> Result<()> {
        Ok(())
    }

    async fn force_unlock(&self, _: &LockId) -> Result<()> {
        Err(Error::unsupported(Op::ForceUnlock, self).because("locking is off"))
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.0.lock_holder().await
    }
}
