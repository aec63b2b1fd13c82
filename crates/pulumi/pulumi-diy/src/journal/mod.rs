//! While an update runs: each step is an entry of a journal beside the stack, and the checkpoint is written at intervals.

mod marks;
mod recovery;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::Timestamp;
use groundstate_pulumi_deployment::{DeploymentFile, Envelope};
use groundstate_pulumi_journal::{Entry, Replayer};
use groundstate_pulumi_snapshot::{Feature, Manifest, Time};
use groundstate_pulumi_stackmgr as stackmgr;
use groundstate_pulumi_stackmgr::{AppendError, JournalSink, RecoverError, SnapshotSink, StoredJournal};
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::{ErrorKind as WalKind, OpenOptions};
use tokio::sync::Mutex;

use crate::stack::{Stack, Writer};
use crate::{BoxError, Error, ErrorKind, Guard, Op, Result};
use marks::Marks;
pub(crate) use marks::digest;
pub use recovery::{JournaledState, RecoveredUpdate};

/// Saves each snapshot of a manager as the checkpoint of a stack.
///
/// A snapshot that is not valid is saved too, since the resources in it exist; the state before the update stays in `.bak`.
#[derive(Debug)]
pub struct CheckpointSink {
    writer: Mutex<Writer>,
}

impl CheckpointSink {
    /// Saves by this writer.
    pub fn new(writer: Writer) -> Self {
        Self { writer: Mutex::new(writer.unchecked()) }
    }
}

#[async_trait]
impl SnapshotSink for CheckpointSink {
    async fn save(&self, file: &DeploymentFile) -> Result<(), BoxError> {
        let mut writer = self.writer.lock().await;
        let document = writer.stack().document(file)?;
        writer.save(document).await?;
        Ok(())
    }
}

/// How an update is journaled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JournalOptions {
    /// Who runs it, such as `user@host`. No secrets.
    pub owner: String,
    /// The version of the program in the checkpoint, with a `v` in front.
    pub version: String,
    /// The command line, for the record in a state that is not valid.
    pub command: String,
    /// How long the checkpoint may be older than the journal.
    pub interval: Duration,
}

impl JournalOptions {
    /// A checkpoint a minute.
    pub fn new(owner: impl Into<String>, version: impl Into<String>, command: impl Into<String>) -> Self {
        let (owner, version, command) = (owner.into(), version.into(), command.into());
        Self { owner, version, command, interval: Duration::from_secs(60) }
    }

    /// Sets how long the checkpoint may be older than the journal.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }
}

/// A journal of an update, for a [`JournalManager`](stackmgr::JournalManager).
///
/// Entries are stored when they are acknowledged; the checkpoint follows at intervals and at the end, when the journal is removed. A
/// crash leaves a checkpoint that `pulumi` reads, and a journal from which [`Stack::recover`] makes what is missing in it.
#[derive(Debug)]
pub struct StackJournal {
    journal: StoredJournal,
    guard: Arc<dyn Guard>,
    options: JournalOptions,
    base: DeploymentFile,
    work: Mutex<Work>,
}

#[derive(Debug)]
struct Work {
    writer: Writer,
    replayer: Replayer,
    marks: Marks,
    saved: Timestamp,
}

impl Stack {
    /// Begins the journal of an update of this stack, which exists. The store needs conditional writes; where it has none,
    /// use a [`CheckpointSink`].
    ///
    /// # Errors
    ///
    /// [`Changed`](ErrorKind::Changed) if the journal of an update that was killed is there: [`recover`](Self::recover) it first;
    /// [`NotFound`](ErrorKind::NotFound), [`LockLost`](ErrorKind::LockLost), and those of requests.
    pub async fn journal(&self, guard: Arc<dyn Guard>, options: JournalOptions) -> Result<StackJournal> {
        let store = self.journal_store()?;
        let left = stackmgr::recover(&store).await.map_err(|error| self.recover_failed(error))?;
        if left.is_some() {
            return Err(self.unrecovered(Op::Record));
        }
        let checkpoint = self.read().await?.ok_or_else(|| self.failed(ErrorKind::NotFound, Op::Record))?;
        let base = checkpoint.decode()?;
        guard.check().await?;
        // The mark goes first: a journal without one could not be told from an outdated one.
        let marks = Marks::begin(self, &checkpoint.bytes).await?;
        let open = OpenOptions::new(&options.owner).take_over(true);
        let journal = StoredJournal::begin(&store, &open, &base).await;
        let journal = journal.map_err(|error| self.recover_failed(error))?;
        let has_bytes = base.features.contains(&Feature::ByteString);
        let replayer = Replayer::new(base.snapshot.clone().unwrap_or_default()).byte_strings(has_bytes);
        let condition = groundstate_blobs::Precondition::Version(checkpoint.version);
        let writer = self.writer(Arc::clone(&guard)).expecting(condition).unchecked().journaled();
        let saved = self.backend().context().clock.now();
        let work = Mutex::new(Work { writer, replayer, marks, saved });
        Ok(StackJournal { journal, guard, options, base, work })
    }

    /// Whether there may be a journal of this stack: an update runs, or one was killed. Costs one request.
    ///
    /// # Errors
    ///
    /// Those of requests.
    pub async fn has_journal(&self) -> Result<bool> {
        Marks::exist(self).await
    }

    pub(crate) fn unrecovered(&self, op: Op) -> Error {
        let failure = self.failed(ErrorKind::Changed, op);
        failure
            .because("an update was killed before it could save everything it did")
            .next_step("recover it first")
    }

    fn journal_prefix(&self) -> Result<String> {
        let reference = self.checked(Op::Record)?;
        Ok(format!(".pulumi/groundstate/journals/{reference}/"))
    }

    /// Where the journal of this stack is.
    fn journal_store(&self) -> Result<BlobJournal> {
        let prefix = self.journal_prefix()?;
        let (store, ids) = (Arc::clone(self.backend().store()), Arc::clone(&self.backend().context().ids));
        BlobJournal::new(store, &prefix, ids).map_err(|error| self.wal_failed(error))
    }

    fn recover_failed(&self, error: RecoverError) -> Error {
        match error {
            RecoverError::Store(error) => self.wal_failed(error),
            other => self
                .failed(ErrorKind::Corrupt, Op::Recover)
                .because(format!("its journal is damaged: {other}"))
                .with_source(other),
        }
    }

    fn wal_failed(&self, error: groundstate_wal::Error) -> Error {
        let kind = match error.kind() {
            WalKind::Locked => ErrorKind::Locked,
            WalKind::Fenced | WalKind::Closed | WalKind::NoEpoch => ErrorKind::LockLost,
            WalKind::Corrupt => ErrorKind::Corrupt,
            WalKind::Denied => ErrorKind::Denied,
            WalKind::Unavailable => ErrorKind::Unavailable,
            WalKind::Ambiguous => ErrorKind::Ambiguous,
            WalKind::Invalid => ErrorKind::Unsupported,
            _ => ErrorKind::Internal,
        };
        let reason = format!("its journal: {}", error.message());
        self.failed(kind, Op::Record).because(reason).with_source(error)
    }
}

impl StackJournal {
    /// What the update begins with.
    pub fn base(&self) -> &DeploymentFile {
        &self.base
    }

    /// Saves a checkpoint of everything so far.
    async fn checkpoint(&self, work: &mut Work) -> Result<()> {
        let stack = work.writer.stack().clone();
        let now = stack.backend().context().clock.now();
        let manifest = Manifest::new(Time::utc(now), self.options.version.as_str());
        let document =
            state(&stack, &mut work.replayer, manifest, &self.base.envelope, &self.options.command)?;
        work.marks.add(&stack, &document).await?;
        work.writer.save(document).await?;
        work.saved = now;
        Ok(())
    }

    fn is_due(&self, work: &Work) -> bool {
        let now = work.writer.stack().backend().context().clock.now();
        now.duration_since(work.saved).is_some_and(|since| since >= self.options.interval)
    }

    async fn finish(&self) -> Result<()> {
        let mut work = self.work.lock().await;
        self.checkpoint(&mut work).await?;
        let stack = work.writer.stack().clone();
        self.guard.check().await?;
        self.journal.writer().clear().await.map_err(|error| stack.wal_failed(error))?;
        work.marks.remove(&stack).await
    }
}

/// The checkpoint that entries on a base mean.
fn state(
    stack: &Stack,
    replayer: &mut Replayer,
    manifest: Manifest,
    envelope: &Envelope,
    command: &str,
) -> Result<Bytes> {
    let mut replayed = replayer.snapshot(manifest).map_err(|error| {
        let failure = stack.failed(ErrorKind::Corrupt, Op::Record);
        failure.because("the entries of its journal contradict each other").with_source(error)
    })?;
    replayed.record_integrity(command);
    stack.document(&replayed.into_file(envelope.clone()))
}

#[async_trait]
impl JournalSink for StackJournal {
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError> {
        let mut work = self.work.lock().await;
        self.guard.check().await.map_err(|error| AppendError::Lost(error.into()))?;
        self.journal.append(entries).await?;
        for entry in entries {
            work.replayer.apply(Arc::clone(entry)).map_err(|error| AppendError::Lost(error.into()))?;
        }
        if !self.is_due(&work) {
            return Ok(());
        }
        match self.checkpoint(&mut work).await {
            Ok(()) => Ok(()),
            // The journal has everything, and the next checkpoint may succeed.
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Ambiguous) => Ok(()),
            Err(error) => Err(AppendError::Lost(error.into())),
        }
    }

    async fn close(&self) -> Result<(), stackmgr::Error> {
        self.finish().await.map_err(|error| stackmgr::Error::Save(error.into()))?;
        self.journal.close().await
    }
}
