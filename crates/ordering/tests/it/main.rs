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
mod modules;
mod node;
mod objects;
mod oracle;
mod providers;
mod render;
mod targets;
mod validation;
mod walk;
