//! Where the notes of begun operations are kept.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use groundstate_ordering::effects::Intent;
use groundstate_statemgr::Result;

/// Keeps the list of operations that were begun and have not ended. The executor writes it as a whole, one write after
/// another.
#[async_trait]
pub trait IntentLog: fmt::Debug + Send + Sync {
    /// The list that was written last; empty if none was.
    ///
    /// # Errors
    /// When it cannot be read or understood.
    async fn read(&self) -> Result<Vec<Intent>>;

    /// Replaces the list, all or nothing. When this returns, the list survives a crash.
    ///
    /// # Errors
    /// When it cannot be written.
    async fn replace(&self, open: &[Intent]) -> Result<()>;
}

/// Notes that last as long as this process: for tests, and for callers who accept that a crash leaves no trace of what was
/// begun.
#[derive(Debug, Default)]
pub struct MemoryIntents(Mutex<Vec<Intent>>);

impl MemoryIntents {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl IntentLog for MemoryIntents {
    async fn read(&self) -> Result<Vec<Intent>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn replace(&self, open: &[Intent]) -> Result<()> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = open.to_vec();
        Ok(())
    }
}
