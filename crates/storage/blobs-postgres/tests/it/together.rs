//! Many clients at once, and connections that are lost.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_blobs_postgres::blobs::{
    BlobStore, Context, ErrorKind, GetOptions, Key, Precondition, PutOptions, Retry, RetryPolicy,
};
use groundstate_common::{OsIds, Sleeper, SystemClock};
use tokio_postgres::Client;

use crate::server::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_first_clients_create_one_table() {
    let Some(place) = Place::new() else { return };
    let place = Arc::new(place);
    let mut clients = Vec::new();
    for at in 0..8 {
        let place = Arc::clone(&place);
        clients.push(tokio::spawn(async move {
            // The original takes no lock, so its attempts get in the way; they may fail, ours may not.
            if at % 2 == 0 {
                let table = &place.table;
                let sql = format!("CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, data JSON NOT NULL, updated_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now())");
                drop(place.other().await.batch_execute(&sql).await);
            }
            place.open("").create_table().await
        }));
    }
    for client in clients {
        client.await.unwrap().unwrap();
    }
    let key = Key::parse("k").unwrap();
    place.open("").put(&key, "1".into(), &PutOptions::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_ten_connections_creates_a_row() {
    let Some(place) = Place::new() else { return };
    place.create().await;
    for round in 0..5 {
        let key = Key::parse(&format!("lock-{round}")).unwrap();
        let mut clients = Vec::new();
        for at in 0..10 {
            let (store, key) = (place.open(""), key.clone());
            clients.push(tokio::spawn(async move {
                let once = PutOptions::expecting(Precondition::Absent).contended();
                store.put(&key, format!("holder {at}").into(), &once).await.map_err(|error| error.kind())
            }));
        }
        let mut winners = 0;
        for client in clients {
            match client.await.unwrap() {
                Ok(_) => winners += 1,
                Err(kind) => assert_eq!(kind, ErrorKind::PreconditionFailed),
            }
        }
        assert_eq!(winners, 1);
    }
}

#[derive(Debug)]
pub(crate) struct Timer;

#[async_trait]
impl Sleeper for Timer {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Waits until a statement of this application waits for a lock, and ends its connection.
pub(crate) async fn terminate_waiting(other: &Client, application: &str) {
    let waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    while other.query(waiting, &[&application]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_connection_that_ends_within_a_write_is_found_out_about() {
    let Some(place) = Place::new() else { return };
    let application = format!("app_{}", place.table);
    let store = place.open(&format!("&application_name={application}"));
    store.create_table().await.unwrap();
    let (blocker, other) = (place.other().await, place.other().await);
    let key = Key::parse("k").unwrap();
    let before = store.put(&key, "old".into(), &PutOptions::default()).await.unwrap();
    let block = format!("BEGIN; SELECT 1 FROM {} WHERE key = 'k' FOR UPDATE", place.table);

    blocker.batch_execute(&block).await.unwrap();
    let expecting = PutOptions::expecting(Precondition::Version(before));
    let (outcome, ()) =
        tokio::join!(store.put(&key, "lost".into(), &expecting), terminate_waiting(&other, &application));
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Ambiguous);
    blocker.batch_execute("ROLLBACK").await.unwrap();
    let read = store.get(&key, &GetOptions::default()).await;
    // The first use of a connection that was ended may find that out.
    let read = if read.is_err() { store.get(&key, &GetOptions::default()).await } else { read };
    assert_eq!(&read.unwrap().unwrap().bytes[..], b"old");

    let policy = RetryPolicy::default().delays(Duration::from_millis(1), Duration::from_millis(20));
    let context = Context::new(Arc::new(SystemClock), Arc::new(Timer), Arc::new(OsIds));
    let retry = Retry::new(store, policy, context);
    blocker.batch_execute(&block).await.unwrap();
    let end = async {
        terminate_waiting(&other, &application).await;
        blocker.batch_execute("ROLLBACK").await.unwrap();
    };
    let (outcome, ()) = tokio::join!(retry.put(&key, "new".into(), &expecting), end);
    let version = outcome.unwrap();
    let blob = retry.get(&key, &GetOptions::default()).await.unwrap().unwrap();
    assert_eq!(&blob.bytes[..], b"new");
    assert!(blob.version().same_as(&version));
}
