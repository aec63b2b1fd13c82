//! The harness of the store in memory, the reference of the contract.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, FixedClock, Timestamp};
use groundstate_statemgr::{Backend, MemoryBackend, Result, StateStore, WorkspaceName};

use crate::harness::{Harness, TestStore};

/// Runs the suite on [`MemoryBackend`], with or without leases.
///
/// ```
/// mod memory {
///     groundstate_conformance::suite!(groundstate_conformance::MemoryHarness::new());
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryHarness {
    lease: Option<Duration>,
}

impl MemoryHarness {
    /// Places whose locks last until they are released.
    pub fn new() -> Self {
        Self::default()
    }

    /// Places whose locks end after this time. It passes only when a case lets it.
    pub fn with_lease(duration: Duration) -> Self {
        Self { lease: Some(duration) }
    }
}

#[async_trait]
impl Harness for MemoryHarness {
    fn name(&self) -> String {
        if self.lease.is_some() { "memory with leases" } else { "memory" }.to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let backend = match self.lease {
            Some(duration) => MemoryBackend::with_lease("suite", duration, Arc::<FixedClock>::clone(&clock)),
            None => MemoryBackend::new("suite"),
        };
        Ok(Arc::new(Memory { backend, clock }))
    }
}

struct Memory {
    backend: MemoryBackend,
    clock: Arc<FixedClock>,
}

#[async_trait]
impl TestStore for Memory {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.backend.store(&WorkspaceName::default_name())
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::<FixedClock>::clone(&self.clock)
    }

    async fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(self.backend.clone())))
    }
}
