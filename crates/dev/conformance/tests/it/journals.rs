//! The cases of journals: the reference passes, and journals that are wrong are caught.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use groundstate_conformance::journals::{JournalHarness, TestJournal, run_journals};
use groundstate_wal::{
    Ack, Cursor, Epoch, ErrorKind, Head, JournalStore, JournalWriter, MemoryJournal, OpenOptions, Page,
    Record, Result,
};

struct Memory;
struct FreshJournal(MemoryJournal);

#[async_trait]
impl JournalHarness for Memory {
    async fn journal(&self) -> Result<Arc<dyn TestJournal>> {
        Ok(Arc::new(FreshJournal(MemoryJournal::new("fresh"))))
    }
}

#[async_trait]
impl TestJournal for FreshJournal {
    async fn open(&self) -> Result<Arc<dyn JournalStore>> {
        Ok(Arc::new(self.0.clone()))
    }
}

groundstate_conformance::journal_suite!(Memory);

/// One way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    LosesEveryFifthBatch,
    SplitsBatches,
    LetsFencedWritersAppend,
    LetsFencedWritersClear,
    ForgetsTheBase,
    KeepsRecordsOverEpochs,
    AppendsAfterClosing,
    IgnoresPositions,
    GivesOneReceiptForAll,
    SkipsEmptyRecords,
    ChangesItsName,
}

#[derive(Debug)]
struct Wrong {
    flaw: Flaw,
    journal: MemoryJournal,
    names: AtomicU64,
}

#[derive(Debug)]
struct WrongWriter {
    flaw: Flaw,
    journal: MemoryJournal,
    inner: Arc<dyn JournalWriter>,
    batches: AtomicU64,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            if self.flaw == Flaw::ChangesItsName { self.names.fetch_add(1, Ordering::SeqCst) } else { 0 };
        write!(f, "wrong:{number}")
    }
}

#[async_trait]
impl JournalStore for Wrong {
    async fn open(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        let inner = self.journal.open(options).await?;
        let (flaw, journal) = (self.flaw, self.journal.clone());
        Ok(Arc::new(WrongWriter { flaw, journal, inner, batches: AtomicU64::new(0) }))
    }

    async fn head(&self) -> Result<Option<Head>> {
        let head = self.journal.head().await?;
        Ok(if self.flaw == Flaw::ForgetsTheBase {
            head.map(|head| Head::new(head.epoch, Record::default()))
        } else {
            head
        })
    }

    async fn read(&self, from: &Cursor) -> Result<Page> {
        if self.flaw == Flaw::IgnoresPositions {
            return self.journal.read(&Cursor::new(from.epoch(), groundstate_wal::Position::START)).await;
        }
        self.journal.read(from).await
    }
}

impl WrongWriter {
    /// Does it in the name of a permitted client.
    async fn as_newest(&self) -> Result<Arc<dyn JournalWriter>> {
        self.journal.open(&OpenOptions::new("usurper").take_over(true)).await
    }
}

#[async_trait]
impl JournalWriter for WrongWriter {
    fn position(&self) -> Option<Cursor> {
        self.inner.position()
    }

    async fn begin(&self, base: &Record) -> Result<Epoch> {
        let epoch = self.inner.begin(base).await?;
        if self.flaw == Flaw::KeepsRecordsOverEpochs && epoch.get() > 1 {
            self.inner.append(&[Record::from(&b"left over"[..])]).await?;
        }
        Ok(epoch)
    }

    async fn append(&self, batch: &[Record]) -> Result<Ack> {
        let number = self.batches.fetch_add(1, Ordering::SeqCst);
        match self.flaw {
            Flaw::LosesEveryFifthBatch if number % 5 == 4 => {
                let receipt = self.inner.append(&[]).await?;
                Ok(Ack::new(receipt.epoch, receipt.first, receipt.first.plus(batch.len() as u64)))
            }
            Flaw::SplitsBatches => {
                let first = self.inner.append(&batch[..batch.len().min(1)]).await?;
                let mut yielded = false;
                std::future::poll_fn(|context| {
                    context.waker().wake_by_ref();
                    if std::mem::replace(&mut yielded, true) {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
                let last = self.inner.append(&batch[batch.len().min(1)..]).await?;
                Ok(Ack::new(first.epoch, first.first, last.next))
            }
            Flaw::GivesOneReceiptForAll => {
                let receipt = self.inner.append(batch).await?;
                Ok(Ack::new(receipt.epoch, groundstate_wal::Position::START, receipt.next))
            }
            Flaw::SkipsEmptyRecords => {
                let some: Vec<Record> =
                    batch.iter().filter(|record| !record.as_bytes().is_empty()).cloned().collect();
                self.inner.append(&some).await
            }
            Flaw::LetsFencedWritersAppend | Flaw::AppendsAfterClosing => match self.inner.append(batch).await
            {
                Err(error)
                    if (error.kind() == ErrorKind::Fenced)
                        == (self.flaw == Flaw::LetsFencedWritersAppend)
                        && error.kind() != ErrorKind::NoEpoch =>
                {
                    self.as_newest().await?.append(batch).await
                }
                outcome => outcome,
            },
            _ => self.inner.append(batch).await,
        }
    }

    async fn clear(&self) -> Result<()> {
        match self.inner.clear().await {
            Err(error) if self.flaw == Flaw::LetsFencedWritersClear && error.kind() == ErrorKind::Fenced => {
                self.as_newest().await?.clear().await
            }
            outcome => outcome,
        }
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}

struct WrongHarness(Flaw);
struct WrongPlace(Flaw, MemoryJournal, Arc<Wrong>);

#[async_trait]
impl JournalHarness for WrongHarness {
    async fn journal(&self) -> Result<Arc<dyn TestJournal>> {
        let journal = MemoryJournal::new("fresh");
        let wrong = Wrong { flaw: self.0, journal: journal.clone(), names: AtomicU64::new(0) };
        Ok(Arc::new(WrongPlace(self.0, journal, Arc::new(wrong))))
    }
}

#[async_trait]
impl TestJournal for WrongPlace {
    async fn open(&self) -> Result<Arc<dyn JournalStore>> {
        if self.0 == Flaw::ChangesItsName {
            return Ok(Arc::<Wrong>::clone(&self.2));
        }
        Ok(Arc::new(Wrong { flaw: self.0, journal: self.1.clone(), names: AtomicU64::new(0) }))
    }
}

#[test]
fn each_way_to_be_wrong_is_caught_by_the_clause_it_breaks() {
    for (flaw, code) in [
        (Flaw::LosesEveryFifthBatch, "R2"),
        (Flaw::SplitsBatches, "A3"),
        (Flaw::LetsFencedWritersAppend, "W1"),
        (Flaw::LetsFencedWritersClear, "W1"),
        (Flaw::ForgetsTheBase, "R2"),
        (Flaw::KeepsRecordsOverEpochs, "E1"),
        (Flaw::AppendsAfterClosing, "W3"),
        (Flaw::IgnoresPositions, "R4"),
        (Flaw::GivesOneReceiptForAll, "A2"),
        (Flaw::SkipsEmptyRecords, "A5"),
        (Flaw::ChangesItsName, "C1"),
    ] {
        let harness: Arc<dyn JournalHarness> = Arc::new(WrongHarness(flaw));
        let failures = run_journals(&harness, 1);
        let caught = failures.iter().any(|failure| failure.clause.code == code);
        let seen: Vec<String> = failures.iter().map(ToString::to_string).collect();
        assert!(caught, "{flaw:?} breaks {code}, and what was caught is {seen:#?}");
    }
}

struct Panics;

#[async_trait]
impl JournalHarness for Panics {
    #[expect(clippy::panic, reason = "the suite has to take it")]
    async fn journal(&self) -> Result<Arc<dyn TestJournal>> {
        panic!("on purpose")
    }
}

#[test]
fn a_store_that_panics_fails_each_case_by_its_name() {
    let harness: Arc<dyn JournalHarness> = Arc::new(Panics);
    let failures = run_journals(&harness, 7);
    assert!(failures.len() > 20 && failures.iter().all(|failure| failure.seen == "one panicked"));
    let text = failures[0].to_string();
    assert!(text.starts_with("absent_reads_as_none failed: clause R1 absent_reads_as_none"), "{text}");
    assert!(text.contains("again:     conditions calm, seed 7"), "{text}");
}
