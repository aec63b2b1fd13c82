//! The end of an update that a client asks for, and how far it is.

use std::time::Duration;

use groundstate_versioned::{Ending, Head, Step};

use crate::error::{Error, ErrorKind, Result};
use crate::lease::{LeaseToken, Leased};
use crate::op::Op;
use crate::path::StackPath;
use crate::record::{Holder, PreviewRecord, UpdateResult, VersionNote};
use crate::stack::holder;
use crate::stacks::Stacks;
use crate::start::UNSTARTED;
use crate::traced;
use crate::update::{Update, UpdateStatus};

impl Stacks {
    /// Returns the update that a client asks to end, before anything else of the request is read: the token is that of its lease, or the
    /// update has ended, which is told a client that asks again.
    ///
    /// # Errors
    ///
    /// `LeaseLost` for another token, `NotFound`, and those of the store.
    pub async fn ending_update(&self, path: &StackPath, update: &str, token: &LeaseToken) -> Result<Update> {
        const OP: Op = Op::Complete;
        let found = self.stack(path).await?.update(update);
        match found.admit(OP, token).await {
            Err(error) if error.kind() == ErrorKind::LeaseLost && found.has_ended(OP, token).await? => {
                Ok(found)
            }
            admitted => admitted.map(|_| found),
        }
    }
}

impl Update {
    /// Returns `true` if the update has ended by itself, or is a preview of this token that has.
    async fn has_ended(&self, op: Op, token: &LeaseToken) -> Result<bool> {
        if let Some((preview, _)) = self.get::<PreviewRecord>(op, "preview").await? {
            return Ok(preview.result.is_some() && token.is(&preview.token));
        }
        let head = self.stack.head(op).await?;
        Ok(match head.lock_of(&self.id) {
            None => head.ended(&self.id).is_some_and(|ended| ended.how == Ending::Released),
            Some(lock) => matches!(holder(lock), Some(Holder::Bucket { .. })),
        })
    }

    /// Ends it. What it did becomes a version of the stack. A second time it succeeds without effect.
    ///
    /// # Errors
    ///
    /// `LeaseLost`, `Conflict` if it has ended in another way, and those of the store.
    pub async fn complete(&self, token: &LeaseToken, result: UpdateResult) -> Result<()> {
        Box::pin(traced::on_update(Op::Complete, self, self.completing(token, result))).await
    }

    async fn completing(&self, token: &LeaseToken, result: UpdateResult) -> Result<()> {
        const OP: Op = Op::Complete;
        let end = |preview: &mut PreviewRecord| {
            if preview.result.is_some() && token.is(&preview.token) {
                return self.same_result(preview.result, result);
            }
            self.check_preview(OP, preview, token)?;
            preview.result = Some(result);
            Ok(())
        };
        if self.change_preview(OP, end).await? {
            self.stack.stacks.live().forget(&self.id);
            return Ok(());
        }
        let head = self.stack.head(OP).await?;
        if head.lock_of(&self.id).is_none()
            && head.ended(&self.id).is_some_and(|ended| ended.how == Ending::Released)
        {
            let made = self.made_version(OP).await?;
            return self.same_result(made.map(|note| note.result), result);
        }
        if let Some(Holder::Bucket { .. }) = head.lock_of(&self.id).and_then(holder) {
            // The version is written, and the lock in the bucket is being released.
            return self.same_result(self.made_version(OP).await?.map(|note| note.result), result);
        }
        let Leased { running, lock } = self.told(OP, &head, self.leased_by(OP, &head, token)).await?;
        match self.finish(OP, &running, &lock, result, None).await? {
            Some(why) => Err(self.kept_apart(OP, why)),
            None => Ok(()),
        }
    }

    fn same_result(&self, stored: Option<UpdateResult>, asked: UpdateResult) -> Result<()> {
        match stored {
            Some(stored) if stored != asked => {
                Err(self.conflict(Op::Complete, "it has ended in another way"))
            }
            _ => Ok(()),
        }
    }

    /// The note of the version that it made, if it is one of the newest.
    pub(crate) async fn made_version(&self, op: Op) -> Result<Option<VersionNote>> {
        /// An update that is older is not asked for again.
        const FAR: usize = 100;
        let page = self.stack.versions_document().versions(None, FAR).await;
        let page = page.map_err(|error| self.stack.failed(op, error))?;
        let mut notes = page.versions.iter().map(VersionNote::of);
        Ok(notes.find(|note| note.update.as_deref() == Some(&self.id)))
    }

    /// How far it is.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub async fn status(&self) -> Result<UpdateStatus> {
        const OP: Op = Op::Read;
        let head = self.stack.settled(OP).await?;
        if head.lock_of(&self.id).is_some() {
            return Ok(UpdateStatus::Running);
        }
        if let Some(note) = self.made_version(OP).await? {
            return Ok(UpdateStatus::Ended(note.result));
        }
        if let Some((preview, _)) = self.get::<PreviewRecord>(OP, "preview").await? {
            return Ok(preview.result.map_or(UpdateStatus::Running, UpdateStatus::Ended));
        }
        let created = self.request().await?.created;
        let age = self.stack.stacks.now().duration_since(created).unwrap_or_default();
        if age <= UNSTARTED {
            return Ok(UpdateStatus::NotStarted);
        }
        // It waits no more for its start, so it has a version if it ever had one.
        let made = self.stack.version_made_by(OP, &self.id, 0, head.number()).await?;
        Ok(made.map_or(UpdateStatus::NotStarted, |version| {
            UpdateStatus::Ended(VersionNote::of(&version).result)
        }))
    }

    /// Ends an update that another client runs, or the lock of this ID: what it has stored counts, and its client is refused from now on. One that has ended
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// `NotFound` for an update that the stack never had, and those of the store.
    pub async fn cancel(&self, by: &str) -> Result<()> {
        const OP: Op = Op::Cancel;
        let head = self.stack.head(OP).await?;
        if self.cancel_lock(OP, &head, by).await? {
            return Ok(());
        }
        let Some(Holder::Update(mut running)) = head.lock_of(&self.id).and_then(holder) else {
            return match head.ended(&self.id).is_some() || self.made_version(OP).await?.is_some() {
                true => Ok(()),
                false => self.request().await.map(drop),
            };
        };
        running.cancelled.get_or_insert_with(|| by.to_owned());
        // Who did it is stored, so that whichever node goes on knows; the lease is over at once.
        let lock = self.lock(OP, &Holder::Update(running), Duration::ZERO, by)?;
        let decide = |head: &Head| match head.lock_of(&self.id) {
            Some(_) => Ok::<_, Error>(Step::lock(lock.clone())),
            None => Ok(Step::nothing()),
        };
        let stepped = self.stack.versions_document().step(decide).await;
        stepped.map_err(|error| self.stack.failed(OP, error))??;
        self.stack.stacks.live().forget(&self.id);
        self.stack.settle(OP).await.map(drop)
    }
}
