//! Tests of groundstate-ordering, through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers outside of test functions fail the test they serve"
)]

mod case;
mod effects;
mod examples;
mod forced;
mod from_state;
mod full;
mod generate;
mod modules;
mod node;
mod objects;
mod oracle;
mod plan;
mod properties;
mod providers;
mod render;
#[cfg(feature = "serde")]
mod serialization;
mod size;
mod targets;
mod validation;
mod world;
