//! Runs that end well: what is stored when, and what is in the journal.

use std::sync::Arc;

use groundstate_common::{FixedClock, SequenceIds, Timestamp};
use groundstate_statefile::{Dialect, File};
use groundstate_statemgr::{
    Extensions, Full, IntermediateSnapshots, Locker, ManagerOptions, Migrator, OutputReader, Persisted,
    Persister, Reader, Refresher, Storage, write_and_persist,
};
use groundstate_statemgr_wal::{JournalOptions, JournaledManager};
use groundstate_states::{Lineage, Serial};
use groundstate_wal::read_all;

use crate::support::{World, assert_same, change, lock, set_instance, set_output, state};

#[tokio::test]
async fn a_change_costs_its_own_bytes_however_large_the_state_is() {
    let world = World::new();
    let (manager, _) = world.running().await;
    change(&manager, |state| {
        (0..2_000).for_each(|at| set_instance(state, &format!("null_resource.many[{at}]"), "x"));
    })
    .await
    .unwrap();
    manager.checkpoint().await.unwrap();
    for at in 0..10 {
        change(&manager, |state| set_instance(state, &format!("null_resource.many[{at}]"), "y"))
            .await
            .unwrap();
    }
    let contents = read_all(&world.journal).await.unwrap().expect("an epoch");
    assert_eq!(contents.records.len(), 10);
    let longest = contents.records.iter().map(|record| record.as_bytes().len()).max();
    assert!(longest < Some(600), "{longest:?} bytes for one instance");
    assert_eq!(manager.persist_state().await.unwrap(), Persisted::Unchanged);
    assert_eq!(read_all(&world.journal).await.unwrap().unwrap().records.len(), 10);
}

#[tokio::test]
async fn a_run_without_changes_touches_neither_object_nor_journal() {
    let world = World::new();
    write_and_persist(&world.manager(), &state(&["base"])).await.unwrap();
    let manager = world.manager();
    let grant = lock(&manager).await.unwrap();
    manager.refresh_state().await.unwrap();
    assert_eq!(manager.persist_state().await.unwrap(), Persisted::Unchanged);
    let same = manager.state().unwrap();
    assert_eq!(write_and_persist(&manager, &same).await.unwrap(), Persisted::Unchanged);
    assert!(!world.has_journal().await);
    manager.unlock(&grant.id).await.unwrap();
    assert_eq!(world.object().await.serial.get(), 1);
}

#[tokio::test]
async fn the_object_is_brought_up_to_date_when_the_journal_is_longer_than_it() {
    let world = World::new();
    let (manager, _) = world.running().await;
    let manager = manager.journal_options(JournalOptions::default().checkpoint_bytes(2_000));
    for at in 0..40 {
        change(&manager, |state| set_instance(state, &format!("null_resource.a[{at}]"), "x")).await.unwrap();
    }
    let behind = 40 - world.object().await.state.resource_instances().count();
    let written = world.object().await.serial.get() - 1;
    assert!(behind < 40 && (1..20).contains(&written), "{behind} behind after {written} writes");
}

#[tokio::test]
async fn unlocking_keeps_what_was_persisted_and_nothing_else() {
    let world = World::new();
    let (manager, grant) = world.running().await;
    change(&manager, |state| set_output(state, "kept", "1")).await.unwrap();
    let mut kept = manager.state().unwrap();
    set_output(&mut kept, "never persisted", "1");
    groundstate_statemgr::Writer::write_state(&manager, &kept).unwrap();
    manager.unlock(&grant.id).await.unwrap();
    let object = world.object().await;
    assert!(
        object.state.outputs().contains_key("kept")
            && !object.state.outputs().contains_key("never persisted")
    );
    assert!(!world.has_journal().await);
}

#[tokio::test]
async fn outputs_are_those_that_are_durable() {
    let world = World::new();
    let (manager, _) = world.running().await;
    change(&manager, |state| set_output(state, "new", "1")).await.unwrap();
    assert!(manager.root_output_values().await.unwrap().contains_key("new"));
    assert!(!world.manager().root_output_values().await.unwrap().contains_key("new"));
}

#[tokio::test]
async fn imports_are_written_as_a_whole_with_their_serial_and_lineage() {
    let world = World::new();
    let (manager, grant) = world.running().await;
    change(&manager, |state| set_output(state, "a", "1")).await.unwrap();
    let exported = manager.state_for_migration().unwrap();
    assert!(exported.state.outputs().contains_key("a"));
    let mut file = File::new(Dialect::Terraform, Lineage::new("another"));
    (file.serial, file.state) = (Serial::new(40), state(&["imported"]));
    manager.as_migrator().unwrap().write_state_for_migration(file, true).unwrap();
    assert_eq!(manager.persist_state().await.unwrap(), Persisted::Written);
    let object = world.object().await;
    assert_eq!((object.lineage.as_str(), object.serial.get() > 40), ("another", true));
    assert_same(&object.state, &state(&["imported"]), "the import");
    assert!(!world.has_journal().await);
    change(&manager, |state| set_output(state, "b", "1")).await.unwrap();
    manager.unlock(&grant.id).await.unwrap();
    assert!(world.object().await.state.outputs().contains_key("b"));
}

#[tokio::test]
async fn intermediate_snapshots_journal_every_change() {
    let world = World::new();
    let (manager, _) = world.running().await;
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let manager: Arc<dyn Storage> = Arc::new(manager);
    let snapshots =
        IntermediateSnapshots::new(manager, clock, groundstate_statemgr::DEFAULT_PERSIST_INTERVAL);
    for at in 0..5 {
        let persisted = snapshots.mutate(|state| set_output(state, "n", &at.to_string())).await.unwrap();
        assert_eq!(persisted, Some(Persisted::Written));
    }
    assert_eq!(read_all(&world.journal).await.unwrap().unwrap().records.len(), 5);
}

#[tokio::test]
async fn without_locks_it_still_journals_and_recovers() {
    let world = World::new();
    let open = || {
        let (store, journal) = (Arc::new(world.place.open()), Arc::new(world.journal.clone()));
        let options = ManagerOptions::default().locking(false);
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        JournaledManager::new(store, journal, clock, Arc::new(SequenceIds::new()), options)
    };
    let manager = open();
    manager.refresh_state().await.unwrap();
    write_and_persist(&manager, &state(&["base"])).await.unwrap();
    change(&manager, |state| set_output(state, "a", "1")).await.unwrap();
    let other = open();
    let error = other.refresh_state().await.unwrap_err();
    assert_eq!(error.kind(), groundstate_statemgr::ErrorKind::Locked, "the other one lives: {error}");
    drop(manager);
    other.refresh_state().await.unwrap();
    assert!(other.state().unwrap().outputs().contains_key("a"));
}

#[test]
fn it_is_what_users_of_managers_ask_for() {
    fn full(_: &dyn Full) {}
    full(&World::new().manager());
}

#[tokio::test]
async fn nothing_of_a_state_stands_in_debug_texts_and_errors() {
    let world = World::new();
    let (manager, _) = world.running().await;
    change(&manager, |state| set_instance(state, "null_resource.a", "s3cr3t")).await.unwrap();
    let contents = read_all(&world.journal).await.unwrap();
    let text = format!("{manager:?} {manager} {contents:?} {:?}", manager.pending().await.unwrap());
    assert!(!text.contains("s3cr3t"), "{text}");
}
