//! Reading from object stores: pages, how many requests they are, and objects that are missing or out of order.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, DeleteOptions, GetOptions, Key, MemoryBlobs, PutOptions};
use groundstate_common::SequenceIds;
use groundstate_conformance::FaultyBlobs;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::frame::{FrameKind, push_frame, read_frame};
use groundstate_wal::{ErrorKind, JournalStore, OpenOptions, Position, Record, read_all};

/// A journal whose first object is its writer, the second its base, and the others are these records.
async fn journal(records: impl IntoIterator<Item = Vec<u8>>) -> (FaultyBlobs, BlobJournal) {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let journal = BlobJournal::new(Arc::new(faulty.clone()), "j/", Arc::new(SequenceIds::new())).unwrap();
    let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
    writer.begin(&Record::from(&b"base"[..])).await.unwrap();
    for record in records {
        writer.append(&[Record::from(record)]).await.unwrap();
    }
    faulty.calls();
    (faulty, journal)
}

fn key(number: u64) -> Key {
    Key::parse(&format!("j/{number:016x}")).unwrap()
}

#[tokio::test]
async fn each_object_is_asked_for_once_and_none_that_does_not_exist() {
    for count in [0, 1, 16, 17, 40] {
        let (faulty, journal) = journal((0..count).map(|number| vec![number])).await;
        assert_eq!(read_all(&journal).await.unwrap().unwrap().records.len(), usize::from(count));
        // The end and the base, and the end again with what is between.
        let mut expected = vec!["list", "get", "get", "list", "get"];
        expected.extend(vec!["get"; usize::from(count)]);
        assert_eq!(faulty.calls(), expected, "{count} batches");
    }
}

#[tokio::test]
async fn a_page_ends_with_the_objects_that_fill_it_and_the_next_begins_at_the_object_behind() {
    // With what is counted for each record, sixteen of these make a page.
    let (faulty, journal) = journal((0..17).map(|number| vec![number; (1 << 16) - 16])).await;
    let start = journal.head().await.unwrap().unwrap().start();
    faulty.calls();
    let page = journal.read(&start).await.unwrap();
    assert_eq!((page.records.len(), faulty.calls().len()), (16, 2 + 16));
    let next = page.next.unwrap();
    assert_eq!(next.position(), Position::new(16));
    let page = journal.read(&next).await.unwrap();
    assert_eq!((page.records[0].as_bytes()[0], page.records.len(), page.next), (16, 1, None));
    assert_eq!(faulty.calls(), ["list", "get", "get"]);
}

#[tokio::test]
async fn a_missing_object_is_refused_by_its_name() {
    // The base, the first batch, and one between others.
    for number in [2, 3, 4] {
        let (faulty, journal) = journal([b"one".to_vec(), b"two".to_vec(), b"six".to_vec()]).await;
        faulty.inner().delete(&key(number), &DeleteOptions::default()).await.unwrap();
        let error = read_all(&journal).await.unwrap_err();
        let expected = format!("cannot read {journal}: an object is missing (the object {})", key(number));
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Corrupt, expected));
    }
}

#[tokio::test]
async fn an_object_whose_records_do_not_follow_those_before_it_is_refused_by_its_name() {
    // The first batch, one between others, and the last.
    for (number, first) in [(3, 1), (4, 0), (4, 2), (5, 1)] {
        let (faulty, journal) = journal([b"one".to_vec(), b"two".to_vec(), b"six".to_vec()]).await;
        let blob = faulty.inner().get(&key(number), &GetOptions::default()).await.unwrap().unwrap();
        let frame = read_frame(&blob.bytes, 0, &number.to_le_bytes()).unwrap();
        let (mut bytes, records) = (Vec::new(), frame.records.iter().collect::<Vec<_>>());
        let first = Position::new(first);
        push_frame(&mut bytes, FrameKind::Batch, first, &records, &number.to_le_bytes()).unwrap();
        faulty.inner().put(&key(number), bytes.into(), &PutOptions::default()).await.unwrap();
        let error = read_all(&journal).await.unwrap_err();
        let reason = "its records do not follow those before it";
        let expected = format!("cannot read {journal}: {reason} (the object {})", key(number));
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Corrupt, expected));
    }
}
