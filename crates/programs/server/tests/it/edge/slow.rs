//! Clients that are slow, or pretend to be.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use super::support::{PATIENCE, post as post_head, rest, start, status, until};

const LIMITS: &str = "[limits]\nheader_timeout = \"1s\"\nidle_timeout = \"2s\"\nbody_timeout = \"1s\"\nwrite_timeout = \"1s\"\n";

fn app() -> Router {
    let length = async |body: Result<Bytes, BytesRejection>| match body {
        Ok(body) => body.len().to_string(),
        Err(_) => "refused".to_owned(),
    };
    // More than what sockets hold.
    let large = async || vec![b'x'; 64 << 20];
    Router::new().route("/length", post(length)).route("/large", get(large)).route("/", get(async || "here"))
}

#[tokio::test]
async fn a_head_that_trickles_in_is_cut_off_and_others_are_served_meanwhile() {
    let server = start(LIMITS, app());
    let mut slow = server.connect().await;
    let trickle = async {
        for byte in "GET / HTTP/1.1\r\nHost: localhost\r\nX-Filler: ".bytes().chain(std::iter::repeat(b'x')) {
            if slow.write_all(&[byte]).await.is_err() {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    let others = async {
        for _ in 0..5 {
            assert_eq!(status(&server.get("/").await), 200);
        }
    };
    let (trickled, ()) = tokio::join!(timeout(PATIENCE, trickle), others);
    trickled.expect("the server closes the connection");
    server.counted(r#"groundstate_connections_refused_total{reason="head_timeout"} 1"#).await;
}

#[tokio::test]
async fn a_second_head_that_trickles_in_is_cut_off_as_well() {
    let server = start(LIMITS, app());
    let mut client = server.connect().await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    until(&mut client, "here").await;
    client.write_all(b"GET / HTT").await.unwrap();
    assert_eq!(rest(client).await, "");
    server.counted(r#"groundstate_connections_refused_total{reason="head_timeout"} 1"#).await;
}

#[tokio::test]
async fn a_connection_without_requests_is_closed() {
    let server = start(LIMITS, app());
    let silent = server.connect().await;
    let mut used = server.connect().await;
    used.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    until(&mut used, "here").await;
    assert_eq!(rest(used).await, "");
    assert_eq!(rest(silent).await, "");
    server.counted("groundstate_connections 0").await;
}

#[tokio::test]
async fn a_body_that_pauses_is_answered_with_408() {
    let server = start(LIMITS, app());
    let mut client = server.connect().await;
    client.write_all(post_head("/length", 10).as_bytes()).await.unwrap();
    client.write_all(b"half").await.unwrap();
    let answer = rest(client).await;
    assert_eq!(status(&answer), 408, "{answer}");
    assert!(answer.contains("urn:groundstate:problem:request-timeout"), "{answer}");
}

#[tokio::test]
async fn a_body_that_trickles_in_is_answered_with_408_though_it_never_pauses() {
    let server = start(LIMITS, app());
    let mut client = server.connect().await;
    client.write_all(post_head("/length", 1 << 20).as_bytes()).await.unwrap();
    let start = Instant::now();
    let (mut reader, mut writer) = client.split();
    let trickle = async {
        while writer.write_all(b"x").await.is_ok() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    let mut answer = Vec::new();
    tokio::select! {
        () = trickle => {}
        read = reader.read_to_end(&mut answer) => drop(read),
        () = sleep(PATIENCE) => panic!("the server does not answer"),
    }
    assert_eq!(status(&String::from_utf8_lossy(&answer)), 408);
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let server = start(LIMITS, app());
    let mut client = server.connect().await;
    client.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    server.counted(r#"groundstate_http_requests_total{method="GET",route="/large",status="2xx"} 1"#).await;
    server.counted("groundstate_connections 0").await;
    let mut answer = Vec::new();
    drop(client.read_to_end(&mut answer).await);
    assert!(answer.len() < 64 << 20, "{} bytes came", answer.len());
}

#[tokio::test]
async fn a_slow_client_that_keeps_to_the_limits_is_served() {
    let server = start("[limits]\nbody_timeout = \"20s\"\nupload_rate = \"1B\"\n", app());
    let mut client = server.connect().await;
    client.write_all(post_head("/length", 8).as_bytes()).await.unwrap();
    for byte in b"1234567" {
        client.write_all(&[*byte]).await.unwrap();
        sleep(Duration::from_millis(200)).await;
    }
    client.write_all(b"8").await.unwrap();
    let answer = rest(client).await;
    assert!(status(&answer) == 200 && answer.ends_with("\r\n\r\n8"), "{answer}");
}
