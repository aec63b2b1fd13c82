//! Blobs in object stores, as states need them: conditional writes and deletions, leases, exact keys, and errors that say
//! what happened and what to change.
//!
//! ```
//! use groundstate_blobs::{BlobStore, ErrorKind, GetOptions, Key, MemoryBlobs, Precondition, PutOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> groundstate_blobs::Result<()> {
//! let store = MemoryBlobs::new("tests");
//! let key = Key::parse("env:/dev/terraform.tfstate")?;
//!
//! let first = store.put(&key, "{}".into(), &PutOptions::expecting(Precondition::Absent)).await?;
//! let second = PutOptions::expecting(Precondition::Version(first));
//! store.put(&key, "{\"version\":4}".into(), &second).await?;
//!
//! // A client that still expects the first content is refused, and is told what is there instead.
//! let error = store.put(&key, "{}".into(), &second).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
//! assert_eq!(error.found().map(|blob| &blob.bytes[..]), Some(&b"{\"version\":4}"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`BlobStore`] is the contract: one container, its blobs, [`Precondition`]s. [`Leases`] are for services that have them.
//! - [`Key`] is a name that arrives unchanged; [`BlobVersion`] tells contents apart.
//! - [`Error`] has a kind to act on, a place, a reason and a next step.
//! - [`MemoryBlobs`] is the reference. Stores of directories, clouds and databases are crates of their own, which this one does
//!   not know.
//! - [`Retry`] asks again, and finds out what happened when an answer got lost. Stores try once.
//! - [`Prefixed`] is the part of a store whose keys begin with a text.
//! - Every operation of [`Retry`] is a span of `tracing`, and so is every other that a store wraps in [`traced`].
//! - [`PageToken`] is for implementers of stores, as are the constructors of what stores return.
//!
//! # What is deliberately absent
//!
//! - States, locks and workspaces: bytes are bytes here.
//! - Every place but memory: disks, services, their settings and their clients.
//! - Clocks, timers, randomness and variables of the environment: they are handed in, in a [`Context`] and a function.

mod blob;
mod capabilities;
mod context;
mod error;
mod key;
mod lease;
mod memory;
mod op;
mod options;
mod prefixed;
mod retry;
pub mod sealed;
mod store;
pub mod traced;
mod version;

pub use blob::{Attributes, Blob, BlobMeta, LeaseState, Listed, Page, PageToken};
pub use capabilities::BlobCapabilities;
pub use context::Context;
pub use error::{BoxError, Error, ErrorKind, Result};
pub use key::Key;
pub use lease::{LeaseDuration, LeaseId, Leases};
pub use memory::MemoryBlobs;
pub use op::Op;
pub use options::{DeleteOptions, GetOptions, ListOptions, Precondition, PutOptions, Role};
pub use prefixed::Prefixed;
pub use retry::{Retry, RetryPolicy};
pub use store::BlobStore;
pub use version::{BlobVersion, InvalidVersion};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
