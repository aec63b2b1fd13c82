//! A process that is killed between any two steps leaves a log that the next one goes on with.

use std::sync::Arc;
use std::time::Duration;

use groundstate_audit::{AuditLog, Reader};
use groundstate_blobs::{BlobStore, MemoryBlobs};
use groundstate_conformance::{Fault, FaultyBlobs};

use crate::support::{Outcomes, context, event, location, open, record, verified};

/// Records until the call of this number, after which the process does nothing any more, and gives how many entries it was told are
/// durable.
async fn killed_at(store: &FaultyBlobs, call: usize, fault: Fault) -> u64 {
    let shared: Arc<dyn BlobStore> = Arc::new(store.clone());
    let (log, recorder) = open(&shared, "killed");
    store.fail_at(call, fault);
    let mut durable = 0;
    let work = async {
        for number in 1..=6 {
            match log.record(event(number)).await {
                Ok(()) => durable += 1,
                Err(_) => return,
            }
            // So that chaining comes between.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = work => {}
        () = recorder.interval(Duration::ZERO).run() => {}
        () = tokio::time::sleep(Duration::from_millis(40)) => {}
    }
    // Nothing plans any more.
    store.fail_at(usize::MAX, Fault::Down);
    durable
}

#[tokio::test]
async fn the_next_process_goes_on_after_a_kill_between_any_two_steps() -> Outcomes {
    for fault in [Fault::Down, Fault::NeverAnswer] {
        for call in 0..40 {
            let blobs = FaultyBlobs::new(MemoryBlobs::new("tests"));
            let store: Arc<dyn BlobStore> = Arc::new(blobs.inner().clone());
            record(&store, "before", 2).await;
            let durable = killed_at(&blobs, call, fault).await;
            let at = format!("{fault:?} at call {call}");
            let report = verified(&store).await;
            assert!(report.is_intact(), "{at}: {:?}", report.findings);
            record(&store, "after", 1).await;
            let report = verified(&store).await;
            assert!(report.is_intact(), "{at}, after: {:?}", report.findings);
            assert_eq!(report.waiting, 0, "{at}");
            let found =
                Reader::new(location(&store)).newest(100, &|record| record.node == "killed").await?.records;
            let objects: Vec<_> = found.iter().map(|(_, record)| record.object.clone()).collect();
            let expected: Vec<_> = (1..=found.len()).map(|number| format!("web/state-{number}")).collect();
            assert_eq!(objects, expected, "{at}");
            assert!(found.len() as u64 >= durable, "{at}: {durable} were durable, {} are there", found.len());
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_program_that_ends_while_the_store_fails_ends() -> Outcomes {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("tests"));
    let store: Arc<dyn BlobStore> = Arc::new(blobs.clone());
    let (log, recorder) = AuditLog::open(location(&store), "node-1", context())?;
    blobs.deny(&["put"]);
    let work = async move { log.record(event(1)).await };
    let (recorded, ()) = tokio::join!(work, recorder.run());
    assert!(recorded.is_err());
    Ok(())
}
