//! After a crash: what the journal has and the checkpoint lacks.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{DeleteOptions, Precondition};
use groundstate_pulumi_deployment::Envelope;
use groundstate_pulumi_journal::Replayer;
use groundstate_pulumi_snapshot::{Feature, Manifest, Time};
use groundstate_pulumi_stackmgr as stackmgr;
use groundstate_wal::{JournalStore, OpenOptions};

use super::marks::Marks;
use super::{JournalOptions, state};
use crate::backend::objects;
use crate::stack::{Saved, Stack};
use crate::{Error, ErrorKind, Guard, Op, Result, traced};

/// What was recovered of an update that was killed.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecoveredUpdate {
    /// How many entries its journal had.
    pub entries: usize,
    /// The checkpoint, unless the journal had nothing to add.
    pub saved: Option<Saved>,
}

/// What the journal of a killed update leads to.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournaledState {
    /// How many entries it has.
    pub entries: usize,
    /// The checkpoint.
    pub document: Bytes,
}

impl fmt::Debug for JournaledState {
    /// Shows the size of the checkpoint only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournaledState")
            .field("entries", &self.entries)
            .field("document", &self.document.len())
            .finish()
    }
}

impl Stack {
    /// Saves what a killed update did and could not save, and removes its journal; `None` if there is no journal.
    /// Operations whose outcome is not known become pending operations.
    ///
    /// # Errors
    ///
    /// [`Changed`](ErrorKind::Changed) if another program saved a checkpoint after the update was killed: nothing is written, and the
    /// journal stays until [`discard_journal`](Self::discard_journal). [`Corrupt`](ErrorKind::Corrupt) for a damaged journal, and
    /// those of requests; calling it again goes on.
    pub async fn recover(
        &self,
        guard: Arc<dyn Guard>,
        options: &JournalOptions,
    ) -> Result<Option<RecoveredUpdate>> {
        traced::run(Op::Recover.as_str(), self, self.save_journaled(guard, options)).await
    }

    async fn save_journaled(
        &self,
        guard: Arc<dyn Guard>,
        options: &JournalOptions,
    ) -> Result<Option<RecoveredUpdate>> {
        let store = self.journal_store()?;
        let left = stackmgr::recover(&store).await.map_err(|error| self.recover_failed(error))?;
        let Some(left) = left else {
            // A crash may leave the marks of a journal that was not begun, or is removed.
            if self.has_journal().await? {
                guard.check().await?;
                Marks::default().remove(self).await?;
            }
            return Ok(None);
        };
        let entries = left.entries.len();
        let mut saved = None;
        if entries > 0 {
            let checkpoint =
                self.read().await?.ok_or_else(|| self.failed(ErrorKind::NotFound, Op::Recover))?;
            let mut marks = Marks::read(self).await?;
            if !marks.have(&checkpoint.bytes) {
                let failure = self.failed(ErrorKind::Changed, Op::Recover).because(format!(
                    "another program has saved it since an update was killed, whose journal has {entries} entries"
                ));
                return Err(failure.next_step("refresh the stack, then discard the journal"));
            }
            let document = self.replayed(left, &checkpoint.decode()?.envelope, options)?;
            guard.check().await?;
            marks.add(self, &document).await?;
            let condition = Precondition::Version(checkpoint.version);
            let mut writer = self.writer(Arc::clone(&guard)).expecting(condition).unchecked().journaled();
            saved = Some(writer.save(document).await?);
        }
        self.clear_journal(&*guard, options).await?;
        Ok(Some(RecoveredUpdate { entries, saved }))
    }

    /// The checkpoint that the journal of a killed update leads to, whatever was saved since; `None` if there is no journal, or if it
    /// has no entries. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](ErrorKind::Corrupt) for a damaged journal, and those of requests.
    pub async fn journaled(&self, options: &JournalOptions) -> Result<Option<JournaledState>> {
        let left = stackmgr::recover(&self.journal_store()?).await;
        let left = left.map_err(|error| self.recover_failed(error))?;
        let Some(left) = left.filter(|left| !left.entries.is_empty()) else { return Ok(None) };
        let (entries, envelope) = (left.entries.len(), left.base.envelope.clone());
        let document = self.replayed(left, &envelope, options)?;
        Ok(Some(JournaledState { entries, document }))
    }

    /// What the entries of a journal make of their base.
    fn replayed(
        &self,
        left: stackmgr::Recovered,
        envelope: &Envelope,
        options: &JournalOptions,
    ) -> Result<Bytes> {
        let has_bytes = left.base.features.contains(&Feature::ByteString);
        let snapshot = left.base.snapshot.unwrap_or_default();
        let mut replayer = Replayer::new(snapshot).byte_strings(has_bytes);
        for entry in left.entries {
            replayer.apply(entry).map_err(|error| {
                let failure = self.failed(ErrorKind::Corrupt, Op::Recover);
                failure.because("the entries of its journal contradict each other").with_source(error)
            })?;
        }
        let manifest =
            Manifest::new(Time::utc(self.backend().context().clock.now()), options.version.as_str());
        state(self, &mut replayer, manifest, envelope, &options.command)
    }

    /// Removes the journal of a killed update without a look at it, also a damaged one.
    ///
    /// # Errors
    ///
    /// [`LockLost`](ErrorKind::LockLost), and those of requests.
    pub async fn discard_journal(&self, guard: &dyn Guard, options: &JournalOptions) -> Result<()> {
        let work = async {
            match self.clear_journal(guard, options).await {
                Err(error) if error.kind() == ErrorKind::Corrupt => self.remove_journal(guard).await,
                cleared => cleared,
            }
        };
        traced::run("discard the journal of", self, work).await
    }

    /// Removes the objects of a journal that cannot be opened. The marks go last, so that a kill leaves a journal to discard.
    async fn remove_journal(&self, guard: &dyn Guard) -> Result<()> {
        let backend = self.backend();
        for listed in objects(&**backend.store(), &self.journal_prefix()?).await? {
            let key = backend.key(Op::Remove, &listed.name)?;
            guard.check().await?;
            let deleted = backend.store().delete(&key, &DeleteOptions::default()).await;
            deleted.map_err(|error| Error::from_store(Op::Remove, backend.place(key.as_str()), error))?;
        }
        Marks::default().remove(self).await
    }

    async fn clear_journal(&self, guard: &dyn Guard, options: &JournalOptions) -> Result<()> {
        guard.check().await?;
        let open = OpenOptions::new(&options.owner).take_over(true);
        let writer = self.journal_store()?.open(&open).await.map_err(|error| self.wal_failed(error))?;
        writer.clear().await.map_err(|error| self.wal_failed(error))?;
        writer.close().await.map_err(|error| self.wal_failed(error))?;
        Marks::default().remove(self).await
    }
}
