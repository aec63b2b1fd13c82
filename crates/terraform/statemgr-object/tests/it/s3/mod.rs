//! Terraform's backend `s3`, against S3 and DynamoDB in the test's own process.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod conformance;
#[cfg(feature = "os")]
mod connect;
mod contention;
mod digests;
mod errors;
mod faults;
mod locks;
mod migration;
mod moto;
mod requests;
mod states;
mod support;
mod workspaces;
