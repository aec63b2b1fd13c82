//! The beginning of an update of a stack in a bucket: the lock there, and the state that it begins with.

use std::sync::Arc;
use std::time::Duration;

use groundstate_versioned::{Head, Step};
use tracing::warn;

use super::edit::EDIT;
use super::{BucketLock, StackBucket};
use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::lease::LeaseToken;
use crate::op::Op;
use crate::record::{Holder, Running, RunningInBucket, UpdateResult, VersionNote};
use crate::update::Update;

impl Update {
    /// Takes the lease of a stack in a bucket: first the lock here, so that other nodes know of the one in the bucket, then that one. Gives
    /// the number of the version that the update will make.
    pub(crate) async fn take_lease_in_bucket(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        mut running: Running,
        lease: Duration,
        again: bool,
    ) -> Result<u64> {
        running.bucket = Some(RunningInBucket { place: bucket.to_string(), base: None });
        self.take_lease(op, &running, EDIT, again).await?;
        match self.enter_bucket(op, bucket, &running, lease).await {
            Ok(version) => Ok(version),
            Err(error) => {
                self.stack.end_edit(op, bucket, &[self.stack.path()], &self.id).await;
                Err(error)
            }
        }
    }

    async fn enter_bucket(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        running: &Running,
        lease: Duration,
    ) -> Result<u64> {
        let stack = &self.stack;
        bucket.lock(stack.path(), &BucketLock::new(&self.id, &running.author)).await?;
        let (read, export) = stack.bucket_export(op, bucket).await?;
        // What cannot be read now could not be written at the end.
        deployment::read(op, stack.path(), &export)?;
        let version = bucket.updates(stack.path()).await?.saturating_add(1);
        let now = stack.stacks.now();
        let note = VersionNote::new("bucket", UpdateResult::Succeeded, now, now);
        let note = note.counted(&Counts::of(op, stack.path(), &export)?);
        let content = stack.versions_document().content(export).await;
        let content = content.map_err(|error| stack.failed(op, error))?;
        let options = note.options(op, stack.path(), &running.author)?.lock(&self.id);
        let begun = Running {
            bucket: Some(RunningInBucket { place: bucket.to_string(), base: Some(read.token) }),
            ..running.clone()
        };
        let before = self.lock(op, &Holder::Update(running.clone()), lease, &running.author)?;
        let lock = self.lock(op, &Holder::Update(begun), lease, &running.author)?;
        let decide = |head: &Head| {
            if head.lock_of(&self.id).is_none_or(|held| held.document != before.document) {
                let failure = stack.error(ErrorKind::LeaseLost, op);
                return Err(failure.because("another client has ended the update while it began"));
            }
            let taken = Step::lock(lock.clone());
            let is_same = head.current().is_some_and(|version| version.sha256 == content.sha256());
            Ok(if is_same { taken } else { Step::write(content.clone(), options.clone()).and(taken) })
        };
        stack.versions_document().step(decide).await.map_err(|error| stack.failed(op, error))??;
        Ok(version)
    }

    /// Renews the lock in the bucket. If another program has removed it, the update ends: others may be writing.
    pub(crate) async fn renew_in_bucket(&self, op: Op, token: &LeaseToken) -> Result<()> {
        let Some(bucket) = self.stack.bucket() else { return Ok(()) };
        match bucket.renew(self.stack.path(), &self.id).await {
            Err(error) if error.kind() == ErrorKind::LeaseLost => {
                self.leased(op, token).await?;
                let by = format!("a program that removed its lock in {bucket}");
                if let Err(left) = self.cancel(&by).await {
                    warn!(stack = %self.stack.path(), error = %left, "an update that lost its lock is not ended yet");
                }
                Err(error)
            }
            renewed => renewed,
        }
    }

    /// Whether an update that is over had begun in the bucket. One that had not is given up: its client has no lease.
    pub(crate) async fn gives_up(&self, op: Op, running: &Running, lock: &str) -> Result<bool, Error> {
        let Some(RunningInBucket { place, base: None }) = &running.bucket else { return Ok(false) };
        let bucket = self.stack.bucket_at(op, place)?;
        bucket.unlock(self.stack.path(), &self.id).await?;
        let unlocked = self.stack.versions_document().unlock(lock).await;
        unlocked.map(|_| true).map_err(|error| self.stack.failed(op, error))
    }
}
