//! The store beneath the manager: before it writes, the journal says what is about to be written.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{
    Error, ErrorKind, Op, Result, StateStore, Stored, Version, WriteOptions, forward_locking,
};
use groundstate_wal::JournalWriter;

use crate::digest::digest;
use crate::entry::Entry;
use crate::failure::failed;

/// A store whose writes are noted in the journal, while there is an epoch.
#[derive(Debug)]
pub(crate) struct Noted {
    store: Arc<dyn StateStore>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    journal: Option<Arc<dyn JournalWriter>>,
    /// The digests of all bytes that were announced in the epoch, stored or not.
    announced: Vec<String>,
    seen: Seen,
}

/// What was last seen to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Seen {
    #[default]
    Unknown,
    Nothing,
    /// Bytes of this digest, and how many they are.
    State(String, u64),
}

impl Noted {
    pub(crate) fn new(store: Arc<dyn StateStore>) -> Self {
        Self { store, notes: Mutex::default() }
    }

    /// Notes writes in this journal from now on; in none without one.
    pub(crate) fn note_in(&self, journal: Option<Arc<dyn JournalWriter>>) {
        let mut notes = self.notes();
        if journal.is_none() {
            notes.announced.clear();
        }
        notes.journal = journal;
    }

    /// The digests of what may have been written since the epoch began.
    pub(crate) fn announced(&self) -> Vec<String> {
        self.notes().announced.clone()
    }

    pub(crate) fn seen(&self) -> Seen {
        self.notes().seen.clone()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for Noted {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        let stored = self.store.read().await?;
        let seen = stored
            .as_ref()
            .map_or(Seen::Nothing, |stored| Seen::State(digest(&stored.bytes), stored.bytes.len() as u64));
        self.notes().seen = seen;
        Ok(stored)
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        let (journal, sum) = (self.notes().journal.clone(), digest(&bytes));
        let len = bytes.len() as u64;
        if let Some(journal) = journal {
            self.notes().announced.push(sum.clone());
            let note = Entry::Writing(sum.clone()).encode();
            let note =
                note.map_err(|error| Error::new(ErrorKind::Internal, Op::Write, self).with_source(error))?;
            journal.append(&[note]).await.map_err(|error| failed(Op::Write, self, error))?;
        }
        let version = self.store.write(bytes, options).await?;
        self.notes().seen = Seen::State(sum, len);
        Ok(version)
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.notes().seen = Seen::Unknown;
        self.store.delete(options).await
    }
}
