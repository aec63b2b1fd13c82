//! Tests of journals in folders and in object stores.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

#[cfg(feature = "blobs")]
mod blobs;
#[cfg(feature = "fs")]
mod fs;
#[cfg(all(feature = "blobs", feature = "fs"))]
mod limits;
mod memory;
mod record;
mod replaying;
