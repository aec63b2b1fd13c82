//! Releasing: the document first, then the lease, as the original does it.

use groundstate_blobs::{DeleteOptions, ErrorKind as BlobErrorKind, LeaseId};
use groundstate_statemgr::{Error, ErrorKind, LockId, Op, Result};

use super::locking::break_id;
use super::seen::{Seen, without_document};
use super::store::{ATTEMPTS, AzureStore};
use crate::failure::failed;

impl AzureStore {
    pub(super) async fn release(&self, op: Op, id: &LockId) -> Result<()> {
        let outcome = self.release_lock(op, id).await;
        let mut mine = self.mine();
        if mine.lease.as_ref().is_some_and(|lease| lease.as_str().eq_ignore_ascii_case(id.as_str())) {
            match &outcome {
                Ok(()) => (mine.lease, mine.deleted) = (None, false),
                Err(error) if error.kind() == ErrorKind::LockLost => {
                    (mine.lease, mine.deleted) = (None, false)
                }
                Err(_) => {}
            }
        }
        outcome
    }

    async fn release_lock(&self, op: Op, id: &LockId) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let Some((seen, true)) = self.look(op).await? else { return Err(self.not_locked(op, id)) };
            let Some(lease) = self.lease_to_release(op, id, &seen)? else {
                return self.break_lease(op, &seen).await;
            };
            // What cannot be removed stays as zero bytes, which are not a state.
            if self.is_mine(id) && self.mine().deleted && self.remove(op, &seen, &lease).await? {
                return Ok(());
            }
            if seen.document().is_none() {
                return self.release_without_document(op, &lease, &seen).await;
            }
            match self.set_metadata(op, &seen, without_document(&seen.metadata), Some(&lease)).await {
                Ok(()) => return self.release_lease(op, &lease).await,
                Err(error) => match error.kind() {
                    // The metadata was changed, or the answer got lost: look again.
                    BlobErrorKind::PreconditionFailed | BlobErrorKind::Ambiguous => {}
                    // The document is that of a lock which was broken, and another client's lease is in force.
                    BlobErrorKind::LeaseLost | BlobErrorKind::LeaseHeld => {
                        return Err(self.others(op, id, &seen));
                    }
                    BlobErrorKind::NotFound => return Err(self.not_locked(op, id)),
                    _ => return Err(failed(op, self, error)),
                },
            }
        }
        Err(self
            .error(ErrorKind::Unavailable, op)
            .because("the lock document could not be removed, try again"))
    }

    /// The lease that the id names, if the lock in force is that one; `None` for the id of a lease without a document.
    fn lease_to_release(&self, op: Op, id: &LockId, seen: &Seen) -> Result<Option<LeaseId>> {
        let lease = LeaseId::parse(id.as_str()).ok();
        match (seen.document(), lease) {
            (Some(document), Some(lease)) if document.id.as_str().eq_ignore_ascii_case(id.as_str()) => {
                Ok(Some(lease))
            }
            (None, Some(lease)) => Ok(Some(lease)),
            (None, None) if *id == break_id(seen) => Ok(None),
            _ => Err(self.others(op, id, seen)),
        }
    }

    /// Ends the lease after its document was removed.
    async fn release_lease(&self, op: Op, lease: &LeaseId) -> Result<()> {
        match self.end_lease(op, lease).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                let why =
                    "the lock was broken while it was being released, so it is free or another client's";
                Err(self.error(ErrorKind::LockLost, op).because(why))
            }
            Err(error) => {
                let why = format!(
                    "its lock document was removed, but the lease {lease} could not be released and still keeps every client out; release it by force under the id {lease}"
                );
                Err(self.error(ErrorKind::Ambiguous, op).because(why).with_source(error))
            }
        }
    }

    /// Ends a lease that has no document, if it has this id.
    async fn release_without_document(&self, op: Op, lease: &LeaseId, seen: &Seen) -> Result<()> {
        if self.end_lease(op, lease).await? {
            Ok(())
        } else {
            let id = LockId::new(lease.as_str());
            if self.is_mine(&id) {
                return Err(self.others(op, &id, seen));
            }
            let why = "it is under a lease without a lock document, and the id named is not that lease's; it is held";
            Err(Error::locked(op, self, Some(self.candidate(seen, Some(&id)))).because(why))
        }
    }

    /// Ends a lease of unknown id.
    async fn break_lease(&self, op: Op, seen: &Seen) -> Result<()> {
        match self.leases(op)?.break_lease(&self.key).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.not_locked(op, &break_id(seen))),
            Err(error) if error.kind() == BlobErrorKind::NotFound => {
                Err(self.not_locked(op, &break_id(seen)))
            }
            Err(error) => Err(failed(op, self, error)),
        }
    }

    /// Removes the blob of a state that was deleted under the lock, and the lock with it; `false` where the service does not
    /// let it go, because it has snapshots or deletion is forbidden.
    async fn remove(&self, op: Op, seen: &Seen, lease: &LeaseId) -> Result<bool> {
        let options = DeleteOptions::version(&seen.blob).lease(lease);
        let Err(error) = self.blobs.delete(&self.key, &options).await else {
            self.mine().seen = None;
            return Ok(true);
        };
        if matches!(error.kind(), BlobErrorKind::Invalid | BlobErrorKind::Denied) {
            return Ok(false);
        }
        let why = format!(
            "the state was deleted, but its empty blob could not be removed and is still under the lease; \
             release it by force under the id {lease}"
        );
        Err(self.error(ErrorKind::Ambiguous, op).because(why).with_source(error))
    }

    fn is_mine(&self, id: &LockId) -> bool {
        self.mine().lease.as_ref().is_some_and(|lease| lease.as_str().eq_ignore_ascii_case(id.as_str()))
    }

    fn not_locked(&self, op: Op, id: &LockId) -> Error {
        if self.is_mine(id) {
            let why = "the lock is not held any more: its lease was broken";
            return self.error(ErrorKind::LockLost, op).because(why);
        }
        self.error(ErrorKind::NotFound, op).because("it is not locked")
    }

    /// Another lock is in force.
    fn others(&self, op: Op, id: &LockId, seen: &Seen) -> Error {
        let holder = self.holder_of(seen);
        if self.is_mine(id) {
            let why = format!("the lock was broken, and another one is held by {holder}");
            return self.error(ErrorKind::LockLost, op).because(why);
        }
        let why = match seen.document() {
            Some(_) => "another lock is in force than the one named; it is held",
            None => {
                "it is under a lease without a lock document, and the id named is not that lease's; it is held"
            }
        };
        Error::locked(op, self, Some(holder)).because(why)
    }
}
