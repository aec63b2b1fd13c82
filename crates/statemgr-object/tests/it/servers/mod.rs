//! Back ends over servers that answer as the clouds do: those of the test kit, and those that the environment names.

mod google;
mod suite;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use groundstate_blobs::{BlobStore, Context, GcsBlobs, GcsSettings, Retry, RetryPolicy};
use groundstate_common::{OsIds, SystemClock};
use groundstate_conformance::ThreadSleeper;
use groundstate_statemgr_object::{FolderLayout, GenerationLocks, ObjectBackend};
use groundstate_testkit::{Fault, Server};
use tokio::runtime::Runtime;

/// What all tests here run on.
pub(crate) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("a runtime can be had"));

/// The machine's time and randomness.
pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(ThreadSleeper), Arc::new(OsIds))
}

/// Repeats what fails, and does not wait for long.
pub(crate) fn retry<S: BlobStore>(store: S) -> Retry<S> {
    let policy =
        RetryPolicy::default().attempts(4).delays(Duration::from_millis(2), Duration::from_millis(10));
    Retry::new(store, policy, context())
}

/// The faults that are tried at each request.
pub(crate) fn faults() -> [(&'static str, Fault); 7] {
    [
        ("500 after commit", Fault::after_commit_500()),
        ("500 before", Fault::before_500()),
        ("dropped before", Fault::drop_before()),
        ("dropped after commit", Fault::drop_after_commit()),
        ("duplicated", Fault::duplicate()),
        ("throttled", Fault::throttle()),
        ("cut", Fault::cut_body(1)),
    ]
}

/// A client of a bucket at this address of Google's JSON interface.
pub(crate) fn google_blobs(endpoint: &str, bucket: &str, more: &[(&str, &str)]) -> Retry<GcsBlobs> {
    let mut settings = GcsSettings::new();
    let address = format!("{}/storage/v1/", endpoint.trim_end_matches('/'));
    let all = [("bucket", bucket), ("access_token", "t0ken"), ("storage_custom_endpoint", &*address)];
    for (name, value) in all.iter().chain(more) {
        settings.set(name, value).expect("the option is known");
    }
    retry(GcsBlobs::open(&settings).expect("the settings are whole"))
}

/// A back end over them, with states below `a/b`.
pub(crate) fn google(blobs: Retry<GcsBlobs>, bucket: &str) -> ObjectBackend {
    let locks = GenerationLocks::new(bucket, Arc::new(ThreadSleeper));
    ObjectBackend::new(Arc::new(blobs), Arc::new(FolderLayout::new("a/b"))).equip(Arc::new(locks))
}

/// The requests since the last call, as method and path.
pub(crate) fn requests(server: &Server) -> Vec<String> {
    let seen =
        server.requests().iter().map(|request| format!("{} {}", request.method, request.path)).collect();
    server.clear_requests();
    seen
}
