//! The lease of a stack: one object that is written under conditions.

use groundstate_blobs::{
    Blob, BlobStore, BlobVersion, ErrorKind as BlobKind, GetOptions, Key, Precondition, PutOptions, Role,
};
use groundstate_common::Timestamp;

use super::found::{LockConflict, found_lease};
use super::objects::{LeaseHolder, LeaseObject, bytes};
use crate::{Backend, Error, ErrorKind, Op, Result};

/// A lease that is held, as it was last written.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) key: Key,
    pub(super) object: LeaseObject,
    version: BlobVersion,
}

/// What is stored: a document that may be damaged.
struct Stored {
    version: BlobVersion,
    object: Option<LeaseObject>,
}

impl Stored {
    fn of(blob: &Blob) -> Self {
        Self { version: blob.version().clone(), object: serde_json::from_slice(&blob.bytes).ok() }
    }

    fn is_of(&self, id: &str, token: u64) -> bool {
        self.object.as_ref().is_some_and(|object| {
            object.token == token && object.holder.as_ref().is_some_and(|holder| holder.id == id)
        })
    }
}

fn failed(backend: &Backend, key: &Key, error: groundstate_blobs::Error) -> Error {
    Error::from_store(Op::Lock, backend.place(key.as_str()), error)
}

fn lost(backend: &Backend, key: &Key, why: &str) -> Error {
    Error::new(ErrorKind::LockLost, Op::Lock, backend.place(key.as_str())).because(why)
}

async fn stored(backend: &Backend, key: &Key) -> Result<Option<Stored>> {
    let options = GetOptions::default().role(Role::Lock);
    let blob = backend.store().get(key, &options).await.map_err(|error| failed(backend, key, error))?;
    Ok(blob.as_ref().map(Stored::of))
}

/// Writes, and says which version it got; `None` if what is stored is not `expected`. A lost answer is looked up.
async fn put(
    backend: &Backend,
    key: &Key,
    object: &LeaseObject,
    expected: Option<&BlobVersion>,
) -> Result<Option<BlobVersion>> {
    let internal =
        |error| Error::new(ErrorKind::Internal, Op::Lock, backend.place(key.as_str())).with_source(error);
    let content = bytes(object).map_err(internal)?;
    let options = PutOptions::expecting(Precondition::of(expected)).role(Role::Lock);
    match backend.store().put(key, content, &options).await {
        Ok(version) => Ok(Some(version)),
        Err(error) if error.kind() == BlobKind::PreconditionFailed => Ok(None),
        Err(error) if error.kind() == BlobKind::Ambiguous => match stored(backend, key).await? {
            Some(found) if found.object.as_ref() == Some(object) => Ok(Some(found.version)),
            _ => Err(failed(backend, key, error)),
        },
        Err(error) => Err(failed(backend, key, error)),
    }
}

impl Lease {
    /// Takes the lease if it is free or has ended.
    pub(super) async fn acquire(
        backend: &Backend,
        key: Key,
        holder: LeaseHolder,
        abandoned: bool,
    ) -> Result<Self> {
        let before = stored(backend, &key).await?;
        let now = backend.context().clock.now();
        let in_force = before.as_ref().is_some_and(|before| match &before.object {
            // One of the same id is this holder's.
            Some(object) => {
                object.holder.as_ref().is_some_and(|held| held.expires > now && held.id != holder.id)
            }
            None => true,
        });
        if in_force && !abandoned {
            return Err(conflict(backend, &key).await);
        }
        let last = before.as_ref().and_then(|before| before.object.as_ref()).map(|object| object.token);
        // A damaged or deleted lease has no token to go on from; the time is above every token before.
        let token =
            last.unwrap_or_default().saturating_add(1).max(u64::try_from(now.seconds()).unwrap_or_default());
        let object = LeaseObject { token, holder: Some(holder) };
        match put(backend, &key, &object, before.as_ref().map(|before| &before.version)).await? {
            Some(version) => Ok(Self { key, object, version }),
            None => Err(conflict(backend, &key).await),
        }
    }

    /// The lease that a holder of this id has, whether or not it has ended.
    pub(super) async fn of(backend: &Backend, key: Key, id: &str) -> Result<Option<Self>> {
        let Some(Stored { version, object: Some(object) }) = stored(backend, &key).await? else {
            return Ok(None);
        };
        let is_its = object.holder.as_ref().is_some_and(|holder| holder.id == id);
        Ok(is_its.then_some(Self { key, object, version }))
    }

    fn id(&self) -> &str {
        self.object.holder.as_ref().map_or("", |holder| &holder.id)
    }

    /// When it ends.
    pub(super) fn expires(&self) -> Timestamp {
        self.object.holder.as_ref().map_or(Timestamp::UNIX_EPOCH, |holder| holder.expires)
    }

    /// Reads it, and refuses if it is another's.
    pub(super) async fn check(&self, backend: &Backend) -> Result<()> {
        match stored(backend, &self.key).await? {
            Some(found) if found.is_of(self.id(), self.object.token) => Ok(()),
            Some(_) => Err(lost(backend, &self.key, "another process took the lease, or it was cancelled")),
            None => Err(lost(backend, &self.key, "the lease was removed")),
        }
    }

    /// Writes it with a later end.
    pub(super) async fn renew(&self, backend: &Backend, expires: Timestamp) -> Result<Self> {
        let mut next = self.clone();
        if let Some(holder) = &mut next.object.holder {
            holder.expires = expires;
        }
        let found =
            stored(backend, &self.key).await?.filter(|found| found.is_of(self.id(), self.object.token));
        let Some(found) = found else {
            return Err(lost(backend, &self.key, "another process took the lease, or it was cancelled"));
        };
        let written = put(backend, &self.key, &next.object, Some(&found.version)).await?;
        next.version = written
            .ok_or_else(|| lost(backend, &self.key, "another process took the lease while it was renewed"))?;
        Ok(next)
    }

    /// Frees it, if it still is this holder's.
    pub(super) async fn release(&self, backend: &Backend) -> Result<()> {
        let free = LeaseObject { token: self.object.token, holder: None };
        if put(backend, &self.key, &free, Some(&self.version)).await?.is_some() {
            return Ok(());
        }
        match stored(backend, &self.key).await? {
            Some(found) if found.is_of(self.id(), self.object.token) => {
                put(backend, &self.key, &free, Some(&found.version)).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Frees a lease of any holder. `false` if something else was stored meanwhile.
pub(super) async fn clear(backend: &Backend, key: &Key) -> Result<bool> {
    let Some(found) = stored(backend, key).await? else { return Ok(true) };
    let now = u64::try_from(backend.context().clock.now().seconds()).unwrap_or_default();
    let token = found.object.map_or(now, |object| object.token);
    Ok(put(backend, key, &LeaseObject { token, holder: None }, Some(&found.version)).await?.is_some())
}

/// Removes a lease without a holder. Returns `false` if the lease is held or was written meanwhile, or if the store cannot tell.
pub(super) async fn remove_free(backend: &Backend, key: &Key) -> Result<bool> {
    if !backend.store().capabilities().conditional_delete {
        return Ok(false);
    }
    let Some(found) = stored(backend, key).await? else { return Ok(false) };
    if found.object.is_none_or(|object| object.holder.is_some()) {
        return Ok(false);
    }
    match backend.store().delete(key, &backend.deletion_of(&found.version)).await {
        Err(error) if error.kind() == BlobKind::PreconditionFailed => Ok(false),
        removed => removed.map_err(|error| failed(backend, key, error)),
    }
}

async fn conflict(backend: &Backend, key: &Key) -> Error {
    match found_lease(backend, key).await {
        Ok(found) => {
            let conflict = LockConflict(found.into_iter().collect());
            let text = conflict.to_string();
            let ends = conflict.locks().iter().find_map(|lock| lock.expires);
            let error = Error::new(ErrorKind::Locked, Op::Lock, backend.place(key.as_str()));
            let error = error.because(text).with_source(conflict);
            match ends {
                Some(ends) => {
                    error.next_step(format!("its lease ends at {ends} unless its holder renews it"))
                }
                None => error,
            }
        }
        Err(error) => error,
    }
}
