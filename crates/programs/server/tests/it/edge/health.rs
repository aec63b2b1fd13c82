//! `/healthz`, `/readyz` and `/metrics`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::routing::get;
use groundstate_server::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, Leases, ListOptions, MemoryBlobs, Op, Page, PutOptions, Result,
};
use groundstate_server::edge::{Measured, Metrics};

use super::support::{config, get as get_head, header, send, start, start_with, status};

/// A store that can be taken away.
#[derive(Debug)]
struct Flaky {
    store: MemoryBlobs,
    is_gone: Arc<AtomicBool>,
}

impl Flaky {
    fn check(&self, op: Op) -> Result<()> {
        match self.is_gone.load(Ordering::SeqCst) {
            true => Err(Error::new(ErrorKind::Unavailable, op, self)),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Flaky {
    fn capabilities(&self) -> BlobCapabilities {
        self.store.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.check(Op::Read)?;
        self.store.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.check(Op::LookAt)?;
        self.store.head(key).await
    }

    async fn put(&self, key: &Key, bytes: bytes::Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.check(Op::Write)?;
        self.store.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.check(Op::Delete)?;
        self.store.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.check(Op::List)?;
        self.store.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

#[tokio::test]
async fn a_server_is_ready_while_its_store_answers_and_healthy_in_any_case() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let store = Flaky { store: MemoryBlobs::new("states"), is_gone: Arc::clone(&is_gone) };
    let server = start_with(&config(""), Router::new(), Arc::new(store));
    let becomes = async |expected: u16| {
        // An answer counts for a second.
        while status(&server.get("/readyz").await) != expected {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    becomes(200).await;
    is_gone.store(true, Ordering::SeqCst);
    becomes(503).await;
    let answer = server.get("/readyz").await;
    assert!(
        answer.contains("the store does not answer") && header(&answer, "retry-after").is_some(),
        "{answer}"
    );
    assert_eq!(status(&server.get("/healthz").await), 200);
    is_gone.store(false, Ordering::SeqCst);
    becomes(200).await;
}

#[tokio::test]
async fn metrics_are_at_their_own_address_and_states_are_not() {
    let app = || Router::new().route("/state/{*path}", get(async || "a state"));
    let server = start("[metrics]\nlisten = \"127.0.0.1:0\"\n", app());
    assert_eq!(status(&server.get("/state/shop/network").await), 200);
    assert_eq!(status(&server.get("/nothing").await), 404);
    let at_metrics = async |path: &str| {
        let stream = tokio::net::TcpStream::connect(server.metrics_address.unwrap()).await.unwrap();
        send(stream, get_head(path)).await
    };
    let text = at_metrics("/metrics").await;
    assert!(header(&text, "content-type").unwrap().starts_with("application/openmetrics-text"), "{text}");
    assert!(text.contains(r#"{method="GET",route="/state/{*path}",status="2xx"} 1"#), "{text}");
    assert!(text.contains(r#"{method="GET",route="none",status="4xx"} 1"#), "{text}");
    assert!(!text.contains("network"), "{text}");
    assert_eq!(status(&at_metrics("/healthz").await), 200);
    assert_eq!(status(&at_metrics("/readyz").await), 200);
    assert_eq!(status(&at_metrics("/state/shop/network").await), 404);
    assert_eq!(status(&server.get("/metrics").await), 404);
}

#[tokio::test]
async fn operations_on_the_store_are_timed() {
    let metrics = Metrics::new();
    let is_gone = Arc::new(AtomicBool::new(false));
    let store = Measured::new(
        Flaky { store: MemoryBlobs::new("states"), is_gone: Arc::clone(&is_gone) },
        metrics.clone(),
    );
    let key = Key::parse("a").unwrap();
    store.put(&key, "1".into(), &PutOptions::default()).await.unwrap();
    let once = PutOptions::expecting(groundstate_server::blobs::Precondition::Absent);
    assert!(store.put(&key, "2".into(), &once).await.is_err(), "a condition that does not hold is an answer");
    store.get(&key, &GetOptions::default()).await.unwrap();
    is_gone.store(true, Ordering::SeqCst);
    assert!(store.list("", &ListOptions::default()).await.is_err());
    let text = metrics.text();
    for line in [
        r#"groundstate_store_operation_duration_seconds_count{operation="put",outcome="ok"} 2"#,
        r#"groundstate_store_operation_duration_seconds_count{operation="get",outcome="ok"} 1"#,
        r#"groundstate_store_operation_duration_seconds_count{operation="list",outcome="error"} 1"#,
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}
