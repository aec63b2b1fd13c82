//! The journal of an update: entries are durable when they are acknowledged, in any order, any number of times.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use groundstate_blobs::{DeleteOptions, ListOptions};
use groundstate_pulumi_journal::{DecodeOptions, Entry, EntryKind, Target, decode_entry};
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::{
    Cursor, ErrorKind as WalKind, JournalStore, JournalWriter, OpenOptions, Position, Record, read_all,
    replay,
};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::lease::LeaseToken;
use crate::op::Op;
use crate::record::VersionNote;
use crate::room::OF_REPLAY;
use crate::stack::Stack;
use crate::stacks::Stacks;
use crate::traced;
use crate::update::Update;

const OP: Op = Op::Save;
/// How often a writer is opened again because another node wrote in between.
const ATTEMPTS: usize = 4;

/// A part of the journal of an update.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct JournalPage {
    /// The entries, in the order in which they were stored. That of their numbers is another one.
    pub entries: Vec<Entry>,
    /// The position behind the last of them, from which later ones are read.
    pub next: u64,
    /// Whether there were no more of them.
    pub is_last: bool,
}

/// What is known of a journal that is being written.
#[derive(Default)]
pub(crate) struct Tail {
    writer: Option<Arc<dyn JournalWriter>>,
    /// How far the journal was read or written.
    end: Option<Cursor>,
    known: Known,
}

/// What entries have told so far, as far as others may refer to it.
#[derive(Clone, Default)]
struct Known {
    entries: HashMap<u64, [u8; 32]>,
    /// Operations that recorded a resource.
    recorded: HashSet<u64>,
    /// How many resources the largest base has.
    resources: u64,
    /// Whether the base was rebuilt, so that it has what was recorded before.
    is_rebuilt: bool,
    /// The bytes of the state that the update began with, of all entries, and of those that record resources.
    base_bytes: u64,
    bytes: u64,
    recorded_bytes: u64,
}

impl Stacks {
    /// The journal of an update of the stack with this id.
    pub(crate) fn journal_store(
        &self,
        op: Op,
        place: impl fmt::Display,
        id: &str,
        update: &str,
    ) -> Result<BlobJournal> {
        let (blobs, ids) = (Arc::clone(self.blobs()), Arc::clone(&self.context().ids));
        let prefix = format!("{id}/{update}/journal/");
        BlobJournal::new(blobs, &prefix, ids).map_err(|error| Error::of_journal(op, place, error))
    }
}

impl Stack {
    fn journal_store(&self, op: Op, update: &str) -> Result<BlobJournal> {
        self.stacks.journal_store(op, self.path(), self.id(), update)
    }
}

impl Update {
    /// Stores entries, each the JSON of one. Those that are stored already are passed over. When this returns, all are durable, and
    /// will count however the update ends.
    ///
    /// # Errors
    ///
    /// `Invalid` if one of them is no entry or speaks of what is not there; `Conflict` if another entry has its number. Nothing of the batch is
    /// stored then. `LeaseLost`, and those of the store.
    pub async fn append(&self, token: &LeaseToken, entries: &[&[u8]]) -> Result<()> {
        Box::pin(traced::on_update(OP, self, self.appending(token, entries))).await
    }

    async fn appending(&self, token: &LeaseToken, entries: &[&[u8]]) -> Result<()> {
        let Some(running) = self.admit(OP, token).await? else {
            let failure = self.stack.error(ErrorKind::LeaseLost, OP);
            return Err(failure.because("a preview has no lease, and changes nothing"));
        };
        if running.journal.is_none() {
            return Err(self.invalid("it was started without a journal"));
        }
        let decoded = entries.iter().map(|text| self.decode(text)).collect::<Result<Vec<Entry>>>()?;
        let tail = self.stack.stacks.live().tail(&self.id);
        let mut tail = tail.lock().await;
        for _ in 0..ATTEMPTS {
            self.catch_up(&mut tail).await?;
            let (records, known) = self.fresh(&tail.known, &decoded, entries)?;
            if records.is_empty() {
                break;
            }
            let Some(writer) = tail.writer.clone() else { continue };
            match writer.append(&records).await {
                Ok(_) => {
                    (tail.known, tail.end) = (known, writer.position());
                    break;
                }
                // Another node wrote meanwhile: its entries are read first.
                Err(error)
                    if matches!(
                        error.kind(),
                        WalKind::Fenced | WalKind::Closed | WalKind::Ambiguous | WalKind::NoEpoch
                    ) =>
                {
                    tail.writer = None;
                }
                Err(error) => {
                    tail.writer = None;
                    return Err(Error::of_journal(OP, self.stack.path(), error));
                }
            }
        }
        if !decoded.iter().all(|entry| tail.known.entries.contains_key(&entry.sequence.get())) {
            let failure = self.stack.error(ErrorKind::Unavailable, OP);
            return Err(failure.because("other nodes write the journal all the time"));
        }
        // A node that ended the update in between may not have seen these: only now is it certain that they count.
        self.leased(OP, token).await.map(drop)
    }

    fn invalid(&self, why: impl Into<String>) -> Error {
        self.stack.error(ErrorKind::Invalid, OP).because(why)
    }

    fn decode(&self, text: &[u8]) -> Result<Entry> {
        let entry = decode_entry(text, &DecodeOptions::default())
            .map_err(|error| self.invalid(format!("an entry of the journal: {error}")))?;
        self.check_secrets(OP, &entry)?;
        if let EntryKind::Unknown(kind) = entry.kind {
            return Err(
                self.invalid(format!("entry {} has the kind {kind}, which is not known", entry.sequence))
            );
        }
        Ok(entry)
    }

    /// Becomes the writer, and reads what others wrote.
    async fn catch_up(&self, tail: &mut Tail) -> Result<()> {
        if tail.writer.is_some() {
            return Ok(());
        }
        let failed = |error| Error::of_journal(OP, self.stack.path(), error);
        let store = self.stack.journal_store(OP, &self.id)?;
        let writer = store
            .open(&OpenOptions::new(&self.id).take_over(true).single_epoch(true))
            .await
            .map_err(failed)?;
        let head = store.head().await.map_err(failed)?;
        if head.is_none() {
            writer.begin(&Record::from(&b"{}"[..])).await.map_err(failed)?;
        }
        if tail.end.is_none() {
            let head = self.stack.head(OP).await?;
            let version = self.stack.current(OP, &head)?;
            let resources = VersionNote::of(version).resources;
            tail.known = Known { resources, base_bytes: version.size, ..Known::default() };
        }
        if let Some(from) = tail.end.or_else(|| head.map(|head| head.start())) {
            let mut records = Vec::new();
            let mut keep = |_, record: Record| {
                records.push(record);
                Ok(())
            };
            replay(&store, from, &mut keep).await.map_err(failed)?;
            for record in &records {
                let entry =
                    self.decode(record.as_bytes()).map_err(|error| self.damaged(OP).with_source(error))?;
                tail.known.add(&entry, record.as_bytes());
            }
        }
        tail.end = writer.position();
        tail.writer = Some(writer);
        Ok(())
    }

    fn damaged(&self, op: Op) -> Error {
        let failure = self.stack.error(ErrorKind::Corrupt, op);
        failure.because(format!("the journal of the update {} is damaged", self.id))
    }

    /// The entries of a batch that are new, and what is known with them.
    fn fresh(&self, known: &Known, entries: &[Entry], texts: &[&[u8]]) -> Result<(Vec<Record>, Known)> {
        let (mut with, mut records) = (known.clone(), Vec::new());
        let mut new = Vec::new();
        for (entry, text) in entries.iter().zip(texts) {
            match with.entries.get(&entry.sequence.get()) {
                Some(stored) if *stored == digest(text) => {}
                Some(_) => {
                    let failure = self.stack.error(ErrorKind::Conflict, OP);
                    return Err(failure.because(format!("another entry has the number {}", entry.sequence)));
                }
                None => {
                    with.add(entry, text);
                    records.push(Record::from(*text));
                    new.push(entry);
                }
            }
        }
        if !records.is_empty() {
            self.check_size(&with)?;
        }
        // Entries of a batch may refer to each other in any order.
        for entry in new {
            for target in entry.targets() {
                if !with.has(target) {
                    let what = match target {
                        Target::Old(index) => {
                            format!("resource {index} of the state that the update began with")
                        }
                        Target::New(operation) => format!("what operation {operation} recorded"),
                    };
                    return Err(self
                        .invalid(format!("entry {} speaks of {what}, which is not there", entry.sequence)));
                }
            }
        }
        Ok((records, with))
    }

    /// Refuses entries from which no state could be made: then the update could never end.
    fn check_size(&self, with: &Known) -> Result<()> {
        let stacks = &self.stack.stacks;
        let most = stacks.room().most() / OF_REPLAY;
        let limit = stacks.options().state_bytes as u64;
        let why = if with.recorded_bytes > limit {
            format!("the journal records more than the {limit} bytes that a state may have")
        } else if with.base_bytes.saturating_add(with.bytes) > most {
            format!(
                "the state and the journal of the update have more than {most} bytes, for which there is no memory"
            )
        } else {
            return Ok(());
        };
        Err(self.stack.error(ErrorKind::TooLarge, OP).because(why))
    }

    /// Whether entries may have been stored.
    pub(crate) async fn journal_is_begun(&self, op: Op) -> Result<bool> {
        let store = self.stack.journal_store(op, &self.id)?;
        let head = store.head().await.map_err(|error| Error::of_journal(op, self.stack.path(), error))?;
        Ok(head.is_some())
    }

    /// All entries that are stored.
    pub(crate) async fn entries(&self, op: Op) -> Result<Vec<Entry>> {
        let store = self.stack.journal_store(op, &self.id)?;
        let contents =
            read_all(&store).await.map_err(|error| Error::of_journal(op, self.stack.path(), error))?;
        let records = contents.map(|contents| contents.records).unwrap_or_default();
        let entries = records.iter().map(|record| decode_entry(record.as_bytes(), &DecodeOptions::default()));
        entries.collect::<Result<_, _>>().map_err(|error| self.damaged(op).with_source(error))
    }

    /// The entries that are stored from a position on, in the order in which they were stored; some of them, and where it goes on. They stay until
    /// the next update of the stack has succeeded.
    ///
    /// # Errors
    ///
    /// `Invalid` for a position that the journal does not have, and those of the store.
    pub async fn journal(&self, from: u64) -> Result<JournalPage> {
        const OP: Op = Op::Read;
        let failed = |error| Error::of_journal(OP, self.stack.path(), error);
        let end = JournalPage { entries: Vec::new(), next: from, is_last: true };
        let store = self.stack.journal_store(OP, &self.id)?;
        let Some(head) = store.head().await.map_err(failed)? else { return Ok(end) };
        let page = match store.read(&Cursor::new(head.epoch, Position::new(from))).await {
            Ok(page) => page,
            // It was removed meanwhile.
            Err(error) if error.kind() == WalKind::NoEpoch => return Ok(end),
            Err(error) if error.kind() == WalKind::Invalid => {
                let failure = self.stack.error(ErrorKind::Invalid, OP);
                return Err(failure.because(error.message()).with_source(error));
            }
            Err(error) => return Err(failed(error)),
        };
        let bytes = page.records.iter().map(|record| record.as_bytes().len() as u64).sum();
        let _slot = self.stack.stacks.take_room(OP, self.stack.path(), bytes, OF_REPLAY)?;
        let entries =
            page.records.iter().map(|record| decode_entry(record.as_bytes(), &DecodeOptions::default()));
        let entries: Vec<Entry> =
            entries.collect::<Result<_, _>>().map_err(|error| self.damaged(OP).with_source(error))?;
        let next = from.saturating_add(entries.len() as u64);
        Ok(JournalPage { entries, next, is_last: page.next.is_none() })
    }

    /// Removes entries and checkpoints of an update whose successor succeeded. What is left does no harm.
    pub(crate) async fn forget_entries(&self, op: Op) {
        for what in ["journal/", "checkpoint"] {
            if let Err(error) = self.remove_blobs(op, what).await {
                tracing::debug!(error = %error, "what an update left is not removed yet");
            }
        }
    }

    /// How many bytes are stored of the update under names that begin so.
    pub(crate) async fn stored_bytes(&self, op: Op, what: &str) -> Result<u64> {
        let (prefix, mut page, mut bytes) = (self.key_text(what), None, 0_u64);
        loop {
            let listed = self.stack.stacks.blobs().list(&prefix, &ListOptions::default().page(page)).await;
            let listed = listed.map_err(|error| Error::of_blobs(op, self.stack.path(), error))?;
            bytes = listed.blobs.iter().fold(bytes, |bytes, blob| bytes.saturating_add(blob.meta.size));
            page = listed.next;
            if page.is_none() {
                return Ok(bytes);
            }
        }
    }

    /// Removes what is stored of the update under names that begin so, and gives how many blobs that were, and their size.
    pub(crate) async fn remove_blobs(&self, op: Op, what: &str) -> Result<(u64, u64)> {
        let (blobs, path) = (self.stack.stacks.blobs(), self.stack.path());
        let failed = |error| Error::of_blobs(op, path, error);
        let (prefix, mut page, mut removed) = (self.key_text(what), None, (0, 0));
        loop {
            let listed = blobs.list(&prefix, &ListOptions::default().page(page)).await.map_err(failed)?;
            for blob in listed.blobs {
                let key = self.stack.stacks.blob_key(op, path, &blob.name)?;
                blobs.delete(&key, &DeleteOptions::default()).await.map_err(failed)?;
                removed = (removed.0 + 1, removed.1 + blob.meta.size);
            }
            page = listed.next;
            if page.is_none() {
                return Ok(removed);
            }
        }
    }
}

impl Known {
    fn add(&mut self, entry: &Entry, text: &[u8]) {
        self.entries.insert(entry.sequence.get(), digest(text));
        self.bytes = self.bytes.saturating_add(text.len() as u64);
        if entry.state.is_some() || entry.new_snapshot.is_some() {
            self.recorded_bytes = self.recorded_bytes.saturating_add(text.len() as u64);
        }
        if entry.state.is_some() && entry.kind.ends_operation() {
            self.recorded.insert(entry.operation_id.get());
        }
        match entry.kind {
            EntryKind::Write => {
                let resources =
                    entry.new_snapshot.as_ref().map_or(0, |snapshot| snapshot.resources.len() as u64);
                self.resources = self.resources.max(resources);
            }
            EntryKind::RebuiltBaseState => self.is_rebuilt = true,
            _ => {}
        }
    }

    fn has(&self, target: Target) -> bool {
        match target {
            Target::New(operation) => self.recorded.contains(&operation.get()),
            Target::Old(index) => {
                let recorded = if self.is_rebuilt { self.recorded.len() as u64 } else { 0 };
                index < self.resources + recorded
            }
        }
    }
}

fn digest(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}
