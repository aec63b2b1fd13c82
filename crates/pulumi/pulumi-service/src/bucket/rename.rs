//! Giving a stack in a bucket another name: the bucket does it, and here its name follows.

use std::sync::Arc;

use groundstate_versioned::{Head, Lock, Step};
use tracing::warn;

use super::{BucketLock, StackBucket};
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::path::StackPath;
use crate::stack::Stack;

impl Stack {
    /// Renames the stack in the bucket under the locks of both names, whose id is that of the lock here. What cannot be done is given up; what
    /// was interrupted is gone on with by the next request for the stack.
    pub(crate) async fn rename_in_bucket(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        lock: &Lock,
        names: [&StackPath; 2],
    ) -> Result<Self> {
        let [from, to] = names;
        let renamed = async {
            for path in names {
                bucket.lock(path, &BucketLock::new(&lock.id, &lock.by)).await?;
            }
            bucket.rename(from, to, &lock.id).await
        };
        if let Err(error) = renamed.await {
            if error.kind() != ErrorKind::Unavailable
                && let Err(left) = self.give_rename_up(op, bucket, lock, names).await
            {
                warn!(stack = %self.path(), error = %left, "a change of names is not given up yet");
            }
            return Err(error);
        }
        for path in names {
            bucket.unlock(path, &lock.id).await?;
        }
        let stack = self.change_record(op, &lock.by, |record| record.path = to.clone()).await?;
        let decide = |head: &Head| match head.lock_of(&lock.id) {
            Some(_) => Ok::<_, Error>(Step::release()),
            // Another node carried it through.
            None => Ok(Step::nothing()),
        };
        self.versions_document().step(decide).await.map_err(|error| self.failed(op, error))??;
        Ok(stack)
    }

    /// Lets the new name go, and the locks.
    pub(crate) async fn give_rename_up(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        lock: &Lock,
        names: [&StackPath; 2],
    ) -> Result<()> {
        for path in names {
            bucket.unlock(path, &lock.id).await?;
        }
        self.stacks.let_go(op, names[1], self.id(), &lock.by).await?;
        self.versions_document().unlock(&lock.id).await.map(drop).map_err(|error| self.failed(op, error))
    }
}
