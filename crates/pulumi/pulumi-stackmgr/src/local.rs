//! A journal in memory whose every batch is written as a whole snapshot, for places that store nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_pulumi_journal::{Entry, Replayer};
use groundstate_pulumi_snapshot::Snapshot;
use tokio::sync::Mutex;

use crate::error::Error;
use crate::options::Options;
use crate::save::{Repair, is_stored, save};
use crate::sink::{AppendError, JournalSink, SnapshotSink};

/// Replays entries and writes the snapshot they stand for.
///
/// A batch is one write, whatever is in it. A snapshot that is broken is written and is an error; nothing is repaired, since
/// the entries would still say what they say.
#[derive(Debug)]
pub struct LocalJournal<S> {
    sink: S,
    options: Options,
    work: Mutex<Work>,
}

#[derive(Debug)]
struct Work {
    replayer: Replayer,
    /// Something is not stored yet; true before the first write, so that there is one at least.
    has_elided: bool,
}

impl<S: SnapshotSink> LocalJournal<S> {
    /// A journal on a base.
    pub fn new(base: Snapshot, sink: S, options: Options) -> Self {
        let work = Work { replayer: Replayer::new(base), has_elided: true };
        Self { sink, options, work: Mutex::new(work) }
    }

    async fn save(&self, work: &mut Work) -> Result<(), Error> {
        let replayed = work.replayer.snapshot(self.options.manifest())?;
        let has_bytes = replayed.has_byte_string;
        let saved = save(&self.sink, &self.options, Repair::Never, replayed.snapshot, has_bytes).await;
        work.has_elided = !is_stored(&saved);
        saved
    }
}

#[async_trait]
impl<S: SnapshotSink> JournalSink for LocalJournal<S> {
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError> {
        let mut work = self.work.lock().await;
        for entry in entries {
            work.replayer.apply(Arc::clone(entry)).map_err(|error| AppendError::Lost(Box::new(error)))?;
        }
        work.has_elided = true;
        if self.options.skip_checkpoints {
            return Ok(());
        }
        self.save(&mut work).await.map_err(AppendError::Kept)
    }

    async fn close(&self) -> Result<(), Error> {
        let mut work = self.work.lock().await;
        if work.has_elided { self.save(&mut work).await } else { Ok(()) }
    }
}
