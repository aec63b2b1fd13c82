//! Runs the command as users do.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking"
)]

mod check;
mod diagnostics;
mod diff;
mod fixtures;
mod help;
mod list;
mod odd_files;
mod outputs;
mod show;
mod sources;
mod support;
mod surgery;
mod terraform;
mod upgrade;
mod version;
