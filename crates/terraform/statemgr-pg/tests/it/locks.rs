//! Locks of ours and of the originals exclude each other, as their sessions show.

use bytes::Bytes;
use groundstate_statemgr_pg::statemgr::{
    Backend, ErrorKind, LockId, StateStore, WorkspaceName, WriteOptions,
};

use crate::support::{OF_OPENTOFU, OF_TERRAFORM, Place, free, holders, info, row, take};

fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).unwrap()
}

#[tokio::test]
async fn the_lock_of_a_row_is_the_originals_key_in_both_directions() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let key = row(&other, "default").await;

    let grant = store.lock(&info("a")).await.unwrap();
    assert!(!take(&other, key).await, "the row is locked for the originals");
    for creation in [OF_TERRAFORM, OF_OPENTOFU] {
        assert!(
            take(&other, creation).await && free(&other, creation).await,
            "the creation of others is not"
        );
    }
    store.unlock(&grant.id).await.unwrap();

    assert!(take(&other, key).await);
    let error = store.lock(&info("b")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    let process = holders(&other, key).await[0];
    let holder = error.holder().unwrap();
    assert_eq!(holder.id.as_str(), format!("process-{process}"));
    assert!(error.to_string().contains("by tf@127.0.0.1"), "{error}");
    assert_eq!(store.lock_holder().await.unwrap().as_ref(), Some(holder));
    assert!(free(&other, key).await);
    assert_eq!(store.lock_holder().await.unwrap(), None);
}

#[tokio::test]
async fn a_session_that_creates_a_workspace_in_terraform_or_opentofu_keeps_us_from_a_first_lock() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    place.backend().prepare().await.unwrap();
    for key in [OF_TERRAFORM, OF_OPENTOFU] {
        assert!(take(&other, key).await);
        let error = store.lock(&info("a")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked, "{key}: {error}");
        assert!(error.holder().unwrap().info.info.contains("creates a workspace"), "{error:?}");
        // Nothing of the attempt is left.
        let theirs = if key == OF_TERRAFORM { OF_OPENTOFU } else { OF_TERRAFORM };
        assert_eq!(holders(&other, theirs).await, [0; 0], "{key}");
        assert!(free(&other, key).await);
        let grant = store.lock(&info("a")).await.unwrap();
        store.unlock(&grant.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_creator_of_the_workspace_that_has_written_its_row_still_keeps_us_out() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    assert!(take(&other, OF_TERRAFORM).await);
    let error = store.lock(&info("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    let key = row(&other, "default").await;
    assert_eq!(holders(&other, key).await, [0; 0], "the key of the row is free again");
}

#[tokio::test]
async fn a_first_lock_of_ours_holds_the_keys_of_both_programs_until_it_is_released() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    let grant = store.lock(&info("a")).await.unwrap();
    for round in 0..2 {
        assert!(!take(&other, OF_TERRAFORM).await, "{round}");
        assert!(!take(&other, OF_OPENTOFU).await, "{round}");
        // The row that it creates in between changes nothing.
        store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    }
    store.unlock(&grant.id).await.unwrap();
    for key in [OF_TERRAFORM, OF_OPENTOFU] {
        assert!(take(&other, key).await);
    }
}

#[tokio::test]
async fn two_locks_of_one_process_are_two_sessions() {
    let Some(place) = Place::new().await else { return };
    let (backend, other) = (place.backend(), place.other().await);
    let (one, two) = (backend.open_store(&name("one")), backend.open_store(&name("two")));
    for store in [&one, &two] {
        store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    }
    let grants = (one.lock(&info("a")).await.unwrap(), two.lock(&info("b")).await.unwrap());
    let held =
        (holders(&other, row(&other, "one").await).await, holders(&other, row(&other, "two").await).await);
    assert_eq!((held.0.len(), held.1.len()), (1, 1));
    assert_ne!(held.0, held.1);
    let error = backend.open_store(&name("one")).lock(&info("c")).await.unwrap_err();
    assert_eq!(error.holder().unwrap().info.who, "a@here");
    one.unlock(&grants.0.id).await.unwrap();
    two.unlock(&grants.1.id).await.unwrap();
}

#[tokio::test]
async fn what_is_created_elsewhere_is_said_where_it_is_in_the_way() {
    let Some(place) = Place::new().await else { return };
    let (backend, other) = (place.backend(), place.settings().schema_name("other").unwrap());
    let one = backend.open_store(&name("one"));
    let grant = one.lock(&info("a")).await.unwrap();
    // Another workspace of the same schema.
    let two = backend.open_store(&name("two"));
    let error = two.lock(&info("b")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let text = error.to_string();
    assert!(text.contains("one is being created by a@here") && error.holder().is_none(), "{text}");
    assert_eq!(two.lock_holder().await.unwrap(), None, "it is not locked itself");
    let error = two.force_unlock(&LockId::new("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    // Another schema, where the document is not seen.
    let elsewhere = groundstate_statemgr_pg::PgBackend::open(&other).unwrap().open_store(&name("three"));
    let error = elsewhere.lock(&info("c")).await.unwrap_err();
    assert!(error.holder().unwrap().info.info.contains("maybe another one"), "{error:?}");
    one.unlock(&grant.id).await.unwrap();
    let grant = two.lock(&info("b")).await.unwrap();
    two.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn a_lock_is_released_by_force_by_ending_its_session_and_nothing_else_is_claimed() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let key = row(&other, "default").await;
    let never = store.force_unlock(&LockId::new("681fbb37-7302-b5fd-bac8-6224f8cc5180")).await.unwrap_err();
    assert_eq!(never.kind(), ErrorKind::NotFound, "{never}");

    assert!(take(&other, key).await);
    let id = store.lock_holder().await.unwrap().unwrap().id;
    let wrong = store.force_unlock(&LockId::new("process-1")).await.unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Locked);
    assert!(!other.is_closed());
    store.force_unlock(&id).await.unwrap();
    assert!(other.simple_query("SELECT 1").await.is_err(), "the session has ended");
    let grant = store.lock(&info("a")).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn a_role_that_may_not_end_a_session_is_told_which_and_who_may() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let grant = store.lock(&info("a")).await.unwrap();
    let role = format!("r_{}", place.database);
    let schema = "terraform_remote_state";
    let grants = format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    );
    other.batch_execute(&grants).await.unwrap();
    let conn_str = format!("{}&user={role}", place.conn_str());
    let settings = groundstate_statemgr_pg::PgSettings::new(&conn_str, &|_| None).unwrap();
    let limited = groundstate_statemgr_pg::PgBackend::open(&settings).unwrap();
    let limited = limited.open_store(&WorkspaceName::default_name());
    assert_eq!(limited.lock_holder().await.unwrap().unwrap().info.who, "a@here");
    let error = limited.force_unlock(&grant.id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(
        error.to_string().contains("a member of pg_signal_backend run `SELECT pg_terminate_backend("),
        "{error}"
    );
    store.write(Bytes::from_static(b"{ }"), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    other.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

#[tokio::test]
async fn a_document_of_a_session_that_has_ended_names_no_holder() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    drop(store.lock(&info("gone")).await.unwrap());
    let documents = "SELECT count(*) FROM terraform_remote_state.groundstate_locks";
    let count: i64 = other.query_one(documents, &[]).await.unwrap().get(0);
    assert_eq!(count, 1);
    let key = row(&other, "default").await;
    drop(store);
    while !holders(&other, key).await.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    // Its document is still there.
    let later = place.store();
    assert_eq!(later.lock_holder().await.unwrap(), None);
    let grant = later.lock(&info("later")).await.unwrap();
    assert_eq!(later.lock_holder().await.unwrap().unwrap().id.as_str(), "later");
    let count: i64 = other.query_one(documents, &[]).await.unwrap().get(0);
    assert_eq!(count, 1, "the next lock removes it");
    later.unlock(&grant.id).await.unwrap();
    let count: i64 = other.query_one(documents, &[]).await.unwrap().get(0);
    assert_eq!(count, 0);
}

#[tokio::test]
async fn without_a_table_of_documents_locks_still_work() {
    let Some(place) = Place::new().await else { return };
    let other = place.other().await;
    place.backend().prepare().await.unwrap();
    other.batch_execute("DROP TABLE terraform_remote_state.groundstate_locks").await.unwrap();
    let settings = place.settings().skip_table_creation(true);
    let store = groundstate_statemgr_pg::PgBackend::open(&settings).unwrap();
    let store = store.open_store(&WorkspaceName::default_name());
    let grant = store.lock(&info("a")).await.unwrap();
    let error = place.store().lock_holder().await.unwrap().unwrap();
    assert!(error.id.as_str().starts_with("process-"), "{error:?}");
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn workspaces_are_rows() {
    let Some(place) = Place::new().await else { return };
    let (backend, other) = (place.backend(), place.other().await);
    assert_eq!(backend.list().await.unwrap(), [WorkspaceName::default_name()], "there is no table yet");
    backend.prepare().await.unwrap();
    let rows = "INSERT INTO terraform_remote_state.states (name, data) VALUES ('b', '{}'), ('B', '{}'), ('a~b', NULL), ('not/a/name', '{}')";
    other.batch_execute(rows).await.unwrap();
    let names: Vec<String> = backend.list().await.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["default", "B", "a~b", "b"]);
}
