//! Locks without an update: a client keeps all others out of a stack while it works on something else.

use groundstate_common::Timestamp;
use groundstate_versioned::{Ending, Head, Lock, NewLock, Step, UnlockOutcome};
use tracing::warn;

use crate::bucket::BucketLock;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Holder, LockRecord};
use crate::stack::{CurrentUpdate, Stack, holder};
use crate::traced;
use crate::update::{Update, is_update_id};

/// The kind of a lock where updates have theirs.
pub(crate) const LOCK: &str = "lock";

impl Stack {
    /// Takes the lock of the stack under an ID that the client chooses. Until the lease is over or the lock is released, no update, import,
    /// rename or removal begins. Returns the end of the lease.
    ///
    /// A second call under the same ID by the same user renews the lock, so a request may be repeated.
    ///
    /// # Errors
    ///
    /// `Running` if an update or another client has the lock, `Locked` if another program holds the stack in its bucket, `Invalid` for an
    /// unusable ID, `Conflict` for the ID of a lock that has ended.
    pub async fn lock(&self, id: &str, by: &str) -> Result<Timestamp> {
        Box::pin(traced::on_stack(Op::Lock, self, self.locking(id, by))).await
    }

    async fn locking(&self, id: &str, by: &str) -> Result<Timestamp> {
        const OP: Op = Op::Lock;
        if !is_update_id(id) {
            let why = "the ID of a lock has 1 to 64 letters, digits and hyphens";
            return Err(self.error(ErrorKind::Invalid, OP).because(why));
        }
        self.settled(OP).await?;
        let bucket = self.bucket();
        let record = LockRecord {
            author: by.to_owned(),
            started: self.stacks.now(),
            place: bucket.map(ToString::to_string),
            cancelled: None,
        };
        let lock = self.recorded(OP, id, record, by)?;
        let lease = self.stacks.options().lease;
        let decide = |head: &Head| {
            self.current(OP, head)?;
            match head.recorded_lock() {
                Some(held) if held.id == id && is_of(held, by) => Ok(Step::renew(Some(lease))),
                Some(_) => Err(self.is_running(OP)),
                None if head.ended(id).is_some() => {
                    Err(self.error(ErrorKind::Conflict, OP).because(format!("the lock {id} has ended")))
                }
                None => Ok(Step::lock(lock.clone())),
            }
        };
        let stepped = self.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.failed(OP, error))??.head;
        if let Some(bucket) = bucket
            && let Err(error) = bucket.lock(self.path(), &BucketLock::new(id, by)).await
        {
            self.end_edit(OP, bucket, &[self.path()], id).await;
            return Err(error);
        }
        Ok(self.end_of(&head))
    }

    /// Renews a lock that [`lock`](Self::lock) took. Returns the end of the lease.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if the lock has ended or belongs to another user.
    pub async fn renew_lock(&self, id: &str, by: &str) -> Result<Timestamp> {
        Box::pin(traced::on_stack(Op::RenewLock, self, self.renewing_lock(Op::RenewLock, id, by))).await
    }

    async fn renewing_lock(&self, op: Op, id: &str, by: &str) -> Result<Timestamp> {
        let lease = self.stacks.options().lease;
        let decide = |head: &Head| {
            self.check_held(op, head, id, by)?;
            Ok::<_, Error>(Step::renew(Some(lease)))
        };
        let stepped = self.versions_document().step(decide).await;
        let head = stepped.map_err(|error| self.failed(op, error))??.head;
        let Some(bucket) = self.bucket() else { return Ok(self.end_of(&head)) };
        match bucket.renew(self.path(), id).await {
            Err(error) if error.kind() == ErrorKind::LeaseLost => {
                let reason = format!("another program removed its lock in {bucket}");
                let ended = self.versions_document().break_lock(Some(id), "the service", &reason).await;
                if let Err(left) = ended {
                    warn!(stack = %self.path(), error = %left, "a lock that was lost in its bucket is not ended yet");
                }
                Err(error)
            }
            renewed => renewed.map(|()| self.end_of(&head)),
        }
    }

    /// Releases a lock that [`lock`](Self::lock) took. A second call has no effect.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if the lock was lost before, also if another program removed it from the bucket of the stack.
    pub async fn unlock(&self, id: &str, by: &str) -> Result<()> {
        Box::pin(traced::on_stack(Op::Unlock, self, self.unlocking(id, by))).await
    }

    async fn unlocking(&self, id: &str, by: &str) -> Result<()> {
        const OP: Op = Op::Unlock;
        let head = self.head(OP).await?;
        let is_released = head.ended(id).is_some_and(|ended| ended.how == Ending::Released);
        if head.lock_of(id).is_none() && is_released {
            return Ok(());
        }
        self.check_held(OP, &head, id, by)?;
        if let Some(bucket) = self.bucket() {
            // The lock in the bucket may have been removed since the last renewal.
            self.renewing_lock(OP, id, by).await?;
            bucket.unlock(self.path(), id).await?;
        }
        let unlocked = self.versions_document().unlock(id).await;
        match unlocked.map_err(|error| self.failed(OP, error))? {
            UnlockOutcome::Lost(_) => Err(self.lost_lock(OP, &self.head(OP).await?, id)),
            _ => Ok(()),
        }
    }

    /// Ends a lock whose lease is over, or that was cancelled.
    pub(crate) async fn settle_lock(&self, op: Op, over: &Lock, record: &LockRecord) -> Result<()> {
        if let Some(place) = &record.place {
            self.bucket_at(op, place)?.unlock(self.path(), &over.id).await?;
        }
        let (by, reason) = match &record.cancelled {
            Some(by) => (by.as_str(), format!("{by} ended the lock")),
            None => ("the service", "the lease of the lock expired".to_owned()),
        };
        let decide = |head: &Head| match head.lock_of(&over.id) {
            // The holder may have renewed it meanwhile.
            Some(_) if head.lock().is_none() => Ok::<_, Error>(Step::break_lock(by, &reason)),
            _ => Ok(Step::nothing()),
        };
        let stepped = self.versions_document().step(decide).await;
        stepped.map_err(|error| self.failed(op, error))?.map(drop)
    }

    /// The lock that a client holds without an update, as what is going on.
    pub(crate) fn locked(&self, head: &Head) -> Option<CurrentUpdate> {
        let lock = head.lock()?;
        let Holder::Lock(LockRecord { author, started, .. }) = holder(lock)? else { return None };
        Some(CurrentUpdate { id: lock.id.clone(), kind: LOCK.to_owned(), author, started })
    }

    fn recorded(&self, op: Op, id: &str, record: LockRecord, by: &str) -> Result<NewLock> {
        let document = serde_json::to_vec(&Holder::Lock(record))
            .map_err(|error| self.error(ErrorKind::Internal, op).with_source(error))?;
        Ok(NewLock::new(id).document(document).lease(Some(self.stacks.options().lease)).by(by))
    }

    fn end_of(&self, head: &Head) -> Timestamp {
        head.lock().and_then(|lock| lock.expires).unwrap_or_else(|| self.stacks.now())
    }

    fn check_held(&self, op: Op, head: &Head, id: &str, by: &str) -> Result<()> {
        match head.lock_of(id) {
            Some(lock) if is_of(lock, by) => Ok(()),
            _ => Err(self.lost_lock(op, head, id)),
        }
    }

    fn lost_lock(&self, op: Op, head: &Head, id: &str) -> Error {
        let why = match (head.lock_of(id).and_then(holder), head.ended(id).map(|ended| &ended.how)) {
            (Some(Holder::Lock(LockRecord { cancelled: Some(by), .. })), _) => format!("{by} ended the lock"),
            (Some(_), _) => "the lock belongs to another user".to_owned(),
            (None, Some(Ending::Broken { reason, .. })) => reason.clone(),
            (None, Some(Ending::Expired)) => "the lease of the lock expired".to_owned(),
            (None, Some(Ending::Released)) => "the lock was released".to_owned(),
            (None, Some(_)) => "the lock has ended".to_owned(),
            (None, None) => format!("there is no lock {id}"),
        };
        self.error(ErrorKind::LeaseLost, op).because(why)
    }
}

/// Returns `true` if this user holds the lock without an update, and no client has cancelled it.
fn is_of(lock: &Lock, by: &str) -> bool {
    matches!(holder(lock), Some(Holder::Lock(LockRecord { author, cancelled: None, .. })) if author == by)
}

impl Update {
    /// The user that created the update, or that holds the lock of this ID.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn author(&self) -> Result<String> {
        let head = self.stack.head(Op::Read).await?;
        match head.lock_of(&self.id).and_then(holder) {
            Some(Holder::Lock(record)) => Ok(record.author),
            _ => Ok(self.request().await?.author),
        }
    }

    /// Ends the lock of this ID if a client holds it without an update. Returns `false` if there is no such lock.
    pub(crate) async fn cancel_lock(&self, op: Op, head: &Head, by: &str) -> Result<bool> {
        let Some(Holder::Lock(mut record)) = head.lock_of(&self.id).and_then(holder) else {
            return Ok(false);
        };
        record.cancelled.get_or_insert_with(|| by.to_owned());
        // The lease is over at once, so that whichever node goes on ends the lock.
        let lock = self.lock(op, &Holder::Lock(record), std::time::Duration::ZERO, by)?;
        let decide = |head: &Head| match head.lock_of(&self.id) {
            Some(_) => Ok::<_, Error>(Step::lock(lock.clone())),
            None => Ok(Step::nothing()),
        };
        let stepped = self.stack.versions_document().step(decide).await;
        stepped.map_err(|error| self.stack.failed(op, error))??;
        self.stack.settle(op).await?;
        Ok(true)
    }
}
