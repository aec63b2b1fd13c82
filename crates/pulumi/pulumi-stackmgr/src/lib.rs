//! Managers of Pulumi snapshots: what is stored of a stack while an engine works on it.
//!
//! A [`SnapshotManager`] is told of every step before it is done and after. [`FullSnapshotManager`] writes a whole snapshot each time,
//! [`JournalManager`] appends an entry. Both give the same snapshot.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_pulumi_stackmgr::common::{FixedClock, Timestamp};
//! use groundstate_pulumi_stackmgr::pulumi_snapshot::{Resource, Snapshot};
//! use groundstate_pulumi_stackmgr::pulumi_journal::{Base, State, Step, StepKind};
//! use groundstate_pulumi_stackmgr::{JournalManager, MemoryEntries, Options, SnapshotManager};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> groundstate_pulumi_stackmgr::Result<()> {
//! let options = Options::new(Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)), "v3.259.0", "mytool up");
//! let entries = Arc::new(MemoryEntries::default());
//! let manager = JournalManager::new(&Base::new(Snapshot::default()), Arc::clone(&entries), options);
//!
//! let bucket = State::new(Resource::new("urn:bucket", "t"));
//! let mutation = manager.begin(Step::new(StepKind::Create, None, Some(&bucket))).await?;
//! // Only now is it made: should the program die here, the next one knows that it may be there.
//! bucket.change(|resource| resource.id = Some("b-1".into()));
//! manager.end(mutation, true).await?;
//! manager.close().await?;
//! assert_eq!(entries.entries().len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! - [`SnapshotManager`] is the contract. [`Mutation`] is a step that has begun.
//! - [`SnapshotSink`] and [`JournalSink`] are where managers put what they have; [`MemorySnapshots`] and [`MemoryEntries`] keep all.
//! - [`StoredJournal`] puts entries into a journal store, and [`recover`] finds what a crash has left there.
//! - [`LocalJournal`] makes snapshots of entries, for places that store nothing else.
//! - [`Options`] has the clock, the version, and whether broken snapshots are errors.
//!
//! # What is deliberately absent
//!
//! - An engine: who decides what is done, and does it.
//! - Places: files, buckets, services.
//! - Tasks of their own: of those who wait, one stores for all. Any runtime will do, and none is needed.
//!
//! # Features
//!
//! None.

mod error;
mod full_snapshot;
mod gate;
mod journal;
mod local;
mod manager;
mod memory;
mod options;
mod save;
mod sink;
mod stored;

pub use error::{BoxError, Error, Result};
pub use full_snapshot::FullSnapshotManager;
pub use journal::JournalManager;
pub use local::LocalJournal;
pub use manager::{Mutation, SnapshotManager};
pub use memory::{MemoryEntries, MemorySnapshots};
pub use options::{Events, Options, says_yes};
pub use sink::{AppendError, JournalSink, SnapshotSink};
pub use stored::{RecoverError, Recovered, StoredJournal, recover};

/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// Entries of journals.
pub use groundstate_pulumi_journal as pulumi_journal;
/// The models of stacks.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
