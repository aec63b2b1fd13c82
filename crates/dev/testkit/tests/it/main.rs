//! The faces, as clients see them that were not written for them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod azure;
mod azure_leases;
mod dynamodb;
mod faults;
mod faults_everywhere;
mod gcs;
mod http_state;
mod proxies;
#[cfg(unix)]
mod pulumi;
mod s3;
mod s3_rules;
mod standin;
mod stores;
mod support;
mod terraform;
mod terraform_azure;
mod terraform_gcs;
mod terraform_http;
mod terraform_s3;
