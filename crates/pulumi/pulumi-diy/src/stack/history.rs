//! Updates of a stack that are over, each with the state it left.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use groundstate_blobs::{Key, PutOptions};
use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::copies::time_of;
use super::{Checkpoint, Stack};
use crate::backend::folder;
use crate::{Compression, Error, ErrorKind, Guard, Op, Result, traced};

/// What is known of an update. `Debug` shows no configuration.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Update {
    /// `update`, `refresh`, `destroy` or `resource-import`.
    pub kind: String,
    /// When it began, in seconds since 1970.
    pub start_time: i64,
    /// What its author said of it.
    pub message: String,
    /// Where and by what it was run: commits, CI, the command.
    pub environment: Option<BTreeMap<String, String>>,
    /// The configuration of the stack, as JSON.
    pub config: Option<Box<RawValue>>,
    /// Always 0; the number of an update is that of its [`HistoryEntry`].
    pub version: i64,
    /// `succeeded` or `failed`.
    pub result: String,
    /// When it ended, in seconds since 1970.
    pub end_time: i64,
    /// How many resources each operation changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_changes: Option<BTreeMap<String, i64>>,
}

impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update")
            .field("kind", &self.kind)
            .field("start_time", &self.start_time)
            .field("message", &self.message)
            .field("result", &self.result)
            .field("end_time", &self.end_time)
            .finish_non_exhaustive()
    }
}

/// An update in the history of a stack.
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its number, by order of time from 1. It changes when older entries are removed.
    pub number: usize,
    /// The key of its file.
    pub key: Key,
    /// The key of the state it left, if that is kept.
    pub checkpoint: Option<Key>,
    /// What the file says, or why that is not known. A damaged entry is listed too.
    pub update: Result<Update>,
    /// The whole text of the file, with what is not understood; empty if it cannot be unpacked.
    pub text: Bytes,
}

impl fmt::Debug for HistoryEntry {
    /// Shows the size of the text only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistoryEntry")
            .field("number", &self.number)
            .field("key", &self.key)
            .field("checkpoint", &self.checkpoint)
            .field("update", &self.update)
            .field("text", &self.text.len())
            .finish()
    }
}

/// A page of the history, the newest entry first.
#[derive(Debug)]
#[non_exhaustive]
pub struct History {
    /// The entries of the page.
    pub entries: Vec<HistoryEntry>,
    /// How many entries there are on all pages.
    pub total: usize,
    /// The keys of states without an entry, which a kill leaves, the newest first. They are on no page.
    pub unrecorded: Vec<Key>,
}

/// What was written when an update was over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The entry of the history.
    pub entry: Key,
    /// The state it left.
    pub checkpoint: Option<Key>,
    /// The copy among the backups, unless they are off.
    pub backup: Option<Key>,
}

const ENTRY: &str = ".history.json";
const CHECKPOINT: &str = ".checkpoint.json";

/// What the history has of one time.
struct Names {
    entry: String,
    checkpoint: Option<String>,
}

/// What is in the folder of the history, in the order of time.
struct Folder {
    entries: Vec<Names>,
    /// States without an entry.
    unrecorded: Vec<String>,
}

impl Stack {
    /// A page of the history, the newest entry first. Pages are counted from 1; a size of 0 means all. Only the entries of the
    /// page are read.
    ///
    /// # Errors
    ///
    /// Those of the list. An entry that cannot be read is on the page with the reason.
    pub async fn history(&self, page: usize, size: usize) -> Result<History> {
        let folder = self.history_names().await?;
        let size = if size == 0 { folder.entries.len() } else { size };
        self.entries_of(folder, page.saturating_sub(1).saturating_mul(size), size).await
    }

    /// Entries whose numbers are below `before`, the newest first, at most `limit` of them. Only these are read.
    ///
    /// # Errors
    ///
    /// Those of [`history`](Self::history).
    pub async fn history_before(&self, before: Option<usize>, limit: usize) -> Result<History> {
        let folder = self.history_names().await?;
        let total = folder.entries.len();
        let skipped = before.map_or(0, |before| total.saturating_sub(before.saturating_sub(1)));
        self.entries_of(folder, skipped, limit).await
    }

    async fn entries_of(&self, folder: Folder, skipped: usize, size: usize) -> Result<History> {
        let Folder { entries: names, unrecorded } = folder;
        let total = names.len();
        let mut entries = Vec::new();
        for (at, names) in names.into_iter().enumerate().rev().skip(skipped).take(size) {
            entries.push(self.entry(at + 1, names).await?);
        }
        let unrecorded = unrecorded.iter().rev().map(|name| self.backend().key(Op::List, name));
        Ok(History { entries, total, unrecorded: unrecorded.collect::<Result<_>>()? })
    }

    /// The state that an update left; `None` if it is no longer kept.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub async fn history_checkpoint(&self, entry: &HistoryEntry) -> Result<Option<Checkpoint>> {
        match &entry.checkpoint {
            Some(key) => self.read_object(key).await,
            None => Ok(None),
        }
    }

    /// Everything in the order of time. What a rename that was killed has left has the name from before, so names do not give the
    /// order.
    async fn history_names(&self) -> Result<Folder> {
        let prefix = self.backend().layout().history(self.checked(Op::List)?);
        let listed = folder(&**self.backend().store(), &prefix).await?.objects;
        let mut checkpoints = BTreeMap::new();
        let mut entries = BTreeMap::new();
        for object in listed {
            let name = Compression::strip(&object.name);
            if let Some(stem) = name.strip_suffix(CHECKPOINT) {
                checkpoints.insert(by_time(stem), object.name);
            } else if let Some(stem) = name.strip_suffix(ENTRY) {
                entries.insert(by_time(stem), object.name);
            }
        }
        let entries =
            entries.into_iter().map(|(at, entry)| Names { entry, checkpoint: checkpoints.remove(&at) });
        let entries = entries.collect();
        Ok(Folder { entries, unrecorded: checkpoints.into_values().collect() })
    }

    async fn entry(&self, number: usize, names: Names) -> Result<HistoryEntry> {
        let key = self.backend().key(Op::Read, &names.entry)?;
        let checkpoint = names.checkpoint.map(|name| self.backend().key(Op::Read, &name)).transpose()?;
        let place = self.backend().place(&names.entry);
        let (update, text) = match self.read_object(&key).await {
            Ok(Some(file)) => (parse(&file.bytes, &place), file.bytes),
            Ok(None) => (Err(Error::new(ErrorKind::NotFound, Op::Read, place)), Bytes::new()),
            Err(error) => (Err(error), Bytes::new()),
        };
        Ok(HistoryEntry { number, key, checkpoint, update, text })
    }

    /// Writes down that an update is over: the state it left, the entry, and a backup unless they are off. To be called after the
    /// last save, also when the update failed.
    ///
    /// # Errors
    ///
    /// [`LockLost`](ErrorKind::LockLost), and those of requests. The state is not touched.
    pub async fn record(&self, update: &Update, guard: &dyn Guard) -> Result<Recorded> {
        traced::run(Op::Record.as_str(), self, self.write_down(update, guard)).await
    }

    async fn write_down(&self, update: &Update, guard: &dyn Guard) -> Result<Recorded> {
        let checkpoint = self.read().await?;
        let text = serde_json::to_vec(update).map_err(|error| {
            self.failed(ErrorKind::Internal, Op::Record).because("the update has no text").with_source(error)
        })?;
        let compression = self.backend().options().compression;
        let packed = compression.pack(&text).map_err(|error| {
            self.failed(ErrorKind::Internal, Op::Record).because("it cannot be compressed").with_source(error)
        })?;
        let packed = Bytes::from(packed.into_owned());
        guard.check().await?;
        let folder = self.backend().layout().history(self.checked(Op::Record)?);
        let name = self.reference().stack();
        loop {
            let stem = format!("{folder}{name}-{}", self.backend().stamp());
            let entry = self.backend().key(Op::Record, &format!("{stem}{ENTRY}{}", compression.ending()))?;
            // The state goes first: every entry has one.
            let kept = match &checkpoint {
                Some(state) => {
                    let key = format!("{stem}{CHECKPOINT}{}", state.compression.ending());
                    match self.write_new(&key, state.stored.clone()).await? {
                        Some(key) => Some(key),
                        None => continue,
                    }
                }
                None => None,
            };
            if self.write_new(entry.as_str(), packed.clone()).await?.is_some() {
                let backup = match &checkpoint {
                    Some(state) if self.backend().options().checkpoint_backups => {
                        Some(self.back_up(state).await?)
                    }
                    _ => None,
                };
                return Ok(Recorded { entry, checkpoint: kept, backup });
            }
        }
    }

    /// Writes down an update of another history, at a time of its own: the state it left, if that is known, and the entry. What has this very
    /// time already is replaced, so the same call again comes to the same.
    ///
    /// `state` is a checkpoint as [`document`](Self::document) gives it, `stamp` the time in nanoseconds since 1970, which names the
    /// entry and gives the order.
    ///
    /// # Errors
    ///
    /// [`LockLost`](ErrorKind::LockLost), and those of requests. The state of the stack is not touched.
    pub async fn record_past(
        &self,
        update: &Update,
        state: Option<&[u8]>,
        stamp: u64,
        guard: &dyn Guard,
    ) -> Result<()> {
        let internal = |why: &str| self.failed(ErrorKind::Internal, Op::Record).because(why);
        let text = serde_json::to_vec(update)
            .map_err(|error| internal("the update has no text").with_source(error))?;
        let compression = self.backend().options().compression;
        let folder = self.backend().layout().history(self.checked(Op::Record)?);
        let stem = format!("{folder}{}-{stamp}", self.reference().stack());
        // The state goes first: every entry has one.
        for (name, bytes) in [(CHECKPOINT, state), (ENTRY, Some(text.as_slice()))] {
            let Some(bytes) = bytes else { continue };
            let packed = compression
                .pack(bytes)
                .map_err(|error| internal("it cannot be compressed").with_source(error))?;
            let name = format!("{stem}{name}{}", compression.ending());
            let key = self.backend().key(Op::Record, &name)?;
            guard.check().await?;
            let bytes = Bytes::from(packed.into_owned());
            let put = self.backend().store().put(&key, bytes, &PutOptions::default()).await;
            put.map_err(|error| Error::from_store(Op::Record, self.backend().place(&name), error))?;
        }
        Ok(())
    }

    async fn back_up(&self, state: &Checkpoint) -> Result<Key> {
        let folder = self.backend().layout().backups(self.checked(Op::BackUp)?);
        let (name, ending) = (self.reference().stack(), state.compression.ending());
        loop {
            let key = format!("{folder}{name}.{}.json{ending}", self.backend().stamp());
            if let Some(key) = self.write_new(&key, state.stored.clone()).await? {
                return Ok(key);
            }
        }
    }

    /// Writes an object of a new name; nothing if the name is taken.
    async fn write_new(&self, name: &str, bytes: Bytes) -> Result<Option<Key>> {
        let key = self.backend().key(Op::Record, name)?;
        let created = self.backend().create(&key, bytes).await;
        let created =
            created.map_err(|error| Error::from_store(Op::Record, self.backend().place(name), error))?;
        Ok(created.then_some(key))
    }
}

/// What orders entries: the time in a name, then the name.
fn by_time(stem: &str) -> (Option<Timestamp>, String) {
    let time = stem.rsplit_once('-').and_then(|(_, stamp)| time_of(stamp));
    (time, stem.to_owned())
}

fn parse(bytes: &[u8], place: &str) -> Result<Update> {
    let corrupt = |reason: String| Error::new(ErrorKind::Corrupt, Op::Read, place).because(reason);
    // An array would be read as the members in their order.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(corrupt("it is not an entry of a history: it is no object".to_owned()));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| corrupt(format!("it is not an entry of a history: {error}")).with_source(error))
}
