//! A lock that is an object beside the state, made only where there is none: Terraform's `.tflock` on S3.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{
    Attributes, BlobStore, BlobVersion, DeleteOptions, ErrorKind as BlobError, GetOptions, Key, Precondition,
    PutOptions, Role,
};
use groundstate_common::Sleeper;
use groundstate_statemgr::{Exclusion, Op, Result};

use crate::backend::Equipment;
use crate::failure::failed;
use crate::scheme::slot::{Created, Removed, Seen, Slot, SlotLock, scheme_of_slot};
use crate::store::ObjectStateStore;

/// A lock object: the client that creates it holds the lock, its content says who that is, and deleting it releases the lock.
#[derive(Debug)]
pub struct LockObject(SlotLock<ObjectSlot>);

impl LockObject {
    /// The lock object `key`. `path` goes into the documents, where the original programs show it.
    pub fn new(blobs: Arc<dyn BlobStore>, key: Key, path: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self(SlotLock::new(ObjectSlot { blobs, key }, path, sleeper))
    }
}

scheme_of_slot!(LockObject);

/// Locks each state by an object of its own: for S3, and for places that are only ours.
///
/// The `Path` of lock documents is what comes before the key of the state, a slash, and that key.
#[derive(Clone, Debug)]
pub struct LockFiles {
    place: Arc<str>,
    exclusion: Exclusion,
    sleeper: Arc<dyn Sleeper>,
}

impl LockFiles {
    /// Lock objects in a container that documents call `place`, which keep out whom `exclusion` says.
    pub fn new(place: &str, exclusion: Exclusion, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { place: place.into(), exclusion, sleeper }
    }
}

impl Equipment for LockFiles {
    fn equip(&self, store: ObjectStateStore, lock: Key) -> Result<ObjectStateStore> {
        let path = format!("{}/{}", self.place, store.key());
        let lock = LockObject::new(Arc::clone(store.blobs()), lock, &path, Arc::clone(&self.sleeper));
        Ok(store.lock_with(Arc::new(lock), self.exclusion))
    }
}

/// An object as the slot of a lock.
#[derive(Debug)]
struct ObjectSlot {
    blobs: Arc<dyn BlobStore>,
    key: Key,
}

impl fmt::Display for ObjectSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.blobs, self.key)
    }
}

#[async_trait]
impl Slot for ObjectSlot {
    type Token = BlobVersion;

    async fn create(&self, document: &str) -> Result<Created> {
        let mut options = PutOptions::expecting(Precondition::Absent).role(Role::Lock);
        if self.blobs.capabilities().attributes {
            options.attributes = Attributes::content_type("application/json");
        }
        let put = self.blobs.put(&self.key, document.to_owned().into(), &options).await;
        let Err(error) = put else { return Ok(Created::Done) };
        match error.kind() {
            BlobError::PreconditionFailed => {
                Ok(Created::Taken(error.found().map(|blob| blob.bytes.to_vec())))
            }
            BlobError::Ambiguous => Ok(Created::Unknown(failed(Op::Lock, self, error))),
            _ => Err(failed(Op::Lock, self, error)),
        }
    }

    async fn look(&self, op: Op) -> Result<Option<Seen<BlobVersion>>> {
        let options = GetOptions::default().role(Role::Lock);
        let blob = self.blobs.get(&self.key, &options).await.map_err(|error| failed(op, self, error))?;
        Ok(blob.map(|blob| Seen::new(&blob.bytes, blob.version().clone())))
    }

    async fn remove(&self, token: &BlobVersion) -> Result<Removed> {
        match self.blobs.delete(&self.key, &DeleteOptions::version(token)).await {
            // Gone between looking and deleting counts as gone.
            Ok(_) => Ok(Removed::Done),
            Err(error) => match error.kind() {
                BlobError::PreconditionFailed => Ok(Removed::Changed),
                BlobError::Ambiguous => Ok(Removed::Unknown(failed(Op::Unlock, self, error))),
                _ => Err(failed(Op::Unlock, self, error)),
            },
        }
    }

    /// Not every service honours the condition of a deletion, so it is always looked first.
    fn token(&self, _: &str) -> Option<BlobVersion> {
        None
    }
}
