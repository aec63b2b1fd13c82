//! Requests and clients that are too many or too large.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::io::AsyncWriteExt;

use super::support::{get as get_head, header, rest, start, status, until};

fn app() -> Router {
    Router::new().route("/", get(async || "here"))
}

#[tokio::test]
async fn heads_that_are_too_large_are_431() {
    let server = start("[limits]\nheader_bytes = \"8KiB\"\nheaders = 20\n", app());
    let with =
        |headers: &str| format!("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    assert_eq!(status(&server.send(with(&format!("X-Long: {}\r\n", "x".repeat(6000)))).await), 200);
    assert_eq!(status(&server.send(with(&format!("X-Long: {}\r\n", "x".repeat(9000)))).await), 431);
    assert_eq!(status(&server.send(with(&"X-Many: x\r\n".repeat(10))).await), 200);
    assert_eq!(status(&server.send(with(&"X-Many: x\r\n".repeat(30))).await), 431);
    // One that never ends is not read to its end.
    let bomb = with(&format!("X-Bomb: {}\r\n", "x".repeat(10 << 20)));
    assert_eq!(status(&server.send(bomb).await), 431);
    assert_eq!(status(&server.get("/").await), 200);
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let server = start("", app());
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nBad Header: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut client = server.connect().await;
        client.write_all(bytes).await.unwrap();
        client.shutdown().await.unwrap();
        let answer = rest(client).await;
        assert!(answer.is_empty() || status(&answer) == 400, "{answer:?}");
    }
    assert_eq!(status(&server.get("/").await), 200);
}

#[tokio::test]
async fn more_requests_than_an_address_may_make_are_429_with_the_time_to_wait() {
    let server = start("[limits]\nrequests_per_second = 1\nburst = 3\n", app());
    let mut statuses = Vec::new();
    let mut refused = String::new();
    for _ in 0..20 {
        let answer = server.get("/").await;
        statuses.push(status(&answer));
        if status(&answer) == 429 {
            refused = answer;
        }
    }
    assert_eq!(statuses[..3], [200, 200, 200]);
    assert_eq!(header(&refused, "retry-after"), Some("1"), "{refused}");
    assert!(refused.contains("urn:groundstate:problem:too-many-requests"), "{refused}");
    // Pulumi's CLI reads its own members alone.
    let refused = server.get("/api/user").await;
    assert!(refused.contains("\"code\":429") && !refused.contains("urn:"), "{refused}");
    // Machines that look after the server are not counted.
    assert_eq!(status(&server.get("/healthz").await), 200);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(status(&server.get("/").await), 200);
}

#[tokio::test]
async fn clients_behind_a_trusted_proxy_are_counted_one_by_one() {
    let lines = "[proxy]\ntrusted = [\"127.0.0.1\"]\n[limits]\nrequests_per_second = 1\nburst = 1\n";
    let server = start(lines, app());
    let from = async |client: &str| {
        let request =
            get_head("/").replace("Connection", &format!("X-Forwarded-For: {client}\r\nConnection"));
        status(&server.send(request).await)
    };
    assert_eq!(from("192.0.2.1").await, 200);
    assert_eq!(from("192.0.2.2").await, 200);
    let mut last = 200;
    for _ in 0..5 {
        last = from("192.0.2.1").await;
        if last == 429 {
            break;
        }
    }
    assert_eq!(last, 429);
    // The proxy itself is not a client.
    for _ in 0..5 {
        assert_eq!(status(&server.get("/").await), 200);
    }
}

#[tokio::test]
async fn a_flood_of_connections_of_one_address_leaves_the_server_as_it_was() {
    let server = start("[limits]\nconnections_per_address = 20\n", app());
    let mut flood = Vec::new();
    for _ in 0..200 {
        flood.push(server.connect().await);
    }
    server.counted(r#"groundstate_connections_refused_total{reason="address_limit"} 180"#).await;
    // Those that came first are served.
    let mut first = flood.swap_remove(0);
    first.write_all(get_head("/").as_bytes()).await.unwrap();
    assert_eq!(status(&rest(first).await), 200);
    drop(flood);
    server.counted("groundstate_connections 0").await;
    assert_eq!(status(&server.get("/").await), 200);
}

#[tokio::test]
async fn more_connections_than_the_server_has_wait_for_their_turn() {
    let server = start("[limits]\nconnections = 2\n", app());
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut client = server.connect().await;
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        until(&mut client, "here").await;
        held.push(client);
    }
    let mut third = server.connect().await;
    third.write_all(get_head("/").as_bytes()).await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(
        Duration::from_millis(300),
        tokio::io::AsyncReadExt::read(&mut third, &mut byte),
    );
    assert!(early.await.is_err(), "it has no turn yet");
    drop(held);
    assert_eq!(status(&rest(third).await), 200);
}
