//! Retention, orphans, and uploads that are given up.

use std::sync::Arc;
use std::time::Duration;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_versioned::blobs::{
    BlobStore, DeleteOptions, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions,
};
use groundstate_versioned::common::{FixedClock, Timestamp};
use groundstate_versioned::{
    ErrorKind, Name, NewLock, Retention, Settings, SweepOptions, Swept, WriteOptions, WriteOutcome,
};

use crate::support::{Bench, bench, bench_with, open, text, write};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

fn newest(count: u64, younger: Option<Duration>) -> SweepOptions {
    SweepOptions::default().retention(Retention::Newest { count, younger })
}

async fn numbers(bench: &Bench, name: &str) -> Vec<u64> {
    let page = bench.document(name).versions(None, 1000).await.unwrap();
    assert!(page.missing.is_empty(), "{:?}", page.missing);
    page.versions.iter().map(|version| version.number).collect()
}

/// How many blobs there are of a document's data.
async fn blobs(store: &MemoryBlobs) -> usize {
    store.list("data/", &ListOptions::default()).await.unwrap().blobs.len()
}

#[tokio::test]
async fn retention_keeps_the_newest_the_young_and_the_pinned() {
    let bench = bench();
    let document = bench.document("prod");
    for _ in 0..10 {
        write(&document, "x").await;
        bench.clock.advance(HOUR);
    }
    document.pin(2, true).await.unwrap();
    assert_eq!(document.sweep(&newest(100, None)).await.unwrap(), Swept::default());
    let swept = document.sweep(&newest(3, Some(HOUR * 5))).await.unwrap();
    assert_eq!((swept.versions, swept.records), (5, 0));
    assert_eq!(numbers(&bench, "prod").await, [10, 9, 8, 7, 2]);
    for gone in [1, 3, 6] {
        assert_eq!(document.version(gone).await.unwrap_err().kind(), ErrorKind::NotKept);
        assert_eq!(document.pin(gone, true).await.unwrap_err().kind(), ErrorKind::NotKept);
        assert_eq!(
            document.restore(gone, &WriteOptions::default()).await.unwrap_err().kind(),
            ErrorKind::NotKept
        );
    }
    let pinned = document.version(2).await.unwrap();
    assert_eq!(document.open(&pinned).await.unwrap().collect(9).await.unwrap(), "x");

    // The present version stays, whatever is asked for.
    document.pin(2, false).await.unwrap();
    assert_eq!(document.sweep(&newest(0, None)).await.unwrap().versions, 4);
    assert_eq!(numbers(&bench, "prod").await, [10]);
    assert_eq!(text(&document).await.unwrap(), "x");
    assert_eq!(document.sweep(&newest(0, None)).await.unwrap(), Swept::default());
}

#[tokio::test]
async fn a_reader_of_a_version_that_is_removed_meanwhile_is_told_so() {
    let bench = bench_with(Settings::default().with_inline_limit(0).with_part_size(1));
    let document = bench.document("prod");
    write(&document, "abc").await;
    let mut reader = document.read().await.unwrap().unwrap();
    assert_eq!(reader.next_part().await.unwrap().unwrap(), "a");
    write(&document, "def").await;
    let options = newest(1, None).grace(Duration::ZERO);
    let mut parts = 0;
    for _ in 0..3 {
        bench.clock.advance(HOUR);
        parts += document.sweep(&options).await.unwrap().parts;
    }
    assert_eq!(parts, 3);
    assert_eq!(reader.next_part().await.unwrap_err().kind(), ErrorKind::NotKept);
    assert_eq!(text(&document).await.unwrap(), "def");
}

#[tokio::test]
async fn parts_that_a_restored_version_has_stay_when_the_old_one_goes() {
    let bench = bench_with(Settings::default().with_inline_limit(0).with_part_size(1));
    let document = bench.document("prod");
    write(&document, "abc").await;
    write(&document, "x").await;
    document.restore(1, &WriteOptions::default()).await.unwrap();
    for _ in 0..4 {
        bench.clock.advance(DAY * 2);
        document.sweep(&newest(1, None)).await.unwrap();
    }
    assert_eq!(numbers(&bench, "prod").await, [3]);
    assert_eq!(text(&document).await.unwrap(), "abc");
}

#[tokio::test]
async fn what_a_crash_leaves_is_removed_after_the_grace_and_not_before() {
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let memory = MemoryBlobs::with_clock("tests", Arc::<FixedClock>::clone(&clock));
    let faulty = FaultyBlobs::new(memory.clone());
    let settings = Settings::default().with_inline_limit(2).with_part_size(2);
    let documents = open(Arc::new(faulty.clone()), &clock, settings);
    let document = documents.document(&Name::parse("prod").unwrap());
    write(&document, "1").await;
    assert_eq!(blobs(&memory).await, 1);

    // The record is stored and the head is not.
    let content = document.content("2").await.unwrap();
    faulty.fail_at(2, Fault::Refuse);
    assert_eq!(
        document.write(&content, &WriteOptions::default()).await.unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    // Parts are stored, and the process ends.
    let mut upload = document.upload();
    upload.push("abcdef").await.unwrap();
    drop(upload);
    assert_eq!(blobs(&memory).await, 1 + 1 + 2);

    let options = SweepOptions::default();
    for _ in 0..2 {
        assert_eq!(document.sweep(&options).await.unwrap(), Swept::default());
        clock.advance(DAY / 2);
    }
    // A record beyond the last version may be that of a head that was put back, so it waits for the next version.
    let swept = document.sweep(&options).await.unwrap();
    assert_eq!((swept.versions, swept.records, swept.parts), (0, 0, 2));
    assert_eq!(text(&document).await.unwrap(), "1");
    write(&document, "3").await;
    let swept = document.sweep(&options).await.unwrap();
    assert_eq!((swept.versions, swept.records, swept.parts), (0, 1, 0));
    assert_eq!(blobs(&memory).await, 2);
    assert_eq!(text(&document).await.unwrap(), "3");
}

#[tokio::test]
async fn an_upload_that_a_sweep_gave_up_is_refused_and_a_new_one_is_not() {
    let bench = bench_with(Settings::default().with_inline_limit(0).with_part_size(2));
    let document = bench.document("prod");
    let mut slow = document.upload();
    slow.push("abcdef").await.unwrap();
    let options = SweepOptions::default();
    document.sweep(&options).await.unwrap();
    bench.clock.advance(DAY);
    assert_eq!(document.sweep(&options).await.unwrap().parts, 2);

    let content = slow.finish().await.unwrap();
    let error = document.write(&content, &WriteOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Expired);
    assert_eq!(
        error.to_string(),
        "cannot write prod in memory://tests: the upload took so long that a sweep gave it up; upload the content again"
    );
    let again = document.content("abcdef").await.unwrap();
    assert!(matches!(
        document.write(&again, &WriteOptions::default()).await.unwrap(),
        WriteOutcome::Written(_)
    ));
    assert_eq!(text(&document).await.unwrap(), "abcdef");
}

#[tokio::test]
async fn a_sweep_with_a_wrong_clock_costs_uploads_and_nothing_else() {
    let bench = bench_with(Settings::default().with_inline_limit(0).with_part_size(2));
    let document = bench.document("prod");
    write(&document, "abcd").await;
    let right = bench.clock_time();
    // A year ahead, and back again.
    bench.clock.advance(DAY * 365);
    drop(document.upload());
    let mut upload = document.upload();
    upload.push("abc").await.unwrap();
    for _ in 0..3 {
        document.sweep(&SweepOptions::default().grace(HOUR)).await.unwrap();
        bench.clock.advance(HOUR);
    }
    bench.clock.set(right);
    write(&document, "efgh").await;
    let mut orphan = document.upload();
    orphan.push("abc").await.unwrap();
    let mut parts = 0;
    for _ in 0..4 {
        parts += document.sweep(&SweepOptions::default().grace(HOUR)).await.unwrap().parts;
        bench.clock.advance(HOUR);
    }
    assert_eq!(parts, 1);
    assert_eq!(text(&document).await.unwrap(), "efgh");
    assert_eq!(numbers(&bench, "prod").await, [2, 1]);
}

#[tokio::test]
async fn a_sweep_over_all_documents_goes_on_behind_a_damaged_one() {
    let bench = bench();
    for name in ["a", "b", "c"] {
        for _ in 0..3 {
            write(&bench.document(name), "x").await;
        }
    }
    bench.damage("heads/b!.json").await;
    let report = bench.documents.sweep(&newest(1, None)).await.unwrap();
    assert_eq!((report.documents, report.swept.versions), (3, 4));
    let [(name, error)] = &report.failed[..] else { panic!("{report:?}") };
    assert_eq!((name.as_str(), error.kind()), ("b", ErrorKind::Corrupt));
}

/// Takes a blob away, and gives what it was.
async fn take_away(bench: &Bench, key: &str) -> groundstate_versioned::blobs::Blob {
    let key = Key::parse(key).unwrap();
    let blob = bench.blobs.get(&key, &GetOptions::default()).await.unwrap().unwrap();
    bench.blobs.delete(&key, &DeleteOptions::default()).await.unwrap();
    blob
}

async fn put(bench: &Bench, key: &str, blob: groundstate_versioned::blobs::Blob) {
    bench.blobs.put(&Key::parse(key).unwrap(), blob.bytes, &PutOptions::default()).await.unwrap();
}

#[tokio::test]
async fn document_whose_head_is_missing_is_refused_by_every_operation_and_swept_by_none() {
    let bench = bench();
    let document = bench.document("prod");
    write(&bench.document("other"), "x").await;
    for _ in 0..3 {
        write(&document, "x").await;
    }
    let head = take_away(&bench, "heads/prod!.json").await;
    let content = bench.document("prod").content("y").await.unwrap();
    let options = WriteOptions::default();
    let errors = [
        document.head().await.unwrap_err(),
        document.read().await.unwrap_err(),
        document.lock(&NewLock::new("L1")).await.unwrap_err(),
        document.unlock("L1").await.unwrap_err(),
        document.write(&content, &options).await.unwrap_err(),
        document.delete(&options).await.unwrap_err(),
        document.restore(1, &options).await.unwrap_err(),
        document.versions(None, 9).await.unwrap_err(),
        document.sweep(&newest(1, None).grace(Duration::ZERO)).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let text = error.to_string();
        assert!(text.contains("its head is missing") && text.contains("groundstate store repair"), "{text}");
    }
    let before = blobs(&bench.blobs).await;
    let report = bench.documents.sweep(&newest(1, None).grace(Duration::ZERO)).await.unwrap();
    assert_eq!((report.documents, report.swept), (1, Swept::default()));
    let [(name, error)] = &report.failed[..] else { panic!("{report:?}") };
    assert_eq!((name.as_str(), error.kind()), ("prod", ErrorKind::Corrupt));
    assert_eq!(blobs(&bench.blobs).await, before);

    put(&bench, "heads/prod!.json", head).await;
    assert_eq!(text(&document).await.unwrap(), "x");
}

#[tokio::test]
async fn head_that_was_put_back_costs_no_version() {
    for (back_by, clean) in [(1, true), (2, false), (3, false)] {
        let bench = bench_with(Settings::default().with_inline_limit(0).with_part_size(1));
        let document = bench.document("prod");
        write(&document, "ab").await;
        write(&document, "cd").await;
        let mut heads = Vec::new();
        for _ in 0..3 {
            heads.push(take_away(&bench, "heads/prod!.json").await);
            put(&bench, "heads/prod!.json", heads.last().unwrap().clone()).await;
            write(&document, "ef").await;
        }
        let whole = take_away(&bench, "heads/prod!.json").await;
        put(&bench, "heads/prod!.json", heads[3 - back_by].clone()).await;
        let before = blobs(&bench.blobs).await;
        for _ in 0..4 {
            bench.clock.advance(DAY * 2);
            let swept = document.sweep(&SweepOptions::default()).await;
            assert_eq!(swept.is_ok(), clean, "{back_by}: {swept:?}");
        }
        assert_eq!(blobs(&bench.blobs).await, before);
        put(&bench, "heads/prod!.json", whole).await;
        assert_eq!(numbers(&bench, "prod").await, [5, 4, 3, 2, 1]);
        assert_eq!(text(&document).await.unwrap(), "ef");
    }
}

#[tokio::test]
async fn new_head_over_old_versions_removes_none_of_them() {
    let bench = bench();
    let document = bench.document("prod");
    for _ in 0..3 {
        write(&document, "old").await;
    }
    // As a store that an earlier release went on with: a first version beside those of the head that was lost.
    let other = crate::support::bench();
    other.clock.advance(DAY);
    write(&other.document("prod"), "new").await;
    for prefix in ["heads/", "data/"] {
        for listed in other.blobs.list(prefix, &ListOptions::default()).await.unwrap().blobs {
            let blob = other.blobs.get(&Key::parse(&listed.name).unwrap(), &GetOptions::default()).await;
            put(&bench, &listed.name, blob.unwrap().unwrap()).await;
        }
    }
    let before = blobs(&bench.blobs).await;
    bench.clock.advance(DAY * 9);
    let error = document.sweep(&newest(1, None).grace(Duration::ZERO)).await.unwrap_err();
    assert!(error.to_string().contains("nothing was removed"), "{error}");
    assert_eq!(blobs(&bench.blobs).await, before);
}
