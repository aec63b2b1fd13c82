//! Journals in folders: framed segments, syncs that concurrent appends share, torn ends recovered, one writer at a time.
//!
//! ```
//! use groundstate_wal::{JournalStore, OpenOptions, Record, read_all};
//! use groundstate_wal::fs::FsJournal;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let journal = FsJournal::new(folder.path().join("prod.journal"));
//! let writer = journal.open(&OpenOptions::new("ann@host")).await?;
//! writer.begin(&Record::from(&b"serial 7"[..])).await?;
//! // Durable when this returns: the file is synced.
//! writer.append(&[Record::from(&b"created a"[..])]).await?;
//! drop(writer);
//!
//! let contents = read_all(&journal).await?.expect("an epoch was begun");
//! assert_eq!(contents.records, [Record::from(&b"created a"[..])]);
//! # Ok(())
//! # }
//! ```
//!
//! # The folder
//!
//! | file | content |
//! | --- | --- |
//! | `writer-N` | the newest writer, in words; locked while it lives, removed by the next |
//! | `E.base` | the base of epoch E; the newest there is counts |
//! | `E-S.log` | segment S of epoch E |
//! | `new-…` | a file that has no name yet, or never got one |
//!
//! Numbers are hexadecimal. A base and a segment get their names when they are whole and synced, so a name is never without
//! its content. A segment begins with a frame that says where the one before it ends: what a refused writer may have put
//! behind that end counts for nothing.
//!
//! # How writers keep out of each other's way
//!
//! A writer removes the files of all before it, and only then reads what is stored. A writer acknowledges only if, after the
//! sync, its own file is still there: so either the newer one reads the batch, or it is not acknowledged. That needs no
//! lock, and holds for a writer that was paused anywhere in between. Whether an older one is alive is asked from a lock on
//! its file, which the system frees when it dies.
//!
//! # What is deliberately absent
//!
//! - A runtime: each writer has a thread of its own, which is also what lets appends share syncs.
//! - Journals that several hosts write at once. Over a network file system takeovers are as sound as its caches are.

mod epoch;
mod failure;
mod files;
mod group;
mod names;
mod scan;
mod segment;
mod store;
mod writer;

pub use store::{FsJournal, FsJournalOptions};
