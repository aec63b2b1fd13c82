//! Tests of edits, checks and comparisons, through the public interface.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers outside of test functions fail the test they serve, and say what was not run"
)]

mod diff;
mod follow;
mod forget;
mod meaning;
mod merge;
mod moves;
mod objects;
mod old;
mod other;
mod outcome;
mod props;
mod providers;
mod refusals;
mod release;
mod repair;
mod script;
mod script_words;
#[cfg(feature = "serde")]
mod serialization;
#[path = "../../../statefile/tests/it/shared.rs"]
mod shared;
mod support;
mod transfer;
mod twice;
mod verify;
mod verify_inputs;
mod verify_rules;
