//! One stack: what is true of it, its state, its versions, its tags.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use groundstate_common::Timestamp;
use groundstate_versioned::{Document, Expect, Head, Lock, Step, Version};

use crate::bucket::{Export, StackBucket};
use crate::deployment::{self, Counts};
use crate::error::{Error, ErrorKind, Result};
use crate::gate;
use crate::op::Op;
use crate::path::StackPath;
use crate::record::{Holder, Running, StackRecord, UpdateRequest, UpdateResult, VersionNote};
use crate::small::write_json;
use crate::stacks::Stacks;
use crate::traced;

/// How often tags are written when others are faster.
const ATTEMPTS: usize = 8;

/// A client of one stack. What it is called and tagged is as of when it was opened.
#[derive(Clone)]
pub struct Stack {
    pub(crate) stacks: Stacks,
    id: String,
    record: StackRecord,
    number: u64,
    versions: Document,
    bucket: Option<Arc<dyn StackBucket>>,
}

/// The update that a stack has now, or the lock that a client holds without one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CurrentUpdate {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: String,
    /// Who started it.
    pub author: String,
    /// When it was started.
    pub started: Timestamp,
}

/// What is true of a stack now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StackState {
    /// The number of the last version, 0 for a stack that has never been updated.
    pub version: u64,
    /// What is kept with it.
    pub note: VersionNote,
    /// The update that runs.
    pub current: Option<CurrentUpdate>,
    /// The id of the last update that was no preview, running or ended.
    pub last_update: Option<String>,
}

/// A version of a stack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StackVersion {
    /// Its number; the state that a stack begins with has 0.
    pub number: u64,
    /// Who made it; empty if that is not known.
    pub by: String,
    /// What is kept with it.
    pub note: VersionNote,
    /// What its client said, if that is kept with the version and not with its update.
    pub request: Option<UpdateRequest>,
}

/// What an import has made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportedState {
    /// The version that the stack has now.
    pub version: StackVersion,
    /// The SHA-256 of what [`Stack::export`] gives of it, in lower-case hexadecimal digits; nothing for a stack in a bucket, which
    /// others may have changed again.
    pub sha256: Option<String>,
}

/// A part of the history of a stack, the newest version first.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StackVersions {
    /// The versions.
    pub versions: Vec<StackVersion>,
    /// The numbers of versions that cannot be read, the newest first.
    pub unreadable: Vec<u64>,
    /// Before which number it goes on, if it does.
    pub next: Option<u64>,
}

impl Stack {
    pub(crate) fn new(stacks: Stacks, id: String, record: StackRecord, number: u64) -> Self {
        let versions = stacks.versions(&id);
        Self { stacks, id, record, number, versions, bucket: None }
    }

    /// The same, with its state in a bucket.
    pub(crate) fn in_bucket(mut self, bucket: Option<Arc<dyn StackBucket>>) -> Self {
        self.bucket = bucket;
        self
    }

    /// The bucket that its state is in, if it is in one.
    pub(crate) fn bucket(&self) -> Option<&Arc<dyn StackBucket>> {
        self.bucket.as_ref()
    }

    /// Its id, which no other stack has, nor ever had.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The owner, the project and the name.
    pub fn path(&self) -> &StackPath {
        &self.record.path
    }

    /// Its tags.
    ///
    /// # Errors
    ///
    /// Those of its bucket, if it is in one.
    pub async fn tags(&self) -> Result<BTreeMap<String, String>> {
        match self.bucket() {
            Some(bucket) => bucket.tags(self.path()).await,
            None => Ok(self.record.tags.clone()),
        }
    }

    /// When it was made.
    pub fn created(&self) -> Timestamp {
        self.record.created
    }

    pub(crate) fn record(&self) -> &StackRecord {
        &self.record
    }

    pub(crate) fn versions_document(&self) -> &Document {
        &self.versions
    }

    pub(crate) fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, self.path())
    }

    pub(crate) fn failed(&self, op: Op, error: groundstate_versioned::Error) -> Error {
        Error::of_document(op, self.path(), error)
    }

    /// Whether it was not removed.
    pub(crate) async fn is_there(&self, op: Op) -> Result<bool> {
        if let Some(bucket) = self.bucket() {
            return bucket.exists(self.path()).await;
        }
        Ok(self.head(op).await?.current().is_some())
    }

    /// The head, whatever holds the lock.
    pub(crate) async fn head(&self, op: Op) -> Result<Head> {
        self.versions.head().await.map_err(|error| self.failed(op, error))
    }

    /// The update that runs by this head: its lease is not over.
    pub(crate) fn running(&self, head: &Head) -> Option<Running> {
        match holder(head.lock()?)? {
            Holder::Update(running) => Some(running),
            Holder::Settle(_) | Holder::Rename { .. } | Holder::Bucket { .. } | Holder::Lock(_) => None,
        }
    }

    /// A head under no lock that is over: what its holder did not finish is finished first.
    pub(crate) async fn settled(&self, op: Op) -> Result<Head> {
        let head = self.head(op).await?;
        if head.recorded_lock().is_none() || head.lock().is_some() {
            return Ok(head);
        }
        self.settle(op).await
    }

    /// What is true of it now.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn state(&self) -> Result<StackState> {
        const OP: Op = Op::Read;
        let head = self.readable(OP).await?;
        let version = self.current(OP, &head)?;
        let note = VersionNote::of(version);
        let running = self.running(&head).map(|running| CurrentUpdate {
            id: running.update,
            kind: running.kind,
            author: running.author,
            started: running.started,
        });
        let current = running.or_else(|| self.locked(&head));
        let last_update = current.as_ref().map(|current| current.id.clone());
        let last_update = match last_update {
            Some(update) => Some(update),
            None => self.last_update(&note, version.number).await?,
        };
        let version = match self.bucket() {
            Some(bucket) => bucket.updates(self.path()).await?,
            None => number(version),
        };
        Ok(StackState { version, note, current, last_update })
    }

    /// The update that made the newest version that an update made. Renames and imports in between are passed over.
    async fn last_update(&self, note: &VersionNote, number: u64) -> Result<Option<String>> {
        /// Behind so many others the last update is not looked for.
        const FAR: usize = 100;
        if note.update.is_some() || number <= 1 {
            return Ok(note.update.clone());
        }
        let page = self.versions.versions(None, FAR).await;
        let page = page.map_err(|error| self.failed(Op::Read, error))?;
        Ok(page.versions.iter().find_map(|version| VersionNote::of(version).update))
    }

    pub(crate) fn current<'h>(&self, op: Op, head: &'h Head) -> Result<&'h Version> {
        head.current().ok_or_else(|| {
            let error = self.error(ErrorKind::NotFound, op);
            error.because(format!("there is no stack {}", self.path()))
        })
    }

    /// The state: that of the last version, which is what an update that runs began with.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn export(&self) -> Result<Export> {
        const OP: Op = Op::Read;
        let head = self.readable(OP).await?;
        if let Some(bucket) = self.bucket().filter(|_| self.running(&head).is_none()) {
            let number = bucket.updates(self.path()).await?;
            return Ok(Export::of_bytes(number, self.bucket_export(OP, bucket).await?.1));
        }
        let reader = self.versions.read().await.map_err(|error| self.failed(OP, error))?;
        let reader = reader.ok_or_else(|| self.error(ErrorKind::NotFound, OP))?;
        Ok(Export::of_version(reader))
    }

    /// The state of a version.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn export_version(&self, version: u64) -> Result<Export> {
        const OP: Op = Op::Read;
        if let Some(bucket) = self.bucket() {
            return self.export_history(OP, bucket, version).await;
        }
        let found = self.version_of(OP, version).await?;
        let reader = self.versions.open(&found).await.map_err(|error| self.failed(OP, error))?;
        Ok(Export::of_version(reader))
    }

    async fn version_of(&self, op: Op, version: u64) -> Result<Version> {
        let missing = || self.error(ErrorKind::NotFound, op).because(format!("it has no version {version}"));
        let stored = version.checked_add(1).ok_or_else(missing)?;
        let before = stored.checked_add(1).ok_or_else(missing)?;
        let page = self.versions.versions(Some(before), 1).await;
        let page = page.map_err(|error| self.failed(op, error))?;
        if let Some(number) = page.unreadable().filter(|number| *number == stored) {
            return Err(self.lost_version(op, number));
        }
        let mut versions = page.versions;
        versions.retain(|found| found.number == stored && !found.deleted);
        versions.pop().ok_or_else(missing)
    }

    /// The error where a version cannot be read, whose number in the store is given.
    pub(crate) fn lost_version(&self, op: Op, number: u64) -> Error {
        let error = self.error(ErrorKind::Corrupt, op);
        let number = number.saturating_sub(1);
        error
            .because(format!("version {number} of its history is damaged or missing"))
            .next_step("see `groundstate store check`")
    }

    /// What is known of a version.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn version(&self, version: u64) -> Result<StackVersion> {
        if let Some(bucket) = self.bucket() {
            return self.history_version(Op::Read, bucket, version).await;
        }
        Ok(listed(&self.version_of(Op::Read, version).await?))
    }

    /// Lists versions, the newest first: those with numbers below `before`, at most `limit` of them. That with which the stack
    /// begins is none.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn versions(&self, before: Option<u64>, limit: usize) -> Result<StackVersions> {
        const OP: Op = Op::Read;
        self.readable(OP).await?;
        if let Some(bucket) = self.bucket() {
            return self.history_page(bucket, before, limit).await;
        }
        let before = before.map(|before| before.saturating_add(1));
        let page = self.versions.versions(before, limit).await.map_err(|error| self.failed(OP, error))?;
        let versions = page.versions.iter().filter(|version| version.number > 1 && !version.deleted);
        let next = page.next.filter(|next| *next > 2).map(|next| next - 1);
        let damaged = page.damaged.iter().map(|(number, _)| number);
        let unreadable = page.missing.iter().chain(damaged).filter_map(|number| number.checked_sub(1));
        let mut unreadable: Vec<u64> = unreadable.filter(|number| *number > 0).collect();
        unreadable.sort_unstable_by(|a, b| b.cmp(a));
        Ok(StackVersions { versions: versions.map(listed).collect(), unreadable, next })
    }

    /// Replaces the state. It becomes a version of its own. Where a SHA-256 is `expected`, in lower-case hexadecimal digits, what
    /// [`export`](Self::export) gives must have that digest still; check and import are one.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is no export, `Changed`, `Running`, and those of the store.
    pub async fn import(&self, state: &[u8], expected: Option<&str>, by: &str) -> Result<ImportedState> {
        Box::pin(traced::on_stack(Op::Import, self, async {
            let imported = self.importing(state, expected, by).await?;
            traced::version(imported.version.number);
            Ok(imported)
        }))
        .await
    }

    async fn importing(&self, state: &[u8], expected: Option<&str>, by: &str) -> Result<ImportedState> {
        const OP: Op = Op::Import;
        let state = deployment::normal(OP, self.path(), state)?;
        let counts = Counts::of(OP, self.path(), &state)?;
        let readable = gate::check(OP, self.path(), &state)?;
        if self.bucket().is_some() {
            return self.import_into_bucket(&state, expected, by).await;
        }
        let state = self.sealed(OP, state, readable, by).await?;
        self.settled(OP).await?;
        let update = self.stacks.new_id(OP, self.path())?;
        let now = self.stacks.now();
        let mut note = VersionNote::new("import", UpdateResult::Succeeded, now, now).counted(&counts);
        note.update = Some(update);
        let content = self.versions.content(state).await.map_err(|error| self.failed(OP, error))?;
        let options = note.options(OP, self.path(), by)?;
        let decide = |head: &Head| {
            self.check_free(OP, head)?;
            if let Some(expected) = expected {
                self.check_expected(OP, expected, &self.current(OP, head)?.sha256.to_string())?;
            }
            Ok::<_, Error>(Step::write(content.clone(), options.clone()))
        };
        let stepped = self.versions.step(decide).await.map_err(|error| self.failed(OP, error))??;
        let version = self.current(OP, &stepped.head)?;
        Ok(ImportedState { sha256: Some(version.sha256.to_string()), version: listed(version) })
    }

    /// Refuses a state with another digest than what is expected.
    pub(crate) fn check_expected(&self, op: Op, expected: &str, found: &str) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(self.error(ErrorKind::Changed, op).next_step("read it, and do the work again"))
    }

    /// Refuses a change while an update runs, and of a stack that is gone.
    pub(crate) fn check_free(&self, op: Op, head: &Head) -> Result<()> {
        self.current(op, head)?;
        if head.recorded_lock().is_some() {
            return Err(self.is_running(op));
        }
        Ok(())
    }

    pub(crate) fn is_running(&self, op: Op) -> Error {
        let error = self.error(ErrorKind::Running, op);
        error.next_step("wait until it has ended, or cancel it with `pulumi cancel`")
    }

    /// Replaces all tags. The last writer wins.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn set_tags(&self, tags: &BTreeMap<String, String>, by: &str) -> Result<()> {
        if let Some(bucket) = self.bucket() {
            return bucket.set_tags(self.path(), tags).await;
        }
        if self.record.tags == *tags {
            return Ok(());
        }
        self.change_record(Op::Tag, by, |record| record.tags.clone_from(tags)).await.map(drop)
    }

    /// Changes what is kept beside the versions. Gives the stack with it.
    pub(crate) async fn change_record(
        &self,
        op: Op,
        by: &str,
        change: impl Fn(&mut StackRecord) + Send,
    ) -> Result<Self> {
        let mut stack = self.clone();
        for _ in 0..ATTEMPTS {
            change(&mut stack.record);
            let document = self.stacks.record(&self.id);
            let expect = Expect::Number(stack.number);
            let written = write_json(op, self.path(), &document, &stack.record, by, expect).await?;
            if let Some(number) = written {
                stack.number = number;
                return Ok(stack);
            }
            let again = self.stacks.by_id(op, &self.id).await?;
            stack = again.ok_or_else(|| self.error(ErrorKind::NotFound, op))?;
        }
        Err(self.error(ErrorKind::Unavailable, op).because("other clients change it all the time"))
    }

    /// Removes the stack with all that its updates stored: leases, journals, checkpoints, events. Its versions stay in the store, its name is
    /// free, and its key still opens secrets of states that name it.
    ///
    /// # Errors
    ///
    /// `HasResources` unless forced, `Running`, and those of the store.
    pub async fn remove(&self, force: bool, by: &str) -> Result<()> {
        const OP: Op = Op::Remove;
        self.settled(OP).await?;
        let edit = match self.bucket() {
            Some(bucket) => Some(self.remove_from_bucket(OP, bucket, force, by).await?),
            None => None,
        };
        // States of other stacks may name the key of this one. Should the removal fail, its key is there twice.
        if let Some(known) = self.stacks.by_id(OP, &self.id).await? {
            self.stacks.retire(OP, &self.id, &known.record, by).await?;
        }
        let decide = |head: &Head| {
            let delete = Step::delete(groundstate_versioned::VersionOptions::default().by(by));
            if edit.as_ref().is_some_and(|edit| head.lock_of(edit).is_some()) {
                return Ok(delete.and(Step::release()));
            }
            self.check_free(OP, head)?;
            let note = VersionNote::of(self.current(OP, head)?);
            if note.in_use && !force {
                return Err(self.error(ErrorKind::HasResources, OP));
            }
            Ok(delete)
        };
        self.versions.step(decide).await.map_err(|error| self.failed(OP, error))??;
        let options = groundstate_versioned::WriteOptions::default().by(by);
        let deleted = self.stacks.record(&self.id).delete(&options).await;
        deleted.map_err(|error| self.failed(OP, error))?;
        self.stacks.let_go(OP, self.path(), &self.id, by).await?;
        // The stack is gone. Maintenance goes on with what stays of its updates.
        if let Err(error) = self.stacks.remove_updates(&self.id).await {
            tracing::warn!(stack = %self.path(), error = %error, "what updates of the stack left is not removed yet");
        }
        Ok(())
    }
}

/// The number of a version as clients know it: the state that a stack begins with is not counted.
pub(crate) fn number(version: &Version) -> u64 {
    version.number.saturating_sub(1)
}

fn listed(version: &Version) -> StackVersion {
    let (by, note) = (version.by.clone(), VersionNote::of(version));
    StackVersion { number: number(version), by, note, request: None }
}

/// What holds a lock.
pub(crate) fn holder(lock: &Lock) -> Option<Holder> {
    serde_json::from_slice(&lock.document).ok()
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("path", &self.record.path).field("id", &self.id).finish_non_exhaustive()
    }
}
