//! Tests of journals in folders: the contract, damage, and writers that are killed.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod conformance;
mod damage;
mod disks;
#[cfg(unix)]
mod full;
mod kills;
mod support;
