//! Tests of the models, through their public interface.

mod alias;
mod dependency;
mod equality;
mod graph;
mod graph_props;
mod provider_ref;
mod secret;
#[cfg(feature = "serde")]
#[expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]
mod serialization;
mod snapshot;
mod support;
mod urn;
