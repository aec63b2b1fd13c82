//! Azure Blob Storage, over the wire: the scenarios that need a server, faults at every request, contention.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_statemgr::{
    Backend, Error, ErrorKind, Expect, LockId, LockInfo, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_testkit::{AzureServer, Fault};

use super::{AZURE_KEY, azure, azure_blobs, count_together, faults, requests};
use crate::support::{GUID, OTHER_GUID, lock_info, lock_info_with};

const CONTAINER: &str = "states";
const BLOB: &str = "prod.tfstate";
const OLD: &[u8] = br#"{"version":4,"serial":1,"lineage":"a"}"#;
const NEW: &[u8] = br#"{"version":4,"serial":2,"lineage":"a"}"#;

fn start() -> AzureServer {
    let server = AzureServer::start_blocking();
    server.require_key("devstoreaccount1", AZURE_KEY);
    server.create_container(CONTAINER);
    server
}

fn backend(server: &AzureServer) -> groundstate_statemgr_object::AzureBackend {
    azure(azure_blobs(&server.account_endpoint(), CONTAINER), CONTAINER)
}

fn open(server: &AzureServer) -> Result<Arc<dyn StateStore>, Error> {
    backend(server).store(&WorkspaceName::default_name())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_a_lease_with_the_document_in_its_metadata() -> Result<(), Error> {
    let server = start();
    let (store, other) = (open(&server)?, open(&server)?);
    let grant = store.lock(&lock_info()).await?;
    assert_eq!(server.lease_id(CONTAINER, BLOB).as_deref(), Some(GUID));
    let error = other.lock(&lock_info_with(OTHER_GUID)).await.expect_err("it is held");
    let holder = error.holder().expect("there is a document");
    assert_eq!((holder.id.as_str(), &*holder.info.path), (GUID, "states/prod.tfstate"));
    store.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    store.unlock(&grant.id).await?;
    assert_eq!(server.lease_id(CONTAINER, BLOB), None);
    assert_eq!(other.read().await?.map(|stored| stored.bytes).as_deref(), Some(OLD));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_interrupted_lock_left_is_freed_by_the_id_that_is_shown() -> Result<(), Error> {
    let server = start();
    let store = open(&server)?;
    server.fault(Fault::drop_before().after(2));
    store.lock(&lock_info()).await.expect_err("the service goes away");
    server.clear_faults();
    if let Some(holder) = store.lock_holder().await? {
        open(&server)?.force_unlock(&holder.id).await?;
    }
    let grant = open(&server)?.lock(&lock_info_with(OTHER_GUID)).await?;
    assert_eq!(grant.id.as_str(), OTHER_GUID);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_under_anothers_lease_is_locked_and_a_broken_lease_is_noticed() -> Result<(), Error> {
    let server = start();
    let (store, other) = (open(&server)?, open(&server)?);
    store.write(Bytes::copy_from_slice(OLD), &WriteOptions::any()).await?;
    store.lock(&lock_info()).await?;
    let error = other
        .write(Bytes::copy_from_slice(NEW), &WriteOptions::any())
        .await
        .expect_err("it is under a lease");
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    assert!(error.to_string().contains("lease") && error.to_string().contains(GUID), "{error}");
    // The lease is broken, and the holder hears of it at the next write.
    server.break_lease(CONTAINER, BLOB);
    let error = store
        .write(Bytes::copy_from_slice(NEW), &WriteOptions::any())
        .await
        .expect_err("the lock was broken");
    assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_are_made_listed_and_deleted() -> Result<(), Error> {
    let server = start();
    let there = backend(&server);
    let dev = WorkspaceName::parse("dev").expect("it is a name");
    there.store(&dev)?.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    assert_eq!(server.blobs(CONTAINER), ["prod.tfstateenv:dev"]);
    assert_eq!(there.list().await?, [WorkspaceName::default_name(), dev.clone()]);
    there.delete(&dev, &groundstate_statemgr::DeleteWorkspace::new(lock_info())).await?;
    assert_eq!(server.blobs(CONTAINER), [""; 0]);
    Ok(())
}

/// The service does not remove a blob without its snapshots, and the caller did not ask for those to be deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_with_snapshots_is_emptied() -> Result<(), Error> {
    let server = start();
    let there = backend(&server).snapshot(true);
    let dev = WorkspaceName::parse("dev").expect("it is a name");
    let store = there.store(&dev)?;
    let version = store.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    store.write(Bytes::copy_from_slice(NEW), &WriteOptions::expecting(Expect::Version(version))).await?;
    there.delete(&dev, &groundstate_statemgr::DeleteWorkspace::new(lock_info())).await?;
    assert_eq!(there.list().await?, [WorkspaceName::default_name()]);
    assert_eq!((store.read().await?, store.lock_holder().await?), (None, None));
    assert_eq!(server.snapshots(CONTAINER, "prod.tfstateenv:dev"), 1);
    // Without the lock it is the same.
    store.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    store.delete(&WriteOptions::any()).await?;
    assert_eq!(store.read().await?, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_never_more_than_terraforms() -> Result<(), Error> {
    let server = start();
    let store = open(&server)?;
    let first = store.lock(&lock_info()).await?;
    let first_lock = requests(&server);
    store.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    store.unlock(&first.id).await?;
    drop(requests(&server));
    let grant = store.lock(&lock_info()).await?;
    let lock = requests(&server);
    let stored = store.read().await?.expect("there is a state");
    let refresh = requests(&server);
    store
        .write(Bytes::copy_from_slice(NEW), &WriteOptions::expecting(Expect::Version(stored.version)))
        .await?;
    let persist = requests(&server);
    store.unlock(&grant.id).await?;
    let unlock = requests(&server);
    for (operation, seen, terraform) in [
        ("first lock", first_lock, 5),
        ("lock", lock, 4),
        ("refresh", refresh, 1),
        ("persist", persist, 2),
        ("unlock", unlock, 3),
    ] {
        assert!(seen.len() <= terraform, "{operation}: {seen:?}");
    }
    Ok(())
}

/// Locks, reads, writes and releases, with every fault at every request.
#[tokio::test(flavor = "multi_thread")]
async fn faults_at_every_request_lose_nothing() -> Result<(), Error> {
    for (name, fault) in faults() {
        for at in 1.. {
            let server = start();
            server.put_blob(CONTAINER, BLOB, OLD);
            let store = open(&server)?;
            server.fault(fault.clone().nth(at));
            let case = format!("{name} at request {at}");
            let mut done = false;
            let mut stored = None;
            match store.lock(&lock_info()).await {
                Ok(grant) => {
                    let read = store.read().await.expect(&case).expect(&case);
                    let options = WriteOptions::expecting(Expect::Version(read.version));
                    let written = store.write(Bytes::copy_from_slice(NEW), &options).await;
                    let released = store.unlock(&grant.id).await;
                    stored = written.as_ref().is_ok().then_some(NEW);
                    done = written.is_ok() && released.is_ok();
                    if !done {
                        // Of two requests where one was meant, the second is refused by the first.
                        assert_eq!(name, "duplicated", "{case}: {written:?} {released:?}");
                    }
                }
                Err(error) => assert_eq!(name, "duplicated", "{case}: {error}"),
            }
            let found = server.blob(CONTAINER, BLOB).expect(&case).bytes;
            assert!(found == OLD || found == NEW, "{case}");
            assert!(stored.is_none_or(|stored| found == stored), "{case}");
            if done {
                assert_eq!(server.lease_id(CONTAINER, BLOB), None, "{case}");
            }
            let count = server.requests().len();
            server.clear_faults();
            let other = open(&server)?;
            if let Some(holder) = other.lock_holder().await? {
                other.force_unlock(&holder.id).await?;
            }
            let grant = other.lock(&lock_info_with(OTHER_GUID)).await?;
            other.unlock(&grant.id).await?;
            if count < usize::try_from(at).expect("it is small") {
                assert!(done, "{case}");
                break;
            }
        }
    }
    Ok(())
}

/// A service that is gone from some request on: the state is the old or the new one, and what is left can be freed.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_goes_away_leaves_nothing_stuck() -> Result<(), Error> {
    for at in 0..9 {
        let server = start();
        server.put_blob(CONTAINER, BLOB, OLD);
        let store = open(&server)?;
        server.fault(Fault::drop_before().after(at));
        if let Ok(grant) = store.lock(&lock_info()).await {
            if let Ok(Some(stored)) = store.read().await {
                drop(
                    store
                        .write(
                            Bytes::copy_from_slice(NEW),
                            &WriteOptions::expecting(Expect::Version(stored.version)),
                        )
                        .await,
                );
            }
            drop(store.unlock(&grant.id).await);
        }
        server.clear_faults();
        let found = server.blob(CONTAINER, BLOB).expect("there is a state").bytes;
        assert!(found == OLD || found == NEW, "{at}");
        let other = open(&server)?;
        if let Some(holder) = other.lock_holder().await? {
            other.force_unlock(&holder.id).await?;
        }
        let info = LockInfo { id: LockId::new(OTHER_GUID), ..lock_info() };
        let grant = other.lock(&info).await?;
        other.unlock(&grant.id).await?;
    }
    Ok(())
}

/// Eight clients count in one state, each increment under the lock, or without it and with the loser trying again.
#[tokio::test(flavor = "multi_thread")]
async fn contention_loses_no_increment() -> Result<(), Error> {
    for locked in [true, false] {
        let server = start();
        server.put_blob(CONTAINER, BLOB, "0");
        let made = count_together(|| open(&server), locked).await?;
        let found = server.blob(CONTAINER, BLOB).expect("there is a state").bytes;
        assert_eq!(found, made.to_string().as_bytes(), "locked: {locked}");
        assert_eq!(server.lease_id(CONTAINER, BLOB), None);
    }
    Ok(())
}
