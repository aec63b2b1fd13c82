//! What has to hold when something is written.

use std::fmt;

use async_trait::async_trait;

use crate::Result;

/// The lock of a stack, as writers ask for it before each write: a lock that was cancelled ends the work of its holder.
#[async_trait]
pub trait Guard: fmt::Debug + Send + Sync {
    /// Looks whether the lock is still held.
    ///
    /// # Errors
    ///
    /// [`LockLost`](crate::ErrorKind::LockLost) when it is not; then nothing is written. Those of requests.
    async fn check(&self) -> Result<()>;
}

/// No lock: for buckets that no other process uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unguarded;

#[async_trait]
impl Guard for Unguarded {
    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Both locks are asked for.
#[async_trait]
impl<A: Guard, B: Guard> Guard for (A, B) {
    async fn check(&self) -> Result<()> {
        self.0.check().await?;
        self.1.check().await
    }
}

#[async_trait]
impl<G: Guard + ?Sized> Guard for std::sync::Arc<G> {
    async fn check(&self) -> Result<()> {
        (**self).check().await
    }
}
