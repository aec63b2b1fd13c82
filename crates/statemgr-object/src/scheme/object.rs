//! A lock that is an object beside the state, made only where there is none: Terraform's `.tflock` on S3.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs::{
    Attributes, Blob, BlobStore, DeleteOptions, ErrorKind as BlobError, GetOptions, Key, LeaseId,
    Precondition, PutOptions, Role,
};
use groundstate_statemgr::{
    Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Result, Sleeper,
};

use crate::backend::Equipment;
use crate::document;
use crate::failure::{failed, left_behind};
use crate::scheme::LockScheme;
use crate::store::ObjectStateStore;

/// How often a step is repeated whose outcome nobody knows, or that others came between.
const TRIES: u32 = 4;
/// What is waited between two tries at first; it doubles each time.
const PAUSE: Duration = Duration::from_millis(500);

/// A lock object: whoever creates it holds the lock, its content says who that is, and deleting it releases the lock.
#[derive(Clone, Debug)]
pub struct LockObject {
    blobs: Arc<dyn BlobStore>,
    key: Key,
    path: Arc<str>,
    sleeper: Arc<dyn Sleeper>,
}

/// What there is of a lock when somebody looks.
struct Found {
    holder: LockHolder,
    blob: Blob,
}

impl LockObject {
    /// The lock object `key`. `path` goes into the documents, where the original programs show it.
    pub fn new(blobs: Arc<dyn BlobStore>, key: Key, path: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { blobs, key, path: path.into(), sleeper }
    }

    async fn found(&self, op: &'static str) -> Result<Option<Found>> {
        let options = GetOptions::default().role(Role::Lock);
        let blob = self.blobs.get(&self.key, &options).await.map_err(|error| failed(op, self, error))?;
        Ok(blob.map(|blob| Found { holder: document::holder(&blob.bytes), blob }))
    }

    fn options(&self) -> PutOptions {
        let options = PutOptions::expecting(Precondition::Absent).role(Role::Lock);
        if self.blobs.capabilities().attributes {
            options.attributes(Attributes::content_type("application/json"))
        } else {
            options
        }
    }

    /// One attempt to create the object.
    async fn create(&self, id: &LockId, document: &str) -> Result<Created> {
        const OP: &str = "lock";
        let options = self.options();
        let put = self.blobs.put(&self.key, document.to_owned().into(), &options);
        let Err(error) = put.await else { return Ok(Created::Mine) };
        let refused = error.kind() == BlobError::PreconditionFailed;
        if !refused && error.kind() != BlobError::Ambiguous {
            return Err(failed(OP, self, error));
        }
        let holder = match error.found() {
            Some(blob) => Some(document::holder(&blob.bytes)),
            None => match self.found(OP).await {
                Ok(found) => found.map(|found| found.holder),
                Err(cause) if refused => {
                    let message =
                        format!("it is locked, and who holds it cannot be read: {cause}; it is held");
                    return Err(Error::locked(OP, self, None).because(message).with_source(cause));
                }
                Err(_) => return Err(left_behind(failed(OP, self, error), self, id)),
            },
        };
        match holder {
            // The lock was made although the answer said otherwise, or said nothing.
            Some(holder) if holder.id == *id => Ok(Created::Mine),
            Some(holder) => Err(Error::locked(OP, self, Some(holder))),
            None if refused => Ok(Created::Gone),
            None => Ok(Created::Unknown(failed(OP, self, error))),
        }
    }
}

/// What came of an attempt to create the object.
enum Created {
    /// The lock is taken.
    Mine,
    /// Somebody else's was in the way and is gone.
    Gone,
    /// Nobody knows: it is not there, and may still arrive.
    Unknown(Error),
}

impl fmt::Display for LockObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.blobs, self.key)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl LockScheme for LockObject {
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        let document = LockInfo { path: self.path.to_string(), ..info.clone() }.to_json();
        let mut pause = PAUSE;
        let mut unknown = None;
        // The same document every time, so that an attempt which arrives late is recognised too.
        for _ in 0..TRIES {
            match self.create(&info.id, &document).await {
                Ok(Created::Mine) => return Ok(LockGrant::new(info.id.clone())),
                Ok(Created::Gone) => {}
                Ok(Created::Unknown(error)) => {
                    unknown = Some(error);
                    self.sleeper.sleep(pause).await;
                    pause *= 2;
                }
                // Nothing came of this attempt; what came of the one before is not known any better.
                Err(error) if error.kind() == ErrorKind::Unavailable && unknown.is_some() => {
                    return Err(left_behind(unknown.unwrap_or(error), self, &info.id));
                }
                Err(error) => return Err(error),
            }
        }
        match unknown {
            Some(error) => Err(left_behind(error, self, &info.id)),
            None => Err(Error::raced("lock", self)),
        }
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        const OP: &str = "unlock";
        let mut pause = PAUSE;
        let mut unknown = None;
        for _ in 0..TRIES {
            let found = self.found(OP).await.map_err(|error| left_behind(error, self, id))?;
            let Some(found) = found.filter(|found| unknown.is_none() || found.holder.id == *id) else {
                // After a deletion whose answer got lost, a lock that is gone is one that was released.
                return match unknown {
                    Some(_) => Ok(()),
                    None => Err(Error::new(ErrorKind::NotFound, OP, self).because("it is not locked")),
                };
            };
            if found.holder.id != *id {
                return Err(Error::locked(OP, self, Some(found.holder)));
            }
            let options = DeleteOptions::version(found.blob.version());
            match self.blobs.delete(&self.key, &options).await {
                // Gone between looking and deleting is gone all the same.
                Ok(_) => return Ok(()),
                // Something else lies there now; the next look says what.
                Err(error) if error.kind() == BlobError::PreconditionFailed => {}
                Err(error) if error.kind() == BlobError::Ambiguous => {
                    unknown = Some(error);
                    self.sleeper.sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => return Err(left_behind(failed(OP, self, error), self, id)),
            }
        }
        let error = match unknown {
            Some(error) => failed(OP, self, error),
            None => Error::new(ErrorKind::Unavailable, OP, self).because("the object changes all the time"),
        };
        Err(left_behind(error, self, id))
    }

    async fn holder(&self) -> Result<Option<LockHolder>> {
        Ok(self.found("find the holder of the lock of").await?.map(|found| found.holder))
    }

    async fn verify(&self, id: &LockId) -> Result<()> {
        let found = self.found("check the lock of").await?;
        held_by(found.map(|found| found.holder), id, self)
    }

    fn lease(&self, _: &LockId) -> Option<LeaseId> {
        None
    }
}

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

/// `LockLost` unless the holder's lock is that of `id`.
pub(crate) fn held_by(holder: Option<LockHolder>, id: &LockId, target: impl fmt::Display) -> Result<()> {
    let found = match holder {
        Some(holder) if holder.id == *id => return Ok(()),
        Some(holder) => format!("that of {holder}"),
        None => "none".to_owned(),
    };
    Err(Error::new(ErrorKind::LockLost, "write under the lock", target)
        .because("the lock was released by somebody else, take it again and refresh")
        .expected_and_found(format!("the lock {id}"), found))
}
