//! The contract of backends: several named states in one place, and what became of each.

mod history;
mod life;
mod memory;
mod workspace_name;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use history::{History, HistoryEntry, HistoryId};
pub use life::{create_workspace, delete_workspace, empty_state, holds_resources, under_lock};
pub use memory::MemoryBackend;
pub use workspace_name::WorkspaceName;

use crate::error::Result;
use crate::lock_info::LockInfo;
use crate::store::StateStore;

/// States by name in one place: the trait that implementers fulfil beside [`StateStore`].
///
/// A value is a client; several may be open on one place. `Display` names the place, without credentials; neither does
/// `Debug` show any. Which workspace a working directory has selected is none of a backend's business.
///
/// # The contract
///
/// - **`default_always_exists`**: [`list`](Self::list) has `default` first, whether it has a state or not, and then the
///   others, sorted, each once.
/// - **`opening_writes_nothing`**: [`store`](Self::store) sends no request and changes nothing; the workspace need not exist.
/// - **`written_is_listed`**: a workspace in which something is stored is listed.
/// - **`create_refuses_what_exists`**: [`create`](Self::create) of what is listed is `Conflict` and changes nothing.
/// - **`default_stays`**: [`delete`](Self::delete) of `default` is `Invalid`, also by force.
/// - **`delete_is_careful`**: without force, deleting a workspace that has resources is `Invalid`, and one whose state
///   cannot be read `Corrupt`. One that does not exist is `NotFound`.
/// - **`delete_locks`**: where the store locks, the deletion holds the lock and is `Locked` while another client has it, also
///   by force. What is deleted is what was looked at.
///
/// [`create_workspace`] and [`delete_workspace`] do these for a backend whose workspaces are states and nothing else.
#[async_trait]
pub trait Backend: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// The names of the workspaces: `default` first, then the others, sorted. What has no valid name is left out.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, `Denied`, `Unavailable`, `Unsupported` when the place cannot list.
    async fn list(&self) -> Result<Vec<WorkspaceName>>;

    /// A new client of a workspace's state, whether the workspace exists or not.
    ///
    /// # Errors
    ///
    /// `Invalid` when there can be no such state, `Unsupported` where there is only `default`.
    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>>;

    /// Makes a workspace.
    ///
    /// # Errors
    ///
    /// `Conflict` when it exists, `Locked`, `Denied`, `Unavailable`, `Ambiguous`, `Unsupported`.
    async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()>;

    /// Deletes a workspace with its state.
    ///
    /// # Errors
    ///
    /// `Invalid` for `default` and for what needs force, `NotFound`, `Locked`, `Corrupt`, `Conflict`, `Denied`,
    /// `Unavailable`, `Ambiguous`, `Unsupported`.
    async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()>;

    /// The earlier snapshots of a workspace, if the place keeps them.
    ///
    /// # Errors
    ///
    /// Those of [`store`](Self::store).
    fn history(&self, name: &WorkspaceName) -> Result<Option<Arc<dyn History>>>;
}

/// What it takes to make a workspace.
#[derive(Clone)]
#[non_exhaustive]
pub struct CreateWorkspace {
    /// To lock with while the first state is written.
    pub lock: LockInfo,
    /// The first state, for places where a workspace is there once it has one; [`empty_state`] makes it.
    pub state: Vec<u8>,
}

impl CreateWorkspace {
    /// With this first state where one is needed.
    pub fn new(lock: LockInfo, state: Vec<u8>) -> Self {
        Self { lock, state }
    }
}

impl fmt::Debug for CreateWorkspace {
    /// Shows the size of the state only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lock, state } = self;
        f.debug_struct("CreateWorkspace").field("lock", lock).field("state", &state.len()).finish()
    }
}

/// How to delete a workspace.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeleteWorkspace {
    /// To lock with meanwhile.
    pub lock: LockInfo,
    /// Deletes it although it has resources, or it is unknown whether it does.
    pub force: bool,
}

impl DeleteWorkspace {
    /// Only if nothing is lost with it.
    pub fn new(lock: LockInfo) -> Self {
        Self { lock, force: false }
    }

    /// Whether to delete it although it has resources.
    #[must_use]
    pub fn force(mut self, yes: bool) -> Self {
        self.force = yes;
        self
    }
}

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: Backend + ?Sized> Backend for $pointer<T> {
            async fn list(&self) -> Result<Vec<WorkspaceName>> {
                (**self).list().await
            }

            fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
                (**self).store(name)
            }

            async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
                (**self).create(name, options).await
            }

            async fn delete(&self, name: &WorkspaceName, options: &DeleteWorkspace) -> Result<()> {
                (**self).delete(name, options).await
            }

            fn history(&self, name: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
                (**self).history(name)
            }
        }
    };
}

forward!(Arc);
forward!(Box);
