//! The store on Azure Blob Storage, against the server of the test kit.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Retry};
use groundstate_blobs_cloud::{AzureBlobs, AzureSettings};
use groundstate_testkit::AzureServer;

use crate::context::context;
use crate::harness::Harness;

/// The key that emulators have.
pub(crate) const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// `endpoint` has the account as its path.
pub(crate) fn settings(endpoint: &str, key: &str, container: &str) -> AzureSettings {
    let account = endpoint.rsplit('/').next().unwrap_or_default();
    let mut settings = AzureSettings::new();
    for (name, value) in [
        ("storage_account_name", account),
        ("container_name", container),
        ("access_key", key),
        ("endpoint", endpoint),
    ] {
        settings.set(name, value).expect("the option is known");
    }
    settings
}

fn harness() -> Harness {
    let server = AzureServer::start_blocking();
    server.require_key("devstoreaccount1", KEY);
    Harness::new(Arc::new(move |name| {
        server.create_container(name);
        let blobs = AzureBlobs::open(&settings(&server.account_endpoint(), KEY, name))?;
        let policy = blobs.retry_policy();
        Ok(Arc::new(Retry::new(blobs, policy, context())) as Arc<dyn BlobStore>)
    }))
}

mod suite {
    groundstate_conformance::blob_suite!(super::harness());
}
