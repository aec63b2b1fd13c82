//! A fuse that blows at a call of the store or the journal, before or after its effect: the process is dead from then on.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, MemoryStore, Op, Result,
    StateStore, Stored, Version, WriteOptions,
};
use groundstate_wal::{
    self as journal, Ack, Cursor, Epoch, Head, JournalStore, JournalWriter, MemoryJournal, OpenOptions, Page,
    Record,
};

/// Counts the moments at which a process can die: two for each call.
#[derive(Clone, Debug)]
pub(crate) struct Fuse(Arc<Mutex<Option<usize>>>);

impl Fuse {
    /// Blows at this moment.
    pub(crate) fn at(moment: usize) -> Self {
        Self(Arc::new(Mutex::new(Some(moment))))
    }

    pub(crate) fn has_blown(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }

    /// Whether the process lives on after this moment.
    fn holds(&self) -> bool {
        let mut left = self.0.lock().unwrap();
        *left = left.and_then(|left| left.checked_sub(1));
        left.is_some()
    }
}

#[derive(Debug)]
pub(crate) struct TrappedStore(pub(crate) MemoryStore, pub(crate) Fuse);

#[derive(Debug)]
pub(crate) struct TrappedJournal(pub(crate) MemoryJournal, pub(crate) Fuse);

#[derive(Debug)]
struct TrappedWriter(Arc<dyn JournalWriter>, Fuse);

fn dead() -> Error {
    Error::new(ErrorKind::Unavailable, Op::Other("call"), "the dead")
}

fn dead_journal() -> journal::Error {
    journal::Error::new(journal::ErrorKind::Unavailable, journal::Op::Other("call"), "the dead")
}

/// A call between two moments.
macro_rules! trapped {
    ($fuse:expr, $dead:expr, $call:expr) => {{
        if !$fuse.holds() {
            return Err($dead);
        }
        let outcome = $call;
        if !$fuse.holds() {
            return Err($dead);
        }
        outcome
    }};
}

impl fmt::Display for TrappedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TrappedJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl StateStore for TrappedStore {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        trapped!(self.1, dead(), self.0.read().await)
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        trapped!(self.1, dead(), self.0.write(bytes, options).await)
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        trapped!(self.1, dead(), self.0.delete(options).await)
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        trapped!(self.1, dead(), self.0.lock(info).await)
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        trapped!(self.1, dead(), self.0.renew(id).await)
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        trapped!(self.1, dead(), self.0.unlock(id).await)
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        trapped!(self.1, dead(), self.0.force_unlock(id).await)
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        trapped!(self.1, dead(), self.0.lock_holder().await)
    }
}

#[async_trait]
impl JournalStore for TrappedJournal {
    async fn open(&self, options: &OpenOptions) -> journal::Result<Arc<dyn JournalWriter>> {
        let writer = trapped!(self.1, dead_journal(), self.0.open(options).await)?;
        Ok(Arc::new(TrappedWriter(writer, self.1.clone())))
    }

    async fn head(&self) -> journal::Result<Option<Head>> {
        trapped!(self.1, dead_journal(), self.0.head().await)
    }

    async fn read(&self, from: &Cursor) -> journal::Result<Page> {
        trapped!(self.1, dead_journal(), self.0.read(from).await)
    }
}

#[async_trait]
impl JournalWriter for TrappedWriter {
    fn position(&self) -> Option<Cursor> {
        self.0.position()
    }

    async fn begin(&self, base: &Record) -> journal::Result<Epoch> {
        trapped!(self.1, dead_journal(), self.0.begin(base).await)
    }

    async fn append(&self, batch: &[Record]) -> journal::Result<Ack> {
        trapped!(self.1, dead_journal(), self.0.append(batch).await)
    }

    async fn clear(&self) -> journal::Result<()> {
        trapped!(self.1, dead_journal(), self.0.clear().await)
    }

    async fn close(&self) -> journal::Result<()> {
        trapped!(self.1, dead_journal(), self.0.close().await)
    }
}
