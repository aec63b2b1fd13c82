//! Tests of the state file codec, through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers outside of test functions fail the test they serve, and say what was not run"
)]

mod attributes;
mod encode;
mod encode_checks;
mod encode_dialect;
mod encode_outputs;
mod examples;
mod files;
mod fixtures;
mod fixtures_odd;
mod fuzzed;
mod opentofu;
mod props;
mod props_gen;
mod providers;
mod read;
mod read_errors;
mod read_hostile;
mod read_types;
mod render;
mod repeated;
mod salvage;
mod salvage_sides;
mod shared;
mod support;
mod threads;
mod upgrade;
mod upgrade_limits;
mod upgrade_real;
mod upgrade_rules;
