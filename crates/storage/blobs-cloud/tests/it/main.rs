//! The tests of blobs in the clouds.

#[cfg(feature = "object-store")]
mod adapter;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod answers;
#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "_cloud")]
mod context;
#[cfg(feature = "aws")]
mod credentials;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod errors;
#[cfg(feature = "aws")]
mod faults;
#[cfg(feature = "gcp")]
mod gcs;
#[path = "../../../blobs/tests/it/harness.rs"]
mod harness;
#[cfg(all(feature = "azure", feature = "gcp"))]
mod identities;
#[cfg(feature = "aws")]
mod moto;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod network;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod refusals;
#[cfg(feature = "aws")]
mod roles;
#[cfg(feature = "aws")]
mod s3;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod services;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod untrusted;
#[cfg(all(feature = "aws", feature = "azure", feature = "fs", feature = "gcp"))]
mod url;

#[cfg(feature = "object-store")]
mod adapter_suite {
    groundstate_conformance::blob_suite!(crate::adapter::harness());
}
