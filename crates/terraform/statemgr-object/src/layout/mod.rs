//! Which object is which workspace's, as each of Terraform's backends names them.

mod folder;
mod s3;

use std::fmt;

use groundstate_statemgr::WorkspaceName;

pub use folder::FolderLayout;
pub use s3::S3Layout;

/// Names the objects of workspaces, and knows them again in a list.
pub trait Layout: fmt::Debug + Send + Sync + 'static {
    /// The object of a workspace's state.
    fn state_key(&self, workspace: &WorkspaceName) -> String;

    /// The object that locks it, where there is one.
    fn lock_key(&self, workspace: &WorkspaceName) -> String;

    /// What the names of all states begin with but for the default one's; it may end within a part.
    fn list_prefix(&self) -> String;

    /// Whether what follows that beginning has no slash, so that a list need not go into folders below.
    fn is_flat(&self) -> bool;

    /// The workspace whose state an object of the list is, if it is one.
    fn workspace(&self, key: &str) -> Option<WorkspaceName>;
}
