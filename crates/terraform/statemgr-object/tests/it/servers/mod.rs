//! Backends over servers that answer as the clouds do: those of the test kit, and those that the environment names.

mod azure;
mod google;
mod suite;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::{BlobStore, Context, Retry, RetryPolicy};
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings, GcsBlobs, GcsSettings};
use groundstate_common::{OsIds, SystemClock};
use groundstate_conformance::ThreadSleeper;
use groundstate_statemgr::{Error, ErrorKind, Expect, LockId, LockInfo, StateStore, WriteOptions};
use groundstate_statemgr_object::{AzureBackend, FolderLayout, GenerationLocks, ObjectBackend};
use groundstate_testkit::{Fault, Server};
use tokio::runtime::Runtime;

use crate::support::lock_info;

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

/// A backend over them, with states below `a/b`.
pub(crate) fn google(blobs: Retry<GcsBlobs>, bucket: &str) -> ObjectBackend {
    let locks = GenerationLocks::new(bucket, Arc::new(ThreadSleeper));
    ObjectBackend::new(Arc::new(blobs), Arc::new(FolderLayout::new("a/b"))).equip(Arc::new(locks))
}

/// The key that emulators of Azure have.
pub(crate) const AZURE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A client of a container. The address has the account as its path.
pub(crate) fn azure_blobs(endpoint: &str, container: &str) -> Retry<AzureBlobs> {
    let account = endpoint.rsplit('/').next().unwrap_or_default();
    let mut settings = AzureSettings::new();
    for (name, value) in [
        ("storage_account_name", account),
        ("container_name", container),
        ("access_key", AZURE_KEY),
        ("endpoint", endpoint),
    ] {
        settings.set(name, value).expect("the option is known");
    }
    retry(AzureBlobs::open(&settings).expect("the settings are whole"))
}

/// A backend over it, with the default state in `prod.tfstate`.
pub(crate) fn azure(blobs: Retry<AzureBlobs>, container: &str) -> AzureBackend {
    AzureBackend::new(Arc::new(blobs), container, "prod.tfstate").expect("it is a key")
}

/// The requests since the last call, as method and path.
pub(crate) fn requests(server: &Server) -> Vec<String> {
    let seen =
        server.requests().iter().map(|request| format!("{} {}", request.method, request.path)).collect();
    server.clear_requests();
    seen
}

/// Has eight clients count in one state at the same time, and says how far.
pub(crate) async fn count_together(
    open: impl Fn() -> Result<Arc<dyn StateStore>, Error>,
    locked: bool,
) -> Result<u64, Error> {
    const CLIENTS: u64 = 8;
    const EACH: u64 = 12;
    let mut tasks = Vec::new();
    for client in 0..CLIENTS {
        let store = open()?;
        tasks.push(tokio::spawn(async move {
            for step in 0..EACH {
                let id = format!("00000000-0000-0000-{client:04}-{step:012}");
                let info = LockInfo { id: LockId::new(&id), ..lock_info() };
                count_up(&*store, locked.then_some(&info)).await?;
            }
            Ok::<_, Error>(())
        }));
    }
    for task in tasks {
        task.await.expect("no task panics")?;
    }
    Ok(CLIENTS * EACH)
}

/// Adds one to the number that is stored.
async fn count_up(store: &dyn StateStore, lock: Option<&LockInfo>) -> Result<(), Error> {
    let grant = match lock {
        Some(info) => Some(take(store, info).await?),
        None => None,
    };
    loop {
        let stored = store.read().await?.expect("there is a number");
        let number: u64 = String::from_utf8_lossy(&stored.bytes).parse().expect("it is a number");
        let next = (number + 1).to_string();
        match store
            .write(
                Bytes::copy_from_slice(next.as_bytes()),
                &WriteOptions::expecting(Expect::Version(stored.version)),
            )
            .await
        {
            Ok(_) => break,
            // Without a lock another client may be quicker, and with one none may.
            Err(error) if is_worth_another_try(&error) && grant.is_none() => {}
            Err(error) => return Err(error),
        }
    }
    match grant {
        Some(grant) => store.unlock(&grant).await,
        None => Ok(()),
    }
}

async fn take(store: &dyn StateStore, info: &LockInfo) -> Result<LockId, Error> {
    loop {
        match store.lock(info).await {
            Ok(grant) => return Ok(grant.id),
            Err(error) if error.kind() == ErrorKind::Locked => tokio::task::yield_now().await,
            Err(error) => return Err(error),
        }
    }
}

/// Whether another client was quicker.
fn is_worth_another_try(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unavailable)
}
