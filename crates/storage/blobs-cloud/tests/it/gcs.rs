//! The store on Google Cloud Storage, against the server of the test kit.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Retry};
use groundstate_blobs_cloud::{GcsBlobs, GcsSettings};
use groundstate_testkit::GcsServer;

use crate::context::context;
use crate::harness::Harness;

pub(crate) fn settings(endpoint: &str, bucket: &str) -> GcsSettings {
    let mut settings = GcsSettings::new();
    let endpoint = format!("{endpoint}/storage/v1/");
    for (name, value) in
        [("bucket", bucket), ("access_token", "t0ken"), ("storage_custom_endpoint", &endpoint)]
    {
        settings.set(name, value).expect("the option is known");
    }
    settings
}

fn harness() -> Harness {
    let server = GcsServer::start_blocking();
    Harness::new(Arc::new(move |name| {
        server.create_bucket(name);
        let blobs = GcsBlobs::open(&settings(&server.endpoint(), name))?;
        let policy = blobs.retry_policy();
        Ok(Arc::new(Retry::new(blobs, policy, context())) as Arc<dyn BlobStore>)
    }))
}

mod suite {
    groundstate_conformance::blob_suite!(super::harness());
}
