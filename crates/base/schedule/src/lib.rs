//! Operations that wait for each other: in which order they run, which at the same time, why one waits for another, and the
//! walk that carries them out.
//!
//! ```
//! use groundstate_schedule::{Explanation, WaitGraph};
//!
//! // The server (1) waits for the network (0), and so does the disk (2); the check (3) waits for both.
//! let graph = WaitGraph::new(4, 4, vec![(1, 0, ()), (2, 0, ()), (3, 1, ()), (3, 2, ())]);
//! assert_eq!(graph.order(), Some(vec![0, 1, 2, 3]));
//!
//! let waves = graph.waves().ok_or("there is no cycle")?;
//! assert_eq!(waves.groups(), [vec![0], vec![1, 2], vec![3]]);
//!
//! let why = graph.explain(&[3], &[0], |(from, to, ())| (from, to));
//! assert_eq!(why, Explanation::Waits(vec![(3, 1), (1, 0)]));
//! # Ok::<(), &str>(())
//! ```
//!
//! # Where to look
//!
//! - [`WaitGraph`] holds the operations by number, and answers: [`order`](WaitGraph::order), [`waves`](WaitGraph::waves),
//!   [`explain`](WaitGraph::explain), [`nearest`](WaitGraph::nearest), [`cycles`](WaitGraph::cycles),
//!   [`smallest_cut`](WaitGraph::smallest_cut), [`reduced`](WaitGraph::reduced).
//! - A [`Label`] on each edge says why: the crates above bring their own sets of reasons.
//! - [`walk`] carries a graph out: it starts what may start, at most so many at once, and skips what a failure makes impossible.
//! - [`drawing`] draws one for people.
//!
//! # What is deliberately absent
//!
//! What an operation does, and names: nodes are numbers. Runtimes and clocks; [`walk::walk`] uses the
//! threads of the standard library, and [`walk::Walker`] none.

mod cycle;
pub mod drawing;
mod explain;
mod graph;
mod reduce;
pub mod walk;
mod waves;

pub use cycle::WaitCycle;
pub use explain::Explanation;
pub use graph::{Direction, Label, Scratch, WaitEdge, WaitGraph};
pub use waves::Waves;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
