//! Tests of edits, checks and comparisons, through the public interface.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers outside of test functions fail the test they serve, and say what was not run"
)]

mod follow;
mod merge;
mod moves;
mod old;
mod other;
mod props;
mod providers;
mod release;
mod script;
#[cfg(feature = "serde")]
mod serialization;
#[path = "../../../statefile/tests/it/shared.rs"]
mod shared;
mod support;
mod transfer;
mod verify;
mod verify_inputs;
