//! The end of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::routing::{get, post};
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::common::OsIds;
use groundstate_server::edge::{Ended, Metrics, Server, ServerParts, Stage};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::support::{PATIENCE, config, post as post_head, rest, start, status, until};

/// A service that stores whole bodies once it is let, and how many bytes are stored.
fn storing() -> (Router, Arc<Semaphore>, Arc<AtomicUsize>) {
    let (leave, stored) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let (waits, counts) = (Arc::clone(&leave), Arc::clone(&stored));
    let store = async move |body: Result<Bytes, BytesRejection>| {
        let Ok(body) = body else { return "refused" };
        waits.acquire().await.unwrap().forget();
        counts.fetch_add(body.len(), Ordering::SeqCst);
        "stored"
    };
    (Router::new().route("/", post(store)).route("/", get(async || "here")), leave, stored)
}

#[tokio::test]
async fn an_upload_that_has_begun_is_finished_and_no_new_connection_is_accepted() {
    let (app, leave, stored) = storing();
    leave.add_permits(1);
    let server = start("", app);
    let mut client = server.connect().await;
    client.write_all(post_head("/", 8).as_bytes()).await.unwrap();
    client.write_all(b"half").await.unwrap();
    server.counted("groundstate_http_requests_in_flight 1").await;
    // One that has no request is closed at once.
    let mut idle = server.connect().await;
    idle.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    until(&mut idle, "here").await;
    server.control.stop();
    assert_eq!(rest(idle).await, "");
    let refused = async {
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.unwrap();
    client.write_all(b"more").await.unwrap();
    let answer = rest(client).await;
    assert!(status(&answer) == 200 && answer.ends_with("stored"), "{answer}");
    assert_eq!(server.ended.await.unwrap(), Ended::Finished);
    assert_eq!(stored.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn an_upload_that_does_not_end_is_cut_and_nothing_of_it_is_stored() {
    let (app, leave, stored) = storing();
    leave.add_permits(1);
    let server = start("[limits]\nshutdown_timeout = \"1s\"\n", app);
    let mut client = server.connect().await;
    client.write_all(post_head("/", 8).as_bytes()).await.unwrap();
    client.write_all(b"half").await.unwrap();
    server.counted("groundstate_http_requests_in_flight 1").await;
    server.control.stop();
    assert_eq!(server.ended.await.unwrap(), Ended::Cut);
    assert_eq!(rest(client).await, "");
    assert_eq!(stored.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_write_that_has_begun_is_waited_for_after_its_client_was_cut_off() {
    let (app, leave, stored) = storing();
    let server = start("[limits]\nshutdown_timeout = \"2s\"\n", app);
    let mut client = server.connect().await;
    client.write_all(post_head("/", 4).as_bytes()).await.unwrap();
    client.write_all(b"four").await.unwrap();
    server.counted("groundstate_http_requests_in_flight 1").await;
    server.control.stop();
    server.control.reached(Stage::Closing).await;
    assert_eq!(rest(client).await, "");
    assert!(!server.ended.is_finished());
    leave.add_permits(1);
    assert_eq!(server.ended.await.unwrap(), Ended::Cut);
    assert_eq!(stored.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn told_twice_it_ends_now() {
    let (app, _leave, stored) = storing();
    let server = start("", app);
    let mut client = server.connect().await;
    client.write_all(post_head("/", 4).as_bytes()).await.unwrap();
    client.write_all(b"four").await.unwrap();
    server.counted("groundstate_http_requests_in_flight 1").await;
    server.control.stop();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!server.ended.is_finished());
    server.control.stop();
    assert_eq!(tokio::time::timeout(PATIENCE, server.ended).await.unwrap().unwrap(), Ended::Abandoned(1));
    assert_eq!(stored.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_server_that_stops_is_not_ready_any_more() {
    let (app, leave, _stored) = storing();
    let server = start("", app);
    let mut client = server.connect().await;
    client.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nfour").await.unwrap();
    server.counted("groundstate_http_requests_in_flight 1").await;
    server.control.stop();
    leave.add_permits(1);
    // Its connection ends with the answer, so that the client goes elsewhere.
    let answer = rest(client).await;
    assert!(status(&answer) == 200 && answer.to_lowercase().contains("connection: close"), "{answer}");
    assert_eq!(server.ended.await.unwrap(), Ended::Finished);
}

#[tokio::test]
async fn an_address_that_another_process_has_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let text = format!("store = \"memory:\"\nlisten = [\"{address}\"]\n");
    let config = groundstate_server::config::Sources::new().file("server.toml".as_ref(), &text).unwrap();
    let config = config.build(&|_| None).unwrap();
    let store = Arc::new(MemoryBlobs::new("states"));
    let parts = ServerParts::new(Router::new(), store, Arc::new(OsIds), Metrics::new());
    let error = Server::bind(&config, parts).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}: another process listens there"));
    assert_eq!(config.listen, [address]);
}

#[tokio::test]
async fn several_addresses_are_listened_on() {
    let mut config = config("");
    config.listen.push("127.0.0.1:0".parse().unwrap());
    let store = Arc::new(MemoryBlobs::new("states"));
    let parts = ServerParts::new(Router::new(), store, Arc::new(OsIds), Metrics::new());
    let server = Server::bind(&config, parts).unwrap();
    let addresses = server.addresses();
    assert_eq!(addresses.len(), 2);
    let control = server.control();
    let ended = tokio::spawn(server.run());
    for address in addresses {
        let stream = TcpStream::connect(address).await.unwrap();
        let answer = super::support::send(stream, super::support::get("/healthz")).await;
        assert_eq!(status(&answer), 200);
    }
    control.stop();
    assert_eq!(ended.await.unwrap(), Ended::Finished);
}
