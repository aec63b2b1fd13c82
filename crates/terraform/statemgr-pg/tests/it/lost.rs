//! Sessions that end, and poolers that exchange them.

use std::time::Duration;

use bytes::Bytes;
use groundstate_statemgr_pg::statemgr::{ErrorKind, StateStore, WorkspaceName, WriteOptions};
use groundstate_statemgr_pg::{PgBackend, PgSettings};
use groundstate_testkit::PgBouncer;

use crate::support::{Place, connect, holders, info, row};

#[tokio::test]
async fn a_write_under_a_lock_whose_session_was_ended_is_refused_and_stores_nothing() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap();
    let grant = store.lock(&info("a")).await.unwrap();
    let process = holders(&other, row(&other, "default").await).await[0];
    other.query_one("SELECT pg_terminate_backend($1)", &[&process]).await.unwrap();
    for _ in 0..2 {
        let error = store.write(Bytes::from_static(b"{ }"), &WriteOptions::any()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost, "{error:?}");
        assert!(error.to_string().contains(&format!("process {process} of the server")), "{error}");
        let error = store.delete(&WriteOptions::any()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost, "{error:?}");
    }
    let reader = place.store();
    assert_eq!(reader.read().await.unwrap().unwrap().bytes, b"{}");
    assert_eq!(reader.lock_holder().await.unwrap(), None);
    // Another client may lock meanwhile, and the one that lost the lock does not release it.
    let theirs = reader.lock(&info("b")).await.unwrap();
    assert_eq!(store.unlock(&grant.id).await.unwrap_err().kind(), ErrorKind::LockLost);
    assert_eq!(store.unlock(&grant.id).await.unwrap_err().kind(), ErrorKind::Locked);
    reader.write(Bytes::from_static(b"[]"), &WriteOptions::any()).await.unwrap();
    reader.unlock(&theirs.id).await.unwrap();
    // Once it is taken again, it is a lock like any other.
    let grant = store.lock(&info("a")).await.unwrap();
    store.write(Bytes::from_static(b"{ }"), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
}

#[tokio::test]
async fn a_lock_that_was_taken_away_within_its_session_is_noticed_too() {
    let Some(place) = Place::new().await else { return };
    let (store, other) = (place.store(), place.other().await);
    let grant = store.lock(&info("a")).await.unwrap();
    // As a pooler does that resets sessions.
    let process = store.lock_holder().await.unwrap().unwrap();
    assert_eq!(process.id, grant.id);
    other.batch_execute("BEGIN; LOCK TABLE terraform_remote_state.states IN EXCLUSIVE MODE").await.unwrap();
    let waits = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let killer = place.other().await;
    let end = async {
        while killer.query(waits, &[]).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let options = WriteOptions::any();
    let (outcome, ()) = tokio::join!(store.write(Bytes::from_static(b"{}"), &options), end);
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockLost, "the session ends within the transaction: {error:?}");
    other.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(place.store().read().await.unwrap(), None);
}

#[tokio::test]
async fn behind_a_pooler_that_exchanges_sessions_no_write_goes_by_without_its_lock() {
    let Some(place) = Place::new().await else { return };
    let Some(pooler) = PgBouncer::start(&place.conn_str(), 3) else { return };
    let settings = PgSettings::new(pooler.url(), &|_| None).unwrap();
    let backend = PgBackend::open(&settings).unwrap();
    let store = backend.open_store(&WorkspaceName::default_name());
    let options = WriteOptions::any();
    store.write(Bytes::from_static(b"{}"), &options).await.unwrap();
    let direct = place.other().await;
    let key = row(&direct, "default").await;
    let grant = match store.lock(&info("a")).await {
        Ok(grant) => grant,
        // It is found out already where sessions happen to be exchanged at once.
        Err(error) => return assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}"),
    };
    // Clients that stay in a transaction keep the session with the lock to themselves.
    let process = holders(&direct, key).await[0];
    let mut others = Vec::new();
    loop {
        let other = connect(pooler.url()).await;
        other.batch_execute("BEGIN").await.unwrap();
        let its: i32 = other.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        others.push(other);
        if its == process {
            break;
        }
    }
    let error = store.write(Bytes::from_static(b"{ }"), &options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
    assert_eq!(place.store().read().await.unwrap().unwrap().bytes, b"{}");
    assert_eq!(store.unlock(&grant.id).await.unwrap_err().kind(), ErrorKind::LockLost);
}
