//! Tests of journals in folders: the contract, damage, and writers that are killed.

mod conformance;
mod damage;
mod disks;
#[cfg(unix)]
mod full;
mod kills;
mod messages;
mod segments;
mod support;
