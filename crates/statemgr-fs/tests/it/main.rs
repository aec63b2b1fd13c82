//! Tests of the file store: the contract, and what files add to it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail by panicking, and say what was not run"
)]

mod child;
mod conformance;
mod counting;
mod kills;
mod support;
