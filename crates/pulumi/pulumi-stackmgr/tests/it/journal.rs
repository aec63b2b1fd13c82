//! How entries reach a journal: in batches, in halves, in order, or not at all.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use groundstate_pulumi_journal::{Base, State, Step, StepKind, replay};
use groundstate_pulumi_snapshot::{Manifest, Snapshot};
use groundstate_pulumi_stackmgr::{Error, JournalManager, SnapshotManager};

use crate::support::{Limited, options, resource, run, show, state};

fn create(state: &State) -> Step {
    Step::new(StepKind::Create, None, Some(state))
}

#[tokio::test]
async fn a_batch_that_is_too_large_is_sent_in_halves() {
    let sink = Limited::new(2);
    let names = ["A", "B", "C", "D", "E"];
    let base = Base::new(Snapshot::new(names.map(|name| resource(name, &[]))));
    let manager = JournalManager::new(&base, Arc::clone(&sink), options());
    // Two steps that need not be written make four entries, and the fifth takes them along.
    for (at, name) in names.iter().enumerate().take(2) {
        run(&manager, Step::new(StepKind::Same, Some(&base.states[at]), Some(&state(name, &[]))))
            .await
            .unwrap();
    }
    let mutation = manager.begin(create(&state("N", &[]))).await.unwrap();
    assert_eq!(*sink.tried.lock().unwrap(), [5, 2, 3, 1, 2]);
    assert_eq!(sink.stored(), [1, 2, 3, 4, 5]);
    manager.end(mutation, true).await.unwrap();
}

#[tokio::test]
async fn one_entry_that_is_too_large_is_lost() {
    let sink = Limited::new(0);
    let manager = JournalManager::new(&Base::default(), Arc::clone(&sink), options());
    let error = manager.begin(create(&state("N", &[]))).await.unwrap_err();
    assert_eq!(error.to_string(), "failed to append to the journal: 413");
}

#[tokio::test]
async fn an_entry_that_depends_on_a_lost_one_is_refused() {
    let sink = Limited::new(100);
    let base = Base::new(Snapshot::new([resource("A", &[])]));
    let manager = JournalManager::new(&base, Arc::clone(&sink), options());
    let same = state("A", &[]);
    run(&manager, Step::new(StepKind::Same, Some(&base.states[0]), Some(&same))).await.unwrap();
    sink.fail.store(true, Ordering::SeqCst);
    let lost = manager.begin(create(&state("N", &[]))).await.unwrap_err();
    assert_eq!(lost.to_string(), "failed to append to the journal: connection reset");
    let error = manager.outputs(None, &same).await.unwrap_err();
    assert_eq!(error.to_string(), "dependent elided entry (operation 1) failed: connection reset");
}

#[tokio::test]
async fn a_closed_journal_takes_no_entries() {
    let manager = JournalManager::new(&Base::default(), Limited::new(9), options());
    manager.close().await.unwrap();
    let error = manager.snippets(Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "journal is already closed");
}

#[tokio::test]
async fn nothing_is_stored_behind_what_was_lost() {
    let sink = Limited::new(100);
    let manager = JournalManager::new(&Base::default(), Arc::clone(&sink), options());
    let mutation = manager.begin(create(&state("A", &[]))).await.unwrap();
    sink.fail.store(true, Ordering::SeqCst);
    assert!(matches!(manager.end(mutation, true).await, Err(Error::Append(_))));
    sink.fail.store(false, Ordering::SeqCst);
    assert!(matches!(manager.begin(create(&state("B", &["A"]))).await, Err(Error::Append(_))));
    assert!(matches!(manager.close().await, Err(Error::Append(_))));
    assert_eq!(sink.stored(), [1]);
}

#[tokio::test]
async fn what_comes_while_a_batch_is_stored_is_stored_together() {
    let sink = Limited::new(100);
    sink.pause.store(50, Ordering::SeqCst);
    let manager = Arc::new(JournalManager::new(&Base::default(), Arc::clone(&sink), options()));
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let manager = Arc::clone(&manager);
            tokio::spawn(async move { run(&*manager, create(&state(&format!("R{number}"), &[]))).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let tried = sink.tried.lock().unwrap().clone();
    assert_eq!(tried.iter().sum::<usize>(), 80);
    assert!(tried.len() <= 5, "{tried:?}");
    let entries = sink.stored.lock().unwrap().clone();
    let replayed = replay(Snapshot::default(), entries, Manifest::default()).unwrap().snapshot;
    assert_eq!(replayed.resources.len(), 40);
    assert_eq!(show(&replayed).split(' ').count(), 40);
}

#[tokio::test]
async fn a_writer_that_gives_up_while_storing_leaves_a_closed_journal() {
    let sink = Limited::new(100);
    sink.pause.store(1_000_000, Ordering::SeqCst);
    let manager = Arc::new(JournalManager::new(&Base::default(), Arc::clone(&sink), options()));
    let begin = {
        let manager = Arc::clone(&manager);
        tokio::spawn(async move { manager.begin(create(&state("A", &[]))).await.map(drop) })
    };
    while sink.tried.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    begin.abort();
    assert!(begin.await.unwrap_err().is_cancelled());
    let error = manager.begin(create(&state("B", &[]))).await.unwrap_err();
    assert!(error.to_string().contains("it is not known what is stored"), "{error}");
}
