//! Tests of the file store: the contract, and what files add to it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail by panicking, and say what was not run"
)]

mod backups;
mod child;
mod conformance;
mod counting;
#[cfg(unix)]
mod disks;
#[cfg(unix)]
mod files;
mod kills;
mod locks;
mod managers;
mod support;
mod terraform;
mod workspaces;
