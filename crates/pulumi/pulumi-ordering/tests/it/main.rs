//! Tests of groundstate-pulumi-ordering, through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod destruction;
mod engine;
mod failures;
mod notation;
mod properties;
mod queries;
mod replacements;
mod runner;
mod selection;
#[cfg(feature = "serde")]
mod serialization;
mod shutdown;
mod size;
mod snapshot;
mod verify;

use groundstate_pulumi_ordering::{StackError, StackGraph, StackOptions, plan_stack};

use notation::{Script, entries, goals};

/// Plans a base list and goals in the notation of [`notation`].
pub(crate) fn plan(base: &str, wanted: &str, script: &str) -> StackGraph {
    plan_with(base, wanted, script, &StackOptions::default()).unwrap()
}

pub(crate) fn plan_with(
    base: &str,
    wanted: &str,
    script: &str,
    options: &StackOptions,
) -> Result<StackGraph, Vec<StackError>> {
    plan_stack(&entries(base), &goals(wanted), &mut Script::parse(script), options)
}

pub(crate) fn options(change: impl FnOnce(&mut StackOptions)) -> StackOptions {
    let mut options = StackOptions::default();
    change(&mut options);
    options
}
