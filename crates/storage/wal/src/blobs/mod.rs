//! Journals in object stores: an object for each batch, created only if it does not exist.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_blobs::MemoryBlobs;
//! use groundstate_common::SequenceIds;
//! use groundstate_wal::{JournalStore, OpenOptions, Record, read_all};
//! use groundstate_wal::blobs::BlobJournal;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bucket = Arc::new(MemoryBlobs::new("states"));
//! let journal = BlobJournal::new(bucket, "prod.tfstate.changes/", Arc::new(SequenceIds::new()))?;
//! let writer = journal.open(&OpenOptions::new("ann@host")).await?;
//! writer.begin(&Record::from(&b"serial 7"[..])).await?;
//! writer.append(&[Record::from(&b"created a"[..])]).await?;
//! drop(writer);
//!
//! let contents = read_all(&journal).await?.expect("an epoch was begun");
//! assert_eq!(contents.records, [Record::from(&b"created a"[..])]);
//! # Ok(())
//! # }
//! ```
//!
//! # The objects
//!
//! Objects are numbered, and each is created under the condition that there is none of its name. So everything that happens to
//! a journal is in one order, and of two writers one is told that it lost. An object is a frame
//! ([`frame`](crate::frame)) of one of four kinds: a writer takes over, an epoch begins, a batch, an epoch is over.
//! Each also says which number its epoch began with, so the last one leads to all that counts: a list and one read.
//!
//! Objects of epochs that are over are removed, takeovers among them. A writer that was paused may then create an object
//! under a number that was removed, and must not be told that its batch is stored. So one more object, `floor`, says below
//! which number objects may have been removed, and which takeovers there were. It is raised before anything is removed, and
//! a writer reads it after each object that it created and before it says so. However long a writer slept, what it created
//! below the floor after a takeover is `Fenced`. Of a writer that slept through more than 512 takeovers between both requests,
//! nothing tells whether its batch was in time: that is `Ambiguous`.
//!
//! A batch costs two requests, shared by those that wait at the same time.
//!
//! # What is deliberately absent
//!
//! - Telling whether a writer lives: `open` always takes over.
//! - Retries: the blob store makes them.

mod failure;
mod floor;
mod object;
mod queue;
mod reading;
mod store;
mod writer;

pub use store::BlobJournal;
