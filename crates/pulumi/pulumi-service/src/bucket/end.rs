//! The end of an update of a stack in a bucket: what it stored becomes the state and the history there.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_versioned::{Content, Head, Lock, Step};
use tracing::warn;

use super::edit::IMPORT;
use super::{BucketLock, BucketUpdate, StackBucket};
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Running, RunningInBucket, UpdateResult, VersionNote};
use crate::update::Update;

impl Update {
    /// Writes the state into the bucket, then the version here, then releases the lock there and the one here. Carried out again by
    /// another node, it goes on from where it was. Gives why the state is in the history only, if it is.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if the lock is another one meanwhile, and those of the bucket.
    pub(crate) async fn finish_in_bucket(
        &self,
        op: Op,
        running: &Running,
        lock: &Lock,
        content: (Bytes, Content),
        mut note: VersionNote,
    ) -> Result<Option<String>> {
        let stack = &self.stack;
        let Some(RunningInBucket { place, base: Some(base) }) = &running.bucket else {
            let failure = stack.error(ErrorKind::LeaseLost, op);
            return Err(failure.because("the update has not begun in the bucket"));
        };
        let bucket = stack.bucket_at(op, place)?;
        let (state, content) = content;
        let apart = self.write_into(bucket, base, (running, &state), &mut note).await?;
        let options = note.options(op, stack.path(), &running.author)?.lock(&lock.id);
        let left = stack.edit_lock(op, bucket, [&lock.id, &self.id], &running.author)?;
        let decide =
            |head: &Head| match head.lock_of(&lock.id).is_some_and(|held| held.document == lock.document) {
                true => Ok(Step::write(content.clone(), options.clone()).and(Step::lock(left.clone()))),
                false => {
                    Err(stack.error(ErrorKind::LeaseLost, op).because("another client has ended the update"))
                }
            };
        stack.versions_document().step(decide).await.map_err(|error| stack.failed(op, error))??;
        self.leave(op, bucket, &lock.id).await;
        Ok(apart)
    }

    /// Releases the lock in the bucket and then the one here.
    async fn leave(&self, op: Op, bucket: &Arc<dyn StackBucket>, lock: &str) {
        let stack = &self.stack;
        let left = async {
            bucket.unlock(stack.path(), &self.id).await?;
            stack.versions_document().unlock(lock).await.map_err(|error| stack.failed(op, error))
        };
        if let Err(error) = left.await {
            warn!(stack = %stack.path(), error = %error, "the lock of an update that has ended is not released yet");
        }
    }

    /// Makes a state that of the bucket, and records the update there. If another program has replaced or removed the one that the
    /// update began with, its state stays, and that of the update is in the history.
    async fn write_into(
        &self,
        bucket: &Arc<dyn StackBucket>,
        base: &str,
        (running, state): (&Running, &Bytes),
        note: &mut VersionNote,
    ) -> Result<Option<String>> {
        let path = self.stack.path();
        bucket.lock(path, &BucketLock::new(&self.id, &running.author)).await?;
        let read = match bucket.read(path).await {
            Err(error) if error.kind() != ErrorKind::Corrupt => return Err(error),
            read => read,
        };
        let request = self.request().await?;
        let is_recorded = running.kind != IMPORT;
        match &read {
            Ok(Some(read)) if bucket.holds(path, read, state) => {
                // Its node may have died before or behind the entry of the history.
                if is_recorded && !bucket.is_recorded(path, &self.id).await? {
                    bucket.record(path, &self.id, &BucketUpdate::new(note.clone(), request)).await?;
                }
                return Ok(None);
            }
            Ok(Some(read)) if read.token == base => {
                bucket.save(path, &self.id, state, read).await?;
                if is_recorded {
                    bucket.record(path, &self.id, &BucketUpdate::new(note.clone(), request)).await?;
                }
                return Ok(None);
            }
            _ => {}
        }
        if bucket.is_recorded(path, &self.id).await? {
            // Another program went on from it.
            return Ok(None);
        }
        let what = match &read {
            Ok(Some(_)) => "has replaced the state",
            Ok(None) => "has removed the stack",
            Err(_) => "has left a state that cannot be read",
        };
        let why = format!(
            "another program {what} in {bucket} meanwhile; what this update did is in the history only"
        );
        note.result = UpdateResult::Failed;
        note.reason = Some(match note.reason.take() {
            Some(reason) => format!("{reason}; {why}"),
            None => why.clone(),
        });
        warn!(stack = %path, update = %self.id, "{why}");
        bucket.record_apart(path, &BucketUpdate::new(note.clone(), request), state).await?;
        Ok(Some(why))
    }

    /// The refusal of an end whose state is in the history only.
    pub(crate) fn kept_apart(&self, op: Op, why: String) -> Error {
        let failure = self.stack.error(ErrorKind::Conflict, op).because(why);
        failure.next_step("compare the versions of `pulumi stack history`, and import the one that is true")
    }
}
