//! The workspaces of Terraform's `azurerm` backend: a blob for each, beside one another.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, Key, ListOptions};
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, Error, ErrorKind, History, Op, Result, StateStore,
    WorkspaceName, create_workspace, delete_workspace, traced,
};

use super::store::AzureStore;
use crate::failure::failed;
use crate::history::{BlobHistory, Keeping};

/// The workspaces in one container: `KEY` for the default one, `KEYenv:NAME` for the others.
///
/// ```
/// use std::sync::Arc;
/// use groundstate_blobs::MemoryBlobs;
/// use groundstate_statemgr::{Backend, StateStore, WorkspaceName, WriteOptions};
/// use groundstate_statemgr_object::AzureBackend;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let backend = AzureBackend::new(Arc::new(MemoryBlobs::new("states")), "states", "prod.tfstate")?;
/// let staging = WorkspaceName::parse("staging")?;
/// assert_eq!(backend.open(&staging)?.key().as_str(), "prod.tfstateenv:staging");
/// backend.store(&staging)?.write(r#"{"version":4}"#.into(), &WriteOptions::any()).await?;
/// assert_eq!(backend.list().await?, [WorkspaceName::default_name(), staging]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AzureBackend {
    blobs: Arc<dyn BlobStore>,
    container: Arc<str>,
    key: Arc<str>,
    snapshot: bool,
    keeping: Option<Keeping>,
}

impl AzureBackend {
    /// The workspaces of the setting `key` in a container of this name, which `blobs` are.
    ///
    /// # Errors
    ///
    /// `Invalid` for a key that cannot be the name of a blob.
    pub fn new(blobs: Arc<dyn BlobStore>, container: &str, key: &str) -> Result<Self> {
        Key::parse(key).map_err(|error| failed(Op::Other("open"), container, error))?;
        Ok(Self { blobs, container: container.into(), key: key.into(), snapshot: false, keeping: None })
    }

    /// Whether to take a snapshot of a blob before each write, as the setting `snapshot` asks for.
    #[must_use]
    pub fn snapshot(mut self, yes: bool) -> Self {
        self.snapshot = yes;
        self
    }

    /// Keeps every snapshot that is written, beside its state.
    #[must_use]
    pub fn keep_history(mut self, keeping: impl Into<Option<Keeping>>) -> Self {
        self.keeping = keeping.into();
        self
    }

    /// A client of a workspace's state, as its own type.
    ///
    /// # Errors
    ///
    /// `Invalid` when the name and the key make no name of a blob, `Unsupported` when the store has no leases.
    pub fn open(&self, name: &WorkspaceName) -> Result<AzureStore> {
        let key = if name.is_default() { self.key.to_string() } else { format!("{}{name}", self.prefix()) };
        let key = Key::parse(&key).map_err(|error| failed(Op::Other("open"), name, error))?;
        Ok(AzureStore::new(Arc::clone(&self.blobs), &self.container, key)?.snapshot(self.snapshot))
    }

    /// What the names of all blobs of workspaces begin with, but for the default one's.
    fn prefix(&self) -> String {
        format!("{}env:", self.key)
    }

    /// The workspace whose state a blob of this name is.
    fn workspace(&self, blob: &str) -> Option<WorkspaceName> {
        // Names have no slash, so entries of histories, which do, are none.
        let name = WorkspaceName::parse(blob.strip_prefix(&self.prefix())?).ok()?;
        (!name.is_default()).then_some(name)
    }
}

impl fmt::Display for AzureBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.blobs, self.key)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Backend for AzureBackend {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        traced::backend(Op::ListWorkspaces, self, None, self.list_all()).await
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        let store = self.open(name)?;
        let Some(keeping) = &self.keeping else { return Ok(Arc::new(store)) };
        let history = BlobHistory::new(Arc::clone(&self.blobs), store.key());
        Ok(Arc::new(keeping.keep(store, history)))
    }

    async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
        let work = async { create_workspace(&self.store(name)?, name, options).await };
        traced::backend(Op::CreateWorkspace, self, Some(name), work).await
    }

    async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        traced::backend(Op::DeleteWorkspace, self, Some(name), self.remove(name, options)).await
    }

    /// What is kept there, also where this client keeps nothing itself.
    fn history(&self, name: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(Some(Arc::new(BlobHistory::new(Arc::clone(&self.blobs), self.open(name)?.key()))))
    }
}

impl AzureBackend {
    async fn list_all(&self) -> Result<Vec<WorkspaceName>> {
        let mut names = BTreeSet::new();
        let mut options = ListOptions::default().delimited();
        loop {
            let page = self.blobs.list(&self.prefix(), &options).await;
            let page = page.map_err(|error| failed(Op::ListWorkspaces, self, error))?;
            // Zero bytes are what a lock leaves where no state is.
            let states = page.blobs.iter().filter(|blob| blob.meta.size > 0);
            names.extend(states.filter_map(|blob| self.workspace(&blob.name)));
            if page.next.is_none() {
                break;
            }
            options.page = page.next;
        }
        let mut all = vec![WorkspaceName::default_name()];
        all.extend(names);
        Ok(all)
    }

    async fn remove(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
        let store = self.open(name)?;
        // Locking would make the blob of a workspace that does not exist.
        if !name.is_default() && store.describe(Op::DeleteWorkspace).await?.is_none() {
            let why = "there is no such workspace";
            return Err(Error::new(ErrorKind::NotFound, Op::DeleteWorkspace, name).because(why));
        }
        delete_workspace(&self.store(name)?, name, options).await
    }
}
