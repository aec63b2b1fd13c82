//! Append-only journals: batches that are durable when they are acknowledged, epochs with a base, and
//! writers of which the newest wins.
//!
//! ```
//! use groundstate_wal::{JournalStore, MemoryJournal, OpenOptions, Record, read_all};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> groundstate_wal::Result<()> {
//! let journal = MemoryJournal::new("prod");
//! let writer = journal.open(&OpenOptions::new("ann@host")).await?;
//! writer.begin(&Record::from(&b"what the entries build on"[..])).await?;
//! let receipt = writer.append(&[Record::from(&b"one"[..]), Record::from(&b"two"[..])]).await?;
//! assert_eq!((receipt.first.get(), receipt.next.get()), (0, 2));
//!
//! // Now the writer dies, and another process reads what is left.
//! drop(writer);
//! let contents = read_all(&journal).await?.expect("an epoch was begun");
//! assert_eq!(contents.records.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`JournalStore`] is what a place for journals implements, with [`JournalWriter`]; the contract stands there, clause by
//!   clause. [`MemoryJournal`] is the reference.
//! - [`read_all`] and [`replay`] read page by page. A [`Head`] is an epoch's base, a [`Cursor`] a place in it, an [`Ack`] the
//!   receipt for a batch.
//! - [`frame`] is how batches are laid down so that damage is found, for implementers.
//!
//! # What is deliberately absent
//!
//! - What records mean. Their writers read them.
//! - Runtimes, clocks, randomness; files and buckets but behind the features.
//! - Deciding who may take over: that is the business of locks, which stand elsewhere.
//!
//! # Features
//!
//! Both are off by default: without them, the crate is the contract and names no place.
//!
//! - `fs`: journals in folders, `fs::FsJournal`.
//! - `blobs`: journals in object stores, `blobs::BlobJournal`.

#[cfg(feature = "blobs")]
pub mod blobs;
mod contents;
mod error;
pub mod frame;
#[cfg(feature = "fs")]
pub mod fs;
mod memory;
mod op;
mod record;
mod store;
#[cfg(any(feature = "blobs", feature = "fs"))]
mod traced;

pub use contents::{Contents, read_all, replay};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use memory::MemoryJournal;
pub use op::Op;
pub use record::{Ack, Cursor, Epoch, Head, Page, Position, Record, Torn};
pub use store::{JournalStore, JournalWriter, MAX_BATCH, OpenOptions};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
