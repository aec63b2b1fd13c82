//! Tests of the integrity of snapshots, through the public interface.

mod delete;
mod edit_props;
mod findings;
mod flags;
mod loading;
mod moving;
mod normalize;
mod order;
mod order_props;
mod pending;
mod prune;
mod refusals;
mod rename;
mod repair;
mod repair_props;
mod repair_providers;
mod repair_rounds;
mod support;
mod verify;
mod verify_props;
