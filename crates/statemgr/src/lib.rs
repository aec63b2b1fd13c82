//! State managers: the contract of stores, and the manager that owns lineage and serial.
//!
//! ```
//! use groundstate_statemgr::{Capabilities, Error, ErrorKind};
//!
//! let error = Error::unsupported("renew the lock of", "prod");
//! assert_eq!(error.kind(), ErrorKind::Unsupported);
//! assert_eq!(error.to_string(), "cannot renew the lock of prod: the store cannot do this");
//! assert!(!Capabilities::none().lease);
//! ```

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
mod store;
mod traits;
mod transfer;
mod turn;
mod wait;
mod wrap;

pub use capabilities::{Capabilities, Exclusion};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use fake::{FullFake, TransientInMemory, UnlockErrorFull};
pub use guard::{AbandonedLock, AbandonedLocks, LockGuard, OnAbandon, ReleaseError, Renewal};
pub use holder::{FencingToken, LockGrant, LockHolder};
pub use intermediate::{
    DEFAULT_PERSIST_INTERVAL, IntermediateSnapshots, PersistInfo, PersistIntervalError, persist_interval,
};
pub use lock_info::{LockDocument, LockId, LockInfo};
pub use manager::{Manager, ManagerOptions};
pub use memory::{MemoryPlace, MemoryStore};
pub use meta::{ImportError, Relation, SnapshotMeta, check_valid_import};
pub use store::{Expect, StateStore, Stored, Version, WriteOptions};
pub use traits::{
    Extensions, Full, Locker, Migrator, OutputReader, OutputValues, Persisted, Persistent, PersistentMeta,
    Persister, Reader, Refresher, Storage, Transient, Writer, refresh_and_read, write_and_persist,
};
pub use transfer::{Migrated, export, import, migrate, planned_state_update, write_planned_state_update};
#[cfg(feature = "tokio")]
pub use wait::TokioSleeper;
pub use wait::{Sleeper, Waiting, lock_with};
pub use wrap::{LockDisabled, ReadOnly, Retry, RetryPolicy};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
