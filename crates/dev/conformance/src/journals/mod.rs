//! The conformance cases of journals: one or more for every clause of the contract of
//! [`JournalStore`](groundstate_wal::JournalStore).
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use groundstate_conformance::journals::{JournalHarness, TestJournal};
//! use groundstate_wal::{JournalStore, MemoryJournal, Result};
//!
//! struct MyHarness;
//! struct MyPlace(MemoryJournal);
//!
//! #[async_trait]
//! impl JournalHarness for MyHarness {
//!     async fn journal(&self) -> Result<Arc<dyn TestJournal>> {
//!         Ok(Arc::new(MyPlace(MemoryJournal::new("fresh"))))
//!     }
//! }
//!
//! #[async_trait]
//! impl TestJournal for MyPlace {
//!     async fn open(&self) -> Result<Arc<dyn JournalStore>> {
//!         Ok(Arc::new(self.0.clone()))
//!     }
//! }
//!
//! groundstate_conformance::journal_suite!(MyHarness);
//! ```

mod appending;
mod cx;
mod damage;
mod epochs;
mod harness;
mod reading;
mod run;
mod writers;

pub use harness::{JournalHarness, TestJournal};
#[cfg(test)]
pub(crate) use run::JOURNAL_CASES;
pub use run::{check_journal, run_journals};
