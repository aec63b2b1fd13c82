//! Reading whole journals: page by page, across epochs that end, and from stores that misbehave.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groundstate_conformance::block_on;
use groundstate_wal::{
    Cursor, Epoch, Error, ErrorKind, Head, JournalStore, JournalWriter, MemoryJournal, Op, OpenOptions, Page,
    Position, Record, Result, Torn, read_all, replay,
};

/// A store whose answers to reads are written down in advance.
#[derive(Debug, Default)]
struct Script {
    pages: Mutex<VecDeque<Result<Page, ErrorKind>>>,
    heads: Mutex<u64>,
}

impl Script {
    fn new(pages: impl IntoIterator<Item = Result<Page, ErrorKind>>) -> Self {
        Self { pages: Mutex::new(pages.into_iter().collect()), heads: Mutex::default() }
    }

    /// How often the head was asked for.
    fn heads(&self) -> u64 {
        *self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("script:s")
    }
}

#[async_trait]
impl JournalStore for Script {
    async fn open(&self, _: &OpenOptions) -> Result<Arc<dyn JournalWriter>> {
        Err(Error::new(ErrorKind::Denied, Op::Open, self))
    }

    async fn head(&self) -> Result<Option<Head>> {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        *heads += 1;
        Ok(Some(Head::new(Epoch::new(*heads), Record::default())))
    }

    async fn read(&self, _: &Cursor) -> Result<Page> {
        let next = self.pages.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or(Err(ErrorKind::NoEpoch)).map_err(|kind| Error::new(kind, Op::Read, self))
    }
}

fn records(count: u8) -> Vec<Record> {
    (0..count).map(|number| Record::from(vec![number])).collect()
}

fn cursor(position: u64) -> Option<Cursor> {
    Some(Cursor::new(Epoch::new(1), Position::new(position)))
}

#[test]
fn pages_that_do_not_follow_each_other_are_a_defect_of_the_store() {
    for (count, next) in [(2, 3), (2, 1), (2, 0), (0, 0), (0, 1)] {
        let store = Script::new([Ok(Page::new(records(count), cursor(next)))]);
        let error = block_on(read_all(&store)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read script:s: its pages do not follow each other",
            "{count} {next}"
        );
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}

#[test]
fn what_a_crash_left_is_that_of_the_last_page() {
    let torn = Torn::new("byte 7 of a.log", 3);
    let last = Page::new(records(1), None).with_torn(Some(torn.clone()));
    let store = Script::new([Ok(Page::new(records(2), cursor(2))), Ok(last)]);
    let contents = block_on(read_all(&store)).unwrap().unwrap();
    assert_eq!((contents.records.len(), contents.torn), (3, Some(torn)));
}

#[test]
fn an_epoch_that_ends_while_it_is_read_is_left_for_the_next() {
    let first = Ok(Page::new(records(2), cursor(2)));
    let store = Script::new([first, Err(ErrorKind::NoEpoch), Ok(Page::new(records(1), None))]);
    let contents = block_on(read_all(&store)).unwrap().unwrap();
    assert_eq!(
        (contents.head.epoch, contents.records),
        (Epoch::new(2), records(1)),
        "nothing of the first epoch"
    );
}

#[test]
fn epochs_that_end_again_and_again_are_given_up() {
    let store = Script::default();
    let error = block_on(read_all(&store)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.to_string(), "cannot read script:s: its epochs end faster than they can be read");
    assert_eq!(store.heads(), 16);
}

#[test]
fn other_errors_end_reading_at_once() {
    let store = Script::new([Err(ErrorKind::Corrupt)]);
    assert_eq!(block_on(read_all(&store)).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(store.heads(), 1);
}

#[test]
fn visitors_see_positions_in_order_and_may_stop() {
    let journal = MemoryJournal::new("m");
    block_on(async {
        let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
        writer.begin(&Record::default()).await.unwrap();
        writer.append(&records(200)).await.unwrap();
        writer.append(&records(200)).await.unwrap();
        let epoch = writer.position().unwrap().epoch();
        let mut seen = Vec::new();
        let mut visit = |position: Position, record: Record| {
            if position.get() == 390 {
                return Err(Error::new(ErrorKind::Invalid, Op::Other("understand"), "record 390"));
            }
            seen.push((position.get(), record.as_bytes()[0]));
            Ok(())
        };
        let stopped = replay(&journal, Cursor::new(epoch, Position::new(198)), &mut visit).await;
        assert_eq!(
            stopped.unwrap_err().to_string(),
            "cannot understand record 390: the arguments are not valid"
        );
        let expected: Vec<_> = (198..390_u64).map(|at| (at, (at % 200) as u8)).collect();
        assert_eq!(seen, expected);
    });
}
