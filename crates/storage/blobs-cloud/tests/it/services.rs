//! The suite on servers that run by themselves, where the environment names them.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_blobs::{BlobStore, Result, Retry};
use groundstate_blobs_cloud::{AzureBlobs, GcsBlobs, S3Blobs};

use crate::context::context;
use crate::harness::Harness;
use crate::{azure, gcs, s3};

/// The address of a server, if there is one.
fn endpoint(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|endpoint| !endpoint.is_empty())
        .map(|text| text.trim_end_matches('/').to_owned())
}

/// Runs a future on a thread and a runtime of its own, as clients are opened outside of any.
fn aside<T: Send>(future: impl Future<Output = T> + Send) -> T {
    let run = || tokio::runtime::Runtime::new().expect("a runtime can be had").block_on(future);
    std::thread::scope(|scope| scope.spawn(run).join().expect("the request does not panic"))
}

fn s3_harness() -> Option<Harness> {
    let endpoint = endpoint("GROUNDSTATE_S3_ENDPOINT")?;
    Some(Harness::new(Arc::new(move |name| {
        let blobs = S3Blobs::open(&s3::settings(&endpoint, name), &context())?;
        let request =
            http::Request::put(format!("{endpoint}/{name}")).body(Bytes::new()).expect("it is a request");
        // One that is there already is as good.
        aside(blobs.signed("s3", request))?;
        let policy = blobs.retry_policy();
        Ok(Arc::new(Retry::new(blobs, policy, context())) as Arc<dyn BlobStore>)
    })))
}

fn gcs_harness() -> Option<Harness> {
    let endpoint = endpoint("GROUNDSTATE_GCS_ENDPOINT")?;
    Some(Harness::new(Arc::new(move |name| {
        let endpoint = endpoint.split("/storage/v1").next().unwrap_or_default();
        create(&format!("{endpoint}/storage/v1/b?project=p"), "POST", format!("{{\"name\":\"{name}\"}}"))?;
        let blobs = GcsBlobs::open(&gcs::settings(endpoint, name))?;
        let policy = blobs.retry_policy();
        Ok(Arc::new(Retry::new(blobs, policy, context())) as Arc<dyn BlobStore>)
    })))
}

fn azure_harness() -> Option<Harness> {
    let endpoint = endpoint("GROUNDSTATE_AZURE_ENDPOINT")?;
    Some(Harness::new(Arc::new(move |name| {
        let blobs = AzureBlobs::open(&azure::settings(&endpoint, azure::KEY, name))?;
        aside(blobs.create_container())?;
        let policy = blobs.retry_policy();
        Ok(Arc::new(Retry::new(blobs, policy, context())) as Arc<dyn BlobStore>)
    })))
}

/// Sends one unsigned request over a plain socket.
fn create(url: &str, method: &str, body: String) -> Result<()> {
    use std::io::{Read, Write};
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = std::net::TcpStream::connect(host).expect("the server listens");
    let text = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer t0ken\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).expect("the server takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok();
    assert!(answer.starts_with("HTTP/1.1 2") || answer.starts_with("HTTP/1.1 409"), "{answer}");
    Ok(())
}

mod s3_suite {
    groundstate_conformance::blob_suite!(optional super::s3_harness());
}

mod gcs_suite {
    groundstate_conformance::blob_suite!(optional super::gcs_harness());
}

mod azure_suite {
    groundstate_conformance::blob_suite!(optional super::azure_harness());
}
