//! The conformance suite of state stores: named cases for every clause of the contract of
//! [`StateStore`](groundstate_statemgr::StateStore), for any implementer to run from a crate of their own.
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use groundstate_conformance::{Conditions, Harness, TestStore, Settings, run};
//! use groundstate_conformance::statemgr::{SharedMemory, Result, StateStore};
//!
//! struct MyHarness;
//!
//! #[async_trait]
//! impl Harness for MyHarness {
//!     fn name(&self) -> String {
//!         "mine".to_owned()
//!     }
//!
//!     async fn store(&self) -> Result<Arc<dyn TestStore>> {
//!         Ok(Arc::new(MyPlace(SharedMemory::new("fresh"))))
//!     }
//! }
//!
//! struct MyPlace(SharedMemory);
//!
//! #[async_trait]
//! impl TestStore for MyPlace {
//!     async fn open(&self) -> Result<Arc<dyn StateStore>> {
//!         Ok(Arc::new(self.0.open()))
//!     }
//! }
//!
//! // One test for each case, under each of the conditions; this is all that a crate of tests needs.
//! groundstate_conformance::suite!(MyHarness);
//!
//! // The same from a program, with a report as text or as JSON.
//! let settings = Settings::default().conditions([Conditions::Calm]).only("lock_excludes");
//! let report = run(Arc::new(MyHarness), &settings);
//! assert!(report.is_success(), "{report}");
//! ```
//!
//! # What is in it
//!
//! - [`Harness`] makes places and [`TestStore`] opens clients of one; that is what an implementer writes. Two clients of one
//!   place are what nearly every case works with.
//! - [`suite!`] makes the tests; [`run`] gives a [`Report`].
//! - [`TestStore::address`] and [`Harness::open_at`] open a place from a second process, which is this program, started again:
//!   a store that claims to exclude other processes has to show it.
//! - [`CASES`] are the cases and [`CLAUSES`] what they are about. Each clause has a case of its name. A case that needs a
//!   capability which the store lacks checks that the store refuses what needs it.
//! - [`Conditions`] are how the cases run: calm, with latency, with errors, and with clients that give up.
//! - [`Faulty`] is the store that does these things, for other tests to use. [`FaultyBlobs`] are blobs that fail the calls
//!   which a test plans.
//! - [`MemoryHarness`] runs the suite on the store in memory.
//! - [`journals`] has the cases of journals, which are stores of another kind, and [`journal_suite!`] makes tests of them.
//! - `http`, with the feature of this name, has the cases of servers of Terraform's HTTP protocol, which are sent by hand.
//! - [`blob_suite!`] and [`BlobHarness`] are the same for blob stores. All three suites run by one frame: a case on a
//!   thread of its own, a [`Failure`] with the clause, what was expected and what was seen.
//!
//! Concurrent cases run twice: on one thread in an order that the seed decides, and on threads. A failure names the
//! seed.
//!
//! # What is deliberately absent
//!
//! - A runtime: futures run on a thread that sleeps while they wait, or however [`Harness::block_on`] says.
//! - Measurements: time counts only where the contract says "at once".
//! - Printing: reports are values, programs show them.
//!
//! # Features
//!
//! - `http`: the suite of servers of Terraform's HTTP protocol. It brings an HTTP client and a runtime along. Off by default.

mod blobs;
mod cases;
mod clause;
mod cx;
mod executor;
mod failure;
mod fault;
mod faulty_blobs;
mod frame;
mod harness;
mod history;
#[cfg(feature = "http")]
pub mod http;
pub mod journals;
mod linear;
mod macros;
mod memory;
mod peer;
mod report;
mod rng;
mod run;
mod states;
mod trace;

pub use blobs::{BlobHarness, Container, check_blobs};
pub use cases::{CASES, Case};
pub use clause::{CLAUSES, Clause};
pub use executor::{BoxFuture, ThreadSleeper, block_on};
pub use failure::{Failure, Outcome};
pub use fault::{Conditions, Faults, Faulty};
pub use faulty_blobs::{Fault, FaultyBlobs};
pub use harness::{Address, Disturbance, Harness, TestStore};
pub use memory::MemoryHarness;
pub use report::{CaseReport, Counts, Report};
pub use run::{SEED_VARIABLE, Settings, check, run, run_case};

/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;
/// The contract of journals.
pub use groundstate_wal as wal;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
