//! What is read, answered and added to answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request};
use axum::routing::{any, get, post};
use groundstate_server::Origin;
use tokio::io::AsyncWriteExt;

use super::support::{get as get_head, header, post as post_head, rest, start, status, until};

#[tokio::test]
async fn requests_that_come_at_once_are_answered_in_their_order() {
    let slower_first = async |Path(number): Path<u64>| {
        tokio::time::sleep(Duration::from_millis(200_u64.saturating_sub(50 * number))).await;
        format!("<{number}>")
    };
    let server = start("", Router::new().route("/{number}", get(slower_first)));
    let requests: String =
        (0..5).map(|number| format!("GET /{number} HTTP/1.1\r\nHost: localhost\r\n\r\n")).collect();
    let answer = server.send(format!("{requests}{}", get_head("/5"))).await;
    let order: Vec<&str> = answer.split('<').skip(1).map(|rest| &rest[..1]).collect();
    assert_eq!(order, ["0", "1", "2", "3", "4", "5"], "{answer}");
}

#[tokio::test]
async fn a_client_that_has_sent_everything_still_gets_its_answer() {
    let slow = async |body: Bytes| {
        tokio::time::sleep(Duration::from_millis(300)).await;
        body.len().to_string()
    };
    let server = start("", Router::new().route("/", post(slow)));
    let mut client = server.connect().await;
    client.write_all(post_head("/", 4).as_bytes()).await.unwrap();
    client.write_all(b"four").await.unwrap();
    client.shutdown().await.unwrap();
    let answer = rest(client).await;
    assert!(status(&answer) == 200 && answer.ends_with("\r\n\r\n4"), "{answer}");
}

#[tokio::test]
async fn the_work_on_a_request_goes_on_when_its_client_goes_away() {
    let done = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&done);
    let work = async move |body: Bytes| {
        tokio::time::sleep(Duration::from_millis(500)).await;
        counts.fetch_add(body.len(), Ordering::SeqCst);
    };
    let server = start("", Router::new().route("/", post(work)));
    let mut client = server.connect().await;
    client.write_all(post_head("/", 4).as_bytes()).await.unwrap();
    client.write_all(b"four").await.unwrap();
    server.counted("groundstate_http_requests_in_flight 1").await;
    drop(client);
    while done.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(done.load(Ordering::SeqCst), 4);
    server.counted("groundstate_http_requests_in_flight 0").await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_never_taken_for_a_whole_one() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&seen);
    let work = async move |body: Result<Bytes, axum::extract::rejection::BytesRejection>| {
        counts.fetch_add(if body.is_ok() { 1 } else { 100 }, Ordering::SeqCst);
    };
    let server = start("", Router::new().route("/", post(work)));
    let mut client = server.connect().await;
    client.write_all(post_head("/", 10).as_bytes()).await.unwrap();
    client.write_all(b"half").await.unwrap();
    drop(client);
    let mut chunked = server.connect().await;
    chunked
        .write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        .await
        .unwrap();
    drop(chunked);
    while seen.load(Ordering::SeqCst) < 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(seen.load(Ordering::SeqCst), 200);
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_browsers_away() {
    let server = start("", Router::new().route("/", get(async || "here")));
    for path in ["/", "/nothing", "/healthz"] {
        let answer = server.get(path).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(header(&answer, name), Some(value), "{path}");
        }
        assert_eq!(header(&answer, "access-control-allow-origin"), None);
        assert_eq!(header(&answer, "strict-transport-security"), None);
        assert!(header(&answer, "x-request-id").is_some_and(|id| id.len() == 36), "{answer}");
    }
}

#[tokio::test]
async fn a_page_of_another_site_reaches_nothing() {
    let server = start("", Router::new().route("/", any(async || "here")));
    let with = async |headers: &str| {
        let request = format!("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n");
        server.send(request).await
    };
    let port = server.address.port();
    assert_eq!(status(&with(&format!("Host: 127.0.0.1:{port}\r\n")).await), 200);
    assert_eq!(status(&with("Host: localhost\r\nOrigin: http://localhost\r\n").await), 200);
    // A link may lead to the page.
    let link = "GET / HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n";
    assert_eq!(status(&server.send(link).await), 200);
    for headers in [
        &format!("Host: rebound.example.com:{port}\r\n")[..],
        "Host: localhost\r\nOrigin: https://evil.example.com\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
    ] {
        let answer = with(headers).await;
        assert_eq!(status(&answer), 421, "{headers}");
        assert!(answer.contains("urn:groundstate:problem:misdirected"), "{answer}");
    }
    let server = start(
        "public_url = \"https://states.example.com\"\n",
        Router::new().route("/", any(async || "here")),
    );
    let request = get_head("/").replace("localhost", "states.example.com");
    assert_eq!(status(&server.send(request).await), 200);
}

#[tokio::test]
async fn the_service_knows_the_client_and_the_id_of_the_request() {
    let who = async |request: Request| {
        let origin = request.extensions().get::<Origin>().unwrap();
        format!("{} {}", origin.remote.unwrap(), origin.request_id.as_deref().unwrap())
    };
    let server = start("[proxy]\ntrusted = [\"127.0.0.0/8\"]\n", Router::new().route("/", get(who)));
    let headers = "X-Forwarded-For: 192.0.2.7\r\nX-Request-Id: abc-1\r\nConnection";
    let answer = server.send(get_head("/").replace("Connection", headers)).await;
    assert!(answer.ends_with("192.0.2.7 abc-1"), "{answer}");
    assert_eq!(header(&answer, "x-request-id"), Some("abc-1"));
}

#[tokio::test]
async fn work_that_takes_too_long_is_503_and_goes_on() {
    let done = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&done);
    let work = async move || {
        tokio::time::sleep(Duration::from_secs(3)).await;
        counts.fetch_add(1, Ordering::SeqCst);
    };
    let server = start("[limits]\nrequest_timeout = \"1s\"\n", Router::new().route("/", get(work)));
    let answer = server.get("/").await;
    assert_eq!((status(&answer), header(&answer, "retry-after")), (503, Some("5")), "{answer}");
    assert_eq!(done.load(Ordering::SeqCst), 0);
    while done.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_defect_in_the_service_is_500_and_the_next_request_is_served() {
    async fn defect() {
        panic!("hush")
    }
    let server = start("", Router::new().route("/", get(defect)).route("/well", get(async || "here")));
    let answer = server.get("/").await;
    assert_eq!(status(&answer), 500);
    assert!(answer.contains("urn:groundstate:problem:internal") && !answer.contains("hush"), "{answer}");
    assert_eq!(status(&server.get("/well").await), 200);
}

#[tokio::test]
async fn a_client_that_waits_for_leave_to_send_its_body_gets_it() {
    let server = start("", Router::new().route("/", post(async |body: Bytes| body.len().to_string())));
    let mut client = server.connect().await;
    let head = post_head("/", 4).replace("Connection", "Expect: 100-continue\r\nConnection");
    client.write_all(head.as_bytes()).await.unwrap();
    until(&mut client, "HTTP/1.1 100 Continue\r\n\r\n").await;
    client.write_all(b"four").await.unwrap();
    assert_eq!(status(&rest(client).await), 200);
}
