//! Edits of what is in a bucket, each under a lock there that another node releases if this one dies.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_pulumi_protocol::sha256;
use groundstate_versioned::{Head, Lock, NewLock, Step};
use tracing::warn;

use super::provider::{check_provider, names_service, with_provider};
use super::{BucketLock, StackBucket};
use crate::checkpoint::CheckpointUpload;
use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::gate;
use crate::lease::StartOptions;
use crate::op::Op;
use crate::path::StackPath;
use crate::record::{Holder, StackRecord, UpdateRequest, UpdateResult};
use crate::stack::{ImportedState, Stack, StackVersion};
use crate::stacks::{NewStack, Stacks};

/// How long a node has for an edit. Another one releases its lock behind that.
pub(super) const EDIT: Duration = Duration::from_secs(60);

impl Stacks {
    /// The bucket of a stack by its record.
    pub(crate) fn bucket_of(&self, op: Op, record: &StackRecord) -> Result<Option<Arc<dyn StackBucket>>> {
        let path = &record.path;
        match (record.in_bucket, self.buckets().get(path.owner())) {
            (true, Some(bucket)) => Ok(Some(Arc::clone(bucket))),
            (false, None) => Ok(None),
            (true, None) => Err(Error::new(ErrorKind::NoBucket, op, path)
                .because(format!("it is in a bucket, and this node has none for {}", path.owner()))
                .next_step("configure the bucket on every node")),
            (false, Some(bucket)) => Err(Error::new(ErrorKind::Conflict, op, path)
                .because(format!("the service had it before {} became the stacks of {bucket}", path.owner()))
                .next_step(
                    "serve the bucket under another name, or move the stack by export and import first",
                )),
        }
    }

    /// The stack of a bucket by its name, where it is in the bucket or an update of it has not ended.
    pub(crate) async fn find_in_bucket(
        &self,
        op: Op,
        path: &StackPath,
        bucket: &Arc<dyn StackBucket>,
    ) -> Result<Option<Stack>> {
        if let Some(renamed) = self.find_known(op, path).await?
            && renamed.path() != path
            && renamed.is_called(op, path).await?
        {
            // It is becoming the name of another stack. If the node that did it has gone, that is gone on with.
            renamed.settled(op).await?;
            let now = self.by_id(op, renamed.id()).await?;
            return Ok(Some(now.unwrap_or(renamed)));
        }
        let known = self.known_in_bucket(op, path).await?;
        if let Some(stack) = &known
            && stack.head(op).await?.recorded_lock().is_some()
        {
            return Ok(known);
        }
        match (bucket.exists(path).await?, known) {
            (false, _) => Ok(None),
            (true, Some(stack)) => Ok(Some(stack)),
            (true, None) => self.adopt(op, path).await.map(Some),
        }
    }

    /// What is kept here of a stack of a bucket, if anything is.
    async fn known_in_bucket(&self, op: Op, path: &StackPath) -> Result<Option<Stack>> {
        let Some(stack) = self.find_known(op, path).await?.filter(|stack| stack.path() == path) else {
            return Ok(None);
        };
        Ok(stack.head(op).await?.current().is_some().then_some(stack))
    }

    /// Begins to keep what a bucket cannot hold of a stack.
    async fn adopt(&self, op: Op, path: &StackPath) -> Result<Stack> {
        const BY: &str = "the service";
        let mut record = StackRecord::new(path, std::collections::BTreeMap::new(), self.now());
        record.in_bucket = true;
        if let Some(stack) = self.make(op, path, BY, super::read::empty(), record).await? {
            return Ok(stack);
        }
        let faster = self.known_in_bucket(op, path).await?;
        faster.ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, op, path).because("other clients change it all the time")
        })
    }

    pub(crate) async fn create_in_bucket(
        &self,
        path: &StackPath,
        bucket: &Arc<dyn StackBucket>,
        by: &str,
        new: NewStack,
    ) -> Result<Stack> {
        const OP: Op = Op::Create;
        if bucket.exists(path).await? {
            let exists = Error::new(ErrorKind::Exists, OP, path);
            return Err(exists.because(format!("stack {path} already exists in {bucket}")));
        }
        let state = match &new.state {
            Some(state) => Some(deployment::normal(OP, path, state)?),
            None => None,
        };
        let state = match state {
            Some(state) => {
                Counts::of(OP, path, &state)?;
                gate::check(OP, path, &state)?;
                check_provider(OP, path, &state)?;
                match names_service(OP, path, &state)? {
                    true => Some(with_provider(OP, path, &state, None)?),
                    false => Some(state),
                }
            }
            None => None,
        };
        let stack = match self.known_in_bucket(OP, path).await? {
            Some(stack) => stack,
            None => self.adopt(OP, path).await?,
        };
        let edit = stack.begin_edit(OP, bucket, &[path], by).await?;
        let mut made = bucket.create(path, &edit, state.as_ref()).await;
        if made.is_ok() && !new.tags.is_empty() {
            made = bucket.set_tags(path, &new.tags).await;
        }
        stack.end_edit(OP, bucket, &[path], &edit).await;
        made.map(|()| stack)
    }
}

impl Stack {
    /// Takes the lock of the stack, and locks of one id in the bucket. Gives the id, which both have.
    pub(crate) async fn begin_edit(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        paths: &[&StackPath],
        by: &str,
    ) -> Result<String> {
        self.settled(op).await?;
        let id = self.stacks.new_id(op, self.path())?;
        let lock = self.edit_lock(op, bucket, [&id, &id], by)?;
        let decide = |head: &Head| {
            self.check_free(op, head)?;
            Ok::<_, Error>(Step::lock(lock.clone()))
        };
        self.versions_document().step(decide).await.map_err(|error| self.failed(op, error))??;
        for path in paths {
            if let Err(error) = bucket.lock(path, &BucketLock::new(&id, by)).await {
                self.end_edit(op, bucket, paths, &id).await;
                return Err(error);
            }
        }
        Ok(id)
    }

    /// The lock of a node that works under a lock in the bucket, or has only to release it.
    pub(super) fn edit_lock(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        [id, lock]: [&str; 2],
        by: &str,
    ) -> Result<NewLock> {
        let document =
            serde_json::to_vec(&Holder::Bucket { lock: lock.to_owned(), place: bucket.to_string() })
                .map_err(|error| self.error(ErrorKind::Internal, op).with_source(error))?;
        Ok(NewLock::new(id).document(document).lease(Some(EDIT)).by(by))
    }

    /// Releases the locks of an edit. What cannot be released now is released when the stack is settled.
    pub(crate) async fn end_edit(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        paths: &[&StackPath],
        id: &str,
    ) {
        let ended = async {
            for path in paths {
                bucket.unlock(path, id).await?;
            }
            self.versions_document().unlock(id).await.map_err(|error| self.failed(op, error))
        };
        if let Err(error) = ended.await {
            warn!(stack = %self.path(), error = %error, "a lock is not released yet");
        }
    }

    /// Goes on with what a node that has gone did in the bucket: its lock there is released, and then the one here.
    pub(crate) async fn settle_edit(&self, op: Op, over: &Lock, [lock, place]: [&str; 2]) -> Result<()> {
        let bucket = self.bucket_at(op, place)?;
        bucket.unlock(self.path(), lock).await?;
        self.versions_document().unlock(&over.id).await.map(drop).map_err(|error| self.failed(op, error))
    }

    /// The bucket of the stack, if it is the one at this place.
    pub(crate) fn bucket_at(&self, op: Op, place: &str) -> Result<&Arc<dyn StackBucket>> {
        self.bucket().filter(|bucket| bucket.to_string() == place).ok_or_else(|| {
            let failure = self.error(ErrorKind::NoBucket, op);
            let owner = self.path().owner();
            failure
                .because(format!("an update of it began in {place}, which is not the bucket of {owner} here"))
                .next_step("configure that bucket until the update is ended")
        })
    }

    /// Replaces the state, as an update that does nothing else.
    pub(crate) async fn import_into_bucket(
        &self,
        state: &Bytes,
        expected: Option<&str>,
        by: &str,
    ) -> Result<ImportedState> {
        const OP: Op = Op::Import;
        check_provider(OP, self.path(), state)?;
        let request = UpdateRequest::new(IMPORT, by, self.stacks.now());
        let update = self.create_update(&request).await?;
        let lease = update.start(&StartOptions::new(None, "")).await?;
        let upload = CheckpointUpload::Verbatim { sequence: 1, text: state };
        let done = async {
            // The bucket is locked now, also for `pulumi` at the bucket itself.
            if let (Some(expected), Some(bucket)) = (expected, self.bucket()) {
                let (_, found) = self.bucket_export(OP, bucket).await?;
                self.check_expected(OP, expected, &sha256(&found))?;
            }
            update.save(&lease.token, upload).await?;
            update.complete(&lease.token, UpdateResult::Succeeded).await
        };
        if let Err(error) = done.await {
            if let Err(left) = update.cancel(by).await {
                warn!(stack = %self.path(), error = %left, "an import that failed is not ended yet");
            }
            return Err(error);
        }
        let head = self.head(OP).await?;
        let note = crate::record::VersionNote::of(self.current(OP, &head)?);
        let number = match self.bucket() {
            Some(bucket) => bucket.updates(self.path()).await?,
            None => 0,
        };
        let version = StackVersion { number, by: by.to_owned(), note, request: Some(request) };
        Ok(ImportedState { version, sha256: None })
    }

    /// Removes the stack from its bucket. Gives the id of the edit, which ends with the removal of what is kept here.
    pub(crate) async fn remove_from_bucket(
        &self,
        op: Op,
        bucket: &Arc<dyn StackBucket>,
        force: bool,
        by: &str,
    ) -> Result<String> {
        let edit = self.begin_edit(op, bucket, &[self.path()], by).await?;
        let removed = async {
            if !force {
                let (_, export) = self.bucket_export(op, bucket).await?;
                if Counts::of(op, self.path(), &export)?.in_use {
                    return Err(self.error(ErrorKind::HasResources, op));
                }
            }
            bucket.remove(self.path(), &edit).await?;
            bucket.unlock(self.path(), &edit).await
        };
        if let Err(error) = removed.await {
            self.end_edit(op, bucket, &[self.path()], &edit).await;
            return Err(error);
        }
        Ok(edit)
    }
}

/// The kind of updates that only replace the state. Buckets have no history of them.
pub(super) const IMPORT: &str = "import";
