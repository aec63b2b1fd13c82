//! Other writers: foreign ones in between, holders that were paused, and readers.

use bytes::Bytes;
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statemgr::{
    ErrorKind, Expect, Locker, Persister, Reader, Refresher, StateStore, WriteOptions, Writer,
};
use groundstate_wal::{JournalStore, OpenOptions, Record};

use crate::support::{World, assert_same, change, lock, set_instance, set_output};

/// A run that was interrupted after three changes.
async fn interrupted() -> (World, groundstate_states::State) {
    let world = World::new();
    let (manager, _) = world.running().await;
    for number in 0..3 {
        change(&manager, |state| set_instance(state, &format!("null_resource.a[{number}]"), "new"))
            .await
            .unwrap();
    }
    let state = manager.state().unwrap();
    drop(manager);
    world.free().await;
    (world, state)
}

/// Writes as another tool does, which knows nothing of journals.
async fn write_as_another_client(world: &World, edit: impl FnOnce(&str) -> String) {
    let store = world.place.open();
    let stored = store.read().await.unwrap().unwrap();
    let text = edit(std::str::from_utf8(&stored.bytes).unwrap());
    let options = WriteOptions::expecting(Expect::Version(stored.version));
    store.write(Bytes::copy_from_slice(text.as_bytes()), &options).await.unwrap();
}

#[tokio::test]
async fn a_foreign_write_in_between_is_refused_and_both_are_kept() {
    let (world, expected) = interrupted().await;
    write_as_another_client(&world, |text| {
        text.replace("\"serial\": 1", "\"serial\": 2").replace("base", "theirs")
    })
    .await;
    let theirs = world.object().await;
    let manager = world.manager();
    let grant = lock(&manager).await.unwrap();
    for _ in 0..2 {
        let error = manager.refresh_state().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        let text = error.to_string();
        assert!(
            text.contains("3 changes") && text.contains("serial 1") && text.contains("serial 2"),
            "{text}"
        );
        assert!(world.has_journal().await);
        assert_same(&world.object().await.state, &theirs.state, "their state");
    }
    let bytes = manager.recovered().await.unwrap().expect("there is a journal");
    let file = decode(&bytes, &DecodeOptions::default()).unwrap();
    assert_same(&file.state, &expected, "what the journal leads to");
    assert_eq!((file.serial.get(), &file.lineage), (2, &theirs.lineage));

    manager.discard().await.unwrap();
    manager.refresh_state().await.unwrap();
    assert_same(&manager.state().unwrap(), &theirs.state, "their state after all");
    manager.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn a_state_that_was_deleted_in_between_is_a_foreign_write() {
    let (world, expected) = interrupted().await;
    world.place.open().delete(&WriteOptions::any()).await.unwrap();
    let manager = world.manager();
    lock(&manager).await.unwrap();
    let error = manager.refresh_state().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Conflict && error.to_string().contains("found nothing"), "{error}");
    let bytes = manager.recovered().await.unwrap().unwrap();
    assert_same(&decode(&bytes, &DecodeOptions::default()).unwrap().state, &expected, "the recovered state");
}

#[tokio::test]
async fn the_same_snapshot_in_other_bytes_is_no_foreign_write() {
    let (world, expected) = interrupted().await;
    write_as_another_client(&world, |text| text.replace("  ", "\t")).await;
    let manager = world.manager();
    lock(&manager).await.unwrap();
    manager.refresh_state().await.unwrap();
    assert_same(&manager.state().unwrap(), &expected, "the recovered state");
    assert_eq!(
        manager.last_recovery().map(|recovery| (recovery.changes, recovery.who)),
        Some((3, "ann@host".into()))
    );
}

#[tokio::test]
async fn a_holder_that_was_paused_until_its_lock_was_broken_can_append_nothing() {
    let world = World::new();
    let (paused, grant) = world.running().await;
    change(&paused, |state| set_output(state, "one", "1")).await.unwrap();
    world.free().await;
    let (next, next_grant) = world.running().await;
    assert_eq!(next.last_recovery().map(|recovery| recovery.changes), Some(1));

    let error = change(&paused, |state| set_output(state, "two", "2")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockLost);
    assert_eq!(paused.checkpoint().await.unwrap_err().kind(), ErrorKind::LockLost);
    assert!(paused.unlock(&grant.id).await.is_err());
    assert!(!world.object().await.state.outputs().contains_key("two"));

    change(&next, |state| set_output(state, "three", "3")).await.unwrap();
    assert!(paused.persist_state().await.is_err());
    next.unlock(&next_grant.id).await.unwrap();
    let object = world.object().await;
    let names: Vec<&str> = object.state.outputs().keys().map(|name| &**name).collect();
    assert_eq!(names, ["base", "one", "three"]);
}

#[tokio::test]
async fn a_paused_holder_that_never_journaled_does_not_begin_to() {
    let world = World::new();
    let (paused, _) = world.running().await;
    world.free().await;
    let (next, _) = world.running().await;
    let error = change(&paused, |state| set_output(state, "late", "1")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockLost);
    change(&next, |state| set_output(state, "mine", "1")).await.unwrap();
}

#[tokio::test]
async fn a_journal_that_appears_after_the_refresh_is_not_overwritten() {
    let world = World::new();
    let (manager, _) = world.running().await;
    let stray = world.journal.open(&OpenOptions::new("stray")).await.unwrap();
    stray.begin(&Record::from(&b"{}"[..])).await.unwrap();
    let error = change(&manager, |state| set_output(state, "a", "1")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(world.has_journal().await);
}

#[tokio::test]
async fn without_the_lock_the_journal_is_seen_and_left_alone() {
    let (world, expected) = interrupted().await;
    let reader = world.manager();
    reader.refresh_state().await.unwrap();
    assert_eq!(reader.state().unwrap().resource_instances().count(), 0, "the ordinary object");
    let pending = reader.pending().await.unwrap().expect("a journal");
    assert_eq!((pending.changes, pending.serial.get(), &*pending.who), (3, 1, "ann@host"));
    assert_eq!(reader.discard().await.unwrap_err().kind(), ErrorKind::Invalid);
    reader.mutate_state(&mut |state| set_output(state.as_mut().unwrap(), "past it", "1")).unwrap();
    assert_eq!(reader.persist_state().await.unwrap_err().kind(), ErrorKind::Conflict);
    let bytes = reader.recovered().await.unwrap().unwrap();
    assert_same(&decode(&bytes, &DecodeOptions::default()).unwrap().state, &expected, "the recovered state");
    assert!(world.has_journal().await);
}

#[tokio::test]
async fn a_journal_of_something_else_is_refused() {
    for base in [&b"serial 7"[..], b"{\"format\":\"else\"}\n", b"{}\n", b"\xff\n"] {
        let world = World::new();
        drop(world.running().await);
        world.free().await;
        let writer = world.journal.open(&OpenOptions::new("else")).await.unwrap();
        writer.begin(&Record::from(base)).await.unwrap();
        writer.close().await.unwrap();
        let manager = world.manager();
        lock(&manager).await.unwrap();
        assert_eq!(manager.refresh_state().await.unwrap_err().kind(), ErrorKind::Corrupt);
        assert!(world.has_journal().await);
    }
}
