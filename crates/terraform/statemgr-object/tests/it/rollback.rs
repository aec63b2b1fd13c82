//! Going back to an earlier snapshot.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{Key, MemoryBlobs};
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_statemgr::{Error, ErrorKind, Expect, SharedMemory, StateStore, WriteOptions};
use groundstate_statemgr_object::ObjectStateStore;
use groundstate_statemgr_object::history::{RollbackOptions, rollback};
use groundstate_states::Serial;

/// A state with odd spacing and an unknown member, so that rewriting it would show.
fn state(serial: u64, lineage: &str) -> Vec<u8> {
    let head = format!(r#"{{"version": 4,  "serial":{serial}, "lineage":"{lineage}","#);
    format!("{head} \"future\" : [1.50], \"outputs\":{{}},\"resources\":[]}}\n\n").into_bytes()
}

#[tokio::test]
async fn the_snapshot_is_stored_under_a_serial_above_all_others_and_otherwise_untouched() -> Result<(), Error>
{
    for (present, above, serial) in [
        (Some(9), None, 10),
        (Some(2), None, 4),
        (Some(9), Some(20), 21),
        (None, None, 4),
        (None, Some(9), 10),
    ] {
        let store = SharedMemory::new("prod").open();
        if let Some(present) = present {
            store.write(Bytes::copy_from_slice(&state(present, "a")), &WriteOptions::any()).await?;
        }
        let options = RollbackOptions::default().above(above.map(Serial::new));
        let back = rollback(&store, &state(3, "a"), &options).await?;
        let told = (back.serial.get(), back.of.get(), back.replaced.map(Serial::get));
        assert_eq!(told, (serial, 3, present));
        let stored = store.read().await?.expect("it was just written");
        assert_eq!((stored.bytes, stored.version), (state(serial, "a"), back.version));
    }
    Ok(())
}

#[tokio::test]
async fn another_lineage_and_what_is_no_state_take_force() -> Result<(), Error> {
    let rows: [(&[u8], ErrorKind); 2] =
        [(&state(9, "b"), ErrorKind::LineageMismatch), (b"nonsense", ErrorKind::Corrupt)];
    for (present, kind) in rows {
        let store = SharedMemory::new("prod").open();
        store.write(Bytes::copy_from_slice(present), &WriteOptions::any()).await?;
        let error =
            rollback(&store, &state(3, "a"), &RollbackOptions::default()).await.expect_err("it is refused");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("force"), "{error}");
        assert_eq!(store.read().await?.map(|stored| stored.bytes).as_deref(), Some(present));
        rollback(&store, &state(3, "a"), &RollbackOptions::default().force(true)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_snapshot_that_is_no_state_is_refused_also_by_force() -> Result<(), Error> {
    let store = SharedMemory::new("prod").open();
    for snapshot in [&b"nonsense"[..], b"", b"{}"] {
        let options = RollbackOptions::default().force(true);
        let error = rollback(&store, snapshot, &options).await.expect_err("it is not a state");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    assert_eq!(store.read().await?, None);
    Ok(())
}

#[tokio::test]
async fn a_snapshot_of_an_older_format_is_written_as_the_present_one() -> Result<(), Error> {
    let store = SharedMemory::new("prod").open();
    let old = br#"{"version": 3, "serial": 3, "lineage": "a", "modules": [{"path": ["root"], "outputs": {}, "resources": {}}]}"#;
    rollback(&store, old, &RollbackOptions::default()).await?;
    let stored = String::from_utf8(store.read().await?.expect("it is there").bytes).expect("it is text");
    assert!(stored.contains("\"version\": 4") && stored.contains("\"serial\": 4"), "{stored}");
    Ok(())
}

#[tokio::test]
async fn there_is_nothing_above_the_largest_serial() -> Result<(), Error> {
    let store = SharedMemory::new("prod").open();
    let error = rollback(&store, &state(u64::MAX, "a"), &RollbackOptions::default())
        .await
        .expect_err("it is the last");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    Ok(())
}

#[tokio::test]
async fn a_lost_answer_is_looked_up_and_what_came_between_is_a_conflict() -> Result<(), Error> {
    let (blobs, key) = (MemoryBlobs::new("states"), Key::parse("a").expect("it is a key"));
    let faulty = FaultyBlobs::new(blobs.clone());
    let store = ObjectStateStore::new(Arc::new(faulty.clone()), key.clone());
    store.write(Bytes::copy_from_slice(&state(9, "a")), &WriteOptions::expecting(Expect::Absent)).await?;
    faulty.fail_at(1, Fault::LoseAnswer);
    let back = rollback(&store, &state(3, "a"), &RollbackOptions::default()).await?;
    assert_eq!((back.serial.get(), faulty.calls()), (10, vec!["get", "put", "get"]));
    faulty.fail_at(1, Fault::LoseRequest);
    let error = rollback(&store, &state(3, "a"), &RollbackOptions::default())
        .await
        .expect_err("the outcome is unknown");
    assert_eq!(error.kind(), ErrorKind::Ambiguous);
    faulty.fail_at(usize::MAX, Fault::Refuse);
    faulty.meanwhile(1, key, state(11, "a").into());
    let error =
        rollback(&store, &state(3, "a"), &RollbackOptions::default()).await.expect_err("it has changed");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(store.read().await?.map(|stored| stored.bytes), Some(state(11, "a")));
    Ok(())
}
