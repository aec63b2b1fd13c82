//! Tests of journals in folders and in object stores.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

#[cfg(feature = "blobs")]
mod blobs;
#[cfg(feature = "fs")]
mod fs;
mod memory;
mod record;
