//! How a state in an object store is locked: the seam between the store and the mechanisms of the clouds.

mod both;
mod generation;
mod look;
mod object;
pub(crate) mod slot;
mod strict;

use std::fmt;

use async_trait::async_trait;
use groundstate_blobs::LeaseId;
use groundstate_statemgr::{LockGrant, LockHolder, LockId, LockInfo, Result};

pub use both::BothLocks;
pub use generation::{GenerationLock, GenerationLocks};
pub use look::LookLock;
pub use object::{LockFiles, LockObject};
pub use strict::StrictLock;

/// One way to lock one state, for one client.
///
/// The store remembers which lock its client took; a scheme only asks the service. It sees every refusal through: an
/// answer that got lost is looked up, and what is its own is recognised by the id in its document.
///
/// `Display` names the lock, such as `s3://bucket/key.tflock`, so that messages can say what is left where.
#[async_trait]
pub trait LockScheme: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// Takes the lock, or says at once who has it. The document's `Path` is set here.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::lock`](groundstate_statemgr::StateStore::lock).
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant>;

    /// Releases the lock of this id, whichever client took it, and no other one: check and release are one step where the service
    /// has such a step.
    ///
    /// # Errors
    ///
    /// `Locked` when another lock is in force, `NotFound` when none is, `Ambiguous` when it is not known, with what is left
    /// and how to free it; `Denied`, `Unavailable`.
    async fn unlock(&self, id: &LockId) -> Result<()>;

    /// Who holds the lock. A document that cannot be read still has an id, under which it is freed by force.
    ///
    /// # Errors
    ///
    /// `Denied`, `Unavailable`, `NotFound` for a missing container.
    async fn holder(&self) -> Result<Option<LockHolder>>;

    /// Asks whether the lock of this id is still in force, before something is written under it. A scheme whose writes the
    /// service itself refuses without the lock has nothing to ask.
    ///
    /// # Errors
    ///
    /// `LockLost` when it is not; those of [`holder`](Self::holder).
    async fn verify(&self, id: &LockId) -> Result<()>;

    /// What a write under the lock of this id has to carry, where the service itself refuses writes without.
    fn lease(&self, id: &LockId) -> Option<LeaseId>;
}
