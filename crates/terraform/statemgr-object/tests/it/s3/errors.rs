//! What is wrong with a place, and what to change.

use bytes::Bytes;
use groundstate_statemgr::{Backend, ErrorKind, Expect, StateStore, WorkspaceName, WriteOptions};
use groundstate_testkit::S3Server;

use crate::s3::support::{Cloud, Locks, info, state};

fn open(cloud: &Cloud, bucket: &str, locks: Locks) -> impl StateStore {
    cloud.backend_in(bucket, locks.options()).open(&WorkspaceName::default_name()).unwrap()
}

#[tokio::test]
async fn a_missing_bucket_is_named() {
    let cloud = Cloud::new();
    let store = open(&cloud, "missing", Locks::File);
    let errors = [
        store.read().await.unwrap_err(),
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap_err(),
        store.lock(&info("a")).await.unwrap_err(),
        cloud.backend_in("missing", Locks::File.options()).list().await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("there is no bucket missing"), "{error}");
    }
}

#[tokio::test]
async fn a_server_without_conditions_is_unsupported_and_the_option_is_named() {
    let cloud = Cloud::new();
    cloud.server.refuse_conditions();
    let store = cloud.store(Locks::File);
    for error in [
        store
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent))
            .await
            .unwrap_err(),
        store.lock(&info("a")).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("conditional_write"), "{error}");
    }
    // Without conditions, by the user's own wish, the table still excludes others.
    let cloud = Cloud::new().with("conditional_write", "off");
    cloud.server.refuse_conditions();
    let store = cloud.store(Locks::Row);
    assert!(!store.capabilities().conditional_write);
    let grant = store.lock(&info("a")).await.unwrap();
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    assert_eq!(cloud.state(), Some(state(1)));
}

#[tokio::test]
async fn every_mistake_is_named_with_what_to_change() {
    type Spoil = fn(&S3Server);
    let rows: [(Spoil, ErrorKind, &str); 5] = [
        (|server| server.require_key("another", "secret"), ErrorKind::Denied, "access_key"),
        (|server| server.require_key("test", "secret"), ErrorKind::Denied, "secret_key"),
        (|server| server.require_region("eu-west-1"), ErrorKind::Invalid, "eu-west-1"),
        (|server| server.set_clock_skewed(true), ErrorKind::Denied, "clock"),
        (|server| server.deny("*", "/states/*"), ErrorKind::Denied, "s3:"),
    ];
    for (spoil, kind, hint) in rows {
        let cloud = Cloud::new();
        spoil(&cloud.server);
        let store = cloud.store(Locks::File);
        for error in [
            store.read().await.unwrap_err(),
            store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap_err(),
            store.lock(&info("a")).await.unwrap_err(),
            store.lock_holder().await.unwrap_err(),
        ] {
            let text = error.to_string();
            assert_eq!(error.kind(), kind, "{text}");
            assert!(text.contains(hint), "{hint} in {text}");
            assert!(!text.contains("hush"), "{text}");
        }
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_table_is_named_too() {
    let cloud = Cloud::new();
    let options = Locks::None.options().dynamodb_table("missing");
    let store = cloud.backend(options).open(&WorkspaceName::default_name()).unwrap();
    for error in [store.lock(&info("a")).await.unwrap_err(), store.read().await.unwrap_err()] {
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{text}");
        for part in ["missing", "LockID", "dynamodb_table"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    let cloud = Cloud::new();
    cloud.server.require_key("another", "secret");
    let error = cloud.store(Locks::Row).lock(&info("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("access_key"), "{error}");
}

#[tokio::test]
async fn nothing_shows_secrets() {
    let cloud = Cloud::new();
    let backend = cloud.backend(Locks::Both.options());
    let store = backend.open(&WorkspaceName::default_name()).unwrap();
    assert_eq!(store.to_string(), "s3://states/network/prod.tfstate");
    assert_eq!(backend.to_string(), "s3://states/network/prod.tfstate");
    for text in [format!("{store:?}"), format!("{backend:?}")] {
        assert!(!text.contains("hush"), "{text}");
    }
}
