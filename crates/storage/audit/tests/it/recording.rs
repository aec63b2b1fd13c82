//! What the handle promises.

use std::sync::Arc;
use std::time::Duration;

use groundstate_audit::{AuditLog, ErrorKind, Event, Location, Outcome, Reader};
use groundstate_blobs::{BlobStore, MemoryBlobs};
use groundstate_conformance::{Fault, FaultyBlobs};

use crate::support::{Outcomes, context, event, location, memory, names, open, read, record, verified};

#[tokio::test]
async fn an_entry_is_durable_when_record_returns() -> Outcomes {
    let store = memory();
    let (log, recorder) = AuditLog::open(location(&store), "node-1", context())?;
    let running = tokio::spawn(recorder.batches_only().run());
    log.record(event(1)).await?;
    running.abort();
    let batches = names(&store, "audit/batches/").await;
    assert_eq!(batches.len(), 1);
    assert!(read(&store, &batches[0]).await.contains("web/state-1"));
    let report = verified(&store).await;
    assert!(report.is_intact(), "{:?}", report.findings);
    assert_eq!((report.entries, report.waiting), (0, 1));
    Ok(())
}

#[tokio::test]
async fn events_that_wait_at_the_same_time_share_a_batch() -> Outcomes {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("tests"));
    let store: Arc<dyn BlobStore> = Arc::new(faulty.clone());
    let (log, recorder) = open(&store, "node-1");
    let mut tasks = Vec::new();
    for number in 0..200 {
        let log = log.clone();
        tasks.push(tokio::spawn(async move {
            log.record(event(number)).await.map_err(|error| error.to_string())
        }));
    }
    // All of them wait before the recorder begins.
    while tasks.iter().any(|task| !task.is_finished()) && log.check().is_ok() {
        tokio::task::yield_now().await;
        if names(&store, "audit/").await.is_empty() {
            break;
        }
    }
    faulty.calls();
    drop(log);
    recorder.run().await;
    for task in tasks {
        task.await??;
    }
    let puts = faulty.calls().into_iter().filter(|call| *call == "put").count();
    assert!(puts < 100, "{puts} writes for 200 entries");
    let report = verified(&store).await;
    assert!(report.is_intact(), "{:?}", report.findings);
    assert_eq!((report.entries, report.waiting), (200, 0));
    Ok(())
}

#[tokio::test]
async fn the_newest_records_are_read_in_the_order_of_their_numbers_whether_they_are_chained_or_not()
-> Outcomes {
    let store = memory();
    record(&store, "node-1", 12).await;
    let (log, recorder) = AuditLog::open(location(&store), "node-2", context())?;
    let running = tokio::spawn(recorder.batches_only().run());
    log.record(event(13)).await?;
    running.abort();
    let reader = Reader::new(location(&store));
    let found = reader.newest(4, &|_| true).await?.records;
    let shown: Vec<_> = found.iter().map(|(number, record)| (*number, record.object.as_str())).collect();
    let expected = [(Some(10), "web/state-10"), (Some(11), "web/state-11"), (Some(12), "web/state-12")];
    assert_eq!(shown, [&expected[..], &[(None, "web/state-13")]].concat());
    let wanted =
        reader.newest(100, &|record| record.node == "node-1" && record.object.ends_with('2')).await?;
    assert_eq!(wanted.unreadable, 0);
    let numbers: Vec<_> = wanted.records.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [Some(2), Some(12)]);
    Ok(())
}

#[tokio::test]
async fn while_the_store_fails_changes_are_refused_and_their_entries_follow() -> Outcomes {
    let faulty = FaultyBlobs::new(MemoryBlobs::new("tests"));
    let store: Arc<dyn BlobStore> = Arc::new(faulty.clone());
    let (log, recorder) = open(&store, "node-1");
    let running = tokio::spawn(recorder.run());
    log.record(event(1)).await?;
    faulty.deny(&["put"]);
    assert_eq!(log.record(event(2)).await.unwrap_err().kind(), ErrorKind::Denied);
    // Known to fail, so nothing waits.
    assert_eq!(log.check().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(log.record(event(3)).await.unwrap_err().kind(), ErrorKind::Unavailable);
    faulty.deny(&[]);
    while log.check().is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    log.record(event(4)).await?;
    drop(log);
    running.await?;
    let report = verified(&store).await;
    assert!(report.is_intact(), "{:?}", report.findings);
    let found = Reader::new(location(&store)).newest(10, &|_| true).await?.records;
    let objects: Vec<_> = found.iter().map(|(_, record)| record.object.as_str()).collect();
    assert_eq!(objects, ["web/state-1", "web/state-2", "web/state-3", "web/state-4"]);
    Ok(())
}

#[tokio::test]
async fn a_lost_answer_leaves_one_entry() -> Outcomes {
    for fault in [Fault::LoseAnswer, Fault::LoseRequest, Fault::Refuse] {
        let faulty = FaultyBlobs::new(MemoryBlobs::new("tests"));
        let store: Arc<dyn BlobStore> = Arc::new(faulty.clone());
        let (log, recorder) = open(&store, "node-1");
        faulty.fail_puts(&[fault]);
        let work = async move {
            let first = log.record(event(1)).await;
            assert_eq!(first.is_ok(), fault == Fault::LoseAnswer, "{fault:?}");
            while log.check().is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            log.record(event(2)).await
        };
        let (second, ()) = tokio::join!(work, recorder.run());
        second?;
        let report = verified(&store).await;
        assert!(report.is_intact(), "{fault:?}: {:?}", report.findings);
        assert_eq!(report.entries, 2, "{fault:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_wait_is_counted_in_an_entry() -> Outcomes {
    let store = memory();
    let (log, recorder) = open(&store, "node-1");
    (0..5000).for_each(|number| log.note(event(number)));
    drop(log);
    recorder.run().await;
    let lost =
        Reader::new(location(&store)).newest(10, &|record| record.action == "audit.lose").await?.records;
    assert_eq!(lost.len(), 1);
    assert_eq!((lost[0].1.object.as_str(), lost[0].1.outcome), ("904 entries", Outcome::Failed));
    assert_eq!(verified(&store).await.entries, 5000 - 904 + 1);
    Ok(())
}

#[tokio::test]
async fn no_token_reaches_the_store() -> Outcomes {
    let store = memory();
    let (log, recorder) = open(&store, "node-1");
    let secret = "gs_0123456789abcdefghijABCDEFGHIJ";
    let work = async move {
        let event = Event::new(secret, "auth.fail", format!("/{secret}"), Outcome::Denied);
        log.record(event.request(secret).remote(secret).reason(format!("x {secret} y"))).await
    };
    let (recorded, ()) = tokio::join!(work, recorder.run());
    recorded?;
    for name in names(&store, "").await {
        assert!(!read(&store, &name).await.contains("0123456789"), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_recorder_that_is_gone_is_an_error() -> Outcomes {
    let (log, recorder) = open(&memory(), "node-1");
    drop(recorder);
    assert_eq!(log.record(event(1)).await.unwrap_err().kind(), ErrorKind::Closed);
    Ok(())
}

#[test]
fn a_log_of_the_example_has_the_place_in_its_errors() {
    let location = Location::new(memory(), "audit/").unwrap();
    assert_eq!(location.to_string(), "the audit log memory://tests/audit/");
}
