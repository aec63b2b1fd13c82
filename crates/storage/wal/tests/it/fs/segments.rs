//! When segments begin, and files under the names that come next: other writers were faster.

use std::fs;

use groundstate_conformance::block_on;
use groundstate_wal::fs::FsJournalOptions;
use groundstate_wal::{ErrorKind, JournalStore, JournalWriter, OpenOptions, Record};

use super::support::Folder;

/// A segment with its opening and a batch of three bytes.
const ONE: u64 = 40 + 4 + 8 + 40 + 4 + 3;
/// The batch alone.
const BATCH: u64 = 40 + 4 + 3;

fn append(writer: &dyn JournalWriter, text: &str) -> Result<(), ErrorKind> {
    let batch = [Record::from(text.as_bytes())];
    block_on(writer.append(&batch)).map(drop).map_err(|error| error.kind())
}

fn texts(folder: &Folder) -> Vec<Record> {
    folder.contents().unwrap().unwrap().records
}

#[test]
fn another_segment_begins_when_one_is_longer_than_was_said() {
    let segments = |bytes: u64| {
        let folder = Folder::with(FsJournalOptions::default().segment_bytes(bytes));
        let writer = block_on(folder.journal().open(&OpenOptions::new("ann"))).unwrap();
        block_on(writer.begin(&Record::default())).unwrap();
        ["one", "two", "six", "ten"].iter().for_each(|text| append(&*writer, text).unwrap());
        assert_eq!(texts(&folder), ["one", "two", "six", "ten"].map(|text| Record::from(text.as_bytes())));
        let logs = folder.names().into_iter().filter(|name| name.ends_with(".log"));
        logs.map(|name| fs::metadata(folder.path().join(name)).unwrap().len()).collect::<Vec<_>>()
    };
    assert_eq!(segments(ONE - 1), [ONE; 4]);
    assert_eq!(segments(ONE), [ONE + BATCH; 2]);
    assert_eq!(segments(ONE + BATCH - 1), [ONE + BATCH; 2]);
    assert_eq!(segments(ONE + BATCH), [ONE + 2 * BATCH, ONE]);
}

#[test]
fn a_writer_that_finds_its_next_segment_made_was_overtaken() {
    let folder = Folder::with(FsJournalOptions::default().segment_bytes(1));
    let writer = block_on(folder.journal().open(&OpenOptions::new("ann"))).unwrap();
    block_on(writer.begin(&Record::default())).unwrap();
    append(&*writer, "one").unwrap();
    let next = folder.path().join("0000000000000001-00000001.log");
    fs::write(&next, b"of a newer writer").unwrap();
    assert_eq!(append(&*writer, "two"), Err(ErrorKind::Fenced));
    assert_eq!(append(&*writer, "two"), Err(ErrorKind::Fenced));
    assert_eq!(fs::read(next).unwrap(), b"of a newer writer");
}

#[test]
fn an_epoch_that_another_writer_began_meanwhile_keeps_its_number() {
    let folder = Folder::new();
    let writer = block_on(folder.journal().open(&OpenOptions::new("ann"))).unwrap();
    assert_eq!(block_on(writer.begin(&Record::default())).unwrap().get(), 1);
    for epoch in [2, 3] {
        fs::write(folder.path().join(format!("{epoch:016x}.base")), b"of a refused writer").unwrap();
    }
    assert_eq!(block_on(writer.begin(&Record::from(&b"base"[..]))).unwrap().get(), 4);
    append(&*writer, "one").unwrap();
    let contents = folder.contents().unwrap().unwrap();
    assert_eq!((contents.head.epoch.get(), contents.head.base), (4, Record::from(&b"base"[..])));
}

#[test]
fn of_writers_that_open_at_once_the_last_one_writes_and_the_others_are_fenced() {
    for _ in 0..30 {
        let folder = Folder::new();
        let journal = folder.journal();
        let barrier = std::sync::Barrier::new(8);
        let open = || {
            barrier.wait();
            block_on(journal.open(&OpenOptions::new("one of many").take_over(true)))
        };
        let opened: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut begun = 0;
        for outcome in opened {
            match outcome.map(|writer| block_on(writer.begin(&Record::default()))) {
                Ok(Ok(_)) => begun += 1,
                Ok(Err(error)) | Err(error) => assert_eq!(error.kind(), ErrorKind::Fenced, "{error:?}"),
            }
        }
        assert_eq!(begun, 1);
    }
}
