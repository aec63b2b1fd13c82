//! The scenarios of Google Cloud Storage, with the other program's part played by what it would send.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{
    BlobStore, DeleteOptions, GetOptions, Key, MemoryBlobs, Precondition, PutOptions, Role,
};
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_statemgr::{
    Backend, Error, ErrorKind, Expect, LockId, LockInfo, Result, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_statemgr_object::{FolderLayout, GenerationLocks, ObjectBackend, ObjectStateStore};

use crate::support::{AtOnce, GUID, OTHER_GUID, document, lock_info};

const STATE: &[u8] = br#"{"version":4,"serial":1,"lineage":"a"}"#;

fn key(text: &str) -> Key {
    Key::parse(text).expect("it is a key")
}

fn backend(blobs: impl BlobStore, prefix: &str) -> ObjectBackend {
    let locks = GenerationLocks::new("bucket", Arc::new(AtOnce));
    ObjectBackend::new(Arc::new(blobs), Arc::new(FolderLayout::new(prefix))).equip(Arc::new(locks))
}

fn open(blobs: impl BlobStore) -> Result<ObjectStateStore> {
    backend(blobs, "a/b").open(&WorkspaceName::default_name())
}

const LOCK: &str = "a/b/default.tflock";

/// The other program locks; its lock is known by this generation.
async fn locked_by_another(blobs: &MemoryBlobs) -> u64 {
    let options = PutOptions::expecting(Precondition::Absent).role(Role::Lock);
    let version =
        blobs.put(&key(LOCK), Bytes::from(document(OTHER_GUID)), &options).await.expect("it is free");
    version.generation().expect("blobs in memory have generations")
}

#[tokio::test]
async fn the_lock_document_keeps_the_guid_and_the_id_is_the_generation() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    let grant = open(blobs.clone())?.lock(&lock_info()).await?;
    let blob =
        blobs.get(&key(LOCK), &GetOptions::default()).await.expect("it answers").expect("it is locked");
    assert_eq!(grant.id.as_str(), blob.version().generation().expect("it has one").to_string());
    let written = LockInfo::parse(&blob.bytes)?;
    assert_eq!(written.id.as_str(), GUID);
    assert_eq!(written.path, "gs://bucket/a/b/default.tflock");
    assert_eq!(blob.bytes, written.to_json());
    Ok(())
}

#[tokio::test]
async fn a_lock_of_terraform_is_respected() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    let generation = locked_by_another(&blobs).await;
    let error = open(blobs)?.lock(&lock_info()).await.expect_err("it is held");
    let holder = error.holder().expect("there is a document");
    assert_eq!((holder.id.as_str(), holder.info.who.as_str()), (&*generation.to_string(), "other@there"));
    assert!(error.to_string().contains(&generation.to_string()), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_lock_of_terraform_is_freed_by_its_generation() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    let generation = locked_by_another(&blobs).await;
    let store = open(blobs)?;
    for wrong in [OTHER_GUID, GUID, "", "x", "-1", "007", "1e3"] {
        let error = store.force_unlock(&LockId::new(wrong)).await.expect_err(wrong);
        assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
        let text = error.to_string();
        assert!(text.contains("generation") && text.contains(&generation.to_string()), "{text}");
    }
    store.force_unlock(&LockId::new(&generation.to_string())).await?;
    assert_eq!(store.lock_holder().await?, None);
    let error = store.force_unlock(&LockId::new(OTHER_GUID)).await.expect_err("nothing is locked");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    Ok(())
}

#[tokio::test]
async fn unlock_leaves_the_lock_of_another_client() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    let store = open(blobs.clone())?;
    let grant = store.lock(&lock_info()).await?;
    // The lock is broken, and a third client takes it.
    blobs.delete(&key(LOCK), &DeleteOptions::default()).await.expect("it answers");
    let generation = locked_by_another(&blobs).await;
    let error = store.unlock(&grant.id).await.expect_err("it is another client's");
    assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
    let holder = store.lock_holder().await?.expect("the other lock is left alone");
    assert_eq!(holder.id.as_str(), generation.to_string());
    let error = store.unlock(&grant.id).await.expect_err("it is none any more");
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    assert_eq!(error.holder().map(|holder| holder.info.who.as_str()), Some("other@there"));
    Ok(())
}

#[tokio::test]
async fn a_lost_answer_to_a_lock_is_looked_up() -> Result<(), Error> {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    blobs.fail_at(0, Fault::LoseAnswer);
    let store = open(blobs.clone())?;
    let grant = store.lock(&lock_info()).await?;
    assert_eq!(blobs.calls(), ["put", "get"]);
    store.unlock(&grant.id).await?;
    assert_eq!(store.lock_holder().await?, None);
    Ok(())
}

#[tokio::test]
async fn a_request_for_a_lock_that_never_arrived_is_sent_again() -> Result<(), Error> {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    blobs.fail_at(0, Fault::LoseRequest);
    let store = open(blobs.clone())?;
    let grant = store.lock(&lock_info()).await?;
    assert_eq!(blobs.calls(), ["put", "get", "put"]);
    store.unlock(&grant.id).await
}

#[tokio::test]
async fn a_release_whose_answer_got_lost_is_done() -> Result<(), Error> {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let store = open(blobs.clone())?;
    let grant = store.lock(&lock_info()).await?;
    blobs.fail_at(0, Fault::LoseAnswer);
    store.unlock(&grant.id).await?;
    assert_eq!(blobs.calls(), ["delete", "delete"]);
    Ok(())
}

#[tokio::test]
async fn a_state_that_another_program_replaced_is_a_conflict() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    let store = open(blobs.clone())?;
    let version =
        store.write(Bytes::copy_from_slice(STATE), &WriteOptions::expecting(Expect::Absent)).await?;
    // The other program does not lock, and writes without conditions.
    blobs
        .put(&key("a/b/default.tfstate"), Bytes::from("{}"), &PutOptions::default())
        .await
        .expect("it answers");
    let options = WriteOptions::expecting(Expect::Version(version.clone()));
    let error = store.write(Bytes::copy_from_slice(STATE), &options).await.expect_err("it has changed");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let (expected, found) = error.mismatch().expect("it has both");
    assert!(expected.contains(version.as_str()) && found.contains("generation"), "{error}");
    assert_eq!(store.read().await?.map(|stored| stored.bytes), Some(b"{}".to_vec()));
    Ok(())
}

#[tokio::test]
async fn states_stand_under_the_prefix_and_others_are_no_workspaces() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    let there = backend(blobs.clone(), "/a/b/");
    assert_eq!(there.open(&WorkspaceName::default_name())?.key().as_str(), "a/b/default.tfstate");
    let names = [
        "a/b/dev.tfstate",
        "a/b/x@y.tfstate",
        "a/b/dev.tflock",
        "a/b/dev.tfstate.history/1.tfstate",
        "a/b/c/deep.tfstate",
        "a/bother.tfstate",
        "a/b/notes.txt",
        "other.tfstate",
    ];
    for name in names {
        blobs.put(&key(name), Bytes::from("{}"), &PutOptions::default()).await.expect("it answers");
    }
    let listed: Vec<String> = there.list().await?.iter().map(ToString::to_string).collect();
    assert_eq!(listed, ["default", "dev", "x@y"]);
    // A prefix that no client passes on unchanged is refused rather than changed.
    let error = backend(blobs, "a//b").open(&WorkspaceName::default_name()).expect_err("it is no key");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    Ok(())
}

#[tokio::test]
async fn an_empty_object_is_no_state() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    blobs.put(&key("a/b/default.tfstate"), Bytes::new(), &PutOptions::default()).await.expect("it answers");
    let store = open(blobs)?;
    assert_eq!(store.read().await?, None);
    store.write(Bytes::copy_from_slice(STATE), &WriteOptions::expecting(Expect::Absent)).await?;
    assert_eq!(store.read().await?.map(|stored| stored.bytes), Some(STATE.to_vec()));
    Ok(())
}

#[tokio::test]
async fn an_unreadable_lock_document_is_shown_and_freed() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("bucket");
    blobs.put(&key(LOCK), Bytes::from("nonsense"), &PutOptions::default()).await.expect("it answers");
    let store = open(blobs)?;
    let error = store.lock(&lock_info()).await.expect_err("it is held");
    let holder = error.holder().expect("there is an id");
    store.force_unlock(&holder.id).await?;
    store.lock(&lock_info()).await.map(drop)
}

#[tokio::test]
async fn a_store_without_generations_is_refused() {
    let mut can = MemoryBlobs::new("bucket").capabilities();
    can.generations = false;
    let error = open(MemoryBlobs::new("bucket").limited_to(can)).expect_err("it has no generations");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}
