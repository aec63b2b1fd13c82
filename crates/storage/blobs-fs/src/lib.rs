//! Blobs as files in a directory: writes that are whole and durable, versions that never come twice, one writer of a blob at a time.
//!
//! ```
//! use groundstate_blobs_fs::FileBlobs;
//! use groundstate_blobs_fs::blobs::{BlobStore, Key, Precondition, PutOptions};
//!
//! async fn first_state(directory: &std::path::Path) -> groundstate_blobs_fs::blobs::Result<()> {
//!     let store = FileBlobs::create(directory)?;
//!     let once = PutOptions::expecting(Precondition::Absent);
//!     store.put(&Key::parse("env:/dev/terraform.tfstate")?, "{}".into(), &once).await?;
//!     Ok(())
//! }
//! ```
//!
//! # What to know
//!
//! - [`FileBlobs`] implements [`BlobStore`](blobs::BlobStore), the contract of the crate `groundstate-blobs`, which is here as
//!   [`blobs`].
//! - [`BucketFiles`] does the same for a directory that the `pulumi` command and other programs on go-cloud's `file` bucket
//!   share, in their layout.
//! - Each operation runs on a thread of its own, so any executor will do.
//!
//! # What is deliberately absent
//!
//! - Leases, attributes and retries: a directory has none of them, and answers never get lost.
//! - States, their locks and their workspaces: bytes are bytes here.

mod bucket;
mod folders;
mod listing;
mod locking;
mod store;
mod tree;
mod writing;

pub use groundstate_blobs as blobs;

pub use bucket::BucketFiles;
pub use store::FileBlobs;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
