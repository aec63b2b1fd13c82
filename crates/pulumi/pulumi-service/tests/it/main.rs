//! Tests of the stacks of a service.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod appends;
mod checkpoints;
mod damage;
mod events;
mod fuzzed;
mod journals;
mod leases;
mod requests;
mod retention;
mod secrets;
mod stacks;
mod support;
mod traced;
