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
mod failure;
pub mod history;
mod layout;
mod scheme;
mod store;

pub use azure::{AzureBackend, AzureStore};
pub use backend::{Equipment, ObjectBackend};
pub use digest::{DigestRow, Digests, RepairedDigest};
pub use layout::{FolderLayout, Layout, S3Layout};
pub use scheme::{BothLocks, GenerationLock, GenerationLocks, LockFiles, LockObject, LockScheme, StrictLock};
pub use store::ObjectStateStore;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
