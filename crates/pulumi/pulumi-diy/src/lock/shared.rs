//! Locks that processes of one service share: each knows the id, so that another one renews and releases what a dead one has taken.

use std::time::Duration;

use groundstate_blobs::{BlobStore, DeleteOptions, ErrorKind as BlobKind, GetOptions, Key, Role};

use super::held::HeldLock;
use super::lease::Lease;
use super::objects::LockObject;
use crate::{Error, ErrorKind, Op, Result, Stack, traced};

impl Stack {
    /// The lock of this id, if it still holds the stack. Locks of other ids are not looked at.
    ///
    /// In a store with conditional writes the lease has to be that of the id too; that it has ended does not matter as long as no
    /// other holder has taken it.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for an id that is none, [`Corrupt`](ErrorKind::Corrupt) for a lock that cannot be read, and
    /// those of requests.
    pub async fn held_lock(&self, id: &str, lease: Duration) -> Result<Option<HeldLock>> {
        traced::run("find the lock of", self, self.find_lock(id, lease)).await
    }

    async fn find_lock(&self, id: &str, lease: Duration) -> Result<Option<HeldLock>> {
        let backend = self.backend();
        let (key, lease_key) = self.lock_keys(id)?;
        traced::lock(&key);
        let place = backend.place(key.as_str());
        let found = backend.store().get(&key, &GetOptions::default().role(Role::Lock)).await;
        let Some(found) = found.map_err(|error| Error::from_store(Op::Lock, &place, error))? else {
            return Ok(None);
        };
        let object: LockObject = serde_json::from_slice(&found.bytes).map_err(|error| {
            let failure = Error::new(ErrorKind::Corrupt, Op::Lock, &place);
            failure.because("it is no lock").next_step("`pulumi cancel` removes it").with_source(error)
        })?;
        if !backend.store().capabilities().conditional_put {
            return Ok(Some(HeldLock::new(self.clone(), key, object, None, lease)));
        }
        let held = Lease::of(backend, lease_key, id).await?;
        Ok(held.map(|held| HeldLock::new(self.clone(), key, object, Some(held), lease)))
    }

    /// Releases the lock of this id, whichever part of it is there. Locks of other ids stay.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for an id that is none, and those of requests. Both parts are tried.
    pub async fn release_lock(&self, id: &str) -> Result<()> {
        traced::run("release", self, self.free_lock(id)).await
    }

    async fn free_lock(&self, id: &str) -> Result<()> {
        let backend = self.backend();
        let (key, lease_key) = self.lock_keys(id)?;
        traced::lock(&key);
        let removed = match backend.store().delete(&key, &DeleteOptions::default()).await {
            Err(error) if error.kind() != BlobKind::NotFound => {
                Err(Error::from_store(Op::Lock, backend.place(key.as_str()), error))
            }
            _ => Ok(()),
        };
        let freed = match Lease::of(backend, lease_key, id).await {
            Ok(Some(lease)) => lease.release(backend).await,
            other => other.map(drop),
        };
        removed.and(freed)
    }

    /// The keys of the lock and of the lease.
    fn lock_keys(&self, id: &str) -> Result<(Key, Key)> {
        let (backend, reference) = (self.backend(), self.checked(Op::Lock)?);
        let id = self.lock_id(id)?;
        let key = backend.key(Op::Lock, &format!("{}{id}.json", backend.layout().locks(reference)))?;
        Ok((key, backend.key(Op::Lock, &backend.layout().lease(reference))?))
    }

    /// An id, which stands in a key.
    pub(super) fn lock_id<'i>(&self, id: &'i str) -> Result<&'i str> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        match !id.is_empty() && id.len() <= 64 && id.bytes().all(is_allowed) {
            true => Ok(id),
            false => Err(self
                .failed(ErrorKind::Invalid, Op::Lock)
                .because("the id of a lock is made of at most 64 letters, digits and `-`")),
        }
    }
}
