//! The originals' suite for managers, with the step they lack.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_statefile::encode_equally;
use groundstate_statefile::{EncodeOptions, WriterVersion, encode};
use groundstate_statemgr::{
    Full, InMemoryManager, LockDisabled, ManagerOptions, Migrator, OutputReader, Persisted, Persister,
    Reader, Result, SharedMemory, SnapshotMeta, StateStore, TransientInMemory, WriteOptions, Writer,
    write_and_persist,
};
use groundstate_states::State;
use groundstate_states::addr::ModuleInstance;

use crate::support::{
    Script, file, initial_state, manager, manager_with, set_output, state, stored, stored_serial,
};

fn meta(manager: &dyn Full) -> Option<SnapshotMeta> {
    manager.as_persistent_meta().map(|meta| meta.snapshot_meta())
}

/// The manager's place holds `initial_state`.
async fn behaves(manager: &dyn Full) -> Result<()> {
    manager.refresh_state().await?;
    assert_eq!(manager.state(), Some(initial_state()));
    let initial = meta(manager);

    let mut current = initial_state();
    set_output(&mut current, "bar", "baz");
    manager.write_state(&current)?;
    assert_eq!(manager.state().as_ref(), Some(&current));
    manager.persist_state().await?;
    manager.refresh_state().await?;
    assert_eq!(manager.state().as_ref(), Some(&current));
    let second = meta(manager);
    if let (Some(initial), Some(second)) = (&initial, &second) {
        assert_eq!(second.lineage, initial.lineage);
        assert_ne!(second.serial, initial.serial);
    }

    manager.write_state(&current)?;
    manager.persist_state().await?;
    assert_eq!(meta(manager), second, "nothing has changed");

    set_output(&mut current, "serialCheck", "true");
    manager.write_state(&current)?;
    manager.persist_state().await?;
    let third = meta(manager);
    if let (Some(second), Some(third)) = (&second, &third) {
        assert!(third.serial > second.serial);
        assert_eq!(third.lineage, second.lineage);
        assert_eq!(third.terraform_version, second.terraform_version);
    }
    manager.write_state(&current)?;
    manager.persist_state().await?;
    assert_eq!(meta(manager), third, "nothing has changed since the last persist, read back or not");

    let mut copy = manager.state().unwrap_or_default();
    copy.ensure_module(&ModuleInstance::parse("module.another").expect("it is an address"));
    assert_ne!(manager.state(), Some(copy));
    assert!(encode_equally(&current, &manager.state().unwrap_or_default()));

    let outputs = manager.root_output_values().await?;
    assert_eq!(
        outputs.keys().map(|name| &**name).collect::<Vec<_>>(),
        ["bar", "nonsensitive_output", "sensitive_output", "serialCheck"]
    );
    Ok(())
}

/// A place that holds `initial_state`.
async fn prepared() -> Result<SharedMemory> {
    let place = SharedMemory::new("full");
    let mut file = file("stub-lineage", 2, &initial_state());
    file.terraform_version = WriterVersion::parse("1.11.4").ok();
    let bytes = encode(&file, &EncodeOptions::default()).expect("it can be stored");
    place.open().write(Bytes::copy_from_slice(&bytes), &WriteOptions::any()).await?;
    Ok(place)
}

#[tokio::test]
async fn the_manager_passes_on_memory() -> Result<()> {
    behaves(&manager(prepared().await?.open())).await
}

/// Over a store like the originals' remote clients.
#[tokio::test]
async fn the_manager_passes_on_a_store_that_cannot_check() -> Result<()> {
    behaves(&manager(Script::without_conditions(&prepared().await?))).await
}

#[tokio::test]
async fn the_manager_passes_without_its_lock() -> Result<()> {
    behaves(&LockDisabled::new(Arc::new(manager(prepared().await?.open())))).await
}

#[tokio::test]
async fn the_manager_passes_as_another_writer() -> Result<()> {
    let options = ManagerOptions::default().writer(WriterVersion::parse("1.12.0").unwrap());
    behaves(&manager_with(prepared().await?.open(), options)).await
}

#[tokio::test]
async fn the_fake_passes() -> Result<()> {
    behaves(&InMemoryManager::new(TransientInMemory::default(), Some(initial_state()))).await
}

#[tokio::test]
async fn the_serial_grows_each_time_and_only_when_something_changes() -> Result<()> {
    let place = SharedMemory::new("serial");
    let manager = manager(place.open());
    let (s0, s1) = (state("0"), state("1"));
    let mut serials = Vec::new();
    for state in [&s0, &s0, &s1, &s0] {
        write_and_persist(&manager, state).await?;
        serials.push(stored_serial(&place).await?);
    }
    assert_eq!(serials, [Some(1), Some(1), Some(2), Some(3)]);
    Ok(())
}

#[tokio::test]
async fn changes_before_the_first_persist_are_all_there_under_one_lineage() -> Result<()> {
    let place = SharedMemory::new("new");
    let manager = manager(place.open());
    for name in ["a", "b", "c"] {
        manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), name, name))?;
    }
    assert_eq!(manager.persist_state().await?, Persisted::Written);
    let first = stored(&place).await?.unwrap();
    assert_eq!(first.state.outputs().len(), 3);
    manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "d", "d"))?;
    manager.persist_state().await?;
    let second = stored(&place).await?.unwrap();
    assert_eq!((second.serial.get(), &second.lineage), (2, &first.lineage));
    assert_eq!(first.lineage.as_str(), "00000000-0000-0000-0000-000000000001");
    Ok(())
}

#[tokio::test]
async fn nothing_is_persisted_where_nothing_was_written() -> Result<()> {
    let place = SharedMemory::new("empty");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    assert_eq!(manager.persist_state().await?, Persisted::Unchanged);
    assert!(store.calls().is_empty());
    assert!(manager.state().is_none() && manager.state_for_migration().is_none());
    Ok(())
}

#[tokio::test]
async fn what_is_written_is_a_copy() -> Result<()> {
    let manager = manager(SharedMemory::new("copy").open());
    let mut mine = state("a");
    manager.write_state(&mine)?;
    set_output(&mut mine, "value", "b");
    let mut read = manager.state().unwrap();
    set_output(&mut read, "value", "c");
    assert_eq!(manager.state(), Some(state("a")));
    Ok(())
}

#[tokio::test]
async fn outputs_are_read_without_touching_the_transient_snapshot() -> Result<()> {
    let place = SharedMemory::new("outputs");
    let manager = manager(place.open());
    assert!(manager.root_output_values().await?.is_empty(), "nothing is stored yet");
    write_and_persist(&manager, &state("stored")).await?;
    manager.write_state(&State::new())?;
    assert_eq!(manager.root_output_values().await?, state("stored").outputs().clone());
    assert_eq!(manager.state(), Some(State::new()));
    Ok(())
}
