//! What a file has around its state stays with it.

use bytes::Bytes;
use groundstate_statefile::{EncodeOptions, WriterVersion};
use groundstate_statemgr::Persister;
use groundstate_statemgr::{
    ErrorKind, ManagerOptions, PersistentMeta, Refresher, Result, SharedMemory, StateStore, WriteOptions,
    Writer, write_and_persist,
};

use crate::support::{kind, manager, manager_with, set_output};

const COMPACT: &str = r#"{"version":4,"terraform_version":"1.9.0","serial":3,"lineage":"chain","outputs":{"a":{"value":"registry.opentofu.org","type":"string"}},"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.opentofu.org/a/b\"]","instances":[{"schema_version":0,"attributes":{"id":"1"},"sensitive_attributes":[]}]}],"check_results":null,"later":{"kept":[1.50]}}
"#;

async fn place() -> Result<SharedMemory> {
    let place = SharedMemory::new("file");
    place.open().write(Bytes::copy_from_slice(COMPACT.as_bytes()), &WriteOptions::any()).await?;
    Ok(place)
}

async fn text(place: &SharedMemory) -> Result<String> {
    let stored = place.open().read().await?;
    Ok(String::from_utf8(stored.map(|stored| stored.bytes).unwrap_or_default())
        .expect("state files are UTF-8"))
}

#[tokio::test]
async fn a_change_leaves_everything_else_as_it_was() -> Result<()> {
    let place = place().await?;
    let manager = manager(place.open());
    manager.refresh_state().await?;
    manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "a", "b"))?;
    manager.persist_state().await?;
    let expected = COMPACT
        .replace(r#""serial":3"#, r#""serial":4"#)
        .replace(r#""registry.opentofu.org","type""#, r#""b","type""#);
    assert_eq!(text(&place).await?, expected);
    Ok(())
}

#[tokio::test]
async fn the_writer_changes_only_when_asked_and_with_something_else() -> Result<()> {
    let place = place().await?;
    let options = ManagerOptions::default().writer(WriterVersion::parse("1.12.0").unwrap());
    let manager = manager_with(place.open(), options);
    manager.refresh_state().await?;
    manager.persist_state().await?;
    assert_eq!(text(&place).await?, COMPACT);
    manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "a", "b"))?;
    manager.persist_state().await?;
    assert!(text(&place).await?.contains(r#""terraform_version":"1.12.0""#));
    assert_eq!(manager.snapshot_meta().terraform_version, WriterVersion::parse("1.12.0").ok());
    Ok(())
}

#[tokio::test]
async fn the_layout_is_the_files_unless_asked_otherwise() -> Result<()> {
    let place = place().await?;
    let options = ManagerOptions::default().encode(EncodeOptions::default().indented(true));
    let manager = manager_with(place.open(), options);
    manager.refresh_state().await?;
    manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "a", "b"))?;
    manager.persist_state().await?;
    assert!(text(&place).await?.starts_with("{\n  \"version\": 4,\n"));
    Ok(())
}

#[tokio::test]
async fn an_old_format_is_rewritten_only_when_something_changes() -> Result<()> {
    let old = r#"{"version":3,"serial":5,"lineage":"chain","modules":[{"path":["root"],"outputs":{},"resources":{}}]}"#;
    let place = SharedMemory::new("old");
    place.open().write(Bytes::copy_from_slice(old.as_bytes()), &WriteOptions::any()).await?;
    let manager = manager(place.open());
    manager.refresh_state().await?;
    manager.persist_state().await?;
    assert_eq!(text(&place).await?, old);
    manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "a", "b"))?;
    manager.persist_state().await?;
    let new = text(&place).await?;
    assert!(new.contains("\"version\": 4") && new.contains("\"serial\": 6"), "{new}");
    Ok(())
}

/// As far as managers go: what cannot be encoded leaves the old bytes intact.
#[tokio::test]
async fn what_cannot_be_written_without_loss_is_not_written_unless_allowed() -> Result<()> {
    let broken =
        r#"{"version":4,"serial":1,"lineage":"chain","outputs":{"o":{"value":"\ud800","type":"string"}}}"#;
    let place = SharedMemory::new("lossy");
    place.open().write(Bytes::from_static(broken.as_bytes()), &WriteOptions::any()).await?;
    let strict = manager(place.open());
    strict.refresh_state().await?;
    strict.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "a", "b"))?;
    for _ in 0..2 {
        assert_eq!(kind(strict.persist_state().await), Some(ErrorKind::Invalid));
        assert_eq!(text(&place).await?, broken);
    }
    let options = ManagerOptions::default().encode(EncodeOptions::default().allow_loss(true));
    let lenient = manager_with(place.open(), options);
    lenient.refresh_state().await?;
    lenient.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "a", "b"))?;
    lenient.persist_state().await?;
    assert!(text(&place).await?.contains(r#""serial":2"#));
    Ok(())
}

#[tokio::test]
async fn what_is_stored_and_no_state_is_damaged_and_nothing_is_nothing() -> Result<()> {
    let place = SharedMemory::new("odd");
    let manager = manager(place.open());
    manager.refresh_state().await?;
    place.open().write(Bytes::from_static(b"<html>"), &WriteOptions::any()).await?;
    assert_eq!(kind(manager.refresh_state().await), Some(ErrorKind::Corrupt));
    write_and_persist(&manager, &groundstate_states::State::new()).await.unwrap_err();
    assert_eq!(text(&place).await?, "<html>");
    Ok(())
}
