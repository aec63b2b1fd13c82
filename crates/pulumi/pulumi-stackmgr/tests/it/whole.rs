//! What is written when a snapshot is broken, or cannot be stored.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use groundstate_pulumi_journal::{Base, Step, StepKind};
use groundstate_pulumi_snapshot::Snapshot;
use groundstate_pulumi_stackmgr::{Error, FullSnapshotManager, MemorySnapshots, SnapshotManager};

use crate::support::{Outage, Told, managers, options, resource, run, show, state};

const DANGLING: &str =
    "resource urn:pulumi:s::p::t:t:t::B's dependency urn:pulumi:s::p::t:t:t::A refers to missing resource";

#[tokio::test]
async fn a_broken_snapshot_is_saved_with_its_error_and_refused() {
    for (name, _, manager, sink) in managers(&[], &options()) {
        let error =
            run(&*manager, Step::new(StepKind::Create, None, Some(&state("B", &["A"])))).await.unwrap_err();
        assert_eq!(error.to_string(), format!("failed to verify snapshot: {DANGLING}"), "{name}");
        assert!(error.integrity().is_some_and(|error| error.repair.is_none()));
        let file = sink.saved().pop().unwrap();
        let recorded = file.snapshot.unwrap().metadata.integrity_error.unwrap();
        assert_eq!((&*recorded.error, &*recorded.command, &*recorded.version), (DANGLING, "tool up", "3"));
    }
}

#[tokio::test]
async fn without_the_check_a_broken_snapshot_is_saved_with_its_error_recorded() {
    for (name, _, manager, sink) in managers(&[], &options().check_integrity(false)) {
        run(&*manager, Step::new(StepKind::Create, None, Some(&state("B", &["A"])))).await.unwrap();
        let file = sink.saved().pop().unwrap();
        assert!(file.snapshot.unwrap().metadata.integrity_error.is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_snapshot_that_can_be_repaired_is_saved_repaired() {
    let (told, sink) = (Arc::new(Told::default()), Arc::new(MemorySnapshots::default()));
    let manager = FullSnapshotManager::new(
        Base::default(),
        Arc::clone(&sink),
        options().repair(Arc::<Told>::clone(&told)),
    );
    let mutation = manager.begin(Step::new(StepKind::Create, None, Some(&state("B", &["A"])))).await.unwrap();
    manager.end(mutation, true).await.unwrap();
    let snapshot = sink.saved().pop().unwrap().snapshot.unwrap();
    assert_eq!(show(&snapshot), "B");
    assert!(snapshot.resources[0].dependencies.is_empty() && snapshot.metadata.integrity_error.is_none());
    assert_eq!(*told.0.lock().unwrap(), [format!("snapshot integrity error (auto-repaired): {DANGLING}")]);
}

#[tokio::test]
async fn a_cycle_is_not_repaired_and_is_saved_with_the_error() {
    let (told, sink) = (Arc::new(Told::default()), Arc::new(MemorySnapshots::default()));
    let base = Base::new(Snapshot::new([resource("A", &["B"]), resource("B", &["A"])]));
    let manager =
        FullSnapshotManager::new(base, Arc::clone(&sink), options().repair(Arc::<Told>::clone(&told)));
    let error = manager.close().await.unwrap_err();
    let repair = error.integrity().and_then(|error| error.repair.clone());
    assert_eq!(repair.as_deref(), Some("snapshot has cyclic dependencies"));
    assert!(told.0.lock().unwrap()[0].starts_with("snapshot integrity error (not repaired): "));
    assert!(sink.saved().pop().unwrap().snapshot.unwrap().metadata.integrity_error.is_some());
}

#[tokio::test]
async fn the_error_of_a_save_comes_before_that_of_the_snapshot() {
    let sink = Arc::new(Outage::default());
    let manager = FullSnapshotManager::new(Base::default(), Arc::clone(&sink), options());
    let mutation = manager.begin(Step::new(StepKind::Create, None, Some(&state("B", &["A"])))).await.unwrap();
    sink.fails.store(true, Ordering::SeqCst);
    let error = manager.end(mutation, true).await.unwrap_err();
    assert_eq!(error.to_string(), "failed to save snapshot: disk full");
    // What was told still counts.
    sink.fails.store(false, Ordering::SeqCst);
    assert!(matches!(manager.snippets(Vec::new()).await, Err(Error::Integrity(_))));
}
