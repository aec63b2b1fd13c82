//! The suite of blob stores: a case or more for every clause of the contract of
//! [`BlobStore`](groundstate_blobs::BlobStore).
//!
//! It stands here and not in the crate of the contract so that nothing of it reaches a program, as with the suite of states.

mod cases;
mod changing;
mod leases;
mod listing;
mod reading;

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, Result};

pub(crate) use cases::BLOB_CASES;

use crate::executor::{BoxFuture, block_on};
use crate::failure::{Answer, Step, not_applicable};
use crate::frame::{SEED, SuiteCase, checked};

/// Makes containers for the cases.
#[async_trait]
pub trait BlobHarness: Send + Sync + 'static {
    /// A fresh container: nothing is in it, and no other test uses it.
    ///
    /// # Errors
    ///
    /// When there is none to be had; the case counts as failed.
    async fn container(&self) -> Result<Arc<dyn Container>>;

    /// Runs a future to its end; a store that needs a runtime enters it here.
    fn block_on(&self, future: BoxFuture<'_, ()>) {
        block_on(future);
    }
}

/// One container.
#[async_trait]
pub trait Container: Send + Sync + 'static {
    /// One more client, as another process would open it.
    ///
    /// # Errors
    ///
    /// Those of opening the store.
    async fn open(&self) -> Result<Arc<dyn BlobStore>>;
}

/// Runs one case on a fresh container. `Ok` with a text says why the case does not concern the store.
///
/// # Errors
///
/// What the store did instead of what the contract says, and an unknown name.
pub fn check_blobs(
    harness: Arc<dyn BlobHarness>,
    name: &str,
) -> std::result::Result<Option<String>, Box<dyn std::error::Error>> {
    let executor = Arc::clone(&harness);
    let cx = async move { Ok(Cx { container: harness.container().await.succeeds("making a container")? }) };
    let case = SuiteCase::find(BLOB_CASES, name)?;
    checked(case.carry_out(BLOB_CASES, SEED, move |future| executor.block_on(future), cx))
}

/// What a case works with.
pub(crate) struct Cx {
    container: Arc<dyn Container>,
}

impl Cx {
    pub(crate) async fn open(&self) -> Step<Arc<dyn BlobStore>> {
        self.container.open().await.succeeds("opening a client")
    }

    pub(crate) async fn two(&self) -> Step<(Arc<dyn BlobStore>, Arc<dyn BlobStore>)> {
        Ok((self.open().await?, self.open().await?))
    }
}

/// Goes on if the store can do it.
pub(crate) fn needs(can: bool, what: &str) -> Step {
    if can { Ok(()) } else { not_applicable(format!("the store has no {what}")) }
}
