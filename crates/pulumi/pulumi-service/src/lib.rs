//! The stacks of a Pulumi service: updates with leases and journals, versions, secrets, on any blob store.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_pulumi_service::blobs::{Context, MemoryBlobs};
//! use groundstate_pulumi_service::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_pulumi_service::versioned::{Documents, Settings};
//! use groundstate_pulumi_service::{NewStack, StackPath, Stacks, StartOptions, UpdateRequest, UpdateResult};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let context = Context::new(clock.clone(), clock, Arc::new(SequenceIds::new()));
//! let blobs = Arc::new(MemoryBlobs::new("stacks"));
//! let documents = Documents::open(blobs.clone(), context.clone(), Settings::default())?;
//! let stacks = Stacks::new(documents, blobs, context);
//!
//! let path = StackPath::new("acme", "shop", "dev")?;
//! let stack = stacks.create(&path, "ann", NewStack::default()).await?;
//! let update = stack.create_update(&UpdateRequest::new("update", "ann", Timestamp::UNIX_EPOCH)).await?;
//! let lease = update.start(&StartOptions::new(Some(1), "v3.259.0")).await?;
//!
//! let entry = br#"{"version":1,"kind":6,"sequenceID":1,"operationID":0,"removeOld":null,"removeNew":null,"secretsProvider":{"type":"passphrase","state":{"salt":"v1:x"}}}"#;
//! update.append(&lease.token, &[entry]).await?;
//! update.complete(&lease.token, UpdateResult::Succeeded).await?;
//! assert_eq!(stack.state().await?.version, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`Stacks`] are in one container of a blob store, which any number of processes use at a time. What is in a process is a cache.
//! - A [`Stack`] is known by its id; names lead to it. Its states are the versions of one document, whose lock is the lease of the update
//!   that runs. So versions, leases and fencing are decided in one place, step by step.
//! - An [`Update`] is created, started under a [`Lease`], stores [entries](Update::append) or [checkpoints](Update::save), and ends. What it
//!   stored counts however it ends: [`Update::complete`], [`Update::cancel`], or a lease that is over, which the next request
//!   for the stack finds, or [`Stacks::settle_all`].
//! - What is acknowledged counts. After a batch is stored, the lease is looked at in the store: a node that ended the update before that may not
//!   have seen the batch, and it is refused. Before that a lease counts as this process saw it last, so a batch costs two requests.
//! - [`Stack::lock`] keeps other clients out without an update, for work on something else.
//! - [`Stack::append`] takes versions of other histories, each once. [`Stacks::prune`] removes what old updates left.
//! - A [`StackBucket`] has the states, the history and the tags of the stacks of one owner, for other programs too. Updates take its lock.
//! - [`StackSecrets`] encrypt under a data key of the stack, which a [`ServiceKey`] wraps.
//!
//! # What is deliberately absent
//!
//! - HTTP, users and roles: they are the server's.
//! - Plans, policies and deployments of the original service.
//! - Clocks, timers and randomness: they are in the [`Context`](blobs::Context) and in the key.

mod append;
mod bucket;
mod check;
mod checkpoint;
mod deployment;
mod end;
mod error;
mod events;
mod filter;
mod gate;
mod journal;
mod keys;
mod lease;
mod listing;
mod live;
mod lock;
mod op;
mod parts;
mod path;
mod prune;
mod record;
mod rename;
mod retired;
mod room;
mod settle;
mod small;
mod stack;
mod stacks;
mod start;
mod traced;
mod update;

pub use groundstate_blobs as blobs;
pub use groundstate_common as common;
pub use groundstate_json as json;
pub use groundstate_pulumi_journal as pulumi_journal;
pub use groundstate_pulumi_protocol as pulumi_protocol;
pub use groundstate_pulumi_secrets as pulumi_secrets;
pub use groundstate_versioned as versioned;
pub use groundstate_wal as wal;

pub use append::{AppendedVersion, OldVersion};
pub use bucket::{BucketLock, BucketState, BucketUpdate, Export, StackBucket};
pub use check::{CheckedUpdates, UpdateFinding, UpdateReport};
pub use checkpoint::CheckpointUpload;
pub use error::{BoxError, Error, ErrorKind, Result};
pub use events::{Event, EventPage};
pub use filter::StackFilter;
pub use journal::JournalPage;
pub use keys::{LocalKey, ServiceKey, StackSecrets};
pub use lease::{Lease, LeaseToken, StartOptions};
pub use listing::{ListedStack, StackPage};
pub use op::Op;
pub use path::StackPath;
pub use prune::{PruneOptions, PruneReport};
pub use record::{Program, UpdateRequest, UpdateResult, VersionNote, VersionSource};
pub use retired::StackOpener;
pub use room::{Room, Slot};
pub use stack::{CurrentUpdate, ImportedState, Stack, StackState, StackVersion, StackVersions};
pub use stacks::{NewStack, Options, Stacks};
pub use update::{Update, UpdateStatus};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
