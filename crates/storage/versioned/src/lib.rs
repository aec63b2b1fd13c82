//! Documents with versions, locks and fencing tokens, on any blob store with conditional writes.
//!
//! ```
//! use std::sync::Arc;
//! use groundstate_versioned::blobs::{Context, MemoryBlobs};
//! use groundstate_versioned::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_versioned::{Documents, LockOutcome, Name, NewLock, Settings, WriteOptions, WriteOutcome};
//!
//! # fn main() { run(async { example().await.unwrap() }) }
//! # fn run(future: impl Future<Output = ()>) {
//! #     let mut future = std::pin::pin!(future);
//! #     while future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending() {}
//! # }
//! # async fn example() -> groundstate_versioned::Result<()> {
//! let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let context = Context::new(clock.clone(), clock, Arc::new(SequenceIds::new()));
//! let store = Arc::new(MemoryBlobs::new("states"));
//! let documents = Documents::open(store, context, Settings::default())?;
//! let document = documents.document(&Name::parse("team/prod").expect("it is a name"));
//!
//! let LockOutcome::Locked(lock) = document.lock(&NewLock::new("L1").document(r#"{"ID":"L1"}"#)).await? else { return Ok(()) };
//! assert_eq!(lock.token, 1);
//! assert!(matches!(document.lock(&NewLock::new("L2")).await?, LockOutcome::Held(held) if held.id == "L1"));
//!
//! let content = document.content("{}").await?;
//! let WriteOutcome::Written(version) = document.write(&content, &WriteOptions::default().lock("L1")).await? else { return Ok(()) };
//! assert_eq!((version.number, version.token), (1, Some(1)));
//! document.unlock("L1").await?;
//!
//! let reader = document.read().await?.expect("it was just written");
//! assert_eq!(reader.collect(1 << 20).await?, "{}");
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`Documents`] is a container of a blob store; [`Document`] is a client of one document in it. No state is in a
//!   process: any number of clients in any number of processes use one container at a time.
//! - [`Head`] is all that is decided of a document: its last [`Version`], its [`Lock`], its fencing token. It is one blob, which every change replaces
//!   under the condition that nothing else did.
//! - [`Document::step`] is the one change there is. A function sees the head and gives a [`Step`]; it is evaluated again if another client was
//!   faster. [`lock`](Document::lock), [`write`](Document::write) and the others are steps with an outcome each:
//!   what is to be expected, such as [`LockOutcome::Held`], is no error.
//! - [`Upload`] stores a content piece by piece, [`Reader`] reads it part by part; both have one part in memory.
//! - [`Document::versions`] lists the history. Deletions are versions too: a document that is deleted keeps its history and its token.
//! - A lock may have a lease. When it is over, another client may take the lock; until one does, the holder may go on. Each lock has
//!   a larger token than all before, and a write under a lock that is not the document's any more is [`WriteOutcome::Lost`].
//! - An [`Error`] has a kind to act on. After [`ErrorKind::Ambiguous`], the same operation can be repeated: a lock under the same id, a write of the same
//!   bytes under the same lock and an unlock are recognised, not made twice.
//!
//! # What is deliberately absent
//!
//! - States, stacks, and what is in a content: bytes are bytes here. So are the documents of locks.
//! - Waiting for locks: callers ask again.
//! - Retries of requests that fail: wrap the store into [`Retry`](blobs::Retry).
//! - Clocks, timers and randomness: they are in the [`Context`](blobs::Context).

mod check;
mod content;
mod digest;
mod document;
mod documents;
mod error;
mod head;
mod history;
mod ids;
mod layout;
mod lock;
mod name;
mod op;
mod operations;
mod reader;
mod rebuild;
mod record;
mod settings;
mod step;
mod stepping;
mod survey;
mod sweep;
mod traced;
mod upload;
mod version;
mod wire;
mod writing;

pub use groundstate_blobs as blobs;
pub use groundstate_common as common;

pub use check::{Checked, Finding, Report, ReportOf};
pub use content::Content;
pub use digest::{Md5, Sha256};
pub use document::Document;
pub use documents::{Damaged, DocumentPage, Documents, ListFilter, Listed, NamePage, SweepReport};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use head::Head;
pub use history::VersionPage;
pub use ids::VersionId;
pub use lock::{EndedLock, Ending, Lock, NewLock};
pub use name::Name;
pub use op::Op;
pub use operations::{
    BreakOutcome, Expect, LockLoss, LockOutcome, RenewOutcome, Same, UnlockOutcome, WriteOptions,
    WriteOutcome,
};
pub use reader::Reader;
pub use rebuild::Rebuilt;
pub use settings::Settings;
pub use step::{Step, VersionOptions};
pub use stepping::Stepped;
pub use sweep::{Retention, SweepOptions, Swept};
pub use upload::Upload;
pub use version::{Note, Version};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
