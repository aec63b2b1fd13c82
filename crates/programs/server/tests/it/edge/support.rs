//! A server around a small service, and clients that write bytes.

#![expect(clippy::panic, reason = "helpers of tests fail by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use groundstate_server::blobs::{BlobStore, MemoryBlobs};
use groundstate_server::common::OsIds;
use groundstate_server::config::{Config, Sources};
use groundstate_server::edge::{Control, Ended, Metrics, Reloader, Server, ServerParts};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Longer than anything takes on a machine that is busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A configuration of these lines, on a port that is free.
pub(super) fn config(lines: &str) -> Config {
    let text = format!("store = \"memory:\"\nlisten = [\"127.0.0.1:0\"]\n{lines}");
    Sources::new().file("server.toml".as_ref(), &text).unwrap().build(&|_| None).unwrap()
}

/// A server that runs until it is told to stop.
pub(super) struct Running {
    pub(super) address: SocketAddr,
    pub(super) metrics_address: Option<SocketAddr>,
    pub(super) metrics: Metrics,
    pub(super) control: Control,
    pub(super) reloader: Reloader,
    pub(super) ended: JoinHandle<Ended>,
}

pub(super) fn start(lines: &str, app: Router) -> Running {
    start_with(&config(lines), app, Arc::new(MemoryBlobs::new("states")))
}

pub(super) fn start_with(config: &Config, app: Router, store: Arc<dyn BlobStore>) -> Running {
    let metrics = Metrics::new();
    let parts = ServerParts::new(app, store, Arc::new(OsIds), metrics.clone());
    let server = Server::bind(config, parts).unwrap();
    Running {
        address: server.addresses()[0],
        metrics_address: server.metrics_address(),
        metrics,
        control: server.control(),
        reloader: server.reloader(),
        ended: tokio::spawn(server.run()),
    }
}

impl Running {
    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes on a connection of their own and reads until the server closes it.
    pub(super) async fn send(&self, bytes: impl AsRef<[u8]>) -> String {
        send(self.connect().await, bytes).await
    }

    /// A GET on a connection that ends with it.
    pub(super) async fn get(&self, path: &str) -> String {
        self.send(get(path)).await
    }

    /// Waits until a line of the counters is there.
    pub(super) async fn counted(&self, line: &str) {
        let found = async {
            while !self.metrics.text().lines().any(|other| other == line) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let text = || self.metrics.text();
        tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("{line}\n{}", text()));
    }
}

/// A GET of a client that wants one answer.
pub(super) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

/// The head of a POST with a body of this length.
pub(super) fn post(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
}

pub(super) async fn send(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: impl AsRef<[u8]>) -> String {
    // A server that refuses early may leave the rest unread.
    drop(stream.write_all(bytes.as_ref()).await);
    rest(stream).await
}

/// Everything until the server closes the connection.
pub(super) async fn rest(mut stream: impl AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    drop(tokio::time::timeout(PATIENCE, read).await.expect("the server closes the connection"));
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reads until a text has come.
pub(super) async fn until(stream: &mut (impl AsyncRead + Unpin), text: &str) -> String {
    let mut came = Vec::new();
    let reads = async {
        while !String::from_utf8_lossy(&came).contains(text) {
            let mut byte = [0];
            assert_eq!(stream.read(&mut byte).await.unwrap(), 1, "{}", String::from_utf8_lossy(&came));
            came.push(byte[0]);
        }
    };
    tokio::time::timeout(PATIENCE, reads).await.expect("the text comes");
    String::from_utf8_lossy(&came).into_owned()
}

/// The status of an answer.
#[track_caller]
pub(super) fn status(answer: &str) -> u16 {
    let words = answer.strip_prefix("HTTP/1.1 ").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    words[..3].parse().unwrap()
}

/// The value of a header.
pub(super) fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}
