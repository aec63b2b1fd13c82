//! Tests of groundstate-executor, through its public interface.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod crash;
mod drive;
mod failures;
mod intents;
mod plan;
mod planner;
mod support;
mod trap;
mod world;
