//! Stores that cannot be written for a while, and journals that lose answers.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{
    Error, ErrorKind, Op, Result, StateStore, Stored, Version, WriteOptions, forward_locking,
};
use groundstate_wal::{
    self as journal, Ack, Cursor, Epoch, Head, JournalStore, JournalWriter, OpenOptions, Page, Record,
};

/// What becomes of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    None,
    /// They are refused.
    Refused,
    /// They are stored, the answer is lost, and nothing can be read afterwards.
    LostReply,
}

/// A store with an outage, which ends when it is told to.
#[derive(Clone, Debug)]
pub(crate) struct OutageStore {
    store: Arc<dyn StateStore>,
    outage: Arc<Mutex<Outage>>,
    is_silent: Arc<AtomicBool>,
}

impl OutageStore {
    pub(crate) fn new(store: impl StateStore) -> Self {
        let outage = Arc::new(Mutex::new(Outage::None));
        Self { store: Arc::new(store), outage, is_silent: Arc::default() }
    }

    pub(crate) fn set(&self, outage: Outage) {
        *self.outage.lock().unwrap() = outage;
        self.is_silent.store(false, Ordering::Relaxed);
    }
}

impl fmt::Display for OutageStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl StateStore for OutageStore {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        if self.is_silent.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Unavailable, Op::Read, self));
        }
        self.store.read().await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        let outage = *self.outage.lock().unwrap();
        match outage {
            Outage::None => self.store.write(bytes, options).await,
            Outage::Refused => Err(Error::new(ErrorKind::Unavailable, Op::Write, self)),
            Outage::LostReply => {
                self.store.write(bytes, options).await?;
                self.is_silent.store(true, Ordering::Relaxed);
                Err(Error::new(ErrorKind::Ambiguous, Op::Write, self))
            }
        }
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.store.delete(options).await
    }
}

/// A journal that loses the answers to beginning epochs: every other one before it has happened.
#[derive(Clone, Debug)]
pub(crate) struct ForgetfulJournal(pub(crate) Arc<dyn JournalStore>, Arc<AtomicUsize>);

#[derive(Debug)]
struct ForgetfulWriter(Arc<dyn JournalWriter>, Arc<AtomicUsize>);

impl ForgetfulJournal {
    /// Answers truly the first time.
    pub(crate) fn new(journal: impl JournalStore) -> Self {
        Self(Arc::new(journal), Arc::default())
    }

    /// How many epochs were begun or not.
    pub(crate) fn beginnings(&self) -> usize {
        self.1.load(Ordering::Relaxed)
    }
}

impl fmt::Display for ForgetfulJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl JournalStore for ForgetfulJournal {
    async fn open(&self, options: &OpenOptions) -> journal::Result<Arc<dyn JournalWriter>> {
        Ok(Arc::new(ForgetfulWriter(self.0.open(options).await?, Arc::clone(&self.1))))
    }

    async fn head(&self) -> journal::Result<Option<Head>> {
        self.0.head().await
    }

    async fn read(&self, from: &Cursor) -> journal::Result<Page> {
        self.0.read(from).await
    }
}

#[async_trait]
impl JournalWriter for ForgetfulWriter {
    fn position(&self) -> Option<Cursor> {
        self.0.position()
    }

    async fn begin(&self, base: &Record) -> journal::Result<Epoch> {
        let count = self.1.fetch_add(1, Ordering::Relaxed);
        let lost = || journal::Error::new(journal::ErrorKind::Ambiguous, journal::Op::Begin, "the journal");
        match count % 3 {
            0 => self.0.begin(base).await,
            1 => Err(lost()),
            _ => self.0.begin(base).await.and(Err(lost())),
        }
    }

    async fn append(&self, batch: &[Record]) -> journal::Result<Ack> {
        self.0.append(batch).await
    }

    async fn clear(&self) -> journal::Result<()> {
        self.0.clear().await
    }

    async fn close(&self) -> journal::Result<()> {
        self.0.close().await
    }
}
