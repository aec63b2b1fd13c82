//! Managers for tests of whatever uses managers: one that works, and one whose unlocking fails.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use groundstate_states::State;

use crate::Op;
use crate::error::{Error, ErrorKind, Result};
use crate::holder::{LockGrant, LockHolder};
use crate::intermediate::PersistInfo;
use crate::lock_info::{LockId, LockInfo};
use crate::traits::{
    Extensions, Locker, Migrator, OutputReader, OutputValues, Persisted, PersistentMeta, Persister, Reader,
    Refresher, Writer,
};

const LOCK_ID: &str = "placeholder";

/// A transient snapshot in memory, and nothing else.
#[derive(Debug, Default)]
pub struct TransientInMemory(Mutex<Option<State>>);

impl TransientInMemory {
    /// Begins with this snapshot.
    pub fn new(initial: Option<State>) -> Self {
        Self(Mutex::new(initial))
    }

    fn slot(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader for TransientInMemory {
    fn state(&self) -> Option<State> {
        self.slot().clone()
    }
}

impl Writer for TransientInMemory {
    fn write_state(&self, state: &State) -> Result<()> {
        *self.slot() = Some(state.clone());
        Ok(())
    }

    fn mutate_state(&self, change: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()> {
        let mut slot = self.slot();
        let mut state = slot.take();
        change(&mut state);
        *slot = state;
        Ok(())
    }
}

/// Everything a manager does, in memory, without metadata. It always grants its lock under the same id.
#[derive(Debug, Default)]
pub struct InMemoryManager {
    transient: TransientInMemory,
    persistent: TransientInMemory,
    locked: Mutex<bool>,
}

impl InMemoryManager {
    /// A manager that works on `transient` and has `initial` stored.
    pub fn new(transient: TransientInMemory, initial: Option<State>) -> Self {
        Self { transient, persistent: TransientInMemory::new(initial), locked: Mutex::default() }
    }

    fn locked(&self) -> MutexGuard<'_, bool> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, id: &LockId) -> Result<()> {
        let mut locked = self.locked();
        if !*locked {
            return Err(Error::new(ErrorKind::NotFound, Op::Unlock, self).because("it is not locked"));
        }
        if id.as_str() != LOCK_ID {
            return Err(Error::locked(Op::Unlock, self, None).because("its lock has another id"));
        }
        *locked = false;
        Ok(())
    }
}

impl fmt::Display for InMemoryManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fake")
    }
}

impl Reader for InMemoryManager {
    fn state(&self) -> Option<State> {
        self.transient.state()
    }
}

impl Writer for InMemoryManager {
    fn write_state(&self, state: &State) -> Result<()> {
        self.transient.write_state(state)
    }

    fn mutate_state(&self, change: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()> {
        self.transient.mutate_state(change)
    }
}

#[async_trait]
impl Refresher for InMemoryManager {
    async fn refresh_state(&self) -> Result<()> {
        let stored = self.persistent.state();
        self.transient.mutate_state(&mut |state| state.clone_from(&stored))
    }
}

#[async_trait]
impl Persister for InMemoryManager {
    async fn persist_state(&self) -> Result<Persisted> {
        let state = self.transient.state();
        self.persistent.mutate_state(&mut |stored| stored.clone_from(&state))?;
        Ok(Persisted::Written)
    }

    fn should_persist_intermediate_state(&self, info: &PersistInfo) -> bool {
        info.is_due()
    }
}

#[async_trait]
impl OutputReader for InMemoryManager {
    /// The outputs of the transient snapshot, as the originals' fake gives them.
    async fn root_output_values(&self) -> Result<OutputValues> {
        Ok(self.state().map_or_else(OutputValues::new, |state| state.outputs().clone()))
    }
}

impl Extensions for InMemoryManager {
    fn as_persistent_meta(&self) -> Option<&dyn PersistentMeta> {
        None
    }

    fn as_migrator(&self) -> Option<&dyn Migrator> {
        None
    }
}

#[async_trait]
impl Locker for InMemoryManager {
    fn is_locking_enabled(&self) -> bool {
        true
    }

    async fn lock(&self, info: &LockInfo) -> Result<Option<LockGrant>> {
        let mut locked = self.locked();
        if *locked {
            // The originals' fake names the one who asks, not the holder.
            return Err(Error::locked(Op::Lock, self, Some(LockHolder::of(info.clone()))));
        }
        *locked = true;
        Ok(Some(LockGrant::new(LockId::new(LOCK_ID))))
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.release(id)
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.release(id)
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        Err(Error::unsupported(Op::FindHolder, self))
    }
}

/// A manager that locks and does nothing else, not even unlock: for tests of what happens then.
#[derive(Clone, Copy, Debug, Default)]
pub struct FailingManager;

impl FailingManager {
    fn fail<T>(op: Op) -> Result<T> {
        Err(Error::new(ErrorKind::Internal, op, Self).because("it is made to fail"))
    }
}

impl fmt::Display for FailingManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failing fake")
    }
}

impl Reader for FailingManager {
    fn state(&self) -> Option<State> {
        None
    }
}

impl Writer for FailingManager {
    fn write_state(&self, _: &State) -> Result<()> {
        Self::fail(Op::Write)
    }

    fn mutate_state(&self, _: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()> {
        Self::fail(Op::Change)
    }
}

#[async_trait]
impl Refresher for FailingManager {
    async fn refresh_state(&self) -> Result<()> {
        Self::fail(Op::Other("refresh"))
    }
}

#[async_trait]
impl Persister for FailingManager {
    async fn persist_state(&self) -> Result<Persisted> {
        Self::fail(Op::Other("persist"))
    }

    fn should_persist_intermediate_state(&self, info: &PersistInfo) -> bool {
        info.is_due()
    }
}

#[async_trait]
impl OutputReader for FailingManager {
    async fn root_output_values(&self) -> Result<OutputValues> {
        Self::fail(Op::ReadOutputs)
    }
}

impl Extensions for FailingManager {
    fn as_persistent_meta(&self) -> Option<&dyn PersistentMeta> {
        None
    }

    fn as_migrator(&self) -> Option<&dyn Migrator> {
        None
    }
}

#[async_trait]
impl Locker for FailingManager {
    fn is_locking_enabled(&self) -> bool {
        true
    }

    async fn lock(&self, _: &LockInfo) -> Result<Option<LockGrant>> {
        Ok(Some(LockGrant::new(LockId::new(LOCK_ID))))
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Self::fail(Op::RenewLock)
    }

    async fn unlock(&self, _: &LockId) -> Result<()> {
        Self::fail(Op::Unlock)
    }

    async fn force_unlock(&self, _: &LockId) -> Result<()> {
        Self::fail(Op::ForceUnlock)
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        Self::fail(Op::FindHolder)
    }
}
