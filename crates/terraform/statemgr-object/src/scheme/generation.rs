//! The lock of Terraform's `gcs` backend: an object that is created once, and known by its generation.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Attributes, Blob, BlobStore, BlobVersion, DeleteOptions, ErrorKind as BlobErrorKind, GetOptions, Key,
    LeaseId, Precondition, PutOptions, Role,
};
use groundstate_common::IdSource;
use groundstate_statemgr::{
    Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Op, Result, Sleeper,
};
use tracing::debug;

use crate::backend::Equipment;
use crate::failure::{failed, left_behind};
use crate::scheme::LockScheme;
use crate::scheme::slot::held_by;
use crate::store::ObjectStateStore;

const LOCK: Op = Op::Lock;
const UNLOCK: Op = Op::Unlock;

/// How often a request is made again at once when the object was there and then was not, or the answer got lost.
const ATTEMPTS: u32 = 4;

/// What is waited after an answer got lost, before the request is made again.
const PAUSE: Duration = Duration::from_secs(1);

/// An object that holds the lock document while it exists. Its generation, in decimal, is the id of the lock.
///
/// The id in the document stays the random one it was asked with, as in the original, and releases nothing. Releasing is
/// one conditional deletion, so a lock that went to another client is never taken from it.
#[derive(Clone, Debug)]
pub struct GenerationLock {
    blobs: Arc<dyn BlobStore>,
    key: Key,
    path: Arc<str>,
    sleeper: Arc<dyn Sleeper>,
    /// The ids of the lock that was taken: the document's, and the one that releases it.
    taken: Arc<Mutex<Option<(LockId, LockId)>>>,
}

impl GenerationLock {
    /// The lock object at `key`. `path` is what goes into the document: `gs://BUCKET/KEY`.
    ///
    /// # Errors
    ///
    /// `Unsupported` when the store has no generations, or does not compare them.
    pub fn new(blobs: Arc<dyn BlobStore>, key: Key, path: &str, sleeper: Arc<dyn Sleeper>) -> Result<Self> {
        let can = blobs.capabilities();
        if !(can.generations && can.conditional_put && can.conditional_delete) {
            let why = "the store does not compare generations, choose another kind of lock";
            return Err(Error::unsupported(LOCK, path).because(why));
        }
        Ok(Self { blobs, key, path: path.into(), sleeper, taken: Arc::default() })
    }

    /// Reads the lock object; nothing if there is none.
    async fn get(&self, op: Op) -> Result<Option<Found>> {
        let blob = self.blobs.get(&self.key, &GetOptions::default().role(Role::Lock)).await;
        Ok(blob.map_err(|error| failed(op, self, error))?.map(Found))
    }

    /// One attempt to create the object.
    async fn create(&self, document: &Bytes, id: &LockId) -> Result<Created> {
        let options = PutOptions::expecting(Precondition::Absent)
            .attributes(Attributes::content_type("application/json"))
            .role(Role::Lock);
        let error = match self.blobs.put(&self.key, document.clone(), &options).await {
            Ok(version) => match self.mine(&version)? {
                // Retries of the store below take a lock of this document for this attempt's.
                Created::Mine(grant) if self.taken().as_ref() == Some(&(id.clone(), grant.id.clone())) => {
                    let holder = LockInfo::parse(document).map(LockHolder::of).ok();
                    return Err(Error::locked(LOCK, self, holder.map(|holder| holder.with_id(grant.id))));
                }
                created => return Ok(created),
            },
            Err(error) => error,
        };
        let refused = error.kind() == BlobErrorKind::PreconditionFailed;
        if !refused && error.kind() != BlobErrorKind::Ambiguous {
            return Err(failed(LOCK, self, error));
        }
        let found = match error.found() {
            Some(blob) => Some(Found(blob.clone())),
            None => match self.get(LOCK).await {
                Ok(found) => found,
                Err(cause) if refused => return Err(self.held_by_another(cause)),
                Err(_) => return Err(self.in_doubt(failed(LOCK, self, error))),
            },
        };
        let Some(found) = found else {
            return Ok(if refused { Created::Gone } else { Created::Unknown(failed(LOCK, self, error)) });
        };
        match found.document() {
            // No other client has this id: it is the lock of an earlier request of ours whose answer got lost.
            Some(info) if info.id == *id && !self.has_taken(id, &found) => self.mine(found.0.version()),
            _ => Err(Error::locked(LOCK, self, Some(found.holder()))),
        }
    }

    fn mine(&self, version: &BlobVersion) -> Result<Created> {
        let why = "the service did not say which generation the lock has, so look who holds it and release it by force";
        let grant = Found::grant(version);
        grant.map(Created::Mine).ok_or_else(|| Error::new(ErrorKind::Internal, LOCK, self).because(why))
    }

    /// The refusal where the lock is held, and who holds it cannot be read.
    fn held_by_another(&self, cause: Error) -> Error {
        let why = format!("it is locked, and who holds it cannot be read: {cause}; it is held");
        Error::locked(LOCK, self, None).because(why).with_source(cause)
    }

    /// It is unknown whether the lock was taken, and which generation it has then.
    fn in_doubt(&self, error: Error) -> Error {
        let why = "the answer got lost, so the lock may have been taken; look who holds it, and release it by force if it is you";
        Error::new(ErrorKind::Ambiguous, LOCK, self).because(why).with_source(error)
    }

    /// Whether this is the lock that was granted before, so that it is not granted a second time.
    fn has_taken(&self, id: &LockId, found: &Found) -> bool {
        self.taken().as_ref().is_some_and(|(document, lock)| document == id && *lock == found.id())
    }

    /// Tells that another step follows on this one.
    fn again(&self, id: &LockId, attempt: u32, why: &str) {
        debug!(place = &*self.path, lock = id.as_str(), attempt, why, "trying again");
    }

    fn taken(&self) -> MutexGuard<'_, Option<(LockId, LockId)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The refusal to release under an id that is not that of the lock in force.
    async fn refuse(&self, id: &LockId) -> Error {
        let found = match self.get(UNLOCK).await {
            Err(error) => return error,
            Ok(None) => return Error::new(ErrorKind::NotFound, UNLOCK, self).because("it is not locked"),
            Ok(Some(found)) => found,
        };
        let holder = found.holder();
        let error = Error::locked(UNLOCK, self, Some(holder.clone()));
        if generation_of(id).is_some() {
            return error.because("another lock is in force than the one named; it is held");
        }
        let what =
            if holder.info.id == *id { "is only in the document of the lock" } else { "is none of a lock" };
        error.because(format!(
            "the id {id} {what}: locks of Google Cloud Storage are released by the generation of their object, a number, \
             here {}; it is held",
            holder.id
        ))
    }
}

/// What came of an attempt to create the object.
enum Created {
    /// The lock is taken.
    Mine(LockGrant),
    /// Another client's was in the way and is gone.
    Gone,
    /// Unknown: it is not there, and may still arrive.
    Unknown(Error),
}

/// The lock object as it was found.
struct Found(Blob);

impl Found {
    fn document(&self) -> Option<LockInfo> {
        LockInfo::parse(&self.0.bytes).ok()
    }

    /// The holder, under the id that releases the lock; also where the document cannot be read.
    fn holder(&self) -> LockHolder {
        LockHolder::of(self.document().unwrap_or_default()).with_id(self.id())
    }

    fn id(&self) -> LockId {
        Self::grant(self.0.version()).map(|grant| grant.id).unwrap_or_default()
    }

    fn grant(version: &BlobVersion) -> Option<LockGrant> {
        let generation = version.generation()?;
        Some(LockGrant::new(LockId::new(&generation.to_string())))
    }
}

/// The generation an id names: digits and nothing else, as the original prints it.
fn generation_of(id: &LockId) -> Option<u64> {
    let generation = id.as_str().parse::<u64>().ok()?;
    (generation.to_string() == id.as_str()).then_some(generation)
}

impl fmt::Display for GenerationLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl LockScheme for GenerationLock {
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        if info.id.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, LOCK, self).because("the lock has no id"));
        }
        let info = LockInfo { path: self.path.to_string(), ..info.clone() };
        let document = Bytes::from(info.to_json());
        let mut unknown = None;
        // The same document every time, so that an attempt which arrives late is recognised too.
        for attempt in 1..=ATTEMPTS {
            match self.create(&document, &info.id).await {
                Ok(Created::Mine(grant)) => {
                    *self.taken() = Some((info.id, grant.id.clone()));
                    return Ok(grant);
                }
                Ok(Created::Gone) => self.again(&info.id, attempt, "another lock was released meanwhile"),
                Ok(Created::Unknown(error)) => {
                    self.again(&info.id, attempt, "the answer got lost");
                    unknown = Some(error);
                    self.sleeper.sleep(PAUSE).await;
                }
                // Nothing came of this attempt; what came of the one before is not known any better.
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    return Err(unknown.map_or(error, |unknown| self.in_doubt(unknown)));
                }
                Err(error) => return Err(error),
            }
        }
        Err(unknown.map_or_else(|| Error::raced(LOCK, self), |error| self.in_doubt(error)))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        let Some(generation) = generation_of(id) else {
            return Err(self.refuse(id).await);
        };
        let options = DeleteOptions::version(&BlobVersion::default().with_generation(generation));
        let mut in_doubt = false;
        for attempt in 1..=ATTEMPTS {
            match self.blobs.delete(&self.key, &options).await {
                Ok(true) => return Ok(()),
                // The request whose answer got lost has released it.
                Ok(false) if in_doubt => return Ok(()),
                Ok(false) => {
                    return Err(Error::new(ErrorKind::NotFound, UNLOCK, self).because("it is not locked"));
                }
                Err(error) => match error.kind() {
                    // A generation is given once, so ours is gone for good.
                    BlobErrorKind::PreconditionFailed if in_doubt => return Ok(()),
                    BlobErrorKind::PreconditionFailed => return Err(self.refuse(id).await),
                    BlobErrorKind::Ambiguous => {
                        in_doubt = true;
                        self.again(id, attempt, "the answer got lost");
                        self.sleeper.sleep(PAUSE).await;
                    }
                    _ if in_doubt => break,
                    _ => return Err(left_behind(failed(UNLOCK, self, error), self, id)),
                },
            }
        }
        let lost = Error::new(ErrorKind::Ambiguous, UNLOCK, self).because("the answer got lost");
        Err(left_behind(lost, self, id))
    }

    async fn holder(&self) -> Result<Option<LockHolder>> {
        Ok(self.get(Op::FindHolder).await?.map(|found| found.holder()))
    }

    async fn verify(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::CheckLock;
        held_by(self.get(OP).await?.map(|found| found.holder()), id, self)
    }

    fn lease(&self, _: &LockId) -> Option<LeaseId> {
        None
    }
}

/// Locks each state by the generation of an object, for Google Cloud Storage.
///
/// The `Path` of lock documents is `gs://BUCKET/` and the key of the lock object.
#[derive(Clone, Debug)]
pub struct GenerationLocks {
    bucket: Arc<str>,
    sleeper: Arc<dyn Sleeper>,
    verify: bool,
    marks: Option<Arc<dyn IdSource>>,
}

impl GenerationLocks {
    /// Lock objects in the bucket of this name.
    pub fn new(bucket: &str, sleeper: Arc<dyn Sleeper>) -> Self {
        Self { bucket: bucket.into(), sleeper, verify: false, marks: None }
    }

    /// Sets whether each write under a lock asks for the lock first. By default it does not, so that a write is one request
    /// as in the original; a lock that was broken is then noticed by what was written meanwhile, or when it is
    /// released.
    #[must_use]
    pub fn verify_lock(mut self, yes: bool) -> Self {
        self.verify = yes;
        self
    }

    /// Marks each write with an id of its own, so that one which arrives twice is known again.
    #[must_use]
    pub fn mark_writes(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.marks = Some(ids);
        self
    }
}

impl Equipment for GenerationLocks {
    fn equip(&self, store: ObjectStateStore, lock: Key) -> Result<ObjectStateStore> {
        let path = format!("gs://{}/{lock}", self.bucket);
        let lock = GenerationLock::new(Arc::clone(store.blobs()), lock, &path, Arc::clone(&self.sleeper))?;
        let store = store.lock_with(Arc::new(lock), Exclusion::Global).verify_lock(self.verify);
        Ok(match &self.marks {
            Some(ids) => store.mark_writes(Arc::clone(ids)),
            None => store,
        })
    }
}
