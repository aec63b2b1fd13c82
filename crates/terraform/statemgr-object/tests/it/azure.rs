//! The scenarios of Azure, with the other program's part played by what it would send.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groundstate_blobs::{
    Attributes, BlobStore, GetOptions, Key, LeaseDuration, LeaseId, Leases, MemoryBlobs, Precondition,
    PutOptions,
};
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_statemgr::{
    Backend, Error, ErrorKind, Expect, LockId, LockInfo, Result, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_statemgr_object::{AzureBackend, AzureStore};

use crate::support::{GUID, OTHER_GUID, document, lock_info, lock_info_with};

const KEY: &str = "prod.tfstate";
const STATE: &[u8] = br#"{"version":4,"serial":1,"lineage":"a"}"#;
const NEXT: &[u8] = br#"{"version":4,"serial":2,"lineage":"a"}"#;

fn key() -> Key {
    Key::parse(KEY).expect("it is a key")
}

fn backend(blobs: impl BlobStore) -> Result<AzureBackend> {
    AzureBackend::new(Arc::new(blobs), "states", KEY)
}

fn open(blobs: impl BlobStore) -> Result<AzureStore> {
    backend(blobs)?.open(&WorkspaceName::default_name())
}

async fn metadata(blobs: &MemoryBlobs) -> BTreeMap<String, String> {
    let meta = blobs.head(&key()).await.expect("it answers").expect("the blob is there");
    meta.attributes.metadata
}

/// The other program takes the lease, and writes its document or is cut off before.
async fn leased_by_another(blobs: &MemoryBlobs, with_document: bool) -> LeaseId {
    let lease = LeaseId::parse(OTHER_GUID).expect("it is a GUID");
    if blobs.head(&key()).await.expect("it answers").is_none() {
        blobs.put(&key(), Bytes::new(), &PutOptions::default()).await.expect("it answers");
    }
    Leases::acquire(blobs, &key(), &lease, LeaseDuration::Infinite).await.expect("it is free");
    if with_document {
        let metadata =
            BTreeMap::from([("terraformlockid".to_owned(), STANDARD.encode(document(OTHER_GUID)))]);
        blobs
            .set_metadata(&key(), &metadata, &Precondition::Any, Some(&lease))
            .await
            .expect("the lease is held");
    }
    lease
}

#[tokio::test]
async fn a_lock_of_another_client_is_respected_and_freed_by_its_id() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    leased_by_another(&blobs, true).await;
    let store = open(blobs)?;
    let error = store.lock(&lock_info()).await.expect_err("it is held");
    assert_eq!(
        error.holder().map(|holder| (holder.id.as_str(), &*holder.info.who)),
        Some((OTHER_GUID, "other@there"))
    );
    store.force_unlock(&LockId::new(OTHER_GUID)).await?;
    store.lock(&lock_info()).await.map(drop)
}

#[tokio::test]
async fn the_lock_document_stands_in_the_metadata_as_terraform_writes_it() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let attributes = Attributes::content_type("application/json").with_metadata("Owner", "us");
    blobs.put(&key(), STATE.into(), &PutOptions::default().attributes(attributes)).await.expect("it answers");
    let store = open(blobs.clone())?;
    let grant = store.lock(&lock_info()).await?;
    assert_eq!(grant.id.as_str(), GUID);
    let there = metadata(&blobs).await;
    assert_eq!(there.keys().collect::<Vec<_>>(), ["owner", "terraformlockid"]);
    let written = STANDARD.decode(&there["terraformlockid"]).expect("it is base64");
    let info = LockInfo { path: "states/prod.tfstate".to_owned(), ..lock_info() };
    assert_eq!(String::from_utf8_lossy(&written), info.to_json());
    // A write under the lock keeps both, and so does the release with what is not its own.
    store.write(Bytes::copy_from_slice(NEXT), &WriteOptions::any()).await?;
    assert_eq!(metadata(&blobs).await, there);
    store.unlock(&grant.id).await?;
    assert_eq!(metadata(&blobs).await, BTreeMap::from([("owner".to_owned(), "us".to_owned())]));
    let blob = blobs.get(&key(), &GetOptions::default()).await.expect("it answers").expect("it is there");
    assert_eq!(
        (&*blob.bytes, blob.meta.attributes.content_type.as_deref()),
        (NEXT, Some("application/json"))
    );
    Ok(())
}

#[tokio::test]
async fn a_lease_without_a_document_is_freed_by_an_id_that_names_its_state() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    leased_by_another(&blobs, false).await;
    let store = open(blobs.clone())?;
    let error = store.lock(&lock_info()).await.expect_err("it is held");
    assert_eq!((error.kind(), error.holder()), (ErrorKind::Locked, None));
    let holder = store.lock_holder().await?.expect("it is held");
    assert!(holder.id.as_str().starts_with("break-lease"), "{holder}");
    assert!(error.to_string().contains(holder.id.as_str()), "{error}");
    // Only the lease's own id and the one that breaks it free it, and that one only as long as nothing has changed.
    for wrong in [GUID, "break-lease", "break-lease-generation0", ""] {
        let error = store.force_unlock(&LockId::new(wrong)).await.expect_err(wrong);
        assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    }
    store.force_unlock(&holder.id).await?;
    assert_eq!(store.lock_holder().await?, None);
    let again = store.force_unlock(&holder.id).await.expect_err("nothing is locked");
    assert_eq!(again.kind(), ErrorKind::NotFound);
    leased_by_another(&blobs, false).await;
    store.force_unlock(&LockId::new(OTHER_GUID)).await?;
    store.lock(&lock_info()).await.map(drop)
}

#[tokio::test]
async fn a_document_without_a_lease_is_no_lock() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    leased_by_another(&blobs, true).await;
    Leases::break_lease(&blobs, &key()).await.expect("it answers");
    let store = open(blobs)?;
    assert_eq!(store.lock_holder().await?, None);
    let grant = store.lock(&lock_info()).await?;
    assert_eq!(store.lock_holder().await?.map(|holder| holder.id), Some(grant.id));
    Ok(())
}

#[tokio::test]
async fn a_lease_whose_document_cannot_be_written_is_released() -> Result<(), Error> {
    for fault in [Fault::Refuse, Fault::Deny] {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
        let store = open(blobs.clone())?;
        store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
        blobs.fail_at(3, fault);
        store.lock(&lock_info()).await.expect_err("the document cannot be written");
        assert_eq!(blobs.calls(), ["head", "describe", "acquire", "describe", "release"]);
        assert_eq!(store.lock_holder().await?, None);
    }
    Ok(())
}

#[tokio::test]
async fn a_state_stored_meanwhile_is_locked_and_kept() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let (first, faulty) = (open(blobs.clone())?, FaultyBlobs::new(blobs.clone()));
    // Another user stores a state just before this one makes the empty blob to lock on.
    faulty.meanwhile(1, key(), Bytes::from(STATE));
    let second = open(faulty.clone())?;
    let grant = second.lock(&lock_info()).await?;
    assert_eq!(faulty.calls()[..4], ["head", "put", "head", "describe"]);
    assert_eq!(first.read().await?.map(|stored| stored.bytes), Some(STATE.to_vec()));
    second.unlock(&grant.id).await
}

#[tokio::test]
async fn a_write_under_anothers_lease_is_locked() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let store = open(blobs.clone())?;
    let version = store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
    leased_by_another(&blobs, true).await;
    for options in [WriteOptions::any(), WriteOptions::expecting(Expect::Version(version.clone()))] {
        let error =
            store.write(Bytes::copy_from_slice(NEXT), &options).await.expect_err("it is under a lease");
        assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
        let text = error.to_string();
        assert!(
            text.contains("lease") && text.contains("other@there") && text.contains(OTHER_GUID),
            "{text}"
        );
        let error = store.delete(&options).await.expect_err("it is under a lease");
        assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    }
    assert_eq!(store.read().await?.map(|stored| stored.version), Some(version));
    Ok(())
}

#[tokio::test]
async fn a_lost_answer_to_a_lock_is_asked_again() -> Result<(), Error> {
    for fault in [Fault::LoseAnswer, Fault::LoseRequest] {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
        let store = open(blobs.clone())?;
        store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
        blobs.fail_at(2, fault);
        let grant = store.lock(&lock_info()).await?;
        assert_eq!(blobs.calls(), ["head", "describe", "acquire", "acquire", "describe"]);
        store.unlock(&grant.id).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_broken_lease_is_noticed_at_the_next_write() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let store = open(blobs.clone())?;
    let version = store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
    let grant = store.lock(&lock_info()).await?;
    open(blobs.clone())?.force_unlock(&grant.id).await?;
    for options in [WriteOptions::any(), WriteOptions::expecting(Expect::Version(version))] {
        let error =
            store.write(Bytes::copy_from_slice(NEXT), &options).await.expect_err("the lock was broken");
        assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
        assert!(error.to_string().contains(GUID), "{error}");
    }
    leased_by_another(&blobs, true).await;
    let error = store.unlock(&grant.id).await.expect_err("another client has locked");
    assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
    assert_eq!(store.lock_holder().await?.map(|holder| holder.info.who), Some("other@there".to_owned()));
    Ok(())
}

#[tokio::test]
async fn workspaces_are_listed_by_terraforms_names() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let there = backend(blobs.clone())?;
    let dev = WorkspaceName::parse("dev").expect("it is a name");
    assert_eq!(there.open(&dev)?.key().as_str(), "prod.tfstateenv:dev");
    let others =
        ["prod.tfstateenv:dev.history/1", "prod.tfstateenv:a/b", "prod.tfstateenv:a b", "prod.tfstateenv:"];
    for name in others {
        let key = Key::parse(name).expect("it is a key");
        blobs.put(&key, Bytes::from("{}"), &PutOptions::default()).await.expect("it answers");
    }
    for number in 0..5100 {
        let key = Key::parse(&format!("prod.tfstateenv:w{number}")).expect("it is a key");
        blobs.put(&key, Bytes::from("{}"), &PutOptions::default()).await.expect("it answers");
    }
    let listed = there.list().await?;
    assert_eq!((listed.len(), listed[0].as_str()), (5101, "default"));
    Ok(())
}

#[tokio::test]
async fn the_first_write_makes_no_snapshot() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let store = open(blobs.clone())?.snapshot(true);
    let version =
        store.write(Bytes::copy_from_slice(STATE), &WriteOptions::expecting(Expect::Absent)).await?;
    assert!(blobs.snapshots(&key()).is_empty());
    let grant = store.lock(&lock_info()).await?;
    store.write(Bytes::copy_from_slice(NEXT), &WriteOptions::expecting(Expect::Version(version))).await?;
    store.unlock(&grant.id).await?;
    let kept: Vec<Bytes> = blobs.snapshots(&key()).into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(kept, [Bytes::from(STATE)]);
    Ok(())
}

#[tokio::test]
async fn a_release_that_fails_names_what_is_left_and_how_to_free_it() -> Result<(), Error> {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let store = open(blobs.clone())?;
    let grant = store.lock(&lock_info()).await?;
    blobs.fail_at(2, Fault::Down);
    let error = store.unlock(&grant.id).await.expect_err("the lease cannot be released");
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    let text = error.to_string();
    assert!(text.contains(&format!("the lease {GUID}")) && text.contains("release it by force"), "{text}");
    blobs.fail_at(usize::MAX, Fault::Refuse);
    // Exactly what the message says is left, and what it says frees it.
    assert!(store.lock_holder().await?.is_some());
    open(blobs)?.force_unlock(&grant.id).await?;
    assert_eq!(store.lock_holder().await?, None);
    Ok(())
}

#[tokio::test]
async fn a_locked_workspace_is_not_deleted_and_an_own_one_is_with_its_lock() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let store = open(blobs.clone())?;
    store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
    let grant = store.lock(&lock_info()).await?;
    store.delete(&WriteOptions::any()).await?;
    // Until it is released, the lock keeps others out although the state is gone.
    let other = open(blobs.clone())?;
    assert_eq!(other.read().await?, None);
    let error = other.lock(&lock_info_with(OTHER_GUID)).await.expect_err("it is held");
    assert_eq!(error.holder().map(|holder| holder.info.who.as_str()), Some("me@here"));
    store.unlock(&grant.id).await?;
    assert_eq!(blobs.head(&key()).await.expect("it answers"), None);
    Ok(())
}

#[tokio::test]
async fn lock_ids_are_guids() -> Result<(), Error> {
    let error =
        open(MemoryBlobs::new("states"))?.lock(&lock_info_with("mine")).await.expect_err("it is no GUID");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    Ok(())
}

#[tokio::test]
async fn versions_outlive_locks() -> Result<(), Error> {
    let blobs = MemoryBlobs::new("states");
    let (mine, other) = (open(blobs.clone())?, open(blobs)?);
    let version = mine.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
    let grant = other.lock(&lock_info_with(OTHER_GUID)).await?;
    other.unlock(&grant.id).await?;
    // The entity tag has changed twice, and the state has not.
    mine.write(Bytes::copy_from_slice(NEXT), &WriteOptions::expecting(Expect::Version(version)))
        .await
        .map(drop)
}

#[tokio::test]
async fn a_lease_without_a_document_is_known_by_the_intent_of_its_taker() -> Result<(), Error> {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let store = open(blobs.clone())?;
    store.write(Bytes::copy_from_slice(STATE), &WriteOptions::any()).await?;
    // The taker is cut off after the third request, when it has the lease.
    let lock = store.lock(&lock_info()).await?;
    let inner = open(blobs.clone())?;
    inner.force_unlock(&lock.id).await?;
    assert!(!metadata_of(&blobs).await.contains_key("groundstatelocking"), "the document has replaced it");
    let intent = BTreeMap::from([("groundstatelocking".to_owned(), STANDARD.encode(lock_info().to_json()))]);
    let leases = blobs.leases().expect("it has leases");
    leases.set_metadata(&key(), &intent, &Precondition::Any, None).await.expect("it is not leased");
    let lease = LeaseId::parse(GUID).expect("it is a GUID");
    leases.acquire(&key(), &lease, LeaseDuration::Infinite).await.expect("it is free");
    let other = open(blobs.clone())?;
    let error = other.lock(&lock_info_with(OTHER_GUID)).await.expect_err("it is held");
    assert_eq!(
        (error.kind(), error.holder()),
        (ErrorKind::Locked, None),
        "an intent proves nothing: {error}"
    );
    let holder = other.lock_holder().await?.expect("it is held");
    assert!(!holder.documented && holder.id.as_str() == GUID, "{holder}");
    other.force_unlock(&holder.id).await?;
    // An intent that is not the lease's frees nothing, and what breaks the lease is named instead.
    leases
        .acquire(&key(), &LeaseId::parse(OTHER_GUID).expect("it is one"), LeaseDuration::Infinite)
        .await
        .expect("it is free");
    let error = other.force_unlock(&LockId::new(GUID)).await.expect_err("it is another's");
    let named = error.holder().map(|holder| holder.id.clone()).unwrap_or_default();
    assert!(named.as_str().starts_with("break-lease"), "{error}");
    other.force_unlock(&named).await
}

async fn metadata_of(blobs: &impl BlobStore) -> BTreeMap<String, String> {
    blobs.head(&key()).await.expect("it answers").expect("the blob is there").attributes.metadata
}
