//! Where managers put what they have: whole snapshots, or entries.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_pulumi_deployment::DeploymentFile;
use groundstate_pulumi_journal::Entry;

use crate::error::{BoxError, Error};

/// Stores whole snapshots, each in the place of the one before.
#[async_trait]
pub trait SnapshotSink: fmt::Debug + Send + Sync {
    /// Stores a snapshot. When this returns, it is there after a crash.
    ///
    /// Never called twice at the same time by one manager.
    async fn save(&self, file: &DeploymentFile) -> Result<(), BoxError>;
}

/// Stores entries, one batch after the other.
#[async_trait]
pub trait JournalSink: fmt::Debug + Send + Sync {
    /// Stores entries behind those of earlier batches. When this returns, they are there after a crash.
    ///
    /// Never called twice at the same time by one manager. Of a batch that failed any number of entries may be there, but
    /// nothing of one that comes later.
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError>;

    /// There will be no more entries.
    async fn close(&self) -> Result<(), Error>;
}

/// Why a batch was not stored.
#[derive(Debug)]
#[non_exhaustive]
pub enum AppendError {
    /// It is too large; nothing of it is stored, and a smaller one may be.
    TooLarge(BoxError),
    /// It is not known what of it is stored, so nothing may come after it.
    Lost(BoxError),
    /// The sink has the entries and goes on, but could not do what was asked for.
    Kept(Error),
}

#[async_trait]
impl<S: SnapshotSink + ?Sized> SnapshotSink for Arc<S> {
    async fn save(&self, file: &DeploymentFile) -> Result<(), BoxError> {
        (**self).save(file).await
    }
}

#[async_trait]
impl<S: JournalSink + ?Sized> JournalSink for Arc<S> {
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError> {
        (**self).append(entries).await
    }

    async fn close(&self) -> Result<(), Error> {
        (**self).close().await
    }
}
