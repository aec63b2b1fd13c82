//! The backend: the workspaces of one place, each a state in an object.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, ErrorKind as BlobError, Key, ListOptions};
use groundstate_statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, History, Op, Result, StateStore, WorkspaceName,
    create_workspace, delete_workspace, traced,
};

use crate::failure::failed;
use crate::history::{BlobHistory, Keeping};
use crate::layout::Layout;
use crate::store::ObjectStateStore;

/// What a place adds to the store of each workspace: locks, digests, attributes.
pub trait Equipment: fmt::Debug + Send + Sync + 'static {
    /// The store with what belongs to it. `lock` is the object that the layout names for the lock.
    ///
    /// # Errors
    ///
    /// `Invalid` when there can be no such store.
    fn equip(&self, store: ObjectStateStore, lock: Key) -> Result<ObjectStateStore>;
}

/// The workspaces in one container, by the names of a layout.
///
/// ```
/// use std::sync::Arc;
///
/// use groundstate_blobs::MemoryBlobs;
/// use groundstate_statemgr::{Backend, StateStore, WorkspaceName, WriteOptions};
/// use groundstate_statemgr_object::{FolderLayout, ObjectBackend};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let layout = Arc::new(FolderLayout::new("network"));
/// let backend = ObjectBackend::new(Arc::new(MemoryBlobs::new("team")), layout);
/// let staging = WorkspaceName::parse("staging")?;
/// backend.store(&staging)?.write(r#"{"version":4}"#.into(), &WriteOptions::any()).await?;
/// assert_eq!(backend.list().await?, [WorkspaceName::default_name(), staging]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ObjectBackend {
    blobs: Arc<dyn BlobStore>,
    layout: Arc<dyn Layout>,
    equipment: Option<Arc<dyn Equipment>>,
    denied_is_empty: bool,
    keeping: Option<Keeping>,
}

impl ObjectBackend {
    /// The workspaces that the layout finds in the container. Their states have no locks yet.
    pub fn new(blobs: Arc<dyn BlobStore>, layout: Arc<dyn Layout>) -> Self {
        Self { blobs, layout, equipment: None, denied_is_empty: false, keeping: None }
    }

    /// Sets what each store has beside its state.
    #[must_use]
    pub fn equip(mut self, equipment: Arc<dyn Equipment>) -> Self {
        self.equipment = Some(equipment);
        self
    }

    /// Sets whether a list that is denied counts as empty. Many grant access to one state and not to the list of all, and
    /// then there is `default` and nothing else.
    #[must_use]
    pub fn denied_list_is_empty(mut self, yes: bool) -> Self {
        self.denied_is_empty = yes;
        self
    }

    /// Keeps every snapshot that is written, beside its state.
    #[must_use]
    pub fn keep_history(mut self, keeping: impl Into<Option<Keeping>>) -> Self {
        self.keeping = keeping.into();
        self
    }

    /// The container.
    pub fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.blobs
    }

    /// How objects are named.
    pub fn layout(&self) -> &Arc<dyn Layout> {
        &self.layout
    }

    /// A client of a workspace's state, as its own type.
    ///
    /// # Errors
    ///
    /// `Invalid` when the name and the settings make no key.
    pub fn open(&self, workspace: &WorkspaceName) -> Result<ObjectStateStore> {
        let key = |text: &str| Key::parse(text).map_err(|error| failed(Op::Other("open"), workspace, error));
        let store = ObjectStateStore::new(Arc::clone(&self.blobs), key(&self.layout.state_key(workspace))?);
        match &self.equipment {
            Some(equipment) => equipment.equip(store, key(&self.layout.lock_key(workspace))?),
            None => Ok(store),
        }
    }
}

impl fmt::Display for ObjectBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.blobs, self.layout.state_key(&WorkspaceName::default_name()))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Backend for ObjectBackend {
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

impl ObjectBackend {
    async fn list_all(&self) -> Result<Vec<WorkspaceName>> {
        let prefix = self.layout.list_prefix();
        let mut names = BTreeSet::new();
        let mut options = ListOptions::default();
        options.delimiter = self.layout.is_flat();
        loop {
            let page = match self.blobs.list(&prefix, &options).await {
                Ok(page) => page,
                Err(error) if error.kind() == BlobError::Denied && self.denied_is_empty => break,
                Err(error) => return Err(failed(Op::ListWorkspaces, self, error)),
            };
            // Zero bytes are not a state, so they make no workspace either.
            let states = page.blobs.iter().filter(|blob| blob.meta.size > 0);
            names.extend(states.filter_map(|blob| self.layout.workspace(&blob.name)));
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
        delete_workspace(&self.store(name)?, name, options).await
    }
}
