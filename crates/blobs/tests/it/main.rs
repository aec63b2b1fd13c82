//! The tests of blob stores.

#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "gcp")]
mod gcs;
mod harness;
mod memory;
#[cfg(feature = "aws")]
mod s3;

mod memory_suite {
    groundstate_conformance::blob_suite!(crate::harness::memory());
}
