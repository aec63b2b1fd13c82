//! Crashes at a chosen point: from there on nothing happens any more.

use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{Result, StateStore, Stored, Version, WriteOptions, forward_locking};
use groundstate_wal::{
    self as journal, Ack, Cursor, Epoch, Head, JournalStore, JournalWriter, OpenOptions, Page, Record,
};
use tokio::sync::Notify;

/// Counts points, and stops the world at one of them.
#[derive(Clone, Debug)]
pub(crate) struct Trap(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    at: usize,
    passed: AtomicUsize,
    points: Mutex<Vec<String>>,
    sprung: Notify,
    asleep: AtomicBool,
}

impl Trap {
    /// A trap at the point of this number; the first is 0.
    pub(crate) fn at(at: usize) -> Self {
        let inner = Inner {
            at,
            passed: AtomicUsize::new(0),
            points: Mutex::default(),
            sprung: Notify::new(),
            asleep: AtomicBool::new(false),
        };
        Self(Arc::new(inner))
    }

    /// One that never springs.
    pub(crate) fn never() -> Self {
        Self::at(usize::MAX)
    }

    /// Whether points are passed without being counted, while a session begins or ends.
    pub(crate) fn sleep(&self, yes: bool) {
        self.0.asleep.store(yes, SeqCst);
    }

    /// Passes a point, unless the trap springs there or has sprung before.
    pub(crate) async fn point(&self, name: &str) {
        if self.0.asleep.load(SeqCst) {
            return;
        }
        let number = self.0.passed.fetch_add(1, SeqCst);
        self.0.points.lock().unwrap().push(name.to_owned());
        if number >= self.0.at {
            self.0.sprung.notify_one();
            pending::<()>().await;
        }
    }

    /// Waits until the trap has sprung.
    pub(crate) async fn sprung(&self) {
        self.0.sprung.notified().await;
    }

    /// The points so far, the last one of which is the crash.
    pub(crate) fn points(&self) -> String {
        self.0.points.lock().unwrap().join(", ")
    }
}

/// A store with points before and after each write.
#[derive(Debug)]
pub(crate) struct Trapped<S> {
    pub(crate) store: S,
    pub(crate) name: &'static str,
    pub(crate) trap: Trap,
}

impl<S: fmt::Display> fmt::Display for Trapped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl<S: StateStore> StateStore for Trapped<S> {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        self.store.read().await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.trap.point(&format!("before {}", self.name)).await;
        let version = self.store.write(bytes, options).await;
        self.trap.point(&format!("after {}", self.name)).await;
        version
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.store.delete(options).await
    }
}

/// A journal with points before and after each change.
#[derive(Debug)]
pub(crate) struct TrappedJournal<J> {
    pub(crate) journal: J,
    pub(crate) trap: Trap,
}

#[derive(Debug)]
struct TrappedWriter {
    writer: Arc<dyn JournalWriter>,
    trap: Trap,
}

impl<J: fmt::Display> fmt::Display for TrappedJournal<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.journal.fmt(f)
    }
}

#[async_trait]
impl<J: JournalStore> JournalStore for TrappedJournal<J> {
    async fn open(&self, options: &OpenOptions) -> journal::Result<Arc<dyn JournalWriter>> {
        let writer = self.journal.open(options).await?;
        Ok(Arc::new(TrappedWriter { writer, trap: self.trap.clone() }))
    }

    async fn head(&self) -> journal::Result<Option<Head>> {
        self.journal.head().await
    }

    async fn read(&self, from: &Cursor) -> journal::Result<Page> {
        self.journal.read(from).await
    }
}

#[async_trait]
impl JournalWriter for TrappedWriter {
    fn position(&self) -> Option<Cursor> {
        self.writer.position()
    }

    async fn begin(&self, base: &Record) -> journal::Result<Epoch> {
        self.trap.point("before an epoch").await;
        let epoch = self.writer.begin(base).await;
        self.trap.point("after an epoch").await;
        epoch
    }

    async fn append(&self, batch: &[Record]) -> journal::Result<Ack> {
        self.trap.point("before a record").await;
        let receipt = self.writer.append(batch).await;
        self.trap.point("after a record").await;
        receipt
    }

    async fn clear(&self) -> journal::Result<()> {
        self.trap.point("before clearing").await;
        let cleared = self.writer.clear().await;
        self.trap.point("after clearing").await;
        cleared
    }

    async fn close(&self) -> journal::Result<()> {
        self.writer.close().await
    }
}
