//! Connections that are lost, and sessions that the server ends all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundstate_blobs_postgres::blobs::{
    BlobStore, Context, ErrorKind, GetOptions, Key, Precondition, PutOptions, Retry, RetryPolicy,
};
use groundstate_common::{OsIds, SystemClock};

use super::Place;
use crate::together::{Timer, terminate_waiting};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_connection_that_ends_within_a_write_is_found_out_about() {
    let Some(place) = Place::new() else { return };
    let application = format!("app_{}", place.table);
    let store = place.open(&format!("&application_name={application}"));
    let (blocker, other) = (place.other().await, place.other().await);
    let key = Key::parse("k").unwrap();
    let before = store.put(&key, "old".into(), &PutOptions::default()).await.unwrap();
    blocker
        .batch_execute(&format!("BEGIN; SELECT 1 FROM {} WHERE key = 'k' FOR UPDATE", place.table))
        .await
        .unwrap();
    let expecting = PutOptions::expecting(Precondition::Version(before));
    let (outcome, ()) =
        tokio::join!(store.put(&key, "lost".into(), &expecting), terminate_waiting(&other, &application));
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Ambiguous);
}

/// Each adds one to a number, many times, while the server ends every session again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_change_is_lost_while_sessions_are_ended() {
    const WRITERS: usize = 4;
    const CHANGES: u32 = 25;
    let Some(place) = Place::new() else { return };
    let place = Arc::new(place);
    let application = format!("app_{}", place.table);
    let key = Key::parse("number").unwrap();
    place.open("").put(&key, "0 0 0 0 0".into(), &PutOptions::default()).await.unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let end = {
        let (place, application, is_done) = (Arc::clone(&place), application.clone(), Arc::clone(&is_done));
        tokio::spawn(async move {
            let other = place.other().await;
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
            while !is_done.load(Ordering::Relaxed) {
                other.query(sql, &[&application]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let (place, application, key) = (Arc::clone(&place), application.clone(), key.clone());
        writers.push(tokio::spawn(async move {
            let store = place.open(&format!("&application_name={application}"));
            let delays = RetryPolicy::default().delays(Duration::from_millis(1), Duration::from_millis(20));
            let context = Context::new(Arc::new(SystemClock), Arc::new(Timer), Arc::new(OsIds));
            let store = Retry::new(store, delays, context);
            for change in 1..=CHANGES {
                while !add_one(&store, &key, writer, change).await {}
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    is_done.store(true, Ordering::Relaxed);
    end.await.unwrap();
    let blob = place.open("").get(&key, &GetOptions::default()).await.unwrap().unwrap();
    let text = String::from_utf8(blob.bytes.to_vec()).unwrap();
    assert_eq!(text, "100 25 25 25 25");
}

/// Whether this change of this writer is made. The content has the number, and which change of each writer was the last: so a writer
/// whose answer got lost finds out, also when others have written since.
async fn add_one(store: &impl BlobStore, key: &Key, writer: usize, change: u32) -> bool {
    let Ok(Some(blob)) = store.get(key, &GetOptions::default()).await else { return false };
    let text = String::from_utf8(blob.bytes.to_vec()).unwrap();
    let mut numbers: Vec<u32> = text.split(' ').map(|number| number.parse().unwrap()).collect();
    if numbers[writer + 1] == change {
        return true;
    }
    assert_eq!(numbers[writer + 1] + 1, change, "no change of a writer is lost: {text}");
    numbers[0] += 1;
    numbers[writer + 1] = change;
    let next: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let expecting = PutOptions::expecting(Precondition::Version(blob.version().clone()));
    match store.put(key, next.join(" ").into(), &expecting).await {
        Ok(_) => true,
        Err(error) => {
            let kinds = [ErrorKind::PreconditionFailed, ErrorKind::Unavailable, ErrorKind::Ambiguous];
            assert!(kinds.contains(&error.kind()), "{error:?}");
            false
        }
    }
}
