//! The store on S3, against the server of the test kit.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Retry};
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use groundstate_testkit::S3Server;

use crate::context::context;
use crate::harness::Harness;

pub(crate) fn settings(endpoint: &str, bucket: &str) -> S3Settings {
    let mut settings = S3Settings::new();
    for (name, value) in [
        ("bucket", bucket),
        ("region", "us-east-1"),
        ("access_key", "AKIATEST"),
        ("secret_key", "s3cr3t"),
        ("endpoints.s3", endpoint),
        ("endpoints.dynamodb", endpoint),
        ("use_path_style", "true"),
    ] {
        settings.set(name, value).expect("the option is known");
    }
    settings
}

fn harness() -> Harness {
    let server = S3Server::start_blocking();
    Harness::new(Arc::new(move |name| {
        server.create_bucket(name);
        let blobs = S3Blobs::open(&settings(&server.endpoint(), name), &context())?;
        let policy = blobs.retry_policy();
        Ok(Arc::new(Retry::new(blobs, policy, context())) as Arc<dyn BlobStore>)
    }))
}

mod suite {
    groundstate_conformance::blob_suite!(super::harness());
}
