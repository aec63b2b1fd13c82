//! Cuts and flipped bits at every byte: nothing that was acknowledged is lost, and nothing is made up.

use std::fs;

use groundstate_conformance::block_on;
use groundstate_wal::fs::FsJournalOptions;
use groundstate_wal::{ErrorKind, JournalStore, OpenOptions, Record, frame};

use super::support::Folder;

/// A journal whose last segment has these batches, and where each of them ends.
fn journal(folder: &Folder, batches: &[&[&str]]) -> Vec<usize> {
    block_on(async {
        let writer = folder.journal().open(&OpenOptions::new("ann")).await.unwrap();
        writer.begin(&Record::from(&b"base"[..])).await.unwrap();
        let mut ends = Vec::new();
        for batch in batches {
            let batch: Vec<Record> = batch.iter().map(|text| Record::from(text.as_bytes())).collect();
            writer.append(&batch).await.unwrap();
            ends.push(usize::try_from(fs::metadata(folder.last_segment()).unwrap().len()).unwrap());
        }
        ends
    })
}

const BATCHES: [&[&str]; 4] = [&["one"], &["two", "", "three"], &["GSJ\u{1} in it"], &["four"]];

fn texts(count: usize) -> Vec<Record> {
    BATCHES[..count].concat().iter().map(|text| Record::from(text.as_bytes())).collect()
}

#[test]
fn a_segment_that_is_cut_off_at_any_byte_gives_the_batches_that_are_whole() {
    let folder = Folder::new();
    let ends = journal(&folder, &BATCHES);
    let (path, bytes) = (folder.last_segment(), fs::read(folder.last_segment()).unwrap());
    let start = ends[0] - frame::frame_len(&texts(1));
    for cut in start..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let contents = folder.contents().unwrap().unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(contents.records, texts(whole), "cut at byte {cut}");
        let is_edge = cut == start || ends.contains(&cut);
        assert_eq!(contents.torn.is_none(), is_edge, "cut at byte {cut}");
    }
}

#[test]
fn a_writer_goes_on_wherever_the_segment_was_cut_off() {
    let folder = Folder::new();
    let ends = journal(&folder, &BATCHES);
    let (last, bytes) = (folder.last_segment(), fs::read(folder.last_segment()).unwrap());
    for cut in (ends[2]..bytes.len()).chain([ends[0], ends[1] - 1]) {
        for name in folder.names().iter().filter(|name| name.ends_with(".log")) {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        fs::write(&last, &bytes[..cut]).unwrap();
        let mut expected = texts(ends.iter().filter(|end| **end <= cut).count());
        block_on(async {
            let writer = folder.journal().open(&OpenOptions::new("bob").take_over(true)).await.unwrap();
            writer.append(&[Record::from(&b"more"[..])]).await.unwrap();
        });
        expected.push(Record::from(&b"more"[..]));
        assert_eq!(folder.contents().unwrap().unwrap().records, expected, "cut at byte {cut}");
    }
}

#[test]
fn a_flipped_bit_is_refused_unless_the_batch_may_never_have_been_acknowledged() {
    let folder = Folder::new();
    let ends = journal(&folder, &BATCHES);
    let (path, bytes) = (folder.last_segment(), fs::read(folder.last_segment()).unwrap());
    for at in 0..bytes.len() {
        for bit in [0, 5] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            match folder.contents() {
                Ok(contents) => {
                    let contents = contents.unwrap();
                    assert!(at >= ends[2], "the damage at byte {at} was not noticed");
                    assert_eq!((contents.records, contents.torn.is_some()), (texts(3), true), "byte {at}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {at}: {error}");
                    assert!(error.place().is_some_and(|place| place.contains("byte ")), "{error}");
                }
            }
        }
    }
}

#[test]
fn damage_to_the_last_batch_is_refused_after_a_good_end() {
    let folder = Folder::new();
    block_on(async {
        let writer = folder.journal().open(&OpenOptions::new("ann")).await.unwrap();
        writer.begin(&Record::default()).await.unwrap();
        writer.append(&[Record::from(&b"the last one"[..])]).await.unwrap();
        writer.close().await.unwrap();
    });
    let mut bytes = fs::read(folder.last_segment()).unwrap();
    let at = bytes.windows(4).position(|window| window == b"last").unwrap();
    bytes[at] ^= 1;
    fs::write(folder.last_segment(), bytes).unwrap();
    assert_eq!(folder.contents().unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn files_that_are_missing_or_swapped_are_refused() {
    for change in ["missing", "swapped", "base", "head"] {
        let folder = Folder::with(FsJournalOptions::default().segment_bytes(1));
        journal(&folder, &BATCHES);
        let logs: Vec<_> = folder.names().into_iter().filter(|name| name.ends_with(".log")).collect();
        let path = |name: &str| folder.path().join(name);
        let one = |part: &str| path(folder.names().iter().find(|name| name.contains(part)).unwrap());
        match change {
            "missing" => fs::remove_file(path(&logs[1])).unwrap(),
            "swapped" => fs::copy(path(&logs[1]), path(&logs[2])).map(drop).unwrap(),
            "base" => fs::write(one(".base"), b"something else").unwrap(),
            _ => fs::write(one("head-"), b"").unwrap(),
        }
        let error = folder.contents().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{change}: {error}");
    }
}

#[test]
fn the_base_of_another_epoch_under_the_name_of_this_one_is_refused() {
    let (folder, other) = (Folder::new(), Folder::new());
    journal(&folder, &BATCHES);
    block_on(async {
        let writer = other.journal().open(&OpenOptions::new("ann")).await.unwrap();
        for _ in 0..2 {
            writer.begin(&Record::from(&b"base"[..])).await.unwrap();
        }
    });
    let base = |folder: &Folder| {
        let name = folder.names().into_iter().find(|name| name.ends_with(".base")).unwrap();
        folder.path().join(name)
    };
    assert_ne!(base(&folder).file_name(), base(&other).file_name());
    fs::copy(base(&other), base(&folder)).unwrap();
    let error = folder.contents().unwrap_err();
    assert!(
        error.kind() == ErrorKind::Corrupt && error.to_string().contains("the base is damaged"),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_told_from_one_that_is_gone() {
    for part in ["head-", ".base", ".log"] {
        let folder = Folder::new();
        journal(&folder, &BATCHES);
        let name = folder.names().into_iter().find(|name| name.contains(part)).unwrap();
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        fs::create_dir(path).unwrap();
        let error = folder.contents().unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(error.kind() == ErrorKind::Unavailable && cause.contains("directory"), "{part}: {error}");
    }
}

#[test]
fn remains_of_dead_writers_are_swept_up() {
    let folder = Folder::new();
    journal(&folder, &BATCHES);
    fs::write(folder.path().join("new-0000000000000001"), b"half a base").unwrap();
    fs::write(folder.path().join("0000000000000000.base"), b"an epoch that is over").unwrap();
    fs::write(folder.path().join("0000000000000000-00000000.log"), b"its segment").unwrap();
    fs::write(folder.path().join("notes.txt"), b"of another program").unwrap();
    let writer = block_on(folder.journal().open(&OpenOptions::new("bob").take_over(true))).unwrap();
    let names = folder.names();
    assert!(
        !names.iter().any(|name| name.starts_with("new-") || name.starts_with("0000000000000000")),
        "{names:?}"
    );
    assert_eq!(names.iter().filter(|name| name.starts_with("writer-")).count(), 1, "{names:?}");
    block_on(async {
        writer.clear().await.unwrap();
        writer.close().await.unwrap();
    });
    assert_eq!(folder.names(), ["notes.txt"]);
}
