//! What users of a state ask for: small traits, and the unions of them that places hand out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_statefile::File;
use groundstate_states::{OutputValue, State};

use crate::error::Result;
use crate::holder::{LockGrant, LockHolder};
use crate::intermediate::PersistInfo;
use crate::lock_info::{LockId, LockInfo};
use crate::meta::SnapshotMeta;

/// Gives the transient snapshot: the one that lives in this process only.
pub trait Reader: Send + Sync {
    /// The latest transient snapshot, as a copy of the caller's own.
    ///
    /// It cannot fail and does no I/O. `None` means that nothing was read or written yet, or that nothing is stored.
    fn state(&self) -> Option<State>;
}

/// Replaces the transient snapshot.
pub trait Writer: Send + Sync {
    /// Makes a copy of `state` the transient snapshot.
    ///
    /// Persistent storage and history stay as they are.
    ///
    /// # Errors
    ///
    /// None, for all managers but those that exist to fail.
    fn write_state(&self, state: &State) -> Result<()>;

    /// Lets `change` work on the transient snapshot in place, without copying it; it is absent before the first one.
    ///
    /// No other caller sees the snapshot meanwhile, so `change` is quick and does not call the manager. If it panics, the
    /// snapshot is absent afterwards.
    ///
    /// # Errors
    ///
    /// Those of [`write_state`](Self::write_state).
    fn mutate_state(&self, change: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()>;
}

/// Loads the persistent snapshot.
#[async_trait]
pub trait Refresher: Send + Sync {
    /// Makes the latest persistent snapshot the transient one, in place of whatever that was.
    ///
    /// Where nothing is stored, a transient snapshot that was written and not yet persisted stays, and any other goes.
    /// It is safe while other processes persist. What a file does not hold (local values, outputs of modules) is lost.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::read`](crate::StateStore::read), and `Corrupt` when what is stored is not a usable state.
    async fn refresh_state(&self) -> Result<()>;
}

/// What a persist did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Persisted {
    /// What is stored already says the same: nothing was written.
    Unchanged,
    /// The snapshot was written.
    Written,
}

/// Stores the transient snapshot.
#[async_trait]
pub trait Persister: Send + Sync {
    /// Makes the transient snapshot the latest persistent one, unless they say the same.
    ///
    /// What another client has persisted meanwhile is not overwritten.
    ///
    /// # Errors
    ///
    /// `Conflict` when another client did; what is stored and the transient snapshot stay as they are. Otherwise those
    /// of [`StateStore::write`](crate::StateStore::write), and `Invalid` for a state that no file can hold.
    async fn persist_state(&self) -> Result<Persisted>;

    /// Whether to persist now, between two changes of a run that goes on.
    fn should_persist_intermediate_state(&self, info: &PersistInfo) -> bool;
}

/// Root output values by name.
pub type OutputValues = BTreeMap<Arc<str>, Arc<OutputValue>>;

/// Reads the root outputs alone; a separate trait because services may allow that to more people.
#[async_trait]
pub trait OutputReader: Send + Sync {
    /// The root outputs of the latest persistent snapshot; none where nothing is stored.
    ///
    /// The transient snapshot stays as it is.
    ///
    /// # Errors
    ///
    /// Those of [`Refresher::refresh_state`].
    async fn root_output_values(&self) -> Result<OutputValues>;
}

/// Keeps others out, as long as they lock too.
///
/// Of all who lock, one holds the lock at a time. Refreshing and handing out managers needs no lock; a client that persists
/// holds it from before the refresh until after the persist. [`LockGuard`](crate::LockGuard) sees to the release.
#[async_trait]
pub trait Locker: fmt::Display + Send + Sync {
    /// Whether [`lock`](Self::lock) locks anything; releasing by force is useless otherwise.
    fn is_locking_enabled(&self) -> bool;

    /// Takes the lock, or fails at once with `Locked`; `None` where there is nothing to lock and to unlock.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::lock`](crate::StateStore::lock).
    async fn lock(&self, info: &LockInfo) -> Result<Option<LockGrant>>;

    /// Prolongs a lock that ends by itself.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::renew`](crate::StateStore::renew).
    async fn renew(&self, id: &LockId) -> Result<LockGrant>;

    /// Releases the lock that was granted under this id, and fails for any other. Where nothing can be locked it succeeds.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::unlock`](crate::StateStore::unlock).
    async fn unlock(&self, id: &LockId) -> Result<()>;

    /// Releases the lock of another client.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::force_unlock`](crate::StateStore::force_unlock).
    async fn force_unlock(&self, id: &LockId) -> Result<()>;

    /// Who holds the lock, if it is held.
    ///
    /// # Errors
    ///
    /// Those of [`StateStore::lock_holder`](crate::StateStore::lock_holder).
    async fn lock_holder(&self) -> Result<Option<LockHolder>>;
}

/// Knows lineage and serial of its snapshots.
pub trait PersistentMeta: Send + Sync {
    /// The metadata of the snapshot that was last refreshed or persisted; without meaning before that.
    fn snapshot_meta(&self) -> SnapshotMeta;
}

/// Moves snapshots together with their metadata.
pub trait Migrator: PersistentMeta {
    /// The transient snapshot with its metadata; `None` when there is none.
    fn state_for_migration(&self) -> Option<File>;

    /// Makes `file` the transient snapshot, metadata included; the next persist stores it.
    ///
    /// Unless forced, [`check_valid_import`](crate::check_valid_import) is applied to the current snapshot. A file
    /// without a lineage joins the lineage that is there.
    ///
    /// # Errors
    ///
    /// `LineageMismatch` or `Conflict` when the check fails.
    fn write_state_for_migration(&self, file: File, force: bool) -> Result<()>;
}

/// Access to what not every manager has. Wrappers pass it on, so that metadata is not lost in them.
pub trait Extensions: Send + Sync {
    /// The manager as one that knows its metadata.
    fn as_persistent_meta(&self) -> Option<&dyn PersistentMeta>;

    /// The manager as one that moves metadata.
    fn as_migrator(&self) -> Option<&dyn Migrator>;
}

/// A transient snapshot: what was written last is what is read. Both are safe from any thread.
pub trait Transient: Reader + Writer {}

impl<T: Reader + Writer + ?Sized> Transient for T {}

/// A persistent snapshot: what was persisted is what a refresh gives, unless another client persisted since.
pub trait Persistent: Refresher + Persister + OutputReader {}

impl<T: Refresher + Persister + OutputReader + ?Sized> Persistent for T {}

/// Both snapshots.
pub trait Storage: Transient + Persistent + Extensions {}

impl<T: Transient + Persistent + Extensions + ?Sized> Storage for T {}

/// Both snapshots and the lock: what places hand out.
pub trait Full: Storage + Locker {}

impl<T: Storage + Locker + ?Sized> Full for T {}

/// Refreshes, and gives the state.
///
/// # Errors
///
/// Those of the refresh.
pub async fn refresh_and_read(manager: &(impl Storage + ?Sized)) -> Result<Option<State>> {
    manager.refresh_state().await?;
    Ok(manager.state())
}

/// Writes, and persists. After an error the transient snapshot may be the old one or the new one.
///
/// # Errors
///
/// Those of writing and persisting.
pub async fn write_and_persist(manager: &(impl Storage + ?Sized), state: &State) -> Result<Persisted> {
    manager.write_state(state)?;
    manager.persist_state().await
}
