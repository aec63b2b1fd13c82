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
mod holder;
mod lock_info;
mod memory;
mod store;

pub use capabilities::{Capabilities, Exclusion};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use holder::{FencingToken, LockGrant, LockHolder};
pub use lock_info::{LockDocument, LockId, LockInfo};
pub use memory::{MemoryPlace, MemoryStore};
pub use store::{Expect, StateStore, Stored, Version, WriteOptions};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
