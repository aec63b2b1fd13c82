//! Simulated engines on simulated stacks: whatever happens, all who keep a stack must agree, and what is stored must be sound.
//!
//! A case is a tape of bytes, from which everything is chosen: a base, programs, what fails, what is refreshed, selected,
//! imported or replaced, what runs at the same time, where it is killed, and what of the journal arrives in which order.
//!
//! ```
//! use groundstate_simulation::{check, simulate};
//!
//! let stats = check(&[7, 130, 2, 200, 90, 1, 255, 31, 4, 8, 15, 16, 23, 42]).unwrap();
//! assert!(stats.runs > 0);
//!
//! let campaign = simulate(20_261_121, 0..50);
//! assert!(campaign.failure.is_none());
//! ```
//!
//! - [`check`] runs one case, [`check_with`] with a replayer of one's own.
//! - [`simulate`] runs many by a seed, and makes the first that fails smaller.
//! - [`naive`] is a replayer that applies the rules, one entry after the other; with a [`Defect`] it does so wrongly, and
//!   has to be caught.

mod arrival;
mod base;
mod campaign;
mod case;
mod dice;
mod engine;
mod journals;
mod naive;
mod plan;
mod program;
mod removal;
mod run;

pub use campaign::{Campaign, Stats, catch, shrink, simulate, simulate_with};
pub use case::{check, check_with};
pub use engine::Failure;
pub use naive::{Defect, Replay, naive};
