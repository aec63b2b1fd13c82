//! Editor on what is stored.

use bytes::Bytes;
use groundstate_statemgr::{
    Decision, Error, ErrorKind, Locker, Manager, Persisted, Persister, Reader, Refresher, Result,
    SharedMemory, StateStore, WriteOptions, Writer, refresh_and_read, write_and_persist,
};
use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, Target};

use crate::support::{Fault, Script, info, kind, manager, state, stored_serial};

const STORED: &str = r#"{"version":4,"serial":3,"lineage":"chain",  "resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.terraform.io/a/b\"]","instances":[{"attributes":{"id":  1.50}}]}], "later": true}"#;

async fn place() -> Result<SharedMemory> {
    let place = SharedMemory::new("prod");
    place.open().write(Bytes::copy_from_slice(STORED.as_bytes()), &WriteOptions::any()).await?;
    Ok(place)
}

async fn text(place: &SharedMemory) -> Result<String> {
    let stored = place.open().read().await?;
    Ok(String::from_utf8(stored.map(|stored| stored.bytes).unwrap_or_default()).expect("it is UTF-8"))
}

/// Why an operation failed: the work or the manager.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Manager(#[from] Error),
    #[error("the work failed")]
    Work,
}

fn manager_kind<T>(outcome: Result<T, Failed>) -> Option<ErrorKind> {
    match outcome {
        Err(Failed::Manager(error)) => Some(error.kind()),
        _ => None,
    }
}

fn target(address: &str) -> Target {
    Target::parse(address).expect("it is an address")
}

async fn mv(manager: &Manager) -> Result<Persisted, Failed> {
    let (from, to) = (target("t.n"), target("t.m"));
    let work = |editor: &mut groundstate_state_edit::Editor<'_>| {
        editor.move_address(&from, &to, Default::default()).map_err(|_| Failed::Work)?;
        Ok(Decision::Store(()))
    };
    manager.operate(work).await.map(|((), persisted)| persisted)
}

#[tokio::test]
async fn what_is_not_touched_keeps_its_bytes_and_the_serial_grows() -> Result<(), Failed> {
    for conditions in [true, false] {
        let place = place().await?;
        let manager =
            manager(if conditions { Script::new(&place) } else { Script::without_conditions(&place) });
        assert_eq!(mv(&manager).await?, Persisted::Written);
        let now = text(&place).await?;
        assert!(now.starts_with(r#"{"version":4,"serial":4,"lineage":"chain",  "resources":["#), "{now}");
        assert!(now.contains(r#"{"id":1.50}"#) && now.ends_with(r#", "later": true}"#), "{now}");
        assert!(now.contains(r#""name":"m""#), "{now}");
        assert!(matches!(mv(&manager).await, Err(Failed::Work)), "t.n is gone");
        assert_eq!(text(&place).await?, now);
    }
    Ok(())
}

#[tokio::test]
async fn previews_and_changes_that_come_to_nothing_write_nothing() -> Result<(), Failed> {
    let place = place().await?;
    let store = Script::new(&place);
    let manager = manager(store.clone());
    let instance = AbsResourceInstance::parse("t.n").unwrap();
    let (entries, persisted) = manager
        .operate(|editor| {
            editor.taint(&instance).map_err(|_| Failed::Work)?;
            let preview = editor.preview().map_err(|_| Failed::Work)?;
            Ok::<_, Failed>(Decision::Leave(preview.entries.len()))
        })
        .await?;
    assert_eq!((entries, persisted), (1, Persisted::Unchanged));
    let ((), persisted) = manager
        .operate(|editor| {
            editor.taint(&instance).map_err(|_| Failed::Work)?;
            editor.untaint(&instance).map_err(|_| Failed::Work)?;
            Ok::<_, Failed>(Decision::Store(()))
        })
        .await?;
    assert_eq!((persisted, text(&place).await?.as_str()), (Persisted::Unchanged, STORED));
    assert!(store.calls().iter().all(|call| call == "get"));
    Ok(())
}

#[tokio::test]
async fn the_transient_snapshot_has_to_be_read_again() -> Result<(), Failed> {
    let place = place().await?;
    let manager = manager(place.open());
    let before = refresh_and_read(&manager).await?;
    mv(&manager).await?;
    assert_eq!(manager.state(), None);
    assert_eq!(manager.persist_state().await?, Persisted::Unchanged);
    manager.write_state(&State::new())?;
    assert_eq!(kind(manager.persist_state().await), Some(ErrorKind::Conflict), "it was not read");
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::Invalid), "something waits to be persisted");
    assert_ne!(refresh_and_read(&manager).await?, before);
    write_and_persist(&manager, &state("after")).await?;
    assert_eq!(stored_serial(&place).await?, Some(5));
    Ok(())
}

#[tokio::test]
async fn changes_made_in_the_meantime_are_not_dropped() -> Result<(), Failed> {
    let place = place().await?;
    let manager = manager(place.open());
    let instance = AbsResourceInstance::parse("t.n").unwrap();
    let outcome = manager.operate(|editor| {
        editor.taint(&instance).map_err(|_| Failed::Work)?;
        manager.write_state(&state("meanwhile"))?;
        Ok(Decision::Store(()))
    });
    assert_eq!(manager_kind(outcome.await), Some(ErrorKind::Invalid));
    assert_eq!((manager.state(), text(&place).await?.as_str()), (Some(state("meanwhile")), STORED));
    Ok(())
}

#[tokio::test]
async fn another_clients_write_is_not_overwritten() -> Result<(), Failed> {
    let place = place().await?;
    let store = Script::new(&place);
    let manager = manager(store.clone());
    let theirs = STORED.replace("chain", "other");
    store.fail_next(Fault::Delay);
    assert_eq!(
        kind(store.write(Bytes::copy_from_slice(theirs.as_bytes()), &WriteOptions::any()).await),
        Some(ErrorKind::Ambiguous)
    );
    store.fail_next(Fault::AfterTheDelayed);
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::Conflict));
    assert_eq!(text(&place).await?, theirs);
    assert_eq!(mv(&manager).await?, Persisted::Written);
    Ok(())
}

#[tokio::test]
async fn a_lost_answer_is_read_back_and_a_lost_lock_refused() -> Result<(), Failed> {
    let place = place().await?;
    let store = Script::new(&place);
    let manager = manager(store.clone());
    store.fail_next(Fault::Fail(ErrorKind::Ambiguous));
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::Ambiguous));
    assert_eq!(text(&place).await?, STORED);

    manager.lock(&info("1")).await?;
    place.open().force_unlock(&info("1").id).await?;
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::LockLost));
    assert_eq!(text(&place).await?, STORED);

    manager.lock(&info("2")).await?;
    store.fail_next(Fault::LoseAnswer);
    assert_eq!(mv(&manager).await?, Persisted::Written);
    assert_eq!(stored_serial(&place).await?, Some(4));
    Ok(())
}

#[tokio::test]
async fn there_has_to_be_a_state() -> Result<(), Failed> {
    let place = SharedMemory::new("prod");
    let manager = manager(place.open());
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::NotFound));
    place.open().write(Bytes::from_static(b"{ damaged"), &WriteOptions::any()).await?;
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::Corrupt));
    let last = STORED.replace(r#""serial":3"#, &format!(r#""serial":{}"#, u64::MAX));
    place.open().write(Bytes::copy_from_slice(last.as_bytes()), &WriteOptions::any()).await?;
    assert_eq!(manager_kind(mv(&manager).await), Some(ErrorKind::Invalid));
    assert_eq!(text(&place).await?, last);
    assert_eq!(kind(manager.refresh_state().await), None);
    Ok(())
}
