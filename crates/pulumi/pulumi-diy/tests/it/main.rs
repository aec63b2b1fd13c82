//! Tests of backends, in memory and in a directory.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod checkpoints;
mod opening;
mod support;
