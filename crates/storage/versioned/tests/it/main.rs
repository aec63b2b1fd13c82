//! Documents on stores in memory.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod history;
mod locks;
mod support;
mod writes;
