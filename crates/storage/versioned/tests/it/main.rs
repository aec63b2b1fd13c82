//! Documents on stores in memory.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod chaos;
mod history;
mod locks;
mod sendable;
mod support;
mod sweeps;
mod together;
mod writes;
