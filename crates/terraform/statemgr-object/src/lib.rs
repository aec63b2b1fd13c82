//! State in object stores, with the keys, objects and locks of Terraform's own backends.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_statemgr_object::blobs::MemoryBlobs;
//! use groundstate_statemgr_object::statemgr::{Backend, StateStore, WorkspaceName, WriteOptions};
//! use groundstate_statemgr_object::{ObjectBackend, S3Layout};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let layout = S3Layout::new("network/prod.tfstate")?;
//! let backend = ObjectBackend::new(Arc::new(MemoryBlobs::new("states")), Arc::new(layout));
//! let store = backend.store(&WorkspaceName::parse("dev")?)?;
//! store.write(r#"{"version":4}"#.into(), &WriteOptions::any()).await?;
//! assert!(store.to_string().ends_with("env:/dev/network/prod.tfstate"));
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`ObjectStateStore`] is a state in an object of any blob store, and [`ObjectBackend`] the workspaces of a container by a
//!   [`Layout`].
//! - A [`LockScheme`] is a way to lock: [`LockObject`], [`GenerationLock`], two together as [`BothLocks`], one that respects
//!   another as [`StrictLock`].
//! - [`Digests`] are kept beside states, for readers to compare.
//! - `S3Backend` is Terraform's backend `s3`, with the feature `aws`; `DynamoLock` and `DynamoDigest` are the rows of its table,
//!   with the feature `dynamodb`. [`AzureBackend`] is `azurerm`.
//! - [`history`] keeps earlier snapshots.
//!
//! # What is deliberately absent
//!
//! - Requests, credentials and retries, which are the blob stores'.
//! - Serials and lineages, which are the manager's.
//! - Clocks, timers and randomness of its own: they are handed in.
//!
//! # Features
//!
//! - `aws`: buckets of S3.
//! - `dynamodb`: locks and digests in a table of DynamoDB.
//! - `os`: `S3Backend::connect`, with the clock, the timer and the randomness of the system.

mod azure;
mod backend;
mod digest;
mod document;
#[cfg(feature = "dynamodb")]
mod dynamo;
mod failure;
pub mod history;
mod layout;
mod ranged;
#[cfg(feature = "aws")]
mod s3;
mod scheme;
mod store;
mod writing;

pub use azure::{AzureBackend, AzureStore};
pub use backend::{Equipment, ObjectBackend};
pub use digest::{DigestRow, Digests, RepairedDigest};
#[cfg(feature = "dynamodb")]
pub use dynamo::{DynamoApi, DynamoDigest, DynamoLock, DynamoReply, DynamoTable};
pub use layout::{FolderLayout, Layout, S3Layout};
pub use ranged::RangedOutputs;
#[cfg(feature = "dynamodb")]
pub use s3::{FoundLock, MigratedLock};
#[cfg(feature = "aws")]
pub use s3::{S3Backend, S3Options};
pub use scheme::{
    BothLocks, GenerationLock, GenerationLocks, LockFiles, LockObject, LockScheme, LookLock, StrictLock,
};
pub use store::ObjectStateStore;

/// The contract of object stores.
pub use groundstate_blobs as blobs;
/// Settings and clients of clouds.
#[cfg(feature = "aws")]
pub use groundstate_blobs_cloud as blobs_cloud;
/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "aws", feature = "os"))]
#[doc = include_str!("../README.md")]
mod readme {}
