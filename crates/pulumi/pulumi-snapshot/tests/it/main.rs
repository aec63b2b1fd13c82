//! Tests of the models, through their public interface.

mod alias;
mod dependency;
mod equality;
mod graph;
mod graph_props;
mod provider_ref;
mod secret;
mod snapshot;
mod support;
mod urn;
