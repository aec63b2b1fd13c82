//! Which requests a run of changes makes, and under which serials.

use bytes::Bytes;
use groundstate_statefile::File;
use groundstate_statemgr::{
    ErrorKind, Migrator, Persisted, PersistentMeta, Persister, Refresher, Result, SharedMemory, StateStore,
    Writer, write_and_persist,
};
use groundstate_states::addr::ModuleInstance;

use crate::support::{
    Fault, Script, file, initial_state, kind, manager, set_output, state, stored, stored_serial,
};

/// What the originals' test does by writing into the manager's fields.
fn force(manager: &impl Migrator, change: impl FnOnce(&mut File)) -> Result<()> {
    let mut file = manager.state_for_migration().expect("there is a snapshot");
    change(&mut file);
    manager.write_state_for_migration(file, true)
}

#[tokio::test]
async fn a_run_of_changes_makes_the_originals_requests() -> Result<()> {
    let place = SharedMemory::new("remote");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    manager.refresh_state().await?;
    assert_eq!(store.calls(), ["get"]);

    let mut current = initial_state();
    write_and_persist(&manager, &current).await?;
    assert_eq!(store.calls(), ["put 1"], "the originals get once more");

    force(&manager, |file| file.lineage = groundstate_states::Lineage::new("mock-lineage"))?;
    manager.persist_state().await?;
    assert_eq!(store.calls(), ["put 2"]);

    current.remove_module(&ModuleInstance::parse("module.child").unwrap()).unwrap();
    write_and_persist(&manager, &current).await?;
    assert_eq!(store.calls(), ["put 3"]);

    force(&manager, |file| file.serial = file.serial.next().unwrap())?;
    manager.persist_state().await?;
    assert_eq!(store.calls(), ["put 4"], "the originals count equal content once more");
    force(&manager, |file| file.serial = groundstate_states::Serial::new(3))?;

    set_output(&mut current, "new", "here");
    write_and_persist(&manager, &current).await?;
    assert_eq!(store.calls(), ["put 4"]);

    set_output(&mut current, "new", "there");
    write_and_persist(&manager, &current).await?;
    assert_eq!(store.calls(), ["put 5"]);

    assert_eq!(write_and_persist(&manager, &current).await?, Persisted::Unchanged);
    assert!(store.calls().is_empty(), "nothing has changed");

    force(&manager, |file| file.serial = groundstate_states::Serial::new(2))?;
    manager.persist_state().await?;
    assert_eq!(store.calls(), ["put 3"]);
    assert_eq!(manager.snapshot_meta().lineage.as_str(), "mock-lineage");
    Ok(())
}

#[tokio::test]
async fn a_first_persist_over_a_state_that_was_not_read_is_a_conflict() -> Result<()> {
    let place = SharedMemory::new("taken");
    write_and_persist(&manager(place.open()), &state("theirs")).await?;
    let before = place.open().read().await?;
    let mine = manager(place.open());
    let error = write_and_persist(&mine, &state("mine")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let text = "cannot write memory:taken: a state is stored there that was not read, refresh and try again \
                (expected nothing, found serial 1 of lineage 00000000-0000-0000-0000-000000000001)";
    assert_eq!(error.to_string(), text);
    assert_eq!(place.open().read().await?, before);
    assert_eq!(groundstate_statemgr::Reader::state(&mine), Some(state("mine")), "the caller's work is kept");
    Ok(())
}

#[tokio::test]
async fn a_state_migrated_to_an_empty_place_keeps_lineage_and_serial() -> Result<()> {
    for refresh_first in [false, true] {
        let place = SharedMemory::new("empty");
        let manager = manager(place.open());
        manager.write_state_for_migration(file("old", 41, &state("a")), false)?;
        if refresh_first {
            manager.refresh_state().await?;
        }
        manager.persist_state().await?;
        let stored = stored(&place).await?.unwrap();
        assert_eq!(
            (stored.lineage.as_str(), stored.serial.get()),
            ("old", 41),
            "refresh first: {refresh_first}"
        );
        write_and_persist(&manager, &state("b")).await?;
        assert_eq!(stored_serial(&place).await?, Some(42));
    }
    Ok(())
}

#[tokio::test]
async fn a_state_without_lineage_gets_one_at_an_empty_place() -> Result<()> {
    let place = SharedMemory::new("empty");
    let manager = manager(place.open());
    manager.write_state_for_migration(file("", 0, &state("a")), false)?;
    manager.persist_state().await?;
    let stored = stored(&place).await?.unwrap();
    assert_eq!((stored.lineage.is_empty(), stored.serial.get()), (false, 1));
    Ok(())
}

#[tokio::test]
async fn a_state_without_lineage_joins_the_one_that_is_there() -> Result<()> {
    let place = SharedMemory::new("legacy");
    let manager = manager(place.open());
    for value in ["a", "b", "c"] {
        write_and_persist(&manager, &state(value)).await?;
    }
    let lineage = manager.snapshot_meta().lineage;
    manager.write_state_for_migration(file("", 1, &state("old")), false)?;
    manager.persist_state().await?;
    let stored = stored(&place).await?.unwrap();
    assert_eq!((stored.lineage, stored.serial.get()), (lineage, 4));
    Ok(())
}

#[tokio::test]
async fn forcing_overrides_the_checks_and_the_store_is_told() -> Result<()> {
    let place = SharedMemory::new("forced");
    let store = Script::with_force(&place);
    let manager = manager(store.clone());
    for value in ["a", "b", "c"] {
        write_and_persist(&manager, &state(value)).await?;
    }
    assert_eq!(store.calls(), ["get", "put 1", "put 2", "put 3"]);
    let older = file(manager.snapshot_meta().lineage.as_str(), 1, &state("d"));
    assert_eq!(kind(manager.write_state_for_migration(older.clone(), false)), Some(ErrorKind::Conflict));
    let unrelated = file("other", 9, &state("d"));
    assert_eq!(kind(manager.write_state_for_migration(unrelated, false)), Some(ErrorKind::LineageMismatch));
    assert!(store.calls().is_empty(), "importing does no I/O");
    manager.write_state_for_migration(older, true)?;
    manager.persist_state().await?;
    write_and_persist(&manager, &state("e")).await?;
    assert_eq!(store.calls(), ["put 2 by force", "put 3 by force"], "the flag stays");
    Ok(())
}

#[tokio::test]
async fn forcing_overwrites_what_was_not_read_even_if_it_is_damaged() -> Result<()> {
    let place = SharedMemory::new("forced");
    write_and_persist(&manager(place.open()), &state("theirs")).await?;
    let mine = manager(place.open());
    mine.write_state_for_migration(file("mine", 7, &state("mine")), true)?;
    mine.persist_state().await?;
    let overwritten = stored(&place).await?.unwrap();
    assert_eq!((overwritten.lineage.as_str(), overwritten.serial.get()), ("mine", 8));

    place.open().write(Bytes::from_static(b"{ damaged"), &groundstate_statemgr::WriteOptions::any()).await?;
    let mine = manager(place.open());
    assert_eq!(kind(mine.refresh_state().await), Some(ErrorKind::Corrupt));
    mine.write_state(&state("mine"))?;
    assert_eq!(kind(mine.persist_state().await), Some(ErrorKind::Corrupt));
    mine.write_state_for_migration(file("mine", 9, &state("mine")), true)?;
    mine.persist_state().await?;
    assert_eq!(stored_serial(&place).await?, Some(9));
    Ok(())
}

#[tokio::test]
async fn a_failed_write_is_retried_under_the_same_serial() -> Result<()> {
    let place = SharedMemory::new("failing");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    write_and_persist(&manager, &state("a")).await?;
    let lineage = manager.snapshot_meta().lineage;
    store.fail_next(Fault::Fail(ErrorKind::Unavailable));
    assert_eq!(kind(write_and_persist(&manager, &state("b")).await), Some(ErrorKind::Unavailable));
    assert_eq!(manager.snapshot_meta().serial.get(), 1);
    manager.persist_state().await?;
    assert_eq!(store.calls(), ["get", "put 1", "put 2", "put 2"]);
    assert_eq!(stored(&place).await?.map(|file| file.lineage), Some(lineage));
    Ok(())
}

#[tokio::test]
async fn a_first_write_that_fails_is_retried_under_the_same_lineage() -> Result<()> {
    let place = SharedMemory::new("failing");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    store.fail_next(Fault::Fail(ErrorKind::Denied));
    assert_eq!(kind(write_and_persist(&manager, &state("a")).await), Some(ErrorKind::Denied));
    manager.persist_state().await?;
    let stored = stored(&place).await?.unwrap();
    assert_eq!((stored.serial.get(), stored.lineage.as_str()), (1, "00000000-0000-0000-0000-000000000001"));
    Ok(())
}

#[tokio::test]
async fn the_largest_serial_is_not_exceeded() -> Result<()> {
    let place = SharedMemory::new("full");
    let manager = manager(place.open());
    manager.write_state_for_migration(file("x", u64::MAX, &state("a")), false)?;
    manager.persist_state().await?;
    assert_eq!(kind(write_and_persist(&manager, &state("b")).await), Some(ErrorKind::Invalid));
    assert_eq!(stored_serial(&place).await?, Some(u64::MAX));
    Ok(())
}
