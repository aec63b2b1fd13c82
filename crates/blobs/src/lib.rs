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
//! // Whoever still expects the first content is refused, and is told what is there instead.
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
//! - [`MemoryBlobs`] is the reference.
//!
//! # What is deliberately absent
//!
//! - States, locks and workspaces: bytes are bytes here.
//! - Clocks, timers and randomness of its own: they are handed in.
//!
//! # Features
//!
//! None.

#[cfg(feature = "azure")]
mod azure;
mod blob;
mod capabilities;
#[cfg(any(feature = "aws", feature = "gcp", feature = "azure"))]
mod cloud;
mod context;
mod error;
#[cfg(feature = "gcp")]
mod gcs;
mod key;
mod lease;
#[cfg(feature = "local")]
mod local;
mod memory;
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
