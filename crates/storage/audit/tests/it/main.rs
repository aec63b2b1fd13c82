//! The tests of the audit log.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod chain;
mod crashes;
mod fuzzed;
mod nodes;
mod recording;
mod removal;
mod support;
mod tampering;
