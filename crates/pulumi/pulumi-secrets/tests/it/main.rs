//! Tests of the crate through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod batch;
mod cached;
mod cloud;
mod fuzzed;
mod passphrase;
mod properties;
mod provider;
mod pulumi;
mod sensitive;
mod simple;
mod state;
mod support;
mod symmetric;
