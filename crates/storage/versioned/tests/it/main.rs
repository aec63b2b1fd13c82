//! Documents in memory, in directories, buckets and tables.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod chaos;
mod faults;
mod formats;
mod fuzzed;
mod history;
mod hooked;
mod kills;
mod locks;
mod places;
mod repairs;
mod sendable;
mod support;
mod sweeps;
mod together;
mod writes;
