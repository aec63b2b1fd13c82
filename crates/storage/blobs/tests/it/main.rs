//! The tests of blob stores.

#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "aws")]
mod credentials;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod errors;
#[cfg(feature = "aws")]
mod faults;
#[cfg(feature = "local")]
mod files;
#[cfg(feature = "object-store")]
mod foreign;
#[cfg(feature = "gcp")]
mod gcs;
mod harness;
#[cfg(all(feature = "azure", feature = "gcp"))]
mod identities;
mod memory;
#[cfg(feature = "aws")]
mod moto;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod network;
#[cfg(feature = "aws")]
mod roles;
#[cfg(feature = "aws")]
mod s3;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp"))]
mod services;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "local"))]
mod untrusted;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "local"))]
mod url;

#[cfg(feature = "object-store")]
mod foreign_suite {
    groundstate_conformance::blob_suite!(crate::harness::foreign());
}

mod memory_suite {
    groundstate_conformance::blob_suite!(crate::harness::memory());
}

#[cfg(feature = "local")]
mod files_suite {
    groundstate_conformance::blob_suite!(crate::harness::files());
}
