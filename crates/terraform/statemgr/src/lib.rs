//! State managers: the contract of stores, and the manager that owns lineage and serial.
//!
//! ```
//! use std::sync::Arc;
//! use groundstate_statemgr::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_statemgr::{Manager, ManagerOptions, SharedMemory, Persisted, PersistentMeta, write_and_persist};
//! use groundstate_statemgr::states::State;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> groundstate_statemgr::Result<()> {
//! let store = Arc::new(SharedMemory::new("prod").open());
//! let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let manager = Manager::new(store, clock, Arc::new(SequenceIds::new()), ManagerOptions::default());
//! assert_eq!(write_and_persist(&manager, &State::new()).await?, Persisted::Written);
//! assert_eq!(write_and_persist(&manager, &State::new()).await?, Persisted::Unchanged);
//! assert_eq!(manager.snapshot_meta().serial.get(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`StateStore`] is what a backend implements, with its [`Capabilities`]; [`MemoryStore`] is the reference.
//! - [`Backend`] is a place with several states, each a workspace by a [`WorkspaceName`]; some keep a [`History`] of each.
//! - [`Manager`] turns any store into a [`Full`] and a [`Migrator`]. Users of states ask for traits: [`Reader`],
//!   [`Writer`], [`Refresher`], [`Persister`], [`OutputReader`], [`Locker`], [`PersistentMeta`], or for the unions
//!   [`Transient`], [`Persistent`], [`Storage`], [`Full`].
//! - [`LockInfo`] is the document beside a lock, byte for byte as the original programs write it; [`lock_with`] waits,
//!   [`LockGuard`] holds and prolongs, [`LockHolder`] says who is in the way. What the originals call a lock error is an
//!   [`Error`] of the kind [`ErrorKind::Locked`].
//! - [`Manager::operate`] is for edits: moves, removals and the like, on the stored bytes.
//! - [`IntermediateSnapshots`] persists during a run. [`export`], [`import`] and [`migrate`] move snapshots with their
//!   metadata. [`check_valid_import`] says which may replace which.
//! - What managers and stores do are spans of `tracing`; implementers of stores and backends open them with [`traced`].
//! - [`Retry`], [`ReadOnly`] and [`LockDisabled`] wrap; [`TransientInMemory`], [`InMemoryManager`] and [`FailingManager`] stand in
//!   for managers in tests.
//!
//! # What is deliberately absent
//!
//! - Any place: files, buckets and services are crates of their own.
//! - A clock, randomness, a runtime, the environment: they are arguments.
//! - Which workspace is selected: that belongs to a working directory.

mod backend;
mod capabilities;
mod error;
mod fake;
mod guard;
mod holder;
mod intermediate;
mod lock_info;
mod manager;
mod memory;
mod meta;
mod op;
mod store;
pub mod traced;
mod traits;
mod transfer;
mod wait;
mod wrap;

pub use backend::{
    Backend, CreateWorkspace, DeleteWorkspace, History, HistoryEntry, HistoryId, MemoryBackend,
    WorkspaceName, create_workspace, delete_workspace, empty_state, holds_resources, under_lock,
};
pub use capabilities::{Capabilities, Exclusion};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use fake::{FailingManager, InMemoryManager, TransientInMemory};
pub use guard::{AbandonedLock, AbandonedLocks, LockGuard, OnAbandon, ReleaseError, Renewal, catch_panic};
pub use holder::{FencingToken, LockGrant, LockHolder};
pub use intermediate::{
    DEFAULT_PERSIST_INTERVAL, IntermediateSnapshots, PersistInfo, PersistIntervalError, persist_interval,
};
pub use lock_info::{LockDocument, LockId, LockInfo};
pub use manager::{Decision, Manager, ManagerOptions};
pub use memory::{MemoryStore, SharedMemory};
pub use meta::{ImportError, Relation, SnapshotMeta, check_valid_import};
pub use op::Op;
pub use store::{Expect, StateStore, Stored, Version, WriteOptions};
pub use traits::{
    Extensions, Full, Locker, Migrator, OutputReader, OutputValues, Persisted, Persistent, PersistentMeta,
    Persister, Reader, Refresher, Storage, Transient, Writer, refresh_and_read, write_and_persist,
};
pub use transfer::{Migrated, export, import, migrate, planned_state_update, write_planned_state_update};
#[cfg(feature = "tokio")]
pub use wait::TokioSleeper;
pub use wait::{LOCK_WAITS, Waiting, lock_with};
// A wait for a lock needs a `Sleeper`.
pub use groundstate_common::Sleeper;
pub use wrap::{LockDisabled, ReadOnly, Retry, RetryPolicy};

/// Bytes that are shared, not copied: what a store is given to write.
pub use bytes;
/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// Edits of states.
pub use groundstate_state_edit as state_edit;
/// The format of state files.
pub use groundstate_statefile as statefile;
/// The models of states.
pub use groundstate_states as states;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
