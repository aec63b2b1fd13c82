//! Walks a plan: starts what may start, at most so many at once, and skips what a failure makes impossible.
//!
//! [`Walker`] decides and does nothing else: it has no clock, no thread and no runtime. Its driver asks for the
//! next node, does the work in any way, and says how it ended. [`walk`] is such a driver, on threads.
//!
//! ```
//! use groundstate_schedule::walk::{self, Outcome, Relation, Settled, WalkGraph, WalkOptions};
//!
//! // 1 and 2 wait for 0, and 3 waits for both.
//! let mut plan = WalkGraph::builder(4);
//! for (from, to) in [(1, 0), (2, 0), (3, 1), (3, 2)] {
//!     plan.edge(from, to, Relation::Needs);
//! }
//! let plan = plan.build()?;
//!
//! let work = |node: usize, _: &walk::Context| {
//!     if node == 1 { Outcome::Failed("no quota".to_owned()) } else { Outcome::Succeeded }
//! };
//! let report = walk::walk(&plan, &WalkOptions::default(), &work, &mut |_| ());
//! assert_eq!(report.settled(2), Settled::Succeeded, "nothing waits for what failed elsewhere");
//! assert_eq!(report.settled(3), Settled::SkippedUpstream);
//! assert_eq!(report.roots(&plan, 3), [1].into());
//! # Ok::<(), walk::WalkGraphError>(())
//! ```
//!
//! # Rules
//!
//! - A node is examined only when all that it waits for has settled, failures included. If something it
//!   [needs](Relation::Needs) did not succeed, it is skipped and produces no error of its own.
//! - Ready nodes start by ascending number, so with a limit of one and without failures nodes run in the topological
//!   order that is smallest step by step.
//! - A failure stops nothing elsewhere, unless [`OnFailure::Stop`] says so.
//! - After a stop nothing starts; what runs is waited for, and the rest is skipped.
//! - Barriers settle by themselves and count towards no limit.

mod blame;
mod csr;
mod graph;
mod report;
mod threads;
mod walker;

pub use blame::impact;
pub use graph::{Relation, WalkGraph, WalkGraphBuilder, WalkGraphError};
pub use report::{Settled, WalkReport};
pub use threads::{Context, Event, Execute, StopToken, WalkOptions, panic_text, walk};
pub use walker::{DEFAULT_PARALLELISM, OnFailure, Outcome, Walker, WalkerError, limit};
