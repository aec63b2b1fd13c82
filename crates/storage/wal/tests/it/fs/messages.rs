//! What readers and writers of folders are told, word for word: users see it when their journal is damaged or taken.

use std::fs;
use std::path::Path;

use groundstate_conformance::block_on;
use groundstate_wal::fs::FsJournalOptions;
use groundstate_wal::{Cursor, ErrorKind, JournalStore, OpenOptions, Position, Record};

use super::support::Folder;

/// The first segment of the first epoch.
const FIRST: &str = "0000000000000001-00000000.log";
/// Where the first batch begins: behind a header and a number in a record.
const BODY: usize = 40 + 4 + 8;
/// A header and a record of three bytes.
const FRAME: usize = 40 + 4 + 3;

/// Three batches of three bytes, each in a segment of its own if segments are short.
fn journal(folder: &Folder) {
    block_on(async {
        let writer = folder.journal().open(&OpenOptions::new("ann")).await.unwrap();
        writer.begin(&Record::from(&b"base"[..])).await.unwrap();
        for text in ["one", "two", "six"] {
            writer.append(&[Record::from(text.as_bytes())]).await.unwrap();
        }
    });
}

fn change(path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    edit(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[track_caller]
fn check(folder: &Folder, reason: &str, place: &str) {
    let error = folder.contents().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.to_string(), format!("cannot read {}: {reason} ({place})", folder.path().display()));
    assert_eq!(error.place(), Some(place));
}

#[test]
fn damage_in_a_segment_is_named_with_its_byte() {
    let cases: [(usize, &str); 4] = [
        (0, "the header of a batch is damaged (byte 0 of"),
        (BODY, "the header of a batch is damaged (byte 52 of"),
        (BODY + FRAME - 1, "a batch is damaged (byte 52 of"),
        (BODY + FRAME + 1, "the header of a batch is damaged (byte 99 of"),
    ];
    for (at, expected) in cases {
        let folder = Folder::new();
        journal(&folder);
        change(&folder.path().join(FIRST), |bytes| bytes[at] ^= 1);
        let (reason, place) = expected.split_once(" (").unwrap();
        check(&folder, reason, &format!("{place} {FIRST}"));
    }
}

#[test]
fn a_segment_before_the_last_has_to_be_as_long_as_the_next_one_knows() {
    for (keep, reason, at) in
        [(BODY + FRAME - 1, "it is shorter than it was", BODY), (BODY, "it is shorter than it was", BODY)]
    {
        let folder = Folder::with(FsJournalOptions::default().segment_bytes(1));
        journal(&folder);
        change(&folder.path().join(FIRST), |bytes| bytes.truncate(keep));
        check(&folder, reason, &format!("byte {at} of {FIRST}"));
    }
}

#[test]
fn missing_and_foreign_files_are_named() {
    let segment = |number: u32| format!("0000000000000001-{number:08x}.log");
    let folder = Folder::with(FsJournalOptions::default().segment_bytes(1));
    journal(&folder);
    fs::remove_file(folder.path().join(segment(1))).unwrap();
    check(&folder, "a segment is missing", &segment(1));

    let folder = Folder::with(FsJournalOptions::default().segment_bytes(1));
    journal(&folder);
    fs::remove_file(folder.path().join(segment(0))).unwrap();
    check(&folder, "a segment is missing", &segment(0));

    let folder = Folder::new();
    journal(&folder);
    change(&folder.path().join("0000000000000001.base"), |bytes| bytes[42] ^= 1);
    check(&folder, "the base is damaged", "byte 0 of 0000000000000001.base");

    let folder = Folder::new();
    journal(&folder);
    change(&folder.path().join("head-0000000000000001"), |bytes| bytes.truncate(20));
    check(&folder, "it does not say which epoch counts", "byte 0 of head-0000000000000001");
}

#[test]
fn records_without_what_says_that_they_count_are_damage_for_readers_and_writers() {
    for (name, reason) in [
        ("head-0000000000000001", "the file `head-…` is missing, which says what of its records counts"),
        ("0000000000000001.base", "the base of its records is missing"),
    ] {
        let folder = Folder::new();
        journal(&folder);
        fs::remove_file(folder.path().join(name)).unwrap();
        let place = folder.path().display().to_string();
        let error = folder.contents().unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::Corrupt, format!("cannot read {place}: {reason}"))
        );
        let before = folder.names();
        let error = block_on(folder.journal().open(&OpenOptions::new("bob").take_over(true))).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::Corrupt, format!("cannot open {place}: {reason}"))
        );
        let lost: Vec<_> = before.iter().filter(|name| !name.starts_with("writer-")).collect();
        assert!(lost.iter().all(|name| folder.names().contains(name)), "{before:?}");
    }
}

#[test]
fn a_segment_that_was_cut_within_its_opening_is_damaged_not_torn() {
    let folder = Folder::new();
    journal(&folder);
    change(&folder.path().join(FIRST), |bytes| bytes.truncate(BODY - 1));
    check(&folder, "a batch that was durable is cut off", &format!("byte 0 of {FIRST}"));
}

#[test]
fn remains_of_a_batch_are_measured_and_named() {
    let folder = Folder::new();
    journal(&folder);
    change(&folder.path().join(FIRST), |bytes| bytes.truncate(BODY + 2 * FRAME + 5));
    let torn = folder.contents().unwrap().unwrap().torn.unwrap();
    assert_eq!((torn.place, torn.bytes), (format!("byte 146 of {FIRST}"), 5));
}

#[test]
fn a_damaged_journal_is_not_opened_for_writing() {
    let folder = Folder::new();
    journal(&folder);
    change(&folder.path().join(FIRST), |bytes| bytes[BODY] ^= 1);
    let error = block_on(folder.journal().open(&OpenOptions::new("bob").take_over(true))).unwrap_err();
    let reason = "the header of a batch is damaged";
    let expected = format!("cannot open {}: {reason} (byte 52 of {FIRST})", folder.path().display());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_living_writer_is_named_with_its_process() {
    let folder = Folder::new();
    let writer = block_on(folder.journal().open(&OpenOptions::new("ann@host"))).unwrap();
    let error = block_on(folder.journal().open(&OpenOptions::new("bob"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let expected = format!(
        "cannot open {}: ann@host in process {} has it open for writing, wait or take over",
        folder.path().display(),
        std::process::id()
    );
    assert_eq!(error.to_string(), expected);
    block_on(writer.close()).unwrap();
    block_on(folder.journal().open(&OpenOptions::new("bob"))).unwrap();
}

#[cfg(unix)]
#[test]
fn a_writer_whose_file_cannot_be_opened_is_not_taken_for_dead() {
    let folder = Folder::new();
    let writer = block_on(folder.journal().open(&OpenOptions::new("ann@host"))).unwrap();
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let of_writer = |path: &std::path::PathBuf| path.to_string_lossy().contains("/writer-");
    let path = names.filter(of_writer).max().unwrap();
    // Root may open every file, but no link that leads to itself.
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let error = block_on(folder.journal().open(&OpenOptions::new("bob"))).unwrap_err();
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    drop(writer);
    block_on(folder.journal().open(&OpenOptions::new("bob").take_over(true))).unwrap();
}

#[test]
fn positions_behind_the_end_and_epochs_that_are_over_are_refused() {
    let folder = Folder::new();
    journal(&folder);
    let journal = folder.journal();
    let epoch = block_on(journal.head()).unwrap().unwrap().epoch;
    let at = |position| Cursor::new(epoch, Position::new(position));
    assert_eq!(block_on(journal.read(&at(3))).unwrap().records, []);
    let error = block_on(journal.read(&at(4))).unwrap_err();
    let expected = format!("cannot read {journal}: it has 3 records, and was asked for number 4");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Invalid, expected));
    block_on(async {
        let writer = journal.open(&OpenOptions::new("bob").take_over(true)).await.unwrap();
        writer.begin(&Record::default()).await.unwrap();
        let behind = journal.read(&journal.head().await.unwrap().unwrap().start()).await.unwrap();
        assert_eq!((behind.records, behind.next), (Vec::new(), None));
    });
    let error = block_on(journal.read(&at(0))).unwrap_err();
    let expected = format!("cannot read {journal}: there is no such epoch, begin one or read the head again");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::NoEpoch, expected));
}

#[test]
fn pages_are_about_as_long_as_asked_for_and_lose_nothing_between_segments() {
    for (segment, page) in [(1, 1), (1, 1 << 20), (200, 64), (1 << 20, 64), (1 << 20, 1)] {
        let folder = Folder::with(FsJournalOptions::default().segment_bytes(segment).page_bytes(page));
        let all: Vec<Record> =
            (0..60_u8).map(|number| Record::from(vec![number; usize::from(number)])).collect();
        block_on(async {
            let journal = folder.journal();
            let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
            writer.begin(&Record::default()).await.unwrap();
            for batch in all.chunks(7) {
                writer.append(batch).await.unwrap();
            }
            // From every position, also from those within a batch.
            for from in [0, 1, 6, 7, 8, 35, 59, 60] {
                let mut next =
                    Some(Cursor::new(writer.position().unwrap().epoch(), Position::new(from as u64)));
                let (mut found, mut pages) = (Vec::new(), 0);
                while let Some(cursor) = next {
                    let page = journal.read(&cursor).await.unwrap();
                    found.extend(page.records);
                    (next, pages) = (page.next, pages + 1);
                }
                assert_eq!(found, all[from..], "{segment} {page} from {from}");
                assert_eq!(pages > 1, page < 1 << 20 && from < 60, "{segment} {page} from {from}");
            }
        });
    }
}
