//! The journal that is kept in memory: the reference of the contract, and handy in tests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Ack, Cursor, Epoch, Head, Page, Position, Record};
use crate::store::{JournalStore, JournalWriter, OpenOptions, is_base, is_batch};

/// How many records a page has.
const PAGE: usize = 256;

/// A journal in memory. Clones are clients of the same journal.
///
/// ```
/// use groundstate_wal::{JournalStore, MemoryJournal, OpenOptions, Record};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> groundstate_wal::Result<()> {
/// let journal = MemoryJournal::new("prod");
/// let older = journal.open(&OpenOptions::new("ann")).await?;
/// older.begin(&Record::from(&b"base"[..])).await?;
/// let newer = journal.open(&OpenOptions::new("bob").take_over(true)).await?;
/// assert!(older.append(&[Record::default()]).await.is_err(), "it was fenced off");
/// newer.append(&[Record::default()]).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryJournal {
    name: Arc<str>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    head: Option<Head>,
    records: Vec<Record>,
    /// The number of the newest epoch and of the newest writer.
    epochs: u64,
    writers: u64,
    /// Tells whether the newest writer is still there, and who it is.
    alive: Weak<String>,
}

#[derive(Debug)]
struct Writer {
    journal: MemoryJournal,
    number: u64,
    owner: Mutex<Option<Arc<String>>>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), shared: Arc::default() }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory:{}", self.name)
    }
}

#[async_trait]
impl JournalStore for MemoryJournal {
    async fn open(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        let owner = Arc::new(options.owner.clone());
        let number = {
            let mut shared = self.shared();
            if let Some(other) = shared.alive.upgrade().filter(|_| !options.take_over) {
                let message = format!("{other} has it open for writing");
                return Err(Error::new(ErrorKind::Locked, Op::Open, self).because(message));
            }
            shared.alive = Arc::downgrade(&owner);
            shared.writers += 1;
            shared.writers
        };
        Ok(Arc::new(Writer { journal: self.clone(), number, owner: Mutex::new(Some(owner)) }))
    }

    async fn head(&self) -> Result<Option<Head>> {
        Ok(self.shared().head.clone())
    }

    async fn read(&self, from: &Cursor) -> Result<Page> {
        let shared = self.shared();
        if shared.head.as_ref().is_none_or(|head| head.epoch != from.epoch()) {
            return Err(Error::new(ErrorKind::NoEpoch, Op::Read, self));
        }
        let start = usize::try_from(from.position().get()).unwrap_or(usize::MAX);
        let Some(rest) = shared.records.get(start..) else {
            let message =
                format!("it has {} records, and was asked for number {start}", shared.records.len());
            return Err(Error::new(ErrorKind::Invalid, Op::Read, self).because(message));
        };
        let records = rest[..rest.len().min(PAGE)].to_vec();
        let next = (records.len() < rest.len())
            .then(|| Cursor::new(from.epoch(), from.position().plus(records.len() as u64)));
        Ok(Page::new(records, next))
    }
}

impl Writer {
    /// The journal, if this is the one who may write.
    fn shared(&self, op: Op) -> Result<MutexGuard<'_, Shared>> {
        if self.owner().is_none() {
            return Err(self.error(ErrorKind::Closed, op));
        }
        let shared = self.journal.shared();
        if shared.writers != self.number {
            return Err(self.error(ErrorKind::Fenced, op));
        }
        Ok(shared)
    }

    fn owner(&self) -> MutexGuard<'_, Option<Arc<String>>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, &self.journal)
    }
}

#[async_trait]
impl JournalWriter for Writer {
    fn position(&self) -> Option<Cursor> {
        let shared = self.journal.shared();
        let epoch = shared.head.as_ref()?.epoch;
        Some(Cursor::new(epoch, Position::new(shared.records.len() as u64)))
    }

    async fn begin(&self, base: &Record) -> Result<Epoch> {
        let mut shared = self.shared(Op::Begin)?;
        if !is_base(base) {
            return Err(self.error(ErrorKind::Invalid, Op::Begin).because("its base is too long"));
        }
        shared.epochs += 1;
        let epoch = Epoch::new(shared.epochs);
        shared.head = Some(Head::new(epoch, base.clone()));
        shared.records.clear();
        Ok(epoch)
    }

    async fn append(&self, batch: &[Record]) -> Result<Ack> {
        const OP: Op = Op::Append;
        let mut shared = self.shared(OP)?;
        let Some(epoch) = shared.head.as_ref().map(|head| head.epoch) else {
            return Err(self.error(ErrorKind::NoEpoch, OP));
        };
        if !is_batch(batch) {
            return Err(self.error(ErrorKind::Invalid, OP).because("the batch is too long, split it"));
        }
        let first = Position::new(shared.records.len() as u64);
        shared.records.extend_from_slice(batch);
        Ok(Ack::new(epoch, first, first.plus(batch.len() as u64)))
    }

    async fn clear(&self) -> Result<()> {
        let mut shared = self.shared(Op::Clear)?;
        shared.head = None;
        shared.records.clear();
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        self.owner().take();
        Ok(())
    }
}
