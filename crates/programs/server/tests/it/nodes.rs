//! Many nodes on one store, answers that get lost, stores that fail, locks that outlive their server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_server::blobs::{BlobStore, MemoryBlobs, RetryPolicy};
use groundstate_server::common::{FixedClock, Timestamp};
use groundstate_server::{Parts, Policies};
use http::Request;

use crate::support::{Server, URL, context, lock_document, state};

const CLIENTS: usize = 16;

fn two_nodes() -> [Server; 2] {
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("states"));
    [(); 2].map(|()| Server::on(Arc::clone(&blobs), Policies::default()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_clients_on_two_nodes_one_holds_the_lock_and_no_write_is_lost() {
    let nodes = two_nodes();
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let client = nodes[number % 2].writer();
            let inside = Arc::clone(&inside);
            tokio::spawn(async move {
                let id = format!("client-{number}");
                loop {
                    let answer = client.lock(&id).await;
                    if answer.status == 200 {
                        break;
                    }
                    assert_eq!(answer.status, 423, "{}", answer.text());
                    assert!(
                        answer.json()["ID"].as_str().unwrap().starts_with("client-"),
                        "{}",
                        answer.text()
                    );
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "another client holds the lock");
                let read = client.get(URL).await;
                let serial = if read.status == 404 { 0 } else { read.json()["serial"].as_u64().unwrap() };
                client.post(&format!("?ID={id}"), state(serial + 1)).await.is(200);
                assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                client.unlock(&id).await.is(200);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let last = nodes[1].writer().get(URL).await.is(200).json();
    assert_eq!(last["serial"], CLIENTS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_conditional_writes_on_two_nodes_one_succeeds_for_each_version() {
    let nodes = two_nodes();
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let client = nodes[number % 2].writer();
            tokio::spawn(async move {
                loop {
                    let read = client.get(URL).await;
                    let request = Request::put(URL);
                    let (request, next) = match read.status.as_u16() {
                        404 => (request.header("if-none-match", "*"), 1),
                        _ => (
                            request.header("if-match", read.header("etag")),
                            read.json()["serial"].as_u64().unwrap() + 1,
                        ),
                    };
                    // Each client has a lineage of its own, so that no two write the same bytes.
                    let body = crate::support::state_of(&format!("of-{number}"), next);
                    let answer = client.send(request.body(Body::from(body)).unwrap()).await;
                    match answer.status.as_u16() {
                        200 => return next,
                        412 => {}
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
            })
        })
        .collect();
    let mut serials = BTreeSet::new();
    for task in tasks {
        assert!(serials.insert(task.await.unwrap()));
    }
    assert_eq!(serials, (1..=CLIENTS as u64).collect());
}

/// A node whose store is asked once, so that every fault reaches it.
fn faulty(blobs: &FaultyBlobs) -> Server {
    let mut parts = Parts::new(Arc::new(blobs.clone()));
    parts.retries = RetryPolicy::default().attempts(1);
    Server::of(parts)
}

/// Carries a whole run out: lock, read, write, unlock, where the call of this number fails. Each request is sent until it gets an
/// answer that is not of the store, as Terraform does it.
async fn run_with(fault: Fault, at: usize) -> bool {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let client = faulty(&blobs).writer();
    blobs.fail_at(at, fault);
    let mut hit = false;
    for (method, query, body) in [
        ("LOCK", "", lock_document("a")),
        ("GET", "", String::new()),
        ("POST", "?ID=a", state(1)),
        ("UNLOCK", "", lock_document("a")),
    ] {
        let mut answer = client.call(method, &format!("{URL}{query}"), &body).await;
        for _ in 0..2 {
            if answer.status.is_server_error() {
                assert_eq!(answer.status, 503, "{fault:?} at {at}: {}", answer.text());
                assert_ne!(answer.header("retry-after"), "");
                hit = true;
                answer = client.call(method, &format!("{URL}{query}"), &body).await;
            }
        }
        let expected = if method == "GET" { 404 } else { 200 };
        assert_eq!(answer.status, expected, "{method} with {fault:?} at {at}: {}", answer.text());
    }
    blobs.fail_at(usize::MAX, fault);
    assert_eq!(client.get(URL).await.is(200).body, state(1), "{fault:?} at {at}");
    client.lock("b").await.is(200);
    let versions = client.get("/api/v1/states/shop/network/default/versions").await.is(200).json();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1, "{fault:?} at {at}");
    hit
}

#[tokio::test]
async fn a_client_that_asks_again_gets_its_lock_and_its_write_whichever_request_of_the_store_fails() {
    let mut hits = 0;
    for fault in [Fault::Refuse, Fault::LoseRequest, Fault::LoseAnswer] {
        for at in 0..12 {
            hits += usize::from(run_with(fault, at).await);
        }
    }
    assert!(hits > 10, "{hits}");
}

#[tokio::test]
async fn a_store_that_is_down_or_denies_is_told_apart() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let client = faulty(&blobs).writer();
    client.post("", state(1)).await.is(200);
    blobs.fail_at(0, Fault::Down);
    for (method, body) in
        [("GET", String::new()), ("POST", state(2)), ("LOCK", lock_document("a")), ("DELETE", String::new())]
    {
        let answer = client.call(method, URL, body).await.is(503);
        assert_eq!(
            (answer.problem(), answer.header("retry-after")),
            ("unavailable".to_owned(), "2"),
            "{method}"
        );
    }
    blobs.fail_at(usize::MAX, Fault::Down);
    blobs.deny(&["get"]);
    let answer = client.get(URL).await.is(503);
    assert_eq!(answer.problem(), "store-unusable");
    assert!(!answer.text().contains("memory"), "the answer names no place: {}", answer.text());
    blobs.deny(&[]);
    assert_eq!(client.get(URL).await.is(200).body, state(1));
}

#[tokio::test]
async fn a_lock_outlives_the_server_that_gave_it() {
    let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("states"));
    let first = Server::on(Arc::clone(&blobs), Policies::default());
    first.writer().lock("a").await.is(200);
    drop(first);
    let second = Server::on(blobs, Policies::default()).writer();
    assert_eq!(second.lock("b").await.is(423).body, lock_document("a"));
    second.post("?ID=a", state(1)).await.is(200);
    second.unlock("a").await.is(200);
}

#[tokio::test]
async fn a_lock_with_a_time_to_live_ends_and_its_holder_does_not_write_any_more() {
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let mut parts = Parts::new(Arc::new(MemoryBlobs::new("states")));
    parts.context = context(&clock, 1);
    parts.policies.lock_ttl = Some(Duration::from_secs(60));
    // Not even an id that is stale is accepted once its lock has expired.
    parts.policies.accept_stale_id = true;
    let client = Server::of(parts).writer();
    client.lock("a").await.is(200);
    clock.advance(Duration::from_secs(50));
    // A lock that is taken again lasts from then on.
    client.lock("a").await.is(200);
    clock.advance(Duration::from_secs(59));
    client.post("?ID=a", state(1)).await.is(200);
    client.lock("b").await.is(423);
    clock.advance(Duration::from_secs(1));
    assert_eq!(client.post("?ID=a", state(2)).await.is(409).problem(), "lock-lost");
    client.lock("b").await.is(200);
    assert_eq!(client.post("?ID=a", state(2)).await.is(423).body, lock_document("b"));
    client.unlock("b").await.is(200);
    assert_eq!(client.post("?ID=a", state(2)).await.is(409).problem(), "lock-lost");
    assert_eq!(client.get(URL).await.body, state(1));
}
