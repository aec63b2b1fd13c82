//! Requests that fail, get lost or are never answered, and how many there are.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, ListOptions, MemoryBlobs};
use groundstate_common::SequenceIds;
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::{ErrorKind, JournalStore, JournalWriter, OpenOptions, Record, read_all};

fn record(text: &str) -> Record {
    Record::from(text.as_bytes())
}

async fn begun(faulty: &FaultyBlobs) -> (BlobJournal, Arc<dyn JournalWriter>) {
    let ids = Arc::new(SequenceIds::new());
    let journal = BlobJournal::new(Arc::new(faulty.clone()), "j/", ids).unwrap();
    let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
    writer.begin(&record("base")).await.unwrap();
    faulty.calls();
    (journal, writer)
}

async fn texts(journal: &BlobJournal) -> Vec<String> {
    let records = read_all(journal).await.unwrap().unwrap().records;
    records.iter().map(|record| String::from_utf8(record.as_bytes().to_vec()).unwrap()).collect()
}

#[tokio::test]
async fn a_batch_is_two_requests_and_recovery_few() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, writer) = begun(&faulty).await;
    for at in 0..40 {
        writer.append(&[record(&at.to_string())]).await.unwrap();
    }
    assert_eq!(faulty.calls(), ["put", "get"].repeat(40));
    assert_eq!(texts(&journal).await.len(), 40);
    let calls = faulty.calls();
    assert!(calls.len() < 60, "{} requests for 40 objects", calls.len());
}

#[tokio::test]
async fn a_batch_of_a_journal_that_is_begun_once_is_one_request() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let journal = BlobJournal::new(Arc::new(faulty.clone()), "j/", Arc::new(SequenceIds::new())).unwrap();
    let writer = journal.open(&OpenOptions::new("ann").single_epoch(true)).await.unwrap();
    writer.begin(&record("base")).await.unwrap();
    faulty.calls();
    for at in 0..10 {
        writer.append(&[record(&at.to_string())]).await.unwrap();
    }
    assert_eq!(faulty.calls(), ["put"].repeat(10));
    assert_eq!(texts(&journal).await.len(), 10);
}

#[tokio::test]
async fn batches_that_wait_share_an_object() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, writer) = begun(&faulty).await;
    let first = record("first");
    let others: Vec<Record> = (0..20).map(|at| record(&at.to_string())).collect();
    faulty.fail_puts(&[Fault::NeverAnswer]);
    let mut slow = writer.append(std::slice::from_ref(&first));
    std::future::poll_fn(|context| {
        // Once to let others in, and once to send.
        assert!(slow.as_mut().poll(context).is_pending());
        assert!(slow.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    let mut waiting: Vec<_> = others.iter().map(|other| writer.append(std::slice::from_ref(other))).collect();
    std::future::poll_fn(|context| {
        assert!(waiting.iter_mut().all(|one| one.as_mut().poll(context).is_pending()));
        std::task::Poll::Ready(())
    })
    .await;
    faulty.calls();
    // The sender gives up; the next one finds out what became of that, and sends the rest as one.
    drop(slow);
    for (at, one) in waiting.into_iter().enumerate() {
        assert_eq!(one.await.unwrap().first.get(), at as u64 + 1);
    }
    assert_eq!(faulty.calls(), ["put", "get", "get", "put", "get"]);
    assert_eq!(texts(&journal).await.len(), 21);
}

#[tokio::test]
async fn a_batch_that_its_caller_gives_up_before_its_turn_is_not_sent() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, writer) = begun(&faulty).await;
    let [first, second, third] = ["first", "second", "third"].map(record);
    faulty.fail_puts(&[Fault::NeverAnswer]);
    let mut slow = writer.append(std::slice::from_ref(&first));
    let mut waiting = writer.append(std::slice::from_ref(&second));
    std::future::poll_fn(|context| {
        assert!(slow.as_mut().poll(context).is_pending());
        assert!(slow.as_mut().poll(context).is_pending());
        assert!(waiting.as_mut().poll(context).is_pending());
        assert!(waiting.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop((waiting, slow));
    assert_eq!(writer.append(std::slice::from_ref(&third)).await.unwrap().first.get(), 1);
    assert_eq!(texts(&journal).await, ["first", "third"]);
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_looking() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, writer) = begun(&faulty).await;
    faulty.fail_puts(&[Fault::LoseAnswer]);
    assert_eq!(writer.append(&[record("one")]).await.unwrap().first.get(), 0);
    assert_eq!(faulty.calls(), ["put", "get", "get"]);
    writer.append(&[record("two")]).await.unwrap();
    assert_eq!(texts(&journal).await, ["one", "two"]);
}

#[tokio::test]
async fn a_request_that_got_lost_is_ambiguous_and_comes_first_next_time() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, writer) = begun(&faulty).await;
    faulty.fail_puts(&[Fault::LoseRequest]);
    let error = writer.append(&[record("maybe")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous);
    assert_eq!(texts(&journal).await, [""; 0]);
    assert_eq!(writer.append(&[record("sure")]).await.unwrap().first.get(), 1);
    assert_eq!(texts(&journal).await, ["maybe", "sure"]);
}

#[tokio::test]
async fn opening_is_ambiguous_when_its_request_got_lost_and_not_when_its_answer_did() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, _) = begun(&faulty).await;
    faulty.fail_puts(&[Fault::LoseRequest]);
    let error = journal.open(&OpenOptions::new("bob")).await.unwrap_err();
    assert_eq!(
        (error.kind(), faulty.calls()),
        (ErrorKind::Ambiguous, vec!["list", "get", "get", "put", "get"])
    );
    faulty.fail_puts(&[Fault::LoseAnswer]);
    let writer = journal.open(&OpenOptions::new("bob")).await.unwrap();
    assert_eq!(faulty.calls(), ["list", "get", "get", "put", "get", "get"], "it is not made again");
    writer.append(&[record("one")]).await.unwrap();
    faulty.fail_puts(&[Fault::Refuse]);
    let error = journal.open(&OpenOptions::new("carol")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    writer.append(&[record("two")]).await.unwrap();
    assert_eq!(texts(&journal).await, ["one", "two"]);
}

#[tokio::test]
async fn a_refused_request_leaves_nothing_and_the_writer_goes_on() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, writer) = begun(&faulty).await;
    for fault in [Fault::Refuse, Fault::Refuse] {
        faulty.fail_puts(&[fault]);
        let error = writer.append(&[record("never")]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
    writer.append(&[record("one")]).await.unwrap();
    faulty.fail_puts(&[Fault::Refuse]);
    assert_eq!(writer.begin(&record("another")).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(texts(&journal).await, ["one"]);
}

#[tokio::test]
async fn what_is_over_is_swept_up_with_its_takeovers() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, _) = begun(&faulty).await;
    for round in 0..30 {
        let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
        writer.begin(&record(&format!("base {round}"))).await.unwrap();
        writer.append(&[record("x")]).await.unwrap();
        writer.clear().await.unwrap();
        writer.close().await.unwrap();
    }
    let listed = faulty.inner().list("j/", &ListOptions::default()).await.unwrap();
    assert!(listed.blobs.len() <= 2, "{} objects are left", listed.blobs.len());
    assert!(journal.head().await.unwrap().is_none());
}

#[tokio::test]
async fn a_writer_that_wakes_up_after_the_epoch_is_over_is_fenced() {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let (journal, sleeper) = begun(&faulty).await;
    for round in 0..40 {
        let writer = journal.open(&OpenOptions::new("bob")).await.unwrap();
        writer.begin(&record(&format!("base {round}"))).await.unwrap();
        writer.append(&[record("x")]).await.unwrap();
        writer.clear().await.unwrap();
    }
    let error = sleeper.append(&[record("late")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced);
    assert!(journal.head().await.unwrap().is_none());
}

#[tokio::test]
async fn a_prefix_that_no_key_can_have_is_refused() {
    let faulty = Arc::new(FaultyBlobs::new(MemoryBlobs::new("bucket")));
    let ids = Arc::new(SequenceIds::new());
    let refused = BlobJournal::new(faulty, "/a//../\u{0}", ids);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}
