//! What only some backends have beside their states: digests and second locks, and ways to put them right.

use std::fmt;

use async_trait::async_trait;
use groundstate_statemgr::{LockHolder, LockId, LockInfo, Result, WorkspaceName};

/// Looks after what a backend keeps beside its states.
#[async_trait]
pub trait LockMaintenance: fmt::Debug + Send + Sync + 'static {
    /// Every lock that is held on the state of a workspace, also those that the settings do not use: a crash or a mixed team
    /// may leave half of a lock.
    ///
    /// # Errors
    ///
    /// `Denied`, `Unavailable`.
    async fn locks(&self, workspace: &WorkspaceName) -> Result<Vec<FoundLock>>;

    /// Releases the lock of this id that [`locks`](Self::locks) has shown, whichever mechanism it is of.
    ///
    /// # Errors
    ///
    /// `Locked` when another lock is in force, `NotFound` when none is; `Denied`, `Unavailable`, `Ambiguous`.
    async fn force_unlock(&self, workspace: &WorkspaceName, id: &LockId) -> Result<()>;

    /// Makes the digest beside a state that of the state, under the lock.
    ///
    /// # Errors
    ///
    /// `Unsupported` where no digest is kept; those of locking, reading and writing.
    async fn repair_digest(&self, workspace: &WorkspaceName, lock: &LockInfo) -> Result<DigestRepair>;

    /// Moves the lock of a state from a table to an object, and takes the digest out of the table. A dry run changes nothing.
    ///
    /// # Errors
    ///
    /// `Unsupported` where there is no table; `Locked` while either lock is held; `Corrupt` when digest and state do not agree;
    /// those of locking and reading.
    async fn migrate_lock(
        &self,
        workspace: &WorkspaceName,
        lock: &LockInfo,
        dry_run: bool,
    ) -> Result<LockMove>;
}

/// A lock that is held, by one mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundLock {
    /// Where it is, in words.
    pub place: String,
    /// Who holds it.
    pub holder: LockHolder,
}

impl FoundLock {
    /// A lock in a place.
    pub fn new(place: impl Into<String>, holder: LockHolder) -> Self {
        Self { place: place.into(), holder }
    }
}

/// A digest that is right now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DigestRepair {
    /// Where it stands, in words.
    pub row: String,
    /// What stood there.
    pub before: Option<String>,
    /// What stands there now; nothing where there is no state.
    pub now: Option<String>,
}

impl DigestRepair {
    /// What stood in a row, and what stands there now.
    pub fn new(row: impl Into<String>, before: Option<String>, now: Option<String>) -> Self {
        Self { row: row.into(), before, now }
    }
}

/// A lock that went from a table to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockMove {
    /// The object that locks the state from now on.
    pub lock: String,
    /// The digest that was in the table.
    pub digest: Option<String>,
}

impl LockMove {
    /// The object, and the digest that was in the table.
    pub fn new(lock: impl Into<String>, digest: Option<String>) -> Self {
        Self { lock: lock.into(), digest }
    }
}
