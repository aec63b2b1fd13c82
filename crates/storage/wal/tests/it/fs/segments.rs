//! When segments begin, and files under the names that come next: other writers were faster.

use std::fs;

use groundstate_conformance::block_on;
use groundstate_wal::fs::FsJournalOptions;
use groundstate_wal::{Cursor, ErrorKind, JournalStore, JournalWriter, OpenOptions, Record};

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

/// A journal of four batches, and where its first record is read.
fn of_four(options: FsJournalOptions) -> (Folder, Cursor) {
    let folder = Folder::with(options);
    let writer = block_on(folder.journal().open(&OpenOptions::new("ann"))).unwrap();
    block_on(writer.begin(&Record::default())).unwrap();
    ["one", "two", "six", "ten"].iter().for_each(|text| append(&*writer, text).unwrap());
    let start = block_on(folder.journal().head()).unwrap().unwrap().start();
    (folder, start)
}

/// Flips a bit at this place of a segment.
fn damage(folder: &Folder, segment: u32, at: u64) {
    let path = folder.path().join(format!("0000000000000001-{segment:08x}.log"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_page_ends_with_the_batch_that_fills_it() {
    // A record counts sixteen bytes more than it has.
    for (bytes, count) in [(19, 1), (20, 2), (38, 2), (39, 3)] {
        let (folder, start) = of_four(FsJournalOptions::default().page_bytes(bytes));
        let page = block_on(folder.journal().read(&start)).unwrap();
        assert_eq!(page.records.len(), count, "{bytes} bytes");
    }
}

#[test]
fn a_page_reads_on_where_the_one_before_ended() {
    // Neither batches of the same segment that were read, nor segments far behind.
    for (segment_bytes, segment, at) in [(1 << 20, 0, ONE - 1), (1, 0, ONE - 1), (1, 3, 0)] {
        let options = FsJournalOptions::default().segment_bytes(segment_bytes).page_bytes(1);
        let (folder, start) = of_four(options);
        let journal = folder.journal();
        let next = block_on(journal.read(&start)).unwrap().next.unwrap();
        damage(&folder, segment, at);
        assert_eq!(block_on(journal.read(&next)).unwrap().records, [Record::from(&b"two"[..])]);
        assert_eq!(block_on(journal.read(&start)).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_new_writer_reads_the_last_segment_and_readers_are_told_of_damage_before_it() {
    let (folder, _) = of_four(FsJournalOptions::default().segment_bytes(1));
    damage(&folder, 1, ONE - 1);
    let writer = block_on(folder.journal().open(&OpenOptions::new("bob").take_over(true))).unwrap();
    assert_eq!(writer.position().unwrap().position().get(), 4);
    append(&*writer, "end").unwrap();
    let error = folder.contents().unwrap_err();
    let place = "byte 52 of 0000000000000001-00000001.log";
    assert_eq!((error.kind(), error.place()), (ErrorKind::Corrupt, Some(place)));
}
