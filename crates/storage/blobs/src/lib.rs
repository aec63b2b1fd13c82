//! Blobs in object stores, as states need them: conditional writes and deletions, leases, exact keys, and errors that say
//! what happened and what to change.
//!
//! ```
//! use groundstate_blobs::{BlobStore, ErrorKind, GetOptions, Key, MemoryBlobs, Precondition, PutOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> groundstate_blobs::Result<()> {
//! let store = MemoryBlobs::new("tests");
//! let key = Key::parse("env:/dev/terraform.tfstate")?;
//!
//! let first = store.put(&key, "{}".into(), &PutOptions::expecting(Precondition::Absent)).await?;
//! let second = PutOptions::expecting(Precondition::Version(first));
//! store.put(&key, "{\"version\":4}".into(), &second).await?;
//!
//! // A client that still expects the first content is refused, and is told what is there instead.
//! let error = store.put(&key, "{}".into(), &second).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
//! assert_eq!(error.found().map(|blob| &blob.bytes[..]), Some(&b"{\"version\":4}"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`BlobStore`] is the contract: one container, its blobs, [`Precondition`]s. [`Leases`] are for services that have them.
//! - [`Key`] is a name that arrives unchanged; [`BlobVersion`] tells contents apart.
//! - [`Error`] has a kind to act on, a place, a reason and a next step.
//! - [`MemoryBlobs`] is the reference; `FileBlobs`, `S3Blobs`, `GcsBlobs` and `AzureBlobs` are the others, each with settings
//!   under Terraform's names. [`BlobUrl`] opens any of them.
//! - [`Retry`] asks again, and finds out what happened when an answer got lost. The clouds' own clients try once.
//!
//! # What is deliberately absent
//!
//! - States, locks and workspaces: bytes are bytes here.
//! - Clocks, timers, randomness and variables of the environment: they are handed in, in a [`Context`] and a function.
//!
//! # How the clouds are reached
//!
//! Credentials, signatures and the HTTP client are those of `object_store`. Requests are made here: its interface has no place
//! for leases, conditional deletions, customers' keys on some blobs only and lists by raw prefixes; its retries take a
//! write of their own for another client's; and its errors do not say which bucket, region or clock is wrong.
//!
//! # Features
//!
//! All are off by default.
//!
//! - `local`: `FileBlobs`, a directory.
//! - `object-store`: `ForeignBlobs`, any store of the crate `object_store`.
//! - `aws`, `gcp`, `azure`: the clouds. They need a tokio runtime around them; TLS is rustls with ring.

#[cfg(feature = "azure")]
mod azure;
mod blob;
mod capabilities;
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure"))]
mod cloud;
mod context;
mod error;
#[cfg(feature = "object-store")]
mod foreign;
#[cfg(feature = "gcp")]
mod gcs;
mod key;
mod lease;
#[cfg(feature = "local")]
mod local;
mod memory;
#[cfg(any(feature = "aws", feature = "local"))]
mod offload;
mod options;
mod retry;
#[cfg(feature = "aws")]
mod s3;
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure"))]
mod settings;
mod store;
mod url;
mod version;

#[cfg(feature = "azure")]
pub use azure::{AzureBlobs, AzureSettings};
pub use blob::{Attributes, Blob, BlobMeta, LeaseState, Listed, Page, PageToken};
pub use capabilities::BlobCapabilities;
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure"))]
pub use cloud::Reply;
pub use context::Context;
pub use error::{BoxError, Error, ErrorKind, Result};
#[cfg(feature = "object-store")]
pub use foreign::ForeignBlobs;
#[cfg(feature = "gcp")]
pub use gcs::{GcsBlobs, GcsSettings};
pub use key::Key;
pub use lease::{LeaseDuration, LeaseId, Leases};
#[cfg(feature = "local")]
pub use local::FileBlobs;
pub use memory::MemoryBlobs;
pub use options::{DeleteOptions, GetOptions, ListOptions, Precondition, PutOptions, Role};
pub use retry::{Retry, RetryPolicy};
#[cfg(feature = "aws")]
pub use s3::{S3Blobs, S3Settings};
pub use store::BlobStore;
pub use url::BlobUrl;
pub use version::{BlobVersion, InvalidVersion};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
