//! Tests of the deployment codec, through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers outside of test functions fail the test they serve, and say what was not run"
)]

mod buckets;
mod diff;
mod errors;
mod features;
mod fuzzed;
mod migrate;
mod offsets;
mod properties;
mod props;
mod raw;
mod references;
mod render;
mod salvage;
mod scenarios;
mod secrets;
mod shared;
mod states;
mod support;
mod upgrade;
