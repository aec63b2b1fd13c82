//! Blobs in Amazon S3, Google Cloud Storage and Azure Blob Storage, and in any store of the crate `object_store`.
//!
//! ```
//! use groundstate_blobs_cloud::BlobUrl;
//! use groundstate_blobs_cloud::blobs::{BlobStore, Context, GetOptions, Key};
//!
//! /// Reads a state, with the credentials that the environment names.
//! async fn read(context: &Context) -> groundstate_blobs_cloud::blobs::Result<()> {
//!     let url = BlobUrl::parse("s3://states/env%3A/dev/a.tfstate?region=eu-west-1")?;
//!     let store = url.open(context, &|name| std::env::var(name).ok())?;
//!     let key = url.key().cloned().map_or_else(|| Key::parse("a.tfstate"), Ok)?;
//!     if let Some(blob) = store.get(&key, &GetOptions::default()).await? {
//!         println!("{} bytes of version {}", blob.bytes.len(), blob.version());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # What to know
//!
//! - `S3Blobs`, `GcsBlobs`, `AzureBlobs` and `ObjectStoreBlobs` implement [`BlobStore`](blobs::BlobStore), the contract of the crate
//!   `groundstate-blobs`, which is here as [`blobs`].
//! - `S3Settings`, `GcsSettings` and `AzureSettings` have the options and variables of Terraform's backends, under their names.
//! - [`BlobUrl`] opens any of them, a directory or memory by an address.
//! - `AwsIdentity`, `GcpIdentity` and `AzureIdentity` send requests to services that keep no blobs, with the same credentials.
//! - A store tries each request once: put [`Retry`](blobs::Retry) around it. [`BlobUrl`] does.
//!
//! # What is deliberately absent
//!
//! - States, locks and workspaces: bytes are bytes here.
//! - Clocks, timers, randomness and variables of the environment: they are handed in.
//!
//! # How the clouds are reached
//!
//! Signatures are those of `object_store`. Requests are made here: its interface has no place
//! for leases, conditional deletions and customers' keys on some blobs only; its lists drop or refuse names that are no
//! paths; its retries take a write of their own for another client's; and its errors do not say which bucket, region or clock is wrong.
//!
//! # Features
//!
//! All are off by default.
//!
//! - `aws`, `gcp`, `azure`: the clouds. They need a tokio runtime around them; TLS is rustls with ring.
//! - `fs`: addresses of directories, by `groundstate-blobs-fs`.
//! - `object-store`: `ObjectStoreBlobs`, any store of the crate `object_store`.

#[cfg(feature = "object-store")]
mod adapter;
#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "_cloud")]
mod cloud;
#[cfg(feature = "gcp")]
mod gcs;
#[cfg(feature = "aws")]
mod s3;
#[cfg(feature = "_cloud")]
mod settings;
mod url;

pub use groundstate_blobs as blobs;

#[cfg(feature = "object-store")]
pub use adapter::ObjectStoreBlobs;
#[cfg(feature = "azure")]
pub use azure::{AzureBlobs, AzureIdentity, AzureIdentitySettings, AzureSettings};
#[cfg(feature = "_cloud")]
pub use cloud::Reply;
#[cfg(feature = "gcp")]
pub use gcs::{GcpIdentity, GcpSettings, GcsBlobs, GcsSettings};
#[cfg(feature = "aws")]
pub use s3::{AwsIdentity, AwsSettings, S3Blobs, S3Settings};
pub use url::BlobUrl;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
