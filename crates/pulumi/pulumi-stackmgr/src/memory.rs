//! Sinks in memory: the reference, and what tests look into.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use groundstate_pulumi_deployment::DeploymentFile;
use groundstate_pulumi_journal::Entry;

use crate::error::{BoxError, Error};
use crate::sink::{AppendError, JournalSink, SnapshotSink};

/// Keeps every snapshot that is saved.
#[derive(Debug, Default)]
pub struct MemorySnapshots(Mutex<Vec<DeploymentFile>>);

/// Keeps every batch that is appended.
#[derive(Debug, Default)]
pub struct MemoryEntries(Mutex<Vec<Vec<Arc<Entry>>>>);

impl MemorySnapshots {
    /// What was saved, the first one first.
    pub fn saved(&self) -> Vec<DeploymentFile> {
        lock(&self.0).clone()
    }
}

impl MemoryEntries {
    /// The batches in which entries came.
    pub fn batches(&self) -> Vec<Vec<Arc<Entry>>> {
        lock(&self.0).clone()
    }

    /// All entries in the order in which they came.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        lock(&self.0).iter().flatten().cloned().collect()
    }
}

#[async_trait]
impl SnapshotSink for MemorySnapshots {
    async fn save(&self, file: &DeploymentFile) -> Result<(), BoxError> {
        lock(&self.0).push(file.clone());
        Ok(())
    }
}

#[async_trait]
impl JournalSink for MemoryEntries {
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError> {
        lock(&self.0).push(entries.to_vec());
        Ok(())
    }

    async fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is plain data, which a panic elsewhere cannot have left half written.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
