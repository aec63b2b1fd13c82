//! The store: a state in one object, written under conditions and locked by whatever scheme its place has.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{Attributes, Blob, BlobStore, GetOptions, Key, LeaseId};
use groundstate_common::IdSource;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Op, Result,
    StateStore, Stored, Version, WriteOptions, traced,
};

use crate::digest::{Digests, RepairedDigest, Verdict};
use crate::failure::failed;
use crate::scheme::LockScheme;

/// A client of a state in an object.
///
/// Every write says what it replaces, whether anybody locks or not. Under a lock, the lock is asked for before each write,
/// so that a lock that was broken by force is noticed before anything is overwritten.
pub struct ObjectStateStore {
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) key: Key,
    lock: Option<Arc<dyn LockScheme>>,
    exclusion: Exclusion,
    pub(crate) digests: Option<Digests>,
    pub(crate) attributes: Attributes,
    /// Makes the marks by which writes are known again whose answers got lost.
    pub(crate) marks: Option<Arc<dyn IdSource>>,
    verify: bool,
    /// The lock that this client took and has not released.
    held: Mutex<Option<LockId>>,
    pub(crate) target: Arc<str>,
}

impl ObjectStateStore {
    /// The state in `key`, without a lock.
    pub fn new(blobs: Arc<dyn BlobStore>, key: Key) -> Self {
        let target = format!("{blobs}/{key}").into();
        let attributes = if blobs.capabilities().attributes {
            Attributes::content_type("application/json")
        } else {
            Attributes::default()
        };
        Self {
            blobs,
            key,
            lock: None,
            exclusion: Exclusion::None,
            digests: None,
            attributes,
            marks: None,
            verify: true,
            held: Mutex::default(),
            target,
        }
    }

    /// Sets how it is locked, and whom the lock keeps out.
    #[must_use]
    pub fn lock_with(mut self, scheme: Arc<dyn LockScheme>, exclusion: Exclusion) -> Self {
        self.lock = Some(scheme);
        self.exclusion = exclusion;
        self
    }

    /// Sets where the digest is.
    #[must_use]
    pub fn digests(mut self, digests: Digests) -> Self {
        self.digests = Some(digests);
        self
    }

    /// Sets the content type and metadata of the state, `application/json` by default where the store keeps them.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.attributes = attributes;
        self
    }

    /// Marks each write with an id of its own, in the metadata `groundstatewrite` where the store keeps any.
    ///
    /// A write whose answer got lost is known again by its content. Without a mark, two clients that write equal bytes at the
    /// same time may both be told that they did it.
    #[must_use]
    pub fn mark_writes(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.marks = Some(ids).filter(|_| self.blobs.capabilities().attributes);
        self
    }

    /// Sets whether each write under a lock asks for the lock first, as it does by default. Without, a write costs a
    /// request less, and a lock that was broken is noticed only by what was written meanwhile.
    #[must_use]
    pub fn verify_lock(mut self, yes: bool) -> Self {
        self.verify = yes;
        self
    }

    /// The object of the state.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The container.
    pub fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.blobs
    }

    /// Makes the digest that of the state as it is stored. Hold the lock: a write in between would be given a wrong digest.
    ///
    /// # Errors
    ///
    /// `Unsupported` where no digest is kept, `Denied`, `Unavailable`, `Ambiguous`.
    pub async fn repair_digest(&self) -> Result<RepairedDigest> {
        let Some(digests) = &self.digests else {
            return Err(Error::unsupported(Op::Other("repair the digest of"), self)
                .because("no digest is kept of it"));
        };
        let blob = self.get(Op::Read).await?;
        digests.repair(blob.as_ref().map(|blob| &*blob.bytes)).await
    }

    /// What is stored; zero bytes are nothing.
    pub(crate) async fn get(&self, op: Op) -> Result<Option<Blob>> {
        let mut options = GetOptions::default();
        options.lease = self.lease();
        let blob = self.blobs.get(&self.key, &options).await.map_err(|error| failed(op, self, error))?;
        Ok(blob.filter(|blob| !blob.bytes.is_empty()))
    }

    pub(crate) fn lease(&self) -> Option<LeaseId> {
        let held = self.held().clone()?;
        self.lock.as_ref()?.lease(&held)
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, Option<LockId>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scheme(&self, op: Op) -> Result<&Arc<dyn LockScheme>> {
        self.lock
            .as_ref()
            .ok_or_else(|| Error::unsupported(op, self).because("it is configured without locks"))
    }

    /// Asks for the lock that this client believes to hold.
    pub(crate) async fn verify(&self) -> Result<()> {
        let held = self.held().clone();
        match (held, &self.lock) {
            (Some(id), Some(scheme)) if self.verify => scheme.verify(&id).await,
            _ => Ok(()),
        }
    }

    /// Releases a lock, and says if it was this client's and had been released before.
    async fn free(&self, op: Op, id: &LockId) -> Result<()> {
        let outcome = self.scheme(op)?.unlock(id).await;
        match outcome {
            Ok(()) => {
                self.held().take_if(|held| held == id);
                Ok(())
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Locked)
                    && self.held().take_if(|held| held == id).is_some() =>
            {
                let message = format!("the lock {id} was released by another client while it was held");
                Err(Error::new(ErrorKind::LockLost, op, self).because(message).with_source(error))
            }
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for ObjectStateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.target)
    }
}

impl fmt::Debug for ObjectStateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStateStore")
            .field("state", &self.target)
            .field("lock", &self.lock)
            .field("digests", &self.digests)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for ObjectStateStore {
    fn capabilities(&self) -> Capabilities {
        let mut all = Capabilities::none().delete();
        if self.blobs.capabilities().conditional_put {
            all = all.conditional_write();
        }
        if self.lock.is_some() {
            all = all.locking(self.exclusion).force_unlock().holder();
        }
        all
    }

    async fn read(&self) -> Result<Option<Stored>> {
        traced::read(self, self.read_current()).await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        traced::write(self, bytes.len(), options, self.replace(bytes, options)).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        traced::delete(self, options, self.remove(options)).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        traced::grant(Op::Lock, self, &info.id, self.take(info)).await
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::Unlock, self, id, self.free(Op::Unlock, id)).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::ForceUnlock, self, id, self.free(Op::ForceUnlock, id)).await
    }

    fn lock_name(&self) -> String {
        self.lock.as_ref().map_or_else(|| self.to_string(), ToString::to_string)
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        traced::holder(self, async { self.scheme(Op::FindHolder)?.holder().await }).await
    }
}

impl ObjectStateStore {
    /// What is stored, once the digest agrees with it.
    async fn read_current(&self) -> Result<Option<Stored>> {
        let stored = |blob: Blob| {
            let version = Version::new(&blob.version().to_string());
            Stored::new(blob.bytes.to_vec(), version).written_at(blob.meta.last_modified)
        };
        let Some(digests) = &self.digests else { return Ok(self.get(Op::Read).await?.map(stored)) };
        let wait = digests.wait();
        loop {
            let blob = self.get(Op::Read).await?;
            match wait.judge(blob.as_ref().map(|blob| &*blob.bytes), &self.target).await? {
                Verdict::Current => return Ok(blob.map(stored)),
                Verdict::Again => {}
            }
        }
    }

    async fn take(&self, info: &LockInfo) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        let scheme = self.scheme(OP)?;
        if info.id.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, OP, self).because("the lock has no id"));
        }
        // A lock of this id that is found is taken for the own one, so the holder must not ask for it a second time.
        let again = self.held().as_ref() == Some(&info.id);
        if again && let Some(holder) = scheme.holder().await?.filter(|holder| holder.info.id == info.id) {
            return Err(Error::locked(OP, self, Some(holder)));
        }
        let grant = scheme.lock(info).await?;
        *self.held() = Some(grant.id.clone());
        Ok(grant)
    }
}
