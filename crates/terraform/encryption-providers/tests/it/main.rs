//! Tests of the crate through its public interface.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod conformance;
#[cfg(unix)]
mod programs;
mod services;
mod stores;
mod support;
