//! Tests of the crates together.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking"
)]

mod opentofu;
mod order;
mod readers_agree;
mod terraform;
mod terraform_flow;
