//! Writing, reading and deleting.

use groundstate_versioned::{ErrorKind, Expect, Name, NewLock, Same, Settings, WriteOptions, WriteOutcome};

use crate::support::{bench, bench_with, text, write, written};

#[tokio::test]
async fn what_was_written_is_read_whatever_its_size() {
    let settings = Settings::default().with_inline_limit(4).with_part_size(10);
    let bench = bench_with(settings);
    for size in [0, 1, 4, 5, 9, 10, 11, 20, 25, 100] {
        let document = bench.document(&format!("size-{size}"));
        let bytes: Vec<u8> = (0..size).map(|n| b'a' + (n % 26) as u8).collect();
        for piece in [1, 3, 10, 64] {
            let mut upload = document.upload();
            for piece in bytes.chunks(piece) {
                upload.push(piece.to_vec()).await.unwrap();
            }
            let content = upload.finish().await.unwrap();
            let options = WriteOptions::default().same(Same::Never);
            let WriteOutcome::Written(version) = document.write(&content, &options).await.unwrap() else {
                panic!()
            };
            assert_eq!((version.size, version.sha256), (size, groundstate_versioned::Sha256::of(&bytes)));
            let mut reader = document.read().await.unwrap().unwrap();
            let mut read = Vec::new();
            while let Some(part) = reader.next_part().await.unwrap() {
                assert!(part.len() <= 10);
                read.extend_from_slice(&part);
            }
            assert_eq!(read, bytes, "{size} bytes in pieces of {piece}");
        }
    }
}

#[tokio::test]
async fn a_lock_keeps_others_from_writing_deleting_and_restoring() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    document.lock(&NewLock::new("a")).await.unwrap();
    let content = document.content("2").await.unwrap();
    let (bare, other) = (WriteOptions::default(), WriteOptions::default().lock("b"));
    assert!(
        matches!(document.write(&content, &bare).await.unwrap(), WriteOutcome::Held(lock) if lock.id == "a")
    );
    assert!(matches!(document.delete(&bare).await.unwrap(), WriteOutcome::Held(_)));
    assert!(matches!(document.restore(1, &bare).await.unwrap(), WriteOutcome::Held(_)));
    assert!(matches!(document.write(&content, &other).await.unwrap(), WriteOutcome::Lost(_)));
    assert!(matches!(document.delete(&other).await.unwrap(), WriteOutcome::Lost(_)));
    assert_eq!(text(&document).await.unwrap(), "1");
    assert_eq!(written(&document, "2", &WriteOptions::default().lock("a")).await.number, 2);
}

#[tokio::test]
async fn a_write_that_is_repeated_under_its_lock_makes_no_second_version() {
    let bench = bench();
    let document = bench.document("prod");
    document.lock(&NewLock::new("a")).await.unwrap();
    let options = WriteOptions::default().lock("a");
    let first = written(&document, "1", &options).await;
    let content = document.content("1").await.unwrap();
    let again = document.write(&content, &options).await.unwrap();
    assert!(matches!(again, WriteOutcome::Unchanged(Some(version)) if version.id == first.id));
    let forced = document.write(&content, &options.clone().same(Same::Never)).await.unwrap();
    assert!(matches!(forced, WriteOutcome::Written(version) if version.number == 2));

    document.unlock("a").await.unwrap();
    document.lock(&NewLock::new("b")).await.unwrap();
    let other = document.write(&content, &WriteOptions::default().lock("b")).await.unwrap();
    assert!(matches!(other, WriteOutcome::Written(version) if version.number == 3));
    document.unlock("b").await.unwrap();
    let always = WriteOptions::default().same(Same::Always);
    assert!(matches!(document.write(&content, &always).await.unwrap(), WriteOutcome::Unchanged(_)));
}

#[tokio::test]
async fn a_writer_that_expects_another_version_is_told_which_is_there() {
    let bench = bench();
    let document = bench.document("prod");
    let content = document.content("x").await.unwrap();
    let expecting = |expect| WriteOptions::default().expect(expect);
    let early = document.write(&content, &expecting(Expect::Number(1))).await.unwrap();
    assert!(matches!(early, WriteOutcome::Conflict(None)));
    written(&document, "1", &expecting(Expect::Absent)).await;
    let late = document.write(&content, &expecting(Expect::Absent)).await.unwrap();
    assert!(matches!(late, WriteOutcome::Conflict(Some(version)) if version.number == 1));
    written(&document, "2", &expecting(Expect::Number(1))).await;
    let late = document.write(&content, &expecting(Expect::Number(1))).await.unwrap();
    assert!(matches!(late, WriteOutcome::Conflict(Some(version)) if version.number == 2));
}

#[tokio::test]
async fn a_deleted_document_is_absent_keeps_its_history_and_can_be_written_again() {
    let bench = bench();
    let document = bench.document("prod");
    let bare = WriteOptions::default();
    assert!(matches!(document.delete(&bare).await.unwrap(), WriteOutcome::Unchanged(None)));
    write(&document, "1").await;
    assert!(
        matches!(document.delete(&bare).await.unwrap(), WriteOutcome::Written(version) if version.deleted)
    );
    assert!(
        matches!(document.delete(&bare).await.unwrap(), WriteOutcome::Unchanged(Some(version)) if version.number == 2)
    );
    assert_eq!(text(&document).await, None);
    let error = document.restore(2, &bare).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let WriteOutcome::Written(restored) = document.restore(1, &bare).await.unwrap() else { panic!() };
    assert_eq!((restored.number, restored.restored), (3, Some(1)));
    assert_eq!(text(&document).await.unwrap(), "1");
}

#[tokio::test]
async fn documents_do_not_take_contents_of_each_other() {
    let bench = bench();
    let content = bench.document("a").content("x").await.unwrap();
    let error = bench.document("b").write(&content, &WriteOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(
        error.to_string(),
        "cannot write b in memory://tests: the content was uploaded for another document"
    );
    let name = Name::parse("b").unwrap();
    assert!(bench.documents.document(&name).read().await.unwrap().is_none());
}
