//! Pulumi stacks where Pulumi's own backends keep them: their layout in a bucket.
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
//! # Where to look
//!
//! - [`Backend`] is an opened bucket; [`Options`] are what the variables of `pulumi` ask for. [`Warning`]s are data.
//! - [`Stack`] is a handle: [`read`](Stack::read), [`writer`](Stack::writer), [`tags`](Stack::tags), [`history`](Stack::history) and
//!   [`copies`](Stack::copies). A [`Guard`] is the lock that writers ask before each write.
//! - [`Writer`] saves checkpoints of one update. Bytes go in and out as they are; [`Checkpoint::decode`] and [`Stack::document`] are
//!   for those who want deployments.
//! - [`Relocation`] moves a stack to another name or another bucket, [`Upgrade`] all of a bucket into the layout with projects.
//! - [`StackJournal`] and [`CheckpointSink`] are for the managers of [`stackmgr`]; [`Stack::recover`] is for after a crash.
//!
//! # What is deliberately absent
//!
//! - Places: the bucket is a [`BlobStore`](blobs::BlobStore) that the caller opens, and that asks again by itself.
//! - Clocks, ids, variables of the environment: they are handed in.
//!
//! # Features
//!
//! None.

mod backend;
mod compression;
mod error;
mod guard;
mod journal;
mod layout;
mod leftovers;
mod lock;
mod names;
mod op;
mod operations;
mod options;
mod stack;
mod stack_ref;
mod traced;

pub use backend::{Backend, StackDetails, StackFilter, StackSummary, Warning};
pub use compression::Compression;
pub use error::{BoxError, Error, ErrorKind, Result};
pub use guard::{Guard, Unguarded};
pub use journal::{CheckpointSink, JournalOptions, JournaledState, RecoveredUpdate, StackJournal};
pub use layout::Layout;
pub use leftovers::{Leftover, LeftoverKind, Leftovers};
pub use lock::{Cancelled, FoundLock, HeldLock, HeldLocks, Holder, LockConflict, LockContent, LockOptions};
pub use op::Op;
pub use operations::{
    ImportOptions, Importable, Imported, LegacyStack, MovedObject, OldCopy, PrunePlan, PruneRules,
    RelocateOptions, Relocated, Relocation, RemoveOptions, Removed, Upgrade, UpgradeOptions, Upgraded,
    UpgradedStack,
};
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
/// The gate that imports pass.
pub use groundstate_pulumi_integrity as pulumi_integrity;
/// Names of stacks and projects.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;
/// Managers of snapshots, which save by this crate.
pub use groundstate_pulumi_stackmgr as stackmgr;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
