//! Removing old segments.

use groundstate_audit::{Checkpoint, Rule, retain, verify};

use crate::support::{Outcomes, delete, event, location, memory, names, open, read, record, verified, write};

async fn retained(
    store: &std::sync::Arc<dyn groundstate_blobs::BlobStore>,
    signed: Checkpoint,
) -> groundstate_audit::Result<groundstate_audit::Removed> {
    let (log, recorder) = open(store, "operator");
    let work = async move {
        let outcome = retain(&log, signed, "user:ana", "older than a year").await;
        drop(log);
        outcome
    };
    tokio::join!(work, recorder.run()).0
}

#[tokio::test]
async fn what_stays_is_verified_from_the_point_that_was_signed_off() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 10).await;
    let early = verified(&store).await.checkpoint;
    record(&store, "node-1", 10).await;
    let before = names(&store, "audit/segments/").await;
    let removed = retained(&store, early).await?;
    assert!(removed.segments > 1);
    assert!(removed.start.count <= early.count && removed.start.count > 0);
    let after = names(&store, "audit/segments/").await;
    assert_eq!(after.first(), before.get(usize::try_from(removed.segments)?));
    let report = verify(&location(&store), Some(early)).await?;
    assert!(report.is_intact(), "{:?}", report.findings);
    assert_eq!((report.start, report.checkpoint.count), (removed.start, 21));
    // It goes on, and a second time removes nothing.
    record(&store, "node-1", 2).await;
    assert_eq!(retained(&store, early).await?.segments, 0);
    assert!(verified(&store).await.is_intact());
    Ok(())
}

#[tokio::test]
async fn a_beginning_that_is_gone_without_an_entry_is_found() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 12).await;
    let segments = names(&store, "audit/segments/").await;
    // As an attacker does who knows the head too.
    let second = read(&store, &segments[1]).await;
    let field = |name: &str| {
        second.split(&format!("\"{name}\":")).nth(1).and_then(|rest| rest.split([',', '}']).next())
    };
    let first: u64 = field("first").ok_or("it has a first entry")?.parse()?;
    let previous = field("previous").ok_or("it has a hash")?.trim_matches('"').to_owned();
    let head = read(&store, "audit/head.json").await;
    let (kept, _) = head.split_once(",\"first_segment\"").ok_or("it has a start")?;
    let forged = groundstate_blobs::sealed::seal(&format!(
        "{kept},\"first_segment\":2,\"start\":{{\"count\":{},\"hash\":\"{previous}\"}}}}",
        first - 1
    ));
    write(&store, "audit/head.json", forged).await;
    delete(&store, &segments[0]).await;
    let report = verified(&store).await;
    assert_eq!(report.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [Rule::Unsigned]);
    Ok(())
}

#[tokio::test]
async fn nothing_is_removed_from_a_log_that_is_not_intact_or_is_another_one() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 12).await;
    let checkpoint = verified(&store).await.checkpoint;
    let other = Checkpoint { hash: Default::default(), ..checkpoint };
    let error = retained(&store, other).await.unwrap_err();
    assert!(error.to_string().contains("not intact, so nothing is removed: rewritten"), "{error}");
    assert!(names(&store, "audit/segments/").await[0].ends_with("1.jsonl"));
    Ok(())
}

#[tokio::test]
async fn removal_that_was_interrupted_leaves_an_intact_log_and_goes_on() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 12).await;
    let checkpoint = verified(&store).await.checkpoint;
    record(&store, "node-1", 2).await;
    let segments = names(&store, "audit/segments/").await;
    let first = read(&store, &segments[0]).await;
    let removed = retained(&store, checkpoint).await?;
    assert!(removed.segments > 0);
    // It was killed before it removed the first one.
    write(&store, &segments[0], first).await;
    assert!(verified(&store).await.is_intact());
    let (log, recorder) = open(&store, "node-2");
    let work = async move { log.record(event(1)).await };
    let (recorded, ()) = tokio::join!(work, recorder.run());
    recorded?;
    assert_eq!(retained(&store, checkpoint).await?.segments, 1);
    assert!(verified(&store).await.is_intact());
    Ok(())
}
