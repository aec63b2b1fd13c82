//! Tests of the JSON machinery, through its public interface.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod raw;
mod write;
