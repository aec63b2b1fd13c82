//! Journals in stores: what a crash leaves, and who may write.

use std::sync::Arc;

use groundstate_pulumi_deployment::{DeploymentFile, Envelope};
use groundstate_pulumi_journal::{Base, Step, StepKind};
use groundstate_pulumi_snapshot::{Manifest, PropertyMap, Snapshot};
use groundstate_pulumi_stackmgr::{
    Error, FullSnapshotManager, JournalManager, RecoverError, SnapshotManager, StoredJournal, recover,
};
use groundstate_wal::{JournalStore, MemoryJournal, OpenOptions, Record};

use crate::support::{options, resource, run, show, state};

async fn journal(store: &MemoryJournal, base: &Snapshot) -> StoredJournal {
    let file = DeploymentFile::new(Envelope::Deployment, Some(base.clone()));
    StoredJournal::begin(store, &OpenOptions::new("ann@host").take_over(true), &file).await.unwrap()
}

#[tokio::test]
async fn every_step_that_was_told_is_there_after_a_crash() {
    let store = MemoryJournal::new("dev");
    let snapshot = Snapshot::new([resource("A", &[]), resource("B", &["A"])]);
    let (first, second) = (Base::new(snapshot.clone()), Base::new(snapshot.clone()));
    let sink = Arc::new(groundstate_pulumi_stackmgr::MemorySnapshots::default());
    let whole = FullSnapshotManager::new(first.clone(), sink, options());
    let manager = JournalManager::new(&second, journal(&store, &snapshot).await, options());
    for (manager, base) in [(&whole as &dyn SnapshotManager, &first), (&manager, &second)] {
        let new = state("N", &[]);
        new.change(|resource| resource.inputs = PropertyMap::from_iter([("a", "b")]).into());
        run(manager, Step::new(StepKind::Create, None, Some(&new))).await.unwrap();
        run(manager, Step::new(StepKind::Delete, Some(&base.states[1]), None)).await.unwrap();
        let left = manager.begin(Step::new(StepKind::Delete, Some(&base.states[0]), None)).await.unwrap();
        drop(left);
    }
    drop(manager);
    let left = recover(&store).await.unwrap().unwrap();
    let replayed = left.replay(Manifest::default()).unwrap().snapshot;
    assert_eq!(show(&replayed), "N A +deleting A");
    assert_eq!(show(&replayed), show(&whole.snapshot().await.unwrap()));
}

#[tokio::test]
async fn a_writer_that_was_replaced_stores_nothing_more() {
    let store = MemoryJournal::new("dev");
    let old = JournalManager::new(&Base::default(), journal(&store, &Snapshot::default()).await, options());
    let new = JournalManager::new(&Base::default(), journal(&store, &Snapshot::default()).await, options());
    let refused = old.begin(Step::new(StepKind::Create, None, Some(&state("A", &[])))).await.unwrap_err();
    assert!(matches!(refused, Error::Append(_)), "{refused}");
    run(&new, Step::new(StepKind::Create, None, Some(&state("B", &[])))).await.unwrap();
    let left = recover(&store).await.unwrap().unwrap();
    assert_eq!(show(&left.replay(Manifest::default()).unwrap().snapshot), "B");
}

#[tokio::test]
async fn nothing_is_left_where_no_journal_was_begun_and_strange_records_are_errors() {
    let store = MemoryJournal::new("dev");
    assert!(recover(&store).await.unwrap().is_none());
    let writer = store.open(&OpenOptions::new("bob@host")).await.unwrap();
    writer.begin(&Record::from(&b"{}"[..])).await.unwrap();
    assert!(matches!(recover(&store).await, Err(RecoverError::Base(_))));
    let base = br#"{"version":3,"deployment":{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}}"#;
    writer.begin(&Record::from(&base[..])).await.unwrap();
    writer.append(&[Record::from(&b"7"[..])]).await.unwrap();
    let error = recover(&store).await.unwrap_err();
    assert_eq!(error.to_string(), "record 0 of the journal is not an entry");
}
