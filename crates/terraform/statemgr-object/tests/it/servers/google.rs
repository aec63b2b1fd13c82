//! Google Cloud Storage, over the wire: the scenarios that need a server, faults at every request, contention, headers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_statemgr::{
    Backend, Error, ErrorKind, Expect, LockId, LockInfo, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_testkit::{Fault, GcsServer};

use super::{count_together, faults, google, google_blobs, requests};
use crate::support::{GUID, OTHER_GUID, document, lock_info, lock_info_with};

const BUCKET: &str = "states";
const STATE: &str = "a/b/default.tfstate";
const LOCK: &str = "a/b/default.tflock";
const OLD: &[u8] = br#"{"version":4,"serial":1,"lineage":"a"}"#;
const NEW: &[u8] = br#"{"version":4,"serial":2,"lineage":"a"}"#;

fn start() -> GcsServer {
    let server = GcsServer::start_blocking();
    server.create_bucket(BUCKET);
    server
}

fn open(server: &GcsServer) -> Result<Arc<dyn StateStore>, Error> {
    google(google_blobs(&server.endpoint(), BUCKET, &[]), BUCKET).store(&WorkspaceName::default_name())
}

/// Makes a bucket by the JSON interface; one that is there already is as good.
pub(super) fn create_bucket(endpoint: &str, bucket: &str) {
    let address = endpoint.trim_start_matches("http://").trim_end_matches('/');
    let body = format!(r#"{{"name":"{bucket}"}}"#);
    let request = format!(
        "POST /storage/v1/b?project=p HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer t0ken\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(request.as_bytes()).expect("it takes the request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn unlock_leaves_the_lock_of_another_client() -> Result<(), Error> {
    let server = start();
    let store = open(&server)?;
    let grant = store.lock(&lock_info()).await?;
    server.remove_object(BUCKET, LOCK);
    server.put_object(BUCKET, LOCK, document(OTHER_GUID));
    assert_eq!(store.unlock(&grant.id).await.expect_err("it is another's").kind(), ErrorKind::LockLost);
    let holder = store.lock_holder().await?.expect("the other lock is left alone");
    let refused = store.force_unlock(&LockId::new(OTHER_GUID)).await.expect_err("that is no generation");
    assert!(refused.to_string().contains(holder.id.as_str()), "{refused}");
    store.force_unlock(&holder.id).await?;
    assert_eq!(server.keys(BUCKET), [""; 0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_to_a_lock_is_looked_up() -> Result<(), Error> {
    for fault in [Fault::after_commit_500(), Fault::drop_after_commit(), Fault::duplicate()] {
        let server = start();
        let store = open(&server)?;
        server.fault(fault.on("*", "*.tflock").nth(1));
        let grant = store.lock(&lock_info()).await?;
        let stored = server.object(BUCKET, LOCK).expect("there is one lock");
        assert_eq!(LockInfo::parse(&stored.bytes)?.id.as_str(), GUID);
        assert_eq!(store.lock_holder().await?.map(|holder| holder.id), Some(grant.id.clone()));
        store.unlock(&grant.id).await?;
        assert_eq!(server.keys(BUCKET), [""; 0]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_refused_by_one_that_is_gone_is_asked_for_again() -> Result<(), Error> {
    let server = start();
    let store = open(&server)?;
    // The request for the lock is refused, and by then the lock that was in its way is gone.
    server.fault(Fault::refuse(412, "PreconditionFailed", None).on("*", "*.tflock").nth(1));
    let grant = store.lock(&lock_info()).await?;
    store.unlock(&grant.id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_never_more_than_terraforms() -> Result<(), Error> {
    let server = start();
    let (store, other) = (open(&server)?, open(&server)?);
    store.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    drop(requests(&server));
    let grant = store.lock(&lock_info()).await?;
    let lock = requests(&server);
    other.lock(&lock_info_with(OTHER_GUID)).await.expect_err("it is held");
    let refused = requests(&server);
    let stored = store.read().await?.expect("there is a state");
    let refresh = requests(&server);
    store
        .write(Bytes::copy_from_slice(NEW), &WriteOptions::expecting(Expect::Version(stored.version)))
        .await?;
    let persist = requests(&server);
    store.unlock(&grant.id).await?;
    let unlock = requests(&server);
    for (operation, seen, terraform) in [
        ("lock", lock, 1),
        ("refused", refused, 3),
        ("refresh", refresh, 2),
        ("persist", persist, 1),
        ("unlock", unlock, 1),
    ] {
        assert!(seen.len() <= terraform, "{operation}: {seen:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_customer_goes_with_the_state_and_not_with_its_lock() -> Result<(), Error> {
    let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let server = start();
    let blobs = google_blobs(&server.endpoint(), BUCKET, &[("encryption_key", key)]);
    let store = google(blobs, BUCKET).store(&WorkspaceName::default_name())?;
    let grant = store.lock(&lock_info()).await?;
    let version = store.write(Bytes::copy_from_slice(OLD), &WriteOptions::expecting(Expect::Absent)).await?;
    assert_eq!(store.read().await?.map(|stored| stored.bytes).as_deref(), Some(OLD));
    store.write(Bytes::copy_from_slice(NEW), &WriteOptions::expecting(Expect::Version(version))).await?;
    store.lock_holder().await?;
    store.unlock(&grant.id).await?;
    for request in server.requests() {
        let has = request.header("x-goog-encryption-key").is_some();
        assert_eq!(has, request.path.ends_with(STATE), "{} {}", request.method, request.path);
    }
    Ok(())
}

/// Locks, reads, writes and releases, with every fault at every request.
#[tokio::test(flavor = "multi_thread")]
async fn faults_at_every_request_lose_nothing() -> Result<(), Error> {
    for (name, fault) in faults() {
        for at in 1.. {
            let server = start();
            server.put_object(BUCKET, STATE, OLD);
            let store = open(&server)?;
            server.fault(fault.clone().nth(at));
            let case = format!("{name} at request {at}");
            let grant = store.lock(&lock_info()).await.expect(&case);
            let stored = store.read().await.expect(&case).expect(&case);
            match store
                .write(Bytes::copy_from_slice(NEW), &WriteOptions::expecting(Expect::Version(stored.version)))
                .await
            {
                // Managers recognise what they have sent.
                Err(error) if error.kind() == ErrorKind::Conflict && name == "duplicated" => {}
                outcome => drop(outcome.expect(&case)),
            }
            match store.unlock(&grant.id).await {
                // The second of two deletions finds nothing, and the server cannot tell that there were two.
                Err(error) if error.kind() == ErrorKind::LockLost && name == "duplicated" => {}
                outcome => outcome.expect(&case),
            }
            assert_eq!(server.object(BUCKET, STATE).expect(&case).bytes, NEW, "{case}");
            assert_eq!(server.keys(BUCKET), [STATE], "{case}");
            if server.requests().len() < usize::try_from(at).expect("it is small") {
                break;
            }
        }
    }
    Ok(())
}

/// A service that is gone from some request on: the state is the old or the new one, and what is left can be freed.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_goes_away_leaves_nothing_stuck() -> Result<(), Error> {
    for at in 1..6 {
        let server = start();
        server.put_object(BUCKET, STATE, OLD);
        let store = open(&server)?;
        server.fault(Fault::drop_before().after(at - 1));
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
        let found = server.object(BUCKET, STATE).expect("there is a state").bytes;
        assert!(found == OLD || found == NEW, "{at}");
        let other = open(&server)?;
        if let Some(holder) = other.lock_holder().await? {
            other.force_unlock(&holder.id).await?;
        }
        let grant = other.lock(&lock_info()).await?;
        other.unlock(&grant.id).await?;
    }
    Ok(())
}

/// Eight clients count in one state, each increment under the lock, or without it and with the loser trying again.
#[tokio::test(flavor = "multi_thread")]
async fn contention_loses_no_increment() -> Result<(), Error> {
    for locked in [true, false] {
        let server = start();
        server.put_object(BUCKET, STATE, "0");
        let made = count_together(|| open(&server), locked).await?;
        let found = server.object(BUCKET, STATE).expect("there is a state").bytes;
        assert_eq!(found, made.to_string().as_bytes(), "locked: {locked}");
        assert_eq!(server.keys(BUCKET), [STATE]);
    }
    Ok(())
}
