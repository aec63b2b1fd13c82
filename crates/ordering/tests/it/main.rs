//! Tests of groundstate-ordering, through its public interface.

#![expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]

mod effects;
mod node;
mod walk;
