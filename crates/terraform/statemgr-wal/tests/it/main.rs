//! Tests of the journaled manager: changes, crashes everywhere, other writers, and the disk.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod crash;
mod files;
mod growth;
mod others;
mod outage;
mod random;
mod runs;
mod support;
mod trap;
