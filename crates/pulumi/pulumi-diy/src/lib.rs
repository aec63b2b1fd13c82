//! Stacks of Pulumi where Pulumi's own backends keep them: their layout in a bucket.
//!
//! ```
//! use groundstate_pulumi_diy::{Layout, StackRef};
//!
//! let stack = StackRef::parse("organization/shop/prod", None)?;
//! assert_eq!(Layout::Projects.checkpoint(&stack), ".pulumi/stacks/shop/prod.json");
//! assert_eq!(stack.to_string(), "organization/shop/prod");
//! # Ok::<(), groundstate_pulumi_diy::StackRefError>(())
//! ```
//!
//! # What is deliberately absent
//!
//! - Places: the bucket is a [`BlobStore`](blobs::BlobStore) that the caller opens.
//!
//! # Features
//!
//! None.

mod backend;
mod compression;
mod error;
mod guard;
mod layout;
mod names;
mod op;
mod options;
mod stack;
mod stack_ref;

pub use backend::{Backend, StackDetails, StackFilter, StackSummary, Warning};
pub use compression::Compression;
pub use error::{BoxError, Error, ErrorKind, Result};
pub use guard::{Guard, Unguarded};
pub use layout::Layout;
pub use op::Op;
pub use options::Options;
pub use stack::{
    Checkpoint, CopySource, History, HistoryEntry, Recorded, Saved, Selection, Stack, StateCopy, Tags,
    Update, Variant, Writer,
};
pub use stack_ref::{ORGANIZATION, StackRef, StackRefError};

/// What a bucket is.
pub use groundstate_blobs as blobs;
/// Clocks and ids.
pub use groundstate_common as common;
/// Deployments, which checkpoints hold.
pub use groundstate_pulumi_deployment as pulumi_deployment;
/// Names of stacks and projects.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
