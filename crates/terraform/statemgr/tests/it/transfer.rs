//! Export, import, migration, and planned updates.

use std::sync::Arc;

use groundstate_statemgr::{
    ErrorKind, InMemoryManager, LockDisabled, Migrated, Migrator, PersistentMeta, Persister, Reader,
    Refresher, Result, SharedMemory, TransientInMemory, Writer, export, import, migrate,
    planned_state_update, write_and_persist, write_planned_state_update,
};
use groundstate_states::State;

use crate::support::{file, kind, manager, state, stored};

fn fake(initial: Option<State>) -> InMemoryManager {
    InMemoryManager::new(TransientInMemory::new(initial), None)
}

#[tokio::test]
async fn a_migration_keeps_lineage_and_serial() -> Result<()> {
    let (source, target) = (SharedMemory::new("from"), SharedMemory::new("to"));
    let from = manager(source.open());
    from.write_state_for_migration(file("chain", 41, &state("a")), false)?;
    from.persist_state().await?;
    let to = LockDisabled::new(Arc::new(manager(target.open())));
    let from = LockDisabled::new(Arc::new(from));
    to.refresh_state().await?;
    assert_eq!(migrate(&to, &from)?, Migrated::WithMeta);
    to.persist_state().await?;
    let moved = stored(&target).await?.unwrap();
    assert_eq!((moved.lineage.as_str(), moved.serial.get()), ("chain", 41), "also through wrappers");
    assert_eq!(moved.state, state("a"));
    Ok(())
}

#[tokio::test]
async fn migrating_nothing_does_nothing() -> Result<()> {
    let to = manager(SharedMemory::new("to").open());
    to.write_state(&state("kept"))?;
    assert_eq!(migrate(&to, &manager(SharedMemory::new("from").open()))?, Migrated::Nothing);
    assert_eq!(migrate(&to, &fake(None))?, Migrated::Nothing);
    assert_eq!(to.state(), Some(state("kept")));
    Ok(())
}

#[tokio::test]
async fn a_migration_without_metadata_moves_the_state_alone() -> Result<()> {
    let place = SharedMemory::new("to");
    let to = manager(place.open());
    assert_eq!(migrate(&to, &fake(Some(state("a"))))?, Migrated::StateOnly);
    to.persist_state().await?;
    assert_eq!(stored(&place).await?.map(|file| (file.serial.get(), file.state)), Some((1, state("a"))));
    Ok(())
}

#[tokio::test]
async fn an_export_has_the_metadata_there_is() -> Result<()> {
    let known = manager(SharedMemory::new("a").open());
    let none = export(&known);
    assert_eq!((none.lineage.as_str(), none.serial.get(), none.state), ("", 0, State::new()));
    write_and_persist(&known, &state("a")).await?;
    let file = export(&known);
    assert_eq!((file.lineage, file.serial.get(), file.state), (known.snapshot_meta().lineage, 1, state("a")));
    let plain = export(&fake(Some(state("b"))));
    assert_eq!((plain.lineage.as_str(), plain.serial.get(), plain.state), ("", 0, state("b")));
    Ok(())
}

#[tokio::test]
async fn an_import_is_checked_where_metadata_is_known() -> Result<()> {
    let known = manager(SharedMemory::new("a").open());
    write_and_persist(&known, &state("a")).await?;
    let unrelated = file("other", 5, &state("b"));
    assert_eq!(kind(import(unrelated.clone(), &known, false)), Some(ErrorKind::LineageMismatch));
    assert_eq!(known.state(), Some(state("a")));
    import(unrelated.clone(), &known, true)?;
    assert_eq!(known.state(), Some(state("b")));
    let plain = fake(None);
    import(unrelated, &plain, false)?;
    assert_eq!(plain.state(), Some(state("b")));
    Ok(())
}

#[tokio::test]
async fn a_planned_update_is_written_if_nothing_changed_since() -> Result<()> {
    let manager = manager(SharedMemory::new("a").open());
    write_and_persist(&manager, &state("a")).await?;
    let plan = planned_state_update(&manager, &state("planned"));
    assert_eq!((plan.serial.get(), &plan.lineage), (1, &manager.snapshot_meta().lineage));
    write_planned_state_update(&manager, &plan)?;
    assert_eq!(manager.state(), Some(state("planned")));
    manager.persist_state().await?;

    let error = write_planned_state_update(&manager, &plan).unwrap_err();
    assert_eq!((error.kind(), error.mismatch()), (ErrorKind::Conflict, Some(("serial 1", "serial 2"))));
    assert!(error.to_string().contains("changed since"), "{error}");
    let other = file("other", 2, &state("planned"));
    let error = write_planned_state_update(&manager, &other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LineageMismatch);
    assert!(error.to_string().contains("unrelated lineage"), "{error}");
    write_planned_state_update(&manager, &file("", 77, &state("unchecked")))?;
    assert_eq!(manager.state(), Some(state("unchecked")));
    Ok(())
}

#[tokio::test]
async fn a_planned_update_without_metadata_is_not_checked() -> Result<()> {
    let plain = fake(Some(state("a")));
    assert!(planned_state_update(&plain, &state("planned")).lineage.is_empty());
    write_planned_state_update(&plain, &file("any", 9, &state("planned")))?;
    assert_eq!(plain.state(), Some(state("planned")));
    Ok(())
}
