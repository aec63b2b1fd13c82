//! The faces, as clients see them that were not written for them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers outside of test functions fail the test they serve, and say what was not run"
)]

mod azure;
mod azure_leases;
mod dynamodb;
mod faults;
mod gcs;
mod proxies;
mod s3;
mod s3_rules;
mod stores;
mod support;
mod terraform;
mod terraform_azure;
mod terraform_gcs;
mod terraform_s3;
