//! What an implementer tells the suite: how to make a place, and how to open clients of it.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_wal::{JournalStore, Result};

use crate::executor::{BoxFuture, block_on};

/// Makes places for journals.
#[async_trait]
pub trait JournalHarness: Send + Sync + 'static {
    /// A fresh place: nothing is stored there, and no other test uses it. It may clean up when it is dropped.
    ///
    /// # Errors
    ///
    /// When there is none to be had; the case counts as failed.
    async fn journal(&self) -> Result<Arc<dyn TestJournal>>;

    /// Runs a future to its end. By default no runtime is around.
    fn block_on(&self, future: BoxFuture<'_, ()>) {
        block_on(future);
    }
}

/// One place for one journal. Only [`open`](Self::open) has to be implemented; without the others, cases that need them are
/// reported as not applicable.
#[async_trait]
pub trait TestJournal: Send + Sync + 'static {
    /// One more client, as another process would open it.
    ///
    /// # Errors
    ///
    /// Those of opening the store.
    async fn open(&self) -> Result<Arc<dyn JournalStore>>;

    /// Leaves behind the last record what a writer leaves that dies while it writes a batch, cut off after `keep` of a thousand
    /// parts; `false` when that cannot be done.
    ///
    /// # Errors
    ///
    /// When it can be done and did not work.
    async fn tear(&self, keep: u32) -> Result<bool> {
        let _ = keep;
        Ok(false)
    }

    /// Damages a byte of the first batch, past the store; `false` when that cannot be done.
    ///
    /// # Errors
    ///
    /// When it can be done and did not work.
    async fn damage(&self) -> Result<bool> {
        Ok(false)
    }
}
