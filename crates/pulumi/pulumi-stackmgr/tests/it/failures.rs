//! Places that fail for a while: what could not be stored is stored later, or is said to be lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use groundstate_pulumi_deployment::{Envelope, seal_snapshot};
use groundstate_pulumi_journal::{Base, State, Step, StepKind};
use groundstate_pulumi_secrets::{Base64Crypter, ErrorCrypter};
use groundstate_pulumi_snapshot::{PropertyMap, PropertyValue, Snapshot};
use groundstate_pulumi_stackmgr::{
    Error, FullSnapshotManager, JournalManager, LocalJournal, SnapshotManager,
};

use crate::support::{Limited, Outage, options, resource, run, saved, state};

fn create(state: &State) -> Step {
    Step::new(StepKind::Create, None, Some(state))
}

/// Both managers on a place that can be taken away.
fn managers() -> Vec<(&'static str, Box<dyn SnapshotManager>, Arc<Outage>)> {
    let (whole, journal) = (Arc::new(Outage::default()), Arc::new(Outage::default()));
    let local = LocalJournal::new(Snapshot::default(), Arc::clone(&journal), options());
    vec![
        ("whole", Box::new(FullSnapshotManager::new(Base::default(), Arc::clone(&whole), options())), whole),
        ("journal", Box::new(JournalManager::new(&Base::default(), local, options())), journal),
    ]
}

#[tokio::test]
async fn closing_stores_what_an_earlier_write_could_not() {
    for (name, manager, place) in managers() {
        let mutation = manager.begin(create(&state("A", &[]))).await.unwrap();
        place.fails.store(true, Ordering::SeqCst);
        let error = manager.end(mutation, true).await.unwrap_err();
        assert_eq!(error.to_string(), "failed to save snapshot: disk full", "{name}");
        assert_eq!(saved(&place.kept), ["+creating A"], "{name}: what is stored is behind");
        place.fails.store(false, Ordering::SeqCst);
        manager.close().await.unwrap();
        assert_eq!(saved(&place.kept), ["+creating A", "A"], "{name}");
        manager.close().await.unwrap();
        assert_eq!(place.kept.saved().len(), 2, "{name}: nothing is left to store");
    }
}

#[tokio::test]
async fn closing_fails_as_long_as_something_is_not_stored() {
    for (name, manager, place) in managers() {
        run(&*manager, create(&state("A", &[]))).await.unwrap();
        place.fails.store(true, Ordering::SeqCst);
        assert!(matches!(run(&*manager, create(&state("B", &[]))).await, Err(Error::Save(_))), "{name}");
        for _ in 0..2 {
            let error = manager.close().await.unwrap_err();
            assert!(matches!(error, Error::Save(_)), "{name}: {error}");
        }
        assert_eq!(saved(&place.kept).last().unwrap(), "A", "{name}");
        place.fails.store(false, Ordering::SeqCst);
        manager.close().await.ok();
        assert_eq!(saved(&place.kept).last().unwrap(), "A +creating B", "{name}");
        // Only closing is tried again; nothing new is taken.
        manager.begin(create(&state("C", &[]))).await.unwrap_err();
    }
}

#[tokio::test]
async fn the_next_write_has_what_the_last_one_could_not_store() {
    for (name, manager, place) in managers() {
        place.fails.store(true, Ordering::SeqCst);
        manager.begin(create(&state("A", &[]))).await.map(drop).unwrap_err();
        place.fails.store(false, Ordering::SeqCst);
        run(&*manager, create(&state("B", &[]))).await.unwrap();
        assert_eq!(saved(&place.kept).last().unwrap(), "B +creating A", "{name}");
    }
}

#[tokio::test]
async fn a_broken_snapshot_that_is_stored_is_not_stored_again_at_the_end() {
    for (name, manager, place) in managers() {
        let error = run(&*manager, create(&state("B", &["A"]))).await.unwrap_err();
        assert!(matches!(error, Error::Integrity(_)), "{name}: {error}");
        let before = place.kept.saved().len();
        manager.close().await.ok();
        assert_eq!(place.kept.saved().len(), before, "{name}");
    }
}

#[tokio::test]
async fn closing_a_journal_says_each_time_that_entries_were_lost() {
    let sink = Limited::new(100);
    let manager = JournalManager::new(&Base::default(), Arc::clone(&sink), options());
    run(&manager, create(&state("A", &[]))).await.unwrap();
    sink.fail.store(true, Ordering::SeqCst);
    manager.begin(create(&state("B", &[]))).await.map(drop).unwrap_err();
    sink.fail.store(false, Ordering::SeqCst);
    for _ in 0..2 {
        let error = manager.close().await.unwrap_err();
        assert_eq!(error.to_string(), "failed to append to the journal: connection reset");
    }
    assert_eq!(sink.stored(), [1, 2]);
}

/// A state with a secret that has no ciphertext yet.
fn secret(name: &str, needs: &[&str]) -> State {
    let state = state(name, needs);
    state.change(|resource| {
        resource.inputs =
            PropertyMap::from_iter([("pw", PropertyValue::from("hunter2").into_secret())]).into();
    });
    state
}

#[tokio::test]
async fn nothing_is_stored_behind_an_entry_whose_secrets_cannot_be_encrypted() {
    let sink = Limited::new(100);
    let base = Base::new(Snapshot::new([resource("S", &[])]));
    let sealed = options().encrypter(Arc::new(ErrorCrypter::new("the key is disabled")));
    let manager = JournalManager::new(&base, Arc::clone(&sink), sealed);
    // This one need not be waited for, and comes before.
    run(&manager, Step::new(StepKind::Same, Some(&base.states[0]), Some(&state("S", &[])))).await.unwrap();
    let refused = manager.begin(create(&secret("A", &[]))).await.map(drop).unwrap_err();
    assert!(matches!(refused, Error::Seal(_)), "{refused}");
    assert!(refused.to_string().starts_with("failed to serialize journal entry: "), "{refused}");
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
    let later = manager.begin(create(&state("B", &["A"]))).await.map(drop).unwrap_err();
    assert!(matches!(later, Error::Append(_)), "{later}");
    assert!(matches!(manager.close().await, Err(Error::Append(_))));
    assert_eq!(sink.stored(), [1, 2], "what came before the lost entry is there, and nothing behind it");
}

#[tokio::test]
async fn no_secret_reaches_a_journal_or_a_snapshot_in_clear_text() {
    let sealed = options().encrypter(Arc::new(Base64Crypter));
    let sink = Limited::new(100);
    let manager = JournalManager::new(&Base::default(), Arc::clone(&sink), sealed.clone());
    run(&manager, create(&secret("A", &[]))).await.unwrap();
    let entries = sink.stored.lock().unwrap().clone();
    assert_eq!(entries.len(), 2);
    for entry in &entries {
        let text =
            groundstate_pulumi_journal::encode_entry(entry, groundstate_pulumi_deployment::Secrets::Sealed);
        let text = String::from_utf8(text.unwrap()).unwrap();
        assert!(text.contains("ciphertext") && !text.contains("hunter2"), "{text}");
    }
    let mut whole = Snapshot::new([(*secret("A", &[]).get()).clone()]);
    seal_snapshot(&mut whole, &Base64Crypter).unwrap();
    let place = Arc::new(Outage::default());
    let manager = FullSnapshotManager::new(Base::default(), Arc::clone(&place), sealed);
    run(&manager, create(&secret("A", &[]))).await.unwrap();
    let last = place.kept.saved().pop().unwrap();
    assert_eq!(last.envelope, Envelope::Deployment);
    assert_eq!(last.snapshot.unwrap().resources, whole.resources);
}

#[tokio::test]
async fn a_batch_never_holds_more_entries_than_the_options_allow() {
    for limit in [1, 2, 3] {
        let sink = Limited::new(100);
        let names = ["A", "B", "C", "D", "E"];
        let base = Base::new(Snapshot::new(names.map(|name| resource(name, &[]))));
        let manager = JournalManager::new(&base, Arc::clone(&sink), options().batch(limit));
        for (at, name) in names.iter().enumerate() {
            run(&manager, Step::new(StepKind::Same, Some(&base.states[at]), Some(&state(name, &[]))))
                .await
                .unwrap();
            // Entries that nothing waits for do not pile up either.
            let waiting = 2 * (at + 1) - sink.stored().len();
            assert!(waiting < limit, "{waiting} of at most {limit}");
        }
        manager.close().await.unwrap();
        let tried = sink.tried.lock().unwrap().clone();
        assert!(tried.iter().all(|size| *size <= limit), "{tried:?}");
        assert_eq!(sink.stored(), (1..=10).collect::<Vec<u64>>());
    }
    // No batch at all would store nothing for ever.
    let sink = Limited::new(100);
    let manager = JournalManager::new(&Base::default(), Arc::clone(&sink), options().batch(0));
    run(&manager, create(&state("A", &[]))).await.unwrap();
    assert_eq!(sink.stored(), [1, 2]);
}
