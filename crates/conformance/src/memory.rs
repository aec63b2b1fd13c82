//! The harness of the store in memory, the reference of the contract.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, FixedClock, Timestamp};
use groundstate_statemgr::{Error, ErrorKind, MemoryPlace, Result, StateStore, WriteOptions};

use crate::harness::{Harness, Place, Workspaces};

/// Runs the suite on [`MemoryPlace`], with or without leases.
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

    async fn place(&self) -> Result<Arc<dyn Place>> {
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let backend = Backend { lease: self.lease, clock, places: Mutex::default() };
        Ok(Arc::new(Memory(Arc::new(backend))))
    }
}

/// Named places in memory, and the clock that is theirs.
struct Backend {
    lease: Option<Duration>,
    clock: Arc<FixedClock>,
    places: Mutex<BTreeMap<String, MemoryPlace>>,
}

const DEFAULT: &str = "default";

impl Backend {
    fn place(&self, name: &str) -> MemoryPlace {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = || -> Arc<dyn Clock> { Arc::<FixedClock>::clone(&self.clock) };
        let new = || match self.lease {
            Some(duration) => MemoryPlace::with_lease(name, duration, clock()),
            None => MemoryPlace::new(name),
        };
        places.entry(name.to_owned()).or_insert_with(new).clone()
    }
}

struct Memory(Arc<Backend>);

#[async_trait]
impl Place for Memory {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.0.place(DEFAULT).open()))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::<FixedClock>::clone(&self.0.clock)
    }

    async fn pass(&self, time: Duration) {
        self.0.clock.advance(time);
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Workspaces>>> {
        Ok(Some(Arc::new(Client(Arc::clone(&self.0)))))
    }
}

struct Client(Arc<Backend>);

#[async_trait]
impl Workspaces for Client {
    async fn list(&self) -> Result<Vec<String>> {
        let places: Vec<(String, MemoryPlace)> = {
            let places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.iter().map(|(name, place)| (name.clone(), place.clone())).collect()
        };
        let mut names = vec![DEFAULT.to_owned()];
        for (name, place) in places {
            if name != DEFAULT && place.open().read().await?.is_some() {
                names.push(name);
            }
        }
        Ok(names)
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.0.place(name).open()))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        if name == DEFAULT {
            let message = "the default workspace cannot be removed";
            return Err(Error::new(ErrorKind::Invalid, "delete the workspace", name).because(message));
        }
        self.0.place(name).open().delete(&WriteOptions::any()).await
    }
}
