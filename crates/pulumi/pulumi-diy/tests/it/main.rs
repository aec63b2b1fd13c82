//! Tests of backends, in memory and in a directory.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod checkpoints;
mod history;
mod hostile;
mod journal;
mod leftovers;
mod listing;
mod lock_model;
mod locks;
mod moves;
mod opening;
mod operations;
mod real;
mod restoring;
mod shared_locks;
mod support;
mod tags;
mod traced;
