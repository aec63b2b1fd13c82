//! Clients for the tests.

use std::sync::{Arc, Once};
use std::time::Duration;

use groundstate_testkit::{AzureServer, GcsServer, S3Server};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

/// Chooses a TLS library once; without one, clients are not built, even for plain HTTP.
pub(crate) fn choose_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
}

/// A client without retries and without a view of its own on HTTP.
pub(crate) fn http() -> reqwest::Client {
    choose_tls();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Settings by which a store tries once.
pub(crate) fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, retry_timeout: Duration::from_secs(5), ..RetryConfig::default() }
}

pub(crate) fn options() -> ClientOptions {
    choose_tls();
    ClientOptions::new().with_allow_http(true).with_timeout(Duration::from_secs(20))
}

pub(crate) fn s3_builder(server: &S3Server) -> AmazonS3Builder {
    AmazonS3Builder::new()
        .with_client_options(options())
        .with_endpoint(server.endpoint())
        .with_bucket_name("b")
        .with_region("us-east-1")
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        .with_retry(once())
}

/// A server with the bucket `b`, and a client of it.
pub(crate) async fn s3() -> (S3Server, Arc<dyn ObjectStore>) {
    let server = S3Server::start().await;
    server.create_bucket("b");
    let client = s3_builder(&server).build().unwrap();
    (server, Arc::new(client))
}

pub(crate) fn gcs_builder(server: &GcsServer) -> GoogleCloudStorageBuilder {
    GoogleCloudStorageBuilder::new()
        .with_client_options(options())
        .with_base_url(&server.endpoint())
        .with_bucket_name("b")
        .with_bearer_token("token")
        .with_retry(once())
}

/// A server with the bucket `b`, and a client of it.
pub(crate) async fn gcs() -> (GcsServer, Arc<dyn ObjectStore>) {
    let server = GcsServer::start().await;
    server.create_bucket("b");
    let client = gcs_builder(&server).build().unwrap();
    (server, Arc::new(client))
}

/// The key of an account, in base64.
pub(crate) const ACCOUNT_KEY: &str = "a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5";

pub(crate) fn azure_builder(server: &AzureServer) -> MicrosoftAzureBuilder {
    MicrosoftAzureBuilder::new()
        .with_client_options(options())
        .with_endpoint(server.account_endpoint())
        .with_allow_http(true)
        .with_account("devstoreaccount1")
        .with_access_key(ACCOUNT_KEY)
        .with_container_name("b")
        .with_retry(once())
}

/// A server with the container `b`, and a client of it.
pub(crate) async fn azure() -> (AzureServer, Arc<dyn ObjectStore>) {
    let server = AzureServer::start().await;
    server.create_container("b");
    let client = azure_builder(&server).build().unwrap();
    (server, Arc::new(client))
}
