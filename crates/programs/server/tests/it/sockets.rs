//! What goes over real connections: bodies in chunks, bodies that are refused, clients that go away.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_server::Parts;
use groundstate_server::auth::Role;
use groundstate_server::blobs::MemoryBlobs;

use crate::listening::Listening;
use crate::support::{Server, URL, lock_document, state};

fn with_limit(bytes: u64) -> Server {
    let mut parts = Parts::new(Arc::new(MemoryBlobs::new("states")));
    parts.limits.state_bytes = bytes;
    Server::of(parts)
}

fn request(method: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {URL} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

#[test]
fn a_client_that_sends_too_much_reads_the_answer_and_not_a_reset() {
    let server = with_limit(1000);
    let listening = Listening::start(&server, Role::Write);
    let large = "x".repeat(20 << 20);
    let answer = listening.raw(&request("POST", "", &large));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let answer = listening.raw(&request("LOCK", "", &large));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let answer = listening.raw(&request("POST", "Content-Encoding: gzip\r\n", &large));
    assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
}

#[test]
fn a_body_in_chunks_is_stored_and_one_that_breaks_off_is_not() {
    let server = Server::new();
    let listening = Listening::start(&server, Role::Write);
    let text = state(1);
    let (first, second) = text.split_at(30);
    let head =
        format!("POST {URL} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunks = |end: &str| {
        format!("{head}{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n{end}", first.len(), second.len()).into_bytes()
    };
    // The connection ends in front of the last chunk.
    let mut stream = listening.connect();
    stream.write_all(&chunks("")).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    drop(stream.read_to_end(&mut Vec::new()));
    let missing = listening.raw(&request("GET", "", ""));
    assert!(missing.starts_with("HTTP/1.1 404 "), "{missing}");
    let answer = listening.raw(&chunks("0\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let read = listening.raw(&request("GET", "", ""));
    assert!(read.ends_with(&text), "{read}");
}

#[test]
fn a_client_that_waits_for_leave_is_answered_before_it_sends() {
    let server = with_limit(1000);
    let listening = Listening::start(&server, Role::Write);
    let mut stream = listening.connect();
    let head = format!(
        "POST {URL} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // A body that is wanted is asked for.
    let mut stream = listening.connect();
    let text = state(1);
    let head = format!(
        "POST {URL} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut leave = [0; 25];
    stream.read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn a_refused_body_that_never_ends_is_not_waited_for_for_ever() {
    let mut parts = Parts::new(Arc::new(MemoryBlobs::new("states")));
    parts.limits.state_bytes = 1000;
    parts.limits.drained_for = Duration::from_millis(200);
    let listening = Listening::start(&Server::of(parts), Role::Write);
    let mut stream = listening.connect();
    let head =
        format!("POST {URL} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n{{");
    let begun = Instant::now();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(begun.elapsed() >= Duration::from_millis(200));
}

#[test]
fn a_server_that_ends_in_an_upload_leaves_the_state_and_the_lock_as_they_are() {
    let server = Server::new();
    let listening = Listening::start(&server, Role::Write);
    assert!(listening.raw(&request("LOCK", "", &lock_document("a"))).starts_with("HTTP/1.1 200 "));
    assert!(listening.raw(&format!("POST {URL}?ID=a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", state(1).len(), state(1)).into_bytes()).starts_with("HTTP/1.1 200 "));
    let mut stream = listening.connect();
    let head = format!("POST {URL}?ID=a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&[b' '; 10 << 20]).unwrap();
    drop(listening);
    let listening = Listening::start(&server, Role::Write);
    assert!(listening.raw(&request("GET", "", "")).ends_with(&state(1)));
    assert!(listening.raw(&request("LOCK", "", &lock_document("b"))).starts_with("HTTP/1.1 423 "));
}
