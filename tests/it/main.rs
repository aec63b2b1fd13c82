//! Tests of the crates together.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "helpers of tests fail by panicking"
)]

mod contention;
mod opentofu;
mod order;
mod readers_agree;
mod terraform;
mod terraform_flow;
mod traced;
