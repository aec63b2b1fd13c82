//! Outputs of large states, where a place can read them without the rest.

use std::fmt;

use async_trait::async_trait;
use groundstate_statemgr::{Result, WorkspaceName};
use groundstate_states::OutputValue;

/// Reads outputs and no more of a state than that takes.
#[async_trait]
pub trait Outputs: fmt::Debug + Send + Sync + 'static {
    /// The outputs of a workspace's state, or the one with this name; `None` where only the whole state can tell.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::read`](groundstate_statemgr::StateStore::read).
    async fn outputs(
        &self,
        workspace: &WorkspaceName,
        name: Option<&str>,
    ) -> Result<Option<Vec<(String, OutputValue)>>>;
}

/// A backend that reads ranges of its objects.
#[cfg(any(feature = "azurerm", feature = "gcs", feature = "s3"))]
#[derive(Debug)]
pub(crate) struct Ranged<B>(pub(crate) B);

#[cfg(any(feature = "azurerm", feature = "gcs", feature = "s3"))]
#[async_trait]
impl<B: groundstate_statemgr_object::RangedOutputs> Outputs for Ranged<B> {
    async fn outputs(
        &self,
        workspace: &WorkspaceName,
        name: Option<&str>,
    ) -> Result<Option<Vec<(String, OutputValue)>>> {
        self.0.outputs(workspace, name).await
    }
}
