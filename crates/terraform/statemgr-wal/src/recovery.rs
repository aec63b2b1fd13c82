//! What an interrupted run has left: recovering it, looking at it, discarding it.

use std::sync::Arc;

use groundstate_statefile::{DecodeOptions, EncodeOptions, File, decode, encode, encode_equally};
use groundstate_statemgr::{Error, ErrorKind, Op, Reader, Refresher, Result, StateStore, traced};
use groundstate_states::{Lineage, Serial};
use groundstate_wal::{Contents, read_all};

use crate::change::Change;
use crate::digest::digest;
use crate::entry::{Base, Entry, EntryError};
use crate::failure::failed;
use crate::manager::JournaledManager;

const OP: Op = Op::Recover;

/// What a refresh has recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The records that were applied; all before the journal was last compacted count as one. None if the interrupted run had stored everything.
    pub changes: usize,
    /// Who was interrupted, if they said so.
    pub who: String,
}

/// The journal of an interrupted run, or of one that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// How many records it has; all before it was last compacted count as one.
    pub changes: usize,
    /// The lineage of the state it builds on.
    pub lineage: Lineage,
    /// The serial of the state it builds on.
    pub serial: Serial,
    /// Who made the changes, if they said so.
    pub who: String,
    /// The lock they held.
    pub lock: String,
}

/// A journal that was read.
struct Left {
    base: Base,
    entries: Vec<Entry>,
}

impl JournaledManager {
    /// Whether there are changes in the journal that the ordinary object does not have: of an interrupted run, or of one that goes
    /// on. Needs no lock.
    ///
    /// # Errors
    ///
    /// Those of reading the journal, and `Corrupt` when it cannot be understood.
    pub async fn pending(&self) -> Result<Option<Pending>> {
        let Some(left) = self.read_journal().await? else { return Ok(None) };
        let line = &left.base.line;
        Ok(Some(Pending {
            changes: left.changes(0).count(),
            lineage: Lineage::new(&line.lineage),
            serial: Serial::new(line.serial),
            who: line.who.clone(),
            lock: line.lock.clone(),
        }))
    }

    /// The state that the journal leads to, as a file: what it builds on with all changes, under a serial that follows. `None` where there is
    /// no journal. For when a refresh says that another program has changed the state in between; needs no lock.
    ///
    /// # Errors
    ///
    /// Those of reading, `Corrupt`, and `NotFound` when the journal keeps no copy of what it builds on and the stored state is
    /// another.
    pub async fn recovered(&self) -> Result<Option<Vec<u8>>> {
        let Some(left) = self.read_journal().await? else { return Ok(None) };
        let base = match left.base.state.clone() {
            Some(state) => state,
            None => {
                let stored = self.store.read().await?.map(|stored| stored.bytes);
                let stored = stored.filter(|bytes| digest(bytes) == left.base.line.digest);
                stored.ok_or_else(|| {
                    let message =
                        "the state that its journal builds on was overwritten, bring it back from a backup";
                    Error::new(ErrorKind::NotFound, OP, self).because(message)
                })?
            }
        };
        let mut file = self.decode(&base)?;
        left.changes(0).for_each(|change| change.apply(&mut file.state));
        // As often as the object was about to be written, and once more.
        let writes = left.entries.iter().filter(|entry| matches!(entry, Entry::Writing(_))).count() + 1;
        file.serial = (0..writes).fold(file.serial, |serial, _| serial.next().unwrap_or(serial));
        let bytes = encode(&file, &EncodeOptions::default().allow_loss(true));
        let bytes = bytes.map_err(|error| Error::new(ErrorKind::Invalid, OP, self).with_source(error))?;
        Ok(Some(bytes))
    }

    /// Removes the journal with all changes in it. The caller holds the lock, and has saved what [`recovered`](Self::recovered) gives
    /// if it is of any use.
    ///
    /// # Errors
    ///
    /// `Invalid` without the lock, and those of the journal.
    pub async fn discard(&self) -> Result<()> {
        let _access = self.store_access.lock().await;
        if !self.may_write() {
            let message = "the journal is the lock holder's, lock first";
            return Err(Error::new(ErrorKind::Invalid, Op::DiscardJournal, self).because(message));
        }
        let open = self.open_journal().await?;
        self.store.note_in(None);
        let clear =
            async { open.writer.clear().await.map_err(|error| failed(Op::DiscardJournal, self, error)) };
        let cleared = traced::manager("discard the journal of", self, clear).await;
        self.close_journal().await;
        cleared
    }

    /// Before a refresh: nothing of this run, or of an interrupted one, is in the journal only.
    pub(crate) async fn bring_up_to_date(&self) -> Result<()> {
        if !self.may_write() {
            return Ok(());
        }
        let has_epoch = self.run().journal.as_ref().is_some_and(|open| open.epoch.is_some());
        if has_epoch {
            return self.end_run().await;
        }
        self.run().recovery = None;
        if self.journal.head().await.map_err(|error| failed(OP, self, error))?.is_none() {
            return Ok(());
        }
        // From here on no writer appends behind what is read.
        self.open_journal().await?;
        let recovered = traced::manager("recover", self, self.recover()).await;
        // Closed also after a failure, so that the next attempt does not find it open.
        self.close_journal().await;
        self.run().recovery = recovered?;
        Ok(())
    }

    pub(crate) async fn close_journal(&self) {
        self.store.note_in(None);
        let open = self.run().journal.take();
        if let Some(open) = open {
            drop(open.writer.close().await);
        }
    }

    /// Applies what the journal has and the stored state has not, and stores the result.
    async fn recover(&self) -> Result<Option<Recovery>> {
        let Some(left) = self.read_journal().await? else { return Ok(None) };
        let stored = self.store.read().await?;
        let Some(from) = self.first_missing(&left, stored.as_ref().map(|stored| &*stored.bytes))? else {
            return Err(self.foreign(&left, stored.map(|stored| stored.bytes)));
        };
        let changes = left.changes(from).count();
        let writer = self.run().journal.as_ref().map(|open| Arc::clone(&open.writer));
        if changes > 0 {
            self.inner.refresh_state().await?;
            let mut state = self.inner.state().unwrap_or_default();
            left.changes(from).for_each(|change| change.apply(&mut state));
            self.store.note_in(writer.clone());
            self.write_object(&state).await?;
        }
        if let Some(writer) = writer {
            writer.clear().await.map_err(|error| failed(OP, self, error))?;
        }
        Ok(Some(Recovery { changes, who: left.base.line.who }))
    }

    /// The first entry that the stored state does not have; nothing if another program wrote it.
    fn first_missing(&self, left: &Left, stored: Option<&[u8]>) -> Result<Option<usize>> {
        let Some(stored) = stored else { return Ok(None) };
        let found = digest(stored);
        let is_announced = |entry: &Entry| matches!(entry, Entry::Writing(digest) if *digest == found);
        if let Some(at) = left.entries.iter().rposition(is_announced) {
            return Ok(Some(at + 1));
        }
        if found == left.base.line.digest {
            return Ok(Some(0));
        }
        // The same snapshot in other bytes: copied, or laid out anew.
        let Some(base) = &left.base.state else { return Ok(None) };
        let (Ok(stored), Ok(base)) =
            (decode(stored, &DecodeOptions::default()), decode(base, &DecodeOptions::default()))
        else {
            return Ok(None);
        };
        let is_same = stored.lineage == base.lineage
            && stored.serial == base.serial
            && stored.extra == base.extra
            && encode_equally(&stored.state, &base.state);
        Ok(is_same.then_some(0))
    }

    /// The refusal when another program has written in between.
    fn foreign(&self, left: &Left, stored: Option<Vec<u8>>) -> Error {
        let snapshot = |serial: u64, lineage: &str| format!("serial {serial} of lineage {lineage}");
        let found = match stored.map(|bytes| decode(&bytes, &DecodeOptions::default())) {
            Some(Ok(file)) => snapshot(file.serial.get(), file.lineage.as_str()),
            Some(Err(_)) => "something that is not a usable state".to_owned(),
            None => "nothing".to_owned(),
        };
        let count = match left.changes(0).count() {
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        };
        let message = format!(
            "its journal holds {count} of an interrupted run, and another program has written the state since; \
             export what the journal leads to, compare, and discard the journal"
        );
        let expected = snapshot(left.base.line.serial, &left.base.line.lineage);
        Error::new(ErrorKind::Conflict, OP, self).because(message).expected_and_found(expected, found)
    }

    async fn read_journal(&self) -> Result<Option<Left>> {
        let contents = read_all(&*self.journal).await.map_err(|error| failed(OP, self, error))?;
        let Some(Contents { head, records, .. }) = contents else { return Ok(None) };
        let corrupt = |error: EntryError| {
            let message = "the journal of an interrupted run cannot be understood";
            Error::new(ErrorKind::Corrupt, OP, self).because(message).with_source(error)
        };
        let base = Base::decode(&head.base).map_err(corrupt)?;
        let mut entries = base.entries().map_err(corrupt)?;
        for record in &records {
            entries.push(Entry::decode(record).map_err(corrupt)?);
        }
        Ok(Some(Left { base, entries }))
    }

    fn decode(&self, bytes: &[u8]) -> Result<File> {
        decode(bytes, &DecodeOptions::default()).map_err(|error| {
            let message = "what its journal builds on is not a usable state";
            Error::new(ErrorKind::Corrupt, OP, self).because(message).with_source(error)
        })
    }
}

impl Left {
    /// The changes among the entries from this one on.
    fn changes(&self, from: usize) -> impl Iterator<Item = &Change> {
        self.entries.iter().skip(from).filter_map(|entry| match entry {
            Entry::Change(change) => Some(&**change),
            Entry::Writing(_) => None,
        })
    }
}
