//! An append-only audit log on any blob store: who did what to which object, from where, with which outcome, in one chain of
//! hashes that shows when an entry was changed, removed, moved or invented.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_audit::blobs::{Context, MemoryBlobs};
//! use groundstate_audit::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_audit::{AuditLog, Event, Location, Outcome, verify};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let location = Location::new(Arc::new(MemoryBlobs::new("states")), "audit/")?;
//! let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z")?));
//! let context = Context::new(clock.clone(), clock, Arc::new(SequenceIds::new()));
//! let (log, recorder) = AuditLog::open(location.clone(), "node-1", context)?;
//!
//! let work = async move {
//!     // Durable when this returns.
//!     log.record(Event::new("token:ci", "state.write", "web/prod", Outcome::Done).reason("serial 7")).await
//! };
//! let (recorded, ()) = tokio::join!(work, recorder.run());
//! recorded?;
//!
//! let report = verify(&location, None).await?;
//! assert!(report.is_intact());
//! // The operator stores this elsewhere, and passes it to a later verification.
//! let checkpoint = report.checkpoint;
//! assert_eq!(checkpoint.count, 1);
//! assert!(verify(&location, Some(checkpoint)).await?.is_intact());
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`AuditLog`] records an [`Event`]. [`AuditLog::record`] returns when the entry is durable; [`AuditLog::note`] does not wait.
//!   [`Recorder`] does the work: a program runs it beside everything else until the last [`AuditLog`] is dropped.
//! - [`Entry`] is an event with its number, time, node, and the hashes that chain it.
//! - [`verify`] reads the log without any server, and gives a [`Report`] with [`Finding`]s and a [`Checkpoint`].
//! - [`Reader`] reads entries, the newest first if asked. [`retain`] removes old segments, and signs off what it removes.
//!
//! # The objects
//!
//! - `batches/RUN/NUMBER.jsonl`: what one process (a *run*) recorded and no segment has yet. Each is created once, under a name
//!   that only this process uses, so nodes never wait for each other.
//! - `segments/NUMBER.jsonl`: the chain. Any node moves batches into the newest segment by compare-and-swap, or begins the next.
//! - `head.json`: how far the chain is known to go, and where it begins after [`retain`].
//!
//! # What is deliberately absent
//!
//! - Values and secrets: an event has names and outcomes. Words that look like tokens are cut off.
//! - Keys and signatures. Who can write all objects can write all hashes: a checkpoint that is kept elsewhere finds that out.
//! - Runtimes, clocks and randomness: they are handed in, in a [`Context`](groundstate_blobs::Context).
//! - Decisions about who may do what.

mod batch;
mod chaining;
mod checkpoint;
mod entry;
mod error;
mod event;
mod hash;
mod head;
mod location;
mod log;
mod op;
mod reader;
mod recorder;
mod retention;
mod seal;
mod segment;
mod verification;

pub use checkpoint::{Checkpoint, InvalidCheckpoint};
pub use entry::{Entry, InvalidLine, Record};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use event::{Event, Outcome};
pub use groundstate_blobs as blobs;
pub use groundstate_common as common;
pub use hash::Hash;
pub use location::Location;
pub use log::AuditLog;
pub use op::Op;
pub use reader::{Newest, Reader};
pub use recorder::Recorder;
pub use retention::{Removed, retain};
pub use verification::{Finding, Report, Rule, verify};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
