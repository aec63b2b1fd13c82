//! Taking a lock: the lease, then Pulumi's own check, write, check.

use std::time::Duration;

use groundstate_blobs::{BlobStore, DeleteOptions, Key, Precondition, PutOptions, Role};
use groundstate_common::{Backoff, Clock, IdSource, Sleeper, jittered};

use super::found::{FoundLock, LockConflict};
use super::held::HeldLock;
use super::lease::Lease;
use super::objects::{Heartbeat, LeaseHolder, LockObject, bytes};
use super::{Holder, LockOptions};
use crate::{Error, ErrorKind, Op, Result, Stack, traced};

const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

impl Stack {
    /// Takes the lock of this stack, which need not exist.
    ///
    /// In a store with conditional writes the lease is taken first, by which writers of this library exclude each other; then the
    /// protocol of `pulumi` follows everywhere. What was taken is given back when a later step fails.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Locked`] while another process holds it, with a [`LockConflict`] as its source; those of requests. What could not be
    /// given back is named by its key.
    pub async fn lock(&self, holder: &Holder, options: &LockOptions) -> Result<HeldLock> {
        let work = async {
            let held = self.wait_for_lock(holder, options).await?;
            traced::lock(held.key());
            Ok(held)
        };
        traced::run(Op::Lock.as_str(), self, work).await
    }

    async fn wait_for_lock(&self, holder: &Holder, options: &LockOptions) -> Result<HeldLock> {
        let context = self.backend().context();
        let started = context.clock.now();
        let mut waits = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        let mut attempt = 1;
        loop {
            let error = match self.lock_once(holder, options).await {
                Err(error) if error.kind() == ErrorKind::Locked => error,
                done => return done,
            };
            let waited = context.clock.now().duration_since(started).unwrap_or_default();
            let left = options.timeout.saturating_sub(waited);
            if left.is_zero() {
                return Err(error);
            }
            let wait = self.jittered(waits.wait())?.min(left);
            context.sleeper.sleep(wait).await;
            attempt += 1;
            traced::attempt(attempt);
        }
    }

    /// Between half of the wait and all of it.
    fn jittered(&self, wait: Duration) -> Result<Duration> {
        let number = self.backend().context().ids.number();
        let number = number.map_err(|error| self.failed(ErrorKind::Internal, Op::Lock).with_source(error))?;
        Ok(jittered(wait, number))
    }

    async fn lock_once(&self, holder: &Holder, options: &LockOptions) -> Result<HeldLock> {
        let backend = self.backend();
        let reference = self.checked(Op::Lock)?;
        let id = match &options.id {
            Some(id) => self.lock_id(id)?.to_owned(),
            None => backend
                .context()
                .ids
                .uuid()
                .map_err(|error| self.failed(ErrorKind::Internal, Op::Lock).with_source(error))?,
        };
        let now = backend.context().clock.now();
        let expires = now.checked_add(options.lease).unwrap_or(now);
        let key = backend.key(Op::Lock, &format!("{}{id}.json", backend.layout().locks(reference)))?;
        let lease_holder = LeaseHolder::new(id, holder, now, expires);
        let lease = if backend.store().capabilities().conditional_put {
            let lease_key = backend.key(Op::Lock, &backend.layout().lease(reference))?;
            let abandoned = options.abandoned.contains(lease_key.as_str());
            Some(Lease::acquire(backend, lease_key, lease_holder.clone(), abandoned).await?)
        } else {
            None
        };
        let heartbeat = lease.as_ref().map(|lease| Heartbeat {
            token: lease.object.token,
            started: holder.started,
            renewed: now,
            expires,
        });
        let object = lease_holder.lock_object(heartbeat);
        let held = HeldLock::new(self.clone(), key, object, lease, options.lease);
        match self.write_between_checks(&held, options).await {
            Ok(()) => Ok(held),
            Err(error) => Err(match held.release().await {
                Ok(()) => error,
                Err(left) => {
                    let step = format!("{left}; `pulumi cancel` removes it");
                    error.next_step(step)
                }
            }),
        }
    }

    /// Pulumi's own protocol.
    async fn write_between_checks(&self, held: &HeldLock, options: &LockOptions) -> Result<()> {
        self.refuse_others(held.key(), options).await?;
        write(self, held.key(), &held.object(), options.id.is_some()).await?;
        self.refuse_others(held.key(), options).await
    }

    async fn refuse_others(&self, own: &Key, options: &LockOptions) -> Result<()> {
        let mut others = Vec::new();
        for lock in self.lock_objects(Some(own)).await? {
            let expired = options.take_over_expired && lock.is_expired(self.backend().context().clock.now());
            if expired || options.abandoned.contains(&lock.key) {
                self.remove_abandoned(&lock).await?;
            } else {
                others.push(lock);
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let conflict = LockConflict(others);
        let text = conflict.to_string();
        Err(self.failed(ErrorKind::Locked, Op::Lock).because(text).with_source(conflict))
    }

    /// Removes a lock whose holder is dead. If it was written since it was read, its holder lives, and nothing is removed.
    async fn remove_abandoned(&self, lock: &FoundLock) -> Result<()> {
        let backend = self.backend();
        let key = backend.key(Op::Lock, &lock.key)?;
        let options =
            lock.version.as_ref().map_or_else(DeleteOptions::default, |one| backend.deletion_of(one));
        let removed = backend.store().delete(&key, &options).await;
        removed.map(drop).map_err(|error| Error::from_store(Op::Lock, &lock.place, error))
    }
}

/// Writes the lock, which is new unless its id was given.
async fn write(stack: &Stack, key: &Key, object: &LockObject, may_be_there: bool) -> Result<()> {
    let backend = stack.backend();
    let content =
        bytes(object).map_err(|error| stack.failed(ErrorKind::Internal, Op::Lock).with_source(error))?;
    let conditional = backend.store().capabilities().conditional_put && !may_be_there;
    let precondition = if conditional { Precondition::Absent } else { Precondition::Any };
    let options = PutOptions::expecting(precondition).role(Role::Lock);
    let written = backend.store().put(key, content, &options).await;
    written.map(drop).map_err(|error| Error::from_store(Op::Lock, backend.place(key.as_str()), error))
}
