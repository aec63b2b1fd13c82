//! One state in one blob of Azure, which is also what its lock is on.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, Key, LeaseId, Leases};
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Op, Result,
    StateStore, Stored, Version, WriteOptions, traced,
};

use super::seen::Seen;

/// How often something is tried again at once because another client came in between.
pub(super) const ATTEMPTS: usize = 4;

/// A state in a blob with leases, as Terraform's `azurerm` backend keeps it.
///
/// The lock is an infinite lease of the state's own blob, whose id is the lock's, and the lock document stands in the
/// blob's metadata under `terraformlockid`. Writes carry the lease *and* the entity tag of what they replace, so what
/// another client wrote is never lost, with locks or without.
///
/// [`Version`]s are digests of the content, since Azure's entity tags change with each lock. Where the lock was broken
/// between two steps of taking or releasing it, a lease without a document is left: [`StateStore::lock_holder`] shows it
/// under an id that begins with `break-lease`, and [`StateStore::force_unlock`] with that id breaks it.
///
/// A deletion under the lock empties the blob, and releasing the lock removes it: Azure has no leases on what is not there.
pub struct AzureStore {
    pub(super) blobs: Arc<dyn BlobStore>,
    pub(super) key: Key,
    /// What goes into lock documents: `CONTAINER/KEY`.
    pub(super) path: String,
    pub(super) snapshot: bool,
    mine: Mutex<Mine>,
}

/// What this client knows.
#[derive(Debug, Default)]
pub(super) struct Mine {
    /// The lease that it took and has not released.
    pub(super) lease: Option<LeaseId>,
    /// Whether the state was deleted under it, so that releasing it has to remove the blob.
    pub(super) deleted: bool,
    /// The blob as it was when it was last seen.
    pub(super) seen: Option<Seen>,
}

impl AzureStore {
    /// The state in the blob `key` of the container that `blobs` are.
    ///
    /// # Errors
    ///
    /// `Unsupported` when the store has no leases or no conditions.
    pub fn new(blobs: Arc<dyn BlobStore>, container: &str, key: Key) -> Result<Self> {
        let path = format!("{container}/{key}");
        let can = blobs.capabilities();
        if !(can.leases && can.conditional_put && can.conditional_delete && can.attributes) {
            return Err(Error::unsupported(Op::Other("open"), &path)
                .because("the store has no leases, choose another layout"));
        }
        Ok(Self { blobs, key, path, snapshot: false, mine: Mutex::default() })
    }

    /// Whether to take a snapshot of the blob before each write, as the setting `snapshot` asks for.
    #[must_use]
    pub fn snapshot(mut self, yes: bool) -> Self {
        self.snapshot = yes;
        self
    }

    /// The blob of the state.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The container.
    pub fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.blobs
    }

    pub(super) fn mine(&self) -> MutexGuard<'_, Mine> {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        self.mine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn leases(&self, op: Op) -> Result<&dyn Leases> {
        self.blobs.leases().ok_or_else(|| Error::unsupported(op, self))
    }

    pub(super) fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, self)
    }
}

impl fmt::Display for AzureStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.blobs, self.key)
    }
}

impl fmt::Debug for AzureStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AzureStore");
        shown.field("blobs", &self.blobs).field("key", &self.key).field("snapshot", &self.snapshot);
        shown.finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for AzureStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::none().locking(Exclusion::Global).conditional_write().force_unlock().holder().delete()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        traced::read(self, self.read_state()).await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        traced::write(self, bytes.len(), options, self.write_state(&bytes, options)).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        traced::delete(self, options, self.delete_state(options)).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        traced::grant(Op::Lock, self, &info.id, self.take(info)).await
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        let why = "its locks last until they are released, there is nothing to renew";
        Err(Error::unsupported(Op::RenewLock, self).because(why))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::Unlock, self, id, self.release(Op::Unlock, id)).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::ForceUnlock, self, id, self.release(Op::ForceUnlock, id)).await
    }

    fn lock_name(&self) -> String {
        format!("the lease on {self}")
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        traced::holder(self, self.look_for_holder(Op::FindHolder)).await
    }
}
