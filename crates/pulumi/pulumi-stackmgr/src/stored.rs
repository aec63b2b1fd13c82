//! Entries in a journal store: the base as the text of a deployment, each entry as a record.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::with_causes;
use groundstate_pulumi_deployment::{
    DeploymentFile, EncodeError, EncodeOptions, ReadError, Secrets, decode, encode,
};
use groundstate_pulumi_journal::{
    DecodeError, DecodeOptions, Entry, ReplayError, Replayed, Replayer, decode_entry, encode_entry,
};
use groundstate_pulumi_snapshot::{Feature, Manifest, Snapshot};
use groundstate_wal::{ErrorKind, JournalStore, JournalWriter, OpenOptions, Record, read_all};

use crate::error::{BoxError, Error};
use crate::sink::{AppendError, JournalSink};

/// A journal of a stack in a place that keeps journals.
///
/// ```
/// use std::sync::Arc;
///
/// use groundstate_common::{FixedClock, Timestamp};
/// use groundstate_pulumi_deployment::{DeploymentFile, Envelope};
/// use groundstate_pulumi_snapshot::{Manifest, Resource, Snapshot};
/// use groundstate_pulumi_journal::{Base, State, Step, StepKind};
/// use groundstate_wal::{MemoryJournal, OpenOptions};
/// use groundstate_pulumi_stackmgr::{JournalManager, Options, SnapshotManager, StoredJournal, recover};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryJournal::new("dev");
/// let base = DeploymentFile::new(Envelope::Deployment, Some(Snapshot::default()));
/// let journal = StoredJournal::begin(&store, &OpenOptions::new("ann@host"), &base).await?;
///
/// let options = Options::new(Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)), "v3.259.0", "mytool up");
/// let manager = JournalManager::new(&Base::new(Snapshot::default()), journal, options);
/// let bucket = State::new(Resource::new("urn:bucket", "t"));
/// let running = manager.begin(Step::new(StepKind::Create, None, Some(&bucket))).await?;
/// drop((running, manager)); // The program dies here.
///
/// let left = recover(&store).await?.expect("a journal was begun");
/// let replayed = left.replay(Manifest::default())?;
/// assert_eq!(replayed.snapshot.pending_operations.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StoredJournal {
    writer: Arc<dyn JournalWriter>,
}

/// Why a journal cannot be begun, or what is left of one cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// The place of the journal fails.
    #[error(transparent)]
    Store(#[from] groundstate_wal::Error),
    /// The base has no form.
    #[error("the base of the journal cannot be written")]
    Encode(#[from] EncodeError),
    /// The base cannot be read.
    #[error("the base of the journal cannot be read")]
    Base(#[from] ReadError),
    /// A record is not an entry.
    #[error("record {record} of the journal is not an entry")]
    Entry {
        /// Which one, from 0.
        record: usize,
        /// Why not.
        source: DecodeError,
    },
}

/// What is left of a journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recovered {
    /// The base.
    pub base: DeploymentFile,
    /// The entries, in the order in which they were stored.
    pub entries: Vec<Entry>,
}

impl StoredJournal {
    /// Becomes the writer of a journal, and begins it anew on a base. What was there before is replaced: [`recover`] it first.
    ///
    /// # Errors
    ///
    /// The place fails, or the base has no form.
    pub async fn begin(
        store: &dyn JournalStore,
        options: &OpenOptions,
        base: &DeploymentFile,
    ) -> Result<Self, RecoverError> {
        let text = encode(base, &EncodeOptions::default())?;
        let writer = store.open(options).await?;
        writer.begin(&Record::from(text)).await?;
        Ok(Self { writer })
    }

    /// The writer, to clear the journal when the snapshot it stands for is stored elsewhere.
    pub fn writer(&self) -> &Arc<dyn JournalWriter> {
        &self.writer
    }
}

/// Reads what is left of a journal; nothing if none was begun.
///
/// # Errors
///
/// The place fails, or what is stored cannot be understood.
pub async fn recover(store: &dyn JournalStore) -> Result<Option<Recovered>, RecoverError> {
    let Some(contents) = read_all(store).await? else { return Ok(None) };
    let base =
        decode(contents.head.base.as_bytes(), &groundstate_pulumi_deployment::DecodeOptions::default())?;
    let mut entries = Vec::with_capacity(contents.records.len());
    for (record, text) in contents.records.iter().enumerate() {
        let entry = decode_entry(text.as_bytes(), &DecodeOptions::default());
        entries.push(entry.map_err(|source| RecoverError::Entry { record, source })?);
    }
    Ok(Some(Recovered { base, entries }))
}

impl Recovered {
    /// The snapshot that base and entries stand for.
    ///
    /// # Errors
    ///
    /// The entries contradict each other or the base.
    pub fn replay(self, manifest: Manifest) -> Result<Replayed, ReplayError> {
        let has_bytes = self.base.features.contains(&Feature::ByteString);
        let base: Snapshot = self.base.snapshot.unwrap_or_default();
        let mut replayer = Replayer::new(base).byte_strings(has_bytes);
        for entry in self.entries {
            replayer.apply(entry)?;
        }
        replayer.snapshot(manifest)
    }
}

#[async_trait]
impl JournalSink for StoredJournal {
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError> {
        let record = |entry: &Arc<Entry>| encode_entry(entry, Secrets::Sealed).map(Record::from);
        let records: Result<Vec<Record>, EncodeError> = entries.iter().map(record).collect();
        let records = records.map_err(|error| AppendError::Lost(chained(&error)))?;
        match self.writer.append(&records).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Invalid => Err(AppendError::TooLarge(error.into())),
            Err(error) => Err(AppendError::Lost(chained(&error))),
        }
    }

    async fn close(&self) -> Result<(), Error> {
        self.writer.close().await.map_err(|error| Error::Append(chained(&error).to_string()))
    }
}

/// An error with its causes in one text, since only its text goes on to those who wait.
fn chained(error: &dyn std::error::Error) -> BoxError {
    with_causes(error).to_string().into()
}
