//! The backend that keeps everything in memory: the reference of the contract.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::Clock;

use crate::backend::{
    Backend, CreateWorkspace, DeleteWorkspace, History, WorkspaceName, create_workspace, delete_workspace,
};
use crate::error::Result;
use crate::memory::SharedMemory;
use crate::store::StateStore;

/// Workspaces in memory, shared by all clones of a value.
///
/// ```
/// use groundstate_statemgr::{Backend, MemoryBackend, StateStore, WorkspaceName, WriteOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let backend = MemoryBackend::new("team");
/// let staging = WorkspaceName::parse("staging")?;
/// backend.store(&staging)?.write(r#"{"version":4}"#.into(), &WriteOptions::any()).await?;
/// assert_eq!(backend.list().await?, [WorkspaceName::default_name(), staging]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBackend {
    name: Arc<str>,
    lease: Option<(Duration, Arc<dyn Clock>)>,
    places: Arc<Mutex<BTreeMap<WorkspaceName, SharedMemory>>>,
}

impl MemoryBackend {
    /// No workspace has a state yet. Locks last until they are released.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), lease: None, places: Arc::default() }
    }

    /// The same with locks that end after `duration` unless they are renewed.
    pub fn with_lease(name: &str, duration: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { lease: Some((duration, clock)), ..Self::new(name) }
    }

    /// The place of a workspace.
    pub fn place(&self, workspace: &WorkspaceName) -> SharedMemory {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(workspace) {
            return place.clone();
        }
        let name = format!("{}/{workspace}", self.name);
        let place = match &self.lease {
            Some((duration, clock)) => SharedMemory::with_lease(&name, *duration, Arc::clone(clock)),
            None => SharedMemory::new(&name),
        };
        places.insert(workspace.clone(), place.clone());
        place
    }

    fn places(&self) -> Vec<(WorkspaceName, SharedMemory)> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.iter().map(|(name, place)| (name.clone(), place.clone())).collect()
    }
}

impl fmt::Display for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory:{}", self.name)
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        let mut names = vec![WorkspaceName::default_name()];
        for (name, place) in self.places() {
            if !name.is_default() && place.open().read().await?.is_some() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.place(name).open()))
    }

    async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
        create_workspace(&self.place(name).open(), name, options).await
    }

    async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        delete_workspace(&self.place(name).open(), name, options).await
    }

    fn history(&self, _: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(None)
    }
}
