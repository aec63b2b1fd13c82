//! What is stored, and writes that meet those of others.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_statemgr_pg::statemgr::{
    Backend, CreateWorkspace, DeleteWorkspace, ErrorKind, Expect, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_testkit::Traced;

use crate::support::{OF_TERRAFORM, Place, info, stored, take};

const TABLE: &str = "terraform_remote_state.states";

#[tokio::test]
async fn a_row_that_was_changed_behind_its_reader_is_a_conflict() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store
        .write(Bytes::from_static(br#"{"serial":1}"#), &WriteOptions::expecting(Expect::Absent))
        .await
        .unwrap();
    let read = store.read().await.unwrap().unwrap();
    let grant = store.lock(&info("a")).await.unwrap();
    // As the originals write, which ask for nothing.
    other.batch_execute(&format!("UPDATE {TABLE} SET data = '{{\"serial\":2}}'")).await.unwrap();
    let expecting = WriteOptions::expecting(Expect::Version(read.version.clone()));
    let error = store.write(Bytes::from_static(br#"{"serial":3}"#), &expecting).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let now = store.read().await.unwrap().unwrap();
    let (expected, found) = error.mismatch().unwrap();
    assert_eq!(expected, format!("version {}", read.version));
    assert_eq!(found, format!("version {}", now.version));
    assert_eq!(now.bytes, br#"{"serial":2}"#);
    store.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn states_are_stored_byte_for_byte_in_the_column_of_the_originals() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    let text = "{\n  \"ä\": \"\\u0000 '; DROP -- \u{1f980}\"\n}\n";
    store.write(Bytes::copy_from_slice(text.as_bytes()), &WriteOptions::any()).await.unwrap();
    let sql = format!("SELECT name, data FROM {TABLE}");
    let row = other.query_one(&sql, &[]).await.unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1)), ("default", text));
    for bytes in [&b"\xff"[..], b"a\0b"] {
        let error = store.write(Bytes::copy_from_slice(bytes), &WriteOptions::any()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(store.read().await.unwrap().unwrap().bytes, text.as_bytes());
}

#[tokio::test]
async fn rows_without_data_are_no_states_and_are_said() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    place.backend().prepare().await.unwrap();
    let traced = Traced::events();
    for data in ["NULL", "''"] {
        let sql = format!("TRUNCATE {TABLE}; INSERT INTO {TABLE} (name, data) VALUES ('default', {data})");
        other.batch_execute(&sql).await.unwrap();
        let store: Arc<dyn StateStore> = Arc::new(place.store());
        assert_eq!(stored(&store).await, None, "{data}");
        store.write(Bytes::from_static(b"{}"), &WriteOptions::expecting(Expect::Absent)).await.unwrap();
        assert_eq!(stored(&store).await.as_deref(), Some("{}"), "{data}");
    }
    let log = traced.text();
    assert_eq!(log.matches("has no data").count(), 2, "{log}");
}

#[tokio::test]
async fn a_workspace_without_data_exists_and_can_be_deleted() {
    let Some(place) = Place::new().await else { return };
    let (backend, other) = (place.backend(), place.other().await);
    backend.prepare().await.unwrap();
    other.batch_execute(&format!("INSERT INTO {TABLE} (name) VALUES ('empty')")).await.unwrap();
    let name = WorkspaceName::parse("empty").unwrap();
    let create = CreateWorkspace::new(info("create"), b"{}".to_vec());
    assert_eq!(backend.create(&name, &create).await.unwrap_err().kind(), ErrorKind::Conflict);
    backend.delete(&name, &DeleteWorkspace::new(info("delete"))).await.unwrap();
    assert_eq!(backend.list().await.unwrap(), [WorkspaceName::default_name()]);
    let gone = backend.delete(&name, &DeleteWorkspace::new(info("delete"))).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_workspace_that_a_session_of_the_originals_has_locked_is_not_deleted() {
    let Some(place) = Place::new().await else { return };
    let (backend, other) = (place.backend(), place.other().await);
    let name = WorkspaceName::parse("busy").unwrap();
    let store = backend.open_store(&name);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    assert!(take(&other, crate::support::row(&other, "busy").await).await);
    for force in [false, true] {
        let options = DeleteWorkspace::new(info("delete")).force(force);
        assert_eq!(backend.delete(&name, &options).await.unwrap_err().kind(), ErrorKind::Locked);
    }
    // Nor without a lock.
    assert_eq!(store.delete(&WriteOptions::any()).await.unwrap_err().kind(), ErrorKind::Locked);
    assert!(store.read().await.unwrap().is_some());
}

#[tokio::test]
async fn the_holder_of_a_lock_keeps_it_over_a_deletion_or_does_not_delete() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let grant = store.lock(&info("a")).await.unwrap();
    assert!(take(&other, OF_TERRAFORM).await);
    let error = store.delete(&WriteOptions::any()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(store.read().await.unwrap().is_some());
    assert!(crate::support::free(&other, OF_TERRAFORM).await);
    store.delete(&WriteOptions::any()).await.unwrap();
    assert!(!take(&other, OF_TERRAFORM).await, "the workspace cannot be created by others now");
    store.unlock(&grant.id).await.unwrap();
    assert!(take(&other, OF_TERRAFORM).await);
}
