//! Tests of the crate through its public interface.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod chains;
mod configuration;
mod envelopes;
mod external;
mod files;
mod fuzzed;
mod properties;
mod redaction;
mod support;
mod vectors;
