//! Updates that are journaled, and killed at any request.

use std::sync::Arc;
use std::time::Duration;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::pulumi_snapshot::{Resource, Urn};
use groundstate_pulumi_diy::stackmgr::pulumi_journal::{Base, State, Step, StepKind};
use groundstate_pulumi_diy::stackmgr::{self, FullSnapshotManager, JournalManager, SnapshotManager};
use groundstate_pulumi_diy::{CheckpointSink, ErrorKind, JournalOptions, Stack, Unguarded};

use crate::support::{Bucket, document, stack};

fn options() -> JournalOptions {
    JournalOptions::new("ann@host", "v3.259.0", "mytool up").interval(Duration::from_secs(10))
}

async fn saved(bucket: &Bucket) -> Stack {
    let stack = bucket.open().await.stack(&stack("s"));
    stack.writer(Arc::new(Unguarded)).save(document("base").into()).await.unwrap();
    stack
}

/// Creates resources until a request fails. Gives the names of those whose creation was acknowledged.
async fn update(stack: &Stack, bucket: &Bucket) -> (Vec<String>, bool) {
    let mut done = Vec::new();
    let Ok(journal) = stack.journal(Arc::new(Unguarded), options()).await else { return (done, false) };
    let base = Base::new(journal.base().snapshot.clone().unwrap());
    let settings = stackmgr::Options::new(bucket.time(), "v3.259.0", "mytool up");
    let manager = JournalManager::new(&base, journal, settings);
    for number in 0..6 {
        bucket.clock.advance(Duration::from_secs(4));
        let name = format!("r{number}");
        let state = State::new(Resource::new(Urn::build("s", "p", "", "a:b:C", &name), "a:b:C"));
        let Ok(running) = manager.begin(Step::new(StepKind::Create, None, Some(&state))).await else {
            return (done, false);
        };
        state.change(|resource| resource.id = None);
        if manager.end(running, true).await.is_err() {
            return (done, false);
        }
        done.push(name);
    }
    let closed = manager.close().await.is_ok();
    (done, closed)
}

/// The names in the checkpoint, which has to be one that `pulumi` reads.
async fn names(stack: &Stack) -> Vec<String> {
    let file = stack.read().await.unwrap().unwrap().decode().unwrap();
    let name = |resource: &Resource| resource.urn.as_str().rsplit("::").next().unwrap().to_owned();
    file.snapshot.unwrap().resources.iter().map(|resource| name(resource)).collect()
}

#[tokio::test]
async fn an_update_ends_with_a_checkpoint_and_without_a_journal() {
    for bucket in Bucket::both() {
        let stack = saved(&bucket).await;
        let (done, closed) = update(&stack, &bucket).await;
        assert!(closed && done.len() == 6);
        let found = names(&stack).await;
        assert!(done.iter().all(|name| found.contains(name)), "{found:?}");
        assert_eq!(bucket.text(".pulumi/stacks/p/s.json.bak").await, Some(document("base")));
        assert!(stack.recover(Arc::new(Unguarded), &options()).await.unwrap().is_none());
        let (_, closed) = update(&stack, &bucket).await;
        assert!(closed, "a journal that is over is no obstacle");
    }
}

#[tokio::test]
async fn a_kill_or_a_lost_answer_at_any_request_loses_nothing_that_was_acknowledged() {
    for fault in [Fault::Down, Fault::LoseAnswer, Fault::LoseRequest] {
        for request in 0.. {
            let memory = Bucket::memory();
            let inner = MemoryBlobs::with_clock("bucket", memory.time());
            let blobs = FaultyBlobs::new(inner.clone());
            let bucket = memory.through(Arc::new(blobs.clone()));
            let sound = memory.through(Arc::new(inner));
            let stack_of_tool = saved(&bucket).await;
            blobs.fail_at(request, fault);
            let (done, closed) = update(&stack_of_tool, &bucket).await;
            let made = blobs.calls().len();

            let what = format!("{fault:?} at {request}");
            let stack = sound.open().await.stack(&stack("s"));
            assert!(names(&stack).await.len() >= 2, "{what}: the checkpoint is one that pulumi reads");
            let recovered = stack.recover(Arc::new(Unguarded), &options()).await.unwrap();
            let after = names(&stack).await;
            assert!(done.iter().all(|name| after.contains(name)), "{what}: {done:?} {after:?} {recovered:?}");
            assert!(stack.recover(Arc::new(Unguarded), &options()).await.unwrap().is_none(), "{what}");
            assert!(!stack.has_journal().await.unwrap(), "{what}");
            assert!(update(&stack, &sound).await.1, "{what}: the next update succeeds");
            if made <= request {
                assert!(closed && request > 20, "{what}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_kill_of_the_recovery_is_recovered_too() {
    for request in 0.. {
        let memory = Bucket::memory();
        let inner = MemoryBlobs::with_clock("bucket", memory.time());
        let blobs = FaultyBlobs::new(inner.clone());
        let bucket = memory.through(Arc::new(blobs.clone()));
        let sound = memory.through(Arc::new(inner));
        let killed = saved(&bucket).await;
        blobs.fail_at(25, Fault::Down);
        let (done, _) = update(&killed, &bucket).await;
        assert!(!done.is_empty());
        blobs.fail_at(request, Fault::Down);
        let recovered = killed.recover(Arc::new(Unguarded), &options()).await;

        let stack = sound.open().await.stack(&stack("s"));
        stack.recover(Arc::new(Unguarded), &options()).await.unwrap();
        let after = names(&stack).await;
        assert!(done.iter().all(|name| after.contains(name)), "{request}: {done:?} {after:?}");
        if recovered.is_ok() {
            assert!(request > 3, "{request}");
            break;
        }
    }
}

#[tokio::test]
async fn a_journal_is_not_put_on_the_work_of_another_program() {
    let memory = Bucket::memory();
    let blobs = FaultyBlobs::new(MemoryBlobs::with_clock("bucket", memory.time()));
    let bucket = memory.through(Arc::new(blobs.clone()));
    let stack = saved(&bucket).await;
    blobs.fail_at(25, Fault::Down);
    assert!(!update(&stack, &bucket).await.1);
    blobs.fail_at(usize::MAX, Fault::Down);
    let ours = stack.writer(Arc::new(Unguarded)).save(document("ours").into()).await;
    assert_eq!(ours.unwrap_err().kind(), ErrorKind::Changed, "it would bury what the journal has");
    bucket.put(".pulumi/stacks/p/s.json", document("other")).await;
    let error = stack.recover(Arc::new(Unguarded), &options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    assert!(!update(&stack, &bucket).await.1, "no update begins before the journal is dealt with");
    assert_eq!(bucket.text(".pulumi/stacks/p/s.json").await, Some(document("other")));
    stack.discard_journal(&Unguarded, &options()).await.unwrap();
    assert!(update(&stack, &bucket).await.1);
}

#[tokio::test]
async fn a_manager_of_snapshots_saves_checkpoints() {
    for bucket in Bucket::both() {
        let stack = saved(&bucket).await;
        let base = stack.read().await.unwrap().unwrap().decode().unwrap();
        let sink = CheckpointSink::new(stack.writer(Arc::new(Unguarded)));
        let settings = stackmgr::Options::new(bucket.time(), "v3.259.0", "mytool up");
        let manager = FullSnapshotManager::new(Base::new(base.snapshot.unwrap()), sink, settings);
        let state = State::new(Resource::new(Urn::build("s", "p", "", "a:b:C", "new"), "a:b:C"));
        let running = manager.begin(Step::new(StepKind::Create, None, Some(&state))).await.unwrap();
        manager.end(running, true).await.unwrap();
        manager.close().await.unwrap();
        assert!(names(&stack).await.contains(&"new".to_owned()));
        let text = bucket.text(".pulumi/stacks/p/s.json").await.unwrap();
        assert!(
            text.starts_with(r#"{"version":3,"checkpoint":{"stack":"organization/p/s","latest":{"#),
            "{text}"
        );
        assert_eq!(bucket.text(".pulumi/stacks/p/s.json.bak").await, Some(document("base")));
    }
}

#[tokio::test]
async fn a_journal_that_is_damaged_everywhere_is_discarded() {
    for bucket in Bucket::both() {
        let killed = saved(&bucket).await;
        let journal = killed.journal(Arc::new(Unguarded), options()).await.unwrap();
        drop(journal);
        let before = names(&killed).await;
        for name in bucket.names().await {
            if name.contains("/journals/") {
                bucket.put(&name, "damaged").await;
            }
        }
        let error = killed.recover(Arc::new(Unguarded), &options()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(killed.journaled(&options()).await.unwrap_err().kind(), ErrorKind::Corrupt);
        killed.discard_journal(&Unguarded, &options()).await.unwrap();
        assert!(!killed.has_journal().await.unwrap());
        assert_eq!(names(&killed).await, before);
        assert!(update(&killed, &bucket).await.1, "the next update succeeds");
    }
}

#[tokio::test]
async fn the_state_that_a_journal_leads_to_is_known_without_a_write() {
    let memory = Bucket::memory();
    let blobs = FaultyBlobs::new(MemoryBlobs::with_clock("bucket", memory.time()));
    let bucket = memory.through(Arc::new(blobs.clone()));
    let killed = saved(&bucket).await;
    blobs.fail_at(25, Fault::Down);
    let (done, _) = update(&killed, &bucket).await;
    let sound = memory.through(Arc::new(blobs.inner().clone()));
    let stack = sound.open().await.stack(&stack("s"));
    let before = sound.names().await;
    let journaled = stack.journaled(&options()).await.unwrap().unwrap();
    assert!(journaled.entries >= done.len() && !done.is_empty());
    let text = String::from_utf8(journaled.document.to_vec()).unwrap();
    assert!(done.iter().all(|name| text.contains(&format!("::{name}\""))), "{text}");
    assert_eq!(sound.names().await, before);
    stack.recover(Arc::new(Unguarded), &options()).await.unwrap();
    assert!(stack.journaled(&options()).await.unwrap().is_none());
}
