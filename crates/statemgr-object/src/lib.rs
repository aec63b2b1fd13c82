//! State in object stores, with the keys, objects and locks of Terraform's own backends.
//!
//! ```
//! use groundstate_statemgr::WorkspaceName;
//! use groundstate_statemgr_object::{Layout, S3Layout};
//!
//! let layout = S3Layout::new("network/prod.tfstate")?;
//! assert_eq!(layout.lock_key(&WorkspaceName::default_name()), "network/prod.tfstate.tflock");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod azure;
mod backend;
mod digest;
mod document;
#[cfg(feature = "dynamodb")]
mod dynamo;
mod failure;
pub mod history;
mod layout;
mod part;
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
pub use scheme::{BothLocks, GenerationLock, GenerationLocks, LockFiles, LockObject, LockScheme, StrictLock};
pub use store::ObjectStateStore;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
