//! From locks in a table to lock objects.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, LockId, StateStore, WorkspaceName, WriteOptions};

use crate::s3::support::{BUCKET, Cloud, KEY, Locks, TABLE, info, state};

fn default() -> WorkspaceName {
    WorkspaceName::default_name()
}

#[tokio::test]
async fn nothing_of_a_state_is_left_in_the_table() {
    let cloud = Cloud::new();
    cloud.store(Locks::Row).write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    let digest = cloud.digest();
    let backend = cloud.backend(Locks::Row.options());
    let planned = backend.migrate_lock(&default(), &info("migrate"), true).await.unwrap();
    assert_eq!((planned.digest.clone(), cloud.digest()), (digest.clone(), digest));
    let done = backend.migrate_lock(&default(), &info("migrate"), false).await.unwrap();
    assert_eq!(done, planned);
    assert_eq!(done.lock, format!("s3://{BUCKET}/{KEY}.tflock"));
    assert_eq!(cloud.server.items(TABLE), [""; 0]);
    assert_eq!(cloud.server.keys(BUCKET), [KEY]);
    // Doing it twice does nothing more, and those who still have the table read the state as before.
    assert_eq!(backend.migrate_lock(&default(), &info("migrate"), false).await.unwrap().digest, None);
    assert!(cloud.store(Locks::Row).read().await.unwrap().is_some());
    assert!(cloud.store(Locks::File).read().await.unwrap().is_some());
}

#[tokio::test]
async fn a_lock_of_either_kind_stops_it() {
    for locks in [Locks::File, Locks::Row] {
        let cloud = Cloud::new();
        cloud.store(Locks::Row).write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        let held = cloud.store(locks).lock(&info("at work")).await.unwrap();
        for dry_run in [true, false] {
            let backend = cloud.backend(Locks::Row.options());
            let error = backend.migrate_lock(&default(), &info("migrate"), dry_run).await.unwrap_err();
            assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &held.id), "{error}");
        }
        assert!(cloud.digest().is_some());
        let left = [cloud.lock_object(), cloud.lock_row()].into_iter().flatten().map(|info| info.id);
        assert_eq!(left.collect::<Vec<LockId>>(), [held.id]);
    }
}

#[tokio::test]
async fn a_digest_that_does_not_fit_stops_it_and_leaves_no_lock() {
    let cloud = Cloud::new();
    cloud.server.put_object(BUCKET, KEY, state(1));
    cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}-md5"), &[("Digest", &"0".repeat(32))]);
    let backend = cloud.backend(Locks::Row.options());
    let error = backend.migrate_lock(&default(), &info("migrate"), false).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(!cloud.is_locked());
    assert!(cloud.digest().is_some());
}

#[tokio::test]
async fn without_a_table_there_is_nothing_to_migrate() {
    let cloud = Cloud::new();
    let backend = cloud.backend(Locks::File.options());
    let error = backend.migrate_lock(&default(), &info("migrate"), false).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("dynamodb_table"), "{error}");
}
